#include "analyze/aggregate.h"

#include "base/none.h"

static const struct lc_who nobody = {0, 0, LC_NONE, LC_NONE, LC_NONE, 0};

void lc_aggregate_init(struct lc_aggregate *a) {
    *a = (struct lc_aggregate){.latest = nobody,
                               .latest_of = {nobody, nobody},
                               .earliest = nobody,
                               .root = nobody,
                               .latest_begin = INT64_MIN,
                               .earliest_end = INT64_MAX,
                               .earliest_exchange_end = INT64_MAX,
                               .root_rank = LC_NONE};
}

static void later(struct lc_who *a, const struct lc_who *b) {
    if (b->location == LC_NONE)
        return;
    if (a->location == LC_NONE || b->begin > a->begin ||
        (b->begin == a->begin && b->rank < a->rank))
        *a = *b;
}

static void earlier(struct lc_who *a, const struct lc_who *b) {
    if (b->location == LC_NONE)
        return;
    if (a->location == LC_NONE || b->begin < a->begin ||
        (b->begin == a->begin && b->rank < a->rank))
        *a = *b;
}

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool rooted(uint32_t kind) {
    return kind == LC_KIND_12N || kind == LC_KIND_N21;
}

/* The group of the root in an inter-communicator does not name it. */
static bool other_root(uint32_t a, uint32_t b) {
    return a != b && a != LC_NONE && b != LC_NONE;
}

void lc_aggregate_add(struct lc_aggregate *a, const struct lc_coll_part *coll,
                      const struct lc_who *member) {
    struct lc_aggregate one;
    lc_aggregate_init(&one);
    one.n_members = 1;
    one.op = coll->op;
    one.kind = coll->kind;
    one.first_location = member->location;
    one.latest_begin = member->begin;
    one.earliest_end = member->end;
    if ((coll->flags & LC_COLL_SENDS) && (coll->flags & LC_COLL_RECEIVES))
        one.earliest_exchange_end = member->end;
    bool is_root = rooted(coll->kind) && member->rank == coll->root;
    if (rooted(coll->kind))
        one.root_rank = coll->root;
    if (is_root)
        one.root = *member;
    if ((coll->flags & LC_COLL_SENDS) && !is_root)
        one.latest = one.earliest = one.latest_of[member->group] = *member;
    lc_aggregate_merge(a, &one);
}

void lc_aggregate_merge(struct lc_aggregate *a, const struct lc_aggregate *b) {
    if (!b->n_members)
        return;
    if (!a->n_members) {
        *a = *b;
        return;
    }
    a->mismatch |= b->mismatch | (a->op != b->op) | other_root(a->root_rank, b->root_rank);
    a->root_rank = a->root_rank == LC_NONE ? b->root_rank : a->root_rank;
    a->n_members += b->n_members;
    if (b->first_location < a->first_location)
        a->first_location = b->first_location;
    later(&a->latest, &b->latest);
    later(&a->latest_of[0], &b->latest_of[0]);
    later(&a->latest_of[1], &b->latest_of[1]);
    earlier(&a->earliest, &b->earliest);
    if (b->root.location != LC_NONE)
        a->root = b->root;
    a->latest_begin = max_i64(a->latest_begin, b->latest_begin);
    a->earliest_end = min_i64(a->earliest_end, b->earliest_end);
    a->earliest_exchange_end = min_i64(a->earliest_exchange_end, b->earliest_exchange_end);
}
