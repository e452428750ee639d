#include "report/cores.h"

#include <stdlib.h>

/* Of all nodes; 0: unknown. */
static double all_cores(const json_t *meta) {
    const json_t *cores = json_object_get(meta, "cores");
    double n = json_is_number(cores) ? json_number_value(cores) : 0.0;
    size_t i;
    json_t *item;
    json_array_foreach(cores, i, item) n += json_number_value(item);
    return n;
}

/* Nothing is known of a run that died but what OMP_NUM_THREADS says, and no rank had made a team.
 */
static bool made_no_team(const json_t *meta) {
    const json_t *threads = json_object_get(meta, "threads"), *item;
    size_t i;
    if (!json_is_false(json_object_get(meta, "complete")) || json_array_size(threads) == 0 ||
        json_object_get(meta, "busy_threads") != NULL)
        return false;
    json_array_foreach(threads, i, item) if (json_number_value(item) > 1) return false;
    return true;
}

/* On one node, where each rank was to have several threads (OMP_NUM_THREADS), and is known to have
 * computed with fewer: with so few that there was a core for each. */
static bool had_cores_for_all(const struct lc_view *view, const json_t *meta, double n_cores) {
    const json_t *busy = json_object_get(meta, "busy_threads");
    double threads = 0;
    if (json_number_value(json_object_get(meta, "threads_wanted")) <= 1 ||
        json_array_size(json_object_get(meta, "cores")) != 1)
        return false;
    for (size_t rank = 0; rank < view->model->n_processes; rank++) {
        json_int_t own = made_no_team(meta) ? 1 : json_integer_value(json_array_get(busy, rank));
        if (own <= 0) /* not known */
            return false;
        threads += (double)own;
    }
    return threads <= n_cores && (double)view->model->n_locations <= n_cores;
}

bool lc_cores_oversubscribed(const struct lc_view *view, const json_t *meta, double *cores_out) {
    double n_cores = all_cores(meta);
    size_t wanted = view->model->n_locations;
    const json_t *flag = json_object_get(meta, "oversubscribed");
    *cores_out = n_cores;
    return (json_is_true(flag) && !had_cores_for_all(view, meta, n_cores)) ||
           (flag == NULL && n_cores > 0 && (double)wanted > n_cores);
}

/* Cores of "0-3,8"; 0: unknown. */
static double count_cores(const char *list) {
    double n = 0;
    char *end;
    while (list != NULL && *list >= '0' && *list <= '9') {
        unsigned long from = strtoul(list, &end, 10), to = from;
        if (*end == '-')
            to = strtoul(end + 1, &end, 10);
        n += to >= from ? (double)(to - from) + 1 : 0;
        list = *end == ',' ? end + 1 : end;
    }
    return list != NULL && *list == '\0' ? n : 0;
}

double lc_cores_threads_of(const json_t *meta, size_t rank) {
    const json_t *busy = json_array_get(json_object_get(meta, "busy_threads"), rank);
    double wanted = json_number_value(json_object_get(meta, "threads_wanted"));
    if (made_no_team(meta))
        return 1;
    if (json_is_integer(busy) && json_integer_value(busy) > 0)
        wanted = (double)json_integer_value(busy);
    return wanted > 1 ? wanted : 1;
}

bool lc_cores_crowded(const struct lc_view *view, const json_t *meta, double *threads,
                      double *cores) {
    double measured = (double)view->model->n_locations, busy = 0;
    if (lc_cores_oversubscribed(view, meta, cores))
        return false;
    for (size_t rank = 0; rank < view->model->n_processes; rank++)
        busy += lc_cores_threads_of(meta, rank);
    *threads = busy;
    return *cores > 0 && busy > *cores && busy > measured;
}

uint32_t lc_cores_narrow(const json_t *meta, double *cores) {
    const json_t *binding = json_object_get(meta, "binding");
    uint32_t worst = LC_NONE;
    double least = 1;
    for (size_t i = 0; i < json_array_size(binding); i++) {
        double own = count_cores(json_string_value(json_array_get(binding, i)));
        double share = own / lc_cores_threads_of(meta, i);
        if (own > 0 && share < least) {
            least = share;
            worst = (uint32_t)i;
            *cores = own;
        }
    }
    return worst;
}

uint32_t lc_cores_bound_narrowly(const json_t *meta, double *cores) {
    const json_t *nodes = json_object_get(meta, "cores"), *item;
    uint32_t rank = lc_cores_narrow(meta, cores);
    bool fewer = json_array_size(nodes) == 0; /* what a node has is not known */
    size_t i;
    if (rank == LC_NONE)
        return LC_NONE;
    json_array_foreach(nodes, i, item) fewer = fewer || *cores < json_number_value(item);
    return fewer ? rank : LC_NONE;
}
