/* What the tool costs, and the budget for it (--max-overhead).
 *
 * Cost: at about every LC_SAMPLE_EVERY'th call of a thread, at distances that vary,
 * LC_SAMPLE_GROUP calls in a row take two more stamps: right before MPI is called and when the
 * wrapper is done. Both parts, from the begin stamp to MPI and from the end stamp on, stand for the
 * calls since the last group, and with them what lies before the first and after the last stamp,
 * which is measured once at the start. Rare work (new call paths, communicators) is stamped
 * whenever it happens: lc_path_counts.own_ticks.
 *
 * Budget: where the cost of a thread is above the budget of late, and near to it since its begin,
 * the call sites that cost most are measured with less detail (reduced.h): call paths merged, or
 * calls counted where that suffices, else the caller alone; and samples are taken less often where
 * it is they that cost. A run is taken to last LC_BUDGET_RUN_S at least, so that what a program
 * does at its start changes nothing. */
#ifndef LC_MEASURE_CALLPATH_BUDGET_H
#define LC_MEASURE_CALLPATH_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"
#include "measure/core/core.h"
#include "measure/callpath/reduced.h"
#include "measure/core/thread.h"

enum { LC_SAMPLE_FIRST = 16, LC_SAMPLE_EVERY = 1024, LC_SAMPLE_GROUP = 8, LC_BUDGET_RUN_S = 1 };

/* A step that was taken; of all threads. */
struct lc_budget_step {
    uint64_t ra;
    uint32_t fn;
    uint32_t detail;  /* enum lc_detail */
    uint64_t n_paths; /* that were merged */
};
enum { LC_BUDGET_STEPS = 128 };

/* Reads --max-overhead. Not wanted: the judge compares full paths, and a trace shows each call. */
void lc_budget_init(bool wanted);
double lc_budget_share(void); /* 0: off */
/* The steps of this process, at most LC_BUDGET_STEPS; with lc_core.lock held. */
const struct lc_budget_step *lc_budget_steps(uint32_t *n);

/* Rare work at a call, after it was added to own_ticks. */
void lc_budget_rare(struct lc_call *call, uint64_t ticks);

/* Are samples of the code between events to be taken less often than until now? Judged at most
 * once in some 50 ms. */
bool lc_budget_samples_rarer(struct lc_thread *t);

/* The cold half of lc_sample_begin: the stamps of a call that is measured, and when the next one
 * is. */
void lc_sample_begin_cold(struct lc_call *call);
/* The cold half of lc_sample_end. */
void lc_sample_end_cold(struct lc_call *call);

/* Right before MPI is called. */
static inline void lc_sample_begin(struct lc_call *call) {
    if (lc_unlikely(--call->thread->until_sample <= 0))
        lc_sample_begin_cold(call);
}

/* The last thing of a call. */
static inline void lc_sample_end(struct lc_call *call) {
    if (lc_unlikely(call->thread->until_sample <= 0))
        lc_sample_end_cold(call);
}

#endif
