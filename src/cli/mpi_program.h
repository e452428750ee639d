/* The programs that are there once per MPI, <prefix>/libexec/latecomer-COMMAND-FLAVOUR: found, and
 * started with words KEY=VALUE, by a launcher or in its place. */
#ifndef LC_CLI_MPI_PROGRAM_H
#define LC_CLI_MPI_PROGRAM_H

#include <signal.h>

#include "base/err.h"
#include "job/launcher.h"
#include "base/strbuf.h"

enum { LC_WORDS_MOST = 60 };

struct lc_words {
    char *word[LC_WORDS_MOST];
    int n;
};

/* <prefix>/libexec/latecomer-COMMAND-FLAVOUR, seen from <prefix>/bin/latecomer; false: this flavour
 * was not built. */
bool lc_mpi_program_find(const char *command, enum lc_flavour flavour, struct lc_strbuf *program);

/* Begins with the program of a command: with that which can talk to the launcher `launch` of this
 * process; NULL: with a launcher before it if `ranks` > 1. `flavour`: that one only, unless it is
 * unknown. LC_ERR_NOT_FOUND. */
enum lc_err lc_words_begin(struct lc_words *words, const char *command,
                           const struct lc_launch *launch, enum lc_flavour flavour, long ranks);

/* Adds "key=value", or the value alone if the key is empty; nothing if it is NULL. */
void lc_words_add(struct lc_words *words, const char *key, const char *value);

/* Replaces this process; returns an exit status only if that fails, the words are freed. */
int lc_words_become(struct lc_words *words, const char *command);
/* Starts them and relays what the program says (relay.h; `held` and `interrupted` as there).
 * Frees the words, returns the exit status. */
int lc_words_run(struct lc_words *words, const char *command, struct lc_strbuf *held,
                 const volatile sig_atomic_t *interrupted);

#endif
