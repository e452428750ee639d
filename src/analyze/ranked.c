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

/* Of those that the trace names; else along each dimension the one before and the one after: ranks
 * are in row-major order. */
static const struct lc_ranked *last_neighbour(const struct lc_an_comm *comm,
                                              const struct lc_ranked *members, size_t n,
                                              const struct lc_ranked *own) {
    const struct lc_ranked *last = NULL;
    uint64_t stride = 1;
    if (comm->sources != NULL && own->who.rank < comm->n_members) {
        const struct lc_an_sources *from = &comm->sources[own->who.rank];
        for (uint32_t i = 0; i < from->n; i++)
            last = from->ranks[i] != own->who.rank
                       ? later(last, of_rank(members, n, from->ranks[i]))
                       : last;
        return last;
    }
    for (uint32_t d = comm->n_dims; d-- > 0; stride *= comm->dims[d].size) {
        uint64_t size = comm->dims[d].size, at = own->who.rank / stride % size;
        for (int side = 0; side < 2; side++) {
            bool edge = side ? at + 1 == size : at == 0;
            if (size == 1 || (edge && !comm->dims[d].periodic))
                continue;
            uint64_t to = side ? (at + 1) % size : (at + size - 1) % size;
            last = later(last, of_rank(members, n, own->who.rank + to * stride - at * stride));
        }
    }
    return last;
}

struct answers {
    struct lc_ranked_cause *items;
    uint32_t *dest;
    size_t n;
};

/* Home: members [0, n) of one instance, by rank. */
static void answer(const struct lc_trace *trace, const struct lc_ranked *members, size_t n,
                   struct answers *out) {
    const struct lc_ranked *lower = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct lc_ranked *own = &members[i];
        const struct lc_ranked *cause =
            own->kind == LC_KIND_SCAN ? lower
                                      : last_neighbour(&trace->comms[own->comm], members, n, own);
        lower = later(lower, own);
        if (!cause || !(own->flags & LC_COLL_RECEIVES))
            continue;
        out->dest[out->n] = lc_trace_owner(trace, own->who.location);
        out->items[out->n++] =
            (struct lc_ranked_cause){own->instance, cause->who, own->who.location, own->coll};
    }
}

static enum lc_err answer_all(const struct lc_trace *trace, struct lc_ranked *in, size_t n,
                              struct answers *out) {
    LC_TRY(lc_alloc(&out->items, n, sizeof *out->items));
    LC_TRY(lc_alloc(&out->dest, n, sizeof *out->dest));
    if (n)
        qsort(in, n, sizeof *in, by_instance_rank);
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && in[end].instance == in[i].instance)
            end++;
        answer(trace, in + i, end - i, out);
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
