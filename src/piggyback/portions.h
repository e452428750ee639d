/* The work of a process between its MPI calls by call path, what that is on all ranks together, and
 * what a rank would take for it in the what-if scenarios that are chosen from these sums
 * (docs/definitions/findings.md#what-if-clocks-chosen-in-the-run).
 *
 * Nouns
 *   portion  work of a thread in one call path, without what it calls, up to its next MPI call
 *   class    portions of one call path that end at the same MPI call path
 *   sum      of a class, or of all portions of a call path, over ranks; keys are hashes of call
 *            paths that are equal on all ranks
 *   late     scenario: the rank that works longest in a call path takes the mean of the others for
 *            each portion
 *   even     scenario: each rank takes the mean of all
 *   chain    scenario: no rank takes any time; stands for `late` where nearly all of the work of
 *            all ranks is on the critical path, as ranks do it one after the other
 *
 * Invariant: merging is exact and does not depend on the order. The table belongs to one thread. */
#ifndef LC_PIGGYBACK_PORTIONS_H
#define LC_PIGGYBACK_PORTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "piggyback/cpvec.h"

enum {
    LC_PORTION_CLASSES = 512, /* of a process */
    LC_PORTION_SUMS = 24,     /* that ranks compare */
    LC_SCENARIO_PATHS = LC_WHATIF_MAX / 2,
};
/* Of a call path two are carried: LATE or CHAIN, and EVEN. */
enum lc_scenario { LC_SCENARIO_LATE, LC_SCENARIO_EVEN, LC_SCENARIO_CHAIN, LC_SCENARIOS };
enum { LC_SCENARIOS_CARRIED = 2 };

struct lc_portions { /* a class */
    uint32_t node, call;
    uint64_t n, ticks;
    uint32_t slots;                  /* bits: scenarios that change it */
    uint64_t instead[LC_WHATIF_MAX]; /* ticks of a portion, by scenario */
    /* what portions took so far in the scenario, and how many did */
    uint64_t given[LC_WHATIF_MAX], n_given[LC_WHATIF_MAX];
};

/* One that a thread has done, or several: until a call of MPI in `call`, or (0) until a region
 * began or ended. */
struct lc_portion_done {
    uint32_t node, call;
    uint64_t n, ticks;
};

/* Does a class with this much work make a difference to a call path with that much? */
static inline bool lc_portions_matter(uint64_t of_class, uint64_t of_path) {
    return of_class * 50 >= of_path;
}

struct lc_portion_table {
    struct lc_portions classes[LC_PORTION_CLASSES]; /* node 0: free */
    uint32_t n;
    uint64_t n_lost; /* portions that had no room */
};

/* The class; NULL: it is not there. */
const struct lc_portions *lc_portions_find(const struct lc_portion_table *table, uint32_t node,
                                           uint32_t call);
/* The class, made if it is not there; NULL: no room. */
struct lc_portions *lc_portions_of(struct lc_portion_table *table, uint32_t node, uint32_t call);

struct lc_portion_sum {
    uint64_t key, of; /* of the class, of the call path; equal: all portions of the call path */
    uint64_t call;    /* of the MPI call path, of classes; 0: none */
    uint64_t ns, n;   /* time and number of portions of all ranks */
    uint64_t longest_ns;
    uint32_t longest_rank, n_ranks; /* the rank that works longest; that have such portions */
    uint64_t
        critical_ns; /* on the critical path; of call paths; too large where chains are alike */
};

struct lc_portion_sums {
    uint32_t n, unable; /* bits, of any rank */
    uint64_t most_ppm;  /* largest of all ranks: what carrying clocks would cost */
    uint64_t least_ns;  /* largest of all ranks: gains below are of no interest */
    uint64_t late_ns;   /* sum: errors of clocks */
    uint64_t clock_ns;  /* largest of all ranks: critical path so far */
    uint64_t n_lost;    /* sum: edges */
    struct lc_portion_sum list[LC_PORTION_SUMS];
};

/* Adds one; of too many those of the longest rank stay. */
void lc_portion_sums_add(struct lc_portion_sums *sums, const struct lc_portion_sum *sum);
/* Adds those of other ranks. */
void lc_portion_sums_merge(struct lc_portion_sums *sums, const struct lc_portion_sums *other);
/* The sum with this key; NULL: none. */
const struct lc_portion_sum *lc_portion_sums_find(const struct lc_portion_sums *sums, uint64_t key);

struct lc_scenario_path {
    uint64_t key;
    uint32_t rank;    /* that is late */
    uint64_t gain_ns; /* the larger one of both scenarios, estimated */
};

/* Call paths whose removal as a cause would gain most, at least sums->least_ns each, the best
 * first; returns their number. */
uint32_t lc_scenario_paths(const struct lc_portion_sums *sums, uint32_t n_ranks,
                           struct lc_scenario_path paths[LC_PORTION_SUMS]);

/* Do the ranks do this work one after the other? Three or more, 90 % of it is on the critical path,
 * less than 60 % of it is that of one rank. */
bool lc_scenario_is_chain(const struct lc_portion_sums *sums, const struct lc_portion_sum *sum,
                          uint32_t n_ranks);

/* The keys of the classes whose portions are compared with those of class `key` of call path `of`:
 * that class alone where all ranks have each class of the call path, else all of them (a send on
 * one rank, its receive on the other). Classes with less than 2 % of the call path stay as they
 * are: 0 is returned for them. Returns the number of keys. */
uint32_t lc_portion_peers(const struct lc_portion_sums *sums, uint64_t key, uint64_t of,
                          uint32_t n_ranks, uint64_t keys[LC_PORTION_SUMS]);

struct lc_portion_mean {
    uint64_t ns, n;
};
/* What a portion takes in a scenario, in nanoseconds: of all ranks, and of the late one itself. */
uint64_t lc_portion_instead(struct lc_portion_mean all, struct lc_portion_mean own,
                            enum lc_scenario scenario);

struct lc_scenario_seen { /* nanoseconds, of all ranks */
    double gain;          /* while the clocks were carried */
    double seen, unseen;  /* work in the call path meanwhile, and besides */
    /* what the rest of the work would have gained, estimated, at least (it may be less than
     * nothing) and at most */
    double rest, rest_least, rest_most;
    double error;    /* of the means, and of clocks */
    double too_long; /* what portions took above the means as they are at the end */
    double even,
        uneven; /* CHAIN: work of a rank meanwhile, the mean and by how much one exceeds it */
    bool lost;  /* edges are missing */
};
struct lc_scenario_gain {
    double gain, low, high;
};
/* The gain of the whole run. False: less than half of the work was seen. */
bool lc_scenario_predict(const struct lc_scenario_seen *seen, struct lc_scenario_gain *gain);

#endif
