#include "measure/hot/polls.h"

#include "base/hash.h"
#include "base/timer.h"
#include "format/mpi_function.h"
#include "measure/callpath/entry.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/samples/sampler.h"

enum { LONGEST = 16 };    /* times the usual; what takes longer was interrupted */
enum { DENSE_BITS = 40 }; /* of ticks, after which what was before counts half */

/* A poll that was timed is over. */
static void note_poll(struct lc_thread *t) {
    struct lc_budget_site *site = t->timed_poll;
    t->timed_poll = NULL;
    if (t->last_ticks < t->poll_begin || (uint32_t)t->last->fn_ctx != site->fn)
        return; /* it was not booked */
    uint64_t left = t->last_ticks - t->own_ticks, usual = site->poll_ticks / LC_POLL_PARTS;
    uint64_t ticks = left > t->poll_begin ? left - t->poll_begin : 0;
    uint64_t stamp = lc_budget_stamp_ticks(); /* others take none */
    ticks -= ticks > stamp ? stamp : ticks;
    if (usual != 0 && ticks > LONGEST * (usual + 1))
        ticks = LONGEST * (usual + 1);
    site->poll_ticks =
        site->poll_ticks == 0 ? LC_POLL_PARTS * ticks : site->poll_ticks - usual + ticks;
}

/* What skipped polls took of the time between their begin and the next event, by what timed ones
 * took. */
static uint64_t took(struct lc_budget_site *site, uint64_t by_timed, uint64_t between) {
    if (by_timed == 0 || between / LC_POLLS_CLOSELY >= by_timed)
        return by_timed < between ? by_timed : between;
    if (site->dense_ticks >> DENSE_BITS != 0) {
        site->dense_ticks /= 2;
        site->dense_polls /= 2;
    }
    site->dense_polls += by_timed;
    site->dense_ticks += between;
    if (site->dense_polls >= site->dense_ticks)
        return between;
    return (uint64_t)((double)between * (double)site->dense_polls / (double)site->dense_ticks);
}

/* The list begins with the site whose first skipped poll was the latest. So all time that is not
 * theirs is booked on what the path of the first poll has in common with that of an event at the
 * other end of that time: code that certainly ran. */
LC_COLD uint64_t lc_polls_over(struct lc_thread *t, uint64_t now) {
    struct lc_budget_site *first = t->skipped_polls;
    if (t->timed_poll != NULL)
        note_poll(t);
    if (first == NULL)
        return now;
    now = now != 0 ? now : lc_ticks();
    t->skipped_polls = NULL;
    uint64_t since = t->skip_begin > t->last_ticks ? t->skip_begin : t->last_ticks, parts = 0;
    for (const struct lc_budget_site *s = first; s != NULL; s = s->next)
        parts += s->skipped * s->poll_ticks;
    uint64_t all = took(first, parts / LC_POLL_PARTS, now > since ? now - since : 0);
    double share = parts != 0 ? (double)all / (double)parts : 0;
    struct lc_call call = {.thread = t, .begin = since};
    call.mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    for (struct lc_budget_site *s = first; s != NULL; s = s->next) {
        call.fn = s->fn;
        call.entry = s->entry;
        call.end = call.begin + (uint64_t)((double)(s->skipped * s->poll_ticks) * share);
        lc_book_gap(&call);
        struct lc_state_row *row = lc_row(t, call.entry->path, 0);
        row->count += s->skipped;
        row->synced += s->skipped; /* as other calls without bytes */
        row->sum += call.end - call.begin;
        if (call.mode & LC_MODE_CLOCKS)
            lc_clocks_polled(&call);
        t->last = call.entry;
        t->last_ticks = call.begin = call.end;
        s->skipped = 0;
    }
    return now;
}

/* NULL: its path is not known. */
static struct lc_entry *entry_of(struct lc_thread *t, const struct lc_budget_site *site,
                                 uint64_t frame) {
    uint64_t fn_ctx = lc_fn_context(t, site->fn);
    struct lc_entry *e = lc_entry_known(t, fn_ctx, site->ra, frame);
    if (e == NULL && t->last->transient && t->last->ra == site->ra && t->last->fn_ctx == fn_ctx)
        return t->last; /* of the poll before: the site's paths cannot be kept */
    return e != NULL && !e->pass ? e : NULL;
}

LC_COLD bool lc_poll_may_be_skipped(struct lc_thread *t, struct lc_budget_site *site,
                                    uint64_t frame) {
    if (site->left == 0 || site->skipped != 0)
        return site->left != 0;
    if (t->counting == NULL && lc_samples_new(t))
        return false;
    site->entry = entry_of(t, site, frame);
    if (site->entry == NULL)
        return false;
    if (t->skipped_polls == NULL) {
        t->skip_begin = lc_ticks();
        t->counts.own_ticks += lc_budget_stamp_ticks();
    }
    return true;
}

void lc_poll_skip(struct lc_thread *t, struct lc_budget_site *site) {
    if (site->skipped == 0) {
        if (t->timed_poll != NULL)
            note_poll(t);
        site->next = t->skipped_polls;
        t->skipped_polls = site;
    }
    site->left--;
    site->skipped++;
    site->n_counted++;
}

LC_COLD bool lc_poll_begins(struct lc_thread *t, struct lc_budget_site *site, uint64_t frame,
                            uint64_t *at) {
    if (!site->tried && lc_poll_may_be_skipped(t, site, frame)) {
        lc_poll_skip(t, site);
        return true;
    }
    uint64_t now = lc_ticks();
    if (site->completes) {
        uint64_t first = t->skipped_polls != NULL ? t->skip_begin : t->last_ticks;
        uint64_t usual = site->poll_ticks / LC_POLL_PARTS, since = now > first ? now - first : 0;
        site->completes = false;
        *at = lc_polls_over(t, now - (usual < since ? usual : since));
        return false;
    }
    *at = lc_polls_over(t, now);
    if (site->tried && site->left != 0) /* of a request that is not known */
        return false;
    t->timed_poll = site;
    t->poll_begin = *at;
    if (site->left == 0)
        site->left = (uint32_t)(lc_hash_key(*at) >> 40) % (2 * site->every - 1);
    return false;
}

/* Of another thread, which may go on. */
static void settle(const struct lc_thread *t) {
    uint64_t now = lc_ticks(), since = t->skip_begin;
    for (struct lc_budget_site *s = t->skipped_polls; s != NULL; s = s->next) {
        const struct lc_path *path = s->entry->path;
        uint64_t ticks = s->skipped * s->poll_ticks / LC_POLL_PARTS;
        uint64_t most = now > since ? now - since : 0;
        if (path->n_rows == 0)
            continue;
        path->rows[0].row->count += s->skipped;
        path->rows[0].row->synced += s->skipped;
        path->rows[0].row->sum += ticks < most ? ticks : most;
        s->skipped = 0;
    }
}

void lc_polls_settle(void) {
    pthread_mutex_lock(&lc_core.lock);
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        settle(t);
    pthread_mutex_unlock(&lc_core.lock);
}
