/* What saves the result when `latecomer run` itself is killed (kill -9; MPICH's proxy does that to
 * all its processes, parents included, when the launcher dies of SIGHUP). On every node the parent
 * of the lowest rank forks a guard when the ranks are known: a process in a session of its own, out
 * of reach of signals to the job's groups, that holds the states of the node's ranks and sleeps
 * until its parent is gone. If the result is saved then, it ends; else it saves it. */
#ifndef LC_RUN_GUARD_H
#define LC_RUN_GUARD_H

struct lc_guard;
struct lc_run;

/* A new guard in place of the old one; run->peers are mapped. Never fails visibly. */
void lc_guard_start(struct lc_run *run);
/* Ends the guard, if there is one, and waits for it. */
void lc_guard_stop(struct lc_guard *guard);

#endif
