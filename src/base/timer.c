#include "base/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_numbers.h"
#include "base/hot_data.h"

LC_HOT_DATA struct lc_timer lc_timer = {.by_counter = false, .ns_per_tick = 1.0};

static uint64_t read_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t lc_monotonic_raw_ns(void) {
    return read_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t lc_patience_ns(void) {
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t lc_thread_cpu_ns(void) {
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t lc_realtime_ns(void) {
    return read_ns(CLOCK_REALTIME);
}

/* The counter serves if it ticks at a constant rate, also in deep sleep. Of the TSC the kernel says
 * so in the flags; Arm's always does. */
static bool counter_is_invariant(void) {
#if defined(__aarch64__)
    return true;
#elif defined(__x86_64__)
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL)
        return false;
    char line[8192];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "flags", 5) == 0) {
            found = strstr(line, " constant_tsc") != NULL && strstr(line, " nonstop_tsc") != NULL;
            break;
        }
    fclose(file);
    return found;
#else
    return false;
#endif
}

/* One pair (ticks, ns) of nearly the same instant: the closest of a few tries. */
static void take_pair(uint64_t *ticks, uint64_t *ns) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = lc_ticks();
        uint64_t middle = lc_monotonic_raw_ns();
        uint64_t after = lc_ticks();
        if (after - before < best) {
            best = after - before;
            *ticks = before + (after - before) / 2;
            *ns = middle;
        }
    }
}

void lc_timer_init(void) {
    const char *wanted = getenv("LATECOMER_CLOCK");
    if (wanted != NULL && strcmp(wanted, "monotonic") == 0)
        lc_timer.by_counter = false;
    else
        lc_timer.by_counter = counter_is_invariant();
    lc_timer.ns_per_tick = 1.0;
    take_pair(&lc_timer.base_ticks, &lc_timer.base_ns);
}

void lc_timer_calibrate(void) {
    if (!lc_timer.by_counter)
        return;
    uint64_t ticks = 0, ns = 0;
    take_pair(&ticks, &ns);
    if (ticks > lc_timer.base_ticks && ns > lc_timer.base_ns)
        lc_timer.ns_per_tick =
            (double)(ns - lc_timer.base_ns) / (double)(ticks - lc_timer.base_ticks);
}

void lc_timer_bend_get(struct lc_timer_bend *bend) {
    const char *text = getenv("LATECOMER_TEST_CLOCK");
    double values[3] = {0, 0, 0};
    for (int i = 0; i < 3 && text != NULL && *text != 0; i++) {
        char *rest = NULL;
        values[i] = lc_strtod(text, &rest);
        text = rest != text && *rest == ',' ? rest + 1 : NULL;
    }
    *bend = (struct lc_timer_bend){values[0], values[1] * 1e-6, values[2] * 1e-15};
}

double lc_timer_straight(const struct lc_timer_bend *bend, double bent_ns) {
    double ns = (bent_ns - bend->offset_ns) / (1 + bend->drift);
    for (int i = 0; bend->curve_per_ns != 0 && i < 4; i++) /* Newton: the curve is flat */
        ns -= (lc_timer_bent(bend, ns) - bent_ns) / (1 + bend->drift + bend->curve_per_ns * ns);
    return ns;
}
