#include "report/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Wait states that do not overlap: their sum is the waiting of a location. */
static const struct lc_wait_class kinds[] = {
    {"mpi_latesender", "Late Sender", "receives that wait for the send"},
    {"mpi_latereceiver", "Late Receiver", "sends that wait for the receive"},
    {"mpi_wait_nxn", "Wait at N x N", "all-to-all operations that wait for the last process"},
    {"mpi_barrier_wait", "Wait at Barrier", "barriers that wait for the last process"},
    {"mpi_latebroadcast", "Late Broadcast", "broadcasts and scatters that wait for the root"},
    {"mpi_earlyreduce", "Early Reduce", "roots of reductions that wait for the others"},
    {"mpi_earlyscan", "Early Scan", "scans that wait for lower ranks"},
    {"mpi_mgmt_comm_wait", "Communicator", "communicator construction that waits for the last"},
    {"mpi_neighbor_wait", "Neighbour", "neighbourhood collectives that wait for a neighbour"},
    {"mpi_io_collective_wait", "Collective I/O", "file operations that wait for the last process"},
    {"mpi_rma_wait_at_create", "Window creation", "window creation that waits for the last"},
    {"mpi_rma_wait_at_free", "Window destruction", "window destruction that waits for the last"},
    {"mpi_rma_wait_at_fence", "Fence", "fences that wait for the last process"},
    {"mpi_rma_early_wait", "Early Wait", "MPI_Win_wait before the origins are done"},
    {"mpi_rma_sync_lock_competition", "Window lock", "locks of windows that others hold"},
    {"mpi_rma_sync_late_post", "Late Post", "accesses that wait for MPI_Win_post"},
    {"mpi_finalize_wait", "Wait at Finalize", "MPI_Finalize that waits for the last process"},
    {"omp_ebarrier_wait", "OpenMP barrier", "explicit barriers that wait for the last thread"},
    {"omp_ibarrier_wait", "OpenMP implicit", "implicit barriers that wait for the last thread"},
    {"omp_lock_contention_critical", "Critical section",
     "threads that wait for a critical section"},
    {"omp_lock_contention_api", "OpenMP lock", "threads that wait for a lock"},
    {"pthread_lock_contention_mutex_lock", "Mutex", "threads that wait for a mutex"},
    {"omp_taskwait_wait", "Task wait", "threads that wait for tasks"},
    {"omp_idle_threads", "Idle threads", "worker threads outside of parallel regions"},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

bool lc_completes_several(const struct lc_view *view, uint32_t path) {
    static const char *const names[] = {"MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(view->paths[path].name, names[i]) == 0)
            return true;
    return false;
}

static enum lc_err add_time(struct lc_sums *sums, struct lc_view *view, double *row) {
    uint32_t metric = lc_model_find_metric(view->model, "time");
    if (metric == LC_NONE)
        return LC_OK;
    for (uint32_t p = 0; p < view->n_paths; p++) {
        const struct lc_merged_path *path = &view->paths[p];
        LC_TRY(lc_view_row(view, metric, p, row));
        bool root = path->parent == LC_NONE;
        bool outermost_mpi = path->mpi && (root || !view->paths[path->parent].mpi);
        for (size_t l = 0; l < view->model->n_locations; l++) {
            sums->time[p] += row[l];
            if (root)
                sums->loc_time[l] += row[l];
            if (outermost_mpi)
                sums->loc_mpi[l] += row[l];
        }
        if (root)
            sums->total_time += sums->time[p];
        if (lc_completes_several(view, p))
            sums->several_time += sums->time[p];
        if (outermost_mpi) {
            sums->total_mpi += sums->time[p];
            for (uint32_t up = p; up != LC_NONE; up = view->paths[up].parent)
                sums->mpi[up] += sums->time[p];
        }
    }
    return LC_OK;
}

static enum lc_err add_wait(struct lc_sums *sums, struct lc_view *view, uint32_t wait,
                            double *row) {
    uint32_t metric = sums->waits[wait].metric;
    for (uint32_t p = 0; p < view->n_paths; p++) {
        double sum = 0.0;
        LC_TRY(lc_view_exclusive_row(view, metric, p, row));
        for (size_t l = 0; l < view->model->n_locations; l++) {
            sum += row[l];
            sums->loc_waiting[l] += row[l];
        }
        if (sum <= 0.0)
            continue;
        sums->waits[wait].total += sum;
        LC_TRY(
            lc_grow(&sums->places, &sums->cap_places, sums->n_places + 1, sizeof sums->places[0]));
        sums->places[sums->n_places++] =
            (struct lc_wait_place){.wait = wait, .path = p, .seconds = sum};
        for (uint32_t up = p; up != LC_NONE; up = view->paths[up].parent)
            sums->waiting[up] += sum;
    }
    sums->total_waiting += sums->waits[wait].total;
    return LC_OK;
}

static uint32_t find_estimated(const struct lc_view *view, const char *name) {
    char estimated[96];
    snprintf(estimated, sizeof estimated, "%s_estimated", name);
    return lc_model_find_metric(view->model, estimated);
}

/* Measured waits where the run measured them (then there are POP factors, too, or some wait is not
 * zero); else estimates. */
static enum lc_err choose_waits(struct lc_sums *sums, struct lc_view *view) {
    bool measured = lc_model_attr(view->model, "latecomer.pop") != NULL, have_estimates = false;
    for (size_t k = 0; k < N_KINDS; k++) {
        uint32_t metric = lc_model_find_metric(view->model, kinds[k].metric);
        double total = 0.0;
        if (metric != LC_NONE && !measured)
            LC_TRY(lc_view_total(view, metric, &total));
        measured = measured || total > 0.0;
        have_estimates = have_estimates || find_estimated(view, kinds[k].metric) != LC_NONE;
    }
    sums->estimated = !measured && have_estimates;
    LC_TRY(lc_alloc(&sums->waits, N_KINDS, sizeof sums->waits[0]));
    for (size_t k = 0; k < N_KINDS; k++) {
        uint32_t metric = sums->estimated ? find_estimated(view, kinds[k].metric)
                                          : lc_model_find_metric(view->model, kinds[k].metric);
        if (metric != LC_NONE)
            sums->waits[sums->n_waits++] = (struct lc_wait_sum){
                .kind = &kinds[k], .metric = metric, .estimated = sums->estimated};
    }
    return LC_OK;
}

enum lc_err lc_sums_estimates(struct lc_view *view, double *waiting, bool *any) {
    double *row;
    LC_TRY(lc_alloc(&row, view->model->n_locations, sizeof row[0]));
    enum lc_err err = LC_OK;
    *any = false;
    for (size_t k = 0; k < N_KINDS && err == LC_OK; k++) {
        uint32_t metric = find_estimated(view, kinds[k].metric);
        if (metric == LC_NONE)
            continue;
        *any = true;
        for (uint32_t p = 0; p < view->n_paths && err == LC_OK; p++) {
            double sum = 0.0;
            err = lc_view_exclusive_row(view, metric, p, row);
            for (size_t l = 0; err == LC_OK && l < view->model->n_locations; l++)
                sum += row[l];
            for (uint32_t up = p; err == LC_OK && up != LC_NONE; up = view->paths[up].parent)
                waiting[up] += sum;
        }
    }
    free(row);
    return err;
}

static double *end_of(struct lc_sums *sums, const char *name) {
    static const char *const starts[] = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init"};
    static const char *const ends[] = {"MPI_Finalize", "MPI_Session_finalize"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strcmp(name, starts[i]) == 0)
            return &sums->start_time;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (strcmp(name, ends[i]) == 0)
            return &sums->end_time;
    return NULL;
}

/* Takes one start or end out of all sums: its time per location but for the waiting there. */
static enum lc_err take_apart(struct lc_sums *sums, struct lc_view *view, uint32_t path,
                              double *all, double *row) {
    size_t n = view->model->n_locations;
    double whole = 0.0;
    LC_TRY(lc_view_row(view, lc_model_find_metric(view->model, "time"), path, all));
    for (uint32_t w = 0; w < sums->n_waits; w++) {
        LC_TRY(lc_view_exclusive_row(view, sums->waits[w].metric, path, row));
        for (size_t l = 0; l < n; l++)
            all[l] -= row[l];
    }
    for (size_t l = 0; l < n; l++) {
        all[l] = all[l] > 0.0 ? all[l] : 0.0;
        sums->loc_time[l] -= all[l];
        sums->loc_mpi[l] -= all[l];
        whole += all[l];
    }
    sums->total_time -= whole;
    sums->total_mpi -= whole;
    *end_of(sums, view->paths[path].name) += whole;
    for (uint32_t up = path; up != LC_NONE; up = view->paths[up].parent) {
        sums->time[up] -= whole;
        sums->mpi[up] -= whole;
    }
    return LC_OK;
}

static enum lc_err take_ends_apart(struct lc_sums *sums, struct lc_view *view, double *row) {
    double *all;
    LC_TRY(lc_alloc(&sums->apart, view->n_paths, sizeof sums->apart[0]));
    if (lc_model_find_metric(view->model, "time") == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&all, view->model->n_locations, sizeof all[0]));
    enum lc_err err = LC_OK;
    for (uint32_t p = 0; err == LC_OK && p < view->n_paths; p++) {
        uint32_t parent = view->paths[p].parent;
        bool inside = parent != LC_NONE && sums->apart[parent];
        bool one = !inside && view->paths[p].mpi && end_of(sums, view->paths[p].name) != NULL;
        sums->apart[p] = inside || one;
        if (one)
            err = take_apart(sums, view, p, all, row);
    }
    free(all);
    return err;
}

static int compare_places(const void *a, const void *b) {
    double x = ((const struct lc_wait_place *)a)->seconds;
    double y = ((const struct lc_wait_place *)b)->seconds;
    return (x < y) - (x > y);
}

static enum lc_err fill(struct lc_sums *sums, struct lc_view *view) {
    size_t n = view->n_paths, m = view->model->n_locations;
    double **per_path[] = {&sums->time, &sums->mpi, &sums->waiting};
    double **per_location[] = {&sums->loc_time, &sums->loc_mpi, &sums->loc_waiting};
    for (int i = 0; i < 3; i++) {
        LC_TRY(lc_alloc(per_path[i], n, sizeof(double)));
        LC_TRY(lc_alloc(per_location[i], m, sizeof(double)));
    }
    double *row;
    LC_TRY(lc_alloc(&row, m, sizeof row[0]));
    enum lc_err err = add_time(sums, view, row);
    if (err == LC_OK)
        err = choose_waits(sums, view);
    for (uint32_t w = 0; err == LC_OK && w < sums->n_waits; w++)
        err = add_wait(sums, view, w, row);
    if (err == LC_OK)
        err = take_ends_apart(sums, view, row);
    free(row);
    if (sums->n_places > 0)
        qsort(sums->places, sums->n_places, sizeof sums->places[0], compare_places);
    return err;
}

enum lc_err lc_sums_new(struct lc_sums **out, struct lc_view *view) {
    struct lc_sums *sums;
    LC_TRY(lc_alloc(&sums, 1, sizeof *sums));
    enum lc_err err = fill(sums, view);
    if (err != LC_OK) {
        lc_sums_free(sums);
        return err;
    }
    *out = sums;
    return LC_OK;
}

void lc_sums_free(struct lc_sums *sums) {
    if (sums == NULL)
        return;
    free(sums->time);
    free(sums->mpi);
    free(sums->waiting);
    free(sums->loc_time);
    free(sums->loc_mpi);
    free(sums->loc_waiting);
    free(sums->waits);
    free(sums->places);
    free(sums->apart);
    free(sums);
}
