/* latecomer run: measure a program. */
#include <stdlib.h>
#include <string.h>

#include "job/launcher.h"
#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "run/run_options.h"
#include "run/run.h"
#include "run/start.h"

struct settings {
    char **program; /* NULL: none given */
    bool ranks_given;
};

enum { MAX_OPTIONS = 32 };
static struct argp_option options[MAX_OPTIONS];

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct settings *settings = state->input;
    if (key == ARGP_KEY_ARG) { /* the program; what follows is its own */
        settings->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    }
    for (const struct lc_run_option *option = lc_run_options; option->name != NULL; option++)
        if (option->key != 0 && option->key == key) {
            if (lc_run_option_set(option, arg == NULL ? "1" : arg) != LC_OK)
                lc_cli_usage("run: %s", lc_err_text());
            if (key == 'n')
                settings->ranks_given = true;
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    options,
    parse,
    "[--] PROGRAM [ARGUMENTS]",
    "Measures PROGRAM and writes an experiment directory. Goes right before the program, after "
    "any launcher: mpirun -n 4 latecomer run ./app; or starts the launcher itself: latecomer run "
    "-n 4 ./app. Exits as the program does. Every option can also be set by an environment "
    "variable: "
    "--dump-every "
    "by LATECOMER_DUMP_EVERY.",
    NULL,
    NULL,
    NULL};

static void fill_options(void) {
    size_t n = 0;
    for (const struct lc_run_option *option = lc_run_options;
         option->name != NULL && n < MAX_OPTIONS - 1; option++)
        if (option->key != 0)
            options[n++] =
                (struct argp_option){option->name,     option->key,
                                     option->argument, option->optional ? OPTION_ARG_OPTIONAL : 0,
                                     option->help,     0};
}

/* srun --pty bash: one task, in which the user works as in a batch script. */
static bool is_shell_of_slurm(const struct lc_launch *launch) {
    return launch->kind == LC_LAUNCHER_SLURM && launch->size == 1;
}

int lc_cmd_run(int argc, char **argv) {
    struct settings settings = {0};
    struct lc_launch launch;
    fill_options();
    int code = lc_cli_parse(&argp, ARGP_IN_ORDER, argc, argv, &settings);
    if (code != LC_EXIT_OK)
        return code;
    if (settings.program == NULL)
        lc_cli_usage("run: no program given: mpirun -n 4 latecomer run ./app");
    if (lc_run_options_check() != LC_OK)
        lc_cli_usage("run: %s", lc_err_text());
    if (lc_run_option_on("quiet"))
        lc_log_quiet(true);
    else if (lc_log_is_quiet())
        lc_run_option_give("LATECOMER_QUIET", "1");
    lc_launch_detect(&launch);
    bool may_start = launch.kind == LC_LAUNCHER_NONE || is_shell_of_slurm(&launch);
    if (!may_start && settings.ranks_given)
        lc_cli_usage("run: -n: a launcher has started this job already: leave -n out");
    long ranks = may_start ? (long)lc_run_option_number("ranks") : 0;
    if (ranks == 0 && lc_is_launcher_name(settings.program[0]))
        lc_cli_usage("run: %s is a launcher: put `latecomer run` after it, before the program: "
                     "mpirun -n 4 latecomer run ./app",
                     settings.program[0]);
    if (ranks == 0)
        return lc_run_main(settings.program);
    (void)lc_start_job(ranks, settings.program, lc_log_is_quiet());
    lc_complain("%s", lc_err_text());
    return LC_EXIT_ERROR;
}
