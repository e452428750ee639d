#include "cli/bench_start.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "bench/bench_result.h"
#include "bench/rank_list.h"
#include "bench/word_list.h"
#include "cli/cmd.h"
#include "cli/mpi_program.h"
#include "cli/options.h"
#include "symbols/symbols.h"

static volatile sig_atomic_t interrupted;

bool lc_bench_interrupted(void) {
    return interrupted != 0;
}

enum lc_err lc_bench_ask(const char *list, char **text, const char **names, size_t *n) {
    struct lc_strbuf program = {0};
    *text = NULL;
    *n = 0;
    if (!lc_mpi_program_find("bench", LC_FLAVOUR_IS_OPENMPI, &program) &&
        !lc_mpi_program_find("bench", LC_FLAVOUR_IS_MPICH, &program)) {
        lc_strbuf_free(&program);
        return lc_fail(LC_ERR_NOT_FOUND, "bench: its programs are not there: the build or "
                                         "installation is incomplete");
    }
    lc_strbuf_printf(&program, " list=%s", list);
    FILE *in = popen(lc_strbuf_get(&program), "re");
    struct lc_strbuf all = {0};
    char line[128];
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        lc_strbuf_puts(&all, line);
    int status = in != NULL ? pclose(in) : -1;
    lc_strbuf_free(&program);
    if (status != 0) { /* ^C meets it, too */
        lc_strbuf_free(&all);
        return lc_fail(LC_ERR_NOT_FOUND, lc_bench_interrupted()
                                             ? "bench: stopped early: nothing was measured yet"
                                             : "bench: its operations cannot be listed: the build "
                                               "or installation is incomplete");
    }
    *text = lc_strbuf_take(&all);
    for (char *rest = *text, *name; rest != NULL && (name = strsep(&rest, "\n")) != NULL;)
        if (*name != '\0' && *n < LC_BENCH_NAMES_MOST)
            names[(*n)++] = name;
    return LC_OK;
}

enum lc_err lc_bench_list(void) {
    const char *names[LC_BENCH_NAMES_MOST];
    char *text;
    size_t n;
    LC_TRY(lc_bench_ask("operations", &text, names, &n));
    for (size_t i = 0; i < n; i++)
        puts(names[i]);
    puts("With +overlap, ranks compute while a nonblocking operation runs: MPI_Ibcast+overlap");
    free(text);
    return LC_OK;
}

/* What people leave out. */
static size_t prefix_length(const char *name) {
    return strncmp(name, "MPI_", 4) == 0 ? 4 : 0;
}

static bool is_called(const char *name, const char *word, size_t length, bool whole) {
    const char *short_name = name + prefix_length(name);
    return (strncasecmp(name, word, length) == 0 && (!whole || name[length] == '\0')) ||
           (strncasecmp(short_name, word, length) == 0 && (!whole || short_name[length] == '\0'));
}

/* "MPI_Gather, MPI_Gatherv": those that begin with a word. */
static void put_candidates(const char *word, size_t length, const char *const *names, size_t n,
                           struct lc_strbuf *out) {
    for (size_t i = 0; i < n; i++)
        if (is_called(names[i], word, length, false))
            lc_strbuf_printf(out, "%s%s", out->length > 0 ? ", " : "", names[i]);
}

/* The most similar name; what is written without MPI_ is compared so. */
static const char *suggest(const char *word, const char *const *names, size_t n) {
    const char *short_names[2 * LC_BENCH_NAMES_MOST];
    size_t prefix = strncasecmp(word, "MPI_", 4) == 0 ? 4 : 0;
    char lower[64];
    for (size_t i = 0; i < n; i++)
        short_names[i] = names[i] + prefix_length(names[i]);
    snprintf(lower, sizeof lower, "%.60s", word + prefix);
    for (char *c = lower; *c != '\0'; c++)
        *c = (char)(c == lower ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
    const char *better = lc_cli_suggest(lower, short_names, n);
    for (size_t i = 0; i < n && better != NULL; i++)
        if (short_names[i] == better)
            return names[i];
    return NULL;
}

/* The operation that a word means: its name in any case, with or without "MPI_", or the beginning
 * of just one. Behind a + stands overlap, of nonblocking ones only. */
static enum lc_err add_operation(const char *word, const char *const *names, size_t n,
                                 struct lc_strbuf *out) {
    size_t length = strcspn(word, "+"), begins = 0;
    const char *found = NULL;
    for (size_t i = 0; i < n && length > 0; i++) {
        if (is_called(names[i], word, length, true)) {
            found = names[i];
            begins = 1;
            break;
        }
        if (is_called(names[i], word, length, false)) {
            found = names[i];
            begins++;
        }
    }
    bool overlap = found != NULL && strncmp(found, "MPI_I", 5) == 0 &&
                   strcasecmp(word + length, "+overlap") == 0;
    if (begins == 1 && (word[length] == '\0' || overlap)) {
        struct lc_strbuf name = {0};
        lc_strbuf_printf(&name, "%s%s", found, overlap ? "+overlap" : "");
        lc_word_list_add(lc_strbuf_get(&name), out);
        lc_strbuf_free(&name);
        return LC_OK;
    }
    if (begins == 1)
        return lc_fail(LC_ERR_USAGE,
                       "bench: %.60s: no such operation: +overlap may stand behind a nonblocking "
                       "one: MPI_Ibcast+overlap",
                       word);
    if (begins > 1) {
        struct lc_strbuf candidates = {0};
        put_candidates(word, length, names, n, &candidates);
        enum lc_err err =
            lc_fail(LC_ERR_USAGE, "bench: %.60s: which one: %s?", word, lc_strbuf_get(&candidates));
        lc_strbuf_free(&candidates);
        return err;
    }
    const char *better = suggest(word, names, n);
    if (better != NULL)
        return lc_fail(LC_ERR_USAGE, "bench: %.60s: no such operation: did you mean %s?", word,
                       better);
    return lc_fail(LC_ERR_USAGE, "bench: %.60s: no such operation: see `latecomer bench list`",
                   word);
}

enum lc_err lc_bench_find_operations(const char *list, char **found) {
    const char *names[2 * LC_BENCH_NAMES_MOST];
    char *text, *more = NULL, *copy = strdup(list), *rest = copy;
    size_t n, n_more = 0;
    struct lc_strbuf out = {0};
    enum lc_err err = lc_bench_ask("operations", &text, names, &n);
    if (err == LC_OK && strchr(list, '~') != NULL)
        err = lc_bench_ask("mock-ups", &more, names + n, &n_more);
    for (char *word; err == LC_OK && rest != NULL && (word = strsep(&rest, ",")) != NULL;)
        err = add_operation(word, names, n + n_more, &out);
    free(copy);
    free(text);
    free(more);
    *found = lc_strbuf_take(&out);
    return err;
}

/* The blocks of all ranks, counted by an int. */
static enum lc_err check_sizes(const struct lc_bench_options *w) {
    char *copy = strdup(w->bytes), *rest = copy;
    enum lc_err err = LC_OK;
    for (char *word; rest != NULL && (word = strsep(&rest, ",")) != NULL;)
        if (strtoull(word, NULL, 10) >
            (unsigned long long)(INT_MAX / (w->ranks > 2 ? w->ranks : 2)))
            err = lc_fail(LC_ERR_USAGE,
                          "bench: --bytes %s: too much for %ld ranks: blocks of all "
                          "ranks must fit into 2 GiB",
                          word, w->ranks);
    free(copy);
    return err;
}

/* Lists of ranks as communicators: those that measure are in one each, and a root is in all. */
static enum lc_err check_comm(const struct lc_bench_options *w, long measuring) {
    long groups, listed = 0;
    if (!isdigit((unsigned char)w->comm[0]))
        return LC_OK;
    groups = lc_rank_groups_count(w->comm, w->ranks);
    for (long r = 0; r < w->ranks; r++)
        listed += lc_rank_groups_of(w->comm, r) >= 0 &&
                  (w->of_ranks == NULL || lc_rank_list_has(w->of_ranks, r));
    if (groups == 0 || listed != measuring)
        return lc_fail(LC_ERR_USAGE,
                       "bench: --comm %.60s: give lists of all %ld ranks that measure, each rank "
                       "once: 0-1/2-3",
                       w->comm, measuring);
    for (long g = 0; g < groups; g++)
        if (w->root >= lc_rank_groups_members(w->comm, g, w->ranks))
            return lc_fail(LC_ERR_USAGE,
                           "bench: --root %ld: a communicator of --comm has %ld "
                           "ranks",
                           w->root, lc_rank_groups_members(w->comm, g, w->ranks));
    return LC_OK;
}

/* What JSON cannot hold as escapes. */
static json_t *text_json(const char *text) {
    json_t *as_it_is = json_string(text);
    if (as_it_is != NULL)
        return as_it_is;
    struct lc_strbuf escaped = {0};
    lc_put_printable(&escaped, text);
    as_it_is = json_string(lc_strbuf_get(&escaped));
    lc_strbuf_free(&escaped);
    return as_it_is;
}

/* The words of a command line that end with a 0 each. */
static json_t *words_of(const char *file) {
    json_t *words = json_array();
    char *word = NULL;
    size_t room = 0;
    FILE *in = fopen(file, "re");
    while (in != NULL && getdelim(&word, &room, '\0', in) >= 0)
        json_array_append_new(words, text_json(word));
    if (in != NULL)
        fclose(in);
    free(word);
    return words;
}

/* How it came about: what a fingerprint needs to be made again. */
static void add_command(const struct lc_bench_options *w, bool launched, json_t *settings) {
    json_t *command = json_pack("[s]", "latecomer");
    char begun[32], parent[32];
    time_t now = time(NULL);
    struct tm utc;
    for (int i = 0; i < w->argc; i++)
        json_array_append_new(command, text_json(w->argv[i]));
    json_object_set_new(settings, "command", command);
    strftime(begun, sizeof begun, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_object_set_new(settings, "begun", json_string(begun));
    if (launched) {
        snprintf(parent, sizeof parent, "/proc/%d/cmdline", (int)getppid());
        json_object_set_new(settings, "launched_by", words_of(parent));
    }
}

static json_t *settings_json(const struct lc_bench_options *w) {
    return json_pack(
        "{s:s, s:I, s:s, s:I, s:f, s:f, s:s, s:b, s:b, s:b, s:s, s:I, s:I, s:s*, s:s*}", "tool",
        "latecomer " LC_VERSION, "begun_s", (json_int_t)time(NULL), "sync_wanted", w->sync,
        "repetitions_wanted", (json_int_t)w->reps, "time_s", w->seconds, "precision", w->precision,
        "comm", w->comm, "in_place", w->in_place, "less_empty", w->less_empty, "samples",
        w->samples, "counters_wanted", w->counters, "root", (json_int_t)w->root, "counters_every",
        (json_int_t)w->every, "papi_wanted", w->papi, "ranks_wanted", w->of_ranks);
}

static void default_name(const struct lc_bench_options *w, long ranks, struct lc_strbuf *name) {
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    lc_strbuf_printf(name, "latecomer-bench-%.*s-%ld-%s", (int)strcspn(w->operations, ",+"),
                     w->operations, ranks, stamp);
}

/* The directory, parts/ in it, and in there what the command knows. */
static enum lc_err make_directory(const struct lc_bench_options *w, long ranks,
                                  struct lc_strbuf *directory, json_t *settings) {
    struct lc_strbuf name = {0}, parts = {0};
    default_name(w, ranks, &name);
    enum lc_err err =
        lc_bench_directory(w->output != NULL ? w->output : lc_strbuf_get(&name), directory);
    if (err == LC_OK) {
        lc_strbuf_printf(&parts, "%s/parts", lc_strbuf_get(directory));
        if (mkdir(lc_strbuf_get(&parts), 0777) != 0)
            err = lc_fail_errno(LC_ERR_IO, "bench: %s", lc_strbuf_get(&parts));
        lc_strbuf_puts(&parts, "/settings.json");
    }
    if (err == LC_OK)
        err = lc_bench_write_json(settings, lc_strbuf_get(&parts));
    lc_strbuf_free(&name);
    lc_strbuf_free(&parts);
    return err;
}

static void remove_parts(const char *directory) {
    struct lc_strbuf parts = {0}, file = {0};
    lc_strbuf_printf(&parts, "%s/parts", directory);
    DIR *dir = opendir(lc_strbuf_get(&parts));
    for (const struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        lc_strbuf_clear(&file);
        lc_strbuf_printf(&file, "%s/%s", lc_strbuf_get(&parts), e->d_name);
        (void)unlink(lc_strbuf_get(&file));
    }
    if (dir != NULL)
        closedir(dir);
    (void)rmdir(lc_strbuf_get(&parts));
    lc_strbuf_free(&parts);
    lc_strbuf_free(&file);
}

/* What lc_bench_collect() has begun. */
static void remove_table(const char *directory) {
    struct lc_strbuf file = {0};
    lc_strbuf_printf(&file, "%s/runs.csv.zst", directory);
    (void)unlink(lc_strbuf_get(&file));
    lc_strbuf_free(&file);
}

/* A function without a symbol is named by where it begins, so that its shares are in one line. */
static bool function_at(void *context, const char *file, uint64_t address, struct lc_strbuf *name) {
    struct lc_symbol symbol;
    uint64_t begin;
    if (lc_symbols_function(context, file, "", address, &symbol) != LC_OK)
        return false;
    if (!symbol.known && (!lc_symbols_begin(context, file, "", address, &begin) ||
                          lc_symbols_function(context, file, "", begin, &symbol) != LC_OK))
        return false;
    lc_strbuf_puts(name, symbol.name);
    return true;
}

/* Fingerprints, list and table from the parts, which are not needed any more then. */
static enum lc_err finish(const char *directory, json_t *settings, struct lc_collected *result) {
    json_t *jobs = NULL;
    struct lc_symbols *symbols;
    LC_TRY(lc_symbols_new(&symbols));
    const struct lc_code_names names = {.function = function_at, .context = symbols};
    enum lc_err err = lc_bench_collect(directory, settings, &names, result);
    lc_symbols_free(symbols);
    LC_TRY(err);
    for (size_t i = 0; i < result->n && err == LC_OK; i++)
        err = lc_bench_add_job(directory, result->all[i], &jobs);
    if (err != LC_OK) {
        json_decref(jobs);
        return err;
    }
    LC_TRY(lc_bench_end(directory, jobs, result->complete));
    remove_parts(directory);
    return LC_OK;
}

/* Who measures, or makes the result, holds the lock of the parts; a descriptor, or -1: somebody
 * else does. */
static int lock_parts(const char *directory) {
    struct lc_strbuf file = {0};
    lc_strbuf_printf(&file, "%s/parts/settings.json", directory);
    int fd = open(lc_strbuf_get(&file), O_RDONLY | O_CLOEXEC);
    lc_strbuf_free(&file);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

enum lc_err lc_bench_recover(const char *directory) {
    struct lc_strbuf file = {0};
    struct lc_collected result = {0};
    lc_strbuf_printf(&file, "%s/parts/settings.json", directory);
    json_t *settings = json_load_file(lc_strbuf_get(&file), 0, NULL);
    lc_strbuf_free(&file);
    if (!json_is_object(settings)) {
        json_decref(settings);
        return LC_OK; /* no such directory: what is wrong with it is found by who reads it */
    }
    int lock = lock_parts(directory);
    enum lc_err err =
        lock >= 0 ? finish(directory, settings, &result)
                  : lc_fail(LC_ERR_EXISTS,
                            "bench: %s: is being measured: wait until that has ended", directory);
    lc_collected_free(&result);
    json_decref(settings);
    if (lock >= 0)
        close(lock);
    return err;
}

static void add_number(struct lc_words *words, const char *key, double value) {
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    lc_words_add(words, key, text);
}

static void add_options(struct lc_words *words, const struct lc_bench_options *w,
                        const char *directory) {
    struct lc_strbuf parts = {0};
    if (directory != NULL)
        lc_strbuf_printf(&parts, "%s/parts", directory);
    lc_words_add(words, "parts", lc_strbuf_get(&parts));
    lc_words_add(words, "operations", w->operations);
    lc_words_add(words, "bytes", w->bytes);
    lc_words_add(words, "sync", w->sync);
    lc_words_add(words, "comm", w->comm);
    lc_words_add(words, "ranks", w->of_ranks != NULL ? w->of_ranks : "");
    lc_words_add(words, "counters", w->counters);
    lc_words_add(words, "in-place", w->in_place ? "1" : "0");
    lc_words_add(words, "papi", w->papi);
    lc_words_add(words, "variables", w->variables);
    lc_words_add(words, "samples", w->samples ? "1" : "0");
    bool shown = isatty(STDERR_FILENO) && !lc_log_is_quiet() && !w->one_of_many;
    lc_words_add(words, "progress", shown ? "1" : "0");
    lc_words_add(words, "truth", getenv("LATECOMER_TEST_CLOCK") != NULL ? "1" : "0");
    add_number(words, "reps", (double)w->reps);
    add_number(words, "every", (double)w->every);
    add_number(words, "time", w->seconds);
    add_number(words, "precision", w->precision);
    add_number(words, "root", (double)w->root);
    lc_strbuf_free(&parts);
}

/* ^C is for the job; this command stays to collect what it has measured. */
static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* The first rank of a job that a launcher has started. */
static int run_beside(struct lc_words *words) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(lc_words_become(words, "bench"));
    for (int i = 0; i < words->n; i++)
        free(words->word[i]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : LC_EXIT_ERROR;
}

/* Which signal ended a rank, by what launchers say ("exited on signal 9", "Killed (signal 9)"); 0:
 * they tell of none. */
static int told_signal(const char *launcher) {
    static const char word[] = "signal ";
    for (const char *at = launcher; (at = strstr(at, word)) != NULL; at++) {
        long number = strtol(at + sizeof word - 1, NULL, 10);
        if (number > 0 && number < NSIG)
            return (int)number;
    }
    return 0;
}

static void say_stopped(const char *directory, const char *launcher) {
    int number = interrupted ? 0 : told_signal(launcher);
    if (number != 0)
        lc_complain("bench: stopped early: signal %d (%s) ended a rank: what was measured is in %s",
                    number, strsignal(number), directory);
    else
        lc_complain("bench: stopped early: what was measured is in %s", directory);
}

static enum lc_err run_and_collect(struct lc_words *words, bool launched,
                                   const struct lc_bench_options *w, char *directory,
                                   json_t *settings, struct lc_collected *result, int *code) {
    struct lc_strbuf held = {0};
    struct sigaction action = {.sa_handler = on_interrupt};
    int lock = lock_parts(directory);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    *code = launched ? run_beside(words) : lc_words_run(words, "bench", &held, &interrupted);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    json_object_set_new(settings, "duration_s",
                        json_real((double)(ended.tv_sec - begun.tv_sec) +
                                  1e-9 * (double)(ended.tv_nsec - begun.tv_nsec)));
    enum lc_err err = finish(directory, settings, result);
    if (err == LC_OK && w->page != NULL && w->page(directory) != LC_OK)
        lc_complain("bench: no page: %s", lc_err_text());
    if (err != LC_OK && interrupted)
        err = lc_fail(LC_ERR_NOT_FOUND, "bench: stopped early: nothing was measured yet");
    if (err != LC_OK && result->n > 0) { /* no space left, or the like */
        remove_table(directory);
        if (!w->one_of_many)
            lc_complain("bench: what was measured is in %s: when it can be written, `latecomer "
                        "bench show %s` makes the result",
                        directory, directory);
    } else if (err != LC_OK) { /* then what the launcher said is all there is to know */
        if (!w->one_of_many && !interrupted)
            fputs(lc_strbuf_get(&held), stderr);
        remove_parts(directory);
        remove_table(directory);
        (void)rmdir(directory);
    } else if (*code != LC_EXIT_OK || !result->complete) {
        *code = LC_EXIT_ERROR;
        if (!w->one_of_many)
            say_stopped(directory, lc_strbuf_get(&held));
    } else if (!w->one_of_many) {
        lc_say("result: %s", directory);
    }
    if (lock >= 0)
        close(lock);
    lc_strbuf_free(&held);
    return err;
}

static void fill_defaults(struct lc_bench_options *w, const struct lc_launch *launch) {
    w->sync = w->sync != NULL ? w->sync : "roundtime";
    w->comm = w->comm != NULL ? w->comm : "world";
    w->counters = w->counters != NULL ? w->counters : "rusage,delay,perf,mpi,gap,probes";
    w->reps = w->reps != 0 ? w->reps : w->precision > 0 ? 100000 : 1000;
    w->seconds = w->seconds > 0 ? w->seconds : 10;
    w->every = w->every != 0 ? w->every : 5;
    if (launch->kind != LC_LAUNCHER_NONE)
        w->ranks = launch->size;
    else if (w->ranks == 0)
        w->ranks = 2;
}

/* Where the first rank is, or all of them are started. */
static enum lc_err start_first(const struct lc_bench_options *w, struct lc_words *words,
                               bool launched, struct lc_collected *result, int *code) {
    struct lc_strbuf directory = {0};
    json_t *settings = settings_json(w);
    add_command(w, launched, settings);
    enum lc_err err = make_directory(w, w->ranks, &directory, settings);
    if (err == LC_OK) {
        add_options(words, w, lc_strbuf_get(&directory));
        err = run_and_collect(words, launched, w, directory.text, settings, result, code);
    }
    json_decref(settings);
    lc_strbuf_free(&directory);
    return err;
}

/* Open MPI counts what it does itself only where this parameter of it says so. What the user has
 * set stays. */
static void let_mpi_count(const struct lc_bench_options *w) {
    if (lc_word_list_has(w->counters, "spc"))
        (void)setenv("OMPI_MCA_mpi_spc_attach", "all", 0);
}

enum lc_err lc_bench_start(const struct lc_bench_options *options, struct lc_collected *result,
                           int *code) {
    struct lc_bench_options w = *options;
    struct lc_launch launch;
    struct lc_words words = {.n = 0};
    *result = (struct lc_collected){0};
    lc_launch_detect_place(&launch);
    bool launched = launch.kind != LC_LAUNCHER_NONE &&
                    !(launch.kind == LC_LAUNCHER_SLURM && launch.size == 1 && w.ranks);
    if (launched && w.ranks)
        return lc_fail(LC_ERR_USAGE, "bench: -n %ld: a launcher has started this: leave -n out",
                       w.ranks);
    fill_defaults(&w, &launch);
    let_mpi_count(&w);
    long measuring = w.of_ranks != NULL ? lc_rank_list_count(w.of_ranks, w.ranks) : w.ranks;
    if (measuring == 0)
        return lc_fail(LC_ERR_USAGE, "bench: --ranks %.60s: give some of 0 to %ld, as 0,2-3",
                       w.of_ranks, w.ranks - 1);
    LC_TRY(check_comm(&w, measuring));
    if (w.root >= measuring)
        return lc_fail(LC_ERR_USAGE, "bench: --root %ld: there are %ld ranks", w.root, measuring);
    LC_TRY(check_sizes(&w));
    char *operations;
    struct lc_strbuf list = {0};
    bool beside = (w.less_empty || w.audit) && strcasecmp(w.operations, "empty") != 0;
    lc_strbuf_printf(&list, "%s%s", w.operations, beside ? ",empty" : "");
    enum lc_err err = lc_bench_find_operations(lc_strbuf_get(&list), &operations);
    lc_strbuf_free(&list);
    w.operations = operations;
    if (err == LC_OK)
        err = lc_words_begin(&words, "bench", launched ? &launch : NULL, w.flavour, w.ranks);
    if (err == LC_OK && launched && launch.rank != 0) {
        add_options(&words, &w, NULL);
        exit(lc_words_become(&words, "bench"));
    }
    if (err == LC_OK)
        err = start_first(&w, &words, launched, result, code);
    free(operations);
    return err;
}
