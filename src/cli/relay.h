/* Runs a program of ours, maybe through a launcher, and lets pass what it says: lines of
 * standard error that begin with "latecomer: ". Launchers print pages about programs that fail, and
 * libraries a line of their own before they abort; that is shown only if the program has not told
 * what happened. Used by mpi_program.c. */
#ifndef LC_CLI_RELAY_H
#define LC_CLI_RELAY_H

#include <signal.h>

#include "base/strbuf.h"

/* words[]: program and arguments, ended by NULL; words[slot] becomes "status=<file>", where the
 * program leaves its exit code as one byte, and behind it what is to be said of its end, if
 * anything. Returns that, or LC_EXIT_ERROR after a line that says how the program ended without
 * telling one. `command`: for messages. `held`: takes what would be said then instead, also what
 * launchers write to standard output, and the line is left out; may be NULL.
 * `interrupted`: set by a handler of the caller; a program that does not end is sent SIGTERM 3 s
 * later, SIGKILL 12 s later; NULL: it is waited for. */
int lc_relay_run(const char *command, char **words, int slot, struct lc_strbuf *held,
                 const volatile sig_atomic_t *interrupted);

#endif
