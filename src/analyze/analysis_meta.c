#include "analyze/analysis_meta.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analyze/health.h"
#include "analyze/partition.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/plural.h"
#include "base/strbuf.h"
#include "format/trace_def_records.h"

static void health_line(struct lc_strbuf *line, const struct lc_trace *trace, int kind) {
    const struct lc_health *h = trace->health;
    lc_strbuf_clear(line);
    lc_strbuf_printf(line, "%" PRId64 " %s: %s", h->count[kind],
                     lc_health_text(kind, h->count[kind]), lc_health_done(kind));
    if (h->location[kind] != INT64_MAX) {
        const struct lc_an_location *l = &trace->locations[h->location[kind]];
        lc_strbuf_printf(line, " (first: rank %d", trace->processes[l->process].rank);
        if (trace->processes[l->process].n_locations > 1)
            lc_strbuf_printf(line, ", thread %d", l->thread);
        lc_strbuf_puts(line, ")");
    }
}

static json_t *health_json(const struct lc_trace *trace) {
    json_t *array = json_array();
    struct lc_strbuf line = {0};
    for (int k = 0; k < LC_HEALTH_KINDS; k++) {
        if (!trace->health->count[k])
            continue;
        health_line(&line, trace, k);
        json_array_append_new(array, json_string(lc_strbuf_get(&line)));
    }
    lc_strbuf_free(&line);
    return array;
}

static json_t *counts_json(const struct lc_trace *trace) {
    json_t *object = json_object();
    for (int k = 0; k < LC_HEALTH_KINDS; k++)
        if (trace->health->count[k])
            json_object_set_new(object, lc_health_name(k),
                                json_integer((json_int_t)trace->health->count[k]));
    return object;
}

static double seconds(const struct lc_trace *trace, int64_t ticks) {
    return (double)ticks / (double)trace->ticks_per_second;
}

static json_t *threads_json(const struct lc_trace *trace) {
    json_t *array = json_array();
    for (size_t p = 0; p < trace->n_processes; p++)
        json_array_append_new(array, json_integer(trace->processes[p].n_locations));
    return array;
}

/* The region that stands for the whole program; where the trace has none, what the run said that
 * left its meta.json beside the archive; else the first root call path. */
static json_t *program(const struct lc_trace *trace, const char *archive) {
    const struct lc_an_region *root =
        trace->n_cnodes ? &trace->regions[trace->cnodes[0].region] : NULL;
    json_t *run = NULL, *name = NULL;
    if (!root || !root->artificial) {
        const char *slash = strrchr(archive, '/');
        struct lc_strbuf path = {0};
        lc_strbuf_add(&path, archive, slash ? (size_t)(slash - archive) + 1 : 0);
        lc_strbuf_puts(&path, "meta.json");
        run = json_load_file(lc_strbuf_get(&path), 0, NULL);
        name = json_incref(json_object_get(run, "program"));
        lc_strbuf_free(&path);
    }
    json_decref(run);
    if (json_is_string(name))
        return name;
    json_decref(name);
    return json_string(root ? root->name : "");
}

/* Which programs there are, and for each rank which one: where there are several. labels: by
 * process, region of its program. */
static void programs_json(const struct lc_trace *trace, const int64_t *labels, json_t *object) {
    json_t *names = json_array(), *of = json_array();
    int64_t *regions = NULL;
    size_t n = 0, k;
    if (lc_alloc(&regions, trace->n_processes + 1, sizeof *regions) != LC_OK)
        regions = NULL;
    for (size_t p = 0; regions != NULL && p < trace->n_processes; p++) {
        if (labels[p] < 0 || !trace->regions[labels[p]].artificial) {
            json_array_append_new(of, json_null());
            continue;
        }
        for (k = 0; k < n && regions[k] != labels[p];)
            k++;
        if (k == n) {
            regions[n++] = labels[p];
            json_array_append_new(names, json_string(trace->regions[labels[p]].name));
        }
        json_array_append_new(of, json_integer((json_int_t)k));
    }
    if (n > 1) {
        json_object_set(object, "programs", names);
        json_object_set(object, "program_of_rank", of);
    }
    json_decref(names);
    json_decref(of);
    free(regions);
}

static json_t *clocks_json(const struct lc_trace *trace, const struct lc_correction *c) {
    const struct lc_health *h = trace->health;
    json_t *object = json_object();
    json_object_set_new(object, "messages", json_integer(h->count[LC_HEALTH_VIOLATION_P2P]));
    json_object_set_new(object, "collectives", json_integer(h->count[LC_HEALTH_VIOLATION_COLL]));
    json_object_set_new(object, "largest_s", json_real(seconds(trace, h->largest_violation_ticks)));
    json_object_set_new(object, "corrected", json_boolean(c->done));
    if (c->done) {
        json_object_set_new(object, "before", json_integer(c->violations_before));
        json_object_set_new(object, "rounds", json_integer(c->rounds));
        json_object_set_new(object, "largest_shift_s",
                            json_real(seconds(trace, c->largest_shift_ticks)));
    }
    return object;
}

/* Violated invariants belong to the health of the result. */
static void add_broken(json_t *health, const json_t *broken) {
    size_t i;
    const json_t *text;
    json_array_foreach(broken, i, text) json_array_append_new(
        health, json_sprintf("invariant violated: %s", json_string_value(text)));
}

enum lc_err lc_meta_make(struct lc_trace *trace, const struct lc_analyze_options *options,
                         const struct lc_run_facts *facts, const struct lc_correction *correction,
                         const char *invariants, char **meta) {
    (void)facts;
    int64_t *labels = NULL;
    *meta = NULL;
    LC_TRY(lc_partition_executables(trace, &labels));
    if (trace->comm->rank != 0) {
        free(labels);
        return LC_OK;
    }
    json_t *object = json_object();
    json_object_set_new(object, "program", program(trace, options->archive));
    programs_json(trace, labels, object);
    free(labels);
    json_object_set_new(object, "ranks", json_integer((json_int_t)trace->n_processes));
    json_object_set_new(object, "threads", threads_json(trace));
    json_object_set_new(object, "wall_time_s", json_real(seconds(trace, trace->t1 - trace->t0)));
    json_object_set_new(object, "complete", json_true());
    json_object_set_new(object, "analysis", json_true());
    json_object_set_new(object, "version", json_string(LC_VERSION));
    json_object_set_new(object, "events", json_integer((json_int_t)trace->n_events));
    if (trace->windows != NULL)
        json_object_set_new(object, "trace_window", json_string(trace->windows));
    json_object_set_new(object, "mpi_only", json_boolean(options->mpi_only));
    json_object_set_new(object, "violations", clocks_json(trace, correction));
    json_t *health = health_json(trace);
    json_object_set_new(object, "health", health);
    json_object_set_new(object, "health_counts", counts_json(trace));
    json_t *checks = *invariants ? json_loads(invariants, 0, NULL) : NULL;
    if (checks) {
        add_broken(health, json_object_get(checks, "broken"));
        json_object_set_new(object, "invariants", checks);
    }
    *meta = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(object);
    return *meta ? LC_OK : lc_fail(LC_ERR_NOMEM, "meta: no memory");
}

static void say_lines(const char *lines) {
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        if (n)
            lc_say("%.*s", (int)n, lines);
        lines += n + (lines[n] == '\n');
    }
}

static void say_violations(const struct lc_trace *trace, const struct lc_correction *correction) {
    const struct lc_health *h = trace->health;
    int64_t n = h->count[LC_HEALTH_VIOLATION_P2P] + h->count[LC_HEALTH_VIOLATION_COLL];
    if (correction->done)
        lc_say("clocks: %" PRId64 " violations of message order, %" PRId64
               " after the correction (largest shift %.3g s)",
               correction->violations_before, correction->violations_after,
               seconds(trace, correction->largest_shift_ticks));
    else if (n)
        lc_say("clocks: %" PRId64 " violations of message order, up to %.3g s: "
               "--time-correct=on restores the order",
               n, seconds(trace, h->largest_violation_ticks));
}

void lc_meta_say(const struct lc_trace *trace, const struct lc_analyze_options *options,
                 const struct lc_run_facts *facts, const struct lc_correction *correction,
                 const char *lines) {
    struct lc_strbuf line = {0};
    double all = 1e-9 * (double)(facts->end_ns - facts->begin_ns);
    double waits = 1e-9 * (double)(facts->waits_ns - facts->begin_ns);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    bool heading = false;
    if (trace->windows != NULL)
        lc_say("trace of %s only: the rest of the run is `" LC_NOT_TRACED "`", trace->windows);
    for (int k = 0; k < LC_HEALTH_KINDS; k++) {
        if (!trace->health->count[k] || k == LC_HEALTH_VIOLATION_P2P ||
            k == LC_HEALTH_VIOLATION_COLL)
            continue;
        if (!heading)
            lc_say("trace health:");
        heading = true;
        health_line(&line, trace, k);
        lc_say("  %s", lc_strbuf_get(&line));
    }
    lc_strbuf_free(&line);
    say_violations(trace, correction);
    say_lines(lines);
    lc_say("%" PRIu64 " events of %zu locations on %u rank%s in %.2f s: %.1f million per second "
           "(%.1f up to the wait states), %.0f MiB on rank 0",
           trace->n_events, trace->n_locations, trace->comm->size,
           lc_plural((double)trace->comm->size), all, 1e-6 * (double)trace->n_events / all,
           1e-6 * (double)trace->n_events / waits, (double)usage.ru_maxrss / 1024);
    lc_say("result: %s", options->output);
}
