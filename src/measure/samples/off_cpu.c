#include "measure/samples/off_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/timer.h"
#include "format/raw.h"

/* "time on a core, time of waiting for one, turns": of the calling thread. */
static uint64_t waited_for_core(void) {
    char text[96], *end;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10);
}

static void look(struct lc_off_cpu *now) {
    struct rusage usage;
    *now = (struct lc_off_cpu){.known = getrusage(RUSAGE_THREAD, &usage) == 0};
    if (!now->known)
        return;
    now->core_ns = waited_for_core();
    now->pages = (uint64_t)usage.ru_majflt;
    now->blocks = (uint64_t)usage.ru_inblock + (uint64_t)usage.ru_oublock;
    now->sleeps = (uint64_t)usage.ru_nvcsw;
}

void lc_off_cpu_divide(const struct lc_off_cpu *before, const struct lc_off_cpu *now,
                       uint64_t off_ns, struct lc_off_cpu_parts *parts) {
    *parts = (struct lc_off_cpu_parts){.rest = LC_RAW_OFF_CPU};
    if (!before->known || !now->known)
        return;
    uint64_t core_ns = now->core_ns > before->core_ns ? now->core_ns - before->core_ns : 0;
    uint64_t pages = now->pages - before->pages, sleeps = now->sleeps - before->sleeps;
    parts->core_ns = core_ns < off_ns ? core_ns : off_ns;
    if (pages > 0 && pages * 2 >= sleeps) /* most of its sleeps: each of them is at least one */
        parts->rest = LC_RAW_PAGE_FAULT;
    else if (now->blocks > before->blocks)
        parts->rest = LC_RAW_FILE_SYSTEM;
}

void lc_off_cpu_look(struct lc_off_cpu *last, uint64_t off_ns, struct lc_off_cpu_parts *parts) {
    struct lc_off_cpu now;
    int saved = errno;
    look(&now);
    errno = saved;
    if (parts != NULL)
        lc_off_cpu_divide(last, &now, off_ns, parts);
    *last = now;
}

static const uint32_t LOOKS = 64;
static const uint64_t LONG_WINDOW_NS = 50 * 1000 * 1000;
static const double WINDOW_NS = 1e8, ALWAYS_PER_S = 1000, BACK_PART = 0.5;

uint32_t lc_switches_window(uint64_t last_ns, double random) {
    if (last_ns > LONG_WINDOW_NS)
        return 1;
    return random * LC_SWITCHES_WINDOWS < 1 ? LC_SWITCHES_WINDOWS : 0;
}

uint64_t lc_switches_now(void) {
    struct rusage usage;
    int saved = errno, failed = getrusage(RUSAGE_THREAD, &usage);
    errno = saved;
    return failed ? 0 : (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static enum lc_switches how_often(const struct lc_switch_rate *rate, double per_s) {
    double always = ALWAYS_PER_S * (rate->how_often == LC_SWITCHES_ALWAYS ? BACK_PART : 1);
    double often = rate->often_per_s * (rate->how_often >= LC_SWITCHES_OFTEN ? BACK_PART : 1);
    if (per_s > always)
        return LC_SWITCHES_ALWAYS;
    return often > 0 && per_s > often ? LC_SWITCHES_OFTEN : LC_SWITCHES_SELDOM;
}

bool lc_switch_rate_changed(struct lc_switch_rate *rate) {
    if (++rate->looks % LOOKS != 0)
        return false;
    uint64_t now = lc_monotonic_raw_ns();
    double ns = (double)(now - rate->since_ns);
    if (ns < WINDOW_NS)
        return false;
    uint64_t switches = lc_switches_now();
    double per_s = (double)(switches - rate->switches) / ns * 1e9;
    bool first = rate->since_ns == 0;
    enum lc_switches was = rate->how_often;
    rate->since_ns = now;
    rate->switches = switches;
    if (!first)
        rate->how_often = how_often(rate, per_s);
    return rate->how_often != was;
}
