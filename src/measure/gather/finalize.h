/* The profile of all ranks, written inside MPI_Finalize. */
#ifndef LC_MEASURE_GATHER_FINALIZE_H
#define LC_MEASURE_GATHER_FINALIZE_H

#include <stdint.h>

#include "format/facts.h"

struct lc_part;

/* Gathers and writes the profile, and makes the library's last messages: after all other parts. */
extern const struct lc_part lc_profile_part;

/* Before MPI_Init; without it (sessions) rank and size are those of the launcher */
void lc_agree_announce(void);
void lc_agree_peers(void); /* sessions: the ranks of the node that are known by now; no waiting */
/* After MPI_Init: do all ranks run under the tool with the same options? Sets lc_core.agreed and
 * lc_core.comm. Collective. */
void lc_agree(void);

/* What each rank contributes to the facts (format/facts.h) of a run, beside its clocks. */

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
