/* Tells whether a signal went to us alone or to our whole process group. Launchers and terminals
 * signal groups: then the program, which stays in our group, has got the signal already, and
 * forwarding would deliver it twice. The kernel does not say; so a tiny process of our own sits in
 * the same group, keeps all signals, and answers which it has got. The group's newest members are
 * signalled first, and we are older, so its copy is always there before ours. */
#ifndef LC_RUN_SENTINEL_H
#define LC_RUN_SENTINEL_H

#include <stdbool.h>
#include <sys/types.h>

struct lc_sentinel {
    pid_t pid; /* 0: none; then every signal counts as ours alone */
    int fd;
};

/* All signals must be blocked already. Never fails visibly. */
void lc_sentinel_start(struct lc_sentinel *sentinel);
/* True if `signo` came to the whole group since the last question. */
bool lc_sentinel_got(struct lc_sentinel *sentinel, int signo);
/* Ends the sentinel and waits for it. */
void lc_sentinel_stop(struct lc_sentinel *sentinel);

#endif
