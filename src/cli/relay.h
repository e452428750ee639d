/* Runs the analysis program, maybe through a launcher, and lets pass what it says: lines of
 * standard error that begin with "latecomer: ". Launchers print pages about programs that fail, and
 * libraries a line of their own before they abort; that is shown only if the program has not told
 * what happened. Used by cmd_analyze.c. */
#ifndef LC_CLI_RELAY_H
#define LC_CLI_RELAY_H

/* words[]: program and arguments, ended by NULL; words[slot] becomes "status=<file>", where the
 * program leaves its exit code as one byte. Returns that, or LC_EXIT_ERROR after a line that says
 * how the program ended without telling one. */
int lc_relay_run(char **words, int slot);

#endif
