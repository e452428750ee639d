/* Preloaded into `latecomer`. Once a SIGINT would end it, rank 0 gets no processor for a while
 * after each SIGINT that it sends, and others do not wake in time. TALLY_DIR/sent.PID: a SIGINT was
 * sent to that process, and the sender still lives. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WHILE_MS = 100, LATE_S = 20 };

static int really_sleep(const struct timespec *time, struct timespec *rest) {
    int (*next)(const struct timespec *, struct timespec *) =
        (int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep");
    return next(time, rest);
}

/* One that is to be late is, whatever it would do next. */
static void be_late(void) {
    really_sleep(&(struct timespec){.tv_sec = LATE_S}, NULL);
}

static bool is_first(void) {
    const char *rank = getenv("PMI_RANK");
    return rank == NULL || strcmp(rank, "0") == 0;
}

static bool is_leaving(void) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    return strcmp(program_invocation_short_name, "latecomer") == 0 &&
           !sigismember(&blocked, SIGINT);
}

__attribute__((visibility("default"))) int kill(pid_t pid, int signo) {
    int (*next)(pid_t, int) = (int (*)(pid_t, int))dlsym(RTLD_NEXT, "kill");
    bool counts = signo == SIGINT && is_leaving();
    if (counts && !is_first())
        be_late();
    int status = next(pid, signo);
    if (!counts)
        return status;
    char path[4096];
    const char *dir = getenv("TALLY_DIR");
    really_sleep(&(struct timespec){.tv_nsec = WHILE_MS * 1000000}, NULL);
    snprintf(path, sizeof path, "%s/sent.%d", dir != NULL ? dir : ".", (int)pid);
    FILE *file = fopen(path, "we");
    if (file != NULL)
        fclose(file);
    return status;
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *time,
                                                     struct timespec *rest) {
    if (!is_first() && is_leaving())
        be_late();
    return really_sleep(time, rest);
}
