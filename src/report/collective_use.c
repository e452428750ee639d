#include "report/collective_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/tsv.h"

/* Bytes that one of p members sends and receives on average in a call of blocks of b bytes: 2 b,
 * 2 p b, (p + 1) b, (p - 1) b (measure/wrappers/coll_bytes.h). */
enum traffic { OF_ONE, OF_ALL, OF_LOWER_AND_ITSELF, OF_LOWER };

static const struct {
    const char *name;
    enum traffic traffic;
    bool uneven; /* blocks may differ, and so do the size classes of the ranks: one mean of all */
} collectives[] = {{"MPI_Barrier", OF_ONE, false},
                   {"MPI_Bcast", OF_ONE, false},
                   {"MPI_Gather", OF_ONE, false},
                   {"MPI_Gatherv", OF_ONE, true},
                   {"MPI_Scatter", OF_ONE, false},
                   {"MPI_Scatterv", OF_ONE, true},
                   {"MPI_Reduce", OF_ONE, false},
                   {"MPI_Allgather", OF_ALL, false},
                   {"MPI_Allgatherv", OF_ALL, true},
                   {"MPI_Alltoall", OF_ALL, false},
                   {"MPI_Alltoallv", OF_ALL, true},
                   {"MPI_Alltoallw", OF_ALL, true},
                   {"MPI_Allreduce", OF_ALL, false},
                   {"MPI_Reduce_scatter", OF_ALL, true},
                   {"MPI_Reduce_scatter_block", OF_ALL, true},
                   {"MPI_Scan", OF_LOWER_AND_ITSELF, false},
                   {"MPI_Exscan", OF_LOWER, false}};
enum { COLLECTIVES = sizeof collectives / sizeof collectives[0] };

static const char *const wait_metrics[] = {"mpi_wait_nxn", "mpi_barrier_wait", "mpi_latebroadcast",
                                           "mpi_earlyreduce", "mpi_earlyscan"};

static int find_collective(const char *name) {
    for (int c = 0; c < COLLECTIVES; c++)
        if (strcmp(collectives[c].name, name) == 0)
            return c;
    return -1;
}

static double blocks_of(enum traffic traffic, double members) {
    return traffic == OF_ONE                ? 2
           : traffic == OF_ALL              ? 2 * members
           : traffic == OF_LOWER_AND_ITSELF ? members + 1
                                            : fmax(members - 1, 1);
}

/* From the bytes that a member sends and receives in a call. With MPI_IN_PLACE it is no partner of
 * its own, and there are fewer: where the mean is below its class without, and in it with, it was
 * in place. */
static void set_bytes(struct lc_collective_use *use, double bytes, int size_class) {
    enum traffic traffic = collectives[find_collective(use->operation)].traffic;
    double p = use->members, block = bytes / blocks_of(traffic, p);
    double least = size_class > 0 ? ldexp(1, size_class - 1) : 0, in_place = block;
    if (p > 1 && (traffic == OF_ALL || traffic == OF_ONE))
        in_place = block * p / (p - 1);
    else if (p > 1 && traffic == OF_LOWER_AND_ITSELF)
        in_place = bytes / (p - 1);
    use->in_place = llround(block) < least && in_place < 2 * least;
    use->bytes = (uint64_t)llround(use->in_place ? in_place : block);
}

struct uses {
    struct lc_view *view;
    struct lc_collective_use *list;
    size_t n, room;
    int *size_class; /* [n] */
    double *bytes;   /* [n] over all calls */
    size_t class_room, bytes_room;
};

/* That of a call path, class and communicator size; made if it is new. */
static enum lc_err find(struct uses *u, const char *path, int which, int size_class,
                        uint32_t members, size_t *found) {
    for (*found = u->n; (*found)-- > 0;) { /* a call path has its rows side by side */
        const struct lc_collective_use *use = &u->list[*found];
        if (u->size_class[*found] == size_class && use->members == members &&
            strcmp(use->path, path) == 0)
            return LC_OK;
    }
    LC_TRY(lc_grow(&u->list, &u->room, u->n + 1, sizeof u->list[0]));
    LC_TRY(lc_grow(&u->size_class, &u->class_room, u->n + 1, sizeof u->size_class[0]));
    LC_TRY(lc_grow(&u->bytes, &u->bytes_room, u->n + 1, sizeof u->bytes[0]));
    u->list[u->n] =
        (struct lc_collective_use){.operation = collectives[which].name, .members = members};
    u->size_class[u->n] = size_class;
    u->bytes[u->n] = 0;
    LC_TRY(lc_strdup(&u->list[u->n].path, path));
    *found = u->n++;
    return lc_alloc(&u->list[u->n - 1].rank, u->view->model->n_locations, sizeof(uint32_t));
}

static void add_rank(struct lc_collective_use *use, int32_t rank) {
    uint32_t at = use->ranks;
    if (rank < 0)
        return;
    while (at > 0 && use->rank[at - 1] > (uint32_t)rank)
        at--;
    if (at > 0 && use->rank[at - 1] == (uint32_t)rank)
        return;
    memmove(&use->rank[at + 1], &use->rank[at], (use->ranks - at) * sizeof use->rank[0]);
    use->rank[at] = (uint32_t)rank;
    use->ranks++;
}

static uint32_t count_ranks(const struct lc_view *view) {
    int32_t most = 0;
    for (uint32_t l = 0; l < view->model->n_locations; l++)
        most = lc_view_rank(view, l) > most ? lc_view_rank(view, l) : most;
    return (uint32_t)most + 1;
}

static const char *function_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static enum lc_err add_row(struct uses *u, const struct lc_tsv *tsv, size_t row,
                           const int columns[7]) {
    const char *path = lc_tsv_cell(tsv, row, columns[0]);
    int which = find_collective(function_of(path));
    double location = lc_tsv_number(tsv, row, columns[1]);
    double size_class = lc_tsv_number(tsv, row, columns[2]);
    double members = lc_tsv_number(tsv, row, columns[6]),
           calls = lc_tsv_number(tsv, row, columns[3]);
    size_t found;
    if (which < 0 || !(location >= 0 && location < (double)u->view->model->n_locations) ||
        !(members >= 1 && members <= 1e6) || !(size_class >= 0 && size_class <= 64) || !(calls > 0))
        return LC_OK;
    int class = collectives[which].uneven ? 0 : (int)size_class;
    LC_TRY(find(u, path, which, class, (uint32_t)members, &found));
    struct lc_collective_use *use = &u->list[found];
    use->calls += calls;
    use->seconds += lc_tsv_number(tsv, row, columns[4]);
    u->bytes[found] += lc_tsv_number(tsv, row, columns[5]);
    add_rank(use, lc_view_rank(u->view, (uint32_t)location));
    return LC_OK;
}

/* *known: the result has the table, with sizes of communicators. */
static enum lc_err read_classes(struct uses *u, bool *known) {
    static const char *const names[] = {"callpath", "location", "class",  "count",
                                        "sum_s",    "bytes",    "members"};
    const char *data;
    size_t bytes;
    struct lc_tsv tsv;
    int columns[7];
    *known = false;
    if (lc_cubex_misc(u->view->cube, "size_classes.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    LC_TRY(lc_tsv_parse(&tsv, data, bytes));
    *known = true;
    for (int c = 0; c < 7; c++) {
        columns[c] = lc_tsv_column(&tsv, names[c]);
        *known = *known && columns[c] >= 0;
    }
    enum lc_err err = LC_OK;
    for (size_t r = 0; r < tsv.n_rows && *known && err == LC_OK; r++)
        err = add_row(u, &tsv, r, columns);
    lc_tsv_free(&tsv);
    return err;
}

static enum lc_err total_of(struct lc_view *view, const char *metric, uint32_t path,
                            double *total) {
    uint32_t id = lc_model_find_metric(view->model, metric);
    size_t n = view->model->n_locations;
    double *row;
    *total = 0;
    if (id == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&row, n, sizeof row[0]));
    enum lc_err err = lc_view_row(view, id, path, row);
    for (size_t l = 0; l < n && err == LC_OK; l++)
        *total += row[l];
    free(row);
    return err;
}

/* Without the table: one use for each call path. */
static enum lc_err read_metrics(struct uses *u) {
    uint32_t ranks = count_ranks(u->view);
    for (uint32_t p = 0; p < u->view->n_paths; p++) {
        int which = find_collective(u->view->paths[p].name);
        double calls, in, out;
        size_t found = 0;
        if (which < 0)
            continue;
        LC_TRY(total_of(u->view, "visits", p, &calls));
        if (!(calls > 0))
            continue;
        char *path = lc_view_path(u->view, p);
        if (path == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
        enum lc_err err = find(u, path, which, 0, ranks, &found);
        free(path);
        LC_TRY(err);
        LC_TRY(total_of(u->view, "time", p, &u->list[found].seconds));
        LC_TRY(total_of(u->view, "bytes_cin", p, &in));
        LC_TRY(total_of(u->view, "bytes_cout", p, &out));
        u->list[found].calls = calls;
        u->bytes[found] = in + out;
        for (uint32_t l = 0; l < u->view->model->n_locations; l++)
            add_rank(&u->list[found], lc_view_rank(u->view, l));
    }
    return LC_OK;
}

/* Of the call path, shared by its sizes in proportion to their time. */
static enum lc_err add_waiting(struct uses *u) {
    for (size_t i = 0; i < u->n; i++) {
        struct lc_collective_use *use = &u->list[i];
        uint32_t path = lc_view_find(u->view, use->path);
        double waiting = 0, seconds = 0, more;
        for (size_t w = 0; path != LC_NONE && w < sizeof wait_metrics / sizeof wait_metrics[0];
             w++) {
            LC_TRY(total_of(u->view, wait_metrics[w], path, &more));
            waiting += more;
        }
        for (size_t k = 0; k < u->n; k++)
            if (strcmp(u->list[k].path, use->path) == 0)
                seconds += u->list[k].seconds;
        use->waiting = seconds > 0 ? waiting * use->seconds / seconds : 0;
    }
    return LC_OK;
}

static int by_seconds(const void *a, const void *b) {
    double x = ((const struct lc_collective_use *)a)->seconds,
           y = ((const struct lc_collective_use *)b)->seconds;
    return (x < y) - (x > y);
}

enum lc_err lc_collective_uses(struct lc_view *view, struct lc_collective_use **uses, size_t *n) {
    struct uses u = {.view = view};
    bool known;
    enum lc_err err = read_classes(&u, &known);
    if (err == LC_OK && !known)
        err = read_metrics(&u);
    if (err == LC_OK)
        err = add_waiting(&u);
    for (size_t i = 0; i < u.n; i++) {
        struct lc_collective_use *use = &u.list[i];
        if (use->calls > 0)
            set_bytes(use, u.bytes[i] / use->calls, u.size_class[i]);
    }
    if (u.n > 1)
        qsort(u.list, u.n, sizeof u.list[0], by_seconds);
    free(u.size_class);
    free(u.bytes);
    *uses = u.list;
    *n = u.n;
    return err;
}

void lc_collective_uses_free(struct lc_collective_use *uses, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(uses[i].path);
        free(uses[i].rank);
    }
    free(uses);
}
