#include "run/start.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/launcher.h"
#include "base/mem.h"
#include "run/inspect.h"
#include "run/run_options.h"

struct words {
    char **items;
    size_t n_items, cap_items;
};

static enum lc_err add_word(struct words *words, const char *text) {
    LC_TRY(lc_grow(&words->items, &words->cap_items, words->n_items + 2, sizeof words->items[0]));
    LC_TRY(lc_strdup(&words->items[words->n_items], text));
    words->n_items++;
    return LC_OK;
}

/* The options travel on the command line, since launchers do not carry the environment to other
 * nodes. */
static enum lc_err add_options(struct words *words, bool quiet) {
    char text[4200];
    for (const struct lc_run_option *option = lc_run_options; option->name != NULL; option++) {
        const char *value = lc_run_option_text(option->name);
        if (value == NULL || strcmp(option->name, "ranks") == 0 ||
            strcmp(option->name, "launcher") == 0 ||
            (option->argument == NULL && !lc_run_option_on(option->name)))
            continue;
        if (option->argument == NULL)
            snprintf(text, sizeof text, "--%s", option->name);
        else
            snprintf(text, sizeof text, "--%s=%s", option->name, value);
        LC_TRY(add_word(words, text));
    }
    return quiet ? add_word(words, "-q") : LC_OK;
}

static enum lc_err make_command(struct words *words, const struct lc_starter *starter, long ranks,
                                char **argv, bool quiet) {
    char number[24], self[PATH_MAX];
    const char *options[LC_START_WORDS];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return lc_fail_errno(LC_ERR_SYSTEM, "/proc/self/exe: cannot be read");
    self[length] = '\0';
    LC_TRY(add_word(words, starter->path));
    int n = lc_starter_words(starter, ranks, false, options, number);
    for (int i = 0; i < n; i++)
        LC_TRY(add_word(words, options[i]));
    LC_TRY(add_word(words, self));
    LC_TRY(add_word(words, "run"));
    LC_TRY(add_options(words, quiet));
    LC_TRY(add_word(words, "--"));
    for (; *argv != NULL; argv++)
        LC_TRY(add_word(words, *argv));
    words->items[words->n_items] = NULL;
    return LC_OK;
}

enum lc_err lc_start_job(long ranks, char **argv, bool quiet) {
    struct lc_program program;
    struct words words = {0};
    struct lc_starter starter;
    LC_TRY(lc_program_inspect(&program, lc_program_of(argv)));
    enum lc_err err = lc_starter_find(&starter, program.flavour, program.mpi_library,
                                      lc_run_option_text("launcher"));
    if (err == LC_OK)
        err = make_command(&words, &starter, ranks, argv, quiet);
    if (err == LC_OK && words.items != NULL) {
        unsetenv("LATECOMER_RANKS");
        fflush(NULL);
        execv(starter.path, words.items);
        err = lc_fail_errno(LC_ERR_SYSTEM, "%s: cannot be run", starter.path);
    }
    for (size_t i = 0; words.items != NULL && i < words.n_items; i++)
        free(words.items[i]);
    free(words.items);
    lc_starter_free(&starter);
    lc_program_free(&program);
    return err;
}
