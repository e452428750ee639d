/* One row per kind: what is said, what to do about it, from when on it is worth saying. */
#include "report/finding_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/units.h"

static const struct lc_finding_kind kinds[] = {
    [LC_LATE_RANK] = {"late_rank",
                      "{ranks} is late: others wait {severity} for {it} ({share} of all time)",
                      "Find out why this rank takes longer there: more work than the others, a "
                      "slower core, or something that only it does; or give it less work.",
                      0.01, false},
    [LC_IMBALANCE] = {"imbalance", "{ranks}: others wait {severity} ({share} of all time)",
                      "Spread the work of this code evenly, in each iteration and not only in "
                      "total, or let ranks continue without waiting for the last one.",
                      0.01, false},
    [LC_SERIALISATION_CHAIN] = {"serialisation_chain", "ranks run this one after another: {detail}",
                                "Let ranks start on parts of the work before the one ahead is done "
                                "(pipelining), or break the chain of dependences.",
                                0.02, false},
    [LC_PIPELINE] = {"pipeline",
                     "ranks wait in turn for messages sent after this: {severity} ({share} of "
                     "all time), a pipeline that fills and empties",
                     "Send smaller parts earlier, so that the pipeline fills sooner, let more work "
                     "pass through it each time, or give ranks other work meanwhile.",
                     0.02, false},
    [LC_PARTITION_LIMITS] =
        {"partition_limits",
         "{detail}; the other ranks wait {severity} for it ({share} of all time)",
         "Give this partition more ranks and the others fewer, or shift work from it to the "
         "others; "
         "or make it faster where it is on the critical path.",
         0.01, true},
    [LC_MASTER_LIMITS] =
        {"master_limits",
         "{ranks} alone {detail}, and the others wait {severity} for it ({share} of all time)",
         "Let it do less itself: give work to the others in larger pieces, ahead of time, or by "
         "several masters; run in parallel what it does alone.",
         0.01, true},
    [LC_NO_WORK] = {"no_work", "no work for {ranks}: {severity} of waiting ({share} of all time)",
                    "Run on fewer ranks, or divide the work so that these get a part of it.", 0.01,
                    true},
    [LC_LATE_RECEIVER] = {"late_receiver",
                          "sends wait {severity} ({share} of all time) for late receives",
                          "Post receives earlier (MPI_Irecv before the work), or send with "
                          "MPI_Isend and complete it later.",
                          0.02, false},
    [LC_PREEMPTED] = {"preempted",
                      "{ranks} lost the processor to other threads for {severity} ({share} of all "
                      "time){detail}",
                      "The code is not slow there: give each rank and thread a core of its own "
                      "(binding, fewer threads), and keep other programs off these cores.",
                      0.01, false},
    [LC_MPI_COST] = {"mpi_cost", "MPI itself takes {severity} ({share} of all time): {detail}",
                     "Call it less often or with less data, or overlap it with work; check the "
                     "network and the settings of the MPI library.",
                     0.05, false},
    [LC_MANY_SMALL_MESSAGES] = {"many_small_messages",
                                "{detail} cost {severity} ({share} of all time)",
                                "Combine them into fewer, larger messages.", 0.02, false},
    [LC_UNFINISHED_CALL] =
        {"unfinished_call",
         "{ranks} had called {detail}: {severity} ({share} of all time) until then",
         "Find out what the call waits for: a message that nobody sends, a collective that a rank "
         "does not come to; or whether it would have returned, had the run not ended.",
         0.01, false},
    [LC_THREAD_IMBALANCE] = {"thread_imbalance",
                             "threads of a team wait {severity} ({share} of all time) for {detail}",
                             "Spread the work evenly over the threads (another loop schedule, "
                             "smaller tasks), or let them continue without a barrier (nowait).",
                             0.01, false},
    [LC_SERIAL_PART] = {"serial_part",
                        "threads are idle for {severity} ({bounds}{share} of all time), while "
                        "{detail} is outside parallel regions",
                        "Run it in a parallel region as well, or give the other threads something "
                        "else to do meanwhile.",
                        0.01, false},
    [LC_LIMITED_PARALLELISM] = {"limited_parallelism",
                                "threads are idle for {severity} ({share} of all time), while some "
                                "regions have fewer threads than others",
                                "Give these regions as many threads as the others (num_threads, "
                                "if clauses).",
                                0.01, false},
    [LC_LOCK_CONTENTION] = {"lock_contention",
                            "threads wait {severity} ({share} of all time) for {detail}",
                            "Hold the lock for less time, or use one lock per part of the data.",
                            0.01, false},
    [LC_TASK_SCHEDULING] = {"task_scheduling", "tasks wait for threads: {detail}",
                            "Create long chains of tasks first, or make tasks smaller.", 0.01,
                            false},
    [LC_VARIABILITY] = {"variability", "iterations differ: {detail}",
                        "Look at what else the slow iterations do (output, remapping), or what "
                        "else ran on the machine.",
                        0.0, false},
    [LC_BOUND_NARROWLY] = {"bound_narrowly", "{ranks} has too few cores: {detail}",
                           "Give each rank a core per thread (Open MPI: --map-by slot:PE=N; Slurm: "
                           "-c N).",
                           0.0, false},
    [LC_OVERSUBSCRIBED] =
        {"oversubscribed",
         "{detail}: {severity} in MPI ({share} of all time) may be waiting for a core",
         "Run on as many cores as there are ranks and threads, and measure again.", 0.02, false},
    [LC_UNMEASURED_PROCESSES] =
        {"unmeasured_processes",
         "{detail}: {severity} in MPI ({share} of all time) may be waiting for what they do",
         "Start all processes with mpirun, where the program can do so (of mpi4py.futures: mpirun "
         "-n N python3 -m mpi4py.futures PROGRAM): who waits for whom is measured within one "
         "MPI_COMM_WORLD. For results of their own, spawn latecomer run PROGRAM.",
         0.02, false},
    [LC_CLOCK_VIOLATIONS] = {"clock_violations", "clocks disagree: {detail}",
                             "Waits shorter than that are uncertain; `analyze "
                             "--time-correct=on` corrects traces.",
                             0.0, false},
    [LC_INCOMPLETE] = {"incomplete", "the measurement is incomplete: {detail}",
                       "All numbers refer to the part that was measured.", 0.0, false},
};

struct lc_finding lc_finding_begin(enum lc_finding_id id) {
    return (struct lc_finding){.kind = &kinds[id],
                               .severity_s = NAN,
                               .share = NAN,
                               .severity_low_s = NAN,
                               .severity_high_s = NAN,
                               .least_s = NAN,
                               .indirect_s = NAN,
                               .named_s = NAN,
                               .gain_s = NAN,
                               .gain_low_s = NAN,
                               .gain_high_s = NAN,
                               .order_s = NAN,
                               .path = LC_NONE,
                               .replayed_path = LC_NONE,
                               .because_path = LC_NONE,
                               .because_rank = -1,
                               .thread = -1,
                               .evidence_path = LC_NONE};
}

const char *lc_certainty_name(enum lc_certainty certainty) {
    static const char *const names[] = {"measured", "exact from trace", "estimated"};
    return names[certainty];
}

/* "rank 3"; of imbalance "ranks 0 and 2 are late". */
static void put_ranks(struct lc_strbuf *out, const struct lc_finding *finding) {
    size_t shown = finding->n_ranks < LC_FINDING_RANKS ? finding->n_ranks : LC_FINDING_RANKS;
    bool several = finding->kind == &kinds[LC_IMBALANCE];
    if (finding->n_ranks == 0)
        lc_strbuf_puts(out, finding->one_thread    ? "the program"
                            : finding->one_process ? "threads"
                                                   : "all ranks");
    for (size_t i = 0; i < shown; i++)
        lc_strbuf_printf(out, "%s%d",
                         i > 0                   ? (i + 1 == finding->n_ranks ? " and " : ", ")
                         : finding->n_ranks == 1 ? "rank "
                                                 : "ranks ",
                         finding->ranks[i]);
    if (finding->n_ranks > shown)
        lc_strbuf_printf(out, " and %zu more", finding->n_ranks - shown);
    if (finding->n_ranks == 1 && finding->thread >= 0)
        lc_strbuf_printf(out, " thread %d", (int)finding->thread);
    if (several)
        lc_strbuf_puts(out, finding->n_ranks == 0   ? " are late in turn"
                            : finding->n_ranks == 1 ? " is late"
                                                    : " are late");
}

/* What others wait for: the rank that is named, or, where a part of it is for others, its code. */
static void put_it(struct lc_strbuf *out, const struct lc_finding *finding) {
    char seconds[32];
    if (finding->named_s < 0.99 * finding->severity_s)
        lc_strbuf_printf(out, "this code, %s of it for this rank",
                         lc_text_seconds(finding->named_s, seconds));
    else
        lc_strbuf_puts(out, "it");
}

static void put_word(struct lc_strbuf *out, const char *word, size_t length,
                     const struct lc_finding *finding) {
    char seconds[32], high[32];
    if (strncmp(word, "ranks", length) == 0)
        put_ranks(out, finding);
    else if (strncmp(word, "severity", length) == 0)
        lc_strbuf_puts(out, lc_text_seconds(finding->severity_s, seconds));
    else if (strncmp(word, "bounds", length) == 0 && !isnan(finding->severity_low_s))
        lc_strbuf_printf(out, "%s to %s; ", lc_text_seconds(finding->severity_low_s, seconds),
                         lc_text_seconds(finding->severity_high_s, high));
    else if (strncmp(word, "share", length) == 0)
        lc_strbuf_printf(out, "%.1f %%", 100.0 * finding->share);
    else if (strncmp(word, "it", length) == 0)
        put_it(out, finding);
    else if (strncmp(word, "detail", length) == 0)
        lc_strbuf_puts(out, finding->detail);
}

static char *make_sentence(const struct lc_finding *finding) {
    struct lc_strbuf out = {0};
    for (const char *at = finding->kind->text; *at != '\0';) {
        size_t length = strcspn(at, "{");
        lc_strbuf_add(&out, at, length);
        at += length;
        if (*at == '{') {
            length = strcspn(++at, "}");
            put_word(&out, at, length, finding);
            at += length + 1;
        }
    }
    return lc_strbuf_take(&out);
}

void lc_per_process(const struct lc_view *view, const double *row, bool largest, double *sums) {
    memset(sums, 0, view->model->n_processes * sizeof sums[0]);
    for (size_t l = 0; l < view->model->n_locations; l++) {
        double *sum = &sums[view->model->locations[l].process];
        *sum = largest ? fmax(*sum, row[l]) : *sum + row[l];
    }
}

/* Below what is worth a line, or below what the measurement can tell? Much waiting with little to
 * gain is said where cores are enough: then the prediction is what is missing. */
static bool is_small(const struct lc_search *search, struct lc_finding *finding) {
    const double least_gain = 0.005 * search->elapsed_s;
    const double least_s = isnan(finding->least_s) ? search->least_s : finding->least_s;
    if (finding->severity_s < least_s || finding->share < finding->kind->least_share)
        return true;
    if (!(finding->gain_s < least_gain))
        return false;
    bool open = finding->share > 0.05 && finding->gain_high_s > 4.0 * least_gain;
    finding->gain_s = NAN;
    return search->lacks_cores || !open;
}

enum lc_err lc_finding_add(struct lc_search *search, struct lc_finding *finding) {
    struct lc_findings *found = search->found;
    finding->share = search->all_s > 0.0 ? finding->severity_s / search->all_s : NAN;
    if (is_small(search, finding))
        return LC_OK;
    finding->text = make_sentence(finding);
    if (finding->text == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot print a finding");
    enum lc_err err = lc_grow(&found->list, &found->capacity, found->n + 1, sizeof found->list[0]);
    if (err == LC_OK)
        found->list[found->n++] = *finding;
    else
        free(finding->text);
    return err;
}
