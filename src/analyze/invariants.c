#include "analyze/invariants.h"

#include <math.h>
#include <string.h>

#include "analyze/place.h"

static const double relative = 1e-9;

struct check {
    const struct lc_trace *trace;
    json_t *broken;
    struct lc_strbuf *lines;
    double scale; /* ticks; differences are compared with it, too */
    int n_checks;
};

static void broken(struct check *check, const char *what, const char *kind, double a, double b) {
    double tps = (double)check->trace->ticks_per_second;
    struct lc_strbuf text = {0};
    lc_strbuf_printf(&text, "%s%s%s: %.9g s and %.9g s", what, *kind != '\0' ? ", " : "", kind,
                     a / tps, b / tps);
    json_array_append_new(check->broken, json_string(lc_strbuf_get(&text)));
    lc_strbuf_printf(check->lines, "invariant violated: %s\n", lc_strbuf_get(&text));
    lc_strbuf_free(&text);
}

static void equal(struct check *check, const char *what, const char *kind, double a, double b) {
    check->n_checks++;
    if (!(fabs(a - b) <= relative * fmax(fmax(fabs(a), fabs(b)), check->scale)))
        broken(check, what, kind, a, b);
}

static void none(struct check *check, const char *what, int64_t n) {
    check->n_checks++;
    if (n == 0)
        return;
    struct lc_strbuf text = {0};
    lc_strbuf_printf(&text, "%s: %lld", what, (long long)n);
    json_array_append_new(check->broken, json_string(lc_strbuf_get(&text)));
    lc_strbuf_printf(check->lines, "invariant violated: %s\n", lc_strbuf_get(&text));
    lc_strbuf_free(&text);
}

/* Waiting of one kind in ticks. */
struct kind_of_waiting {
    int64_t caused, all;
    double uncaused[LC_MODELS]; /* costs of it that end at waiting without a cause */
};

/* Invariants 1 to 3 of one kind; adds to the sums over kinds. */
static void check_kind(struct check *check, const double *totals, enum lc_cost_kind kind,
                       const struct kind_of_waiting *waiting, double *booked) {
    static const char *const names[LC_MODELS] = {"", " (wait-first)"};
    double sums[LC_MODELS][LC_COST_METRICS];
    for (int model = 0; model < LC_MODELS; model++)
        for (int metric = 0; metric < LC_COST_METRICS; metric++)
            sums[model][metric] = totals[lc_cost_row(metric, model, kind)];
    for (int model = 0; model < LC_MODELS; model++) {
        struct lc_strbuf name = {0};
        lc_strbuf_printf(&name, "%s%s", lc_cost_kind_name(kind), names[model]);
        const char *text = lc_strbuf_get(&name);
        const double *s = sums[model];
        booked[model] += s[LC_SHORT_TERM] + s[LC_LONG_TERM];
        equal(check, "all costs + costs that end at waiting without a cause = waiting", text,
              s[LC_SHORT_TERM] + s[LC_LONG_TERM] + waiting->uncaused[model],
              (double)waiting->caused);
        equal(check, "short-term costs = direct waiting", text, s[LC_SHORT_TERM], s[LC_DIRECT]);
        equal(check, "direct + indirect = waiting", text, s[LC_DIRECT] + s[LC_INDIRECT],
              (double)waiting->caused);
        equal(check, "propagating + terminal = waiting", text, s[LC_PROPAGATING] + s[LC_TERMINAL],
              (double)waiting->all);
        lc_strbuf_free(&name);
    }
    if (sums[LC_WAIT_FIRST][LC_SHORT_TERM] >
        sums[LC_PROPORTIONAL][LC_SHORT_TERM] + relative * check->scale)
        broken(check, "short-term (wait-first) <= short-term", lc_cost_kind_name(kind),
               sums[LC_WAIT_FIRST][LC_SHORT_TERM], sums[LC_PROPORTIONAL][LC_SHORT_TERM]);
}

/* Wait states of a location that overlap, over all locations. */
static int64_t count_overlaps(const struct lc_timelines *lines) {
    int64_t n = 0;
    for (size_t i = 0; i < lines->trace->n_locs; i++)
        for (uint32_t k = 1; k < lines->lines[i].n_states; k++)
            n += lines->lines[i].states[k].start < lines->lines[i].states[k - 1].end;
    lc_transport_allreduce_i64(lines->trace->comm, &n, 1, LC_OP_SUM);
    return n;
}

/* Waiting per kind, over all ranks. */
static void find_waiting(const struct lc_costs *costs,
                         struct kind_of_waiting waiting[LC_COST_KINDS]) {
    const struct lc_timelines *lines = costs->lines;
    int64_t ticks[2][LC_COST_KINDS] = {0}; /* all; with a cause */
    for (size_t i = 0; i < lines->trace->n_locs; i++)
        for (uint32_t k = 0; k < lines->lines[i].n_states; k++) {
            const struct lc_state *s = &lines->lines[i].states[k];
            const struct lc_wait *w = &lines->lines[i].loc->waits[s->wait];
            enum lc_cost_kind kind = lc_cost_kind_of(w->kind);
            ticks[0][kind] += s->ticks;
            ticks[1][kind] += w->cause != LC_NONE ? s->ticks : 0;
        }
    lc_transport_allreduce_i64(lines->trace->comm, ticks[0], 2 * LC_COST_KINDS, LC_OP_SUM);
    double totals[LC_MODELS * LC_COST_KINDS];
    lc_exact_total(lines->trace->comm, costs->uncaused[0], totals, LC_MODELS * LC_COST_KINDS);
    for (int kind = 0; kind < LC_COST_KINDS; kind++) {
        waiting[kind] = (struct kind_of_waiting){.all = ticks[0][kind], .caused = ticks[1][kind]};
        for (int model = 0; model < LC_MODELS; model++)
            waiting[kind].uncaused[model] = totals[model * LC_COST_KINDS + kind];
    }
}

static void check_path(struct check *check, const struct lc_critical_path *path,
                       const struct lc_indicator_sums *sums) {
    double length = 0;
    int64_t activities = sums->activities_ticks;
    for (size_t c = 0; c < check->trace->n_cnodes; c++)
        length += (double)path->total[c];
    lc_transport_allreduce_i64(check->trace->comm, &activities, 1, LC_OP_SUM);
    equal(check, "length of the critical path = length of the bounds", "", length,
          (double)(path->upper - path->lower));
    equal(check, "activities + impact = locations x length", "",
          (double)activities + sums->intra + sums->inter,
          length * (double)check->trace->n_locations);
}

static json_t *summary(const struct check *check, int64_t all, double caused, const double *booked,
                       double uncaused, const struct lc_critical_path *path) {
    const struct lc_trace *trace = check->trace;
    json_t *root = json_object();
    json_object_set_new(root, "checks", json_integer(check->n_checks));
    json_object_set_new(root, "waiting_s", lc_place_seconds(trace, (double)all));
    json_object_set_new(root, "waiting_with_cause_s", lc_place_seconds(trace, caused));
    json_object_set_new(root, "waiting_without_cause_s",
                        lc_place_seconds(trace, (double)all - caused));
    json_object_set_new(root, "delay_costs_s", lc_place_seconds(trace, booked[LC_PROPORTIONAL]));
    json_object_set_new(root, "delay_costs_waitfirst_s",
                        lc_place_seconds(trace, booked[LC_WAIT_FIRST]));
    json_object_set_new(root, "costs_without_cause_s", lc_place_seconds(trace, uncaused));
    json_object_set_new(root, "critical_path_s",
                        lc_place_seconds(trace, (double)(path->upper - path->lower)));
    json_object_set(root, "broken", check->broken);
    return root;
}

enum lc_err lc_invariants_check(const struct lc_costs *costs, const struct lc_critical_path *path,
                                const struct lc_indicator_sums *sums, struct lc_strbuf *json,
                                struct lc_strbuf *lines) {
    const struct lc_trace *trace = costs->lines->trace;
    struct check check = {.trace = trace, .broken = json_array(), .lines = lines};
    double caused = 0, booked[LC_MODELS] = {0, 0}, uncaused = 0, totals[LC_COST_ROWS],
           tps = (double)trace->ticks_per_second;
    int64_t counts[4] = {costs->n_short_of_blame, costs->n_circles, costs->n_caused,
                         costs->n_indirect},
            all = 0;
    struct kind_of_waiting waiting[LC_COST_KINDS];
    find_waiting(costs, waiting);
    for (int kind = 0; kind < LC_COST_KINDS; kind++) {
        all += waiting[kind].all;
        caused += (double)waiting[kind].caused;
        uncaused += waiting[kind].uncaused[LC_PROPORTIONAL];
    }
    check.scale = (double)all;
    lc_costs_totals(costs, totals);
    for (int kind = 0; kind < LC_COST_KINDS; kind++)
        check_kind(&check, totals, kind, &waiting[kind], booked);
    lc_transport_allreduce_i64(trace->comm, counts, 4, LC_OP_SUM);
    none(&check, "wait states longer than what their cause can be blamed for", counts[0]);
    none(&check, "wait states that pass costs on in a circle", counts[1]);
    none(&check, "wait states of a location that overlap", count_overlaps(costs->lines));
    check.scale = (double)(path->upper - path->lower) * (double)trace->n_locations;
    check_path(&check, path, sums);
    lc_strbuf_printf(lines,
                     "root causes: %.6g s of delay costs (%.6g s wait-first) for %.6g s of waiting "
                     "with a cause; %.6g s without; ",
                     booked[LC_PROPORTIONAL] / tps, booked[LC_WAIT_FIRST] / tps, caused / tps,
                     ((double)all - caused) / tps);
    lc_strbuf_printf(lines, "critical path %.6g s; %d checks, %zu failed\n",
                     (double)(path->upper - path->lower) / tps, check.n_checks,
                     json_array_size(check.broken));
    json_t *root = summary(&check, all, caused, booked, uncaused, path);
    json_object_set_new(root, "wait_states_with_cause", json_integer(counts[2]));
    json_object_set_new(root, "indirect_wait_states", json_integer(counts[3]));
    json_decref(check.broken);
    return lc_place_dump(json, root);
}
