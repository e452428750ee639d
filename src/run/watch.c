/* While the program runs: sleep, forward signals, read notifications of the library, answer
 * `latecomer dump`. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "base/log.h"
#include "format/state.h"
#include "run/guard.h"
#include "run/run.h"

/* A stopped job: the shell waits for us, so we stop too if it is the terminal's doing. */
static void stop_like_program(int signo) {
    if (signo != SIGTSTP && signo != SIGTTIN && signo != SIGTTOU)
        return;
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0)
        return;
    close(terminal);
    kill(getpid(), SIGSTOP);
}

/* True if the program has ended. */
static bool look_after_child(struct lc_run *run) {
    int status;
    for (;;) {
        pid_t pid = waitpid(run->child, &status, WNOHANG | WUNTRACED);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0)
            return false;
        if (WIFSTOPPED(status)) {
            stop_like_program(WSTOPSIG(status));
            continue;
        }
        run->end_ns = lc_monotonic_raw_ns();
        run->wait_status = status;
        return true;
    }
}

/* A job that is ended from outside: when its result is written, the launcher is often gone, and
 * with it the way for messages. So it is said now where the result will be. */
static void say_where(struct lc_run *run, int signo) {
    if (signo != SIGTERM || run->passed_signal == SIGTERM || !run->measure ||
        run->launch.rank != 0 || run->launch.kind == LC_LAUNCHER_NONE || run->peers.n_states == 0)
        return;
    lc_say("SIGTERM: everything measured until the program ends is saved to %s", run->dir.path);
}

static void forward(struct lc_run *run, const struct signalfd_siginfo *info) {
    int signo = (int)info->ssi_signo;
    if (info->ssi_pid == (uint32_t)getpid())
        return; /* SIGXFSZ, SIGPIPE of our own writes: nobody sent it to the program */
    if (signo == SIGCONT) {
        lc_sentinel_continue(&run->sentinel);
        kill(run->child, SIGCONT);
        return;
    }
    say_where(run, signo);
    run->passed_signal = signo;
    run->signal_sender = (pid_t)info->ssi_pid;
    if (run->peers.n_states != 0)
        atomic_store(&run->peers.states[run->peers.own].header->passed_signal, signo);
    if (lc_sentinel_got(&run->sentinel, signo))
        return;
    if (info->ssi_code == SI_QUEUE) {
        union sigval value = {.sival_ptr = (void *)(uintptr_t)info->ssi_ptr};
        sigqueue(run->child, signo, value);
    } else {
        kill(run->child, signo);
    }
}

static void mark_taking(struct lc_run *run, uint32_t taking) {
    if (run->peers.n_states != 0)
        atomic_store(&run->peers.states[run->peers.own].header->taking_signals, taking);
}

/* True if the program has ended. */
static bool take_signals(struct lc_run *run, int signal_fd) {
    struct signalfd_siginfo info;
    bool ended = false;
    mark_taking(run, 1); /* for sure_ends.c */
    while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            ended = ended || look_after_child(run);
        else if (!ended)
            forward(run, &info);
    }
    mark_taking(run, 0);
    return ended;
}

static void read_notifications(struct lc_run *run) {
    char bytes[64];
    ssize_t got;
    while ((got = read(run->notify[0], bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (bytes[i] == 'i') {
                lc_peers_map(run);
                lc_guard_start(run);
                lc_control_watch(run);
                if (run->launch.rank == 0)
                    lc_rundir_unlink(&run->dir);
            } else if (bytes[i] == 'a') {
                lc_run_save_before_abort(run);
            } else if (bytes[i] == 'f') {
                run->finalize_ns = lc_monotonic_raw_ns();
            }
        }
}

static void take_timer(struct lc_run *run) {
    uint64_t ticks;
    if (read(run->timer_fd, &ticks, sizeof ticks) == (ssize_t)sizeof ticks)
        if (lc_run_dump(run) == LC_ERR_IO)
            lc_complain("%s", lc_err_text());
}

/* When MPI_Finalize takes too long; 0: never. */
static uint64_t patience_due_ns(const struct lc_run *run) {
    return run->finalize_ns == 0 || run->result_saved
               ? 0
               : run->finalize_ns + LC_FINALIZE_PATIENCE_S * UINT64_C(1000000000);
}

/* Milliseconds until something is to be done that nobody wakes us for; -1: nothing. */
static int time_to_wait(const struct lc_run *run) {
    uint64_t patience = patience_due_ns(run), look = lc_control_due_ns(run);
    uint64_t due = patience == 0 || (look != 0 && look < patience) ? look : patience;
    uint64_t now = lc_monotonic_raw_ns();
    return due == 0 ? -1 : due <= now ? 0 : (int)((due - now) / 1000000u + 1);
}

static void take_time(struct lc_run *run) {
    uint64_t patience = patience_due_ns(run), now = lc_monotonic_raw_ns();
    if (patience != 0 && patience <= now) {
        lc_run_save_in_finalize(run);
        run->finalize_ns = 0;
    }
    if (lc_control_due_ns(run) != 0 && lc_control_due_ns(run) <= now)
        lc_control_look(run);
}

void lc_run_watch(struct lc_run *run) {
    sigset_t all;
    sigfillset(&all);
    int signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0) { /* no descriptor left: signals are lost, the end is not */
        while (waitpid(run->child, &run->wait_status, 0) < 0 && errno == EINTR)
            ;
        run->end_ns = lc_monotonic_raw_ns();
        return;
    }
    struct pollfd fds[] = {
        {.fd = signal_fd, .events = POLLIN},
        {.fd = run->measure ? run->notify[0] : -1, .events = POLLIN},
        {.fd = run->measure ? run->control_fd : -1, .events = POLLIN},
        {.fd = run->measure ? run->timer_fd : -1, .events = POLLIN},
    };
    bool ended = look_after_child(run);
    while (!ended) {
        int ready = poll(fds, sizeof fds / sizeof fds[0], time_to_wait(run));
        if (ready == 0)
            take_time(run);
        if (ready <= 0)
            continue;
        if (fds[1].revents & POLLIN)
            read_notifications(run);
        if (fds[2].revents & POLLIN)
            lc_control_serve(run);
        if (fds[3].revents & POLLIN)
            take_timer(run);
        if (fds[0].revents & POLLIN)
            ended = take_signals(run, signal_fd);
    }
    if (run->measure)
        read_notifications(run); /* sent just before the end */
    close(signal_fd);
}
