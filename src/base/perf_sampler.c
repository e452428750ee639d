#include "base/perf_sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#if defined(__x86_64__) || defined(__aarch64__)
#include <asm/perf_regs.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/c_numbers.h"

/* Those that a sample with a copy of the stack holds, in the order of their bits. */
#if defined(__x86_64__)
#define STACK_REGISTERS                                                                            \
    (1ull << PERF_REG_X86_AX | 1ull << PERF_REG_X86_BP | 1ull << PERF_REG_X86_SP |                 \
     1ull << PERF_REG_X86_IP)
#elif defined(__aarch64__)
#define STACK_REGISTERS                                                                            \
    (1ull << PERF_REG_ARM64_X29 | 1ull << PERF_REG_ARM64_LR | 1ull << PERF_REG_ARM64_SP |          \
     1ull << PERF_REG_ARM64_PC)
#else
#define STACK_REGISTERS 0ull
#endif

static int open_event(struct perf_event_attr *attr) {
    long fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

bool lc_perf_copies_stack(void) {
    return STACK_REGISTERS != 0;
}

static void ask_for_stack(struct perf_event_attr *attr, uint32_t bytes) {
    if (bytes == 0 || STACK_REGISTERS == 0)
        return;
    attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr->sample_regs_user = STACK_REGISTERS;
    attr->sample_stack_user = bytes;
}

int lc_perf_sampler_open(const struct lc_perf_wanted *wanted) {
    int saved = errno;
    bool leaving = wanted->period_ns == 0;
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = leaving ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = leaving ? 1 : wanted->period_ns;
    attr.sample_type = PERF_SAMPLE_TIME | (leaving ? 0 : PERF_SAMPLE_CALLCHAIN);
    attr.sample_max_stack = LC_PERF_CALLERS;
    attr.sample_id_all = 1;
    attr.exclude_callchain_kernel = 1;
    attr.exclude_hv = 1;
    attr.context_switch = wanted->switches;
    attr.watermark = 1; /* nobody sleeps until there is something */
    attr.wakeup_watermark = UINT32_MAX;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC_RAW;
    ask_for_stack(&attr, wanted->stack_bytes);
    int fd = open_event(&attr);
    if ((fd == -EACCES || fd == -EPERM) && !leaving) {
        attr.exclude_kernel = 1;
        fd = open_event(&attr);
    }
    errno = saved;
    return fd;
}

bool lc_sample_choose(const char *text, struct lc_sample_choice *choice) {
    static const char timer[] = "timer";
    const size_t length = sizeof timer - 1;
    *choice = (struct lc_sample_choice){.rate = LC_PERF_RATE};
    if (text == NULL || *text == '\0')
        return true;
    if (strcmp(text, "off") == 0) {
        choice->rate = 0;
        return true;
    }
    if (strncmp(text, timer, length) == 0) {
        choice->timer = true;
        if (text[length] == '\0')
            return true;
        if (text[length] != ':')
            return false;
        text += length + 1;
    }
    char *end;
    double rate = lc_strtod(text, &end);
    bool good = end != text && *end == '\0' && rate >= 1 && rate <= LC_PERF_MOST;
    choice->rate = good ? rate : 0;
    return good;
}

uint64_t lc_perf_period_ns(double per_second) {
    return (uint64_t)(1e9 / per_second * 0.9985) | 1;
}

uint64_t lc_perf_jittered(uint64_t period, uint32_t number) {
    const double golden = 0.6180339887498949;
    double turns = (double)(number + 1) * golden;
    return (uint64_t)((double)period * (0.8 + 0.4 * (turns - (double)(uint64_t)turns))) | 1;
}

int lc_perf_sampler_try(void) {
    const struct lc_perf_wanted wanted = {.period_ns = 1000000000, .switches = true};
    int fd = lc_perf_sampler_open(&wanted);
    if (fd < 0)
        return -fd;
    close(fd);
    return 0;
}

bool lc_perf_sees_switches(void) {
    const struct lc_perf_wanted wanted = {.period_ns = 0};
    int fd = lc_perf_sampler_open(&wanted);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

const char *lc_perf_why(int error) {
    switch (error) {
    case EACCES:
    case EPERM:
        return "the kernel does not allow it here (containers: allow perf_event_open; else set "
               "kernel.perf_event_paranoid to 2 or less)";
    case ENOSYS:
    case EOPNOTSUPP:
    case ENOENT:
        return "the kernel has no performance events";
    default:
        return "the kernel has no room for it now";
    }
}
