#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

#include "base/cpu_sets.h"
#include "base/timer.h"
#include "measure/core/core.h"
#include "measure/openmp/tool.h"
#include "measure/gather/finalize.h"
#include "measure/mpi/handles.h"
#include "measure/hot/hot.h"
#include "measure/hot/locations.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/python_stack.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "base/strbuf.h"
#include "format/facts.h"
#include "measure/unwind/modules.h"

/* Which objects of the process call MPI past the wrappers? The words that their calls jump through
 * (global offset tables) are compared with the places of the MPI library: an object opened with
 * RTLD_DEEPBIND, or linked to find the library first, points straight into it. */

struct audit {
    struct lc_strbuf *facts;
    uint64_t mpi_begin, mpi_end;
};

struct object {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
};

static uint64_t absolute(const struct dl_phdr_info *info, uint64_t value) {
    /* The dynamic linker has relocated these words of most objects, not of all (vdso). */
    return value < info->dlpi_addr ? value + info->dlpi_addr : value;
}

static bool read_dynamic(const struct dl_phdr_info *info, struct object *o) {
    const ElfW(Dyn) *dynamic = NULL;
    memset(o, 0, sizeof *o);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        uint64_t place = absolute(info, dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            o->symbols = (const ElfW(Sym) *)place;
            break;
        case DT_STRTAB:
            o->strings = (const char *)place;
            break;
        case DT_JMPREL:
            o->tables[0] = (const ElfW(Rela) *)place;
            break;
        case DT_PLTRELSZ:
            o->bytes[0] = dynamic->d_un.d_val;
            break;
        case DT_RELA:
            o->tables[1] = (const ElfW(Rela) *)place;
            break;
        case DT_RELASZ:
            o->bytes[1] = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    }
    return o->symbols != NULL && o->strings != NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct audit *a = data;
    struct object o;
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash != NULL ? slash + 1 : info->dlpi_name;
    if (strncmp(base, "libmpi", 6) == 0 || strncmp(base, "liblatecomer", 12) == 0 ||
        strncmp(base, "linux-vdso", 10) == 0 || strstr(info->dlpi_name, "/openmpi/") != NULL ||
        !read_dynamic(info, &o))
        return 0;
    struct lc_fact_object found = {0};
    for (int k = 0; k < 2; k++) {
        size_t n = o.tables[k] != NULL ? o.bytes[k] / sizeof(ElfW(Rela)) : 0;
        for (size_t i = 0; i < n; i++) {
            const ElfW(Sym) *symbol = &o.symbols[ELF64_R_SYM(o.tables[k][i].r_info)];
            const char *name = o.strings + symbol->st_name;
            if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "PMPI_", 5) != 0)
                continue;
            uint64_t target = *(const uint64_t *)(info->dlpi_addr + o.tables[k][i].r_offset);
            Dl_info where;
            if (target < a->mpi_begin || target >= a->mpi_end ||
                dladdr((void *)target, &where) == 0 || where.dli_sname == NULL ||
                strstr(where.dli_sname, "PI_") == NULL) /* data of the library is no call */
                continue;
            found.symbols++;
            snprintf(found.example, sizeof found.example, "%s", name);
        }
    }
    snprintf(found.name, sizeof found.name, "%s", base);
    if (found.symbols > 0)
        lc_facts_put(a->facts, LC_FACT_OBJECT, &found, sizeof found);
    return 0;
}

/* LC_FACT_OBJECT for each object with MPI symbols that are bound past the wrappers. */
static void audit_put_facts(struct lc_strbuf *facts) {
    struct audit a = {.facts = facts};
    pthread_mutex_lock(&lc_core.lock);
    const struct lc_module *m = lc_module_find((uint64_t)lc_real.Send);
    if (m != NULL) {
        a.mpi_begin = m->begin;
        a.mpi_end = m->end;
    }
    pthread_mutex_unlock(&lc_core.lock);
    dl_iterate_phdr(visit, &a);
}

/* CPU time of a thread in clock ticks; the name in the file may hold anything, also ')'. */
static unsigned long cpu_ticks(const char *thread) {
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
    FILE *file = fopen(path, "re");
    size_t n = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[n] = '\0';
    const char *behind = strrchr(text, ')');
    if (behind == NULL || sscanf(behind, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                                 &user, &system) != 2)
        return 0;
    return user + system;
}

static uint64_t cpu_ns(clockid_t clock) {
    struct timespec used = {0};
    clock_gettime(clock, &used);
    return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

struct task {
    pid_t id;
    unsigned long ticks;
};

/* The CPUs that a thread may use, 0: the calling one. */
static void add_cpus(cpu_set_t *all, pid_t id) {
    cpu_set_t own;
    if (sched_getaffinity(id, sizeof own, &own) == 0)
        CPU_OR(all, all, &own);
}

/* Have all other threads, also those that have ended, computed less than a tenth of what this one
 * has? */
static bool is_busy_alone(void) {
    uint64_t own = cpu_ns(CLOCK_THREAD_CPUTIME_ID), all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    return all < own + own / 10;
}

/* Threads that compute, and the CPUs that these may use together, as "0-3,8": OpenMP's runtime
 * (OMP_PROC_BIND) and programs (GROMACS) bind each thread to CPUs of its own, so that those of the
 * first thread are not those of the process. Threads that do not compute only help MPI, and sleep.
 * /proc is asked for threads only where it must be: what the kernel keeps of each one that was
 * listed it clears away when the process ends; where threads end meanwhile, the process that waits
 * for this one spins for milliseconds. */
static uint32_t find_busy_threads(char *cpus, size_t bytes) {
    enum { MOST = 4096 };
    cpu_set_t all;
    CPU_ZERO(&all);
    if (is_busy_alone()) {
        add_cpus(&all, 0);
        lc_cpu_list(&all, cpus, bytes);
        return 1;
    }
    struct task *found = calloc(MOST, sizeof *found);
    unsigned long most = 0;
    DIR *tasks = opendir("/proc/self/task");
    uint32_t n = 0, busy = 0;
    while (found != NULL && tasks != NULL && n < MOST) {
        const struct dirent *entry = readdir(tasks);
        if (entry == NULL)
            break;
        if (entry->d_name[0] == '.')
            continue;
        found[n] = (struct task){(pid_t)atoi(entry->d_name), cpu_ticks(entry->d_name)};
        most = found[n].ticks > most ? found[n].ticks : most;
        n++;
    }
    for (uint32_t i = 0; i < n; i++)
        if (most > 0 && found[i].ticks * 10 >= most) {
            add_cpus(&all, found[i].id);
            busy++;
        }
    if (busy == 0)
        add_cpus(&all, 0);
    lc_cpu_list(&all, cpus, bytes);
    if (tasks != NULL)
        closedir(tasks);
    free(found);
    return busy;
}

/* Cost of one measured call that is found in the cache: the wrapper's own code around nothing. What
 * it booked and counted is taken back. Where the path of this call cannot be kept, each of them
 * unwinds the stack anew: few then, and without the unwinding, which calls are told by itself. */
static double calibrate_ns(void) {
    enum { CALLS = 2000, CALLS_UNWOUND = 8 };
    struct lc_thread *t = lc_self;
    if (t == NULL)
        return 0;
    bool off = (atomic_fetch_or(&t->mode, LC_MODE_ON) & LC_MODE_ON) == 0; /* stopped before */
    struct lc_entry *last = t->last;
    uint64_t last_ticks = t->last_ticks, begin = 0, own = 0;
    uint32_t depth = t->depth;
    struct lc_state_row saved = {0}, *row = NULL;
    struct lc_path_counts counts = t->counts;
    int n = CALLS;
    for (int i = -2; i < n; i++) {
        struct lc_call call;
        t->depth = 0;
        t->last = t->off_entry;
        if (!lc_enter_event(&call, LC_FN_CONTROL, __builtin_frame_address(0),
                            __builtin_return_address(0)))
            break;
        if (row == NULL) {
            row = lc_row(t, call.entry->path, 0);
            saved = *row;
            n = call.entry->transient ? CALLS_UNWOUND : CALLS;
        }
        lc_stamp_end(&call);
        lc_row_add(lc_row(t, call.entry->path, 0), call.end - call.begin, 0, 0);
        if (i == -1) {
            begin = lc_ticks();
            own = t->counts.own_ticks;
        }
    }
    uint64_t ticks = lc_ticks() - begin, unwound = t->counts.own_ticks - own;
    t->counts = counts;
    if (row != NULL)
        *row = saved;
    t->last = last;
    t->last_ticks = last_ticks;
    t->depth = depth;
    if (off)
        atomic_fetch_and(&t->mode, ~(uint32_t)LC_MODE_ON);
    lc_timer_calibrate();
    return (double)(ticks > unwound ? ticks - unwound : 0) * lc_timer.ns_per_tick / n;
}

/* The one of this function and detail among n steps, new if it is not there; LC_RANK_STEPS: there
 * is no room. */
static uint32_t find_step(struct lc_rank_step *steps, uint32_t *n, uint32_t fn, uint32_t detail) {
    uint32_t i = 0;
    while (i < *n && (steps[i].fn != fn || steps[i].detail != detail))
        i++;
    if (i == *n && i < LC_RANK_STEPS)
        steps[(*n)++] = (struct lc_rank_step){.fn = fn, .detail = detail};
    return i;
}

/* With lc_core.lock held. */
static void fill_steps(struct lc_rank_own *own) {
    uint32_t n;
    const struct lc_budget_step *steps = lc_budget_steps(&n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = find_step(own->steps, &own->n_steps, steps[i].fn, steps[i].detail);
        if (k < LC_RANK_STEPS)
            own->steps[k].sites++;
    }
}

static uint64_t count_calls(void) {
    uint64_t calls = 0;
    const struct lc_state_table *table = &lc_core.state->threads;
    const struct lc_state_thread *threads =
        (const struct lc_state_thread *)(lc_core.base + table->offset);
    uint32_t n = atomic_load_explicit(&table->count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t at = atomic_load(&threads[i].chunks); at != 0;) {
            const struct lc_state_chunk *chunk = (const struct lc_state_chunk *)(lc_core.base + at);
            const struct lc_state_row *rows = (const struct lc_state_row *)(chunk + 1);
            for (uint32_t k = 0; k < atomic_load(&chunk->n_rows); k++)
                if (rows[k].size_class < LC_RAW_CLASS_COUNTERS)
                    calls += rows[k].count;
            at = chunk->next;
        }
    return calls;
}

void lc_rank_facts_fill(struct lc_rank_own *rank) {
    struct lc_fact_rank *own = &rank->facts;
    memset(rank, 0, sizeof *rank);
    own->calls = count_calls();
    double calibrated_ns = calibrate_ns();
    memcpy(own->host, lc_core.state->host, sizeof own->host);
    own->busy_threads = find_busy_threads(own->cpus, sizeof own->cpus);
    own->ns_per_tick = lc_timer.ns_per_tick;
    own->counted_ns = lc_budget_counted_ticks() * lc_timer.ns_per_tick;
    own->by_counter = lc_timer.by_counter;
    pthread_mutex_lock(&lc_core.lock);
    own->lost = lc_threads_lost();
    own->paths = lc_core.counts;
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        lc_path_counts_add(&own->paths, &t->counts);
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        own->paths.counted += lc_budget_counted(t);
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        if (t->samples_rarest > own->samples_rarer)
            own->samples_rarer = t->samples_rarest;
    if (lc_core.sample_period_ns != 0)
        own->sample_rate =
            1e9 / (double)lc_core.sample_period_ns / atomic_load(&lc_core.samples_rarer);
    fill_steps(rank);
    lc_groups_get(&own->groups);
    const struct lc_path_counts *n = &own->paths;
    own->cost_ns = n->sampled_calls > 0
                       ? (double)n->call_ticks * lc_timer.ns_per_tick / (double)n->sampled_calls
                       : calibrated_ns;
    own->own_s = (double)(n->own_ticks - n->interrupted_ticks) * lc_timer.ns_per_tick * 1e-9;
    own->sampling_s = (double)own->paths.sampling_ticks * lc_timer.ns_per_tick * 1e-9;
    own->remade_s = (double)own->paths.remade_ticks * lc_timer.ns_per_tick * 1e-9;
    own->switches = lc_core.n_switches;
    pthread_mutex_unlock(&lc_core.lock);
    own->region_errors = atomic_load(&lc_core.n_region_errors);
    own->in_callbacks = atomic_load(&lc_core.n_in_callbacks);
    own->spawned = atomic_load(&lc_core.n_spawned);
    own->grid = lc_grid_largest();
    own->pcontrol_ignored = atomic_load(&lc_core.n_pcontrol_ignored);
}

static uint32_t level_of(int level) {
    return level == MPI_THREAD_MULTIPLE     ? LC_LEVEL_MULTIPLE
           : level == MPI_THREAD_SERIALIZED ? LC_LEVEL_SERIALIZED
           : level == MPI_THREAD_FUNNELED   ? LC_LEVEL_FUNNELED
                                            : LC_LEVEL_SINGLE;
}

static void put_process(struct lc_strbuf *facts) {
    struct lc_fact_process fact = {.without_mpi = LC_ALONE,
                                   .callpath = lc_core.callpath,
                                   .paths_checked = lc_core.check_paths,
                                   .budget = lc_budget_share(),
                                   .required_level = level_of(lc_core.required_level),
                                   .provided_level = level_of(lc_core.provided_level)};
    snprintf(fact.python_unread, sizeof fact.python_unread, "%s", lc_python_unread());
    if (!LC_ALONE) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
        int length = 0, version = 0, subversion = 0;
        lc_real.Get_library_version(library, &length);
        lc_real.Get_version(&version, &subversion);
        library[strcspn(library, "\n")] = '\0';
        size_t fits = sizeof library < sizeof fact.library ? sizeof library : sizeof fact.library;
        memcpy(fact.library, library, strnlen(library, fits - 1));
        memcpy(fact.mpi, lc_core.state->mpi, sizeof fact.mpi - 1);
        fact.version = version;
        fact.subversion = subversion;
    }
    lc_facts_put(facts, LC_FACT_PROCESS, &fact, sizeof fact);
}

/* Of all ranks: how many took a step, and the most call sites of one of them. */
static void put_steps(const struct lc_rank_own *all, int n, struct lc_strbuf *facts) {
    struct lc_rank_step steps[LC_RANK_STEPS] = {{0}};
    uint32_t n_steps = 0, ranks[LC_RANK_STEPS] = {0};
    for (int i = 0; i < n; i++)
        for (uint32_t s = 0; s < all[i].n_steps; s++) {
            const struct lc_rank_step *step = &all[i].steps[s];
            uint32_t k = find_step(steps, &n_steps, step->fn, step->detail);
            if (k == LC_RANK_STEPS)
                continue;
            steps[k].sites = step->sites > steps[k].sites ? step->sites : steps[k].sites;
            ranks[k]++;
        }
    for (uint32_t k = 0; k < n_steps; k++) {
        struct lc_fact_step fact = {
            .detail = steps[k].detail, .ranks = ranks[k], .sites = steps[k].sites};
        if (steps[k].fn < LC_FN_COUNT)
            snprintf(fact.function, sizeof fact.function, "%s", lc_fn_names[steps[k].fn]);
        lc_facts_put(facts, LC_FACT_STEP, &fact, sizeof fact);
    }
}

void lc_rank_facts_put(const struct lc_rank_own *all, int n, struct lc_strbuf *facts) {
    put_process(facts);
    size_t begin = lc_facts_begin(facts, LC_FACT_RANKS, &all[0].facts, sizeof all[0].facts);
    for (int i = 1; i < n; i++)
        lc_strbuf_add(facts, (const char *)&all[i].facts, sizeof all[i].facts);
    lc_facts_end(facts, begin);
    audit_put_facts(facts);
    put_steps(all, n, facts);
    lc_omp_put_facts(facts);
}
