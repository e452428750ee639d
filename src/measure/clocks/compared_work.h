/* The work of this rank by call path, and what all ranks together worked: what the scenarios that
 * the library chooses are made from.
 *
 * Nouns
 *   portion, class, sum   piggyback/portions.h
 *   work                  of one call path, of this rank or of all
 *
 * Invariant: ranks share what they compare in nanoseconds. A rank that hears nothing of another
 * one for 2 s says so; it neither blocks for good nor leaves a send of its own behind.
 * chosen_scenarios.c calls this. */
#ifndef LC_MEASURE_CLOCKS_COMPARED_WORK_H
#define LC_MEASURE_CLOCKS_COMPARED_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "piggyback/portions.h"

struct lc_class_keys { /* of a class; 0: not known yet */
    uint64_t key, of, call;
};

/* Of the process' first thread. */
extern struct lc_compared {
    struct lc_portion_table *table;
    struct lc_class_keys *keys; /* of table->classes */
    uint32_t n;                 /* places of both; 0: no memory */
} lc_compared;

struct lc_work { /* nanoseconds, portions, and what of it is on the critical path */
    uint64_t ns, n, critical_ns;
};

/* Makes the table, once. */
void lc_clk_compared_init(void);

/* Time of the portions of this rank with this key, of a class or a call path, and their number: of
 * a call path without those of classes that make little of it, which are many before its first
 * iteration, say. */
uint64_t lc_clk_own_sum(uint64_t key, uint64_t *n);
/* What this rank worked in the call path with this key. */
struct lc_work lc_clk_work_of_rank(struct lc_clk_thread *k, uint64_t key);
/* What all ranks worked there, as far as they have compared it: else nothing. What is critical of
 * chains that are alike counts once, so it is no more than the ranks' clock. */
struct lc_work lc_clk_work_of_all(const struct lc_portion_sums *sums, uint64_t key);

/* The sums of this rank's longest call paths, of half of least_ns at least. */
void lc_clk_longest_work(const struct lc_clk_thread *k, struct lc_portion_sums *longest);
/* What this rank worked in those, added to `all`. */
void lc_clk_work_in(struct lc_clk_thread *k, const struct lc_portion_sums *longest,
                    struct lc_portion_sums *all);

/* Collective: fills `head` with the longest sums, those of all ranks added up. False: a rank did
 * not take part. */
bool lc_clk_compare_work(struct lc_clk_thread *k, struct lc_portion_sums *head);
/* Collective: adds up those of all ranks, for all of them. False: a rank did not take part. */
bool lc_clk_share_sums(struct lc_portion_sums *sums);
/* Collective: what rank 0 has goes to all ranks. False: it did not come, or not to all. */
bool lc_clk_tell_all(void *data, int bytes);

/* Where clocks lag behind the program: what ranks compare goes in parts of packets along the tree,
 * and nobody waits. With lc_clk.lock. */

enum { LC_SUMS_SHARED = 2 * 64 }; /* comparisons of a run, numbered from 0 */

/* Adds this rank's sums to this comparison; once. */
void lc_clk_sums_give(uint32_t number, const struct lc_portion_sums *sums);
/* The sums of all ranks; NULL: they have not come. */
const struct lc_portion_sums *lc_clk_sums_get(uint32_t number);
/* It is looked at no more, and freed once other ranks have what they need of it. */
void lc_clk_sums_drop(uint32_t number);
/* Is this part of a packet, of n words, one of sums? */
bool lc_clk_sums_is(const uint64_t *words, uint32_t n);
/* Takes in the part of a packet that lc_clk_sums_is saw. */
void lc_clk_sums_part(uint32_t source, const uint64_t *words, uint32_t n);

static inline uint64_t lc_above(uint64_t value, uint64_t other) {
    return value > other ? value - other : 0;
}

static inline struct lc_work lc_work_more(const struct lc_work *now, const struct lc_work *then) {
    return (struct lc_work){lc_above(now->ns, then->ns), lc_above(now->n, then->n),
                            lc_above(now->critical_ns, then->critical_ns)};
}

static inline void lc_work_grow(struct lc_work *to, struct lc_work what) {
    to->ns += what.ns;
    to->n += what.n;
    to->critical_ns += what.critical_ns;
}

#endif
