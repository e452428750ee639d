/* latecomer-bench-<flavour>: the program that measures. Started by `latecomer bench`
 * (cli/cmd_bench.c) on every rank, with words KEY=VALUE; leaves its run times in DIR/parts. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bench/harness/measure_job.h"
#include "bench/harness/mpi_facts.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    (void)number;
    interrupted = 1;
}

struct words {
    int argc;
    char **argv;
};

static const char *word(const struct words *words, const char *key) {
    size_t length = strlen(key);
    for (int i = 1; i < words->argc; i++)
        if (strncmp(words->argv[i], key, length) == 0 && words->argv[i][length] == '=')
            return words->argv[i] + length + 1;
    return "";
}

static enum lc_bench_sync sync_of(const char *name) {
    for (int i = 0; i < LC_BENCH_SYNCS; i++)
        if (strcmp(name, lc_bench_sync_names[i]) == 0)
            return (enum lc_bench_sync)i;
    return LC_SYNC_ROUNDTIME;
}

/* world; node: each node by itself, all at the same time; reverse: ranks in the other order. */
static MPI_Comm make_comm(const char *name) {
    MPI_Comm comm;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(name, "node") == 0)
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
    else if (strcmp(name, "reverse") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static void begin(struct lc_harness *h, const struct words *words) {
    struct lc_strbuf missing = {0};
    MPI_Comm_dup(MPI_COMM_WORLD, &h->own.comm);
    MPI_Comm_rank(h->own.comm, &h->own.rank);
    MPI_Comm_size(h->own.comm, &h->own.size);
    h->interrupted = &interrupted;
    h->status = word(words, "status");
    char parts[4096]; /* the first rank knows where */
    snprintf(parts, sizeof parts, "%s", word(words, "parts"));
    MPI_Bcast(parts, sizeof parts, MPI_CHAR, 0, h->own.comm);
    if (lc_part_open(&h->part, parts, (uint32_t)h->own.rank) != LC_OK ||
        lc_mpi_facts(&h->part, &h->crowded) != LC_OK)
        lc_harness_abort(h, lc_err_text());
    h->comm = make_comm(word(words, "comm"));
    lc_clock_begin(&h->clock, &h->own);
    lc_rep_counters_open(&h->counters, word(words, "counters"), &missing);
    for (char *rest = missing.text, *line; h->own.rank == 0 && rest != NULL;) {
        line = strsep(&rest, "\n");
        if (*line != '\0' && lc_part_fact(&h->part, "missing", line, "") != LC_OK)
            lc_harness_abort(h, lc_err_text());
    }
    lc_strbuf_free(&missing);
}

static void end(struct lc_harness *h, bool truth) {
    if (truth) {
        char text[64];
        snprintf(text, sizeof text, "%.1f %.1f", lc_clock_truth(&h->clock),
                 lc_clock_error(&h->clock, lc_clock_global(&h->clock, lc_ticks())));
        if (lc_part_fact(&h->part, "truth", "error_and_bound_ns", text) != LC_OK ||
            lc_part_flush(&h->part) != LC_OK)
            lc_harness_abort(h, lc_err_text());
    }
    lc_rep_counters_close(&h->counters);
    lc_part_close(&h->part);
    lc_clock_end(&h->clock);
    MPI_Comm_free(&h->comm);
    MPI_Comm_free(&h->own.comm);
}

/* Every operation with every size. */
static void measure_all(struct lc_harness *h, const struct words *words) {
    struct lc_job_wishes wishes = {.sync = sync_of(word(words, "sync")),
                                   .reps = strtoull(word(words, "reps"), NULL, 10),
                                   .seconds = strtod(word(words, "time"), NULL),
                                   .precision = strtod(word(words, "precision"), NULL),
                                   .root = atoi(word(words, "root")),
                                   .in_place = word(words, "in-place")[0] == '1',
                                   .progress = word(words, "progress")[0] == '1'};
    char *operations = strdup(word(words, "operations")), *rest = operations, *name;
    bool stop = false;
    while (!stop && (name = strsep(&rest, ",")) != NULL) {
        char *sizes = strdup(word(words, "bytes")), *more = sizes, *bytes;
        while (!stop && (bytes = strsep(&more, ",")) != NULL)
            if (lc_measure_job(h, name, strtoull(bytes, NULL, 10), &wishes, &stop) != LC_OK)
                lc_harness_abort(h, lc_err_text());
        free(sizes);
    }
    free(operations);
}

int main(int argc, char **argv) {
    static struct lc_harness harness;
    struct words words = {argc, argv};
    if (strcmp(word(&words, "list"), "1") == 0) {
        for (const struct lc_operation *op = lc_operations; op->name != NULL; op++)
            puts(op->name);
        return 0;
    }
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    lc_timer_init();
    MPI_Init(&argc, &argv);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    lc_log_quiet(true);
    begin(&harness, &words);
    measure_all(&harness, &words);
    end(&harness, strcmp(word(&words, "truth"), "1") == 0);
    if (harness.own.rank == 0)
        lc_harness_tell(&harness, 0);
    MPI_Finalize();
    return 0;
}
