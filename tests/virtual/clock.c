/* Clocks of threads, and the calls of the C library by which they are read and moved on. */
#define _GNU_SOURCE
#include "callers.h"
#include "virtual.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local uint64_t own; /* 0: a thread of which nobody knows who made it */

static uint64_t *own_clock(void) {
    if (own == 0)
        own = VT_BEFORE_INIT_NS;
    return &own;
}

uint64_t vt_now(void) {
    return *own_clock();
}

void vt_later(uint64_t at) {
    uint64_t *now = own_clock();
    if (at > *now)
        *now = at;
}

void vt_begin(void) {
    vt_later(VT_AFTER_INIT_NS);
}

/* For a look at the tool, two worlds that are less perfect. LC_VIRTUAL_CODE=1: code costs what it
 * takes of the processor. LC_VIRTUAL_NOISE=N: one read in N, by lot, finds that the thread has lost
 * its core for a millisecond. */
static uint64_t passed(void) {
    static int code = -1;
    static unsigned long noise;
    static _Thread_local uint64_t used, dice;
    uint64_t ns = 1;
    if (code < 0) {
        const char *text = getenv("LC_VIRTUAL_NOISE");
        noise = text != NULL ? strtoul(text, NULL, 10) : 0;
        code = getenv("LC_VIRTUAL_CODE") != NULL;
    }
    if (code > 0) {
        struct timespec t;
        syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
        uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        ns += used > 0 ? now - used : 0;
        used = now;
    }
    if (noise > 0) {
        dice = (dice + (uint64_t)getpid()) * 6364136223846793005u + 1442695040888963407u;
        ns += (dice >> 33) % noise == 0 ? 1000000 : 0;
    }
    return ns;
}

static uint64_t ns_of(const struct timespec *t) {
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    enum caller who = SOMEBODY;
    if (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW)
        who = caller(__builtin_return_address(0));
    if (who == SOMEBODY)
        return (int)syscall(SYS_clock_gettime, id, t);
    uint64_t at;
    if (who == TOOL && id == CLOCK_MONOTONIC) {
        syscall(SYS_clock_gettime, id, t);
        at = ns_of(t) / VT_PATIENCE;
    } else {
        uint64_t more = passed();
        at = *own_clock() += who == TOOL ? more - 1 : more; /* how often it reads is chance */
    }
    t->tv_sec = (time_t)(at / 1000000000u);
    t->tv_nsec = (long)(at % 1000000000u);
    return 0;
}

double MPI_Wtime(void) __attribute__((alias("PMPI_Wtime")));
double PMPI_Wtime(void) {
    return 1e-9 * (double)++*own_clock();
}

int nanosleep(const struct timespec *t, struct timespec *left) {
    if (caller(__builtin_return_address(0)) != PROGRAM)
        return (int)syscall(SYS_nanosleep, t, left);
    *own_clock() += ns_of(t);
    return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left) {
    if (caller(__builtin_return_address(0)) != PROGRAM)
        return syscall(SYS_clock_nanosleep, id, flags, t, left) == 0 ? 0 : errno;
    vt_later(flags & TIMER_ABSTIME ? ns_of(t) : vt_now() + ns_of(t));
    return 0;
}

int usleep(useconds_t us) {
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    if (caller(__builtin_return_address(0)) != PROGRAM)
        return (int)syscall(SYS_nanosleep, &t, NULL);
    *own_clock() += ns_of(&t);
    return 0;
}

unsigned sleep(unsigned seconds) {
    struct timespec t = {.tv_sec = seconds};
    if (caller(__builtin_return_address(0)) == PROGRAM)
        *own_clock() += ns_of(&t);
    else if (syscall(SYS_nanosleep, &t, &t) != 0)
        return (unsigned)t.tv_sec + (t.tv_nsec > 0);
    return 0;
}

/* Threads: a list of those that ended, until they are joined. */
struct made {
    void *(*run)(void *);
    void *argument;
    uint64_t at;
};
static struct ended {
    pthread_t thread;
    uint64_t at;
    struct ended *next;
} * ended;
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;

static void remember_end(void *unused) {
    struct ended *e = malloc(sizeof *e);
    (void)unused;
    if (e == NULL)
        abort();
    pthread_mutex_lock(&ending);
    *e = (struct ended){pthread_self(), vt_now(), ended};
    ended = e;
    pthread_mutex_unlock(&ending);
}

static void *begin_thread(void *argument) {
    struct made made = *(struct made *)argument;
    void *result;
    free(argument);
    own = made.at;
    pthread_cleanup_push(remember_end, NULL); /* also when it ends by pthread_exit */
    result = made.run(made.argument);
    pthread_cleanup_pop(1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
    static __typeof__(&pthread_create) real;
    if (real == NULL)
        real = (__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
    struct made *made = malloc(sizeof *made);
    if (made == NULL)
        return EAGAIN;
    *made = (struct made){run, argument, vt_now()};
    int error = real(thread, attributes, begin_thread, made);
    if (error != 0)
        free(made);
    return error;
}

int pthread_join(pthread_t thread, void **result) {
    static __typeof__(&pthread_join) real;
    if (real == NULL)
        real = (__typeof__(&pthread_join))dlsym(RTLD_NEXT, "pthread_join");
    int error = real(thread, result);
    pthread_mutex_lock(&ending);
    for (struct ended **e = &ended; error == 0 && *e != NULL; e = &(*e)->next)
        if (pthread_equal((*e)->thread, thread)) {
            struct ended *gone = *e;
            vt_later(gone->at);
            *e = gone->next;
            free(gone);
            break;
        }
    pthread_mutex_unlock(&ending);
    return error;
}

_Thread_local int vt_inside;

void *vt_real(const char *name) {
    static void *handle;
    if (handle == NULL)
        handle = dlopen(VT_REAL_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    void *function = handle != NULL ? dlsym(handle, name) : NULL;
    if (function == NULL)
        vt_unknown(name);
    return function;
}

_Noreturn void vt_unknown(const char *what) {
    fprintf(stderr, "virtual time: no rule for %s\n", what);
    _exit(86);
}
