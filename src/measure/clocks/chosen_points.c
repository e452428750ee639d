/* Points at which scenarios are chosen where clocks lag behind the program: nobody waits there.
 *
 * What all ranks work longest in they tell some operations before the point. The point itself is
 * two events of the queue, which hold up those behind them until all ranks are there: so all clocks
 * are alike, and what was sent before counts in the clocks before. The first one waits for what the
 * ranks told, the second one for what they worked in it. Both depend on nothing but the begin of
 * operations on each rank, and what had happened there before (docs/clocks-between-nodes.md). Where
 * it is known beforehand that nothing can be chosen there is no event at all. */
#include "measure/clocks/chosen_points.h"

#include <string.h>

#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/compared_work.h"
#include "measure/clocks/what_if_factors.h"

struct point {
    uint32_t number;
    uint64_t ppm; /* what clocks cost until then */
};
_Atomic bool lc_chosen_lost;
static _Atomic uint32_t under_way; /* points that the program has passed, and the clocks have not */
static uint64_t skipped;           /* bits: points at which nothing can be chosen */

bool lc_clk_point_is_under_way(void) {
    return atomic_load_explicit(&under_way, memory_order_relaxed) > 0;
}

static bool may_choose(void) {
    return atomic_load_explicit(&lc_clk.choosing, memory_order_relaxed);
}

/* Of a point, 0: the longest, 1: what is worked there. */
static uint32_t comparison(uint32_t point, uint32_t which) {
    return 2 * point + which;
}

static void give(uint32_t number, const struct lc_portion_sums *sums) {
    lc_clk_lock();
    lc_clk_sums_give(number, sums);
    lc_clk_unlock();
}

/* Takes what all ranks have given; false: it has not come. */
static bool take(uint32_t number, struct lc_portion_sums *sums) {
    lc_clk_lock();
    const struct lc_portion_sums *all = lc_clk_sums_get(number);
    if (all != NULL)
        *sums = *all;
    lc_clk_sums_drop(number);
    lc_clk_unlock();
    return all != NULL;
}

static bool has_come(uint32_t number) {
    lc_clk_lock();
    bool come = lc_chosen_lost || !may_choose() || lc_clk_sums_get(number) != NULL;
    lc_clk_unlock();
    return come;
}

/* Nothing can come of it, as all ranks see alike. */
static bool is_in_vain(const struct lc_portion_sums *longest) {
    return lc_clk.n_whatif == 0 && (longest->unable != 0 || longest->most_ppm > LC_CHOSEN_PPM);
}

static void tell_longest(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct point point;
    (void)call;
    memcpy(&point, data, sizeof point);
    if (!may_choose())
        return;
    lc_chosen_lock(k);
    struct lc_portion_sums longest = lc_chosen_head(k, point.ppm, false);
    lc_chosen_unlock(k);
    lc_clk_longest_work(k, &longest);
    give(comparison(point.number, 0), &longest);
}

static bool longest_have_come(void *data) {
    struct point point;
    memcpy(&point, data, sizeof point);
    return has_come(comparison(point.number, 0));
}

static void tell_work(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct point point;
    struct lc_portion_sums longest = {0};
    (void)call;
    memcpy(&point, data, sizeof point);
    if (!may_choose())
        return;
    lc_chosen_lost = !take(comparison(point.number, 0), &longest) || lc_chosen_lost;
    if (!lc_chosen_lost && longest.unable & (LC_UNABLE_THREADS | LC_UNABLE_LOST)) {
        lc_chosen_lock(k);
        lc_chosen_no_more(k, &longest);
        lc_chosen_unlock(k);
    } else if (!lc_chosen_lost && is_in_vain(&longest)) {
        lc_chosen_why(&longest);
        skipped |= (uint64_t)1 << point.number;
    } else {
        lc_chosen_lock(k);
        struct lc_portion_sums work = lc_chosen_head(k, point.ppm, true);
        lc_chosen_unlock(k);
        lc_clk_work_in(k, &longest, &work);
        give(comparison(point.number, 1), &work);
    }
}

static bool work_has_come(void *data) {
    struct point point;
    memcpy(&point, data, sizeof point);
    return skipped >> point.number & 1 || has_come(comparison(point.number, 1));
}

static void decide_later(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct point point;
    struct lc_portion_sums sums = {0};
    (void)call;
    memcpy(&point, data, sizeof point);
    if (may_choose() && !(skipped >> point.number & 1)) {
        lc_chosen_lost = !take(comparison(point.number, 1), &sums) || lc_chosen_lost;
        lc_chosen_lock(k);
        if (!lc_chosen_lost && !(sums.unable & (LC_UNABLE_THREADS | LC_UNABLE_LOST)))
            lc_chosen_decide(k, &sums);
        else if (!lc_chosen_lost)
            lc_chosen_no_more(k, &sums);
        lc_chosen_unlock(k);
    }
    atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
}

/* What the program knows already needs no event. Of several threads that must be told without:
 * their calls have no order, so the clocks of this rank may wait for those of another one which
 * waits here for this rank. */
static bool tells_at_once(const struct point *point, uint32_t which) {
    struct lc_portion_sums head = {.unable = lc_chosen_threads(), .most_ppm = point->ppm};
    bool in_vain =
        which == 0 && !lc_clk_point_is_under_way() && !lc_chosen_lost && is_in_vain(&head);
    if (head.unable == 0 && !in_vain)
        return false;
    give(comparison(point->number, which), &head);
    return true;
}

/* As tell_work does then. */
static bool is_known_in_vain(const struct point *point) {
    struct lc_portion_sums longest;
    uint32_t number = comparison(point->number, 0);
    lc_clk_lock();
    const struct lc_portion_sums *all =
        lc_clk_point_is_under_way() || lc_chosen_lost ? NULL : lc_clk_sums_get(number);
    bool known =
        all != NULL && !(all->unable & (LC_UNABLE_THREADS | LC_UNABLE_LOST)) && is_in_vain(all);
    lc_clk_unlock();
    if (known && take(number, &longest))
        lc_chosen_why(&longest);
    return known;
}

void lc_clk_choose_in_backlog(struct lc_clk_thread *k, const struct lc_call *call,
                              uint64_t number) {
    static const struct lc_event_type tells = {.run = tell_longest, .local = true},
                                      works = {.ready = longest_have_come, .run = tell_work},
                                      decides = {.ready = work_has_come, .run = decide_later};
    bool before = number % 3 == 0 && lc_clk_is_point(number / 3 * 4);
    if (!before && !lc_clk_is_point(number))
        return;
    struct point point = {.number = (uint32_t)__builtin_ctzll(before ? number / 3 * 4 : number)};
    lc_clk_lock();
    point.ppm = lc_chosen_ppm(k);
    lc_clk_unlock();
    if (before) {
        if (!tells_at_once(&point, 0))
            lc_clk_backlog_submit(&tells, k, call, &point, sizeof point);
        return;
    }
    if (is_known_in_vain(&point))
        return;
    tells_at_once(&point, 1);
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);
    lc_clk_backlog_submit(&works, k, call, &point, sizeof point);
    lc_clk_backlog_submit(&decides, k, call, &point, sizeof point);
}
