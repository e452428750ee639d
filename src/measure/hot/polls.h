/* Calls that have less detail above the budget (callpath/budget.h) and are no events: those that
 * are only counted, and most polls of a site of which only some are timed.
 *
 * Polls that are not timed ("skipped") are booked by the next event of their thread, whatever it
 * is, before itself: they began where the first of them did, on its call path; each is taken to
 * last as long as timed ones did of late. Where they follow each other closely, they have together
 * the part of the time until the next event that those of the site have had so far: else polls that
 * took longer would give time to the code around them, and those that took less could not take it
 * back. A poll is timed, too, where its call path is not known yet or samples were taken since the
 * last event.
 *
 * Polls that change nothing (LC_MPI_ONLY_ASKS) go straight to MPI. So do MPI_Test and MPI_Improbe
 * (LC_MPI_TRIED_FIRST), but one that completes its request, or takes a message, becomes an event
 * after all: one that began as long ago as a poll in vain takes. One that found nothing is booked
 * as other calls without a message: it has no request to forget and no status to tell.
 *
 * Cost: a skipped poll is a look-up of its site; the first one since an event takes a stamp and a
 * look-up of its call path besides. */
#ifndef LC_MEASURE_HOT_POLLS_H
#define LC_MEASURE_HOT_POLLS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/callpath/budget.h"
#include "measure/core/thread.h"

enum { LC_POLL_PARTS = 16 }; /* what a poll takes is a mean of the last so many */

/* Skipped polls before an event that begins at `now` are booked; 0: at once. Returns its begin. */
uint64_t lc_polls_over(struct lc_thread *t, uint64_t now);
/* May this poll of the site be skipped? */
bool lc_poll_may_be_skipped(struct lc_thread *t, struct lc_budget_site *site, uint64_t frame);
/* It is. */
void lc_poll_skip(struct lc_thread *t, struct lc_budget_site *site);
/* A poll that may be an event: true, it is skipped; else *at is its begin. */
bool lc_poll_begins(struct lc_thread *t, struct lc_budget_site *site, uint64_t frame, uint64_t *at);
/* MPI_Finalize: those of all threads are booked. */
void lc_polls_settle(void);

/* An event that is no call begins at `now`. */
static inline void lc_polls_before(struct lc_thread *t, uint64_t now) {
    if (lc_unlikely(t->skipped_polls != NULL || t->timed_poll != NULL))
        lc_polls_over(t, now);
}

/* The call is a poll that has completed its request, or has none that is known: no measure of those
 * in vain. */
static inline void lc_poll_no_measure(struct lc_thread *t) {
    t->timed_poll = NULL;
}

/* Is the call only counted, or skipped? That is done then. Else it is an event: *at is its begin,
 * if the clock had to be read, or as it was. */
static inline bool lc_call_is_counted(struct lc_thread *t, uint32_t fn, uint64_t ra, uint64_t frame,
                                      uint64_t *at) {
    if (lc_likely(t->counted_sites == NULL))
        return false;
    struct lc_budget_site *site = lc_budget_find_site(t->counted_sites, fn, ra);
    if (site != NULL && site->every != 0) {
        if (site->tried || site->left == 0 || site->skipped == 0)
            return lc_poll_begins(t, site, frame, at);
        lc_poll_skip(t, site);
        return true;
    }
    if (site == NULL || site->row == NULL) {
        if (t->skipped_polls != NULL || t->timed_poll != NULL)
            *at = lc_polls_over(t, *at);
        return false;
    }
    site->n_counted++;
    site->row->count++;
    site->row->synced++; /* as other calls without bytes */
    return true;
}

#endif
