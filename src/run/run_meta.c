#include "run/run_meta.h"

#include <gnu/libc-version.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/perf_sampler.h"
#include "base/timer.h"
#include "format/state.h"
#include "run/experiment.h"
#include "run/json_string.h"
#include "run/openmp.h"
#include "run/run_options.h"

static json_t *time_text(uint64_t realtime_ns) {
    char text[64];
    time_t seconds = (time_t)(realtime_ns / 1000000000u);
    struct tm parts;
    localtime_r(&seconds, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &parts);
    return json_string(text);
}

/* Variables that change how MPI, OpenMP or this tool behave; those that only carry a launcher's
 * addresses are left out. */
static bool is_of_interest(const char *variable) {
    static const char *const wanted[] = {
        "OMP_",       "KMP_",       "GOMP_",     "OMPI_MCA_",  "MPICH_",      "MPIR_",
        "UCX_",       "FI_",        "PSM2_",     "LATECOMER_", "LD_PRELOAD=", "LD_LIBRARY_PATH=",
        "SLURM_JOB_", "PBS_JOBID=", "LSB_JOBID="};
    static const char *const unwanted[] = {
        "OMPI_MCA_orte_",         "OMPI_MCA_ess",          "OMPI_MCA_pmix",
        "OMPI_MCA_shmem_RUNTIME", "OMPI_MCA_initial_wdir", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"};
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        if (strncmp(variable, unwanted[i], strlen(unwanted[i])) == 0)
            return false;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (strncmp(variable, wanted[i], strlen(wanted[i])) == 0)
            return true;
    return false;
}

static json_t *environment(void) {
    json_t *all = json_object();
    for (char **at = environ; *at != NULL; at++) {
        const char *value = strchr(*at, '=');
        char name[256];
        if (value == NULL || !is_of_interest(*at) || (size_t)(value - *at) >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - *at), *at);
        json_object_set_new(all, name, lc_meta_string(value + 1));
    }
    return all;
}

/* Samples of the code between calls: how many per second, or why there are none. */
static json_t *sampling(void) {
    json_t *object = json_object();
    const char *wanted = lc_run_option_text("sample"), *paths = lc_run_option_text("callpath");
    struct lc_sample_choice choice;
    lc_sample_choose(wanted, &choice);
    bool off = choice.rate <= 0;
    bool no_paths = paths != NULL && strcmp(paths, "none") == 0;
    int error = off || no_paths || choice.timer ? 0 : lc_perf_sampler_try();
    json_object_set_new(object, "rate", json_real(no_paths || error != 0 ? 0 : choice.rate));
    if (off || no_paths)
        json_object_set_new(object, "why", json_string(off ? "--sample=off" : "--callpath=none"));
    else if (error != 0)
        json_object_set_new(object, "why", json_string(lc_perf_why(error)));
    else
        json_object_set_new(object, "source", json_string(choice.timer ? "timer" : "kernel"));
    if (json_object_get(object, "source") != NULL)
        json_object_set_new(object, "off_cpu",
                            json_string(choice.timer              ? "counters"
                                        : lc_perf_sees_switches() ? "functions"
                                                                  : "switches"));
    return object;
}

/* Calls of the OpenMP runtime that are not measured. */
static json_t *unknown_calls(const struct lc_run *run) {
    char **names;
    size_t n;
    json_t *array = json_array();
    lc_openmp_unknown(&run->program, &names, &n);
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(array, lc_meta_string(names[i]));
        free(names[i]);
    }
    free(names);
    return array;
}

json_t *lc_meta_start(const struct lc_run *run) {
    json_t *meta = json_object(), *command = json_array(), *versions = json_object();
    struct utsname system;
    char text[512], cwd[PATH_MAX];
    uname(&system);
    const char *base = strrchr(run->argv[0], '/');
    for (char **arg = run->argv; *arg != NULL; arg++)
        json_array_append_new(command, lc_meta_string(*arg));
    json_object_set_new(meta, "program", lc_meta_string(base == NULL ? run->argv[0] : base + 1));
    json_object_set_new(meta, "executable", lc_meta_string(run->program.path));
    json_object_set_new(meta, "command", command);
    if (getcwd(cwd, sizeof cwd) != NULL)
        json_object_set_new(meta, "directory", lc_meta_string(cwd));
    json_object_set_new(meta, "ranks", json_integer(run->launch.size));
    if (run->launch.launcher != NULL)
        json_object_set_new(meta, "launcher", json_string(run->launch.launcher));
    json_object_set_new(versions, "latecomer", json_string(LC_VERSION));
    json_object_set_new(versions, "libc", json_string(gnu_get_libc_version()));
    snprintf(text, sizeof text, "%s %s %s", system.sysname, system.release, system.machine);
    json_object_set_new(versions, "system", json_string(text));
    json_object_set_new(meta, "versions", versions);
    json_object_set_new(meta, "environment", environment());
    json_object_set_new(meta, "sampling", sampling());
    json_object_set_new(meta, "begin", time_text(lc_realtime_ns()));
    json_t *cores = json_array();
    json_array_append_new(cores, json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(meta, "cores", cores);
    if (run->threads > 1)
        json_object_set_new(meta, "threads_wanted", json_integer(run->threads));
    json_object_set_new(meta, "openmp", json_boolean(run->program.uses_openmp));
    if (lc_openmp_is_native())
        json_object_set_new(meta, "openmp_unknown_calls", unknown_calls(run));
    if (run->launch.local_size > 0)
        json_object_set_new(meta, "oversubscribed",
                            json_boolean((long)run->launch.local_size * run->threads >
                                         sysconf(_SC_NPROCESSORS_ONLN)));
    return meta;
}

/* How the program of one rank ended, as far as its state tells. */
static void ending_of(const struct lc_state_header *header, char *text, size_t size) {
    uint32_t ending = atomic_load(&header->ending);
    bool over = atomic_load(&header->process_end_ns) != 0;
    int status = atomic_load(&header->wait_status);
    if (over && WIFSIGNALED(status))
        snprintf(text, size, "signal %d", WTERMSIG(status));
    else if (ending == LC_ENDING_ABORT)
        snprintf(text, size, "MPI_Abort");
    else if (ending == LC_ENDING_FINALIZE && header->flavour == LC_FLAVOUR_UNKNOWN)
        snprintf(text, size, "exit"); /* without MPI. NOLINT: the end without a state is last */
    else if (ending == LC_ENDING_FINALIZE || ending == LC_ENDING_ALONE)
        snprintf(text, size, "MPI_Finalize");
    else if (ending == LC_ENDING_SESSIONS)
        snprintf(text, size, "MPI_Session_finalize");
    else if (over)
        snprintf(text, size, "exit");
    else
        snprintf(text, size, "running");
}

/* What the tool took of the program at its start and end: the most of a rank of this node. */
static json_t *start_and_end(const struct lc_run *run) {
    uint64_t start_ns = 0, finish_ns = 0;
    for (size_t i = 0; i < run->peers.n_states; i++) {
        const struct lc_state_header *header = run->peers.states[i].header;
        start_ns = header->start_ns > start_ns ? header->start_ns : start_ns;
        finish_ns = header->finish_ns > finish_ns ? header->finish_ns : finish_ns;
    }
    return json_pack("{s:f, s:f}", "start_s", (double)start_ns * 1e-9, "finish_s",
                     (double)finish_ns * 1e-9);
}

/* An instant of this node's clock by the calendar. */
static double seconds_of(uint64_t instant_ns) {
    uint64_t now = lc_monotonic_raw_ns();
    return 1e-9 * ((double)lc_realtime_ns() - ((double)now - (double)instant_ns));
}

json_t *lc_meta_end(const struct lc_run *run, const char *ending, bool complete) {
    json_t *meta = json_object(), *endings = json_array();
    char text[64];
    uint64_t begin = run->begin_ns, first = UINT64_MAX;
    uint64_t end = run->end_ns != 0 ? run->end_ns : lc_monotonic_raw_ns();
    if (run->counted_ns > end)
        end = run->counted_ns;
    for (int32_t r = 0; r < run->launch.size; r++)
        json_array_append_new(endings, json_string(""));
    for (size_t i = 0; i < run->peers.n_states; i++) {
        const struct lc_mapped_state *state = &run->peers.states[i];
        uint64_t other_end = atomic_load(&state->header->process_end_ns);
        if (state->header->begin_ns != 0 && state->header->begin_ns < begin)
            begin = state->header->begin_ns;
        if (other_end > end)
            end = other_end;
        if (other_end != 0 && other_end < first)
            first = other_end;
        ending_of(state->header, text, sizeof text);
        if (state->rank >= 0 && (size_t)state->rank < json_array_size(endings))
            json_array_set_new(endings, (size_t)state->rank, json_string(text));
    }
    json_object_set_new(meta, "ranks", json_integer(run->launch.size)); /* .run.json may be late */
    json_object_set_new(meta, "complete", json_boolean(complete));
    json_object_set_new(meta, "ending", json_string(ending));
    json_object_set_new(meta, "endings", endings);
    json_object_set_new(meta, "wall_time_s", json_real((double)(end - begin) * 1e-9));
    if (first != UINT64_MAX)
        json_object_set_new(meta, LC_META_FIRST_END, json_real(seconds_of(first)));
    json_object_set_new(meta, "end", time_text(lc_realtime_ns()));
    json_object_set_new(meta, "start_and_end", start_and_end(run));
    if (run->end_ns != 0 && WIFEXITED(run->wait_status))
        json_object_set_new(meta, "exit_status", json_integer(WEXITSTATUS(run->wait_status)));
    return meta;
}
