/* Keeps the parents of other ranks from being found dead before their programs are.
 *
 * When a rank fails, MPICH's proxy kills all others of its node, `latecomer run` and program alike,
 * and gives the exit status of the one that failed unless it finds a killed one dead while the
 * output of any is open (the proxy of Hydra 4). A process closes its output and can be found
 * dead at nearly the same instant; but `latecomer run` has less memory to give back than its
 * program, so it would be found long before the program has closed the output of both.
 *
 * A process that is traced is shown to its parent as dead only when the tracer has taken note of
 * that (ptrace(2)). So a process of its own, the holder, in a session that no signal to the job's
 * groups reaches, traces the parents, without stopping them, and takes note when the program is
 * gone. Where ptrace is forbidden all is as without it.
 *
 * Called by leave.c, by the parent whose program has failed, just before it ends. */
#ifndef LC_RUN_HOLD_H
#define LC_RUN_HOLD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lc_held {
    pid_t parent, program;
};

/* Starts the holder of these parents, and returns when it traces them. It lets each go as soon as
 * its program has ended, or it is stopped; all of them at `until_ns` (CLOCK_MONOTONIC_RAW), and
 * ends. Never fails visibly. */
void lc_hold_start(const struct lc_held *held, size_t n, uint64_t until_ns);
/* Lets any process of this user hold this one, which it may not where Yama restricts ptrace. */
void lc_hold_allow(void);

#endif
