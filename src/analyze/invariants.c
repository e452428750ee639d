#include "analyze/invariants.h"

#include <math.h>
#include <string.h>

#include "analyze/place.h"

static const double relative = 1e-9;
static const double parts_per_tick = 1048576.0; /* sums of reals over ranks travel as integers */

struct check {
    const struct lc_trace *trace;
    json_t *broken;
    struct lc_strbuf *lines;
    double scale; /* ticks; differences are judged against it, too */
    int n_checks;
};

/* Real sums of all ranks. */
static void sum_up(const struct lc_comm *comm, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double whole = floor(values[i]);
        int64_t parts[2] = {(int64_t)whole, (int64_t)((values[i] - whole) * parts_per_tick)};
        lc_comm_allreduce_i64(comm, parts, 2, LC_OP_SUM);
        values[i] = (double)parts[0] + (double)parts[1] / parts_per_tick;
    }
}

static void broken(struct check *check, const char *what, const char *kind, double a, double b)
{
    double tps = (double)check->trace->ticks_per_second;
    struct lc_strbuf text = {0};
    lc_strbuf_printf(&text, "%s%s%s: %.9g s and %.9g s", what, *kind != '\0' ? ", " : "", kind, a / tps, b / tps);
    json_array_append_new(check->broken, json_string(lc_strbuf_get(&text)));
    lc_strbuf_printf(check->lines, "invariant violated: %s\n", lc_strbuf_get(&text));
    lc_strbuf_free(&text);
}

static void equal(struct check *check, const char *what, const char *kind, double a, double b)
{
    check->n_checks++;
    if (!(fabs(a - b) <= relative * fmax(fmax(fabs(a), fabs(b)), check->scale)))
        broken(check, what, kind, a, b);
}

static void none(struct check *check, const char *what, int64_t n)
{
    check->n_checks++;
    if (n == 0)
        return;
    struct lc_strbuf text = {0};
    lc_strbuf_printf(&text, "%s: %lld", what, (long long)n);
    json_array_append_new(check->broken, json_string(lc_strbuf_get(&text)));
    lc_strbuf_printf(check->lines, "invariant violated: %s\n", lc_strbuf_get(&text));
    lc_strbuf_free(&text);
}

/* Invariants 1 to 3 of one kind; adds to the sums over kinds. */
static void check_kind(struct check *check, const struct lc_costs *costs, enum lc_cost_kind kind, double *waiting, double *booked)
{
    static const char *const names[LC_MODELS] = {"", " (wait-first)"};
    double sums[LC_MODELS][LC_COST_METRICS], total = costs->waiting[kind];
    for (int model = 0; model < LC_MODELS; model++)
        for (int metric = 0; metric < LC_COST_METRICS; metric++)
            sums[model][metric] = lc_costs_total(costs, metric, model, kind);
    sum_up(check->trace->comm, &sums[0][0], (size_t)LC_MODELS * LC_COST_METRICS);
    sum_up(check->trace->comm, &total, 1);
    *waiting += total;
    for (int model = 0; model < LC_MODELS; model++) {
        struct lc_strbuf name = {0};
        lc_strbuf_printf(&name, "%s%s", lc_cost_kind_name(kind), names[model]);
        const char *text = lc_strbuf_get(&name);
        const double *s = sums[model];
        booked[model] += s[LC_SHORT_TERM] + s[LC_LONG_TERM];
        if (!check->trace->omp) /* where everything has a cause, nothing ends on the way */
            equal(check, "all costs = waiting", text, s[LC_SHORT_TERM] + s[LC_LONG_TERM], total);
        if (kind < LC_COST_MPI_KINDS) {
            equal(check, "short-term costs = direct waiting", text, s[LC_SHORT_TERM], s[LC_DIRECT]);
            equal(check, "direct + indirect = waiting", text, s[LC_DIRECT] + s[LC_INDIRECT], total);
            equal(check, "propagating + terminal = waiting", text, s[LC_PROPAGATING] + s[LC_TERMINAL], total);
        }
        lc_strbuf_free(&name);
    }
    if (sums[LC_WAIT_FIRST][LC_SHORT_TERM] > sums[LC_PROPORTIONAL][LC_SHORT_TERM] + relative * check->scale)
        broken(check, "short-term (wait-first) <= short-term", lc_cost_kind_name(kind), sums[LC_WAIT_FIRST][LC_SHORT_TERM],
               sums[LC_PROPORTIONAL][LC_SHORT_TERM]);
}

/* Wait states of a location that overlap, over all locations. */
static int64_t count_overlaps(const struct lc_timelines *lines)
{
    int64_t n = 0;
    for (size_t i = 0; i < lines->trace->n_locs; i++)
        for (uint32_t k = 1; k < lines->lines[i].n_states; k++)
            n += lines->lines[i].states[k].start < lines->lines[i].states[k - 1].end;
    lc_comm_allreduce_i64(lines->trace->comm, &n, 1, LC_OP_SUM);
    return n;
}

/* All waiting of section 2 that has a cause, and all. */
static void waiting_time(const struct lc_timelines *lines, double *with_cause, double *all)
{
    double sums[2] = {0, 0};
    for (size_t i = 0; i < lines->trace->n_locs; i++)
        for (uint32_t k = 0; k < lines->lines[i].n_states; k++) {
            const struct lc_state *s = &lines->lines[i].states[k];
            const struct lc_wait *w = &lines->lines[i].loc->waits[s->wait];
            sums[0] += w->cause != LC_NONE && lc_cost_kind_of(w->kind) < LC_COST_KINDS ? (double)s->ticks : 0;
            sums[1] += (double)s->ticks;
        }
    sum_up(lines->trace->comm, sums, 2);
    *with_cause = sums[0];
    *all = sums[1];
}

static void check_path(struct check *check, const struct lc_path *path, const struct lc_indicator_sums *sums)
{
    double length = 0, activities[2] = {sums->activities, sums->other_activities};
    for (size_t c = 0; c < check->trace->n_cnodes; c++)
        length += (double)path->total[c];
    sum_up(check->trace->comm, activities, 2);
    equal(check, "length of the critical path = length of the bounds", "", length, (double)(path->upper - path->lower));
    if (!check->trace->omp)
        equal(check, "activities + impact = locations x length", "", activities[0] + activities[1] + sums->intra + sums->inter,
              length * (double)check->trace->n_locations);
}

enum lc_err lc_invariants_check(const struct lc_costs *costs, const struct lc_path *path, const struct lc_indicator_sums *sums,
                                struct lc_strbuf *json, struct lc_strbuf *lines)
{
    const struct lc_trace *trace = costs->lines->trace;
    struct check check = {.trace = trace, .broken = json_array(), .lines = lines};
    double waiting = 0, booked[LC_MODELS] = {0, 0}, uncaused[LC_MODELS], with_cause, all;
    int64_t counts[2] = {costs->n_short_of_blame, costs->n_circles};
    double tps = (double)trace->ticks_per_second;
    waiting_time(costs->lines, &with_cause, &all);
    check.scale = all;
    memcpy(uncaused, costs->uncaused, sizeof uncaused);
    sum_up(trace->comm, uncaused, LC_MODELS);
    for (int kind = 0; kind < LC_COST_KINDS; kind++)
        check_kind(&check, costs, kind, &waiting, booked);
    equal(&check, "waiting of all kinds = waiting with a cause", "", waiting, with_cause);
    for (int model = 0; model < LC_MODELS; model++)
        equal(&check, "all costs + costs that end at waiting without a cause = waiting", model ? "wait-first" : "",
              booked[model] + uncaused[model], waiting);
    lc_comm_allreduce_i64(trace->comm, counts, 2, LC_OP_SUM);
    none(&check, "wait states longer than what their cause can be blamed for", counts[0]);
    none(&check, "wait states that hand costs over in a circle", counts[1]);
    none(&check, "wait states of a location that overlap", count_overlaps(costs->lines));
    check.scale = (double)(path->upper - path->lower) * (double)trace->n_locations;
    check_path(&check, path, sums);
    json_t *root = json_object();
    json_object_set_new(root, "checks", json_integer(check.n_checks));
    json_object_set_new(root, "waiting_s", json_real(all / tps));
    json_object_set_new(root, "waiting_with_cause_s", json_real(waiting / tps));
    json_object_set_new(root, "waiting_without_cause_s", json_real((all - waiting) / tps));
    json_object_set_new(root, "delay_costs_s", json_real(booked[LC_PROPORTIONAL] / tps));
    json_object_set_new(root, "delay_costs_waitfirst_s", json_real(booked[LC_WAIT_FIRST] / tps));
    json_object_set_new(root, "costs_without_cause_s", json_real(uncaused[LC_PROPORTIONAL] / tps));
    json_object_set_new(root, "critical_path_s", json_real((double)(path->upper - path->lower) / tps));
    json_object_set(root, "broken", check.broken);
    lc_strbuf_printf(lines, "root causes: %.6g s of delay costs (%.6g s wait-first) for %.6g s of waiting with a cause; %.6g s without; ",
                     booked[LC_PROPORTIONAL] / tps, booked[LC_WAIT_FIRST] / tps, waiting / tps, (all - waiting) / tps);
    lc_strbuf_printf(lines, "critical path %.6g s; %d checks, %zu failed\n", (double)(path->upper - path->lower) / tps, check.n_checks,
                     json_array_size(check.broken));
    json_decref(check.broken);
    return lc_place_dump(json, root);
}
