/* What-if scenarios: factors of a call-tree node, one per scenario. */
#ifndef LC_MEASURE_CLOCKS_WHAT_IF_FACTORS_H
#define LC_MEASURE_CLOCKS_WHAT_IF_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/facts.h"
#include "measure/clocks/clocks.h"

struct lc_portion_done;

/* Reads the scenarios of the run. */
void lc_clk_whatif_init(void);
/* One scenario more, of our own: with a clock per task of OpenMP, so that this clock travels
 * between ranks as those of scenarios do. On all ranks or none. */
void lc_clk_whatif_add_tasks(void);
/* Its number; LC_WHATIF_MAX: there is none. */
uint32_t lc_clk_whatif_tasks_at(void);
/* How many scenarios are not our own: the first ones. */
uint32_t lc_clk_whatif_given(void);
/* The factors of a node, one per scenario. */
const float *lc_clk_whatif_of(uint32_t node);
/* Bits of the names that occurred in call paths of this rank. */
uint32_t lc_clk_whatif_seen(void);
/* The user's scenarios as facts; seen: bits of the names that occurred in call paths of some
 * rank. */
void lc_clk_whatif_facts(uint32_t seen, struct lc_strbuf *facts);

/* What-if scenarios that the library chooses itself: for the call paths whose work makes others
 * wait most, so far, clocks of the run without that
 * (docs/definitions/findings.md#what-if-clocks-chosen-in-the-run).
 *
 * The first operation in which all ranks wait for each other that is the 4th, 8th, 16th, .. of its
 * kind is a point at which the ranks compare what they worked (two reductions of 1.6 KiB along a
 * tree), choose, and switch clocks on or off: all at the same point, as each of them counts these
 * operations alike. No rank waits longer than 2 s for another one there; then it chooses no more,
 * and the gains of the run are not known. Where clocks lag behind the program nobody waits at all
 * (chosen_points.c). Clocks that cost more than LC_CHOSEN_PPM of the run time are not carried. One
 * thread each; scenarios that the user names come first.
 *
 * A second thread of some rank ends it for good, at the next point: what that one works is in no
 * portion. Until then two threads of a rank (MPI_THREAD_MULTIPLE) may be in two such operations at
 * once, and count them in another order than other ranks do. Still all ranks come to the same
 * points: when one has ended n of them, every other one has begun these, and ends them without the
 * first one's help. One thread of a rank compares at a time.
 *
 * Work of more than 2 us is counted by call path; what that costs a call has not been measured.
 * What clocks cost (EDGE_NS, MEMBER_NS) has, for messages and for collectives of two ranks; what
 * each further member costs is taken to be the same. Comparing is the tool's own work, and counts
 * in its budget. */

enum { LC_CHOSEN_PPM = 5000, LC_CHOSEN_FIRST = 4, LC_CHOSEN_LOOKS = 1024 };

/* Is the n-th such operation a point? relaxed: of a thread that asks too late the others wait no
 * longer than for one that is gone; one that asks too early finds that it is over. */
static inline bool lc_clk_is_point(uint64_t n) {
    return (n & (n - 1)) == 0 && n >= LC_CHOSEN_FIRST &&
           atomic_load_explicit(&lc_clk.choosing, memory_order_relaxed);
}

/* apart: not all ranks know each other's clocks. */
void lc_clk_choose_init(bool apart);
/* What the thread worked until it called MPI, or did something else: a portion, or several. */
void lc_clk_portion(struct lc_clk_thread *k, const struct lc_portion_done *done);
/* Where clocks lag behind the program: the portion in progress ends. Returns its length, ticks, and
 * tells of it what leaves before the clocks are known (composed_collectives.c, turns.c). *done: the
 * portion, n 0 if it does not count. */
uint64_t lc_clk_portion_seen(struct lc_clk_thread *k, uint32_t node, uint32_t call,
                             struct lc_portion_done *done);
/* By how much it changes the clocks of scenarios, beyond the ticks that it took. */
void lc_clk_portion_changes(const struct lc_portion_done *done, uint64_t whatif[]);
/* Now and then while clocks are carried: the rank gives up where they have cost too much; at the
 * next point the others do so too. */
void lc_clk_look_at_cost(struct lc_clk_thread *k);
/* At the end of a call that is such a point. Collective. */
void lc_clk_choose(struct lc_clk_thread *k, struct lc_call *call);
/* At the end of every operation in which all ranks wait for each other where clocks lag behind the
 * program, number: how many there were with it. If it is a point, ranks choose in the backlog, and
 * nobody waits. */
void lc_clk_choose_in_backlog(struct lc_clk_thread *k, const struct lc_call *call, uint64_t number);
/* The program has passed such a point, the clocks have not. Any thread may ask. */
bool lc_clk_point_is_under_way(void);
/* Have scenarios been chosen? The same on all ranks. */
bool lc_clk_has_chosen(void);
/* At the end: were clocks of some carried, or why not? As this rank knows it. */
enum lc_chosen_clocks lc_clk_why_chosen(void);
/* Gains of the whole run go to the state of the ranks they name; saved_s: by scenario, what its
 * clock was behind that of useful time at the end (rank 0's counts). Collective. */
void lc_clk_chosen_finish(double saved_s[]);

#endif
