/* Where an operation spends its time: samples of the call stack while it runs ([Roth 2021], section
 * 4.6.1), in repetitions with counters only, whose run time does not count.
 *
 * A timer is armed right before the call, and disarmed after it; the handler of its signal notes
 * the call stack. Short operations would hardly ever meet a timer of a constant period, and one of
 * a short period would not let long ones go on. So in four of five repetitions there is one sample,
 * at a random time within what the operation lately took; in the others one each 100 us, from a
 * random time within that on. A sample has as its weight the inverse of how dense samples are at
 * its time since the call: as much time it stands for. */
#ifndef LC_BENCH_HARNESS_OP_SAMPLES_H
#define LC_BENCH_HARNESS_OP_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/harness/own_messages.h"
#include "bench/parts.h"

/* Collective: makes the timer for the calling thread, once per process. NULL, or why there are no
 * samples; then all else here does nothing. */
const char *lc_op_samples_open(const struct lc_own *own);
bool lc_op_samples_on(void); /* on all ranks alike */

void lc_op_samples_begin(void); /* a job begins */
/* A batch of repetitions begins: nothing is noted yet. */
void lc_op_samples_clear(void);
/* The operation is about to begin, in repetition `place` of the batch; typical_ns: what it takes,
 * about. */
void lc_op_samples_arm(int place, double typical_ns);
void lc_op_samples_disarm(void); /* it has ended */

/* What was noted in repetition `place` of the batch becomes that of repetition `number` of the job,
 * of those that are put. LC_ERR_NOMEM. */
enum lc_err lc_op_samples_put(struct lc_part_writer *part, int place, int64_t number);

#endif
