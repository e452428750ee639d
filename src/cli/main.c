/* latecomer: one program, a table of commands in the manner of git and perf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"

static int cmd_help(int argc, char **argv);

/* In the order in which people need them. */
static const struct lc_command commands[] = {
    {"run", "measure a program", lc_cmd_run},
    {"analyze", "wait states, root causes, critical path of an OTF2 trace", lc_cmd_analyze},
    {"show", "terminal view or JSON of a result: who waits for whom", lc_cmd_show},
    {"report", "one page of HTML: findings, call tree, timeline, causes", lc_cmd_report},
    {"compare", "did it get slower, is that more than chance, and where", lc_cmd_compare},
    {"scaling", "POP efficiency factors of several runs side by side", lc_cmd_scaling},
    {"export", "a result for speedscope, flame graphs, tables, hatchet", lc_cmd_export},
    {"bench", "micro-benchmark of MPI operations, fingerprints of run times", lc_cmd_bench},
    {"top", "live view of a running measurement", lc_cmd_top},
    {"dump", "snapshot of a running measurement", lc_cmd_dump},
    {"recover", "result of a killed run", lc_cmd_recover},
    {"doctor", "what this machine and program allow", lc_cmd_doctor},
    {"help", "help on a command", cmd_help},
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void) {
    printf("Usage: latecomer [-q] COMMAND [OPTIONS] [ARGUMENTS]\n"
           "Finds out which ranks of an MPI program wait, for whom, and why.\n\n"
           "  mpirun -n 4 latecomer run ./app      measure: writes an experiment directory\n"
           "  latecomer show                       look at the newest one\n\n"
           "Commands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf("\n`latecomer help COMMAND` explains a command; `latecomer --version` prints the "
           "version.\n");
}

static const struct lc_command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name) {
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    const char *better = lc_cli_suggest(name, names, N_COMMANDS);
    if (better != NULL)
        lc_complain("%s: no such command: did you mean `latecomer %s`?", name, better);
    else
        lc_complain("%s: no such command: see `latecomer help`", name);
    return LC_EXIT_USAGE;
}

static int cmd_help(int argc, char **argv) {
    static const struct argp argp = {
        NULL, NULL, "[COMMAND]", "Prints what the commands do, or the options of one.",
        NULL, NULL, NULL};
    int operand = 0;
    for (int i = 1; i < argc && operand == 0; i++)
        if (argv[i][0] != '-')
            operand = i;
    if (operand == 0) {
        int code = argc > 1 ? lc_cli_parse(&argp, 0, argc, argv, NULL) : LC_EXIT_OK;
        if (code == LC_EXIT_OK)
            print_help();
        return code;
    }
    const struct lc_command *command = find_command(argv[operand]);
    if (command == NULL)
        return unknown_command(argv[operand]);
    if (command->run == cmd_help) {
        print_help();
        return LC_EXIT_OK;
    }
    char help[] = "--help", *args[] = {argv[operand], help, NULL};
    return command->run(2, args);
}

/* Options before the command. Returns the index of the command, or the negative exit code less 1.
 */
static int parse_global(int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--version") == 0) {
            printf("latecomer %s\n", LC_VERSION);
            return -1 - LC_EXIT_OK;
        }
        if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            print_help();
            return -1 - LC_EXIT_OK;
        }
        if (strcmp(word, "-q") != 0 && strcmp(word, "--quiet") != 0) {
            static const char *const names[] = {"--version", "--help", "--quiet"};
            const char *better = lc_cli_suggest(word, names, 3);
            if (better != NULL)
                lc_complain("unknown option %s: did you mean %s?", word, better);
            else
                lc_complain("unknown option %s: options of a command go after its name: see "
                            "`latecomer help`",
                            word);
            return -1 - LC_EXIT_USAGE;
        }
        lc_log_quiet(true);
    }
    if (i == argc) {
        lc_complain("no command given: see `latecomer help`");
        return -1 - LC_EXIT_USAGE;
    }
    return i;
}

static int run_command(int argc, char **argv) {
    int first = parse_global(argc, argv);
    if (first < 0)
        return -1 - first;
    const struct lc_command *command = find_command(argv[first]);
    int code =
        command != NULL ? command->run(argc - first, argv + first) : unknown_command(argv[first]);
    /* Output that did not arrive (full disk, closed pipe) is an error, too. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (code == LC_EXIT_OK) {
            lc_complain("standard output: cannot be written");
            code = LC_EXIT_ERROR;
        }
    }
    return code;
}

/* Reading debug information (libdw) takes hundreds of KB of stack, and `latecomer run` has the
 * limit that is meant for the program. */
enum { STACK_WANTED = 2 << 20, STACK_BYTES = 8 << 20 };

static struct {
    int argc, code;
    char **argv;
    ucontext_t start, end;
} command_line;

static void run_on_own_stack(void) {
    command_line.code = run_command(command_line.argc, command_line.argv);
}

int main(int argc, char **argv) {
    struct rlimit limit;
    void *stack = MAP_FAILED;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_WANTED)
        stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED || getcontext(&command_line.start) != 0)
        return run_command(argc, argv);
    command_line.argc = argc;
    command_line.argv = argv;
    command_line.start.uc_stack.ss_sp = stack;
    command_line.start.uc_stack.ss_size = STACK_BYTES;
    command_line.start.uc_link = &command_line.end;
    makecontext(&command_line.start, run_on_own_stack, 0);
    if (swapcontext(&command_line.end, &command_line.start) != 0)
        return run_command(argc, argv);
    return command_line.code;
}
