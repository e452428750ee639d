#include "analyze/collective.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/aggregate.h"
#include "analyze/event_store.h"
#include "analyze/health.h"
#include "analyze/instances.h"
#include "analyze/ranked.h"
#include "analyze/results.h"
#include "base/lookup.h"
#include "base/mem.h"

enum { MOST_INSTANCES = 1 << 12 }; /* at a time */

struct packed { /* an aggregate, or the earliest end of a synchronisation point, on its way */
    uint64_t instance;
    union {
        struct lc_aggregate aggregate;
        int64_t end;
    } u;
};

struct window {
    struct lc_trace *trace;
    struct lc_instances in;
    uint64_t begin, end;
    size_t size;                     /* instances that fit */
    struct lc_aggregate *aggregates; /* [size] */
    int64_t *sync_end; /* [size]: earliest end of the members of the synchronisation point */
    uint32_t *used;    /* instances with members of this rank */
    size_t n_used;
    struct lc_ranked *ranked;
    size_t n_ranked, cap_ranked;
    uint32_t barrier_completion, nxn_completion; /* metrics */
};

static bool ranked(uint32_t kind) {
    return kind == LC_KIND_SCAN || kind == LC_KIND_NEIGHBOR;
}

static struct lc_who member(const struct lc_trace *trace, const struct lc_instance_part *part,
                            uint32_t rank) {
    const struct lc_loc *loc = &trace->locs[part->loc];
    const struct lc_coll_part *coll = &loc->colls[part->coll];
    return (struct lc_who){coll->begin,
                           coll->end,
                           rank,
                           loc->id,
                           loc->cnode[loc->calls[coll->call].enter],
                           lc_transport_group(&trace->comms[coll->comm], rank)};
}

/* Calls fn for every part of this rank in the window; `advance`: the cursors move after it. */
typedef enum lc_err part_fn(struct window *w, const struct lc_instance_part *part,
                            uint64_t instance, uint32_t rank);

static enum lc_err for_parts(struct window *w, bool advance, part_fn *fn) {
    for (size_t p = 0; p < w->in.n_processes; p++) {
        struct lc_process_runs cursor = w->in.processes[p];
        const struct lc_instance_part *part;
        uint64_t instance;
        uint32_t rank;
        while ((part = lc_instances_peek(&cursor, w->end, &instance, &rank)) != NULL) {
            LC_TRY(fn(w, part, instance, rank));
            lc_instances_next(&cursor);
        }
        if (advance)
            w->in.processes[p] = cursor;
    }
    return LC_OK;
}

static enum lc_err add_member(struct window *w, const struct lc_instance_part *part,
                              uint64_t instance, uint32_t rank) {
    struct lc_aggregate *a = &w->aggregates[instance - w->begin];
    const struct lc_coll_part *coll = &w->trace->locs[part->loc].colls[part->coll];
    struct lc_who who = member(w->trace, part, rank);
    if (!a->n_members)
        w->used[w->n_used++] = (uint32_t)(instance - w->begin);
    lc_aggregate_add(a, coll, &who);
    if (!ranked(coll->kind))
        return LC_OK;
    LC_TRY(lc_grow(&w->ranked, &w->cap_ranked, w->n_ranked + 1, sizeof *w->ranked));
    w->ranked[w->n_ranked++] = (struct lc_ranked){
        instance, who, part->coll, coll->comm, (uint8_t)coll->kind, (uint8_t)coll->flags};
    return LC_OK;
}

typedef void merge_fn(struct packed *into, const struct packed *from);

static void merge_aggregate(struct packed *into, const struct packed *from) {
    lc_aggregate_merge(&into->u.aggregate, &from->u.aggregate);
}

static void merge_end(struct packed *into, const struct packed *from) {
    if (from->u.end < into->u.end)
        into->u.end = from->u.end;
}

/* Home: takes the items of one instance together and gives all of them the result. `slot` is
 * scratch of w->size zeroes. */
static void merge_home(const struct window *w, struct packed *in, size_t n_in, uint32_t *slot,
                       merge_fn *merge) {
    for (size_t i = 0; i < n_in; i++) {
        uint32_t *s = &slot[in[i].instance - w->begin];
        if (*s)
            merge(&in[*s - 1], &in[i]);
        else
            *s = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < n_in; i++)
        in[i] = in[slot[in[i].instance - w->begin] - 1];
}

/* items[], one per instance used here, are merged with those of the other ranks: out to the homes,
 * and back (in any order) to everybody who sent. */
static enum lc_err merge_ranks(struct window *w, struct packed *items, size_t count,
                               merge_fn *merge) {
    const struct lc_transport *comm = w->trace->comm;
    uint32_t *dest = NULL, *slot = NULL;
    struct packed *in = NULL, *back = NULL;
    uint64_t *from = NULL;
    size_t n_in = 0, n_back = 0;
    enum lc_err err = lc_alloc(&dest, count + 1, sizeof *dest);
    if (err == LC_OK)
        err = lc_alloc(&slot, w->size, sizeof *slot);
    if (err == LC_OK)
        err = lc_alloc(&from, comm->size, sizeof *from);
    err = lc_transport_agree(comm, err);
    for (size_t i = 0; i < count && err == LC_OK; i++)
        dest[i] = (uint32_t)(items[i].instance % comm->size);
    if (err == LC_OK)
        err = lc_transport_exchange_from(comm, items, dest, count, sizeof *items, (void **)&in,
                                         &n_in, from);
    if (err == LC_OK) {
        merge_home(w, in, n_in, slot, merge);
        err = lc_transport_exchange_grouped(comm, in, from, sizeof *in, (void **)&back, &n_back,
                                            NULL);
    }
    if (err == LC_OK)
        memcpy(items, back, (n_back < count ? n_back : count) * sizeof *items);
    free(dest);
    free(slot);
    free(from);
    free(in);
    free(back);
    return err;
}

/* values[size] of `bytes` each, one per instance: merged over all ranks. */
static enum lc_err merge_values(struct window *w, void *values, size_t bytes, merge_fn *merge) {
    struct packed *items;
    char *at = values;
    if (w->trace->comm->size == 1)
        return LC_OK;
    LC_TRY(lc_transport_agree(w->trace->comm, lc_alloc(&items, w->n_used, sizeof *items)));
    for (size_t i = 0; i < w->n_used; i++) {
        items[i].instance = w->begin + w->used[i];
        memcpy(&items[i].u, at + w->used[i] * bytes, bytes);
    }
    enum lc_err err = merge_ranks(w, items, w->n_used, merge);
    for (size_t i = 0; i < w->n_used && err == LC_OK; i++)
        memcpy(at + (items[i].instance - w->begin) * bytes, &items[i].u, bytes);
    free(items);
    return err;
}

static uint32_t expected(const struct window *w, uint64_t instance) {
    size_t after = LC_FIRST_WHERE(i, 1, w->in.n_streams, w->in.base[i] > instance);
    return w->in.expected[(after - 1) / LC_COLL_CLASSES];
}

/* Instances that are not whole lose their kind. The rank whose member is first (by location)
 * reports; all see the same aggregate. */
static void check_instances(struct window *w) {
    struct lc_health *health = w->trace->health;
    for (size_t i = 0; i < w->n_used; i++) {
        uint64_t instance = w->begin + w->used[i];
        struct lc_aggregate *a = &w->aggregates[w->used[i]];
        bool whole = a->n_members == expected(w, instance);
        if (whole && !a->mismatch)
            continue;
        a->kind = LC_KIND_NONE;
        a->mismatch = true;
        if (lc_trace_loc(w->trace, a->first_location))
            lc_health_note(health, whole ? LC_HEALTH_COLL_MISMATCH : LC_HEALTH_COLL_INCOMPLETE,
                           a->first_location);
    }
}

static bool synchronising(const struct lc_aggregate *a) {
    return a->latest_begin <= a->earliest_end;
}

static bool only_if_synchronising(uint32_t kind) {
    return kind == LC_KIND_N2N_SYNC || kind == LC_KIND_MGMT || kind == LC_KIND_FENCE ||
           kind == LC_KIND_WIN_CREATE || kind == LC_KIND_WIN_FREE || kind == LC_KIND_IO;
}

/* All members wait for the same one: the latest sender. */
static bool barrier_like(uint32_t kind) {
    return kind == LC_KIND_BARRIER || kind == LC_KIND_N2N || only_if_synchronising(kind);
}

static enum lc_err add_cause(struct lc_loc *loc, const struct lc_who *who, uint64_t instance) {
    LC_TRY(lc_grow(&loc->causes, &loc->cap_causes, loc->n_causes + 1, sizeof *loc->causes));
    loc->causes[loc->n_causes++] =
        (struct lc_coll_cause){{who->begin, who->end, who->location, who->cnode}, instance};
    return LC_OK;
}

/* Notes who ends the waiting of a member; whether it waits is known when its call is
 * classified as a whole. */
static enum lc_err set_cause(struct lc_loc *loc, uint32_t coll, const struct lc_who *by,
                             const struct lc_who *blocking, uint64_t instance) {
    LC_TRY(add_cause(loc, by, instance));
    loc->colls[coll].root = (uint32_t)loc->n_causes;
    return blocking ? add_cause(loc, blocking, instance) : LC_OK;
}

/* The latest sender: in an inter-communicator data come from the other group. */
static const struct lc_who *latest_for(const struct window *w, const struct lc_coll_part *coll,
                                       const struct lc_aggregate *a, uint32_t rank) {
    const struct lc_an_comm *comm = &w->trace->comms[coll->comm];
    return comm->n_remote && a->kind != LC_KIND_MGMT
               ? &a->latest_of[!lc_transport_group(comm, rank)]
               : &a->latest;
}

static enum lc_err book_completion(struct window *w, const struct lc_loc *loc,
                                   const struct lc_coll_part *coll, const struct lc_aggregate *a,
                                   const struct lc_who *latest) {
    bool barrier = coll->kind == LC_KIND_BARRIER;
    if (!barrier && coll->kind != LC_KIND_N2N && coll->kind != LC_KIND_N2N_SYNC)
        return LC_OK;
    if (coll->klass != LC_COLL_BLOCKING || !(coll->flags & LC_COLL_SENDS) ||
        !(coll->flags & LC_COLL_RECEIVES) || latest->location == LC_NONE)
        return LC_OK;
    int64_t from =
        latest->begin > a->earliest_exchange_end ? latest->begin : a->earliest_exchange_end;
    if (coll->end <= from)
        return LC_OK;
    return lc_results_add_int(w->trace->results,
                              barrier ? w->barrier_completion : w->nxn_completion,
                              loc->cnode[loc->calls[coll->call].enter], loc->id, coll->end - from);
}

static bool inside(const struct lc_coll_part *coll, const struct lc_loc *loc,
                   const struct lc_aggregate *a) {
    return coll->begin <= a->latest.begin && a->latest.begin <= coll->end &&
           ((coll->flags & LC_COLL_RECEIVES) || a->latest.location == loc->id);
}

static enum lc_err give_part(struct lc_loc *loc, const struct lc_coll_part *coll,
                             uint64_t instance) {
    return lc_wait_arrived(
        loc,
        &(struct lc_arrival){.instance = instance, .call = coll->call, .kind = LC_ARRIVED_MEMBER});
}

/* A nonblocking operation of one group in which all wait for all: members may come long before they
 * wait, so the replay has to know of each when it came. */
static bool gathers_parts(const struct window *w, const struct lc_coll_part *coll,
                          const struct lc_aggregate *a) {
    return coll->klass == LC_COLL_NONBLOCKING && w->trace->comms[coll->comm].n_remote == 0 &&
           (a->kind == LC_KIND_BARRIER || a->kind == LC_KIND_N2N);
}

static enum lc_err find_member_cause(struct window *w, const struct lc_instance_part *part,
                                     uint64_t instance, uint32_t rank) {
    struct lc_loc *loc = &w->trace->locs[part->loc];
    struct lc_coll_part *coll = &loc->colls[part->coll];
    const struct lc_aggregate *a = &w->aggregates[instance - w->begin];
    uint32_t root = coll->root;
    coll->root = 0;
    if (!a->mismatch) /* else it is no candidate */
        coll->flags |= LC_COLL_COMPARED;
    if (a->kind == LC_KIND_NONE || (only_if_synchronising(a->kind) && !synchronising(a)))
        return LC_OK;
    bool receives = (coll->flags & LC_COLL_RECEIVES) != 0;
    if (barrier_like(a->kind)) {
        const struct lc_who *latest = latest_for(w, coll, a, rank);
        LC_TRY(book_completion(w, loc, coll, a, latest));
        if (a->latest.location == LC_NONE)
            return LC_OK;
        int64_t *end = &w->sync_end[instance - w->begin];
        if (coll->klass != LC_COLL_NONBLOCKING && inside(coll, loc, a) && coll->end < *end)
            *end = coll->end;
        bool for_all = gathers_parts(w, coll, a);
        if (for_all && receives)
            coll->flags |= LC_COLL_FOR_ALL;
        if (receives && latest->location != LC_NONE && (for_all || latest->rank != rank))
            LC_TRY(set_cause(loc, part->coll, latest, NULL, instance));
        if (for_all && (coll->flags & LC_COLL_SENDS || a->kind == LC_KIND_BARRIER))
            return give_part(loc, coll, instance);
    } else if (a->kind == LC_KIND_12N) {
        if (receives && rank != root && a->root.location != LC_NONE)
            LC_TRY(set_cause(loc, part->coll, &a->root, NULL, instance));
    } else if (a->kind == LC_KIND_N21) {
        if (receives && rank == root && a->earliest.location != LC_NONE)
            LC_TRY(set_cause(loc, part->coll, &a->earliest, &a->latest, instance));
        else if (rank != root)
            return give_part(loc, coll, instance);
    }
    return LC_OK;
}

static enum lc_err add_sync(struct window *w, const struct lc_instance_part *part,
                            uint64_t instance, uint32_t rank) {
    (void)rank;
    struct lc_loc *loc = &w->trace->locs[part->loc];
    const struct lc_coll_part *coll = &loc->colls[part->coll];
    const struct lc_aggregate *a = &w->aggregates[instance - w->begin];
    if (w->sync_end[instance - w->begin] == INT64_MAX || !barrier_like(a->kind) ||
        coll->klass == LC_COLL_NONBLOCKING || !inside(coll, loc, a))
        return LC_OK;
    LC_TRY(lc_grow(&loc->syncs, &loc->cap_syncs, loc->n_syncs + 1, sizeof *loc->syncs));
    loc->syncs[loc->n_syncs++] = (struct lc_sync){w->sync_end[instance - w->begin], instance, 0, 0};
    return LC_OK;
}

/* One more that the replay has to know. Which call of an operation that does not block waits is not
 * known here. */
static enum lc_err note_other(struct lc_loc *loc, const struct lc_ranked_cause *cause) {
    const struct lc_coll_part *coll = &loc->colls[cause->coll];
    if (coll->klass != LC_COLL_BLOCKING)
        return LC_OK;
    return lc_wait_arrived(loc, &(struct lc_arrival){.release = cause->by.begin,
                                                     .call = coll->call,
                                                     .cause = cause->by.location & LC_ARRIVAL_CAUSE,
                                                     .kind = LC_ARRIVED_DATA});
}

static enum lc_err find_ranked_causes(struct window *w) {
    struct lc_ranked_cause *causes = NULL;
    size_t n = 0;
    enum lc_err err = lc_ranked_causes(w->trace, w->ranked, w->n_ranked, &causes, &n);
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        struct lc_loc *loc = lc_trace_loc(w->trace, causes[i].location);
        if (!ranked(w->aggregates[causes[i].instance - w->begin].kind))
            continue;
        if (causes[i].other)
            err = note_other(loc, &causes[i]);
        else
            err = set_cause(loc, causes[i].coll, &causes[i].by, NULL, causes[i].instance);
    }
    free(causes);
    return lc_transport_agree(w->trace->comm, err);
}

static enum lc_err run_window(struct window *w) {
    const struct lc_transport *comm = w->trace->comm;
    w->n_used = w->n_ranked = 0;
    for (size_t i = 0; i < w->size; i++) {
        lc_aggregate_init(&w->aggregates[i]);
        w->sync_end[i] = INT64_MAX;
    }
    LC_TRY(lc_transport_agree(comm, for_parts(w, false, add_member)));
    LC_TRY(merge_values(w, w->aggregates, sizeof *w->aggregates, merge_aggregate));
    check_instances(w);
    LC_TRY(lc_transport_agree(comm, for_parts(w, false, find_member_cause)));
    LC_TRY(find_ranked_causes(w));
    LC_TRY(merge_values(w, w->sync_end, sizeof *w->sync_end, merge_end));
    enum lc_err err = lc_transport_agree(comm, for_parts(w, true, add_sync));
    lc_event_store_rest(w->trace->store);
    return err;
}

static enum lc_err window_init(struct window *w) {
    LC_TRY(lc_alloc(&w->aggregates, w->size, sizeof *w->aggregates));
    LC_TRY(lc_alloc(&w->sync_end, w->size, sizeof *w->sync_end));
    LC_TRY(lc_alloc(&w->used, w->size, sizeof *w->used));
    struct lc_results *results = w->trace->results;
    LC_TRY(lc_results_metric(results, "mpi_barrier_completion", &w->barrier_completion));
    return lc_results_metric(results, "mpi_nxn_completion", &w->nxn_completion);
}

enum lc_err lc_collectives_match(struct lc_trace *trace) {
    struct window w = {.trace = trace};
    LC_TRY(lc_instances_build(&w.in, trace));
    uint64_t n_instances = w.in.base[w.in.n_streams];
    w.size = n_instances < MOST_INSTANCES ? (size_t)n_instances : MOST_INSTANCES;
    enum lc_err err = lc_transport_agree(trace->comm, window_init(&w));
    for (w.begin = 0; w.begin < n_instances && err == LC_OK; w.begin = w.end) {
        w.end = w.begin + w.size < n_instances ? w.begin + w.size : n_instances;
        err = run_window(&w);
    }
    lc_instances_free(&w.in);
    free(w.aggregates);
    free(w.sync_end);
    free(w.used);
    free(w.ranked);
    return err;
}
