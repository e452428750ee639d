/* After the program, or in its middle: the result.
 *
 * A good end: MPI_Finalize left .profile.raw, rank 0's parent converts it. Any other end: the
 * parent of the rank that ended first becomes the writer of the node and saves the states of all
 * ranks of the node; the others wait for it, since the launcher kills everybody as soon as the
 * first parent is gone. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/timer.h"
#include "base/log.h"
#include "format/state.h"
#include "run/experiment.h"
#include "run/openmp.h"
#include "run/run_meta.h"
#include "run/run.h"
#include "run/write_traces.h"
#include "symbols/debug_server.h"

enum {
    STEP_MS = 5,
    WAIT_FOR_RESULT_MS = 2500,
    WAIT_FOR_WRITER_MS = 15000, /* which waits for others, and writes */
    WAIT_FOR_OTHERS_MS = 800,
    WAIT_FOR_SIGNALLED_MS = 300, /* a signal sent to one rank usually goes to all */
    WAIT_FOR_DYING_MS = 10000    /* those that are sure to end; a limit, should one be stopped */
};

static void nap(void) {
    struct timespec time = {.tv_nsec = STEP_MS * 1000000};
    nanosleep(&time, NULL);
}

static struct lc_state_header *own_state(const struct lc_run *run) {
    if (run->peers.n_states == 0)
        return NULL;
    return run->peers.states[run->peers.own].header;
}

/* One profile of all ranks of this node. */
static enum lc_err collect(struct lc_run *run, struct lc_raw **all) {
    LC_TRY(lc_raw_new(all));
    size_t found = 0;
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < run->peers.n_states; i++) {
        const struct lc_mapped_state *state = &run->peers.states[i];
        uint64_t end_ns = atomic_load(&state->header->process_end_ns);
        size_t before = (*all)->n_locations;
        err = lc_state_snapshot(state->header, state->bytes, end_ns, *all);
        for (size_t l = before; l < (*all)->n_locations; l++)
            if ((*all)->locations[l].rank < 0) /* before MPI_Init the launcher alone knows it */
                (*all)->locations[l].rank = state->rank;
        if (end_ns == 0) /* it still ran: its times are up to then, whatever it does meanwhile */
            run->counted_ns = lc_monotonic_raw_ns();
        if (err == LC_OK)
            found++;
        else if (err == LC_ERR_NOMEM)
            break;
    }
    if (found != 0 && err != LC_ERR_NOMEM)
        return LC_OK;
    lc_raw_free(*all);
    *all = NULL;
    return err != LC_OK ? err
                        : lc_fail(LC_ERR_NOT_FOUND, "shared memory: nothing has been measured yet");
}

static const char *mpi_name(const struct lc_run *run) {
    const struct lc_state_header *header = own_state(run);
    return header == NULL ? "unknown" : header->mpi;
}

/* The program was measured without MPI. */
static bool is_without_mpi(const struct lc_state_header *header) {
    return header != NULL && header->flavour == LC_FLAVOUR_UNKNOWN;
}

/* MPI is there, and MPI_Init has not returned: its clocks have not begun, and each rank is known to
 * its own parent alone. */
static bool is_uninitialised(const struct lc_state_header *header) {
    return header != NULL && !is_without_mpi(header) && atomic_load(&header->peers.count) == 0;
}

/* A program that may use MPI, and did not: its end is one as good as any. */
static bool ended_without_mpi(const struct lc_run *run) {
    const struct lc_state_header *header = own_state(run);
    return is_uninitialised(header) && atomic_load(&header->ending) != LC_ENDING_ABORT &&
           run->end_ns != 0 && WIFEXITED(run->wait_status);
}

/* Saves the node's states and makes a result of what is there. */
static enum lc_err save_node(struct lc_run *run, const char *ending, bool complete, bool keep) {
    struct lc_raw *all;
    LC_TRY(collect(run, &all));
    json_t *meta = lc_meta_end(run, ending, complete);
    if (is_without_mpi(own_state(run)))
        json_object_set_new(meta, "mpi_calls", json_integer(0));
    else
        json_object_set_new(meta, "mpi", json_string(mpi_name(run)));
    if (is_uninitialised(own_state(run)))
        json_object_set_new(meta, "mpi_initialised", json_false());
    free(all->meta);
    all->meta = json_dumps(meta, JSON_REAL_PRECISION(17));
    json_decref(meta);
    enum lc_err err = lc_experiment_write_partial(run->dir.path, run->peers.states[0].rank, all);
    lc_raw_free(all);
    bool others_join =
        keep && run->peers.states[0].rank != 0; /* the node of rank 0 does, or show */
    if (err == LC_OK && !others_join)
        err = lc_experiment_finish_partial(run->dir.path, keep);
    return err;
}

/* True if this process is the writer from now on. */
static bool become_writer(struct lc_run *run) {
    _Atomic uint32_t *writer = &run->peers.states[0].header->writer;
    uint32_t expected = 0, own = (uint32_t)getpid();
    if (atomic_compare_exchange_strong(writer, &expected, own) || expected == own)
        return true;
    if (kill((pid_t)expected, 0) == 0 || errno != ESRCH)
        return false;
    return atomic_compare_exchange_strong(writer, &expected, own); /* it was killed */
}

static bool has_ended(const struct lc_mapped_state *state) {
    return atomic_load(&state->header->process_end_ns) != 0 ||
           atomic_load(&state->header->ending) == LC_ENDING_FINALIZE || kill(state->pid, 0) != 0;
}

/* Ranks that return from main without MPI_Finalize do so together: their last calls belong to the
 * result. */
static void wait_for_others(struct lc_run *run, int limit_ms) {
    for (int waited = 0;
         waited < limit_ms || (waited < WAIT_FOR_DYING_MS && lc_run_more_will_die(run));
         waited += STEP_MS) {
        bool all = true;
        for (size_t i = 0; i < run->peers.n_states; i++)
            all = all && has_ended(&run->peers.states[i]);
        if (all)
            return;
        nap();
    }
}

static void write_as_writer(struct lc_run *run, const char *ending) {
    bool without = ended_without_mpi(run);
    enum lc_err err = save_node(run, ending, without, false);
    if (err != LC_OK)
        lc_complain("%s", lc_err_text());
    else if (without && run->launch.rank == 0)
        lc_say("the program did not initialise MPI: times, and nothing of who waits, are in %s",
               run->dir.path);
    else if (!without && is_uninitialised(own_state(run)))
        lc_say("the program ended before MPI_Init (%s): partial result in %s", ending,
               run->dir.path);
    else if (!without)
        lc_say("the program ended %s (%s): partial result in %s",
               is_without_mpi(own_state(run)) ? "early" : "without MPI_Finalize", ending,
               run->dir.path);
    lc_run_trace_salvage(run);
    lc_run_mark_saved(run);
}

/* True if this process is the writer now; false if another one has saved this rank, or does not
 * come to an end. */
static bool wait_for_turn(struct lc_run *run) {
    const struct lc_state_header *own = own_state(run);
    for (int waited = 0; waited < WAIT_FOR_WRITER_MS; waited += STEP_MS) {
        if (atomic_load(&own->saved) != 0)
            return false;
        if (become_writer(run))
            return true;
        nap();
    }
    return false;
}

static void end_unhappy(struct lc_run *run, const char *ending) {
    lc_rundir_unlink(&run->dir);
    if (!wait_for_turn(run))
        return;
    if (WIFEXITED(run->wait_status))
        wait_for_others(run, WAIT_FOR_OTHERS_MS);
    else if (WTERMSIG(run->wait_status) == run->passed_signal)
        wait_for_others(run, WAIT_FOR_SIGNALLED_MS);
    write_as_writer(run, ending);
}

/* MPI was finalized, and nothing gathered. */
static bool is_alone(const struct lc_state_header *header) {
    uint32_t ending = atomic_load(&header->ending);
    return ending == LC_ENDING_SESSIONS || ending == LC_ENDING_ALONE;
}

/* All ranks of the node finalized MPI, or their last session, and returned 0. */
static bool all_alone_complete(const struct lc_run *run) {
    bool all = (int32_t)run->peers.n_states == run->launch.size;
    for (size_t i = 0; i < run->peers.n_states; i++) {
        const struct lc_state_header *header = run->peers.states[i].header;
        all = all && is_alone(header) && atomic_load(&header->process_end_ns) != 0 &&
              atomic_load(&header->wait_status) == 0;
    }
    return all;
}

/* No MPI_Finalize gathered anything: the parent of the first rank that ended waits for the others
 * as long as they live, and saves. */
static void end_alone(struct lc_run *run) {
    lc_rundir_unlink(&run->dir);
    if (!wait_for_turn(run))
        return;
    wait_for_others(run, run->wait_status == 0 ? INT_MAX : WAIT_FOR_OTHERS_MS);
    bool complete = all_alone_complete(run);
    bool sessions = atomic_load(&own_state(run)->ending) == LC_ENDING_SESSIONS;
    enum lc_err err =
        save_node(run, sessions ? "MPI_Session_finalize" : "MPI_Finalize", complete, false);
    if (err != LC_OK)
        lc_complain("%s", lc_err_text());
    else
        lc_say("%sresult in %s: see it with `latecomer show %s`", complete ? "" : "partial ",
               run->dir.path, run->dir.path);
    lc_run_trace_salvage(run);
    lc_run_mark_saved(run);
}

/* The program has left MPI_Finalize, or has none. */
static bool has_returned(const struct lc_run *run) {
    const struct lc_state_header *own = own_state(run);
    return own == NULL || is_without_mpi(own) || own->end_ns != own->finalize_ns;
}

/* The result is whole, and the program goes on, in MPI_Finalize or after it: a time limit may kill
 * everything. */
void lc_run_save_in_finalize(struct lc_run *run) {
    struct lc_state_header *own = own_state(run);
    if (run->result_saved)
        return;
    json_t *meta = lc_meta_end(run, is_without_mpi(own) ? "exit" : "MPI_Finalize", true);
    enum lc_err err = lc_experiment_finish(run->dir.path, meta, false);
    json_decref(meta);
    run->result_saved = err == LC_OK;
    if (err == LC_OK && own != NULL) /* the guard knows only what is shared */
        atomic_store(&own->whole_saved, 1);
    run->result_told = err == LC_OK && !has_returned(run);
    if (run->result_told)
        lc_say("MPI_Finalize has not returned for %d s; the result is saved in %s",
               LC_FINALIZE_PATIENCE_S, run->dir.path);
}

/* Makes the result, unless that has been done. */
static enum lc_err save_result(struct lc_run *run) {
    const struct lc_state_header *own = own_state(run);
    if (run->result_saved || (own != NULL && atomic_load(&own->whole_saved) != 0))
        return LC_OK;
    lc_debug_server_allow();
    json_t *meta = lc_meta_end(run, is_without_mpi(own) ? "exit" : "MPI_Finalize", true);
    enum lc_err err = lc_experiment_finish(run->dir.path, meta, false);
    json_decref(meta);
    if (err == LC_ERR_NOT_FOUND) /* the library could not write its file */
        err = save_node(run, "MPI_Finalize", false, false);
    return err;
}

/* Rank 0, after MPI_Finalize. */
static void end_well(struct lc_run *run) {
    lc_rundir_unlink(&run->dir);
    if (save_result(run) != LC_OK) {
        lc_complain("%s", lc_err_text());
        lc_experiment_clean(run->dir.path);
    } else {
        if (!run->result_told)
            lc_say("%sresult in %s: see it with `latecomer show %s`",
                   has_returned(run) || !WIFSIGNALED(run->wait_status)
                       ? ""
                       : "MPI_Finalize did not return; everything before it was measured: ",
                   run->dir.path, run->dir.path);
        lc_run_trace_finish(run);
    }
    lc_run_mark_saved(run);
}

/* A rank other than 0 that fails after MPI_Finalize must not make the launcher kill rank 0's parent
 * at its work. */
static void wait_for_result(const struct lc_run *run) {
    const struct lc_state_header *own = own_state(run);
    if (WIFEXITED(run->wait_status) && WEXITSTATUS(run->wait_status) == 0)
        return;
    for (int waited = 0; waited < WAIT_FOR_RESULT_MS && atomic_load(&own->saved) == 0;
         waited += STEP_MS)
        nap();
}

/* Programs that start others without the variables by which the library is preloaded. */
static const char *who_clears_environment(char **argv) {
    static const char *const clearing[] = {"sudo", "su", "ssh", "docker", "podman", "chroot"};
    const char *slash = strrchr(argv[0], '/'), *base = slash == NULL ? argv[0] : slash + 1;
    for (size_t i = 0; i < sizeof clearing / sizeof clearing[0]; i++)
        if (strcmp(base, clearing[i]) == 0)
            return clearing[i];
    for (int i = 1; strcmp(base, "env") == 0 && argv[i] != NULL; i++)
        if (strcmp(argv[i], "-i") == 0 || strcmp(argv[i], "-") == 0 ||
            strcmp(argv[i], "--ignore-environment") == 0)
            return "env -i";
    return NULL;
}

static void say_nothing_measured(const struct lc_run *run) {
    const char *clearing = who_clears_environment(run->argv);
    if (clearing != NULL)
        lc_say("%s: never called MPI: no result: %s removes the environment variables that the "
               "tool needs: "
               "put `latecomer run` after it, right before the program",
               run->argv[0], clearing);
    else if (run->program.is_static)
        lc_say("%s: no MPI call reached the tool: no result: it is linked statically, so nothing "
               "can be preloaded, and what it started made none: link it dynamically, or put "
               "`latecomer run` right before the program that it starts",
               run->argv[0]);
    else
        lc_say("%s: no MPI call reached the tool: no result: unless said above, the program makes "
               "none, or LD_PRELOAD was unset, replaced or ignored (setuid) on the way to it: put "
               "`latecomer run` right before the program",
               run->argv[0]);
}

/* One process without MPI, OpenMP and regions: there is its time, and nothing to wait for. */
static bool finish_plain(struct lc_run *run) {
    if (lc_run_write_plain(run) != LC_OK) {
        lc_complain("%s", lc_err_text());
        return false;
    }
    lc_rundir_unlink(&run->dir);
    lc_say("%s: %s: only its run time is in %s", run->argv[0],
           lc_openmp_inside(&run->program)
               ? "libgomp is linked into it and cannot be replaced: OpenMP is not measured"
               : "neither MPI nor OpenMP was seen",
           run->dir.path);
    return true;
}

static void unmeasured(struct lc_run *run, const struct lc_state_header *own) {
    if (run->launch.rank != 0 && !run->dir.founder)
        return;
    if (run->launch.rank != 0) { /* a directory of this node alone */
        lc_rundir_unlink(&run->dir);
        lc_experiment_clean(run->dir.path);
        return;
    }
    char mark[512];
    bool marked = own == NULL && lc_run_left_mark(run, mark, sizeof mark);
    if (marked && mark[0] == '#') {
        lc_say("%s: ran unmeasured: %s", run->argv[0], mark + 1);
    } else if (marked) {
        lc_say("%s: ran unmeasured: its MPI calls bypass the tool (RTLD_DEEPBIND)", run->argv[0]);
        if (lc_run_write_passed_by(run, mark) == LC_OK) {
            lc_rundir_unlink(&run->dir);
            return;
        }
        lc_complain("%s", lc_err_text());
    } else if (own == NULL && lc_experiment_has_profile(run->dir.path)) {
        end_well(run); /* its state was out of reach: another user, another name space */
        return;
    } else if (own == NULL || atomic_load(&own->measured) == LC_STATE_UNUSED) {
        if (run->launch.size == 1 && who_clears_environment(run->argv) == NULL && finish_plain(run))
            return;
        say_nothing_measured(run);
    } else {
        bool starts_launcher = run->launch.launcher == NULL && own->size > 1;
        lc_say("%s: ran unmeasured: %.*s%s", run->argv[0], (int)sizeof own->why, own->why,
               starts_launcher ? ": put `latecomer run` after the launcher that it starts, right "
                                 "before the program"
                               : "");
    }
    lc_rundir_unlink(&run->dir);
    lc_experiment_clean(run->dir.path);
}

void lc_run_finish(struct lc_run *run) {
    if (!run->measure)
        return;
    if (run->peers.n_states == 0)
        lc_peers_map(run);
    struct lc_state_header *own = own_state(run);
    if (own != NULL) {
        atomic_store(&own->wait_status, run->wait_status);
        atomic_store(&own->passed_signal, run->passed_signal);
        atomic_store(&own->process_end_ns, run->end_ns);
    }
    if (own == NULL || atomic_load(&own->measured) != LC_STATE_MEASURED) {
        unmeasured(run, own);
    } else if (atomic_load(&own->ending) == LC_ENDING_FINALIZE) {
        if (own->rank == 0) {
            end_well(run);
        } else {
            lc_run_trace_finish(run);
            wait_for_result(run);
        }
    } else if (is_alone(own) && WIFEXITED(run->wait_status)) {
        end_alone(run);
        run->leave_in_turn = true;
    } else {
        char text[32] = "exit";
        if (atomic_load(&own->ending) == LC_ENDING_ABORT)
            snprintf(text, sizeof text, "MPI_Abort");
        else if (WIFSIGNALED(run->wait_status))
            snprintf(text, sizeof text, "signal %d", WTERMSIG(run->wait_status));
        end_unhappy(run, text);
        run->leave_in_turn = true;
    }
}

void lc_run_finish_killed(struct lc_run *run) {
    struct lc_state_header *own = own_state(run);
    if (own == NULL || atomic_load(&own->saved) != 0 ||
        atomic_load(&own->measured) != LC_STATE_MEASURED)
        return;
    if (atomic_load(&own->ending) == LC_ENDING_FINALIZE && own->rank == 0)
        end_well(run);
    else if (atomic_load(&own->ending) != LC_ENDING_FINALIZE)
        end_unhappy(run, atomic_load(&own->ending) == LC_ENDING_ABORT ? "MPI_Abort" : "signal 9");
}

/* MPI_Abort is called: the program waits until everything is saved. */
void lc_run_save_before_abort(struct lc_run *run) {
    if (run->peers.n_states == 0)
        lc_peers_map(run);
    if (run->peers.n_states != 0 && wait_for_turn(run))
        write_as_writer(run, "MPI_Abort");
}

enum lc_err lc_run_dump(struct lc_run *run) {
    lc_peers_map(run);
    if (run->peers.n_states == 0)
        return lc_fail(LC_ERR_NOT_FOUND, "%s: nothing has been measured yet: try later",
                       run->dir.path);
    if (atomic_load(&own_state(run)->peers.count) == 0)
        return lc_fail(LC_ERR_NOT_FOUND, "%s: MPI_Init has not returned yet: try later",
                       run->dir.path);
    if (run->peers.own != 0)
        return LC_OK; /* the parent of the node's lowest rank does it */
    _Atomic uint32_t *writer = &run->peers.states[0].header->writer;
    if (atomic_load(&own_state(run)->saved) != 0 || !become_writer(run))
        return lc_fail(LC_ERR_EXISTS,
                       "%s: the run is ending and its result is being written: wait for it",
                       run->dir.path);
    enum lc_err err = save_node(run, LC_ENDING_OF_SNAPSHOT, false, true);
    atomic_store(writer, 0); /* whoever ends may write now */
    return err;
}
