#include "measure/samples/sample_cost.h"

#include "base/stats.h"
#include "base/timer.h"
#include "measure/samples/perf_ring.h"

enum {
    SAMPLES = 5,          /* their median holds where another interruption fell into one or two */
    PERIOD_NS = 40000,    /* the kernel's least is 10,000 */
    STAMPS_MOST = 40000,  /* about a millisecond */
    RING_BYTES = 1 << 16, /* holds them with the largest copies */
    READING_NS = 5000,    /* unwinding a sample and finding its place */
    UNKNOWN_NS = 20000    /* what the kernel takes where that could not be measured */
};
static const double SHARE = 0.008;

/* Stamps in a row; where the ring has grown between two of them, a sample lay there. */
uint64_t lc_sample_cost_measure(uint32_t stack_bytes) {
    const struct lc_perf_wanted wanted = {.period_ns = PERIOD_NS, .stack_bytes = stack_bytes};
    struct lc_perf_ring ring;
    double gaps[SAMPLES];
    uint64_t usual = UINT64_MAX;
    size_t n = 0;
    if (lc_perf_ring_open(&ring, &wanted, RING_BYTES) != 0)
        return 0;
    const uint64_t *head = lc_perf_ring_head(&ring);
    uint64_t seen = __atomic_load_n(head, __ATOMIC_ACQUIRE), last = lc_ticks(), before = 0;
    for (int i = 0; i < STAMPS_MOST && n < SAMPLES; i++) {
        uint64_t is = __atomic_load_n(head, __ATOMIC_ACQUIRE), now = lc_ticks(), gap = now - last;
        if (is != seen) /* it may have come after the ring was looked at */
            gaps[n++] = (double)(gap > before ? gap : before);
        else if (gap < usual)
            usual = gap;
        last = now;
        before = gap;
        seen = is;
    }
    lc_perf_ring_close(&ring);
    lc_stats_sort(gaps, n);
    double ticks = lc_stats_quantile_sorted(gaps, n, 0.5) - (double)usual;
    return ticks > 0 ? (uint64_t)ticks : 0;
}

uint32_t lc_sample_periods(double kernel_ns, uint64_t period_ns, uint32_t most) {
    double taken = 2 * ((kernel_ns > 0 ? kernel_ns : UNKNOWN_NS) + READING_NS);
    uint32_t periods = 1;
    while (periods < most && taken > SHARE * (double)period_ns * periods)
        periods *= 2;
    return periods;
}
