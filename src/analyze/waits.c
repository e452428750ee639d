#include "analyze/waits.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/collective.h"
#include "analyze/event_store.h"
#include "analyze/health.h"
#include "analyze/omp.h"
#include "analyze/event_order.h"
#include "analyze/p2p.h"
#include "analyze/results.h"
#include "analyze/rma.h"
#include "analyze/rma_lock.h"
#include "analyze/syncs.h"
#include "analyze/time_tree.h"
#include "analyze/wait_call.h"
#include "base/mem.h"
#include "model/metrics.h"

static const char *const metrics[LC_WAIT_KINDS] = {
    [LC_WAIT_LS] = "mpi_latesender",
    [LC_WAIT_LR] = "mpi_latereceiver",
    [LC_WAIT_PROBE] = "mpi_probe_wait",
    [LC_WAIT_POLL] = "mpi_poll_wait",
    [LC_WAIT_BARRIER] = "mpi_barrier_wait",
    [LC_WAIT_N2N] = "mpi_wait_nxn",
    [LC_WAIT_12N] = "mpi_latebroadcast",
    [LC_WAIT_N21] = "mpi_earlyreduce",
    [LC_WAIT_SCAN] = "mpi_earlyscan",
    [LC_WAIT_MGMT] = "mpi_mgmt_comm_wait",
    [LC_WAIT_OMP_EBARRIER] = "omp_ebarrier_wait",
    [LC_WAIT_OMP_IBARRIER] = "omp_ibarrier_wait",
    [LC_WAIT_OMP_CRITICAL] = "omp_lock_contention_critical",
    [LC_WAIT_OMP_LOCK] = "omp_lock_contention_api",
    [LC_WAIT_PTHREAD_LOCK] = "pthread_lock_contention_mutex_lock",
    [LC_WAIT_OMP_IDLE] = "omp_idle_threads",
    [LC_WAIT_RMA_CREATE] = "mpi_rma_wait_at_create",
    [LC_WAIT_RMA_FREE] = "mpi_rma_wait_at_free",
    [LC_WAIT_RMA_FENCE] = "mpi_rma_wait_at_fence",
    [LC_WAIT_RMA_EARLY_WAIT] = "mpi_rma_early_wait",
    [LC_WAIT_RMA_LATE_POST] = "mpi_rma_sync_late_post",
    [LC_WAIT_RMA_LOCK] = "mpi_rma_sync_lock_competition",
    [LC_WAIT_IO] = "mpi_io_collective_wait",
    [LC_WAIT_NEIGHBOR] = "mpi_neighbor_wait",
    [LC_WAIT_TASKWAIT] = "omp_taskwait_wait",
    [LC_WAIT_FINALIZE] = "mpi_finalize_wait",
};

const char *lc_wait_metric(enum lc_wait_kind kind) {
    return metrics[kind];
}

struct handles {
    const char **time_of; /* per region: the metric of its time (time_tree.h) */
    uint32_t kind[LC_WAIT_KINDS];
    uint32_t wo, wo_same, wo_different, init_completion;
    uint32_t count[2][3]; /* without, with bytes; late sender, late receiver, wrong order */
};

/* MPI_Init and MPI_Finalize block until the last process enters; in the latter that is a wait state
 * (docs/definitions/wait-states.md#25-beginning-end-completion), in the former only a blocking. */
static enum lc_err find_end_waits(struct lc_trace *trace, const struct handles *h,
                                  struct lc_loc *loc) {
    struct lc_results *results = trace->results;
    struct lc_wait wait = {.instance = UINT64_MAX, .cause_end = INT64_MAX, .flags = LC_WAIT_BLOCKS};
    if (trace->some.init_enter_max != INT64_MIN && loc->init_enter != INT64_MIN &&
        loc->init_leave != INT64_MIN) {
        int64_t from = trace->some.init_enter_max > trace->some.init_leave_min
                           ? trace->some.init_enter_max
                           : trace->some.init_leave_min;
        if (loc->init_leave > from)
            LC_TRY(lc_results_add_int(results, h->init_completion, loc->init_cnode, loc->id,
                                      loc->init_leave - from));
        wait.kind = LC_WAIT_INIT;
        wait.start = loc->init_enter;
        wait.end = loc->init_leave;
        wait.release = trace->some.init_enter_max;
        wait.cnode = loc->init_cnode;
        wait.cause = trace->some.init_last;
        if (lc_wait_ticks(&wait) > 0)
            LC_TRY(lc_wait_add(loc, &wait));
    }
    if (trace->some.finalize_enter_max != INT64_MIN && loc->finalize_enter != INT64_MIN &&
        loc->finalize_leave != INT64_MIN) {
        wait = (struct lc_wait){.kind = LC_WAIT_FINALIZE,
                                .flags = LC_WAIT_STATE | LC_WAIT_BLOCKS,
                                .start = loc->finalize_enter,
                                .end = loc->finalize_leave,
                                .release = trace->some.finalize_enter_max,
                                .cnode = loc->finalize_cnode,
                                .cause = trace->some.finalize_last,
                                .cause_cnode = trace->some.finalize_last_cnode,
                                .cause_end = INT64_MAX,
                                .instance = UINT64_MAX};
        if (wait.release > wait.end)
            wait.flags |= LC_WAIT_CUT;
        if (lc_wait_ticks(&wait) > 0)
            LC_TRY(lc_wait_add(loc, &wait));
    }
    return LC_OK;
}

/* h->time_of: the caller frees it. */
static enum lc_err make_handles(struct lc_trace *trace, struct handles *h) {
    struct lc_results *r = trace->results;
    LC_TRY(lc_alloc(&h->time_of, trace->n_regions + 1, sizeof *h->time_of));
    for (size_t i = 0; i < trace->n_regions; i++)
        h->time_of[i] = lc_time_metric(&trace->regions[i]);
    static const char *const names[2][3] = {{"mpi_sls_count", "mpi_slr_count", "mpi_slswo_count"},
                                            {"mpi_cls_count", "mpi_clr_count", "mpi_clswo_count"}};
    for (int k = 0; k < LC_WAIT_KINDS; k++)
        if (metrics[k])
            LC_TRY(lc_results_metric(r, metrics[k], &h->kind[k]));
    /* All metrics on all ranks, in the same order, also where a rank has no location. */
    for (const char *const *name = lc_time_tree; *name != NULL; name++)
        LC_TRY(lc_results_metric(r, *name, &(uint32_t){0}));
    LC_TRY(lc_results_metric(r, "mpi_init_completion", &h->init_completion));
    LC_TRY(lc_results_metric(r, "mpi_latesender_wo", &h->wo));
    LC_TRY(lc_results_metric(r, "mpi_lswo_same", &h->wo_same));
    LC_TRY(lc_results_metric(r, "mpi_lswo_different", &h->wo_different));
    for (int b = 0; b < 2; b++)
        for (int k = 0; k < 3; k++)
            LC_TRY(lc_results_metric(r, names[b][k], &h->count[b][k]));
    return LC_OK;
}

/* Whether a metric of the time tree is the other one, or contains it. */
static bool contains_time(const char *outer, const char *inner) {
    char up[LC_METRIC_NAME];
    for (; inner != NULL; inner = lc_metrics_parent(inner, up) ? up : NULL)
        if (strcmp(outer, inner) == 0)
            return true;
    return false;
}

/* Adds ticks to a metric of the time tree and to those that contain it, as far as they do not
 * contain `other`. */
static enum lc_err add_time(struct lc_trace *trace, const char *metric, const char *other,
                            const struct lc_wait *wait, uint32_t location, int64_t ticks) {
    char up[LC_METRIC_NAME];
    for (; metric != NULL && !contains_time(metric, other);
         metric = lc_metrics_parent(metric, up) ? up : NULL) {
        uint32_t handle;
        LC_TRY(lc_results_metric(trace->results, metric, &handle));
        LC_TRY(lc_results_add_int(trace->results, handle, wait->cnode, location, ticks));
    }
    return LC_OK;
}

/* Where a call of one kind waits for an operation of another (MPI_Wait for MPI_Iallreduce), its
 * waiting is time of that kind, so that the time of each kind contains the waiting for it. */
static enum lc_err move_time(struct lc_trace *trace, const struct handles *h,
                             const struct lc_loc *loc, const struct lc_wait *wait) {
    const char *around = lc_metrics_time_around(metrics[wait->kind]);
    const char *of_call = h->time_of[trace->cnodes[wait->cnode].region];
    if (around == NULL || strcmp(around, of_call) == 0)
        return LC_OK;
    int64_t ticks = lc_wait_ticks(wait);
    LC_TRY(add_time(trace, of_call, around, wait, loc->id, -ticks));
    return add_time(trace, around, of_call, wait, loc->id, ticks);
}

static enum lc_err book(struct lc_trace *trace, const struct handles *h, const struct lc_loc *loc,
                        const struct lc_wait *wait) {
    struct lc_results *r = trace->results;
    int64_t w = lc_wait_ticks(wait);
    bool blocks_only = (wait->flags & (LC_WAIT_STATE | LC_WAIT_BLOCKS)) == LC_WAIT_BLOCKS;
    if (blocks_only || !metrics[wait->kind])
        return LC_OK;
    LC_TRY(lc_results_add_int(r, h->kind[wait->kind], wait->cnode, loc->id, w));
    LC_TRY(move_time(trace, h, loc, wait));
    bool bytes = !(wait->flags & LC_WAIT_NO_BYTES);
    if (wait->kind == LC_WAIT_LS || wait->kind == LC_WAIT_LR)
        LC_TRY(lc_results_add_int(r, h->count[bytes][wait->kind == LC_WAIT_LR], wait->cnode,
                                  loc->id, 1));
    if (!(wait->flags & (LC_WAIT_WO_SAME | LC_WAIT_WO_DIFFERENT)))
        return LC_OK;
    LC_TRY(lc_results_add_int(r, h->wo, wait->cnode, loc->id, w));
    LC_TRY(lc_results_add_int(r, h->count[bytes][2], wait->cnode, loc->id, 1));
    return lc_results_add_int(r, wait->flags & LC_WAIT_WO_SAME ? h->wo_same : h->wo_different,
                              wait->cnode, loc->id, w);
}

static enum lc_err finish_location(struct lc_trace *trace, const struct handles *h,
                                   struct lc_loc *loc) {
    LC_TRY(lc_order_waits(loc));
    for (size_t i = 0; i < loc->n_waits; i++) {
        const struct lc_wait *wait = &loc->waits[i];
        LC_TRY(book(trace, h, loc, wait));
        if ((wait->flags & LC_WAIT_CUT) && (wait->flags & LC_WAIT_STATE)) {
            lc_health_note(trace->health,
                           wait->kind == LC_WAIT_LS || wait->kind == LC_WAIT_LR
                               ? LC_HEALTH_VIOLATION_P2P
                               : LC_HEALTH_VIOLATION_COLL,
                           loc->id);
            if (wait->release - wait->end > trace->health->largest_violation_ticks)
                trace->health->largest_violation_ticks = wait->release - wait->end;
        }
    }
    return LC_OK;
}

static enum lc_err find_all(struct lc_trace *trace, const struct handles *h) {
    struct lc_wait_classifier classifier;
    LC_TRY(lc_wait_classifier_init(&classifier, trace));
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++) {
        struct lc_loc *loc = &trace->locs[i];
        err = lc_wait_classify_location(&classifier, loc);
        if (err == LC_OK)
            err = find_end_waits(trace, h, loc);
        lc_shrink(&loc->waits, &loc->cap_waits, loc->n_waits, sizeof *loc->waits);
        lc_shrink(&loc->arrivals, &loc->cap_arrivals, loc->n_arrivals, sizeof *loc->arrivals);
        lc_event_store_rest(trace->store);
        if (!trace->keep_matches)
            lc_loc_forget_matches(trace, loc);
    }
    lc_wait_classifier_free(&classifier);
    return err;
}

static enum lc_err find(struct lc_trace *trace, const struct handles *h) {
    LC_TRY(lc_p2p_match(trace));
    LC_TRY(lc_collectives_match(trace));
    LC_TRY(lc_transport_agree(trace->comm, find_all(trace, h)));
    LC_TRY(lc_transport_agree(trace->comm, lc_omp_waits(trace)));
    LC_TRY(lc_rma_waits(trace));
    LC_TRY(lc_rma_lock_waits(trace));
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < trace->n_locs && err == LC_OK; i++) {
        struct lc_loc *loc = &trace->locs[i];
        err = finish_location(trace, h, loc);
        lc_event_store_move(trace->store, &loc->waits, loc->n_waits * sizeof *loc->waits);
    }
    lc_event_store_rest(trace->store);
    LC_TRY(lc_transport_agree(trace->comm, err));
    return lc_syncs_find(trace);
}

enum lc_err lc_waits_find(struct lc_trace *trace) {
    struct handles h = {0};
    enum lc_err err = lc_transport_agree(trace->comm, make_handles(trace, &h));
    if (err == LC_OK)
        err = find(trace, &h);
    free(h.time_of);
    return err;
}
