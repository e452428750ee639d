#include "analyze/trace.h"

#include <stdlib.h>

#include "analyze/event_store.h"
#include "analyze/events.h"
#include "analyze/health.h"
#include "base/mem.h"

const char *const lc_count_metrics[LC_COUNTS] = {
    "syncs_send", "syncs_recv", "comms_send", "comms_recv", "bytes_sent",
    "bytes_rcvd", "syncs_coll", "comms_csrc", "comms_cdst", "comms_cxch",
    "bytes_cout", "bytes_cin",  "bytes_put",  "bytes_get"};

/* The largest of values over all locations, and the lowest location that has it; INT64_MIN: none.
 */
static void latest(const struct lc_trace *trace, const int64_t *values, int64_t *max,
                   uint32_t *location) {
    *max = INT64_MIN;
    for (size_t i = 0; i < trace->n_locs; i++)
        if (values[i] > *max)
            *max = values[i];
    lc_transport_allreduce_i64(trace->comm, max, 1, LC_OP_MAX);
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < trace->n_locs && lowest == INT64_MAX; i++)
        if (values[i] == *max)
            lowest = trace->locs[i].id;
    lc_transport_allreduce_i64(trace->comm, &lowest, 1, LC_OP_MIN);
    *location = lowest == INT64_MAX ? LC_NONE : (uint32_t)lowest;
}

/* The call path with which a location entered MPI_Finalize; LC_NONE: it did not. */
static uint32_t finalize_cnode_of(const struct lc_trace *trace, uint32_t location) {
    int64_t cnode = -1;
    for (size_t i = 0; i < trace->n_locs; i++)
        if (trace->locs[i].id == location && trace->locs[i].finalize_enter != INT64_MIN)
            cnode = trace->locs[i].finalize_cnode;
    lc_transport_allreduce_i64(trace->comm, &cnode, 1, LC_OP_MAX);
    return cnode < 0 ? LC_NONE : (uint32_t)cnode;
}

/* MPI_Init and MPI_Finalize count for the bounds only if every process has them. */
static enum lc_err find_ends(struct lc_trace *trace) {
    int64_t *init = NULL, *finalize = NULL;
    enum lc_err err = lc_alloc(&init, trace->n_locs + 1, sizeof *init);
    if (err == LC_OK)
        err = lc_alloc(&finalize, trace->n_locs + 1, sizeof *finalize);
    if (err != LC_OK) {
        free(init);
        free(finalize);
        return err;
    }
    int64_t have[2] = {0, 0}, any = 0;
    trace->init_leave_min = INT64_MAX;
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_loc *loc = &trace->locs[i];
        init[i] = loc->init_enter;
        finalize[i] = loc->finalize_enter;
        have[0] += loc->init_enter != INT64_MIN;
        have[1] += loc->finalize_enter != INT64_MIN;
        if (loc->init_leave != INT64_MIN && loc->init_leave < trace->init_leave_min)
            trace->init_leave_min = loc->init_leave;
    }
    lc_transport_allreduce_i64(trace->comm, have, 2, LC_OP_SUM);
    lc_transport_allreduce_i64(trace->comm, &trace->init_leave_min, 1, LC_OP_MIN);
    latest(trace, init, &trace->init_enter_max, &trace->init_last);
    latest(trace, finalize, &trace->finalize_enter_max, &trace->finalize_last);
    trace->some.init_enter_max = trace->init_enter_max;
    trace->some.init_leave_min = trace->init_leave_min;
    trace->some.finalize_enter_max = trace->finalize_enter_max;
    trace->some.init_last = trace->init_last;
    trace->some.finalize_last = trace->finalize_last;
    trace->some.finalize_last_cnode = finalize_cnode_of(trace, trace->some.finalize_last);
    int64_t n = (int64_t)trace->n_processes;
    any = have[0] + have[1];
    if (trace->comm->rank == 0 && any && !trace->health->count[LC_HEALTH_INIT_MISSING])
        lc_health_add(trace->health, LC_HEALTH_INIT_MISSING, LC_NONE,
                      (have[0] < n ? n - have[0] : 0) + (have[1] < n ? n - have[1] : 0));
    if (have[0] < n) {
        trace->init_enter_max = trace->init_leave_min = INT64_MIN;
        trace->init_last = LC_NONE;
    }
    if (have[1] < n) {
        trace->finalize_enter_max = INT64_MIN;
        trace->finalize_last = LC_NONE;
    }
    free(init);
    free(finalize);
    return LC_OK;
}

enum lc_err lc_trace_bounds(struct lc_trace *trace) {
    int64_t t0 = INT64_MAX, last[2] = {INT64_MIN, 0};
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_loc *loc = &trace->locs[i];
        if (!loc->n_transitions)
            continue;
        if (loc->time[0] < t0)
            t0 = loc->time[0];
        if (loc->time[loc->n_transitions - 1] > last[0])
            last[0] = loc->time[loc->n_transitions - 1];
        last[1] |= loc->extra != NULL && loc->extra->n_teams > 0;
    }
    lc_transport_allreduce_i64(trace->comm, &t0, 1, LC_OP_MIN);
    lc_transport_allreduce_i64(trace->comm, last, 2, LC_OP_MAX);
    if (t0 > last[0])
        return lc_fail(LC_ERR_FORMAT, "trace: holds no event that can be read: nothing to analyse");
    trace->t0 = t0;
    trace->t1 = last[0];
    trace->omp = last[1] != 0;
    return lc_transport_agree(trace->comm, find_ends(trace));
}

/* What lies in the store goes with it. */
static void free_array(const struct lc_trace *trace, void *array) {
    if (!lc_event_store_has(trace->store, array))
        free(array);
}

void lc_loc_free(const struct lc_trace *trace, struct lc_loc *loc) {
    free_array(trace, loc->time);
    free_array(trace, loc->cnode);
    free_array(trace, loc->calls);
    free_array(trace, loc->done);
    free_array(trace, loc->p2p);
    free(loc->p2p_left_out.counts);
    free(loc->colls_left_out.counts);
    free_array(trace, loc->colls);
    free_array(trace, loc->waits);
    free(loc->parts);
    free(loc->arrivals);
    free(loc->syncs);
    lc_loc_forget_matches(trace, loc);
    free(loc->cells);
    free(loc->visited);
    free(loc->samples);
    if (loc->extra) {
        free(loc->extra->teams);
        free(loc->extra->locks);
        for (int i = 0; loc->extra->tasks && i < LC_TASK_LEVELS; i++)
            free(loc->extra->tasks[i].all);
        free(loc->extra->tasks);
        free(loc->extra->task_events);
        free(loc->extra->phases);
        free(loc->extra->rma);
        free(loc->extra->rma_locks);
        free(loc->extra->rma_flushes);
        free(loc->extra);
    }
}

void lc_trace_free(struct lc_trace *trace) {
    if (!trace)
        return;
    for (size_t i = 0; i < trace->n_locs; i++)
        lc_loc_free(trace, &trace->locs[i]);
    free(trace->locs);
    free(trace->own);
    free(trace->regions);
    free(trace->comms);
    free(trace->processes);
    free(trace->locations);
    free(trace->system_nodes);
    free(trace->cnodes);
    lc_arena_free(&trace->arena);
    free(trace);
}

void lc_loc_forget_matches(const struct lc_trace *trace, struct lc_loc *loc) {
    free_array(trace, loc->matches);
    free(loc->lates);
    free(loc->causes);
    loc->matches = loc->lates = NULL;
    loc->causes = NULL;
    loc->n_matches = loc->cap_matches = loc->n_lates = loc->cap_lates = 0;
    loc->n_causes = loc->cap_causes = 0;
}

static uint32_t place_of(const uint32_t *members, uint32_t n, uint32_t process) {
    if (members && process < n && members[process] == process)
        return process;
    for (uint32_t r = 0; r < n && members; r++)
        if (members[r] == process)
            return r;
    return LC_NONE;
}

uint32_t lc_transport_rank(const struct lc_an_comm *comm, uint32_t process) {
    if (comm->self)
        return 0;
    uint32_t rank = place_of(comm->members, comm->n_members, process);
    if (rank != LC_NONE || !comm->n_remote)
        return rank;
    rank = place_of(comm->remote, comm->n_remote, process);
    return rank == LC_NONE ? rank : comm->n_members + rank;
}

enum lc_err lc_wait_add(struct lc_loc *loc, const struct lc_wait *wait) {
    if (loc->n_waits == loc->cap_waits)
        LC_TRY(lc_reserve(&loc->waits, &loc->cap_waits, loc->n_waits + 1, sizeof *loc->waits));
    loc->waits[loc->n_waits++] = *wait;
    return LC_OK;
}

enum lc_err lc_wait_arrived(struct lc_loc *loc, const struct lc_arrival *arrival) {
    if (loc->n_arrivals == loc->cap_arrivals)
        LC_TRY(lc_reserve(&loc->arrivals, &loc->cap_arrivals, loc->n_arrivals + 1,
                          sizeof *loc->arrivals));
    loc->arrivals[loc->n_arrivals++] = *arrival;
    return LC_OK;
}

enum lc_err lc_wait_together(struct lc_loc *loc, const struct lc_wait *wait, uint32_t call) {
    return lc_wait_arrived(loc, &(struct lc_arrival){.instance = wait->instance,
                                                     .call = call,
                                                     .cause = wait->cause & LC_ARRIVAL_CAUSE,
                                                     .kind = LC_ARRIVED_TOGETHER});
}
