/* A comparison as text, JSON, and Markdown for continuous integration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/compare_private.h"
#include "report/short_name.h"
#include "report/text_parts.h"
#include "report/units.h"

enum { MOST_PATHS = 8, MOST_JSON_PATHS = 1000 };

static const char *const part_keys[LC_PARTS] = {"useful", "balance", "serialisation", "transfer"};
static const char *const part_names[LC_PARTS] = {"useful work, mean of the ranks",
                                                 "imbalance of work", "ranks waiting in turn",
                                                 "MPI itself, and other time that is not work"};

static const char *signed_seconds(double seconds, char buffer[40]) {
    char plain[32];
    snprintf(buffer, 40, "%s%s", seconds < 0.0 ? "-" : "+", lc_text_seconds(fabs(seconds), plain));
    return buffer;
}

static void put_interval(const struct lc_comparison *c, struct lc_strbuf *out) {
    lc_strbuf_printf(out, "95 %%: %+.1f to %+.1f %%", 100.0 * (c->ratio_low - 1.0),
                     100.0 * (c->ratio_high - 1.0));
}

/* Where the interval comes from, in words. */
static void put_basis(const struct lc_comparison *c, struct lc_strbuf *out) {
    struct lc_strbuf phase = {0};
    if (c->by == LC_BY_RUNS)
        lc_strbuf_printf(out, "%zu and %zu runs", c->n_side[0], c->n_side[1]);
    else if (c->by == LC_BY_ITERATIONS) {
        lc_put_printable(&phase, c->phase);
        lc_strbuf_printf(out, "%zu and %zu iterations of `%s` (", c->iterations[0],
                         c->iterations[1], lc_strbuf_get(&phase));
        put_interval(c, out);
        lc_strbuf_puts(out, "); how much runs differ is not in it");
    } else
        lc_strbuf_printf(out,
                         "one sample each: no significance can be given; what differs by a "
                         "threshold of %.3g %%",
                         100.0 * c->threshold);
    lc_strbuf_free(&phase);
}

/* "2 more runs on each side", or where the sides differ "5 runs on each side". */
static void put_needed(const struct lc_comparison *c, struct lc_strbuf *out) {
    size_t more = c->n_side[0] == c->n_side[1] ? c->n_side[0] : 0;
    lc_strbuf_printf(out, "%zu%s runs on each side", c->runs_needed - more,
                     more > 0 ? " more" : "");
}

static void put_times(const struct lc_comparison *c, struct lc_strbuf *out) {
    char a[32], b[32];
    lc_strbuf_printf(out, ", run time %s -> %s", lc_text_seconds(c->a_s, a),
                     lc_text_seconds(c->b_s, b));
}

/* What cannot be told: why, and what would tell. */
static void put_undecided(const struct lc_comparison *c, struct lc_strbuf *out) {
    double change = 100.0 * (c->ratio - 1.0);
    const char *these = c->n_runs > 2 ? "these few runs" : "this pair";
    if (!c->is_calibrated) {
        lc_strbuf_printf(out,
                         c->differs != NULL ? "differs in %s: " : "not different in %s: ", these);
        lc_strbuf_printf(out, "%+.1f %%", change);
        put_times(c, out);
        lc_strbuf_puts(out, "; at least ");
        put_needed(c, out);
        lc_strbuf_puts(out, " would tell");
        return;
    }
    double scatter = sqrt((c->var_s2[0] + c->var_s2[1]) / 2.0) / c->a_s;
    lc_strbuf_printf(out, "cannot tell: the runs scatter by %.2g %%; ", 100.0 * scatter);
    put_needed(c, out);
    lc_strbuf_printf(out, " would decide: %+.1f %% (", change);
    put_interval(c, out);
    lc_strbuf_putc(out, ')');
    put_times(c, out);
}

static const char one_side_first[] =
    "The runs did not take turns: what changed on the machine meanwhile is in this difference, and "
    "equal programs are told apart more often than one time in twenty";

static void put_verdict(const struct lc_comparison *c, struct lc_strbuf *out) {
    if (!lc_comparison_is_possible(c)) {
        lc_strbuf_printf(out, "not comparable: %s", c->why);
        return;
    }
    if (c->why == NULL && c->runs_needed > 0) {
        put_undecided(c, out);
        return;
    }
    lc_strbuf_printf(out, "%s: %+.1f %%", c->verdict, 100.0 * (c->ratio - 1.0));
    if (c->is_calibrated) {
        lc_strbuf_puts(out, " (");
        put_interval(c, out);
        lc_strbuf_putc(out, ')');
    }
    put_times(c, out);
    if (c->why != NULL)
        lc_strbuf_printf(out, "; %s", c->why);
}

/* Worth a line: more than chance where that is known, and a hundredth of the run. */
static bool is_shown(const struct lc_comparison *c, const struct lc_compared_path *path) {
    double own = fabs(path->delta_s - path->waiting_delta_s);
    double change = fmax(own, fabs(path->waiting_delta_s));
    return change > 0.002 * c->a_s;
}

static const char *note_of(const struct lc_comparison *c, const struct lc_compared_path *path) {
    if (path->only_a || path->only_b)
        return path->only_a ? "only in A" : "only in B";
    if (c->by != LC_BY_NOTHING && isfinite(path->half_s) && fabs(path->delta_s) <= path->half_s)
        return "within chance";
    if (fabs(path->waiting_delta_s) > fabs(path->delta_s - path->waiting_delta_s))
        return "waiting";
    return c->is_calibrated ? "more than chance" : "";
}

/* What is written of the indicators: their name, the values of A and B. */
typedef void (*put_line)(void *to, const char *name, double a, double b);

static void each_indicator(const struct lc_comparison *c, put_line put, void *to) {
    const struct lc_run_indicators *a = &c->means[0], *b = &c->means[1];
    struct lc_strbuf name = {0}, shorter = {0}, clean = {0};
    put(to, "imbalance on the critical path", a->imbalance_s, b->imbalance_s);
    put(to, "imbalance costs within partitions", a->intra_s, b->intra_s);
    put(to, "imbalance costs across partitions", a->inter_s, b->inter_s);
    for (int m = 0; m < LC_N_COST_MODELS; m++) {
        lc_strbuf_clear(&name);
        lc_strbuf_printf(&name, "delay costs, direct%s", m > 0 ? ", wait-first" : "");
        put(to, lc_strbuf_get(&name), a->short_s[m], b->short_s[m]);
        lc_strbuf_clear(&name);
        lc_strbuf_printf(&name, "delay costs, through other waiting%s",
                         m > 0 ? ", wait-first" : "");
        put(to, lc_strbuf_get(&name), a->long_s[m], b->long_s[m]);
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct lc_run_partition *p = &a->list[i];
        const struct lc_run_partition *q = lc_run_indicators_find(b, p->own.name);
        const struct {
            const char *what;
            double a, b;
        } lines[] = {
            {"on the critical path", p->own.critical_s, q != NULL ? q->own.critical_s : NAN},
            {"work", p->own.work_s, q != NULL ? q->own.work_s : NAN},
            {"imbalance costs within", p->intra_s, q != NULL ? q->intra_s : NAN},
            {"imbalance costs across", p->inter_s, q != NULL ? q->inter_s : NAN}};
        lc_strbuf_clear(&shorter);
        lc_strbuf_clear(&clean);
        lc_put_short_name(&shorter, p->own.name);
        lc_put_printable(&clean, lc_strbuf_get(&shorter));
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
            lc_strbuf_clear(&name);
            lc_put_cut(&name, lc_strbuf_get(&clean), 40);
            lc_strbuf_printf(&name, ": %s", lines[k].what);
            put(to, lc_strbuf_get(&name), lines[k].a, lines[k].b);
        }
    }
    lc_strbuf_free(&name);
    lc_strbuf_free(&shorter);
    lc_strbuf_free(&clean);
}

static bool has_indicators(const struct lc_comparison *c) {
    return (lc_run_indicators_analysed(&c->means[0]) && lc_run_indicators_analysed(&c->means[1])) ||
           (c->means[0].n > 0 && c->means[1].n > 0);
}

static void text_line(void *to, const char *name, double a, double b) {
    char change[40], from[32], until[32];
    if (isfinite(a) && isfinite(b) && (a != 0.0 || b != 0.0))
        fprintf(to, "  %10s  %s -> %s  %s\n", signed_seconds(b - a, change),
                lc_text_seconds(a, from), lc_text_seconds(b, until), name);
}

static void markdown_line(void *to, const char *name, double a, double b) {
    char change[40], from[32], until[32];
    if (!isfinite(a) || !isfinite(b) || (a == 0.0 && b == 0.0))
        return;
    fputs("| ", to);
    for (; *name != '\0'; name++)
        fputc(*name == '|' || *name == '`' ? '_' : *name, to);
    fprintf(to, " | %s | %s | %s |\n", lc_text_seconds(a, from), lc_text_seconds(b, until),
            signed_seconds(b - a, change));
}

/* The parts of a call path's change that are worth a word; nothing where they are not known. */
static void put_parts(const struct lc_comparison *c, const struct lc_compared_path *path,
                      struct lc_strbuf *out) {
    static const char *const short_names[LC_PARTS] = {"work", "imbalance", "waiting in turn",
                                                      "MPI itself"};
    char change[40];
    for (int k = 0; k < LC_PARTS; k++)
        if (fabs(path->part_delta_s[k]) > 0.002 * c->a_s)
            lc_strbuf_printf(out, "%s%s %s", lc_strbuf_get(out)[0] != '\0' ? ", " : "",
                             short_names[k], signed_seconds(path->part_delta_s[k], change));
}

/* One call path: its change, where it is, what it was called before, the parts. */
static void write_path(const struct lc_text *text, const struct lc_comparison *c,
                       const struct lc_compared_path *path) {
    enum { INDENT = 14 };
    struct lc_strbuf line = {0};
    char change[40], a[32], b[32];
    lc_put_tail(&line, path->shown, text->width - INDENT);
    fprintf(text->out, "  %10s  %s -> %s  %s\n%*s%s\n", signed_seconds(path->delta_s, change),
            lc_text_seconds(path->a_s, a), lc_text_seconds(path->b_s, b), note_of(c, path), INDENT,
            "", lc_strbuf_get(&line));
    if (path->path_before != NULL) {
        lc_strbuf_clear(&line);
        lc_put_printable(&line, path->path_before);
        fprintf(text->out, "%*swas", INDENT, "");
        lc_text_wrapped(text, INDENT + 3, INDENT, lc_strbuf_get(&line));
    }
    lc_strbuf_clear(&line);
    put_parts(c, path, &line);
    if (lc_strbuf_get(&line)[0] != '\0') {
        fprintf(text->out, "%*sof the run time:", INDENT, "");
        lc_text_wrapped(text, INDENT + 16, INDENT, lc_strbuf_get(&line));
    }
    lc_strbuf_free(&line);
}

static void write_text(const struct lc_comparison *c, FILE *out) {
    struct lc_strbuf line = {0};
    struct lc_text text;
    char change[40];
    lc_text_begin(&text, out);
    put_verdict(c, &line);
    lc_text_wrapped(&text, 0, 0, lc_strbuf_get(&line));
    lc_strbuf_clear(&line);
    lc_strbuf_puts(&line, "from ");
    put_basis(c, &line);
    lc_text_wrapped(&text, 0, 2, lc_strbuf_get(&line));
    lc_strbuf_free(&line);
    if (c->order == LC_ORDER_ONE_SIDE_FIRST)
        lc_text_wrapped(&text, 0, 2, one_side_first);
    if (!lc_comparison_is_possible(c))
        return;
    if (c->has_parts) {
        fprintf(out, "\nWhat changed (the parts add up)\n");
        for (int k = 0; k < LC_PARTS; k++)
            fprintf(out, "  %10s  %s\n", signed_seconds(c->parts[k], change), part_names[k]);
        fprintf(out, "  %10s  run time\n", signed_seconds(c->b_s - c->a_s, change));
    }
    if (has_indicators(c)) {
        fprintf(out, "\nImbalance and what it costs (costs: time of all ranks)\n");
        each_indicator(c, text_line, out);
    }
    fprintf(out, "\nWhere (own time, mean of the ranks; code before waiting)\n");
    size_t shown = 0;
    for (size_t i = 0; i < c->n_paths && shown < MOST_PATHS; i++) {
        if (!is_shown(c, &c->paths[i]))
            continue;
        write_path(&text, c, &c->paths[i]);
        shown++;
    }
    if (shown == 0)
        fprintf(out, "  nowhere by more than 0.2 %% of the run time\n");
}

/* Names go into code spans: no backquote, no bar, no line. */
static void put_code(struct lc_strbuf *out, const char *path) {
    struct lc_strbuf tail = {0};
    lc_put_tail(&tail, path, 100);
    lc_strbuf_putc(out, '`');
    for (const char *at = lc_strbuf_get(&tail); *at != '\0'; at++)
        lc_strbuf_putc(out, *at == '`' || *at == '|' ? '_' : *at);
    lc_strbuf_putc(out, '`');
    lc_strbuf_free(&tail);
}

static void write_markdown(const struct lc_comparison *c, FILE *out) {
    struct lc_strbuf line = {0};
    char change[40], a[32], b[32];
    put_verdict(c, &line);
    fprintf(out, "### Performance: %s\n\n", lc_strbuf_get(&line));
    lc_strbuf_clear(&line);
    put_basis(c, &line);
    fprintf(out, "From %s.\n", lc_strbuf_get(&line));
    if (c->order == LC_ORDER_ONE_SIDE_FIRST)
        fprintf(out, "%s.\n", one_side_first);
    if (lc_comparison_is_possible(c) && c->has_parts) {
        fprintf(out, "\n| part | change |\n|---|---:|\n");
        for (int k = 0; k < LC_PARTS; k++)
            fprintf(out, "| %s | %s |\n", part_names[k], signed_seconds(c->parts[k], change));
        fprintf(out, "| **run time** | **%s** |\n", signed_seconds(c->b_s - c->a_s, change));
    }
    if (lc_comparison_is_possible(c) && has_indicators(c)) {
        fprintf(out, "\n| imbalance and what it costs | A | B | change |\n|---|---:|---:|---:|\n");
        each_indicator(c, markdown_line, out);
    }
    size_t shown = 0;
    for (size_t i = 0; i < c->n_paths && shown < MOST_PATHS && lc_comparison_is_possible(c); i++) {
        const struct lc_compared_path *path = &c->paths[i];
        if (!is_shown(c, path))
            continue;
        if (shown++ == 0)
            fprintf(out, "\n| call path | A | B | change | |\n|---|---:|---:|---:|---|\n");
        lc_strbuf_clear(&line);
        put_code(&line, path->shown);
        fprintf(out, "| %s | %s | %s | %s | %s |\n", lc_strbuf_get(&line),
                lc_text_seconds(path->a_s, a), lc_text_seconds(path->b_s, b),
                signed_seconds(path->delta_s, change), note_of(c, path));
    }
    lc_strbuf_free(&line);
}

static json_t *real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *files_of(const struct lc_comparison *c, int side) {
    json_t *list = json_array();
    struct lc_strbuf clean = {0};
    for (size_t r = 0; r < c->n_runs; r++)
        if (c->runs[r].side == side) {
            lc_strbuf_clear(&clean);
            lc_put_clean(&clean, c->runs[r].file);
            json_array_append_new(list, json_string(lc_strbuf_get(&clean)));
        }
    lc_strbuf_free(&clean);
    return list;
}

/* The factors of the first run of a side. */
static json_t *factors_of(const struct lc_comparison *c, int side) {
    static const char *const keys[] = {"parallel_efficiency",      "load_balance",
                                       "communication_efficiency", "serialisation_efficiency",
                                       "transfer_efficiency",      "elapsed_s",
                                       "critical_path_s"};
    json_t *object = json_object();
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        double sum = 0.0;
        bool all = true;
        for (size_t r = 0; r < c->n_runs; r++)
            if (c->runs[r].side == side) {
                const json_t *value = json_object_get(c->runs[r].pop, keys[k]);
                all = all && json_is_number(value);
                sum += json_number_value(value) / (double)c->n_side[side];
            }
        if (all)
            json_object_set_new(object, keys[k], json_real(sum));
    }
    return object;
}

static json_t *path_json(const struct lc_comparison *c, const struct lc_compared_path *path) {
    json_t *object = json_object();
    bool known = isfinite(path->half_s) && c->by != LC_BY_NOTHING;
    json_object_set_new(object, "path", json_string(path->path));
    if (path->path_before != NULL)
        json_object_set_new(object, "path_a", json_string(path->path_before));
    json_object_set_new(object, "a_s", json_real(path->a_s));
    json_object_set_new(object, "b_s", json_real(path->b_s));
    json_object_set_new(object, "delta_s", json_real(path->delta_s));
    json_object_set_new(object, "low_s", real_or_null(known ? path->delta_s - path->half_s : NAN));
    json_object_set_new(object, "high_s", real_or_null(known ? path->delta_s + path->half_s : NAN));
    json_object_set_new(object, "waiting_delta_s", json_real(path->waiting_delta_s));
    json_t *parts = json_object();
    for (int k = 0; k < LC_PARTS; k++)
        json_object_set_new(parts, part_keys[k], real_or_null(path->part_delta_s[k]));
    json_object_set_new(object, "parts", parts);
    return object;
}

static void write_json(const struct lc_comparison *c, FILE *out) {
    static const char *const names[] = {"none", "iterations", "runs"};
    json_t *all = json_object(), *paths = json_array(), *parts = json_object();
    json_t *pop = json_object(), *runs = json_object();
    json_object_set_new(all, "format", json_string("latecomer-comparison"));
    json_object_set_new(all, "version", json_integer(1));
    json_object_set_new(all, "verdict", json_string(c->verdict));
    json_object_set_new(all, "why", c->why != NULL ? json_string(c->why) : json_null());
    json_object_set_new(all, "differs", c->differs != NULL ? json_string(c->differs) : json_null());
    json_object_set_new(all, "runs_needed",
                        c->runs_needed > 0 ? json_integer((json_int_t)c->runs_needed)
                                           : json_null());
    json_object_set_new(all, "ratio", real_or_null(c->ratio));
    json_object_set_new(all, "ratio_low", real_or_null(c->ratio_low));
    json_object_set_new(all, "ratio_high", real_or_null(c->ratio_high));
    json_object_set_new(all, "significance", json_string(names[c->by]));
    json_object_set_new(all, "in_turns",
                        c->order == LC_ORDER_UNKNOWN ? json_null()
                                                     : json_boolean(c->order == LC_ORDER_TURNS));
    json_object_set_new(all, "threshold", json_real(c->threshold));
    json_object_set_new(all, "a_s", json_real(c->a_s));
    json_object_set_new(all, "b_s", json_real(c->b_s));
    json_object_set_new(runs, "a", files_of(c, 0));
    json_object_set_new(runs, "b", files_of(c, 1));
    json_object_set_new(all, "runs", runs);
    if (c->by == LC_BY_ITERATIONS) {
        json_object_set_new(all, "phase", json_string(c->phase));
        json_object_set_new(
            all, "iterations",
            json_pack("[II]", (json_int_t)c->iterations[0], (json_int_t)c->iterations[1]));
    }
    for (size_t i = 0; i < c->n_paths && i < MOST_JSON_PATHS; i++)
        json_array_append_new(paths, path_json(c, &c->paths[i]));
    json_object_set_new(all, "callpaths", paths);
    json_object_set_new(pop, "a", factors_of(c, 0));
    json_object_set_new(pop, "b", factors_of(c, 1));
    json_object_set_new(all, "pop", pop);
    for (int k = 0; k < LC_PARTS && c->has_parts; k++)
        json_object_set_new(parts, part_keys[k], json_real(c->parts[k]));
    json_object_set_new(all, "parts", parts);
    json_object_set_new(all, "indicators",
                        json_pack("{s:o, s:o}", "a", lc_run_indicators_json(&c->means[0]), "b",
                                  lc_run_indicators_json(&c->means[1])));
    json_dumpf(all, out, JSON_REAL_PRECISION(17) | JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
}

enum lc_err lc_comparison_write(const struct lc_comparison *c, enum lc_compare_format format,
                                FILE *out) {
    if (format == LC_COMPARE_JSON)
        write_json(c, out);
    else if (format == LC_COMPARE_MARKDOWN)
        write_markdown(c, out);
    else
        write_text(c, out);
    return LC_OK;
}
