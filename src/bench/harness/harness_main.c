/* latecomer-bench-<flavour>: the program that measures. Started by `latecomer bench`
 * (cli/cmd_bench.c) on every rank, with words KEY=VALUE; leaves its run times in DIR/parts. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "bench/harness/measure_job.h"
#include "bench/harness/mock_ups.h"
#include "bench/harness/mpi_facts.h"
#include "bench/harness/op_samples.h"
#include "bench/operation_size.h"
#include "bench/rank_list.h"

static volatile sig_atomic_t interrupted;

enum { GRACE_S = 8, LOOK_S = 5 };

/* Whom this rank must not outlive: who started it, and the command that waits for the job. Its
 * status file (cli/relay.c) is there as long as it is; NULL: on another node, or under a launcher.
 */
static const char *status;
static pid_t parent;

static bool is_status(const char *path) {
    static const char memory[] = "/memfd:latecomer-status";
    char target[sizeof memory - 1];
    return readlink(path, target, sizeof target) == (ssize_t)sizeof target &&
           memcmp(target, memory, sizeof target) == 0;
}

/* A rank that waits in MPI for one that is gone never sees what is set here: SIGALRM ends it. */
static void on_signal(int number) {
    (void)number;
    if (!interrupted)
        alarm(GRACE_S);
    interrupted = 1;
}

/* Every LOOK_S seconds, or the end of the grace. A launcher that is killed, or interrupted while it
 * starts its ranks, may leave them behind. */
static void on_alarm(int number) {
    if (interrupted)
        _exit(1);
    if (getppid() != parent || (status != NULL && !is_status(status)))
        on_signal(number);
}

static void keep_watch(const char *status_path) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval every = {.it_interval = {.tv_sec = LOOK_S}, .it_value = {.tv_sec = LOOK_S}};
    parent = getppid();
    status = is_status(status_path) ? status_path : NULL;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
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

/* world; node: each node by itself, all at the same time; reverse: ranks in the other order; lists
 * of ranks as "0-1/2-3": each by itself, all at the same time. */
static MPI_Comm make_comm(const struct lc_own *own, const char *name) {
    MPI_Comm comm;
    int world;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (isdigit((unsigned char)name[0]))
        MPI_Comm_split(own->comm, (int)lc_rank_groups_of(name, world), own->rank, &comm);
    else if (strcmp(name, "node") == 0)
        MPI_Comm_split_type(own->comm, MPI_COMM_TYPE_SHARED, own->rank, MPI_INFO_NULL, &comm);
    else if (strcmp(name, "reverse") == 0)
        MPI_Comm_split(own->comm, 0, -own->rank, &comm);
    else
        MPI_Comm_dup(own->comm, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/* The communicator of those that measure; false: this rank does not. */
static bool take_ranks(struct lc_own *own, const char *list) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool measures = *list == '\0' || lc_rank_list_has(list, rank);
    MPI_Comm_split(MPI_COMM_WORLD, measures ? 0 : MPI_UNDEFINED, rank, &own->comm);
    return measures;
}

/* Those that do not measure sleep meanwhile: their cores are free. */
static void wait_for_all(void) {
    const struct timespec pause = {.tv_nsec = 5000000};
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        nanosleep(&pause, NULL);
    }
}

/* What the user should know of all run times of this launch. */
static void warn(struct lc_harness *h) {
#ifdef OPEN_MPI
    const char *attached = getenv("OMPI_MCA_mpi_spc_attach");
    if (h->own.rank == 0 && h->counters.mpi.n > 0 && attached != NULL && *attached != '\0' &&
        lc_part_fact(&h->part, "warning",
                     "Open MPI counts what it does (mpi_spc_attach): run times include that",
                     "") != LC_OK)
        lc_harness_abort(h, lc_err_text());
#else
    (void)h;
#endif
}

static void begin(struct lc_harness *h, const struct words *words, const char *parts) {
    struct lc_strbuf missing = {0};
    MPI_Comm_rank(h->own.comm, &h->own.rank);
    MPI_Comm_size(h->own.comm, &h->own.size);
    h->interrupted = &interrupted;
    h->status =
        is_status(word(words, "status")) ? word(words, "status") : ""; /* else on another node */
    if (lc_part_open(&h->part, parts, (uint32_t)h->own.rank) != LC_OK ||
        lc_mpi_facts(&h->part, h->own.comm, &h->oversubscribed) != LC_OK)
        lc_harness_abort(h, lc_err_text());
    h->comm = make_comm(&h->own, word(words, "comm"));
    lc_clock_begin(&h->clock, &h->own);
    lc_load_open(&h->load);
    const struct lc_counter_options options = {.sources = word(words, "counters"),
                                               .papi = word(words, "papi"),
                                               .variables = word(words, "variables")};
    lc_rep_counters_open(&h->counters, &h->load, h->own.comm, &options, &missing);
    warn(h);
    if (word(words, "samples")[0] == '1') {
        const char *why = lc_op_samples_open(&h->own);
        if (why != NULL)
            lc_strbuf_printf(&missing, "%s\n", why);
    }
    for (char *rest = missing.text, *line; h->own.rank == 0 && rest != NULL;) {
        line = strsep(&rest, "\n");
        if (*line != '\0' && lc_part_fact(&h->part, "missing", line, "") != LC_OK)
            lc_harness_abort(h, lc_err_text());
    }
    lc_strbuf_free(&missing);
}

static void end(struct lc_harness *h) {
    lc_rep_counters_close(&h->counters);
    lc_load_close(&h->load);
    (void)lc_part_flush(&h->part); /* where nothing was measured, who it was that did not */
    lc_part_close(&h->part);
    lc_clock_end(&h->clock);
    MPI_Comm_free(&h->comm);
    MPI_Comm_free(&h->own.comm);
}

/* `empty` has none either, but belongs to those that are measured with it, of each size. */
static bool has_sizes(const char *operation) {
    return lc_bench_is_sized(operation) || strcmp(operation, "empty") == 0;
}

/* Every operation with every size. */
static void measure_all(struct lc_harness *h, const struct words *words) {
    struct lc_job_options options = {.sync = sync_of(word(words, "sync")),
                                     .reps = strtoull(word(words, "reps"), NULL, 10),
                                     .seconds = strtod(word(words, "time"), NULL),
                                     .precision = strtod(word(words, "precision"), NULL),
                                     .root = atoi(word(words, "root")),
                                     .every = (uint32_t)strtoul(word(words, "every"), NULL, 10),
                                     .in_place = word(words, "in-place")[0] == '1',
                                     .progress = word(words, "progress")[0] == '1',
                                     .truth = word(words, "truth")[0] == '1'};
    char *operations = strdup(word(words, "operations")), *rest = operations, *name;
    enum lc_measured_end ended = LC_JOB_DONE;
    while (ended != LC_JOB_INTERRUPTED && (name = strsep(&rest, ",")) != NULL) {
        char *sizes = strdup(word(words, "bytes")), *more = sizes, *bytes;
        for (bool again = true; again && (bytes = strsep(&more, ",")) != NULL;) {
            if (lc_measure_job(h, name, strtoull(bytes, NULL, 10), &options, &ended) != LC_OK)
                lc_harness_abort(h, lc_err_text());
            again = ended == LC_JOB_DONE && has_sizes(name);
        }
        free(sizes);
    }
    free(operations);
}

int main(int argc, char **argv) {
    static struct lc_harness harness;
    struct words words = {argc, argv};
    const char *list = word(&words, "list");
    if (*list != '\0') {
        const struct lc_operation *op = strcmp(list, "mock-ups") == 0 ? lc_mock_ups : lc_operations;
        for (; op->name != NULL; op++)
            puts(op->name);
        return 0;
    }
    keep_watch(word(&words, "status"));
    lc_timer_init();
    MPI_Init(&argc, &argv);
    /* once for all: MPICH 4.0 crashes where MPI_T begins again after its end */
    int provided, variables = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    lc_log_quiet(true);
    char parts[4096]; /* the first rank knows where */
    snprintf(parts, sizeof parts, "%s", word(&words, "parts"));
    MPI_Bcast(parts, sizeof parts, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (take_ranks(&harness.own, word(&words, "ranks"))) {
        begin(&harness, &words, parts);
        measure_all(&harness, &words);
        end(&harness);
        if (harness.own.rank == 0)
            lc_harness_tell(&harness, 0);
    }
    wait_for_all();
    if (variables == MPI_SUCCESS)
        MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
