/* `latecomer run` on one rank, from the command line to the exit status. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/perf_sampler.h"
#include "format/state.h"
#include "run/experiment.h"
#include "run/guard.h"
#include "run/hold.h"
#include "run/openmp.h"
#include "run/run_meta.h"
#include "run/run_options.h"
#include "run/run.h"
#include "run/what_if_places.h"

/* Descriptors 0 to 2 that are closed stay closed for the program, but must not become files of
 * ours. */
static void fill_standard_descriptors(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* Threads per process as far as one can know before: the first number of OMP_NUM_THREADS. */
static int wanted_threads(void) {
    const char *text = getenv("OMP_NUM_THREADS");
    int threads = text == NULL ? 1 : atoi(text);
    return threads > 0 && threads < 100000 ? threads : 1;
}

/* Whoever opens the first event of a machine waits until all cores know that there are some (RCU):
 * 5 to 20 ms. That begins as soon as the program has been started, so that it is done, or nearly,
 * when the program opens its own; ours is there until we end. */
static void make_kernel_ready_for_samples(void) {
    const struct lc_perf_wanted wanted = {.period_ns = 1000000000};
    struct lc_sample_choice choice;
    if (lc_sample_choose(lc_run_option_text("sample"), &choice) && choice.rate > 0 && !choice.timer)
        (void)lc_perf_sampler_open(&wanted);
}

/* Is one of its words a program that can be measured? Wrappers linked statically (of containers,
 * written in Go) are told what to start. */
static bool may_start_another(char *const *argv) {
    bool found = false;
    for (size_t i = 1; !found && argv[0] != NULL && argv[i] != NULL; i++) {
        struct lc_program other;
        if (lc_program_inspect(&other, argv[i]) != LC_OK)
            continue;
        found = other.script || (other.is_elf && !other.is_static && !other.is_foreign);
        lc_program_free(&other);
    }
    return found;
}

/* Why this program cannot be measured, or NULL. */
static const char *why_unmeasured(const struct lc_program *program, char *const *argv) {
    if (program->is_static && !may_start_another(argv))
        return "it is linked statically, so nothing can be preloaded: link it dynamically";
    if (program->is_foreign)
        return "it is built for another processor: run a latecomer built for that one";
    if (program->is_privileged)
        return "it is set-user-id, so nothing is preloaded: copy it";
    return NULL;
}

/* Which OpenMP runtime is measured; the one line about what is not as usual. */
static void choose_openmp(struct lc_run *run) {
    char why[256];
    run->native_openmp = lc_openmp_is_native();
    /* one process has nobody to tell of its tasks */
    run->makes_tasks = run->launch.size != 1 && lc_openmp_makes_tasks(&run->program);
    if (lc_openmp_choose(&run->program, &run->openmp, why) != LC_OK)
        snprintf(why, sizeof why, "%.255s", lc_err_text());
    if (run->openmp != NULL && lc_binding_choose(&run->binding, why) != LC_OK)
        snprintf(why, sizeof why, "%.255s", lc_err_text());
    if (why[0] != '\0') {
        free(run->openmp);
        run->openmp = NULL;
    }
    if (run->launch.rank != 0)
        return;
    if (why[0] != '\0')
        lc_say("OpenMP is not measured: %s", why);
    else if (run->openmp != NULL)
        lc_say("OpenMP runs on %s instead of libgomp, as asked (--openmp=libomp)", run->openmp);
}

/* Decides whether and where to measure; what stands in the way is said once, by rank 0. */
static void prepare_measurement(struct lc_run *run) {
    lc_run_set_places(run->program.path, lc_run_option_text("what-if"));
    const char *why = why_unmeasured(&run->program, run->argv);
    if (why == NULL && lc_run_find_library(&run->library) != LC_OK)
        why = lc_err_text();
    if (why == NULL && lc_rundir_agree(&run->dir, &run->launch, lc_run_option_text("output"),
                                       run->argv[0], run->threads) != LC_OK)
        why = lc_err_text();
    run->measure = why == NULL;
    if (!run->measure) {
        if (run->launch.rank == 0)
            lc_complain("%s: running unmeasured: %s", run->argv[0], why);
        return;
    }
    if (run->dir.founder && run->dir.wanted != NULL)
        lc_say("%s %s: this result goes to %s", run->dir.wanted,
               run->dir.wanted_is_file ? "is a file, not a directory for a result"
                                       : "already holds a result",
               run->dir.path);
    choose_openmp(run);
}

static int make_timer(void) {
    double seconds = lc_run_option_number("dump-every");
    if (seconds <= 0.0)
        return -1;
    struct timespec period = {.tv_sec = (time_t)seconds};
    period.tv_nsec = (long)((seconds - (double)period.tv_sec) * 1e9);
    if (period.tv_sec == 0 && period.tv_nsec < 50000000)
        period.tv_nsec = 50000000;
    struct itimerspec time = {.it_interval = period, .it_value = period};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd >= 0)
        timerfd_settime(fd, 0, &time, NULL);
    return fd;
}

int lc_run_main(char **argv) {
    struct lc_run run = {.argv = argv,
                         .state_fd = -1,
                         .notify = {-1, -1},
                         .control_fd = -1,
                         .timer_fd = -1,
                         .threads = wanted_threads()};
    sigset_t all;
    fill_standard_descriptors();
    sigfillset(&all); /* what comes before the program has started is forwarded then */
    sigprocmask(SIG_BLOCK, &all, &run.mask);
    lc_launch_detect(&run.launch);
    if (lc_program_inspect(&run.program, lc_program_of(argv)) != LC_OK) {
        lc_complain("%s", lc_err_text());
        return 1;
    }
    if (run.program.is_elf && !run.program.is_static && !run.program.uses_openmp)
        run.threads = 1; /* others may be what starts the program */
    prepare_measurement(&run);
    if (lc_run_spawn(&run) != LC_OK) {
        lc_complain("%s", lc_err_text());
        return 1;
    }
    if (run.measure && run.launch.kind == LC_LAUNCHER_HYDRA)
        lc_hold_allow();
    if (run.measure) {
        lc_control_open(&run);
        run.timer_fd = make_timer();
        make_kernel_ready_for_samples();
        if (run.launch.rank == 0)
            lc_run_write_start(&run);
    }
    lc_run_watch(&run);
    lc_control_close(&run);
    lc_run_finish(&run);
    lc_sentinel_stop(&run.sentinel);
    lc_guard_stop(&run.guard);
    lc_rundir_free(&run.dir);
    lc_program_free(&run.program);
    free(run.library);
    free(run.openmp);
    lc_binding_free(&run.binding);
    lc_run_leave(&run);
    lc_peers_free(&run.peers);
    return lc_run_exit_like(&run);
}
