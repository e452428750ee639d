#include "cli/mpi_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cmd.h"
#include "cli/relay.h"

bool lc_mpi_program_find(const char *command, enum lc_flavour flavour, struct lc_strbuf *program) {
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    lc_strbuf_clear(program);
    if (n <= 0)
        return false;
    self[n] = 0;
    for (int up = 0; up < 2 && strrchr(self, '/'); up++)
        *strrchr(self, '/') = 0;
    lc_strbuf_printf(program, "%s/libexec/latecomer-%s-%s", self, command,
                     lc_flavour_word(flavour));
    return access(lc_strbuf_get(program), X_OK) == 0;
}

/* The program that can talk to the launcher that started us. */
static enum lc_err find_launched(const char *command, const struct lc_launch *launch,
                                 struct lc_strbuf *program) {
    bool openmpi = launch->kind == LC_LAUNCHER_OPENMPI || launch->wire == LC_WIRE_PMIX;
    /* Where no wire leads to the others, one rank works alone, and it does not matter which. */
    if (lc_mpi_program_find(command, openmpi ? LC_FLAVOUR_IS_OPENMPI : LC_FLAVOUR_IS_MPICH,
                            program) ||
        lc_mpi_program_find(command, openmpi ? LC_FLAVOUR_IS_MPICH : LC_FLAVOUR_IS_OPENMPI,
                            program))
        return LC_OK;
    return lc_fail(LC_ERR_NOT_FOUND, "%s: %s: not there: the build or installation is incomplete",
                   command, lc_strbuf_get(program));
}

/* The first flavour that is wanted, was built and has a launcher here. */
static enum lc_err find_to_start(const char *command, enum lc_flavour wanted,
                                 struct lc_starter *starter, struct lc_strbuf *program) {
    static const enum lc_flavour flavours[] = {LC_FLAVOUR_IS_OPENMPI, LC_FLAVOUR_IS_MPICH};
    enum lc_err err = LC_ERR_NOT_FOUND;
    bool built = false;
    for (size_t i = 0; i < sizeof flavours / sizeof flavours[0]; i++) {
        if ((wanted != LC_FLAVOUR_UNKNOWN && wanted != flavours[i]) ||
            !lc_mpi_program_find(command, flavours[i], program))
            continue;
        built = true;
        err = lc_starter_find(starter, flavours[i], NULL, NULL);
        if (err == LC_OK)
            return LC_OK;
    }
    if (!built)
        return lc_fail(LC_ERR_NOT_FOUND,
                       "%s: %s: not there: the build or installation is incomplete", command,
                       lc_strbuf_get(program));
    return lc_fail(LC_ERR_NOT_FOUND,
                   "%s: no mpirun found in PATH: load the module of your MPI, or use -n 1",
                   command);
}

void lc_words_add(struct lc_words *words, const char *key, const char *value) {
    struct lc_strbuf text = {0};
    if (!value || words->n >= LC_WORDS_MOST - 2)
        return;
    lc_strbuf_printf(&text, *key ? "%s=%s" : "%s%s", key, value);
    words->word[words->n++] = lc_strbuf_take(&text);
}

static void add_launcher(struct lc_words *words, const struct lc_starter *starter, long ranks) {
    const char *given[LC_START_WORDS];
    char number[24];
    int n = lc_starter_words(starter, ranks, true, given, number);
    lc_words_add(words, "", starter->path);
    for (int i = 0; i < n; i++)
        lc_words_add(words, "", given[i]);
}

static void free_words(const struct lc_words *words) {
    for (int i = 0; i < words->n; i++)
        free(words->word[i]);
}

int lc_words_become(struct lc_words *words, const char *command) {
    words->word[words->n] = NULL;
    execv(words->word[0], words->word);
    lc_complain("%s: %s: %s", command, words->word[0], strerror(errno));
    free_words(words);
    return LC_EXIT_ERROR;
}

int lc_words_run(struct lc_words *words, const char *command, struct lc_strbuf *held,
                 const volatile sig_atomic_t *interrupted) {
    words->word[words->n] = NULL;
    int code = lc_relay_run(command, words->word, words->n, held, interrupted);
    free_words(words);
    return code;
}

enum lc_err lc_words_begin(struct lc_words *words, const char *command,
                           const struct lc_launch *launch, enum lc_flavour flavour, long ranks) {
    struct lc_strbuf program = {0};
    struct lc_starter starter = {0};
    enum lc_err err;
    if (launch == NULL && ranks > 1) {
        err = find_to_start(command, flavour, &starter, &program);
        if (err == LC_OK)
            add_launcher(words, &starter, ranks);
    } else if (launch == NULL && flavour != LC_FLAVOUR_UNKNOWN) {
        err = lc_mpi_program_find(command, flavour, &program)
                  ? LC_OK
                  : lc_fail(LC_ERR_NOT_FOUND, "%s: built without %s", command,
                            lc_flavour_name(flavour));
    } else {
        err = find_launched(command, launch ? launch : &(struct lc_launch){.wire = LC_WIRE_PMIX},
                            &program);
    }
    if (err == LC_OK)
        lc_words_add(words, "", lc_strbuf_get(&program));
    lc_starter_free(&starter);
    lc_strbuf_free(&program);
    return err;
}
