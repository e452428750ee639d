#include "run/hold.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timer.h"
#include "run/kept_fd.h"

enum {
    READY_MAX_MS = 500, /* until it traces them; a limit, should it get no processor */
    LOOK_MS = 5         /* how often those that were stopped are looked for */
};

/* A parent that is stopped, or about to be: it goes on, with the signal that it was to get. */
static void detach(pid_t parent, int status) {
    int event = status >> 16;
    ptrace(PTRACE_DETACH, parent, NULL, event == PTRACE_EVENT_STOP ? 0L : (long)WSTOPSIG(status));
}

/* Its program is gone. If it is dead, this makes its own parent find it. */
static void let_go(pid_t parent) {
    int status;
    pid_t pid;
    ptrace(PTRACE_INTERRUPT, parent, NULL, NULL); /* it fails for one that is dead */
    while ((pid = waitpid(parent, &status, __WALL)) < 0 && errno == EINTR)
        ;
    if (pid == parent && WIFSTOPPED(status))
        detach(parent, status);
}

/* Whoever stops one of them, or sends it a signal that is not blocked, finds it as it was. */
static bool was_stopped(pid_t parent) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)parent, &info, WSTOPPED | WNOHANG | __WALL) != 0 || info.si_pid == 0)
        return false;
    detach(parent, info.si_status << 8);
    return true;
}

static size_t trace_all(const struct lc_held *held, size_t n, struct pollfd *programs) {
    size_t traced = 0;
    for (size_t i = 0; i < n; i++) {
        programs[i] = (struct pollfd){.fd = -1, .events = POLLIN};
        int fd = (int)syscall(SYS_pidfd_open, held[i].program, 0u);
        if (fd < 0)
            continue;
        if (ptrace(PTRACE_SEIZE, held[i].parent, NULL, NULL) != 0) {
            close(fd);
            continue;
        }
        programs[i].fd = fd;
        traced++;
    }
    return traced;
}

/* The holder. What it still traces at its end goes on by itself. */
static void hold(const struct lc_held *held, size_t n, uint64_t until_ns, int ready) {
    struct pollfd *programs;
    setsid();
    lc_keep_only(ready);
    if (lc_alloc(&programs, n, sizeof *programs) != LC_OK)
        return;
    size_t traced = trace_all(held, n, programs);
    close(LC_KEPT_FD);
    while (traced > 0 && lc_monotonic_raw_ns() < until_ns) {
        poll(programs, (nfds_t)n, LOOK_MS);
        for (size_t i = 0; i < n; i++) {
            if (programs[i].fd < 0)
                continue;
            if ((programs[i].revents & POLLIN) != 0)
                let_go(held[i].parent);
            else if (!was_stopped(held[i].parent))
                continue;
            programs[i].fd = -1;
            traced--;
        }
    }
}

void lc_hold_start(const struct lc_held *held, size_t n, uint64_t until_ns) {
    int ready[2];
    if (n == 0 || pipe2(ready, 0) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(ready[0]);
        hold(held, n, until_ns, ready[1]);
        _exit(0);
    }
    close(ready[1]);
    struct pollfd closed = {.fd = ready[0]}; /* POLLHUP */
    if (pid > 0)
        poll(&closed, 1, READY_MAX_MS);
    close(ready[0]);
}

void lc_hold_allow(void) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0L, 0L, 0L);
}
