/* Starting the program: descriptors, environment, fork and exec. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/asan_options.h"
#include "base/given_options.h"
#include "base/timer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/parents_file.h"
#include "base/strbuf.h"
#include "run/run.h"

#ifndef LC_LIBDIR
#define LC_LIBDIR "lib"
#endif

enum lc_err lc_run_find_library(char **path) {
    static const char *const places[] = {"../lib", "../lib/latecomer", "../" LC_LIBDIR,
                                         "../" LC_LIBDIR "/latecomer"};
    char self[PATH_MAX], file[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    *path = NULL;
    if (length <= 0)
        return lc_fail_errno(LC_ERR_SYSTEM, "/proc/self/exe: cannot be read");
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(file, sizeof file, "%s/%s/liblatecomer.so", self, places[i]);
        *path = realpath(file, NULL);
        if (*path == NULL)
            continue;
        if (strpbrk(*path, " :") == NULL)
            return LC_OK;
        lc_fail(LC_ERR_UNSUPPORTED,
                "%s: cannot be preloaded: its path contains a blank or colon: install it elsewhere",
                *path);
        free(*path);
        *path = NULL;
        return LC_ERR_UNSUPPORTED;
    }
    return lc_fail(LC_ERR_NOT_FOUND,
                   "liblatecomer.so: not found near %s: the build or installation is incomplete",
                   self);
}

/* base/parents_file.h; and which rank this is. */
static void set_parents_file(const char *name, pid_t pid, int fd, int32_t rank) {
    char text[64];
    snprintf(text, sizeof text, "%d:%d:%d", (int)pid, fd, (int)rank);
    setenv(name, text, 1);
}

static void set_or_unset(const char *name, const char *value) {
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* This tool's library, the OpenMP runtime, and then what the user preloads. */
static void set_preloads(const struct lc_run *run) {
    const char *const wanted[] = {run->library, run->openmp, getenv("LD_PRELOAD")};
    struct lc_strbuf list = {0};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i] != NULL && *wanted[i] != '\0')
            lc_strbuf_printf(&list, "%s%s", list.length > 0 ? ":" : "", wanted[i]);
    const char *joined = lc_strbuf_get(&list);
    set_or_unset("LD_PRELOAD", *joined != '\0' ? joined : run->library);
    lc_strbuf_free(&list);
    set_or_unset("LATECOMER_OPENMP_LIBRARY", run->openmp);
}

/* The runtime of AddressSanitizer ends a program in which it is not the first library, unless it is
 * told not to look. The program may be any that the command starts; what is added is taken back
 * with the rest of the environment (stub.c). */
static void set_asan_options(void) {
    const char *given = getenv("ASAN_OPTIONS");
    struct lc_strbuf options = {0};
    lc_strbuf_printf(&options, "%s" LC_ASAN_NO_LINK_ORDER, given != NULL ? given : "");
    if (lc_strbuf_ok(&options))
        setenv("ASAN_OPTIONS", lc_strbuf_get(&options), 1);
    lc_strbuf_free(&options);
}

static void set_environment(const struct lc_run *run, pid_t parent) {
    set_preloads(run);
    set_asan_options();
    if (run->openmp != NULL)
        setenv("KMP_WARNINGS", "0", 0); /* libgomp has none of its hints (omp_set_nested, ..) */
    set_or_unset("LATECOMER_LIBGOMP", run->native_openmp ? "1" : NULL);
    set_or_unset("LATECOMER_OPENMP_TASKS", run->makes_tasks ? "1" : NULL);
    set_or_unset("LATECOMER_OPENMP_BIND", run->binding.bind);
    set_or_unset("LATECOMER_OPENMP_PLACES", run->binding.places);
    if (prctl(PR_GET_SECCOMP) > 0) /* it is not the program's own */
        setenv("LATECOMER_SAMPLE_FILTERED", "1", 1);
    unsetenv("LATECOMER_OUTPUT"); /* ours alone */
    setenv("LATECOMER_DIR", run->dir.path, 1);
    set_parents_file("LATECOMER_STATE", parent, run->state_fd, run->launch.rank);
    set_parents_file("LATECOMER_NOTIFY", parent, run->notify[1], run->launch.rank);
    if (run->launch.size == 1) /* one process: it need not use MPI */
        setenv("LATECOMER_ALONE", "1", 1);
    else
        unsetenv("LATECOMER_ALONE");
}

/* Nothing of ours is loaded that would take it back. */
static void leave_environment(void) {
    lc_given_options_take_back();
    unsetenv("LATECOMER_WHAT_IF_PLACES");
}

/* In the new process: never returns. */
static void become_program(const struct lc_run *run, pid_t parent,
                           const struct sigaction *old_chld) {
    /* If this process is killed for good, so is the program: launchers know us only. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(128 + SIGKILL);
    if (run->measure)
        set_environment(run, parent);
    else
        leave_environment();
    sigaction(SIGCHLD, old_chld, NULL);
    sigprocmask(SIG_SETMASK, &run->mask, NULL);
    execvp(run->argv[0], run->argv);
    lc_fail_errno(LC_ERR_SYSTEM, "%s: cannot be run", run->argv[0]);
    lc_complain("%s", lc_err_text());
    _exit(errno == ENOENT ? 127 : 126);
}

/* Memory for the state, and the pipe of notifications. */
static enum lc_err make_state(struct lc_run *run) {
    run->state_fd = memfd_create(LC_PARENTS_MEMORY, MFD_CLOEXEC);
    if (run->state_fd < 0)
        return lc_fail_errno(LC_ERR_SYSTEM, "shared memory: cannot be created");
    if (pipe2(run->notify, O_CLOEXEC | O_NONBLOCK) != 0) {
        close(run->state_fd);
        run->state_fd = -1;
        run->notify[0] = run->notify[1] = -1;
        return lc_fail_errno(LC_ERR_SYSTEM, "pipe: cannot be created");
    }
    return LC_OK;
}

/* Signals that we got with "ignore" would be lost here; the program still starts with what we were
 * given. */
static void listen_to_all_signals(void) {
    for (int s = 1; s < NSIG; s++) {
        struct sigaction action;
        if (s == SIGCHLD || sigaction(s, NULL, &action) != 0 || action.sa_handler != SIG_IGN)
            continue;
        signal(s, SIG_DFL);
    }
}

enum lc_err lc_run_spawn(struct lc_run *run) {
    struct sigaction old_chld, chld = {.sa_handler = SIG_DFL};
    if (run->measure && make_state(run) != LC_OK) {
        lc_complain("%s: running unmeasured", lc_err_text());
        run->measure = false;
    }
    sigaction(SIGCHLD, &chld, &old_chld); /* ignored, ends would not be reported */
    lc_sentinel_start(&run->sentinel);
    pid_t parent = getpid();
    run->begin_ns = lc_monotonic_raw_ns();
    run->begin_realtime_ns = lc_realtime_ns();
    run->child = fork();
    if (run->child == 0)
        become_program(run, parent, &old_chld);
    if (run->child < 0) {
        enum lc_err err = lc_fail_errno(LC_ERR_SYSTEM, "%s: cannot start a process", run->argv[0]);
        lc_sentinel_stop(&run->sentinel);
        sigprocmask(SIG_SETMASK, &run->mask, NULL);
        return err;
    }
    listen_to_all_signals();
    /* Who writes to the program's standard input, or reads its output, must not have to wait for
     * us. */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        if (null > 2)
            close(null);
    }
    return LC_OK;
}

int lc_run_exit_like(const struct lc_run *run) {
    if (!WIFSIGNALED(run->wait_status))
        return WEXITSTATUS(run->wait_status);
    int signo = WTERMSIG(run->wait_status);
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none); /* the program has dumped its core if it was to */
    prctl(PR_SET_DUMPABLE, 0);
    signal(signo, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    raise(signo);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return 128 + signo;
}
