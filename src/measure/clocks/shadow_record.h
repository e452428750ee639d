/* What a member of a collective operation sends to the others where they share no memory; times and
 * clocks in nanoseconds of the global clock. */
#ifndef LC_MEASURE_CLOCKS_SHADOW_RECORD_H
#define LC_MEASURE_CLOCKS_SHADOW_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/operations.h"
#include "measure/clocks/record_format.h"
#include "piggyback/ring.h"

struct lc_call;
struct lc_clk_coll;
struct lc_clk_thread;

struct lc_shadow_record {
    uint64_t n;                               /* members that contributed */
    double useful, outside_omp, phase_useful; /* ns */
    uint32_t interval, phase;
    double latest, earliest; /* ns of the global clock */
    uint32_t latest_rank, latest_node, earliest_rank, earliest_node;
    uint64_t extra[LC_RECORD_EXTRA];
    uint64_t past[LC_PAST_WORDS]; /* of latest_rank (origins.h); 0: none */
};

/* Of no member yet. */
void lc_shadow_empty(struct lc_shadow_record *r);
/* A copy of the words that are set. */
void lc_shadow_copy(const struct lc_shadow_record *from, struct lc_shadow_record *to);

/* The words that are set, at most sizeof *r of them; how many. */
uint32_t lc_shadow_pack(const struct lc_shadow_record *r, uint64_t *words);
/* Back. False: damaged. */
bool lc_shadow_unpack(const uint64_t *words, uint32_t n, struct lc_shadow_record *r);

/* Fills the record that this member sends of itself to the others. */
void lc_shadow_fill(struct lc_clk_thread *k, const struct lc_stamp *stamp,
                    struct lc_shadow_record *r);

/* b becomes the maximum of both; one with n 0 is neutral. */
void lc_shadow_merge(const struct lc_shadow_record *a, struct lc_shadow_record *b);

/* What the record says to a call that ended at `end`: the clocks of its edge, who it waited for and
 * when that one entered. */
struct lc_shadow_edge {
    struct lc_stamp stamp;
    const uint64_t *extra; /* LC_RECORD_EXTRA words, of the record */
    uint64_t release;
    uint32_t rank, node;
};
/* False: nothing. */
bool lc_shadow_edge_of(const struct lc_shadow_record *r, enum lc_coll_kind kind, uint64_t end,
                       struct lc_shadow_edge *e);

/* Edge into the call, and what it waited for. */
void lc_shadow_apply(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                     const struct lc_shadow_record *r);

#endif
