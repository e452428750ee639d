#include "cli/bench_options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/word_list.h"

enum {
    KEY_JSON = 256,
    KEY_OPERATION,
    KEY_BYTES,
    KEY_REPS,
    KEY_TIME,
    KEY_SYNC,
    KEY_MPI,
    KEY_ROOT,
    KEY_COMM,
    KEY_PRECISION,
    KEY_SEED,
    KEY_COUNTERS,
    KEY_PAPI,
    KEY_VARIABLES,
    KEY_IN_PLACE,
    KEY_GATE,
    KEY_VARY,
    KEY_ROUNDS,
    KEY_EVERY,
    KEY_LESS_EMPTY,
    KEY_AUDIT,
    KEY_OF,
    KEY_SAMPLES,
    KEY_RANKS
};

static const struct argp_option options[] = {
    {"bytes", KEY_BYTES, "N,..", 0, "Message sizes: 8,1k,1M (default 8)", 0},
    {"reps", KEY_REPS, "N", 0,
     "Repetitions (default 1000; with --precision at most this, default 100000)", 0},
    {"time", KEY_TIME, "SECONDS", 0, "At most for each size (default 10)", 0},
    {"precision", KEY_PRECISION, "REL", 0,
     "Until the 95 % intervals of median and 95 % quantile are narrower: 0.02", 0},
    {"sync", KEY_SYNC, "roundtime|window|barrier|none", 0,
     "How ranks start together (default roundtime)", 0},
    {NULL, 'n', "RANKS", 0, "Start them (default 2; not under a launcher)", 0},
    {"mpi", KEY_MPI, "openmpi|mpich", 0, "Which MPI (default: the first that is there)", 0},
    {"root", KEY_ROOT, "R", 0, "Root of rooted operations (default 0)", 0},
    {"comm", KEY_COMM, "world|node|reverse|LIST/LIST..", 0,
     "Communicator: all ranks, each node by itself, ranks in the other order, or several lists of "
     "ranks at the same time: 0-1/2-3",
     0},
    {"ranks", KEY_RANKS, "LIST", 0, "Only these measure, the others wait: 0,2-3", 0},
    {"in-place", KEY_IN_PLACE, NULL, 0, "MPI_IN_PLACE, for operations that know it", 0},
    {"counters", KEY_COUNTERS, "rusage,delay,perf,mpi,gap,probes,hardware,spc", 0,
     "Counters of each repetition (default all but hardware and spc), or none", 0},
    {"mpi-variables", KEY_VARIABLES, "NAME,..", 0,
     "Performance variables of MPI_T to read, or parts of their names (default: the first 24)", 0},
    {"less-empty", KEY_LESS_EMPTY, NULL, 0, "Measure empty, too, and tell the median without it",
     0},
    {"audit", KEY_AUDIT, NULL, 0,
     "Also tell what the measuring itself does: empty, counters, starts, clock", 0},
    {"papi", KEY_PAPI, "EVENT,..", 0, "Also count events of PAPI: PAPI_L3_TCM,..", 0},
    {"counters-every", KEY_EVERY, "N", 0,
     "Read counters in every Nth repetition, whose run time does not count (default 5)", 0},
    {"samples", KEY_SAMPLES, NULL, 0,
     "Show in which functions the operation spends its time, by samples of the call stack", 0},
    {"seed", KEY_SEED, "N", 0, "sweep, guidelines, compare: of random choices (default 1)", 0},
    {NULL, 'o', "DIR", 0, "Directory of the result (default latecomer-bench-OP-..)", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON object on standard output", 0},
    {"of", KEY_OF, "EXPERIMENT", 0,
     "What this program's operations take alone: their sizes and communicators (as: beside)", 0},
    {"operation", KEY_OPERATION, "OP", 0, "import: what was measured, if the file does not say", 0},
    {"vary", KEY_VARY, "NAME=A,B,..", 0,
     "sweep: mpi, n, comm, sync, bind, map, bytes, a parameter of Open MPI or a variable like "
     "MPIR_CVAR_..",
     0},
    {"rounds", KEY_ROUNDS, "N", 0, "sweep, guidelines: launches of each (default 7, 10)", 0},
    {"gate", KEY_GATE, NULL, 0, "compare: exit with 3 unless both are the same", 0},
    {0}};

static double parse_number(const char *option, const char *text, double least, double most) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least && value <= most))
        lc_cli_usage("bench: %s %s: give a number from %g to %.15g", option, text, least, most);
    return value;
}

static uint64_t parse_whole(const char *option, const char *text, double least, double most) {
    double value = parse_number(option, text, least, most);
    if (value != floor(value))
        lc_cli_usage("bench: %s %s: give a whole number", option, text);
    return (uint64_t)value;
}

static const char *one_of(const char *option, const char *arg, const char *const *names) {
    for (const char *const *name = names; *name != NULL; name++)
        if (strcmp(arg, *name) == 0)
            return arg;
    lc_cli_usage("bench: --%s %s: unknown: see `latecomer help bench`", option, arg);
}

static error_t parse_option(int key, char *arg, struct lc_bench_options *w) {
    static const char *const syncs[] = {"roundtime", "window", "barrier", "none", NULL};
    static const char *const mpis[] = {"openmpi", "mpich", NULL};
    static const char *const comms[] = {"world", "node", "reverse", NULL};
    static const char *const sources[] = {"rusage", "delay",    "perf", "mpi", "gap",
                                          "probes", "hardware", "spc",  "none"};
    if (key == KEY_REPS)
        w->reps = parse_whole("--reps", arg, 1, 1e8);
    else if (key == KEY_TIME)
        w->seconds = parse_number("--time", arg, 0.001, 1e6);
    else if (key == KEY_PRECISION)
        w->precision = parse_number("--precision", arg, 1e-4, 1);
    else if (key == KEY_SYNC)
        w->sync = one_of("sync", arg, syncs);
    else if (key == 'n')
        w->ranks = (long)parse_whole("-n", arg, 1, 1e6);
    else if (key == KEY_MPI)
        w->flavour = strcmp(one_of("mpi", arg, mpis), "mpich") == 0 ? LC_FLAVOUR_IS_MPICH
                                                                    : LC_FLAVOUR_IS_OPENMPI;
    else if (key == KEY_ROOT)
        w->root = (long)parse_whole("--root", arg, 0, 1e6);
    else if (key == KEY_COMM) /* lists of ranks are looked at where their number is known */
        w->comm = isdigit((unsigned char)*arg) ? arg : one_of("comm", arg, comms);
    else if (key == KEY_RANKS)
        w->of_ranks = arg;
    else if (key == KEY_SEED)
        w->seed = parse_whole("--seed", arg, 0, 1e15);
    else if (key == KEY_COUNTERS) {
        lc_cli_check_words("bench: --counters", "source of counters", arg, sources,
                           sizeof sources / sizeof sources[0]);
        w->counters = arg;
    } else if (key == KEY_PAPI)
        w->papi = arg;
    else if (key == KEY_VARIABLES)
        w->variables = arg;
    else if (key == KEY_EVERY)
        w->every = parse_whole("--counters-every", arg, 2, 1e8);
    else if (key == KEY_LESS_EMPTY)
        w->less_empty = true;
    else if (key == KEY_AUDIT)
        w->audit = true;
    else if (key == KEY_SAMPLES)
        w->samples = true;
    else if (key == KEY_IN_PLACE)
        w->in_place = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* What these say would be lost on other words without a sound. */
static const struct {
    int key;
    const char *option, *words;
} narrow[LC_BENCH_NARROW] = {{KEY_VARY, "--vary", "sweep"},
                             {KEY_ROUNDS, "--rounds", "sweep,guidelines"},
                             {KEY_SEED, "--seed", "sweep,guidelines,compare"},
                             {KEY_GATE, "--gate", "compare"},
                             {KEY_OPERATION, "--operation", "import"}};

void lc_bench_check_options(const struct lc_bench_settings *settings, const char *word) {
    for (int i = 0; i < LC_BENCH_NARROW; i++)
        if (settings->given[i] && !lc_word_list_has(narrow[i].words, word))
            lc_cli_usage("bench: %s: only for %s: see `latecomer help bench`", narrow[i].option,
                         narrow[i].words);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct lc_bench_settings *s = state->input;
    for (int i = 0; i < LC_BENCH_NARROW; i++)
        s->given[i] |= key == narrow[i].key;
    if (key == KEY_JSON)
        s->json = true;
    else if (key == KEY_GATE)
        s->gate = true;
    else if (key == KEY_OF)
        s->of = arg;
    else if (key == KEY_OPERATION)
        s->operation = arg;
    else if (key == KEY_BYTES)
        s->bytes = arg;
    else if (key == 'o')
        s->output = arg;
    else if (key == KEY_VARY && s->sweep.n_vary == LC_SWEEP_VARIED)
        lc_cli_usage("bench: --vary: given more than %d times", LC_SWEEP_VARIED);
    else if (key == KEY_VARY)
        s->sweep.vary[s->sweep.n_vary++] = arg;
    else if (key == KEY_ROUNDS)
        s->sweep.rounds = parse_whole("--rounds", arg, 1, 1000);
    else if (key == ARGP_KEY_ARG)
        return lc_cli_operand_add(&s->operands, arg);
    else
        return parse_option(key, arg, &s->options);
    return 0;
}

const struct argp lc_bench_argp = {
    options,
    parse,
    "OP\nlist\njobs FILE\nsweep OP\nguidelines [OP]\n--of EXPERIMENT\nbeside EXPERIMENT "
    "[RESULT..]\nimport "
    "FILE.csv\nshow "
    "DIR|FILE\ncompare A B\ncompare A.. "
    "-- B..",
    "Measures an MPI operation, many repetitions with all ranks starting together, and shows its "
    "fingerprint: quantiles, phases, modes, histogram. OP: as MPI calls it, in any case, also "
    "without MPI_ or its beginning alone (allreduce, allr); several separated by commas; "
    "list: all of them. jobs: those of a file, one OP and its options per line. sweep: variants of "
    "it, ranked. guidelines: is it slower than others that do the same. --of: the operations of a "
    "program alone. import: the fingerprint of run times measured elsewhere. show: a result on "
    "the terminal. compare: are two results the same. Also under a launcher: mpirun -n 4 latecomer "
    "bench MPI_Allreduce.",
    NULL,
    NULL,
    NULL};
