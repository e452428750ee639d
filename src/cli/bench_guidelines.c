#include "cli/bench_guidelines.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/plural.h"
#include "base/stats.h"
#include "bench/bench_audit.h"
#include "bench/bench_result.h"
#include "bench/launches.h"
#include "bench/operation_size.h"
#include "cli/cmd.h"

enum { ROUNDS = 10, REPS = 300, GROUPS_MOST = 40, MEMBERS_MOST = 12, SIZES_MOST = 32 };

/* A collective and what does the same: members[0] is the collective. */
struct group {
    const char *members[MEMBERS_MOST];
    size_t n;
    bool failed;
    double *medians; /* [members * sizes * rounds] ns; 0: not measured */
};

struct guidelines {
    struct lc_bench_options each;
    struct group groups[GROUPS_MOST];
    size_t n, rounds, done; /* groups; rounds wanted, and whole ones */
    uint64_t sizes[SIZES_MOST];
    size_t n_sizes;
    char *operations, *mock_ups, *wanted; /* memory of the names */
    struct lc_strbuf directory;
    json_t *left_out, *without;
    struct lc_bench_audit audit;
};

static double *median_at(const struct guidelines *g, const struct group *group, size_t member,
                         size_t size, size_t round) {
    return &group->medians[(member * g->n_sizes + size) * g->rounds + round];
}

/* "MPI_Ibcast" is the nonblocking twin of "MPI_Bcast". */
static bool is_twin(const char *twin, const char *name) {
    return strncmp(twin, "MPI_I", 5) == 0 && tolower((unsigned char)name[4]) == twin[5] &&
           strcmp(twin + 6, name + 5) == 0;
}

static bool is_mock_up(const char *mock_up, const char *name) {
    size_t length = strlen(name);
    return strncmp(mock_up, name, length) == 0 && mock_up[length] == '~';
}

static void fill_group(struct group *group, const char *name, const char *const *operations,
                       size_t n, const char *const *mock_ups, size_t n_mock_ups) {
    group->members[group->n++] = name;
    for (size_t i = 0; i < n_mock_ups && group->n < MEMBERS_MOST; i++)
        if (is_mock_up(mock_ups[i], name))
            group->members[group->n++] = mock_ups[i];
    for (size_t i = 0; i < n && group->n < MEMBERS_MOST; i++)
        if (strncmp(name, "MPI_", 4) == 0 && is_twin(operations[i], name))
            group->members[group->n++] = operations[i];
}

static bool is_among(const char *name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static enum lc_err add_group(struct guidelines *g, const char *name, bool asked,
                             const char *const *operations, size_t n, const char *const *mock_ups,
                             size_t n_mock_ups) {
    struct group *group = &g->groups[g->n];
    *group = (struct group){.n = 0};
    if (!is_among(name, operations, n))
        return lc_fail(LC_ERR_USAGE, "bench: %.60s: no such operation: see `latecomer bench list`",
                       name);
    fill_group(group, name, operations, n, mock_ups, n_mock_ups);
    if (group->n > 1 && g->n + 1 < GROUPS_MOST) {
        g->n++;
        return lc_alloc(&group->medians, group->n * g->n_sizes * g->rounds, sizeof(double));
    }
    if (asked) {
        lc_complain("bench: guidelines: %s: has no mock-up", name);
        json_array_append_new(g->without, json_string(name));
    }
    return LC_OK;
}

/* Groups of the operations wanted, or of all that have mock-ups. */
static enum lc_err make_groups(struct guidelines *g) {
    const char *operations[LC_BENCH_NAMES_MOST], *mock_ups[LC_BENCH_NAMES_MOST];
    size_t n, n_mock_ups;
    LC_TRY(lc_bench_ask("operations", &g->operations, operations, &n));
    LC_TRY(lc_bench_ask("mock-ups", &g->mock_ups, mock_ups, &n_mock_ups));
    if (g->each.operations == NULL) {
        for (size_t i = 0; i < n; i++)
            LC_TRY(add_group(g, operations[i], false, operations, n, mock_ups, n_mock_ups));
        return LC_OK;
    }
    LC_TRY(lc_bench_find_operations(g->each.operations, &g->wanted));
    char *rest = g->wanted;
    for (char *word; rest != NULL && (word = strsep(&rest, ",")) != NULL;)
        LC_TRY(add_group(g, word, true, operations, n, mock_ups, n_mock_ups));
    return g->n > 0 ? LC_OK : lc_fail(LC_ERR_USAGE, "bench: guidelines: nothing to compare");
}

static enum lc_err read_sizes(struct guidelines *g) {
    const char *at = g->each.bytes;
    for (char *end; *at != '\0'; at = *end == ',' ? end + 1 : end) {
        if (g->n_sizes == SIZES_MOST)
            return lc_fail(LC_ERR_USAGE, "bench: --bytes: more than %d sizes", SIZES_MOST);
        g->sizes[g->n_sizes++] = strtoull(at, &end, 10);
    }
    return LC_OK;
}

static void take_medians(struct guidelines *g, struct group *group, size_t round,
                         const struct lc_collected *result) {
    for (size_t i = 0; i < result->n; i++)
        for (size_t m = 0; m < group->n; m++)
            for (size_t s = 0; s < g->n_sizes; s++)
                if (strcmp(result->all[i]->operation, group->members[m]) == 0 &&
                    result->all[i]->bytes == g->sizes[s])
                    *median_at(g, group, m, s, round) = result->all[i]->median.value;
}

/* All members in one launch, in random order. */
static enum lc_err launch(struct guidelines *g, size_t number, size_t round, uint64_t *random) {
    struct group *group = &g->groups[number];
    struct lc_strbuf names = {0}, output = {0};
    struct lc_collected result;
    struct lc_bench_options w = g->each;
    size_t order[MEMBERS_MOST];
    int code = LC_EXIT_OK;
    for (size_t m = 0; m < group->n; m++)
        order[m] = m;
    lc_launches_shuffle(order, group->n, random);
    for (size_t m = 0; m < group->n; m++)
        lc_strbuf_printf(&names, "%s%s", m > 0 ? "," : "", group->members[order[m]]);
    lc_strbuf_printf(&output, "%s/round-%zu-%s", lc_strbuf_get(&g->directory), round + 1,
                     group->members[0]);
    w.operations = lc_strbuf_get(&names);
    w.output = lc_strbuf_get(&output);
    w.one_of_many = true;
    enum lc_err err = lc_bench_start(&w, &result, &code);
    if (lc_bench_interrupted()) {
        err = LC_OK; /* this round does not count */
    } else if ((err != LC_OK && err != LC_ERR_USAGE) || (err == LC_OK && code != LC_EXIT_OK)) {
        const char *why = "it does not run: try it by itself to see why";
        lc_complain("bench: guidelines: %s: left out: %s", group->members[0], why);
        json_array_append_new(g->left_out,
                              json_pack("{s:s, s:s}", "operation", group->members[0], "why", why));
        group->failed = true;
        err = LC_OK;
    } else if (err == LC_OK) {
        take_medians(g, group, round, &result);
        err = lc_bench_audit_add(&g->audit, result.all, result.n);
    }
    lc_collected_free(&result);
    lc_strbuf_free(&names);
    lc_strbuf_free(&output);
    return err;
}

static enum lc_err launch_rounds(struct guidelines *g, uint64_t random) {
    for (size_t r = 0; r < g->rounds && !lc_bench_interrupted(); r++) {
        size_t order[GROUPS_MOST];
        for (size_t i = 0; i < g->n; i++)
            order[i] = i;
        lc_launches_shuffle(order, g->n, &random);
        for (size_t i = 0; i < g->n && !lc_bench_interrupted(); i++) {
            if (g->groups[order[i]].failed)
                continue;
            if (isatty(STDERR_FILENO))
                lc_say("round %zu of %zu, %zu of %zu: %s", r + 1, g->rounds, i + 1, g->n,
                       g->groups[order[i]].members[0]);
            LC_TRY(launch(g, order[i], r, &random));
        }
        g->done += !lc_bench_interrupted();
    }
    return LC_OK;
}

static json_t *finite_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static double middle(const double *values, size_t n) {
    double sorted[1000];
    size_t used = n < 1000 ? n : 1000;
    memcpy(sorted, values, used * sizeof sorted[0]);
    lc_stats_sort(sorted, used);
    return lc_stats_quantile_sorted(sorted, used, 0.5);
}

static bool was_measured(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (values[i] <= 0)
            return false;
    return n > 0;
}

/* One, where it has none. */
static size_t sizes_of(const struct guidelines *g, size_t group) {
    return lc_bench_is_sized(g->groups[group].members[0]) ? g->n_sizes : 1;
}

static json_t *comparisons_json(const struct guidelines *g, double level) {
    json_t *list = json_array();
    for (size_t i = 0; i < g->n; i++)
        for (size_t s = 0; s < sizes_of(g, i) && !g->groups[i].failed; s++)
            for (size_t m = 1; m < g->groups[i].n; m++) {
                const double *own = median_at(g, &g->groups[i], 0, s, 0);
                const double *other = median_at(g, &g->groups[i], m, s, 0);
                if (!was_measured(own, g->done) || !was_measured(other, g->done))
                    continue;
                struct lc_ratio r = lc_launches_ratio(own, other, g->done, level);
                json_array_append_new(
                    list, json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:[o, o], s:b, s:b}",
                                    "operation", g->groups[i].members[0], "mock_up",
                                    g->groups[i].members[m], "bytes", (json_int_t)g->sizes[s],
                                    "median_ns", middle(own, g->done), "mock_up_median_ns",
                                    middle(other, g->done), "excess_ns",
                                    middle(own, g->done) - middle(other, g->done), "ratio", r.value,
                                    "ratio_ci", finite_or_null(r.low), finite_or_null(r.high),
                                    "violated", r.low > 1, "holds", r.high < 1));
            }
    return list;
}

static size_t count_comparisons(const struct guidelines *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        n += g->groups[i].failed ? 0 : (g->groups[i].n - 1) * sizes_of(g, i);
    return n > 0 ? n : 1;
}

static uint64_t seed_of(const struct guidelines *g) {
    return g->each.seed > 0 ? g->each.seed : 1;
}

static enum lc_err write_result(struct guidelines *g, json_t **result) {
    struct lc_strbuf file = {0};
    /* one-sided at 5 % for all together: each interval has 10 % / n outside */
    double level = 1 - 0.1 / (double)count_comparisons(g);
    *result = json_pack(
        "{s:s, s:i, s:I, s:I, s:I, s:f, s:b, s:o, s:O, s:O}", "format", "latecomer-guidelines",
        "version", 1, "rounds", (json_int_t)g->done, "rounds_wanted", (json_int_t)g->rounds, "seed",
        (json_int_t)seed_of(g), "level", level, "complete",
        g->done == g->rounds && json_array_size(g->left_out) == 0, "comparisons",
        comparisons_json(g, level), "left_out", g->left_out, "without_mock_up", g->without);
    if (g->each.audit)
        json_object_set_new(*result, "audit", lc_bench_audit_json(&g->audit));
    lc_strbuf_printf(&file, "%s/guidelines.json", lc_strbuf_get(&g->directory));
    enum lc_err err = lc_bench_write_json(*result, lc_strbuf_get(&file));
    lc_strbuf_free(&file);
    return err;
}

static enum lc_err run_all(struct guidelines *g, json_t **result, int *code) {
    LC_TRY(lc_bench_directory(
        g->each.output != NULL ? g->each.output : "latecomer-bench-guidelines", &g->directory));
    LC_TRY(launch_rounds(g, seed_of(g)));
    if (g->done == 0)
        return lc_fail(LC_ERR_NOT_FOUND, "bench: guidelines: no round was measured");
    LC_TRY(write_result(g, result));
    if (lc_report_benchmark(g->directory.text) != LC_OK)
        lc_complain("bench: guidelines: no page: %s", lc_err_text());
    if (g->done < g->rounds || json_array_size(g->left_out) > 0)
        *code = LC_EXIT_ERROR;
    if (g->done < g->rounds)
        lc_complain("bench: guidelines: stopped early: %zu whole round%s in %s", g->done,
                    lc_plural((double)g->done), lc_strbuf_get(&g->directory));
    else
        lc_say("result: %s", lc_strbuf_get(&g->directory));
    return LC_OK;
}

enum lc_err lc_bench_guidelines(const struct lc_bench_options *each, size_t rounds, json_t **result,
                                int *code) {
    struct guidelines *g;
    struct lc_launch here;
    *result = NULL;
    lc_launch_detect_place(&here);
    if (here.kind != LC_LAUNCHER_NONE)
        return lc_fail(LC_ERR_USAGE,
                       "bench: guidelines: starts launchers itself: run it without one");
    LC_TRY(lc_alloc(&g, 1, sizeof *g));
    g->each = *each;
    g->each.reps = each->reps == 0 && each->precision <= 0 ? REPS : each->reps;
    g->rounds = rounds > 0 ? rounds : ROUNDS;
    g->left_out = json_array();
    g->without = json_array();
    enum lc_err err = read_sizes(g);
    if (err == LC_OK)
        err = make_groups(g);
    if (err == LC_OK)
        err = run_all(g, result, code);
    for (size_t i = 0; i < GROUPS_MOST; i++)
        free(g->groups[i].medians);
    free(g->operations);
    free(g->mock_ups);
    free(g->wanted);
    lc_strbuf_free(&g->directory);
    json_decref(g->left_out);
    json_decref(g->without);
    lc_bench_audit_free(&g->audit);
    free(g);
    return err;
}

/* "Reduce_Bcast" of "MPI_Allreduce~Reduce_Bcast"; the name of a nonblocking twin as it is. */
static void put_mock_up(const json_t *c, struct lc_strbuf *out) {
    struct lc_strbuf name = {0};
    lc_bench_put_text(c, "mock_up", &name);
    const char *mark = strchr(lc_strbuf_get(&name), '~');
    lc_strbuf_puts(out, mark == NULL                   ? lc_strbuf_get(&name)
                        : strcmp(mark, "~larger") == 0 ? "itself with twice the bytes"
                        : strcmp(mark, "~parts") == 0  ? "itself in two halves"
                                                       : mark + 1);
    lc_strbuf_free(&name);
}

static void print_comparison(const json_t *c, const struct lc_bench_page *page) {
    const json_t *ci = json_object_get(c, "ratio_ci");
    struct lc_strbuf operation = {0}, mock_up = {0}, size = {0};
    char own[32], other[32];
    lc_bench_put_text(c, "operation", &operation);
    put_mock_up(c, &mock_up);
    if (lc_bench_is_sized(lc_strbuf_get(&operation)))
        lc_strbuf_printf(&size, " of %lld B",
                         (long long)json_integer_value(json_object_get(c, "bytes")));
    fprintf(page->out,
            "%s!%s %s%s%s%s takes %.2f times as long as %s (%.2f to %.2f): ", page->alarm,
            page->plain, page->bold, lc_strbuf_get(&operation), page->plain, lc_strbuf_get(&size),
            json_number_value(json_object_get(c, "ratio")), lc_strbuf_get(&mock_up),
            json_number_value(json_array_get(ci, 0)), json_number_value(json_array_get(ci, 1)));
    fprintf(page->out, "%s, not %s\n",
            lc_bench_time(json_number_value(json_object_get(c, "median_ns")), own),
            lc_bench_time(json_number_value(json_object_get(c, "mock_up_median_ns")), other));
    lc_strbuf_free(&operation);
    lc_strbuf_free(&mock_up);
    lc_strbuf_free(&size);
}

void lc_bench_guidelines_text(const json_t *guidelines, const struct lc_bench_page *page) {
    const json_t *list = json_object_get(guidelines, "comparisons"), *c;
    size_t holds = 0, violated = 0, n = json_array_size(list);
    for (size_t i = 0; (c = json_array_get(list, i)) != NULL; i++) {
        holds += json_is_true(json_object_get(c, "holds"));
        violated += json_is_true(json_object_get(c, "violated"));
        if (json_is_true(json_object_get(c, "violated")))
            print_comparison(c, page);
    }
    fprintf(
        page->out,
        "%zu of %zu guidelines violated, %zu hold, %zu cannot be told from these %lld rounds.\n",
        violated, n, holds, n - holds - violated,
        (long long)json_integer_value(json_object_get(guidelines, "rounds")));
    lc_bench_audit_text(json_object_get(guidelines, "audit"), page);
}
