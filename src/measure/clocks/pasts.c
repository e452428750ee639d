#include "measure/clocks/pasts.h"

#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "piggyback/area.h"

static struct lc_past *take(struct lc_clk_thread *k, uint32_t waits, uint32_t work) {
    struct lc_area_head *head = lc_clk.mine.head;
    uint32_t number =
        head != NULL ? atomic_load_explicit(&head->n_pasts, memory_order_relaxed) : LC_AREA_THREADS;
    if (number >= LC_AREA_THREADS)
        return NULL;
    uint64_t at = lc_area_take(&lc_clk.mine, lc_past_size(waits, work));
    uint64_t met = lc_area_take(&lc_clk.mine, lc_clk.size * sizeof(struct lc_met));
    if (at == 0 || met == 0)
        return NULL;
    struct lc_past *past = lc_area_at(&lc_clk.mine, at);
    lc_past_init(past, waits, work);
    past->met = met;
    if (lc_core.multiple)
        past->calls = lc_area_take(&lc_clk.mine, LC_PAST_CALLS * sizeof(uint64_t));
    k->met = lc_area_at(&lc_clk.mine, met);
    k->calls = past->calls != 0 ? lc_area_at(&lc_clk.mine, past->calls) : NULL;
    k->past_number = (uint8_t)number;
    atomic_store_explicit(&head->pasts[number], at, memory_order_relaxed);
    /* release: who sees the number finds the past (lc_clk_past_of) */
    atomic_store_explicit(&head->n_pasts, number + 1, memory_order_release);
    return past;
}

bool lc_clk_pasts_init(void) {
    struct lc_clk_thread *first = lc_clk.threads;
    if (first != NULL)
        first->past = take(first, LC_PAST_WAITS, LC_PAST_WORK);
    return first != NULL && first->past != NULL;
}

/* Where clocks lag, words of records are the past of the first thread. */
static LC_COLD void make_past(struct lc_clk_thread *k) {
    lc_clk_lock();
    if (lc_clk.threads->past != NULL && k != lc_clk.threads && !lc_clk.backlog)
        k->past = take(k, LC_THREAD_WAITS, LC_THREAD_WORK);
    k->past_refused = k->past == NULL;
    lc_clk_unlock();
}

void lc_clk_past_call(struct lc_clk_thread *k, uint64_t now) {
    if (lc_unlikely(k->past == NULL && !k->past_refused))
        make_past(k);
    if (k->calls != NULL)
        lc_past_call(k->past, k->calls, now);
}

const struct lc_past *lc_clk_past_of(uint32_t rank, uint32_t number) {
    const struct lc_area *area = &lc_clk.areas[rank];
    if (area->head == NULL)
        return lc_clk.pasts != NULL ? lc_clk.pasts[rank] : NULL;
    if (number >= atomic_load_explicit(&area->head->n_pasts, memory_order_acquire))
        return NULL;
    return lc_area_at(area, atomic_load_explicit(&area->head->pasts[number], memory_order_relaxed));
}

const struct lc_met *lc_clk_past_met(uint32_t rank, uint32_t number) {
    const struct lc_past *past =
        lc_clk.areas[rank].head != NULL ? lc_clk_past_of(rank, number) : NULL;
    return past != NULL ? lc_area_at(&lc_clk.areas[rank], past->met) : NULL;
}

uint32_t lc_clk_past_late_of_several(const struct lc_clk_thread *k, uint32_t rank, uint64_t release,
                                     uint32_t looks) {
    enum { FEW = 8 };
    const struct lc_area *area = &lc_clk.areas[rank];
    uint32_t n = atomic_load_explicit(&area->head->n_pasts, memory_order_acquire);
    uint32_t before = atomic_load_explicit(&k->met[rank].thread, memory_order_relaxed);
    before = before < n ? before : 0;
    for (uint32_t i = 0; i < n && (i == 0 || looks > 0); i++) {
        uint32_t number = (before + i) % n;
        const struct lc_past *past = lc_clk_past_of(rank, number);
        if (past != NULL && past->calls != 0 &&
            lc_past_called(past, lc_area_at(area, past->calls), release, looks > 0 ? looks : FEW))
            return number;
    }
    return LC_PAST_ANY;
}
