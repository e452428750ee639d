#include "run/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "run/kept_fd.h"
#include "run/run.h"

/* The child: sleeps until the last copy of the other end is closed. */
static void guard(struct lc_run *run, int fd) {
    char byte;
    ssize_t got;
    setsid();
    lc_keep_only(fd);
    while ((got = read(LC_KEPT_FD, &byte, 1)) > 0 || (got < 0 && errno == EINTR))
        ;
    run->end_ns = lc_monotonic_raw_ns();
    run->wait_status = SIGKILL; /* as waitpid tells a death by signal */
    lc_control_close(run);
    lc_run_finish_killed(run);
    _exit(0);
}

void lc_guard_start(struct lc_run *run) {
    int fds[2];
    lc_guard_stop(&run->guard);
    if (run->peers.n_states == 0 || run->peers.own != 0 || pipe2(fds, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[1]);
        guard(run, fds[0]);
    }
    close(fds[0]);
    if (pid < 0)
        close(fds[1]);
    else
        run->guard = (struct lc_guard){.pid = pid, .fd = fds[1]};
}

void lc_guard_stop(struct lc_guard *guard) {
    if (guard->pid == 0)
        return;
    kill(guard->pid, SIGKILL);
    close(guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    guard->pid = 0;
}
