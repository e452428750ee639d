#include "base/plural.h"
#include "run/write_traces.h"

#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "format/state.h"
#include "run/run_options.h"
#include "format/trace_choice.h"
#include "trace/names.h"
#include "trace/archive.h"

enum { PATIENCE_S = 120 };

static void progress(const char *text, double fraction) {
    lc_say("trace: %s (%.0f %%)", text, fraction * 100);
}

static void say_summary(const struct lc_run *run, const struct lc_trace_summary *summary) {
    struct lc_trace_choice choice;
    lc_say("trace in %s/traces.otf2: %llu events, %.1f MB", run->dir.path,
           (unsigned long long)summary->events, (double)summary->bytes * 1e-6);
    if (summary->events == 0 && lc_trace_choose(lc_run_option_text("trace"), &choice) &&
        choice.what == LC_RECORD_PHASE)
        lc_say("trace: no phase is called %s: `latecomer show --only efficiency` names them",
               choice.phase);
    else if (summary->events == 0 && choice.what == LC_RECORD_ITERATIONS)
        lc_say("trace: no loop came to iteration %llu: `latecomer show --only efficiency` names "
               "the loops",
               (unsigned long long)choice.from);
    if (summary->lost_records > 0)
        lc_say("trace: the buffer was full: missing: %llu record%s: use a larger --buffer, or "
               "--filter%s%s",
               (unsigned long long)summary->lost_records, lc_plural((double)summary->lost_records),
               summary->write_error ? "; writing it out failed: " : "",
               summary->write_error ? strerror(summary->write_error) : "");
    else if (summary->flushes > 0)
        lc_say("trace: the buffer was written out %llu time%s during the run: a larger --buffer "
               "avoids that",
               (unsigned long long)summary->flushes, lc_plural((double)summary->flushes));
}

static void say_threads(const struct lc_trace_summary *summary) {
    if (summary->lost_threads > 0)
        lc_say("trace: missing: %llu thread%s: there is room for %u per process",
               (unsigned long long)summary->lost_threads, lc_plural((double)summary->lost_threads),
               LC_TRACE_STREAMS);
}

static void fill_options(struct lc_trace_options *options, const struct lc_trace_names *names) {
    *options = (struct lc_trace_options){.handles = lc_run_option_on("trace-handles"),
                                         .filter = lc_run_option_text("filter"),
                                         .patience_s = PATIENCE_S,
                                         .names = names,
                                         .progress = progress};
    lc_trace_callpath_of(lc_run_option_text("trace-callpath"), &options->callpath);
}

void lc_run_trace_finish(struct lc_run *run) {
    if (run->peers.n_states == 0) /* out of reach */
        return;
    const struct lc_mapped_state *own = &run->peers.states[run->peers.own];
    if (!lc_run_option_on("trace") || lc_trace_area_of(own->header, own->bytes) == NULL)
        return;
    struct lc_symbols *symbols = NULL;
    struct lc_trace_options options;
    struct lc_trace_summary summary = {0};
    enum lc_err err = lc_symbols_new(&symbols);
    if (err == LC_OK) {
        struct lc_trace_names names = lc_trace_names_of(symbols);
        fill_options(&options, &names);
        if (own->rank != 0)
            options.progress = NULL;
        err = lc_trace_finish(own->header, own->bytes, run->dir.path, &options, &summary);
    }
    if (err == LC_OK && own->rank == 0) {
        say_summary(run, &summary);
        say_threads(&summary);
    }
    if (err != LC_OK) {
        lc_complain("%s", lc_err_text());
        if (lc_trace_salvage(own->header, own->bytes, run->dir.path) == LC_OK)
            lc_say("what was recorded is kept: finish the trace with `latecomer recover %s`",
                   run->dir.path);
    }
    lc_symbols_free(symbols);
}

void lc_run_trace_salvage(struct lc_run *run) {
    bool any = false;
    if (!lc_run_option_on("trace"))
        return;
    for (size_t i = 0; i < run->peers.n_states; i++) {
        const struct lc_mapped_state *state = &run->peers.states[i];
        const struct lc_trace_area *area = lc_trace_area_of(state->header, state->bytes);
        if (area == NULL)
            continue;
        if (area->rank < 0) { /* whose events they are, and where they belong, MPI_Init tells */
            if (state->rank == 0)
                lc_say("no trace: it begins with MPI_Init, which did not return");
            continue;
        }
        if (lc_trace_salvage(state->header, state->bytes, run->dir.path) == LC_OK)
            any = true;
        else
            lc_complain("%s", lc_err_text());
    }
    if (any)
        lc_say("the trace is unfinished: finish it with `latecomer recover %s`", run->dir.path);
}
