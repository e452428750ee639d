#include "bench/harness/measure_job.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/stats.h"
#include "bench/categories.h"
#include "bench/dependent.h"
#include "bench/harness/message_operations.h"
#include "bench/harness/mock_ups.h"
#include "bench/harness/op_samples.h"
#include "bench/harness/probe_layers.h"
#include "bench/precise.h"

const char *const lc_bench_sync_names[LC_BENCH_SYNCS] = {"roundtime", "window", "barrier", "none"};

/* MOST_TRIES: repetitions tried per one wanted; TRIED: after so many, or a quarter of the time, of
 * which nearly all were invalid, another way of synchronising is taken. */
enum { BATCH = 32, PER_REP = 3, MOST_TRIES = 20, TRIED = 96, BROADCASTS = 30 };
#define LC_FLUSH_NS       250e6
#define LC_SHOWN_EVERY_NS 200e6
#define LC_STAT_EVERY_NS  1e8 /* how often /proc/stat is read: the kernel counts there by 10 ms */
#define LC_SLACK_MOST_NS  2e6

struct rep {
    uint64_t start_ticks, end_ticks, gap_ticks;
    int64_t start, end; /* global, ns */
    int64_t late;       /* 1: this rank was late at its first look, or ended after its window */
    int error;          /* of MPI */
    bool counted;
    int64_t before[LC_PART_COUNTERS], after[LC_PART_COUNTERS];
};

struct job {
    struct lc_harness *h;
    struct lc_op_data data;
    const struct lc_operation *op;
    const struct lc_job_options *options;
    enum lc_bench_sync sync;
    double broadcast_ns, slack, window_ns;
    uint64_t valid, invalid, tried, late_first, next_check; /* valid: without counters */
    double *runs; /* of valid ones, ns: all ranks have them */
    size_t room;
    double begin, flushed, shown, stat; /* global time, ns */
    double telling_ns;                  /* how long it took to tell: sorting all run times */
    struct lc_clock_checked checked;
    const char *stopped;
    uint64_t put;      /* repetitions that are in the part, of both kinds */
    double typical_ns; /* of the last batch: the median of this rank's own times */
    bool lacking;      /* this MPI says that it does not have the operation */
    uint64_t begun;    /* repetitions since the first, also invalid ones */
    struct rep batch[BATCH];
};

/* What rank 0 decides before each batch. */
enum { WORD_STOP, WORD_SYNC, WORD_SLACK, WORD_WINDOW, WORD_START, WORD_STAT, WORDS };
enum { GO_ON, STOP_REPS, STOP_PRECISION, STOP_TIME, STOP_INTERRUPTED };
static const char *const reasons[] = {"", "repetitions", "precision", "time", "interrupted"};

/* Where all ranks fail alike, one of them says so: the first to leave its exit code, and with it
 * what happened, which the command tells (a launcher that aborts may lose what ranks have written);
 * each where no command waits for it. */
static void speak_for_all(const struct lc_harness *h, const char *what) {
    struct stat info;
    char text[1024];
    int fd = h->status[0] != '\0' ? open(h->status, O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        lc_complain("%s", what);
        return;
    }
    if (flock(fd, LOCK_EX) != 0 || fstat(fd, &info) != 0 || info.st_size == 0) {
        int length = snprintf(text, sizeof text, "%c%s", 1, what);
        (void)!write(fd, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
    }
    close(fd); /* and the lock is gone */
}

void lc_harness_abort(struct lc_harness *h, const char *what) {
    speak_for_all(h, what);
    (void)lc_part_flush(&h->part);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void lc_harness_tell(const struct lc_harness *h, char code) {
    int fd = h->status[0] != '\0' ? open(h->status, O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)!write(fd, &code, 1);
        close(fd);
    }
}

static double now_global(const struct lc_harness *h) {
    return lc_clock_global(&h->clock, lc_ticks());
}

/* How long the start of a repetition takes to be known everywhere: median of the slowest rank. */
static double measure_broadcast(const struct lc_harness *h) {
    double times[BROADCASTS];
    for (int i = 0; i < BROADCASTS; i++) {
        int64_t sent = (int64_t)now_global(h), passed;
        lc_own_broadcast(&h->own, &sent, 1);
        passed = (int64_t)now_global(h) - sent;
        lc_own_maximum(&h->own, &passed, 1);
        times[i] = (double)passed;
    }
    lc_stats_sort(times, BROADCASTS);
    return fmax(lc_stats_quantile_sorted(times, BROADCASTS, 0.5), 200);
}

/* Spins until the global time; false: it was over at the first look. Where cores are shared, the
 * core is given away as long as there is time. */
static bool spin_until(const struct lc_harness *h, int64_t start, uint64_t *gap) {
    const int64_t near = (int64_t)(20000 / h->clock.ns_per_tick);
    uint64_t target = lc_clock_ticks_at(&h->clock, (double)start), last = lc_ticks();
    if ((int64_t)(target - last) <= 0)
        return false;
    for (;;) {
        uint64_t now = lc_ticks();
        *gap = now - last > *gap ? now - last : *gap;
        last = now;
        int64_t left = (int64_t)(target - now);
        if (left <= 0)
            break;
        if (h->oversubscribed && left > near) {
            sched_yield();
            last = lc_ticks();
        }
    }
    return true;
}

static void check_mpi(struct job *j, int error) {
    char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 160];
    int length, class;
    if (error == MPI_SUCCESS)
        return;
    MPI_Error_class(error, &class);
    j->lacking = class == MPI_ERR_UNSUPPORTED_OPERATION && j->valid == 0;
    if (j->lacking) /* on all ranks alike */
        return;
    MPI_Error_string(error, text, &length);
    text[strcspn(text, "\n")] = '\0';
    snprintf(line, sizeof line, "bench: %s: rank %d: %s: what was measured so far is kept",
             j->op->name, j->h->own.rank, text);
    lc_harness_abort(j->h, line);
}

/* Probes are switched on before the spin; where there is none, a store is all that is between the
 * start and the call. */
static void synchronise(struct job *j, struct rep *r, int k, const int64_t *words) {
    struct lc_harness *h = j->h;
    int64_t start;
    switch (j->sync) {
    case LC_SYNC_ROUNDTIME:
        start = (int64_t)(now_global(h) + 3 * j->broadcast_ns * j->slack);
        lc_own_broadcast(&h->own, &start, 1);
        lc_probe_layers_begin();
        r->late = !spin_until(h, start, &r->gap_ticks);
        break;
    case LC_SYNC_WINDOW:
        start = words[WORD_START] + (int64_t)(k * j->window_ns);
        lc_probe_layers_begin();
        r->late = !spin_until(h, start, &r->gap_ticks);
        break;
    case LC_SYNC_BARRIER:
        lc_own_barrier(&h->own);
        lc_probe_layers_begin();
        break;
    default:
        lc_probe_layers_begin();
        break;
    }
}

/* All that happens between the synchronised start and the call stands here. */
static void run_once(struct job *j, struct rep *r) {
    if (r->counted) {
        lc_rep_counters_begin(&j->h->counters);
        lc_rep_counters_read(&j->h->counters, r->before);
        lc_op_samples_arm((int)(r - j->batch), j->typical_ns);
    }
    r->start_ticks = lc_ticks();
    r->error = j->op->run(&j->data);
    r->end_ticks = lc_ticks();
    if (r->counted) {
        lc_op_samples_disarm();
        lc_rep_counters_read(&j->h->counters, r->after);
    }
}

static void end_rep(struct job *j, struct rep *r) {
    lc_probe_layers_end(r->after + j->h->counters.n_read);
    r->start = (int64_t)lc_clock_global(&j->h->clock, r->start_ticks);
    r->end = (int64_t)lc_clock_global(&j->h->clock, r->end_ticks);
    check_mpi(j, r->error);
}

static uint32_t counted_every(const struct job *j) {
    return j->h->counters.n_read > 0 || lc_op_samples_on() ? j->options->every : 0;
}

/* The last of each so many, so that the first repetition has none. */
static bool is_counted(const struct job *j) {
    uint32_t every = counted_every(j);
    return every > 0 && j->begun % every == every - 1;
}

static void run_batch(struct job *j, const int64_t *words) {
    lc_op_samples_clear();
    for (int k = 0; k < BATCH; k++, j->begun++) {
        struct rep *r = &j->batch[k];
        r->late = 0;
        r->gap_ticks = 0;
        r->counted = is_counted(j);
        lc_probe_layers_clear();
        synchronise(j, r, k, words);
        run_once(j, r);
        end_rep(j, r);
        if (j->sync == LC_SYNC_WINDOW &&
            r->end > words[WORD_START] + (int64_t)((k + 1) * j->window_ns))
            r->late = 1;
    }
}

static void put_rep(struct job *j, const struct rep *r) {
    const struct lc_rep_counters *c = &j->h->counters;
    int64_t values[LC_REP_COUNTERS + LC_PART_COUNTERS] = {r->start, r->end, r->counted};
    int64_t *counters = values + LC_REP_COUNTERS;
    for (unsigned i = 0; i < c->n_read && r->counted; i++)
        counters[i] = r->after[i] - (c->kind[i] == LC_COUNTER_GROWTH ? r->before[i] : 0);
    for (unsigned i = c->n_read; i < c->n; i++)
        counters[i] = r->after[i];
    if (c->gap)
        counters[c->gap_place] = (int64_t)((double)r->gap_ticks * j->h->clock.ns_per_tick);
    if (lc_part_put(&j->h->part, LC_PART_REPS, values,
                    (LC_REP_COUNTERS + c->n) * sizeof values[0]) != LC_OK ||
        lc_op_samples_put(&j->h->part, (int)(r - j->batch), (int64_t)j->put++) != LC_OK)
        lc_harness_abort(j->h, lc_err_text());
}

static void note_typical(struct job *j) {
    double times[BATCH];
    for (int k = 0; k < BATCH; k++)
        times[k] = (double)(j->batch[k].end - j->batch[k].start);
    lc_stats_sort(times, BATCH);
    j->typical_ns = times[BATCH / 2];
}

/* All ranks learn of each repetition when the first began, when the last ended, how long the
 * slowest took and whether any was late; of interruptions, too. */
static bool agree(struct job *j) {
    int64_t all[BATCH * (PER_REP + 1) + 1];
    for (int k = 0; k < BATCH; k++) {
        const struct rep *r = &j->batch[k];
        all[4 * k] = r->end;
        all[4 * k + 1] = -r->start;
        all[4 * k + 2] = r->end - r->start;
        all[4 * k + 3] = r->late;
    }
    all[BATCH * (PER_REP + 1)] = *j->h->interrupted != 0;
    lc_own_maximum(&j->h->own, all, BATCH * (PER_REP + 1) + 1);
    bool global = j->sync == LC_SYNC_ROUNDTIME || j->sync == LC_SYNC_WINDOW;
    for (int k = 0; k < BATCH && !j->lacking && j->valid < j->options->reps; k++) {
        j->tried++;
        j->invalid += all[4 * k + 3] != 0;
        if (all[4 * k + 3] != 0)
            continue;
        if (j->put == 0)
            j->late_first = j->tried - 1;
        put_rep(j, &j->batch[k]);
        if (j->batch[k].counted)
            continue;
        if (lc_reserve(&j->runs, &j->room, j->valid + 1, sizeof j->runs[0]) != LC_OK)
            lc_harness_abort(j->h, lc_err_text());
        j->runs[j->valid++] = (double)(global ? all[4 * k] + all[4 * k + 1] : all[4 * k + 2]);
    }
    return all[BATCH * (PER_REP + 1)] != 0;
}

static bool is_precise(struct job *j) {
    bool enough;
    if (j->options->precision <= 0 || j->valid < j->next_check)
        return false;
    j->next_check = j->valid + j->valid / 4;
    return lc_precise_enough(j->runs, j->valid, j->options->precision, &enough) == LC_OK && enough;
}

/* Rank 0: more room if many were late; another way if it is hopeless (more ranks than cores). */
static void adapt(struct job *j, uint64_t invalid_before, int64_t *words) {
    double share = (double)(j->invalid - invalid_before) / BATCH;
    if (share > 0.25) {
        j->slack = fmin(2 * j->slack, fmax(1, LC_SLACK_MOST_NS / (3 * j->broadcast_ns)));
        j->window_ns *= 2;
    }
    bool tried = j->tried >= TRIED || now_global(j->h) - j->begin > j->options->seconds * 0.25e9;
    bool hopeless = tried && (double)j->invalid > 0.9 * (double)j->tried;
    words[WORD_SYNC] = hopeless ? LC_SYNC_BARRIER : (int64_t)j->sync;
    words[WORD_SLACK] = (int64_t)(j->slack * 1000);
    words[WORD_WINDOW] = (int64_t)j->window_ns;
}

static int64_t reason_to_stop(struct job *j, bool interrupted) {
    double passed = now_global(j->h) - j->begin;
    return interrupted                                 ? STOP_INTERRUPTED
           : j->valid >= j->options->reps              ? STOP_REPS
           : is_precise(j)                             ? STOP_PRECISION
           : passed > j->options->seconds * 1e9        ? STOP_TIME
           : j->tried >= MOST_TRIES * j->options->reps ? STOP_TIME
                                                       : GO_ON;
}

static void show_progress(struct job *j, bool last) {
    double now = now_global(j->h);
    double pause = fmax(LC_SHOWN_EVERY_NS, 20 * j->telling_ns);
    if (!j->options->progress || j->h->own.rank != 0 || (!last && now - j->shown < pause))
        return;
    j->shown = now;
    double median = 0;
    struct lc_quantile_interval q;
    if (j->valid > 0 && lc_dependent_quantile(j->runs, j->valid, 0.5, &q) == LC_OK)
        median = q.value;
    struct lc_strbuf phase = {0};
    if (lc_phase_so_far(j->runs, j->valid, median, &phase) != LC_OK)
        lc_strbuf_clear(&phase);
    fprintf(stderr,
            "latecomer: %s %d bytes: %llu repetitions, median %.4g us, %.0f %% invalid, %s, "
            "%s%s%s%c",
            j->op->name, j->data.n, (unsigned long long)j->valid, median / 1e3,
            j->tried > 0 ? 100.0 * (double)j->invalid / (double)j->tried : 0.0,
            lc_strbuf_get(&phase), lc_bench_sync_names[j->sync], last ? ", ended by " : "",
            j->stopped, last ? '\n' : '\r');
    lc_strbuf_free(&phase);
    j->telling_ns = now_global(j->h) - now;
}

/* Of this job, after its head. */
static void put_fact(struct job *j, const char *key, const char *value) {
    if (lc_part_fact(&j->h->part, "benchmark", key, value) != LC_OK)
        lc_harness_abort(j->h, lc_err_text());
}

static void write_head(struct job *j, const char *name, const char *sync, bool global) {
    const struct lc_rep_counters *c = &j->h->counters;
    struct lc_part_job head = {.bytes = (uint64_t)j->data.n,
                               .n_counters = c->n,
                               .global = global,
                               .every = counted_every(j),
                               .n_read = c->n_read};
    snprintf(head.operation, sizeof head.operation, "%s", name);
    snprintf(head.sync, sizeof head.sync, "%s", sync);
    memcpy(head.counter, c->name, sizeof head.counter);
    memcpy(head.kind, c->kind, sizeof head.kind);
    if (lc_part_put(&j->h->part, LC_PART_JOB, &head, sizeof head) != LC_OK)
        lc_harness_abort(j->h, lc_err_text());
    put_fact(j, "type", "MPI_BYTE");
    if (strstr(name, "educe") != NULL || strstr(name, "ccumulate") != NULL ||
        strstr(name, "scan") != NULL || strstr(name, "Scan") != NULL)
        put_fact(j, "operator", "MPI_BOR");
    if (j->data.compute_ns > 0) {
        char text[32];
        snprintf(text, sizeof text, "%.0f", j->data.compute_ns);
        put_fact(j, "overlap_compute_ns", text);
    }
}

/* `whole` alike on all ranks: their windows are the same then. */
static void put_load(struct job *j, bool whole) {
    struct lc_part_load load;
    if (whole)
        j->stat = now_global(j->h);
    lc_load_read(&j->h->load, now_global(j->h), whole, &load);
    if (lc_part_put(&j->h->part, LC_PART_LOAD, &load, sizeof load) != LC_OK)
        lc_harness_abort(j->h, lc_err_text());
}

static void flush(struct job *j, bool now) {
    double time = now_global(j->h);
    if (!now && time - j->flushed < LC_FLUSH_NS)
        return;
    j->flushed = time;
    if (lc_part_flush(&j->h->part) != LC_OK)
        lc_harness_abort(j->h, lc_err_text());
}

/* Everything again from the first repetition on. */
static void change_sync(struct job *j, enum lc_bench_sync sync, const char *name) {
    j->sync = sync;
    j->valid = j->begun = j->put = 0;
    lc_op_samples_begin();
    write_head(j, name, lc_bench_sync_names[sync], sync < LC_SYNC_BARRIER);
    put_load(j, true);
}

static void measure(struct job *j, const char *name) {
    int64_t words[WORDS] = {GO_ON, j->sync, 1000, (int64_t)j->window_ns, 0, 0};
    for (bool interrupted = false;;) {
        words[WORD_STOP] = reason_to_stop(j, interrupted);
        words[WORD_STAT] = now_global(j->h) - j->stat > LC_STAT_EVERY_NS;
        words[WORD_START] = (int64_t)(now_global(j->h) + 4 * j->broadcast_ns * j->slack);
        lc_own_broadcast(&j->h->own, words, WORDS);
        if (words[WORD_STOP] != GO_ON)
            break;
        if (words[WORD_SYNC] != (int64_t)j->sync)
            change_sync(j, (enum lc_bench_sync)words[WORD_SYNC], name);
        j->slack = (double)words[WORD_SLACK] / 1000;
        j->window_ns = (double)words[WORD_WINDOW];
        uint64_t before = j->invalid;
        run_batch(j, words);
        interrupted = agree(j);
        note_typical(j);
        if (j->lacking)
            return;
        put_load(j, words[WORD_STAT] != 0);
        adapt(j, before, words);
        flush(j, false);
        show_progress(j, false);
    }
    j->stopped = reasons[words[WORD_STOP]];
}

/* Tests with bent clocks: the true error of corrected times and its bound. */
static void put_truth(struct job *j, double truth, double bound) {
    char text[64];
    snprintf(text, sizeof text, "%.1f %.1f", truth, bound);
    if (lc_part_fact(&j->h->part, "truth", "error_and_bound_ns", text) != LC_OK)
        lc_harness_abort(j->h, lc_err_text());
}

static void finish(struct job *j) {
    struct lc_part_end end = {.invalid = j->invalid,
                              .tried = j->tried,
                              .late_first = j->late_first,
                              .broadcast_ns = j->broadcast_ns,
                              .window_ns = j->sync == LC_SYNC_WINDOW ? j->window_ns : 0};
    struct lc_clock_checked again;
    snprintf(end.stopped, sizeof end.stopped, "%s", j->stopped);
    put_load(j, true);
    lc_clock_check(&j->h->clock, &again);
    end.begun_ns = j->checked.at_ns;
    end.begun_residual_ns = j->checked.residual_ns;
    end.ended_ns = again.at_ns;
    end.residual_ns = again.residual_ns;
    end.error_ns = fmax(again.error_ns, j->checked.error_ns);
    end.model_error_ns = lc_clock_error(&j->h->clock, again.at_ns);
    end.probes = lc_probe_layers_faults();
    if (j->options->truth)
        put_truth(j, fmax(fabs(j->checked.truth_ns), fabs(again.truth_ns)), end.error_ns);
    if (lc_part_put(&j->h->part, LC_PART_END, &end, sizeof end) != LC_OK)
        lc_harness_abort(j->h, lc_err_text());
    flush(j, true);
    show_progress(j, true);
}

/* Overlap: computes as long as the operation takes alone, the median of some runs. */
static void prepare_overlap(struct job *j) {
    double times[BROADCASTS];
    for (int i = 0; i < BROADCASTS; i++) {
        struct rep r = {.counted = false};
        lc_own_barrier(&j->h->own);
        run_once(j, &r);
        end_rep(j, &r);
        int64_t took = r.end - r.start;
        lc_own_maximum(&j->h->own, &took, 1);
        times[i] = (double)took;
    }
    lc_stats_sort(times, BROADCASTS);
    j->data.compute_ns = lc_stats_quantile_sorted(times, BROADCASTS, 0.5);
}

static const char lacks[] = "this MPI does not have it";

/* Why it cannot be measured, or NULL: the library in this process may be another one than that of
 * the build. Collective. */
static const char *why_not(const struct lc_harness *h, const char *operation) {
    char name[LC_PART_NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(operation, "+"), operation);
    int members;
    MPI_Comm_size(h->comm, &members);
    int64_t found[] = {strncmp(name, "MPI_", 4) == 0 && strchr(name, '~') == NULL &&
                           dlsym(RTLD_DEFAULT, name) == NULL,
                       members};
    lc_own_maximum(&h->own, found, 2);
    return found[0] != 0 ? lacks
           : found[1] < 2 && lc_op_is_of_two(lc_operation_find(operation)->run)
               ? "it takes two ranks"
               : NULL;
}

static void leave_out(const struct lc_harness *h, const char *operation, const char *why) {
    if (h->own.rank == 0)
        lc_complain("bench: %s: left out: %s", operation, why);
}

enum lc_err lc_measure_job(struct lc_harness *h, const char *operation, uint64_t bytes,
                           const struct lc_job_options *options, enum lc_measured_end *end) {
    struct job *j;
    const char *why = why_not(h, operation);
    if (why != NULL) {
        leave_out(h, operation, why);
        *end = LC_JOB_LACKING;
        return LC_OK;
    }
    LC_TRY(lc_alloc(&j, 1, sizeof *j));
    j->h = h;
    j->options = options;
    j->op = lc_operation_find(operation);
    j->sync = options->sync;
    j->slack = 1;
    j->stopped = "";
    enum lc_err err =
        lc_op_data_new(&j->data, h->comm, bytes, lc_operation_room(operation), options->root);
    if (err != LC_OK) {
        free(j);
        return err;
    }
    j->data.in_place = options->in_place && j->op->in_place;
    if (j->op->window != LC_OP_NO_WINDOW)
        check_mpi(j, lc_op_window_new(&j->data, j->op->window));
    lc_clock_check(&h->clock, &j->checked);
    j->broadcast_ns = measure_broadcast(h);
    j->window_ns = 10 * j->broadcast_ns;
    if (strchr(operation, '+') != NULL)
        prepare_overlap(j);
    (void)lc_probe_layers_faults(); /* those before this job */
    j->begin = now_global(h);
    j->typical_ns = j->broadcast_ns;
    lc_op_samples_begin();
    size_t before = h->part.n;
    write_head(j, operation, lc_bench_sync_names[j->sync], j->sync < LC_SYNC_BARRIER);
    put_load(j, true);
    if (!j->lacking)
        measure(j, operation);
    if (j->lacking) {
        leave_out(h, operation, lacks);
        h->part.n = before; /* nothing of it was written to the file yet */
    } else {
        finish(j);
    }
    *end = j->lacking                               ? LC_JOB_LACKING
           : strcmp(j->stopped, "interrupted") == 0 ? LC_JOB_INTERRUPTED
                                                    : LC_JOB_DONE;
    lc_op_data_free(&j->data);
    free(j->runs);
    free(j);
    return LC_OK;
}
