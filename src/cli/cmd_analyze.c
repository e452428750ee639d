/* latecomer analyze: starts the analysis program on as many ranks as wanted and waits for it. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "job/launcher.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/mpi_program.h"
#include "report/locate.h"

struct settings {
    long ranks; /* 0: as many as cores */
    const char *output, *operand, *time_correct, *partition, *what_if;
    const char *timeline, *most_bytes; /* of `export` */
    const char *page, *windows;        /* of `report` */
    bool mpi_only;
};

enum { KEY_MPI_ONLY = 256, KEY_TIME_CORRECT, KEY_PARTITION, KEY_WHAT_IF };

static const struct argp_option options[] = {
    {NULL, 'n', "RANKS", 0, "Analysis ranks (default: one per core)", 0},
    {NULL, 'o', "FILE", 0, "Result (default: analysis.cubex beside the archive)", 0},
    {"mpi-only", KEY_MPI_ONLY, NULL, 0,
     "Critical path from MPI_Init to MPI_Finalize only (the classical bounds)", 0},
    {"time-correct", KEY_TIME_CORRECT, "off|on|auto", 0,
     "Restore the order of messages where clocks contradict it (default: off)", 0},
    {"partition", KEY_PARTITION, "P", 0,
     "Partitions for the imbalance costs: executable, communicator or a list of ranks", 0},
    {"what-if", KEY_WHAT_IF, "NAME=F,..", 0,
     "Predict the run time if the function NAME took F times as long", 0},
    {0}};

static long parse_ranks(const char *text) {
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > 1000000)
        lc_cli_usage("analyze: -n %s: not a number of ranks: give 1 or more", text);
    return n;
}

/* What stands where an archive is wanted is one to be measured: a program, or the launcher. */
static bool is_program(const char *operand) {
    struct stat info;
    size_t n = strlen(operand);
    bool archive = n > 5 && strcmp(operand + n - 5, ".otf2") == 0;
    if (stat(operand, &info) != 0)
        return lc_is_launcher_name(operand);
    return !archive && S_ISREG(info.st_mode) && access(operand, X_OK) == 0;
}

static void take_operand(struct settings *s, const char *arg) {
    if (is_program(arg))
        lc_cli_usage("analyze: %s: is a program, no trace: measure it first: "
                     "mpirun -n 4 latecomer run --trace -o DIR ./app; then latecomer analyze DIR",
                     arg);
    lc_cli_operand(&s->operand, arg, "analyze", "archive");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *s = state->input;
    switch (key) {
    case 'n':
        s->ranks = parse_ranks(arg);
        break;
    case 'o':
        s->output = arg;
        break;
    case KEY_MPI_ONLY:
        s->mpi_only = true;
        break;
    case KEY_TIME_CORRECT:
        if (strcmp(arg, "off") != 0 && strcmp(arg, "on") != 0 && strcmp(arg, "auto") != 0)
            lc_cli_usage("analyze: --time-correct=%s: unknown: give off, on or auto", arg);
        s->time_correct = arg;
        break;
    case KEY_PARTITION:
        s->partition = arg;
        break;
    case KEY_WHAT_IF:
        s->what_if = arg;
        break;
    case ARGP_KEY_ARG:
        take_operand(s, arg);
        break;
    case ARGP_KEY_NO_ARGS:
        lc_cli_usage("analyze: no archive: give an experiment directory or a traces.otf2");
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "DIR|TRACES.OTF2",
    "Finds the wait states of an OTF2 trace (Latecomer's or Score-P's), their root causes and the "
    "critical path, and writes analysis.cubex. Also under mpirun or srun, with the ranks found "
    "there.",
    NULL,
    NULL,
    NULL};

/* The only *.otf2 of a directory; false: there is none, or several. */
static bool only_archive(const char *directory, struct lc_strbuf *archive) {
    DIR *dir = opendir(directory);
    const struct dirent *entry;
    int found = 0;
    size_t length = archive->length;
    while (dir && (entry = readdir(dir)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (n <= 5 || strcmp(entry->d_name + n - 5, ".otf2") != 0)
            continue;
        if (found++ == 0)
            lc_strbuf_add(archive, entry->d_name, n);
    }
    if (dir)
        closedir(dir);
    return found == 1 && archive->length > length;
}

/* The operand's archive: a directory stands for the traces.otf2 in it, or for the only archive. */
static enum lc_err find_archive(const char *command, const char *operand,
                                struct lc_strbuf *archive) {
    struct stat info;
    if (stat(operand, &info) != 0)
        return lc_fail_errno(LC_ERR_NOT_FOUND, "%s: %s", command, operand);
    lc_strbuf_puts(archive, operand);
    if (S_ISDIR(info.st_mode)) {
        lc_strbuf_puts(archive, operand[strlen(operand) - 1] == '/' ? "" : "/");
        struct lc_strbuf other = {0};
        lc_strbuf_puts(&other, lc_strbuf_get(archive));
        lc_strbuf_puts(archive, "traces.otf2");
        bool found = stat(lc_strbuf_get(archive), &info) == 0;
        if (!found && only_archive(operand, &other)) {
            lc_strbuf_clear(archive);
            lc_strbuf_puts(archive, lc_strbuf_get(&other));
            found = true;
        }
        lc_strbuf_free(&other);
        if (!found && lc_locate_unfinished_trace(operand))
            return lc_fail(LC_ERR_NOT_FOUND,
                           "%s: %s: its trace is unfinished: finish it with `latecomer recover "
                           "%s`",
                           command, operand, operand);
        if (!found)
            return lc_fail(LC_ERR_NOT_FOUND,
                           "%s: %s: no traces.otf2 in it: record one with `latecomer run "
                           "--trace`",
                           command, operand);
    }
    if (access(lc_strbuf_get(archive), R_OK) != 0)
        return lc_fail_errno(LC_ERR_IO, "%s: %s", command, lc_strbuf_get(archive));
    return LC_OK;
}

static void default_output(const char *archive, struct lc_strbuf *output) {
    const char *slash = strrchr(archive, '/');
    if (slash)
        lc_strbuf_add(output, archive, (size_t)(slash - archive) + 1);
    lc_strbuf_puts(output, "analysis.cubex");
}

static long cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void add_options(struct lc_words *words, const struct settings *s, const char *archive,
                        const char *output) {
    lc_words_add(words, "archive", archive);
    lc_words_add(words, "output", output);
    lc_words_add(words, "timeline", s->timeline);
    lc_words_add(words, "most-bytes", s->most_bytes);
    lc_words_add(words, "page", s->page);
    lc_words_add(words, "windows", s->windows);
    lc_words_add(words, "quiet", lc_log_is_quiet() ? "1" : "0");
    lc_words_add(words, "progress", isatty(STDERR_FILENO) ? "1" : "0");
    lc_words_add(words, "mpi-only", s->mpi_only ? "1" : "0");
    lc_words_add(words, "time-correct", s->time_correct);
    lc_words_add(words, "partition", s->partition);
    lc_words_add(words, "what-if", s->what_if);
}

static int start(const struct settings *s, const char *archive, const char *output) {
    struct lc_words words = {.n = 0};
    struct lc_launch launch;
    lc_launch_detect_place(&launch);
    /* One task of Slurm may be a shell (srun --pty bash): then -n is a wish like any other. */
    bool launched = launch.kind != LC_LAUNCHER_NONE &&
                    !(launch.kind == LC_LAUNCHER_SLURM && launch.size == 1 && s->ranks) &&
                    s->timeline == NULL;
    if (launched && s->ranks && s->page == NULL)
        lc_cli_usage("analyze: -n %ld: a launcher has started this: leave -n out", s->ranks);
    long ranks = launched ? 1 : s->ranks ? s->ranks : cores();
    if (lc_words_begin(&words, "analyze", launched ? &launch : NULL, LC_FLAVOUR_UNKNOWN, ranks) !=
        LC_OK) {
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    add_options(&words, s, archive, output);
    if (launched && s->page == NULL)
        return lc_words_become(&words, "analyze");
    if (!launched || launch.rank == 0)
        return lc_words_run(&words, "analyze", NULL, NULL);
    struct lc_strbuf held = {0}; /* rank 0 says what there is to say */
    lc_words_run(&words, "analyze", &held, NULL);
    lc_strbuf_free(&held);
    return LC_EXIT_OK;
}

int lc_export_timeline(const char *operand, const char *file, uint64_t most_bytes) {
    char number[24], *newest = NULL;
    snprintf(number, sizeof number, "%" PRIu64, most_bytes);
    struct settings s = {.ranks = 1, .timeline = file, .most_bytes = number};
    struct lc_strbuf archive = {0};
    int code = LC_EXIT_ERROR;
    enum lc_err err = LC_OK;
    if (operand == NULL) {
        err = lc_locate(NULL, false, &newest);
        operand = newest != NULL ? dirname(newest) : "."; /* of DIR/profile.cubex */
    }
    if (err == LC_OK)
        err = find_archive("export", operand, &archive);
    if (err == LC_OK)
        code = start(&s, lc_strbuf_get(&archive), NULL);
    else
        lc_complain("%s", lc_err_text());
    free(newest);
    lc_strbuf_free(&archive);
    return code;
}

bool lc_report_has_trace(const char *operand) {
    struct lc_strbuf archive = {0};
    bool found = find_archive("report", operand, &archive) == LC_OK;
    lc_strbuf_free(&archive);
    return found;
}

int lc_report_timeline(const char *operand, const char *windows, const char *file) {
    struct settings s = {.ranks = 1, .page = file, .windows = windows};
    struct lc_strbuf archive = {0};
    int code = LC_EXIT_ERROR;
    if (find_archive("report", operand, &archive) == LC_OK)
        code = start(&s, lc_strbuf_get(&archive), NULL);
    else
        lc_complain("%s", lc_err_text());
    lc_strbuf_free(&archive);
    return code;
}

int lc_cmd_analyze(int argc, char **argv) {
    struct settings s = {0};
    struct lc_strbuf archive = {0}, output = {0};
    int code = lc_cli_parse(&argp, 0, argc, argv, &s);
    if (code != LC_EXIT_OK)
        return code;
    if (find_archive("analyze", s.operand, &archive) != LC_OK) {
        lc_complain("%s", lc_err_text());
        lc_strbuf_free(&archive);
        return LC_EXIT_ERROR;
    }
    default_output(lc_strbuf_get(&archive), &output);
    code = start(&s, lc_strbuf_get(&archive), s.output ? s.output : lc_strbuf_get(&output));
    lc_strbuf_free(&archive);
    lc_strbuf_free(&output);
    return code;
}
