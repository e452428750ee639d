#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "measure/core/core.h"
#include "measure/gomp/gomp.h"
#include "measure/hot/locations.h"
#include "measure/core/core_parts.h"
#include "measure/openmp/team.h"
#include "measure/openmp/tool.h"
#include "measure/stub/stub.h"

/* The destructor of the key runs again until that of locations has: which is first, is not said. */
enum { LAST_ENDING = 2 };

static const struct lc_stub *stub;
static _Atomic(const struct lc_gomp_runtime *) runtimes;
static pthread_key_t key;
static bool key_made;
static pthread_once_t attached = PTHREAD_ONCE_INIT;
static __thread struct lc_gomp_thread *self;
static struct lc_gomp_thread gone; /* of threads that have ended */

static void thread_ends(void *value) {
    struct lc_gomp_thread *thread = value;
    if (thread->endings++ < LAST_ENDING && pthread_setspecific(key, thread) == 0)
        return;
    self = &gone;
    free(thread);
}

/* A worker of libgomp ends, whose place another one will take: its location stays. */
static bool keeps(void) {
    if (self == NULL || self == &gone || !self->worker)
        return false;
    lc_gomp_tell_end(self);
    return true;
}

static void start(struct lc_stub *of) {
    stub = of;
    key_made = pthread_key_create(&key, thread_ends) == 0;
    if (key_made)
        of->openmp_wrappers = lc_gomp_wrappers;
}

const struct lc_part lc_gomp_part = {.start = start, .keeps = keeps};

void *lc_gomp_real(enum lc_gomp_entry entry, const void *code) {
    void *real = stub->openmp_reals[entry];
    return lc_likely(real != NULL) ? real : stub->openmp_real(entry, code);
}

static void attach(void) {
    lc_omp_start_native("libgomp");
}

static LC_COLD struct lc_gomp_thread *make(void) {
    struct lc_gomp_thread *made = key_made ? calloc(1, sizeof *made) : NULL;
    if (made == NULL || pthread_setspecific(key, made) != 0) {
        free(made);
        return NULL;
    }
    pthread_once(&attached, attach);
    made->share = &made->base;
    made->running = &made->base.data;
    self = made;
    return made;
}

struct lc_gomp_thread *lc_gomp_self(void) {
    if (lc_likely(self != NULL))
        return self != &gone ? self : NULL;
    return make();
}

struct lc_gomp_thread *lc_gomp_self_known(void) {
    struct lc_gomp_thread *known = lc_gomp_self();
    if (known != NULL && !known->worker && known->share == &known->base &&
        known->base.data.ptr == NULL)
        lc_omp_implicit_task(OMPT_BEGIN, NULL, &known->base.data, 1, 0, OMPT_TASK_INITIAL);
    return known;
}

/* Of the library that has this function, which stays loaded; the list only grows. */
static LC_COLD const struct lc_gomp_runtime *find_runtime(void *real) {
    Dl_info where;
    struct lc_gomp_runtime *made = calloc(1, sizeof *made);
    void *library = dladdr(real, &where) != 0 && where.dli_fname != NULL
                        ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    if (made == NULL || library == NULL) {
        free(made);
        return NULL;
    }
    made->real = real;
    made->num_threads = (int (*)(void))dlsym(library, "omp_get_num_threads");
    made->thread_num = (int (*)(void))dlsym(library, "omp_get_thread_num");
    made->max_threads = (int (*)(void))dlsym(library, "omp_get_max_threads");
    made->is_cancelled = (bool (*)(int))dlsym(library, "GOMP_cancellation_point");
    if (made->num_threads == NULL || made->thread_num == NULL || made->max_threads == NULL) {
        free(made);
        return NULL;
    }
    made->next = atomic_load_explicit(&runtimes, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&runtimes, &made->next, made,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return made;
}

const struct lc_gomp_runtime *lc_gomp_runtime_of(void *real) {
    /* acquire: partner is above */
    const struct lc_gomp_runtime *at = atomic_load_explicit(&runtimes, memory_order_acquire);
    while (at != NULL && at->real != real)
        at = at->next;
    return at != NULL ? at : find_runtime(real);
}
