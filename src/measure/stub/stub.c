/* The preloaded library. It needs no MPI, and sleeps until the process makes its first MPI call, or
 * starts an OpenMP runtime: then it finds the MPI library that the program loaded, opens the core
 * for that flavour, and lets it take over the slots that all exported functions jump through. If
 * that is impossible, the slots get the real functions. A program that uses OpenMP or regions, and
 * has no MPI, gets the core that needs none (alone/). Others notice nothing but one clock read.
 *
 * PMPI_ functions are exported as well: Fortran bindings end in them (Open MPI), and programs may
 * call them. */
#include "measure/stub/stub.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/asan_options.h"
#include "base/counter.h"
#include "base/given_options.h"
#include "base/parents_file.h"
#include "job/mpi_flavour.h"
#include "measure/gomp_entries.h"
#include "measure/stub/chain.h"

#define EXPORT __attribute__((visibility("default")))

void *ompt_start_tool(unsigned version, const char *runtime);
void __kmpc_doacross_wait(void *place, int thread, const int64_t *iteration);

static const char *const names[] = {
#include "measure/mpi_names.inc"
#define LC_API_NAME(name) #name,
    LC_API_TABLE(LC_API_NAME)
#undef LC_API_NAME
#include "measure/gomp_names.inc"
};
enum {
#define LC_API_NUMBER(name) API_##name,
    LC_API_TABLE(LC_API_NUMBER) N_API,
#undef LC_API_NUMBER
    N_SLOTS = sizeof names / sizeof *names,
    N_GOMP = LC_GOMP_ENTRIES,
    FIRST_GOMP = N_SLOTS - N_GOMP,
    N_MPI = FIRST_GOMP - N_API
};

/* Generated assembly: what measures, and where calls of MPI_ functions go (chain.h). */
extern void *lc_slots[N_SLOTS] __attribute__((visibility("hidden")));
extern void *lc_fronts[N_MPI] __attribute__((visibility("hidden")));
void *lc_stub_resolve(unsigned slot, const void *caller) __attribute__((visibility("hidden")));

/* Of the core; here, because a preloaded library surely has static thread-local storage. */
EXPORT __thread void *latecomer_private_self __attribute__((tls_model("initial-exec")));

static struct lc_stub stub = {.abi = LC_STUB_ABI,
                              .n_mpi = N_MPI,
                              .slots = lc_slots,
                              .names = names,
                              .real_symbol = lc_real_symbol,
                              .openmp_reals = lc_gomp_reals,
                              .openmp_real = lc_gomp_behind};
static void *first_thunks[N_SLOTS]; /* what the slots held at the start */

enum { ASLEEP, WAKING, AWAKE };
static _Atomic int state;
static pthread_mutex_t waking = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(pthread_t) waker;
static bool quiet; /* said by an option that is taken out of the environment */

static uint64_t now_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_ours(const char *path) {
    const char *slash = strrchr(path, '/'), *openmp = getenv("LATECOMER_OPENMP_LIBRARY");
    return strcmp(slash != NULL ? slash + 1 : path, "liblatecomer.so") == 0 ||
           (openmp != NULL && strcmp(path, openmp) == 0);
}

static void remove_preloads(void) {
    const char *old = getenv("LD_PRELOAD");
    if (old == NULL)
        return;
    char *kept = malloc(strlen(old) + 1), *copy = strdup(old), *save = NULL;
    if (kept != NULL && copy != NULL) {
        char *end = kept;
        kept[0] = '\0';
        for (char *part = strtok_r(copy, ": ", &save); part != NULL;
             part = strtok_r(NULL, ": ", &save)) {
            if (is_ours(part))
                continue;
            if (end != kept)
                *end++ = ':';
            size_t length = strlen(part);
            memcpy(end, part, length + 1);
            end += length;
        }
        if (kept[0] != '\0')
            setenv("LD_PRELOAD", kept, 1);
        else
            unsetenv("LD_PRELOAD");
    }
    free(kept);
    free(copy);
}

/* What `latecomer run` says to this process: the program may throw its environment away before it
 * calls MPI. */
static char *given[64];

static void keep_environment(void) {
    size_t n = 0;
    for (char **e = environ; e != NULL && *e != NULL && n < sizeof given / sizeof *given; e++)
        if (strncmp(*e, "LATECOMER_", strlen("LATECOMER_")) == 0)
            given[n++] = strdup(*e);
}

static void bring_environment_back(void) {
    bool thrown_away = getenv("LATECOMER_STATE") == NULL;
    for (size_t i = 0; thrown_away && i < sizeof given / sizeof *given && given[i] != NULL; i++)
        putenv(given[i]);
}

__attribute__((constructor)) static void begin(void) {
    keep_environment();
    stub.begin_ns = now_ns(CLOCK_MONOTONIC_RAW);
    stub.begin_realtime_ns = now_ns(CLOCK_REALTIME);
    stub.begin_ticks = lc_counter_ticks();
}

static void restore_asan_options(void) {
    const char *text = getenv("ASAN_OPTIONS");
    size_t length = text != NULL ? strlen(text) : 0, added = strlen(LC_ASAN_NO_LINK_ORDER);
    if (length < added || strcmp(text + length - added, LC_ASAN_NO_LINK_ORDER) != 0)
        return;
    char *kept = length > added ? strndup(text, length - added) : NULL;
    if (kept != NULL)
        setenv("ASAN_OPTIONS", kept, 1);
    else
        unsetenv("ASAN_OPTIONS");
    free(kept);
}

/* A word for the parent in the state that nobody claimed, if there is one. */
static bool leave_mark(const char *mark) {
    int memory = lc_open_parents(getenv("LATECOMER_STATE"), LC_PARENTS_MEMORY_LINK, O_RDWR);
    if (memory < 0)
        return false;
    bool left = lseek(memory, 0, SEEK_END) == 0 && pwrite(memory, mark, strlen(mark) + 1, 0) > 0;
    close(memory);
    return left;
}

/* MPI was used, but never through the exported functions (RTLD_DEEPBIND): the parent is told the
 * library's name. */
__attribute__((destructor)) static void report_bypass(void) {
    static struct lc_loaded_mpi mpi;
    int flag = 0;
    if (stub.on_dlclose != NULL || stub.mpi != NULL || getenv("LATECOMER_STATE") == NULL ||
        !lc_find_mpi(&mpi))
        return;
    int (*initialized)(int *) = (int (*)(int *))lc_real_symbol(mpi.handle, "PMPI_Initialized");
    int (*finalized)(int *) = (int (*)(int *))lc_real_symbol(mpi.handle, "PMPI_Finalized");
    if (initialized == NULL || finalized == NULL || initialized(&flag) != 0 || !flag ||
        finalized(&flag) != 0)
        return;
    char mark[64];
    const char *slash = strrchr(mpi.path, '/');
    snprintf(mark, sizeof mark, "%c%.60s", flag ? '!' : '?', slash != NULL ? slash + 1 : mpi.path);
    leave_mark(mark);
}

static void say(const char *what, const char *why) {
    char line[512];
    int n =
        snprintf(line, sizeof line, "latecomer: %s: %s: the program runs unmeasured\n", what, why);
    size_t bytes = n < (int)sizeof line ? (size_t)n : sizeof line - 1;
    if (!quiet && getenv("LATECOMER_QUIET") == NULL && write(STDERR_FILENO, line, bytes) < 0)
        return;
}

/* Is libgomp to be seen? Said by `latecomer run`, before its words are taken away. */
static bool gomp_is_wanted(void) {
    static _Atomic int wanted = -1;
    if (atomic_load_explicit(&wanted, memory_order_relaxed) < 0)
        atomic_store_explicit(&wanted, getenv("LATECOMER_LIBGOMP") != NULL, memory_order_relaxed);
    return atomic_load_explicit(&wanted, memory_order_relaxed) == 1;
}

/* Only what `latecomer run` put there: helpers that the program starts are not measured. */
static void clean_environment(void) {
    lc_omp_binding_remember();
    gomp_is_wanted();
    remove_preloads();
    restore_asan_options();
    static const char *const ours[] = {"LATECOMER_STATE",          "LATECOMER_DIR",
                                       "LATECOMER_NOTIFY",         "LATECOMER_ALONE",
                                       "LATECOMER_OPENMP_LIBRARY", "LATECOMER_OPENMP_BIND",
                                       "LATECOMER_OPENMP_PLACES",  "LATECOMER_WHAT_IF_PLACES",
                                       "LATECOMER_LIBGOMP",        "LATECOMER_OPENMP_TASKS",
                                       "LATECOMER_SAMPLE_FILTERED"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        unsetenv(ours[i]);
    lc_given_options_take_back();
}

static bool core_path(const char *flavour, char *path, size_t bytes) {
    Dl_info own;
    if (dladdr((void *)&stub, &own) == 0 || own.dli_fname == NULL)
        return false;
    const char *slash = strrchr(own.dli_fname, '/');
    /* For the benchmark of MPI calls: "nop" only forwards, "no-minima" has no shortest calls,
     * "no-loops" finds none. */
    const char *mode = getenv("LATECOMER_MODE");
    bool twin = mode != NULL && (strcmp(mode, "nop") == 0 || strcmp(mode, "no-minima") == 0 ||
                                 strcmp(mode, "no-loops") == 0);
    int n = snprintf(path, bytes, "%.*sliblatecomer-core-%s%s%s.so",
                     slash != NULL ? (int)(slash - own.dli_fname + 1) : 0, own.dli_fname, flavour,
                     twin ? "-" : "", twin ? mode : "");
    return n > 0 && (size_t)n < bytes;
}

static void *function_of(void *library, unsigned slot) {
    char name[128];
    snprintf(name, sizeof name, "P%s", names[slot]);
    void *real = lc_real_symbol(library, name);
    return real != NULL ? real : lc_real_symbol(library, names[slot]);
}

static void use_real_functions(void) {
    for (unsigned i = 0; i < N_MPI; i++) {
        void *real = function_of(stub.mpi, i);
        if (real != NULL)
            lc_slots[i] = real;
    }
}

/* Opens the core; the reason if it cannot. */
static const char *open_core(const char *flavour, char *why, size_t why_bytes) {
    char path[4096];
    if (!core_path(flavour, path, sizeof path))
        return "cannot find its own path";
    void *core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (core == NULL) {
        snprintf(why, why_bytes, "%s", dlerror());
        return why;
    }
    lc_core_start_fn *start = (lc_core_start_fn *)dlsym(core, "lc_core_start");
    if (start == NULL)
        return "the core library has a different version";
    return start(&stub, why, why_bytes) == 0 ? NULL : why;
}

/* Why this MPI cannot be measured; NULL if it can. */
static const char *refuse(const struct lc_loaded_mpi *mpi, char *why, size_t why_bytes) {
    char core[4096];
    if (mpi->flavour == LC_FLAVOUR_UNKNOWN) {
        snprintf(why, why_bytes, "%.400s: no MPI that can be measured (%s)", mpi->path,
                 mpi->product);
        return why;
    }
    /* The core is bound to Open MPI's objects by this name, and would load a second library. */
    if (mpi->flavour == LC_FLAVOUR_IS_OPENMPI &&
        dlopen(LC_OPENMPI_SONAME, RTLD_LAZY | RTLD_NOLOAD) != mpi->handle) {
        snprintf(why, why_bytes, "%.400s: an Open MPI that does not call itself " LC_OPENMPI_SONAME,
                 mpi->path);
        return why;
    }
    if (core_path(lc_flavour_word(mpi->flavour), core, sizeof core) && access(core, F_OK) != 0) {
        snprintf(why, why_bytes, "%s: Latecomer was built without %s", mpi->product,
                 lc_flavour_name(mpi->flavour));
        return why;
    }
    return NULL;
}

/* The parent of rank 0 says it once; where it cannot be reached, rank 0 says it here (the third
 * number of LATECOMER_STATE); and who has no parent. */
static void report_failure(const char *why) {
    char mark[512];
    int rank = 0;
    const char *parents = getenv("LATECOMER_STATE");
    snprintf(mark, sizeof mark, "#%.500s", why);
    if (leave_mark(mark))
        return;
    if (parents == NULL || sscanf(parents, "%*d:%*d:%d", &rank) != 1 || rank <= 0)
        say("measurement", why);
}

/* Without MPI; false: not wanted (LATECOMER_ALONE: the launcher has started one process). */
static bool wake_alone(void) {
    char why[512] = "";
    const char *mode = getenv("LATECOMER_MODE"); /* of the benchmark of MPI calls */
    if (getenv("LATECOMER_ALONE") == NULL || getenv("LATECOMER_STATE") == NULL || mode != NULL)
        return false;
    stub.wake_ticks = lc_counter_ticks();
    quiet = getenv("LATECOMER_QUIET") != NULL;
    memcpy(first_thunks, lc_slots, sizeof first_thunks);
    const char *failed = open_core("alone", why, sizeof why);
    if (failed != NULL)
        report_failure(failed);
    clean_environment();
    return true;
}

/* false: no MPI library is loaded yet, so only regions or OpenMP are used: sleep on. */
static bool wake(bool can_be_alone) {
    static struct lc_loaded_mpi mpi;
    stub.wake_ns = now_ns(CLOCK_MONOTONIC_RAW);
    stub.wake_cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (!lc_find_mpi(&mpi))
        return can_be_alone && wake_alone();
    char why[512] = "";
    bring_environment_back();
    quiet = getenv("LATECOMER_QUIET") != NULL;
    memcpy(first_thunks, lc_slots, sizeof first_thunks);
    stub.mpi = mpi.handle;
    stub.flavour = mpi.flavour;
    stub.product = mpi.product;
    bool wanted = getenv("LATECOMER_STATE") != NULL || getenv("LATECOMER_DIR") != NULL;
    const char *failed = wanted ? refuse(&mpi, why, sizeof why) : NULL;
    if (wanted && failed == NULL)
        failed = open_core(lc_flavour_word(mpi.flavour), why, sizeof why);
    if (failed != NULL || !wanted)
        use_real_functions();
    if (failed != NULL)
        report_failure(failed);
    clean_environment();
    return true;
}

static void nothing(void) {
}

/* MPI is called first when the core without MPI is at work already. */
static void *late_mpi(unsigned slot) {
    static struct lc_loaded_mpi mpi;
    if (stub.mpi == NULL && lc_find_mpi(&mpi)) {
        stub.mpi = mpi.handle;
        say("MPI", "it was loaded after measurement had begun without it");
    }
    return stub.mpi != NULL ? function_of(stub.mpi, slot) : NULL;
}

/* Where a slot that is not filled goes on: functions of the MPI library that the core does not
 * know, or that another library has; the API without MPI. */
static void *fallback(unsigned slot) {
    if (slot >= N_MPI)
        return (void *)nothing;
    void *real = stub.mpi != NULL ? function_of(stub.mpi, slot) : NULL;
    if (real == NULL && atomic_load_explicit(&state, memory_order_acquire) == AWAKE)
        real = late_mpi(slot);
    if (real == NULL)
        real = function_of(RTLD_NEXT, slot);
    if (real != NULL && atomic_load_explicit(&state, memory_order_acquire) == AWAKE)
        lc_slots[slot] = real;
    if (real == NULL) {
        say(names[slot], "the program calls it, but no loaded library has it");
        real = (void *)nothing;
    }
    return real;
}

/* false: this thread is waking it already. */
static bool ensure_awake(bool can_be_alone) {
    if (atomic_load_explicit(&state, memory_order_acquire) == AWAKE)
        return true;
    if (atomic_load(&state) == WAKING && pthread_equal(atomic_load(&waker), pthread_self()))
        return false;
    pthread_mutex_lock(&waking);
    if (atomic_load(&state) == ASLEEP) {
        atomic_store(&waker, pthread_self());
        atomic_store(&state, WAKING);
        bool awake = wake(can_be_alone);
        atomic_store_explicit(&state, awake ? AWAKE : ASLEEP, memory_order_release);
    }
    pthread_mutex_unlock(&waking);
    return true;
}

/* Where MPI is not loaded yet, each attempt looks through all libraries. */
static bool may_try_again(void) {
    static _Atomic unsigned attempts;
    enum { MANY = 64, SELDOM = 1024 };
    if (atomic_load_explicit(&state, memory_order_acquire) == AWAKE)
        return true;
    unsigned n = atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed);
    return n < MANY || n % SELDOM == 0;
}

/* A function of GCC's OpenMP: where libgomp has it, the core's wrapper; else the runtime's own,
 * which is LLVM's and tells what it does. */
static void *resolve_gomp(unsigned slot, const void *caller) {
    unsigned entry = slot - FIRST_GOMP;
    void *real = lc_gomp_behind(entry, caller);
    if (real == NULL) {
        say(names[slot], "the program calls it, but no loaded library has it");
        return (void *)nothing;
    }
    bool sees = gomp_is_wanted() && lc_is_libgomp(real);
    bool known = !sees;
    if (sees && may_try_again()) {
        known = ensure_awake(true) && atomic_load_explicit(&state, memory_order_acquire) == AWAKE;
        if (known && stub.openmp_wrappers != NULL)
            real = stub.openmp_wrappers[entry];
    }
    if (known && stub.openmp_reals[entry] != NULL) /* the same for all threads and callers */
        __atomic_store_n(&lc_slots[slot], real, __ATOMIC_RELAXED);
    return real;
}

static void *resolve_slot(unsigned slot) {
    void *thunk = lc_slots[slot];
    if (!ensure_awake(slot >= N_MPI))
        return fallback(slot);
    void *target = lc_slots[slot];
    if (first_thunks[slot] == target || (first_thunks[slot] == NULL && target == thunk))
        target = fallback(slot);
    return target;
}

/* An MPI_ function, not PMPI_. */
static void *resolve_front(unsigned slot) {
    void *target = resolve_slot(slot);
    if (atomic_load_explicit(&state, memory_order_acquire) != AWAKE || stub.mpi == NULL)
        return target;
    void *layer = lc_chain_layer(stub.mpi, names[slot]);
    if (layer != NULL)
        target = layer;
    __atomic_store_n(&lc_fronts[slot], target, __ATOMIC_RELAXED); /* the same for all threads */
    return target;
}

void *lc_stub_resolve(unsigned number, const void *caller) {
    if ((number & LC_CHAIN_FRONT) != 0)
        return resolve_front(number & ~(unsigned)LC_CHAIN_FRONT);
    return number >= FIRST_GOMP ? resolve_gomp(number, caller) : resolve_slot(number);
}

struct lc_chain_stub lc_stub_for_chain(void) {
    bool awake = atomic_load_explicit(&state, memory_order_acquire) == AWAKE;
    return (struct lc_chain_stub){names, N_MPI, awake ? stub.mpi : NULL, awake};
}

/* A library that goes away may leave its addresses to another one: call paths seen before mean
 * nothing any more. */
EXPORT int dlclose(void *handle) {
    int result = lc_real_dlclose(handle);
    lc_gomp_forget_callers();
    lc_chain_forget();
    if (atomic_load_explicit(&state, memory_order_acquire) == AWAKE && stub.on_dlclose != NULL)
        stub.on_dlclose();
    return result;
}

static void *behind(const char *name, const void *caller) {
    void *found = dlsym(RTLD_NEXT, name);
    return found != NULL ? found : lc_in_scope_of(name, caller);
}

/* `ordered depend(sink: ..)` in what clang has compiled: of this waiting LLVM's runtime tells
 * tools the end only. */
EXPORT void __kmpc_doacross_wait(void *place, int thread, const int64_t *iteration) {
    static void (*_Atomic real)(void *, int, const int64_t *);
    const void *code = __builtin_return_address(0);
    void (*function)(void *, int, const int64_t *) =
        atomic_load_explicit(&real, memory_order_relaxed);
    if (function == NULL) {
        function = (void (*)(void *, int, const int64_t *))behind(__func__, code);
        atomic_store_explicit(&real, function, memory_order_relaxed);
    }
    bool notify =
        atomic_load_explicit(&state, memory_order_acquire) == AWAKE && stub.openmp_sink != NULL;
    if (notify)
        stub.openmp_sink(true, code);
    if (function != NULL)
        function(place, thread, iteration);
    if (notify)
        stub.openmp_sink(false, code);
}

/* Asked by an OpenMP runtime when it starts. Whatever tool the program brings goes first. */
EXPORT void *ompt_start_tool(unsigned version, const char *runtime) {
    void *(*next)(unsigned, const char *) =
        (void *(*)(unsigned, const char *))dlsym(RTLD_NEXT, "ompt_start_tool");
    const char *libraries = getenv("OMP_TOOL_LIBRARIES");
    lc_omp_binding_restore(); /* the runtime reads CPUs and variables after this */
    void *theirs = next != NULL ? next(version, runtime) : NULL;
    bool wanted = getenv("LATECOMER_STATE") != NULL ||
                  (atomic_load(&state) == AWAKE && stub.openmp_tool != NULL);
    if (theirs == NULL && (libraries == NULL || libraries[0] == '\0')) {
        if (!wanted || !ensure_awake(true) || stub.openmp_tool == NULL)
            return NULL;
        return stub.openmp_tool(version, runtime);
    }
    if (wanted && getenv("LATECOMER_QUIET") == NULL)
        fputs("latecomer: OpenMP is not measured: another tool uses the OpenMP tools interface "
              "(ompt_start_tool or OMP_TOOL_LIBRARIES)\n",
              stderr);
    return theirs;
}
