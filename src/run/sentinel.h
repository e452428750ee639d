/* Tells whether a signal went to us alone or to our whole process group. Launchers and terminals
 * signal groups: then the program, which stays in our group, has got the signal already, and
 * forwarding would deliver it twice. The kernel does not say; so a tiny process of our own sits in
 * the same group and keeps all signals pending. The group's newest members are signalled first, and
 * we are older, so its copy is always there before ours.
 *
 * The sentinel is never asked, and need not run: /proc tells what is pending for it, so the answer
 * is right however busy the machine is, also while it is stopped. Pending signals cannot be taken
 * away from outside; a new sentinel takes the place of one that has some. */
#ifndef LC_RUN_SENTINEL_H
#define LC_RUN_SENTINEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lc_sentinel {
    pid_t pid;     /* 0: none; then every signal counts as ours alone */
    uint64_t kept; /* bit s - 1: signal s came to the group, and lc_sentinel_got has not told so */
};

/* All signals must be blocked already. Never fails visibly. */
void lc_sentinel_start(struct lc_sentinel *sentinel);
/* True if `signo`, which the caller has just taken from its own pending signals, came to the whole
 * group. Equal signals that come at the same time may count as one, as they do for the kernel: of
 * two, one to us alone and one to the group, the first may count as that of the group. */
bool lc_sentinel_got(struct lc_sentinel *sentinel, int signo);
/* To be called when SIGCONT has come, however it was sent: the kernel has then taken back what
 * would stop us, so that lc_sentinel_got will not be asked about it. */
void lc_sentinel_continue(struct lc_sentinel *sentinel);
/* Ends the sentinel and waits for it. */
void lc_sentinel_stop(struct lc_sentinel *sentinel);

#endif
