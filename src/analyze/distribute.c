#include "analyze/distribute.h"

#include <stdlib.h>

#include "base/lookup.h"
#include "base/mem.h"

enum { TOLERATED = 32 }; /* the fullest block may have a 32nd more */

struct load {
    uint64_t events;
    uint32_t process;
};

static int by_load(const void *a, const void *b) {
    const struct load *x = a, *y = b;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return x->process < y->process ? -1 : x->process > y->process;
}

/* The largest first, each to the rank that has least so far. Returns the most of any rank. */
static uint64_t deal(struct load *loads, size_t n, uint64_t *sums, uint32_t n_ranks,
                     uint32_t *owner) {
    uint64_t most = 0;
    qsort(loads, n, sizeof *loads, by_load);
    for (size_t i = 0; i < n; i++) {
        uint32_t best = 0;
        for (uint32_t r = 1; r < n_ranks; r++)
            if (sums[r] < sums[best])
                best = r;
        sums[best] += loads[i].events + 1;
        owner[loads[i].process] = best;
        most = sums[best] > most ? sums[best] : most;
    }
    return most;
}

/* Fills blocks of at most `room` one after the other. false: more than n_ranks would be needed.
 * owner: NULL if only that is asked. */
static bool fill(const uint64_t *events, size_t n, uint32_t n_ranks, uint64_t room,
                 uint32_t *owner) {
    uint64_t sum = 0;
    uint32_t rank = 0;
    for (size_t p = 0; p < n; p++) {
        uint64_t load = events[p] + 1;
        if (load > room)
            return false;
        if (sum + load > room) {
            sum = 0;
            if (++rank == n_ranks)
                return false;
        }
        sum += load;
        if (owner)
            owner[p] = rank;
    }
    return true;
}

/* The least room with which blocks of neighbours fit. */
static uint64_t least_room(const uint64_t *events, size_t n, uint32_t n_ranks) {
    uint64_t all = n;
    for (size_t p = 0; p < n; p++)
        all += events[p];
    return LC_FIRST_WHERE(room, 0, all, fill(events, n, n_ranks, room, NULL));
}

enum lc_err lc_distribute(const uint64_t *events, size_t n_processes, uint32_t n_ranks,
                          uint32_t *owner) {
    struct load *loads = NULL;
    uint64_t *sums = NULL;
    enum lc_err err = lc_alloc(&loads, n_processes + 1, sizeof *loads);
    if (err == LC_OK)
        err = lc_alloc(&sums, n_ranks, sizeof *sums);
    if (err == LC_OK) {
        for (size_t p = 0; p < n_processes; p++)
            loads[p] = (struct load){events[p], (uint32_t)p};
        uint64_t dealt = deal(loads, n_processes, sums, n_ranks, owner);
        uint64_t room = least_room(events, n_processes, n_ranks);
        if (room <= dealt + dealt / TOLERATED)
            fill(events, n_processes, n_ranks, room, owner);
    }
    free(loads);
    free(sums);
    return err;
}

enum lc_err lc_distribute_trace(struct lc_trace *trace) {
    uint64_t *events = NULL;
    uint32_t *owner = NULL;
    enum lc_err err = lc_alloc(&events, trace->n_processes + 1, sizeof *events);
    if (err == LC_OK)
        err = lc_alloc(&owner, trace->n_processes + 1, sizeof *owner);
    for (size_t p = 0; p < trace->n_processes && err == LC_OK; p++) {
        const struct lc_an_process *process = &trace->processes[p];
        for (uint32_t i = 0; i < process->n_locations; i++) {
            uint64_t n = trace->locations[process->first_location + i].n_events;
            events[p] += n < UINT32_MAX ? n : UINT32_MAX;
        }
    }
    if (err == LC_OK)
        err = lc_distribute(events, trace->n_processes, trace->comm->size, owner);
    for (size_t p = 0; p < trace->n_processes && err == LC_OK; p++)
        trace->processes[p].owner = owner[p];
    free(events);
    free(owner);
    return err;
}
