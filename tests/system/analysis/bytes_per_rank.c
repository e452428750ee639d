/* How much memory an analysis of root causes takes on each of its ranks, by count of the bytes that
 * are allocated, not by pages: the same on every run but for what MPI allocates for itself.
 *
 *   mpirun -n N bytes_per_rank DIR       one line of JSON for DIR/traces.otf2:
 *
 * {"events", "wait_states": of all ranks, "ranks"; of each phase ("events": reading and finding
 * wait states, "root_causes": delay costs, chains and critical path, "gains": their replays)
 * "PHASE_bytes": what it needs at most at one time beyond what was there before, a number per rank,
 * and "PHASE_seconds"; "held_bytes": what is kept of the events; "forecast_bytes": what the
 * analysis says that root causes and gains need} */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/chains.h"
#include "analyze/critical_path.h"
#include "analyze/forecast.h"
#include "analyze/gains.h"
#include "analyze/health.h"
#include "analyze/read.h"
#include "analyze/results.h"
#include "analyze/waits.h"

/* glibc's own allocator, behind the functions that count. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void __libc_free(void *old);

static _Atomic int64_t live, peak;

static void *count(void *block) {
    int64_t now = atomic_fetch_add(&live, (int64_t)malloc_usable_size(block)) +
                  (int64_t)malloc_usable_size(block);
    int64_t most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        ;
    return block;
}

void *malloc(size_t bytes) {
    return count(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t bytes) {
    return count(__libc_calloc(n, bytes));
}

/* Both blocks exist while one is copied into the other; where the block only grows they do not. */
void *realloc(void *old, size_t bytes) {
    int64_t before = (int64_t)malloc_usable_size(old);
    void *block = __libc_realloc(old, bytes);
    if (block != NULL || bytes == 0)
        atomic_fetch_sub(&live, before);
    return block != NULL ? count(block) : NULL;
}

void free(void *old) {
    atomic_fetch_sub(&live, (int64_t)malloc_usable_size(old));
    __libc_free(old);
}

enum phase { EVENTS, ROOT_CAUSES, GAINS, PHASES };
static const char *const names[PHASES] = {"events", "root_causes", "gains"};

struct measured {
    int64_t bytes[PHASES], ns[PHASES], held, forecast;
};

static void check(enum lc_err err) {
    if (err != LC_OK) {
        fprintf(stderr, "bytes_per_rank: %s\n", lc_err_text());
        lc_transport_abort(1);
    }
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A phase has ended (-1: none yet), and the next begins. */
static void mark(struct measured *m, const struct lc_transport *comm, int ended) {
    static int64_t begin_bytes, begin_ns;
    int64_t most = atomic_load(&peak), together = 0;
    lc_transport_allreduce_i64(comm, &together, 1, LC_OP_SUM);
    if (ended >= 0) {
        m->bytes[ended] = most - begin_bytes;
        m->ns[ended] = now_ns() - begin_ns;
    }
    if (ended == EVENTS)
        m->held = atomic_load(&live) - begin_bytes;
    begin_bytes = atomic_load(&live);
    atomic_store(&peak, begin_bytes);
    begin_ns = now_ns();
}

static void find_root_causes(struct lc_timelines *lines, struct lc_costs *costs,
                             struct lc_gain_causes *causes, struct lc_critical_path *path) {
    struct lc_delay delay;
    struct lc_long_term long_term;
    struct lc_strbuf json = {0};
    check(lc_delay_run(&delay, lines, costs));
    check(lc_long_term_run(&long_term, &delay));
    check(lc_chains_run(&json, &delay, &long_term));
    lc_long_term_free(&long_term);
    lc_strbuf_free(&json);
    check(lc_gains_choose(costs, causes));
    lc_delay_free_intervals(&delay);
    lc_delay_free(&delay);
    check(lc_path_find(path, lines, false));
}

/* The number at this place in what each rank has measured. */
static void print_list(const char *name, const int64_t *first, uint32_t n_ranks) {
    const size_t stride = sizeof(struct measured) / sizeof *first;
    printf(", \"%s_bytes\": [", name);
    for (uint32_t r = 0; r < n_ranks; r++)
        printf("%s%lld", r > 0 ? ", " : "", (long long)first[r * stride]);
    printf("]");
}

static void print(const struct lc_transport *comm, const struct lc_trace *trace,
                  const struct measured *all, uint64_t n_states) {
    printf("{\"events\": %llu, \"wait_states\": %llu, \"ranks\": %u",
           (unsigned long long)trace->n_events, (unsigned long long)n_states, comm->size);
    for (int phase = 0; phase < PHASES; phase++) {
        int64_t ns = 0;
        for (uint32_t r = 0; r < comm->size; r++)
            ns = all[r].ns[phase] > ns ? all[r].ns[phase] : ns;
        print_list(names[phase], &all->bytes[phase], comm->size);
        printf(", \"%s_seconds\": %.6f", names[phase], (double)ns / 1e9);
    }
    print_list("held", &all->held, comm->size);
    print_list("forecast", &all->forecast, comm->size);
    printf("}\n");
}

int main(int argc, char **argv) {
    struct lc_transport comm;
    struct lc_health health;
    struct lc_trace *trace = NULL;
    struct lc_timelines *lines = NULL;
    struct lc_costs costs;
    struct lc_gain_causes causes;
    struct lc_critical_path path;
    struct measured m = {0}, *all = NULL;
    char archive[4096];
    size_t bytes;
    lc_transport_init(&comm, &argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: bytes_per_rank DIR\n");
        lc_transport_abort(2);
    }
    snprintf(archive, sizeof archive, "%s/traces.otf2", argv[1]);
    lc_health_init(&health);
    mark(&m, &comm, -1);
    check(lc_trace_read(&trace, &comm, archive, &health, NULL));
    check(lc_results_new(&trace->results));
    check(lc_waits_find(trace));
    mark(&m, &comm, EVENTS);
    uint64_t forecast;
    check(lc_forecast_root_causes(trace, &forecast));
    m.forecast = (int64_t)forecast;
    check(lc_timelines_new(&lines, trace));
    check(lc_costs_new(&costs, lines));
    find_root_causes(lines, &costs, &causes, &path);
    mark(&m, &comm, ROOT_CAUSES);
    json_t *root = json_object();
    check(lc_gains_run(lines, &causes, root));
    json_decref(root);
    mark(&m, &comm, GAINS);
    check(lc_transport_gather(&comm, &m, sizeof m, (void **)&all, &bytes, NULL));
    if (comm.rank == 0)
        print(&comm, trace, all, lines->first_state[trace->n_locations]);
    free(all);
    lc_path_free(&path);
    lc_costs_free(&costs);
    lc_timelines_free(lines);
    lc_results_free(trace->results);
    lc_trace_free(trace);
    lc_transport_finalize(&comm);
    return 0;
}
