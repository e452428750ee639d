#include "analyze/ranked.h"

#include <stdlib.h>

#include "base/lookup.h"
#include "base/mem.h"

static int by_instance_rank(const void *a, const void *b) {
    const struct lc_ranked *x = a, *y = b;
    if (x->instance != y->instance)
        return x->instance < y->instance ? -1 : 1;
    return x->who.rank < y->who.rank ? -1 : x->who.rank > y->who.rank;
}

static const struct lc_ranked *of_rank(const struct lc_ranked *members, size_t n, uint64_t rank) {
    size_t at = LC_FIRST_WHERE(i, 0, n, members[i].who.rank >= rank);
    return at < n && members[at].who.rank == rank ? &members[at] : NULL;
}

/* The later of two senders; equals: the lowest rank. NULL: nobody. */
static const struct lc_ranked *later(const struct lc_ranked *a, const struct lc_ranked *b) {
    if (!b || !(b->flags & LC_COLL_SENDS))
        return a;
    if (!a || b->who.begin != a->who.begin)
        return !a || b->who.begin > a->who.begin ? b : a;
    return b->who.rank < a->who.rank ? b : a;
}

/* The sending neighbours of a member, one after the other: those that the trace names; else along
 * each dimension the one before and the one after: ranks are in row-major order. */
struct neighbours {
    const struct lc_an_comm *comm;
    const struct lc_ranked *members, *own;
    size_t n;
    uint32_t next; /* of the sources, or twice the dimension (from the last one) and the side */
    uint64_t stride;
};

static const struct lc_ranked *sender(const struct neighbours *of, uint64_t rank) {
    const struct lc_ranked *member =
        rank != of->own->who.rank ? of_rank(of->members, of->n, rank) : NULL;
    return member != NULL && (member->flags & LC_COLL_SENDS) ? member : NULL;
}

/* The rank on one side along a dimension; its own where there is none. */
static uint64_t beside(const struct neighbours *of, uint32_t dimension, bool after) {
    uint64_t size = of->comm->dims[dimension].size, rank = of->own->who.rank,
             at = rank / of->stride % size;
    if ((after ? at + 1 == size : at == 0) && !of->comm->dims[dimension].periodic)
        return rank;
    return rank + (after ? (at + 1) % size : (at + size - 1) % size) * of->stride - at * of->stride;
}

static const struct lc_ranked *next_neighbour(struct neighbours *of) {
    const struct lc_an_comm *comm = of->comm;
    const struct lc_ranked *found = NULL;
    if (comm->sources != NULL && of->own->who.rank < comm->n_members) {
        const struct lc_an_sources *from = &comm->sources[of->own->who.rank];
        while (found == NULL && of->next < from->n)
            found = sender(of, from->ranks[of->next++]);
        return found;
    }
    for (; found == NULL && of->next < 2 * comm->n_dims; of->next++) {
        uint32_t dimension = comm->n_dims - 1 - of->next / 2;
        if (comm->dims[dimension].size > 1)
            found = sender(of, beside(of, dimension, of->next % 2 == 1));
        if (of->next % 2 == 1)
            of->stride *= comm->dims[dimension].size;
    }
    return found;
}

static struct neighbours neighbours_of(const struct lc_trace *trace,
                                       const struct lc_ranked *members, size_t n,
                                       const struct lc_ranked *own) {
    return (struct neighbours){
        .comm = &trace->comms[own->comm], .members = members, .own = own, .n = n, .stride = 1};
}

static const struct lc_ranked *last_neighbour(struct neighbours of) {
    const struct lc_ranked *last = NULL, *one;
    while ((one = next_neighbour(&of)) != NULL)
        last = later(last, one);
    return last;
}

struct answers {
    struct lc_ranked_cause *items;
    uint32_t *dest;
    size_t n, cap_items, cap_dest;
};

static enum lc_err add_answer(const struct lc_trace *trace, const struct lc_ranked *own,
                              const struct lc_ranked *by, bool other, struct answers *out) {
    LC_TRY(lc_grow(&out->items, &out->cap_items, out->n + 1, sizeof *out->items));
    LC_TRY(lc_grow(&out->dest, &out->cap_dest, out->n + 1, sizeof *out->dest));
    out->dest[out->n] = lc_trace_owner(trace, own->who.location);
    out->items[out->n++] =
        (struct lc_ranked_cause){own->instance, by->who, own->who.location, own->coll, other};
    return LC_OK;
}

/* Home: members [0, n) of one instance, by rank. */
static enum lc_err answer(const struct lc_trace *trace, const struct lc_ranked *members, size_t n,
                          struct answers *out) {
    const struct lc_ranked *lower = NULL, *one;
    for (size_t i = 0; i < n; i++) {
        const struct lc_ranked *own = &members[i];
        struct neighbours of = neighbours_of(trace, members, n, own);
        bool scan = own->kind == LC_KIND_SCAN;
        const struct lc_ranked *cause = scan ? lower : last_neighbour(of);
        lower = later(lower, own);
        if (!cause || !(own->flags & LC_COLL_RECEIVES))
            continue;
        LC_TRY(add_answer(trace, own, cause, false, out));
        while (!scan && (one = next_neighbour(&of)) != NULL)
            if (one != cause)
                LC_TRY(add_answer(trace, own, one, true, out));
    }
    return LC_OK;
}

static enum lc_err answer_all(const struct lc_trace *trace, struct lc_ranked *in, size_t n,
                              struct answers *out) {
    if (n)
        qsort(in, n, sizeof *in, by_instance_rank);
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && in[end].instance == in[i].instance)
            end++;
        LC_TRY(answer(trace, in + i, end - i, out));
        i = end;
    }
    return LC_OK;
}

enum lc_err lc_ranked_causes(const struct lc_trace *trace, const struct lc_ranked *members,
                             size_t n_members, struct lc_ranked_cause **causes, size_t *n_causes) {
    const struct lc_transport *comm = trace->comm;
    int64_t any = n_members > 0;
    *causes = NULL;
    *n_causes = 0;
    lc_transport_allreduce_i64(comm, &any, 1, LC_OP_MAX);
    if (!any)
        return LC_OK;
    struct lc_ranked *in = NULL;
    struct answers out = {.n = 0};
    uint32_t *dest = NULL;
    size_t n_in = 0;
    enum lc_err err = lc_transport_agree(comm, lc_alloc(&dest, n_members, sizeof *dest));
    for (size_t i = 0; i < n_members && err == LC_OK; i++)
        dest[i] = (uint32_t)(members[i].instance % comm->size);
    if (err == LC_OK)
        err =
            lc_transport_exchange(comm, members, dest, n_members, sizeof *in, (void **)&in, &n_in);
    if (err == LC_OK)
        err = lc_transport_agree(comm, answer_all(trace, in, n_in, &out));
    if (err == LC_OK)
        err = lc_transport_exchange(comm, out.items, out.dest, out.n, sizeof **causes,
                                    (void **)causes, n_causes);
    free(dest);
    free(in);
    free(out.items);
    free(out.dest);
    return err;
}
