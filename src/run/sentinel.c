#include "run/sentinel.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/proc_status.h"

/* The child: lets all signals pend. Ends with its parent. */
static void keep_signals(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    close_range(0, ~0u, 0); /* keeps no pipe of anybody open */
    for (;;)
        pause();
}

/* 0: none. The kernel links a new process into its group in one step with respect to signals to
 * that group: one that comes before does not reach it, one that comes after does. */
static pid_t new_process(void) {
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        keep_signals(parent);
    return pid < 0 ? 0 : pid;
}

static void end_process(pid_t pid) {
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* 0 if that cannot be read. */
static uint64_t pending_for(pid_t pid) {
    struct lc_proc_status status;
    lc_proc_status_get(pid, &status);
    return status.pending;
}

static bool pending_for_us(int signo) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signo) == 1;
}

void lc_sentinel_start(struct lc_sentinel *sentinel) {
    *sentinel = (struct lc_sentinel){.pid = new_process()};
}

/* A new process takes over. `kept` gets what came before it was there; what came after is pending
 * for it, too. False if there can be no new one. */
static bool renew(struct lc_sentinel *sentinel, uint64_t *had) {
    pid_t pid = new_process();
    if (pid == 0)
        return false;
    *had = pending_for(sentinel->pid); /* first: what it has, the newer one has had before */
    sentinel->kept |= *had & ~pending_for(pid);
    end_process(sentinel->pid);
    sentinel->pid = pid;
    return true;
}

bool lc_sentinel_got(struct lc_sentinel *sentinel, int signo) {
    if (sentinel->pid == 0)
        return false;
    uint64_t had = pending_for(sentinel->pid);
    if (((sentinel->kept | had) & lc_signal_bit(signo)) == 0)
        return false;
    if ((had & lc_signal_bit(signo)) != 0 && !renew(sentinel, &had))
        return true; /* the best that can be told: the same signals to us alone are lost from now */
    bool next_has_it = (pending_for(sentinel->pid) & lc_signal_bit(signo)) != 0;
    sentinel->kept |= had & lc_signal_bit(signo);
    if (next_has_it || !pending_for_us(signo))
        sentinel->kept &= ~lc_signal_bit(signo);
    return true;
}

void lc_sentinel_continue(struct lc_sentinel *sentinel) {
    if (sentinel->pid != 0)
        kill(sentinel->pid, SIGCONT); /* takes back what is pending for it */
    sentinel->kept &= ~(lc_signal_bit(SIGTSTP) | lc_signal_bit(SIGTTIN) | lc_signal_bit(SIGTTOU));
}

void lc_sentinel_stop(struct lc_sentinel *sentinel) {
    if (sentinel->pid == 0)
        return;
    end_process(sentinel->pid);
    sentinel->pid = 0;
}
