#include "bench/harness/op_samples.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench/random.h"

/* Of one batch: those that find no room are counted. OWN: frames of the handler, at most. */
enum { MOST = 512, OWN = 4 };
#define LC_SHORT_NS       5e3 /* a timer is no better than that */
#define LC_LONG_PERIOD_NS 1e5
#define LC_SHORT_SHARE    0.8 /* of repetitions that have one sample */

struct sample {
    int place, n;
    double weight_ns;
    void *frames[LC_SAMPLE_FRAMES];
};

static timer_t timer;
static bool on;
static volatile sig_atomic_t armed;
static struct sample samples[MOST];
static volatile int n_samples, lost, place_now, lost_at;
static int n_put;               /* samples of this job */
static double span_ns;          /* within which short operations are sampled */
static double next_ns, each_ns; /* when the next sample is, since the call; apart: 0: no other */
static uint64_t random_state;
static uintptr_t modules[LC_SAMPLE_MODULES]; /* where they are loaded; announced already */
static int n_modules;

/* Where the thread was when the signal came. */
static uintptr_t interrupted_at(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* What a sample at this time after the call stands for: samples there are so dense. */
static double weight_at(double ns) {
    double dense = (1 - LC_SHORT_SHARE) / LC_LONG_PERIOD_NS;
    return 1 / (ns < span_ns ? dense + LC_SHORT_SHARE / span_ns : dense);
}

static void take_sample(const ucontext_t *context) {
    void *all[LC_SAMPLE_FRAMES + OWN];
    struct sample *s = &samples[n_samples];
    uintptr_t at = interrupted_at(context);
    int n = backtrace(all, LC_SAMPLE_FRAMES + OWN), own = 0;
    while (own < n && (uintptr_t)all[own] != at)
        own++;
    *s = (struct sample){.place = place_now, .weight_ns = weight_at(next_ns)};
    if (own == n) /* no way through the frame of the signal */
        s->frames[s->n++] = (void *)at;
    for (int i = own; i < n && s->n < LC_SAMPLE_FRAMES; i++)
        s->frames[s->n++] = all[i];
    n_samples++;
}

static void on_timer(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    int saved = errno;
    if (armed && n_samples == MOST) {
        lost++;
        lost_at = place_now;
    } else if (armed) {
        take_sample(context);
        next_ns += each_ns * (1 + fmax(timer_getoverrun(timer), 0));
    }
    errno = saved;
}

const char *lc_op_samples_open(const struct lc_own *own) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX - 3};
    struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
    void *first[1];
    (void)!backtrace(first, 1); /* it allocates the first time */
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    int64_t fails = sigaction(event.sigev_signo, &action, NULL) != 0 ||
                    timer_create(CLOCK_MONOTONIC, &event, &timer) != 0;
    lc_own_maximum(own, &fails, 1);
    random_state = (uint64_t)getpid() * 0x9e3779b97f4a7c15u;
    on = fails == 0;
    return on ? NULL : "no samples of the operation: the kernel has no timer on all ranks";
}

bool lc_op_samples_on(void) {
    return on;
}

static struct timespec timespec_of(double ns) {
    return (struct timespec){(time_t)(ns / 1e9), (long)fmod(ns, 1e9)};
}

void lc_op_samples_begin(void) {
    n_put = 0;
}

void lc_op_samples_clear(void) {
    n_samples = lost = 0;
}

static double uniform(void) {
    return (double)(lc_random_next(&random_state) >> 11) * 0x1p-53;
}

void lc_op_samples_arm(int place, double typical_ns) {
    if (!on)
        return;
    bool one = uniform() < LC_SHORT_SHARE;
    place_now = place;
    span_ns = fmin(fmax(typical_ns, LC_SHORT_NS), LC_LONG_PERIOD_NS);
    next_ns = uniform() * (one ? span_ns : LC_LONG_PERIOD_NS);
    each_ns = one ? 0 : LC_LONG_PERIOD_NS;
    const struct itimerspec when = {timespec_of(each_ns), timespec_of(1 + next_ns)};
    timer_settime(timer, 0, &when, NULL);
    armed = 1; /* not before: that call is not the operation */
}

void lc_op_samples_disarm(void) {
    static const struct itimerspec never;
    if (!on)
        return;
    armed = 0;
    timer_settime(timer, 0, &never, NULL);
}

/* The module that is loaded there; a new one is announced. -1: there are too many. */
static int module_at(struct lc_part_writer *part, const struct link_map *map) {
    char key[16], self[4096];
    for (int i = 0; i < n_modules; i++)
        if (modules[i] == map->l_addr)
            return i;
    if (n_modules == LC_SAMPLE_MODULES)
        return -1;
    const char *path = map->l_name;
    ssize_t length = *path == '\0' ? readlink("/proc/self/exe", self, sizeof self - 1) : 0;
    if (length > 0) { /* of the program itself */
        self[length] = '\0';
        path = self;
    }
    snprintf(key, sizeof key, "%d", n_modules);
    if (lc_part_fact(part, "module", key, path) != LC_OK)
        return -1;
    modules[n_modules] = map->l_addr;
    return n_modules++;
}

/* (module, address in its file), or nothing known: LC_SAMPLE_UNKNOWN. */
static uint64_t place_of(struct lc_part_writer *part, const void *address) {
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return LC_SAMPLE_UNKNOWN;
    int module = module_at(part, map);
    return module < 0 ? LC_SAMPLE_UNKNOWN
                      : (uint64_t)module << LC_SAMPLE_SHIFT | ((uintptr_t)address - map->l_addr);
}

enum lc_err lc_op_samples_put(struct lc_part_writer *part, int place, int64_t number) {
    for (int i = 0; i < n_samples; i++) {
        if (samples[i].place != place)
            continue;
        if (n_put == LC_SAMPLES_MOST) {
            lost++;
            lost_at = place;
            continue;
        }
        n_put++;
        struct lc_part_sample sample = {.rep = number, .weight_ns = samples[i].weight_ns};
        for (int k = 0; k < samples[i].n; k++) {
            /* a return address is behind the call */
            const char *address = (const char *)samples[i].frames[k] - (k > 0);
            sample.frames[sample.n++] = place_of(part, address);
        }
        LC_TRY(lc_part_put(part, LC_PART_SAMPLE, &sample, sizeof sample));
    }
    if (lost > 0 && lost_at == place) {
        const struct lc_part_sample none = {.rep = number, .lost = lost};
        lost = 0;
        LC_TRY(lc_part_put(part, LC_PART_SAMPLE, &none, sizeof none));
    }
    return LC_OK;
}
