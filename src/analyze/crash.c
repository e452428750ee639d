#include "analyze/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { GUARDED = 0 };
#else
enum { GUARDED = 1 };
#endif

enum { LINE_BYTES = 1024, STACK_BYTES = 65536, PATIENCE = 30 };

static const struct {
    int signal;
    const char *name;
} deadly[] = {{SIGSEGV, "SIGSEGV"},
              {SIGBUS, "SIGBUS"},
              {SIGFPE, "SIGFPE"},
              {SIGILL, "SIGILL"},
              {SIGABRT, "SIGABRT"}};
enum { N_DEADLY = sizeof deadly / sizeof *deadly };

/* Made ready before anything can fail: the handler only writes. */
static char lines[2][N_DEADLY][LINE_BYTES];
static char hanging[LINE_BYTES];
static volatile sig_atomic_t in_reader;
static const volatile uint64_t *watched; /* records read; NULL: libotf2 is not at work */
static uint64_t seen;
static int patience = PATIENCE, idle; /* seconds */
static int status_fd = -1;

/* The first rank that fails tells; async-signal-safe. */
static bool first_to_tell(char code) {
    struct stat info;
    if (status_fd < 0)
        return true;
    flock(status_fd, LOCK_EX);
    bool first = fstat(status_fd, &info) == 0 && info.st_size == 0;
    if (first)
        first = pwrite(status_fd, &code, 1, 0) == 1;
    flock(status_fd, LOCK_UN);
    return first;
}

static void on_deadly(int signal) {
    for (int i = 0; i < N_DEADLY; i++)
        if (deadly[i].signal == signal && first_to_tell(1)) {
            const char *line = lines[in_reader ? 1 : 0][i];
            ssize_t written = write(STDERR_FILENO, line, strlen(line));
            (void)written;
        }
    _exit(1);
}

/* A second of computing has passed. */
static void on_second(int signal) {
    (void)signal;
    if (!watched)
        return;
    idle = *watched == seen ? idle + 1 : 0;
    seen = *watched;
    if (idle < patience)
        return;
    if (first_to_tell(1)) {
        ssize_t written = write(STDERR_FILENO, hanging, strlen(hanging));
        (void)written;
    }
    _exit(1);
}

static void be_patient(const char *archive) {
    const char *seconds = getenv("LATECOMER_READER_PATIENCE");
    if (seconds && atoi(seconds) > 0)
        patience = atoi(seconds);
    snprintf(hanging, LINE_BYTES,
             "latecomer: %.800s: libotf2 has computed for %d s without reading a record: the "
             "archive is damaged\n",
             archive, patience);
    struct sigaction action = {.sa_handler = on_second, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
}

void lc_crash_guard(const char *archive, const char *status) {
    if (status)
        status_fd = open(status, O_RDWR | O_CLOEXEC);
    be_patient(archive);
    if (!GUARDED)
        return;
    static char stack[STACK_BYTES]; /* what overflows is the other one */
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    for (int i = 0; i < N_DEADLY; i++) {
        snprintf(lines[0][i], LINE_BYTES,
                 "latecomer: %.800s: the analysis was ended by %s: please report it\n", archive,
                 deadly[i].name);
        snprintf(
            lines[1][i], LINE_BYTES,
            "latecomer: %.800s: libotf2 ended by %s while reading it: the archive is damaged\n",
            archive, deadly[i].name);
        struct sigaction action = {.sa_handler = on_deadly, .sa_flags = SA_ONSTACK | SA_RESETHAND};
        sigaction(deadly[i].signal, &action, NULL);
    }
}

void lc_crash_reading(bool reading) {
    in_reader = reading;
}

void lc_crash_watch(const uint64_t *records) {
    const time_t second = records ? 1 : 0;
    const struct itimerval timer = {{second, 0}, {second, 0}};
    if (!hanging[0]) /* no guard: the signal would be deadly */
        return;
    watched = NULL;
    idle = 0;
    seen = 0;
    watched = records;
    setitimer(ITIMER_PROF, &timer, NULL); /* of computing: waiting for a slow disk is no fault */
}

int lc_crash_tell(int code) {
    if (status_fd < 0)
        return code;
    first_to_tell((char)code);
    return 0;
}
