/* What the run would gain if one cause were removed: the trace replayed without it (replay.h).
 *
 * Nouns
 *   cause    a call path that makes others wait, by the delay costs of the trace (short and long
 *            term, in either model)
 *   portion  the time of a location in a call path, without what it calls, between two MPI calls;
 *            one for each time that the exact call path around it is there, be it 0: samples find a
 *            function by chance
 *
 * What is removed, of a call path p with the time U_r on rank r (portions k: U_rk):
 *   late_rank            of rank r (that of most cost) what exceeds the mean of the others: each
 *                        portion takes the mean over the other ranks of U_k
 *   imbalance            each portion takes the mean over all ranks of U_k
 *   serialisation_chain  nobody waits for messages that were sent right after p
 *   mpi_cost             of an MPI call path, all time but the waiting
 * A portion of a function that samples found changes by no more than that of the exact call path
 * around it would, and in no other direction.
 * Where ranks have different numbers of portions, or several threads, U_r as a whole counts, and
 * all portions of a rank get shorter by the same factor; no imbalance is removed where a rank has
 * no time in p.
 *
 * The numbers are the same for any number of analysis ranks. */
#ifndef LC_ANALYZE_GAINS_H
#define LC_ANALYZE_GAINS_H

#include <jansson.h>

#include "analyze/costs.h"

enum { LC_GAIN_CAUSES = 8, LC_GAIN_CALLS = 4 }; /* causes: of each model */

struct lc_gain_cause {
    uint32_t cnode;
    uint32_t process; /* of most cost */
    int64_t ticks;    /* cost */
    bool known_path;  /* an earlier cause of the list has the call path, with another process */
};

/* The same on all ranks; the most costly first, then those that only the second model has. */
struct lc_gain_causes {
    struct lc_gain_cause list[LC_GAIN_CAUSES * LC_MODELS];
    size_t n;
};

/* The causes of most cost in each model. Collective; before the costs are published.
 * LC_ERR_NOMEM. */
enum lc_err lc_gains_choose(const struct lc_costs *costs, struct lc_gain_causes *causes);

/* Replays the trace without each of the causes and without the most expensive MPI calls; adds
 * "gains" to the object on rank 0. Collective. LC_ERR_NOMEM. */
enum lc_err lc_gains_run(const struct lc_timelines *lines, const struct lc_gain_causes *causes,
                         json_t *object);

#endif
