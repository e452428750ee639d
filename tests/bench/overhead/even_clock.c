/* For whoever counts instructions: the clock of the measurement goes on by as much each time that
 * it is read, however slow the processor is that counts. What is done now and then only, after so
 * much time, is done as often as on a real one. Preloaded. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEP_NS = 25, SECOND_NS = 1000000000 };

int clock_gettime(clockid_t id, struct timespec *t) {
    static atomic_ullong ns = SECOND_NS;
    if (id != CLOCK_MONOTONIC_RAW)
        return (int)syscall(SYS_clock_gettime, id, t);
    unsigned long long now = atomic_fetch_add_explicit(&ns, STEP_NS, memory_order_relaxed);
    t->tv_sec = (time_t)(now / SECOND_NS);
    t->tv_nsec = (long)(now % SECOND_NS);
    return 0;
}
