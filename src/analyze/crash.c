#include "analyze/crash.h"

#include <fcntl.h>
#include <setjmp.h>
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

/* Where a process that has to stay goes on. */
static sigjmp_buf after_reading;
static bool has_to_stay;
static volatile sig_atomic_t may_leave; /* after_reading is set */
static const char *volatile why;        /* the line of what happened */

static void leave_reader(const char *line) {
    if (!may_leave)
        return;
    may_leave = false;
    why = line;
    siglongjmp(after_reading, 1);
}

/* The first rank that fails reports it; async-signal-safe. */
static bool is_first_report(char code) {
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
        if (deadly[i].signal == signal)
            leave_reader(lines[1][i]);
    for (int i = 0; i < N_DEADLY; i++)
        if (deadly[i].signal == signal && is_first_report(1)) {
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
    leave_reader(hanging);
    if (is_first_report(1)) {
        ssize_t written = write(STDERR_FILENO, hanging, strlen(hanging));
        (void)written;
    }
    _exit(1);
}

static void watch_reader(const char *archive) {
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

void lc_crash_guard(const char *archive, const char *status, bool stay) {
    has_to_stay = stay;
    if (status)
        status_fd = open(status, O_RDWR | O_CLOEXEC);
    watch_reader(archive);
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
        struct sigaction action = {.sa_handler = on_deadly, .sa_flags = SA_ONSTACK};
        sigaction(deadly[i].signal, &action, NULL);
    }
}

/* A crash inside malloc may have left its lock taken: then nothing can go on. */
static void try_memory(void) {
    alarm(2); /* ends the process */
    for (size_t bytes = 16; bytes <= 1 << 20; bytes *= 4) {
        void *volatile block = malloc(bytes);
        free(block);
    }
    alarm(0);
}

bool lc_crash_read(enum lc_err (*read)(void *user), void *user, enum lc_err *err) {
    if (sigsetjmp(after_reading, 1) == 0) {
        may_leave = has_to_stay;
        *err = read(user);
        may_leave = false;
        return true;
    }
    lc_crash_watch(NULL);
    try_memory();
    const char *line = why + sizeof "latecomer: " - 1;
    *err = lc_fail(LC_ERR_FORMAT, "%.*s", (int)strcspn(line, "\n"), line);
    return false;
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
    is_first_report((char)code);
    return 0;
}
