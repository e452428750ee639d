#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/cmd.h"

void lc_cli_usage(const char *format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    lc_complain("%s", line);
    exit(LC_EXIT_USAGE);
}

void lc_cli_operand(const char **operand, const char *arg, const char *command, const char *one) {
    if (*operand != NULL)
        lc_cli_usage("%s: %s: more than one operand: give one %s", command, arg, one);
    *operand = arg;
}

error_t lc_cli_operand_add(struct lc_operands *operands, char *arg) {
    if (lc_grow(&operands->items, &operands->cap, operands->n + 1, sizeof operands->items[0]) !=
        LC_OK)
        return ENOMEM;
    operands->items[operands->n++] = arg;
    return 0;
}

/* Edit distance with exchanged neighbours counted once; words longer than the table differ by their
 * rest. */
static unsigned distance(const char *a, const char *b) {
    enum { LONGEST = 40 };
    unsigned table[LONGEST + 1][LONGEST + 1];
    size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (table[i - 1][j] + 1 < best)
                best = table[i - 1][j] + 1;
            if (table[i][j - 1] + 1 < best)
                best = table[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                table[i - 2][j - 2] + 1 < best)
                best = table[i - 2][j - 2] + 1;
            table[i][j] = best;
        }
    return table[n][m];
}

size_t lc_cli_after_dashes(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return (size_t)(argc - i - 1);
    return SIZE_MAX;
}

const char *lc_cli_suggest(const char *word, const char *const *names, size_t count) {
    const char *best = NULL;
    unsigned best_distance = strlen(word) <= 4 ? 2 : 3; /* this or more is another word */
    for (size_t i = 0; i < count; i++) {
        unsigned d = distance(word, names[i]);
        if (strncmp(word, names[i], strlen(word)) == 0)
            d = 1;
        if (d < best_distance) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}

void lc_cli_check_words(const char *option, const char *what, const char *list,
                        const char *const *names, size_t count) {
    char *copy = strdup(list), *rest = copy;
    for (char *word; rest != NULL && (word = strsep(&rest, ",")) != NULL;) {
        bool known = *word == '\0';
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(names[i], word) == 0;
        const char *command = strchr(option, ':');
        const char *better = known ? NULL : lc_cli_suggest(word, names, count);
        if (better != NULL)
            lc_cli_usage("%s %s: no such %s: did you mean %s?", option, word, what, better);
        if (!known)
            lc_cli_usage("%s %s: no such %s: see `latecomer help %.*s`", option, word, what,
                         (int)(command - option), option);
    }
    free(copy);
}

static error_t parse_common(int key, char *arg, struct argp_state *state) {
    (void)arg;
    if (key == 'q')
        lc_log_quiet(true);
    else if (key == 'h')
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option common_options[] = {
    {"quiet", 'q', NULL, 0, "No messages, no progress; only errors, one line each", -2},
    {NULL, 'h', NULL, 0, "This help", -1},
    {0}};
static const struct argp common = {common_options, parse_common, NULL, NULL, NULL, NULL, NULL};

static const struct argp_option *find_short(const struct argp_option *options, int key) {
    for (; options->name != NULL || options->key != 0 || options->doc != NULL; options++)
        if (options->key == key && key > ' ' && key < 127)
            return options;
    return NULL;
}

/* Long options may be abbreviated, as getopt_long allows. */
static const struct argp_option *find_long(const struct argp_option *options, const char *word,
                                           size_t length) {
    for (; options->name != NULL || options->key != 0 || options->doc != NULL; options++)
        if (options->name != NULL && strncmp(options->name, word, length) == 0)
            return options;
    return NULL;
}

static const struct argp_option none[] = {{0}};

static void complain_long(const char *command, const char *word, size_t length,
                          const struct argp_option *options) {
    const char *names[64];
    size_t count = 0;
    names[count++] = "quiet";
    names[count++] = "help";
    for (; options->name != NULL || options->key != 0 || options->doc != NULL; options++)
        if (options->name != NULL && !(options->flags & OPTION_HIDDEN) && count < 64)
            names[count++] = options->name;
    char plain[64];
    snprintf(plain, sizeof plain, "%.*s", (int)length, word);
    const char *better = lc_cli_suggest(plain, names, count);
    if (better != NULL)
        lc_complain("%s: unknown option --%s: did you mean --%s?", command, plain, better);
    else
        lc_complain("%s: unknown option --%s: see `latecomer help %s`", command, plain, command);
}

/* Looks at one argument that begins with '-'. Returns how many arguments it takes (1 or 2), 0 after
 * a complaint. */
static int check_option(const char *command, const struct argp_option *options, const char *word,
                        bool is_last) {
    const struct argp_option *option = NULL;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        static const char *const argp_own[] = {"help", "usage", "quiet"};
        for (size_t i = 0; i < sizeof argp_own / sizeof argp_own[0]; i++)
            if (strncmp(argp_own[i], word + 2, length) == 0)
                return 1;
        option = find_long(options, word + 2, length);
        if (option == NULL) {
            complain_long(command, word + 2, length, options);
            return 0;
        }
        if (option->arg == NULL || option->flags & OPTION_ARG_OPTIONAL || word[2 + length] == '=')
            return 1;
    } else {
        for (const char *p = word + 1; *p != '\0'; p++) {
            option = find_short(options, *p);
            if (option == NULL && strchr("qh?", *p) == NULL) {
                lc_complain("%s: unknown option -%c: see `latecomer help %s`", command, *p,
                            command);
                return 0;
            }
            if (option != NULL && option->arg != NULL) {
                if (p[1] != '\0' || option->flags & OPTION_ARG_OPTIONAL)
                    return 1;
                break;
            }
            option = NULL;
        }
        if (option == NULL)
            return 1;
    }
    if (is_last) {
        lc_complain("%s: option %s needs an argument: see `latecomer help %s`", command, word,
                    command);
        return 0;
    }
    return 2;
}

/* argp's own messages have two lines and another form: so that it never finds an error, errors are
 * found here. */
static bool check_options(const struct argp *argp, unsigned flags, int argc, char **argv) {
    const struct argp_option *options = argp->options != NULL ? argp->options : none;
    for (int i = 1; i < argc;) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0)
            return true;
        if (word[0] != '-' || word[1] == '\0') {
            if (flags & ARGP_IN_ORDER)
                return true;
            i++;
            continue;
        }
        int taken = check_option(argv[0], options, word, i + 1 == argc);
        if (taken == 0)
            return false;
        i += taken;
    }
    return true;
}

int lc_cli_parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *input) {
    if (!check_options(argp, flags, argc, argv))
        return LC_EXIT_USAGE;
    struct argp_child children[] = {{&common, 0, NULL, 0}, {0}};
    struct argp all = *argp;
    all.children = children;
    char name[64], *command = argv[0];
    snprintf(name, sizeof name, "latecomer %s", command);
    argv[0] = name;
    argp_err_exit_status = LC_EXIT_USAGE;
    error_t failed = argp_parse(&all, argc, argv, flags, NULL, input);
    argv[0] = command;
    if (failed == 0)
        return LC_EXIT_OK;
    lc_complain("%s: %s: see `latecomer help %s`", command, strerror(failed), command);
    return LC_EXIT_USAGE;
}
