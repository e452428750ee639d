#include "base/cpu_sets.h"
#include "base/plural.h"
#include "base/timer.h"
#include "measure/clocks/clocks_finalize.h"
#include "measure/core/core.h"
#include "measure/gather/audit.h"
#include "measure/openmp/tool.h"
#include "measure/gather/rank_meta.h"
#include "measure/hot/hot.h"
#include "measure/hot/locations.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"
#include "measure/callpath/python_stack.h"
#include "measure/callpath/region_names.h"
#include "measure/core/thread.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/strbuf.h"
#include "measure/stub/stub.h"

/* CPUs that the calling thread may use, as "0-3,8". */
static void binding(char *out, size_t bytes) {
    cpu_set_t set;
    out[0] = '\0';
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        lc_cpu_list(&set, out, bytes);
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

/* Threads that compute: those that only help MPI sleep. */
static uint32_t count_busy_threads(void) {
    enum { MOST = 4096 };
    unsigned long most = 0, *ticks = calloc(MOST, sizeof *ticks);
    DIR *tasks = opendir("/proc/self/task");
    uint32_t n = 0, busy = 0;
    while (ticks != NULL && tasks != NULL && n < MOST) {
        const struct dirent *entry = readdir(tasks);
        if (entry == NULL)
            break;
        if (entry->d_name[0] == '.')
            continue;
        ticks[n] = cpu_ticks(entry->d_name);
        most = ticks[n] > most ? ticks[n] : most;
        n++;
    }
    for (uint32_t i = 0; i < n; i++)
        busy += most > 0 && ticks[i] * 10 >= most;
    if (tasks != NULL)
        closedir(tasks);
    free(ticks);
    return busy;
}

/* Cost of one measured call that is found in the cache: the wrapper's own code around nothing. What
 * it booked is taken back. */
static double calibrate_ns(void) {
    enum { CALLS = 2000 };
    struct lc_thread *t = lc_self;
    if (t == NULL)
        return 0;
    bool off = (atomic_fetch_or(&t->mode, LC_MODE_ON) & LC_MODE_ON) == 0; /* stopped before */
    struct lc_entry *last = t->last;
    uint64_t last_ticks = t->last_ticks, begin = 0;
    uint32_t depth = t->depth;
    struct lc_state_row saved = {0}, *row = NULL;
    for (int i = -2; i < CALLS; i++) {
        struct lc_call call;
        t->depth = 0;
        t->last = t->off_entry;
        if (!lc_enter_event(&call, LC_FN_CONTROL, __builtin_frame_address(0),
                            __builtin_return_address(0)))
            break;
        if (row == NULL) {
            row = lc_row(t, call.entry->path, 0);
            saved = *row;
        }
        lc_stamp_end(&call);
        lc_row_add(lc_row(t, call.entry->path, 0), call.end - call.begin, 0, 0);
        if (i == -1)
            begin = lc_ticks();
    }
    uint64_t end = lc_ticks();
    if (row != NULL)
        *row = saved;
    t->last = last;
    t->last_ticks = last_ticks;
    t->depth = depth;
    if (off)
        atomic_fetch_and(&t->mode, ~(uint32_t)LC_MODE_ON);
    lc_timer_calibrate();
    return (double)(end - begin) * lc_timer.ns_per_tick / CALLS;
}

/* The same of one that is counted only: what the look-up of its call site takes. */
static double calibrate_counted_ns(void) {
    enum { CALLS = 2000 };
    struct lc_thread *t = lc_self;
    if (t == NULL || t->counted_sites == NULL)
        return 0;
    uint64_t begin = lc_ticks();
    for (volatile int i = 0; i < CALLS; i++)
        if (lc_budget_find_site(t->counted_sites, LC_FN_COUNT, (uint64_t)i + 1) != NULL)
            break;
    return (double)(lc_ticks() - begin) * lc_timer.ns_per_tick / CALLS;
}

/* With lc_core.lock held. */
static void fill_steps(struct lc_meta_rank *own) {
    uint32_t n;
    const struct lc_budget_step *steps = lc_budget_steps(&n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < own->n_steps &&
               (own->steps[k].fn != steps[i].fn || own->steps[k].detail != steps[i].detail))
            k++;
        if (k == LC_META_STEPS) {
            own->steps_left_out++;
            continue;
        }
        if (k == own->n_steps)
            own->steps[own->n_steps++] =
                (struct lc_meta_step){.fn = steps[i].fn, .detail = steps[i].detail};
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
                if (rows[k].size_class < LC_RAW_CLASS_SAMPLES)
                    calls += rows[k].count;
            at = chunk->next;
        }
    return calls;
}

void lc_meta_rank_fill(struct lc_meta_rank *own) {
    memset(own, 0, sizeof *own);
    own->calls = count_calls();
    own->counted_ns = calibrate_counted_ns();
    double calibrated_ns = calibrate_ns();
    memcpy(own->host, lc_core.state->host, sizeof own->host);
    binding(own->cpus, sizeof own->cpus);
    own->busy_threads = count_busy_threads();
    own->ns_per_tick = lc_timer.ns_per_tick;
    own->tsc = lc_timer.tsc;
    own->pid = getpid();
    pthread_mutex_lock(&lc_core.lock);
    own->threads = (int32_t)lc_core.n_threads;
    own->lost = lc_threads_lost();
    own->paths = lc_core.counts;
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        lc_path_counts_add(&own->paths, &t->counts);
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        own->paths.counted += lc_budget_counted(t);
    for (const struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        if (t->samples_rarer > own->samples_rarer)
            own->samples_rarer = t->samples_rarer;
    fill_steps(own);
    lc_groups_get(&own->groups);
    const struct lc_path_counts *n = &own->paths;
    own->cost_ns = n->sampled_calls > 0
                       ? (double)n->call_ticks * lc_timer.ns_per_tick / (double)n->sampled_calls
                       : calibrated_ns;
    own->own_s = (double)own->paths.own_ticks * lc_timer.ns_per_tick * 1e-9;
    own->sampling_s = (double)own->paths.sampling_ticks * lc_timer.ns_per_tick * 1e-9;
    own->remade_s = (double)own->paths.remade_ticks * lc_timer.ns_per_tick * 1e-9;
    own->switches = lc_core.n_switches;
    pthread_mutex_unlock(&lc_core.lock);
    own->region_errors = atomic_load(&lc_core.n_region_errors);
    own->in_callbacks = atomic_load(&lc_core.n_in_callbacks);
    own->spawned = atomic_load(&lc_core.n_spawned);
    own->grid = lc_grid_largest();
    own->pcontrol_ignored = atomic_load(&lc_core.n_pcontrol_ignored);
    own->required_level = lc_core.required_level;
    own->provided_level = lc_core.provided_level;
}

static const char *level_name(int level) {
    return level == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
                                            : "MPI_THREAD_SINGLE";
}

static void put_versions(struct lc_strbuf *out) {
    if (LC_ALONE) {
        lc_strbuf_puts(out, "\"mpi_calls\": 0");
        return;
    }
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0, version = 0, subversion = 0;
    lc_real.Get_library_version(library, &length);
    lc_real.Get_version(&version, &subversion);
    library[strcspn(library, "\n")] = '\0';
    lc_strbuf_puts(out, "\"mpi\": ");
    lc_json_put(out, lc_core.state->mpi);
    lc_strbuf_puts(out, ", \"mpi_library_version\": ");
    lc_json_put(out, library);
    lc_strbuf_printf(out, ", \"mpi_standard\": \"%d.%d\"", version, subversion);
    lc_strbuf_printf(out, ", \"thread_level\": \"%s\", \"thread_level_required\": \"%s\"",
                     level_name(lc_core.provided_level), level_name(lc_core.required_level));
}

static void put_ranks(struct lc_strbuf *out, const struct lc_meta_rank *all, int n) {
    lc_strbuf_puts(out, ", \"hosts\": [");
    for (int i = 0; i < n; i++) {
        lc_strbuf_puts(out, i > 0 ? ", " : "");
        lc_json_put(out, all[i].host);
    }
    lc_strbuf_puts(out, "], \"binding\": [");
    for (int i = 0; i < n; i++) {
        lc_strbuf_puts(out, i > 0 ? ", " : "");
        lc_json_put(out, all[i].cpus);
    }
    lc_strbuf_puts(out, "], \"busy_threads\": [");
    for (int i = 0; i < n; i++)
        lc_strbuf_printf(out, "%s%u", i > 0 ? ", " : "", all[i].busy_threads);
    lc_strbuf_puts(out, "]");
}

static void put_coverage(struct lc_strbuf *out, const struct lc_meta_rank *sum) {
    lc_strbuf_printf(
        out, ", \"coverage\": {\"calls\": %llu, \"calls_lost\": %llu, \"bound_elsewhere\": ",
        (unsigned long long)sum->calls, (unsigned long long)sum->lost);
    lc_audit_text(out);
    lc_strbuf_printf(out,
                     ", \"calls_in_callbacks\": %llu, \"pcontrol_ignored\": %llu, "
                     "\"region_errors\": %llu, \"switches\": %llu, \"processes_spawned\": %llu}",
                     (unsigned long long)sum->in_callbacks,
                     (unsigned long long)sum->pcontrol_ignored,
                     (unsigned long long)sum->region_errors, (unsigned long long)sum->switches,
                     (unsigned long long)sum->spawned);
}

static void put_paths(struct lc_strbuf *out, const struct lc_meta_rank *sum) {
    static const char *const modes[] = {"unwind", "caller", "none"};
    const struct lc_path_counts *n = &sum->paths;
    lc_strbuf_printf(out,
                     ", \"callpath\": {\"mode\": \"%s\", \"unwinds\": %llu, "
                     "\"by_libunwind\": %llu, \"uncacheable\": %llu, \"recycled\": %llu",
                     modes[lc_core.callpath], (unsigned long long)n->unwinds,
                     (unsigned long long)n->by_libunwind, (unsigned long long)n->uncacheable,
                     (unsigned long long)n->recycled);
    if (n->recycled > 0)
        lc_strbuf_printf(out, ", \"made_again\": %llu, \"made_again_s\": %.9f",
                         (unsigned long long)n->remade, sum->remade_s);
    if (lc_core.check_paths)
        lc_strbuf_printf(out, ", \"checked\": %llu, \"frames_checked\": %llu, \"wrong\": %llu",
                         (unsigned long long)n->checked, (unsigned long long)n->walked,
                         (unsigned long long)n->wrong);
    if (*lc_python_unread() != '\0') {
        lc_strbuf_puts(out, ", \"python_unread\": ");
        lc_json_put(out, lc_python_unread());
    }
    lc_strbuf_putc(out, '}');
}

/* All ranks: largest numbers of one rank, and how many ranks. */
static uint32_t join_steps(const struct lc_meta_rank *all, int n, struct lc_meta_step *joined,
                           uint32_t *ranks) {
    uint32_t n_joined = 0;
    for (int i = 0; i < n; i++)
        for (uint32_t s = 0; s < all[i].n_steps; s++) {
            const struct lc_meta_step *step = &all[i].steps[s];
            uint32_t k = 0;
            while (k < n_joined && (joined[k].fn != step->fn || joined[k].detail != step->detail))
                k++;
            if (k == LC_META_STEPS)
                continue;
            if (k == n_joined) {
                joined[n_joined++] = *step;
                ranks[k] = 0;
            }
            joined[k].sites = step->sites > joined[k].sites ? step->sites : joined[k].sites;
            ranks[k]++;
        }
    return n_joined;
}

static void put_step_text(struct lc_strbuf *out, const struct lc_meta_step *step) {
    const char *name = lc_fn_names[step->fn];
    char text[256], sites[64];
    snprintf(sites, sizeof sites, "%llu call site%s of %s", (unsigned long long)step->sites,
             lc_plural((double)step->sites), name);
    if (step->detail == LC_DETAIL_CALLER)
        snprintf(text, sizeof text,
                 "%s: new call paths were not unwound, ... and the calling function stand for them",
                 sites);
    else
        snprintf(text, sizeof text,
                 "%s: calls were counted, not timed; their time is the calling function's", sites);
    lc_json_put(out, text);
}

static void put_samples_rarer(struct lc_strbuf *out, const struct lc_meta_rank *all, int n,
                              const char *before) {
    uint32_t most = 0, ranks = 0;
    char text[128];
    for (int i = 0; i < n; i++) {
        most = all[i].samples_rarer > most ? all[i].samples_rarer : most;
        ranks += all[i].samples_rarer > 0;
    }
    if (most == 0)
        return;
    snprintf(text, sizeof text, "samples between calls were taken up to %u times less often", most);
    lc_strbuf_printf(out, "%s{\"how\": \"rarer samples\", \"times\": %u, \"ranks\": %u, \"text\": ",
                     before, most, ranks);
    lc_json_put(out, text);
    lc_strbuf_putc(out, '}');
}

/* The end of "overhead": the budget, and what was left out to stay within it. */
static void put_budget(struct lc_strbuf *out, const struct lc_meta_rank *all, int n,
                       const struct lc_meta_rank *sum) {
    static const char *const how[] = {"", "caller", "counted"};
    struct lc_meta_step steps[LC_META_STEPS];
    uint32_t ranks[LC_META_STEPS], n_steps = join_steps(all, n, steps, ranks);
    if (lc_budget_share() > 0)
        lc_strbuf_printf(out, ", \"budget\": %.6g", lc_budget_share());
    bool rarer = false;
    for (int i = 0; i < n; i++)
        rarer = rarer || all[i].samples_rarer > 0;
    if (n_steps == 0 && !rarer) {
        lc_strbuf_putc(out, '}');
        return;
    }
    lc_strbuf_printf(out, ", \"calls_counted_only\": %llu, \"reduced\": [",
                     (unsigned long long)sum->paths.counted);
    for (uint32_t k = 0; k < n_steps; k++) {
        lc_strbuf_printf(out, "%s{\"function\": \"%s\", \"how\": \"%s\", \"call_sites\": %llu",
                         k > 0 ? ", " : "", lc_fn_names[steps[k].fn], how[steps[k].detail],
                         (unsigned long long)steps[k].sites);
        lc_strbuf_printf(out, ", \"ranks\": %u, \"text\": ", ranks[k]);
        put_step_text(out, &steps[k]);
        lc_strbuf_putc(out, '}');
    }
    put_samples_rarer(out, all, n, n_steps > 0 ? ", " : "");
    lc_strbuf_puts(out, "]}");
}

char *lc_meta_text(const struct lc_meta_rank *all, int n) {
    struct lc_strbuf out = {0};
    struct lc_meta_rank sum = {0};
    double cost_s = 0, rare_s = 0;
    for (int i = 0; i < n; i++) {
        sum.calls += all[i].calls;
        sum.lost += all[i].lost;
        lc_path_counts_add(&sum.paths, &all[i].paths);
        sum.remade_s += all[i].remade_s;
        sum.sampling_s += all[i].sampling_s;
        sum.region_errors += all[i].region_errors;
        sum.pcontrol_ignored += all[i].pcontrol_ignored;
        sum.in_callbacks += all[i].in_callbacks;
        sum.spawned += all[i].spawned;
        sum.switches += all[i].switches;
        cost_s += (double)(all[i].calls - all[i].paths.counted) * all[i].cost_ns * 1e-9 +
                  (double)all[i].paths.counted * all[i].counted_ns * 1e-9;
        rare_s += all[i].own_s;
    }
    lc_strbuf_puts(&out, "{");
    put_versions(&out);
    put_ranks(&out, all, n);
    put_coverage(&out, &sum);
    put_paths(&out, &sum);
    lc_strbuf_printf(&out,
                     ", \"overhead\": {\"call_ns\": %.1f, \"rare_s\": %.9f, \"sampling_s\": %.9f, "
                     "\"total_s\": %.9f",
                     all[0].cost_ns, rare_s - sum.sampling_s, sum.sampling_s, cost_s + rare_s);
    put_budget(&out, all, n, &sum);
    lc_strbuf_printf(&out, ", \"clock\": {\"source\": \"%s\", \"ns_per_tick\": %.9f}",
                     all[0].tsc ? "tsc" : "CLOCK_MONOTONIC_RAW", all[0].ns_per_tick);
    lc_omp_put_meta(&out);
    lc_grid_put(&out, &all[0].grid, n, sizeof *all);
    lc_groups_put(&out, &all[0].groups, n, sizeof *all);
    const char *clocks = lc_clocks_meta_text();
    if (clocks != NULL)
        lc_strbuf_printf(&out, ", %s", clocks);
    lc_strbuf_putc(&out, '}');
    if (!lc_strbuf_ok(&out)) {
        lc_strbuf_free(&out);
        return NULL;
    }
    return lc_strbuf_take(&out);
}
