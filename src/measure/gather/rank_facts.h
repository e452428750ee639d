/* What each rank contributes to the facts (format/facts.h) of a run, beside its clocks. */
#ifndef LC_MEASURE_GATHER_RANK_FACTS_H
#define LC_MEASURE_GATHER_RANK_FACTS_H

#include <stdint.h>

#include "format/facts.h"

struct lc_strbuf;

enum { LC_RANK_STEPS = 8 };

/* Call sites of one function that were measured with less detail to stay within the budget. */
struct lc_rank_step {
    uint32_t fn, detail; /* enum lc_fn, enum lc_detail */
    uint64_t sites;
};

struct lc_rank_own {
    struct lc_fact_rank facts;
    struct lc_rank_step steps[LC_RANK_STEPS];
    uint32_t n_steps;
};

/* What this rank says about its run. */
void lc_rank_facts_fill(struct lc_rank_own *rank);
/* The facts of all n ranks and of this process, which is rank 0. */
void lc_rank_facts_put(const struct lc_rank_own *all, int n, struct lc_strbuf *facts);

#endif
