/* Options of all commands: argp with `-q` and `-h` added, one-line errors with a suggestion, exit
 * code 2. Called by every cmd_*.c, first thing:
 *
 *     static const struct argp argp = {options, parse_option, "FILE", "What it does."};
 *     int code = lc_cli_parse(&argp, 0, argc, argv, &settings);
 *     if (code != LC_EXIT_OK)
 *         return code;
 */
#ifndef LC_CLI_OPTIONS_H
#define LC_CLI_OPTIONS_H

#include <argp.h>
#include <stddef.h>

/* Parses argv of a command (argv[0] = its name). `flags`: 0, or ARGP_IN_ORDER where options end at
 * the first operand. Returns LC_EXIT_OK, or LC_EXIT_USAGE after one line of error; `--help` and
 * `-h` print the help and end the program. */
int lc_cli_parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *input);

/* For parsers of options: one line "latecomer: .." and the end of the program with LC_EXIT_USAGE.
 */
_Noreturn void lc_cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For parsers of options: takes an operand where there may be one; `one` says what it is. */
void lc_cli_operand(const char **operand, const char *arg, const char *command, const char *one);

/* Operands of a command that takes several; the caller frees the array. ENOMEM. */
struct lc_operands {
    char **items;
    size_t n, cap;
};
/* Adds an operand where there may be several; the caller frees the array. ENOMEM. */
error_t lc_cli_operand_add(struct lc_operands *operands, char *arg);

/* How many words follow the first "--" of argv; SIZE_MAX: there is none. */
size_t lc_cli_after_dashes(int argc, char **argv);

/* The entry of `names` that `word` most likely was meant to be, or NULL. */
const char *lc_cli_suggest(const char *word, const char *const *names, size_t count);

/* Ends the program at the first word of a list with commas that is none of `names`; `option`:
 * "show: --only", `what`: "section". */
void lc_cli_check_words(const char *option, const char *what, const char *list,
                        const char *const *names, size_t count);

#endif
