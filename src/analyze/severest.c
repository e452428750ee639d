#include "analyze/severest.h"

#include <stdlib.h>

#include "analyze/event_store.h"
#include "analyze/page_parts.h"
#include "analyze/waits.h"
#include "base/mem.h"

struct longest { /* at one place, of this rank */
    const struct lc_wait *wait;
    uint32_t location;
};

struct search {
    const struct lc_trace *trace;
    size_t n;            /* places: call paths x kinds */
    int64_t *sums;       /* [n] ticks */
    struct longest *own; /* [n] */
};

static int compare_places(const void *a, const void *b) {
    const struct lc_severest *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    if (x->cnode != y->cnode)
        return x->cnode < y->cnode ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void add_wait(struct search *search, uint32_t location, const struct lc_wait *wait) {
    size_t at = (size_t)wait->cnode * LC_WAIT_KINDS + wait->kind;
    struct longest *longest = &search->own[at];
    int64_t ticks = lc_wait_ticks(wait);
    search->sums[at] += ticks;
    if (longest->wait == NULL || ticks > lc_wait_ticks(longest->wait))
        *longest = (struct longest){wait, location};
}

static void add_waits(struct search *search) {
    const struct lc_trace *trace = search->trace;
    for (size_t l = 0; l < trace->n_locs; l++) {
        const struct lc_loc *loc = &trace->locs[l];
        for (size_t i = 0; i < loc->n_waits; i++) {
            int64_t begin, end;
            if (lc_page_wait(&loc->waits[i], &begin, &end) &&
                loc->waits[i].cnode < trace->n_cnodes && lc_wait_metric(loc->waits[i].kind) != NULL)
                add_wait(search, loc->id, &loc->waits[i]);
        }
        lc_event_store_rest(trace->store);
    }
}

/* Collective: the severest wait of all ranks at a place, that of the lowest location of equals. */
static void find_severest(const struct search *search, struct lc_severest *place) {
    const struct lc_trace *trace = search->trace;
    const struct longest *own = &search->own[(size_t)place->cnode * LC_WAIT_KINDS + place->kind];
    int64_t mine = own->wait != NULL ? lc_wait_ticks(own->wait) : INT64_MIN, most = mine;
    lc_transport_allreduce_i64(trace->comm, &most, 1, LC_OP_MAX);
    int64_t location = mine == most ? (int64_t)own->location : INT64_MAX;
    lc_transport_allreduce_i64(trace->comm, &location, 1, LC_OP_MIN);
    place->location = (uint32_t)location;
    if (own->wait != NULL && mine == most && own->location == place->location) {
        place->cause = own->wait->cause;
        place->cause_cnode = own->wait->cause_cnode;
        lc_page_wait(own->wait, &place->begin, &place->end);
    }
    lc_transport_bcast(trace->comm, place, sizeof *place, lc_trace_owner(trace, place->location));
}

/* Collective: those with the largest sums, largest first; *n of them. */
static enum lc_err choose_of(struct search *search, struct lc_severest chosen[LC_SEVEREST],
                             size_t *n) {
    struct lc_severest *places;
    size_t used = 0;
    LC_TRY(
        lc_transport_agree(search->trace->comm, lc_alloc(&places, search->n + 1, sizeof *places)));
    lc_transport_allreduce_i64(search->trace->comm, search->sums, search->n, LC_OP_SUM);
    for (size_t i = 0; i < search->n; i++)
        if (search->sums[i] > 0)
            places[used++] = (struct lc_severest){.sum = search->sums[i],
                                                  .cnode = (uint32_t)(i / LC_WAIT_KINDS),
                                                  .kind = (uint32_t)(i % LC_WAIT_KINDS)};
    qsort(places, used, sizeof *places, compare_places);
    *n = used < LC_SEVEREST ? used : LC_SEVEREST;
    for (size_t i = 0; i < *n; i++) {
        chosen[i] = places[i];
        find_severest(search, &chosen[i]);
    }
    free(places);
    return LC_OK;
}

enum lc_err lc_severest_find(const struct lc_trace *trace, struct lc_severest list[LC_SEVEREST],
                             size_t *n) {
    struct search search = {.trace = trace, .n = trace->n_cnodes * LC_WAIT_KINDS};
    enum lc_err err = lc_alloc(&search.sums, search.n + 1, sizeof *search.sums);
    if (err == LC_OK)
        err = lc_alloc(&search.own, search.n + 1, sizeof *search.own);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK) {
        add_waits(&search);
        err = choose_of(&search, list, n);
    }
    free(search.sums);
    free(search.own);
    return err;
}
