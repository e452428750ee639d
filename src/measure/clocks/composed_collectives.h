/* Several collectives combined in one reduction. In a barrier, an allreduce, .. every member gets
 * the clocks of every other one, so that all clocks are equal after it. Where all members do
 * nothing but work until they enter the next one on the same communicator, the clocks after that
 * are those before plus the most work of a member: a *step*. Steps need not wait for clocks, so a
 * member sends several at once; the maxima of several steps take one message up the tree and one
 * down.
 *
 * Nouns
 *   first   the operation whose turn it is: the members send their clocks
 *   step    an operation after it, as a function of the clocks after the one before
 *   batch   the first one and some steps, as many as every member knows of
 *
 * Invariants: batches of one communicator follow each other, the next one begins when a member has
 * the last one. All members take the same steps of a batch: where the clocks of a member were not
 * the same after an operation (another interval or phase; an edge that came in earlier than any
 * before changes outside_omp), the batch ends there for all. Only the first thread
 * composes; others send operations one by one. With lc_clk.lock, but for the functions of the
 * thread's own. */
#ifndef LC_MEASURE_CLOCKS_COMPOSED_COLLECTIVES_H
#define LC_MEASURE_CLOCKS_COMPOSED_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

struct lc_clk_thread;
struct lc_shadow;

enum { LC_STEPS = 19, LC_STEPS_WAIT_US = 20000, LC_STEPS_SOON_US = 5000 };

/* ---- what the thread did since the last operation; not locked */

/* It has worked so long in this node; `part`: of the time until the next call. */
void lc_clk_composed_worked(uint64_t ticks, uint32_t node, bool part);
/* Something else has happened that changes clocks or publishes them. */
void lc_clk_composed_break(void);

/* ---- operations */

/* The member enters this one. */
void lc_clk_composed_begin(struct lc_shadow *m, uint64_t enter);
/* It is over, and its edge will be made. */
void lc_clk_composed_end(struct lc_shadow *m, uint64_t end);
/* Does for it what is possible now: send its clocks, pass on those of others, take the result. */
void lc_clk_composed_advance(struct lc_shadow *m);
/* It does not count among the operations of its communicator. */
void lc_clk_composed_drop(struct lc_shadow *m);

/* A part of a packet: the first word is LC_COMPOSED_MARK, then come context and number of the
 * operation, and the batch. */
#define LC_COMPOSED_MARK (0x636f6d70ull << 32)
static inline bool lc_clk_composed_is(const uint64_t *words, int n) {
    return n >= 2 && words[0] == LC_COMPOSED_MARK;
}
/* Takes in the part of a packet that lc_clk_composed_is saw. */
void lc_clk_composed_part(uint32_t source, const uint64_t *words, uint32_t n);
/* Advances those that have waited long enough for more steps to combine. */
void lc_clk_composed_progress(void);
/* May some of them have waited long enough (now: lc_patience_ticks)? Any thread may ask, without
 * the lock. */
bool lc_clk_composed_waits(uint64_t now);
/* on: from now on no operation waits for more steps to combine. */
void lc_clk_composed_eager(bool on);

#endif
