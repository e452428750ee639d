#include "analyze/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyze/crash.h"
#include "analyze/event_store.h"
#include "analyze/forecast.h"
#include "analyze/health.h"
#include "analyze/analysis_meta.h"
#include "analyze/page_timeline.h"
#include "analyze/perfetto.h"
#include "analyze/read.h"
#include "analyze/results.h"
#include "analyze/rootcause.h"
#include "analyze/statistics.h"
#include "analyze/time_correct.h"
#include "analyze/waits.h"
#include "analyze/write.h"
#include "base/timer.h"
#include "base/log.h"

struct bar {
    bool shown;
    int percent;
};

static void show_progress(void *user, uint64_t done, uint64_t all) {
    struct bar *bar = user;
    int percent = all ? (int)(100.0 * (double)done / (double)all) : 100;
    if (!bar->shown || percent == bar->percent)
        return;
    bar->percent = percent > 100 ? 100 : percent;
    fprintf(stderr, "\rlatecomer: reading [%-40.*s] %3d %%", bar->percent * 2 / 5,
            "########################################", bar->percent);
}

static void end_progress(struct bar *bar) {
    if (bar->shown && bar->percent >= 0)
        fprintf(stderr, "\rlatecomer: %*s\r", 61, "");
}

static enum lc_err find_waits(struct lc_trace *trace, const struct lc_analyze_options *options,
                              struct lc_correction *correction) {
    LC_TRY(lc_time_correct(trace, options->time_correct, correction));
    LC_TRY(lc_transport_agree(trace->comm, lc_cells_book(trace)));
    return lc_waits_find(trace);
}

static enum lc_err analyse(struct lc_trace *trace, const struct lc_analyze_options *options,
                           struct lc_run_facts *facts) {
    struct lc_statistics statistics = {0};
    struct lc_rootcause_output root = {0};
    struct lc_rootcause_options root_options = {options->mpi_only, options->partition,
                                                options->what_if};
    struct lc_correction correction = {0};
    char *meta = NULL;
    enum lc_err err = find_waits(trace, options, &correction);
    facts->waits_ns = lc_monotonic_raw_ns();
    if (err == LC_OK)
        err = lc_forecast_check_root_causes(trace);
    if (err == LC_OK)
        err = lc_rootcause_run(trace, &root_options, &root);
    if (err == LC_OK)
        err = lc_statistics_make(trace, &statistics);
    if (err == LC_OK) {
        facts->end_ns = lc_monotonic_raw_ns();
        lc_health_reduce(trace->health, trace->comm);
        err = lc_meta_make(trace, options, facts, &correction, lc_strbuf_get(&root.invariants),
                           &meta);
    }
    if (err == LC_OK) {
        const struct lc_member members[] = {
            {"wait_statistics.json", &statistics.json},  {"timeline.json", &statistics.timeline},
            {"phases.json", &statistics.phases},         {"root_causes.json", &root.root_causes},
            {"critical_path.json", &root.critical_path}, {"samples.tsv", &root.samples}};
        size_t n_members = sizeof members / sizeof *members - !trace->sampled;
        err = lc_analysis_write(trace, options->output, meta, members, n_members);
    }
    if (err == LC_OK && trace->comm->rank == 0)
        lc_meta_say(trace, options, facts, &correction, lc_strbuf_get(&root.lines));
    free(meta);
    lc_statistics_free(&statistics);
    lc_rootcause_output_free(&root);
    return err;
}

static enum lc_err write_perfetto(const struct lc_critical_path *path, void *options) {
    const struct lc_analyze_options *of = options;
    return lc_perfetto_write(path, of->timeline, of->most_bytes);
}

/* For Perfetto one rank must have all. */
static enum lc_err show_timeline(struct lc_trace *trace, const struct lc_analyze_options *options) {
    struct lc_correction correction = {0};
    if (options->page == NULL && trace->comm->size != 1)
        return lc_fail(LC_ERR_USAGE, "a timeline is written by one rank: start it without mpirun");
    trace->keep_matches = true;
    LC_TRY(find_waits(trace, options, &correction));
    if (options->page != NULL)
        return lc_page_timeline_write(trace, options->windows, options->page);
    return lc_rootcause_for(trace, write_perfetto, (void *)(uintptr_t)options);
}

enum lc_err lc_analyze_run(const struct lc_transport *comm,
                           const struct lc_analyze_options *options) {
    struct lc_health health;
    struct lc_trace *trace = NULL;
    struct lc_results *results = NULL;
    struct lc_run_facts facts = {.begin_ns = lc_monotonic_raw_ns()};
    struct bar bar = {.shown = comm->rank == 0 && !options->quiet &&
                               (options->progress || isatty(STDERR_FILENO)),
                      .percent = -1};
    struct lc_read_how how = {.progress = show_progress, .user = &bar};
    lc_health_init(&health);
    enum lc_err err = lc_transport_agree(comm, lc_results_new(&results));
    /* Root causes go through all events again and again: they are not for a file. */
    if (options->page != NULL && lc_event_store_open(&how.store, options->page) != LC_OK)
        how.store = NULL; /* then in memory */
    lc_crash_reading(true);
    if (err == LC_OK)
        err = lc_trace_read(&trace, comm, options->archive, &health, &how);
    lc_crash_reading(false);
    end_progress(&bar);
    facts.read_ns = lc_monotonic_raw_ns();
    if (err == LC_OK) {
        trace->results = results;
        err = options->timeline != NULL || options->page != NULL ? show_timeline(trace, options)
                                                                 : analyse(trace, options, &facts);
    }
    lc_trace_free(trace);
    lc_event_store_close(how.store);
    lc_results_free(results);
    return err;
}
