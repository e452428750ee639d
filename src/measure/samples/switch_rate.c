#include "measure/samples/switch_rate.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/timer.h"

static const uint32_t LOOKS = 64;
static const double WINDOW_NS = 1e8, HIGH_PER_S = 1000, LOW_PER_S = 500;

static uint64_t switches_now(void) {
    struct rusage usage;
    int saved = errno, failed = getrusage(RUSAGE_THREAD, &usage);
    errno = saved;
    return failed ? 0 : (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

bool lc_switch_rate_changed(struct lc_switch_rate *rate) {
    if (++rate->looks % LOOKS != 0)
        return false;
    uint64_t now = lc_monotonic_raw_ns();
    double ns = (double)(now - rate->since_ns);
    if (ns < WINDOW_NS)
        return false;
    uint64_t switches = switches_now();
    double per_s = (double)(switches - rate->switches) / ns * 1e9;
    bool first = rate->since_ns == 0, was = rate->high;
    rate->since_ns = now;
    rate->switches = switches;
    if (!first)
        rate->high = per_s > (was ? LOW_PER_S : HIGH_PER_S);
    return rate->high != was;
}
