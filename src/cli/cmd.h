/* The table of commands: each cmd_*.c holds one. A command gets its own argv (argv[0] = its name),
 * returns the exit code. */
#ifndef LC_CLI_CMD_H
#define LC_CLI_CMD_H

enum { LC_EXIT_OK = 0, LC_EXIT_ERROR = 1, LC_EXIT_USAGE = 2 };

struct lc_command {
    const char *name;
    const char *summary; /* one line for `latecomer help` */
    int (*run)(int argc, char **argv);
};

int lc_cmd_run(int argc, char **argv);
int lc_cmd_show(int argc, char **argv);
int lc_cmd_analyze(int argc, char **argv);
int lc_cmd_compare(int argc, char **argv);
int lc_cmd_scaling(int argc, char **argv);
int lc_cmd_dump(int argc, char **argv);
int lc_cmd_recover(int argc, char **argv);
int lc_cmd_doctor(int argc, char **argv);

#endif
