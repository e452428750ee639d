#include "cli/bench_beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bench/bench_result.h"
#include "bench/rank_list.h"
#include "cli/cmd.h"
#include "report/operation_alone.h"
#include "report/operation_use.h"
#include "report/locate.h"
#include "report/run_info.h"

enum { MOST = 20, REPS = 300, LC_RANKS_MOST = 1000000 };
/* Sizes that are about the same: a program's is a mean. */
#define LC_ALIKE 1.3

struct beside {
    struct lc_view *view;
    struct lc_operation_use *uses;
    size_t n, n_all; /* those that took most time; all */
    long ranks;      /* of the program */
    struct lc_fingerprint **alone;
    size_t n_alone, alone_room;
    json_t *jobs; /* of bench.json of all launches together */
};

static enum lc_err find_uses(struct beside *b) {
    LC_TRY(lc_operation_uses(b->view, &b->uses, &b->n_all));
    b->n = b->n_all < MOST ? b->n_all : MOST;
    return b->n > 0
               ? LC_OK
               : lc_fail(LC_ERR_NOT_FOUND,
                         "bench: beside: %s: no operation of MPI in there that can be measured",
                         b->view->file);
}

/* "0-3,8" */
static void put_ranks(const uint32_t *rank, size_t n, struct lc_strbuf *out) {
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && rank[end] == rank[end - 1] + 1; end++)
            ;
        lc_strbuf_printf(out, "%s%u", i > 0 ? "," : "", rank[i]);
        if (end > i + 1)
            lc_strbuf_printf(out, "-%u", rank[end - 1]);
    }
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How many ranks measure. */
static uint32_t measuring(const struct lc_operation_use *use) {
    return use->n_groups * use->group_size;
}

/* Which, ascending; the caller frees it. */
static enum lc_err get_measuring(const struct lc_operation_use *use, uint32_t **ranks) {
    LC_TRY(lc_alloc(ranks, measuring(use) + 1u, sizeof **ranks));
    memcpy(*ranks, use->group, measuring(use) * sizeof **ranks);
    qsort(*ranks, measuring(use), sizeof **ranks, by_number);
    return LC_OK;
}

/* "0-1/2-3": who is in which communicator. */
static void put_communicators(const struct lc_operation_use *use, struct lc_strbuf *out) {
    for (uint32_t g = 0; g < use->n_groups; g++) {
        lc_strbuf_puts(out, g > 0 ? "/" : "");
        put_ranks(use->group + (size_t)g * use->group_size, use->group_size, out);
    }
}

/* Members of the communicator on which a fingerprint was measured. */
static uint32_t members_of(const struct lc_fingerprint *f) {
    const char *comm =
        json_string_value(json_object_get(json_object_get(f->about, "benchmark"), "comm"));
    long members = comm != NULL && comm[0] >= '0' && comm[0] <= '9'
                       ? lc_rank_groups_members(comm, 0, LC_RANKS_MOST)
                       : 0;
    return members > 0 ? (uint32_t)members : f->ranks;
}

static bool in_place(const struct lc_fingerprint *f) {
    return json_is_true(json_object_get(json_object_get(f->about, "benchmark"), "in_place"));
}

/* Was it measured on these communicators? Where it was on all ranks, the number of members says
 * enough. */
static bool same_groups(const struct lc_fingerprint *f, const struct lc_operation_use *use) {
    const json_t *benchmark = json_object_get(f->about, "benchmark");
    const char *comm = json_string_value(json_object_get(benchmark, "comm"));
    const char *ranks = json_string_value(json_object_get(benchmark, "ranks_wanted"));
    struct lc_strbuf wanted = {0};
    bool lists = comm != NULL && comm[0] >= '0' && comm[0] <= '9';
    put_communicators(use, &wanted);
    bool same = lists           ? strcmp(comm, lc_strbuf_get(&wanted)) == 0
                : ranks != NULL ? strcmp(ranks, lc_strbuf_get(&wanted)) == 0
                                : true;
    lc_strbuf_free(&wanted);
    return same;
}

/* The fingerprint of an operation whose size is nearest, if it is about the same; on the same
 * communicators, or one of as many members, if there is one. */
static const struct lc_fingerprint *alone_of(const struct beside *b,
                                             const struct lc_operation_use *use, bool exact) {
    const struct lc_fingerprint *best = NULL;
    double nearest = INFINITY;
    for (size_t i = 0; i < b->n_alone; i++) {
        const struct lc_fingerprint *f = b->alone[i];
        double distance =
            use->sized ? fabs(log(((double)f->bytes + 1) / ((double)use->bytes + 1))) : 0;
        bool other = members_of(f) != use->members, elsewhere = !same_groups(f, use);
        if (strcmp(f->operation, use->operation) != 0 || distance > log(LC_ALIKE) ||
            (exact && (other || elsewhere || in_place(f) != use->in_place)))
            continue;
        distance += other ? 2 * log(LC_ALIKE) : 0; /* behind all of as many members */
        distance += elsewhere ? 0.25 * log(LC_ALIKE) : 0;
        distance += in_place(f) != use->in_place ? 0.5 * log(LC_ALIKE) : 0;
        if (distance < nearest) {
            best = f;
            nearest = distance;
        }
    }
    return best;
}

static enum lc_err take(struct beside *b, struct lc_fingerprint **some, size_t n) {
    enum lc_err err = lc_grow(&b->alone, &b->alone_room, b->n_alone + n, sizeof b->alone[0]);
    for (size_t i = 0; i < n; i++)
        if (err == LC_OK)
            b->alone[b->n_alone++] = some[i];
        else
            lc_fingerprint_free(some[i]);
    return err;
}

static enum lc_err read_results(struct beside *b, char *const *results, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct lc_fingerprint **some;
        size_t more;
        LC_TRY(lc_bench_read_all(results[i], &some, &more));
        enum lc_err err = take(b, some, more);
        free(some);
        LC_TRY(err);
    }
    return LC_OK;
}

/* The MPI and the number of ranks of the program, unless others are wanted. */
static enum lc_err fill_options(const struct beside *b, struct lc_bench_options *w) {
    json_t *meta;
    struct lc_launch here;
    lc_launch_detect_place(&here);
    if (here.kind != LC_LAUNCHER_NONE)
        return lc_fail(LC_ERR_USAGE, "bench: beside: starts launchers itself: run it without one, "
                                     "or give results of `latecomer bench`");
    LC_TRY(lc_json_meta(b->view, &meta));
    const char *mpi = json_string_value(json_object_get(meta, "mpi"));
    if (w->flavour == LC_FLAVOUR_UNKNOWN && mpi != NULL)
        w->flavour = strstr(mpi, "Open MPI") != NULL ? LC_FLAVOUR_IS_OPENMPI
                     : strstr(mpi, "MPICH") != NULL  ? LC_FLAVOUR_IS_MPICH
                                                     : LC_FLAVOUR_UNKNOWN;
    json_decref(meta);
    w->ranks = w->ranks > 0 ? w->ranks : b->ranks;
    w->reps = w->reps == 0 && w->precision <= 0 ? REPS : w->reps;
    w->one_of_many = true;
    return LC_OK;
}

/* Can both be measured in one launch? */
static bool go_together(const struct lc_operation_use *a, const struct lc_operation_use *b) {
    return a->group_size == b->group_size && a->n_groups == b->n_groups &&
           a->in_place == b->in_place &&
           memcmp(a->group, b->group, measuring(a) * sizeof a->group[0]) == 0 &&
           (a->bytes == b->bytes || !b->sized);
}

/* The operations of this use and of those behind it that go with it, each once. */
static void put_operations(const struct beside *b, size_t first, struct lc_strbuf *out) {
    for (size_t i = first; i < b->n; i++) {
        bool again = !go_together(&b->uses[first], &b->uses[i]) ||
                     (i > first && alone_of(b, &b->uses[i], true) != NULL);
        for (size_t k = first; k < i && !again; k++)
            again = strcmp(b->uses[k].operation, b->uses[i].operation) == 0 &&
                    go_together(&b->uses[first], &b->uses[k]);
        if (!again)
            lc_strbuf_printf(out, "%s%s", out->length > 0 ? "," : "", b->uses[i].operation);
    }
}

/* The operation with its size, and others that go with it, on the ranks and communicators that have
 * it in the program: where these are not all, the others sleep. */
static enum lc_err measure_some(struct beside *b, size_t first, const struct lc_bench_options *each,
                                const char *directory, int *code) {
    const struct lc_operation_use *use = &b->uses[first];
    struct lc_bench_options w = *each;
    struct lc_strbuf output = {0}, ranks = {0}, comm = {0}, operations = {0};
    struct lc_collected result;
    char bytes[32];
    int own = LC_EXIT_OK;
    uint32_t *those;
    LC_TRY(get_measuring(use, &those));
    bool fits = measuring(use) > 0 && (long)those[measuring(use) - 1] < w.ranks;
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)use->bytes);
    lc_strbuf_printf(&output, "%s/%zu", directory, first + 1);
    put_operations(b, first, &operations);
    if (fits && (long)measuring(use) < w.ranks && w.of_ranks == NULL) {
        put_ranks(those, measuring(use), &ranks);
        w.of_ranks = lc_strbuf_get(&ranks);
    }
    if (fits && use->n_groups > 1 && w.comm == NULL) {
        put_communicators(use, &comm);
        w.comm = lc_strbuf_get(&comm);
    }
    w.operations = lc_strbuf_get(&operations);
    w.bytes = bytes;
    w.in_place = w.in_place || use->in_place;
    w.output = lc_strbuf_get(&output);
    enum lc_err failed = lc_bench_start(&w, &result, &own), err = LC_OK;
    if (failed != LC_OK || own != LC_EXIT_OK) {
        lc_complain("bench: beside: %s of %s bytes on %u ranks: not measured%s%s", w.operations,
                    bytes, use->members, failed != LC_OK ? ": " : "",
                    failed != LC_OK ? lc_err_text() : "");
        *code = LC_EXIT_ERROR;
    }
    if (failed == LC_OK) {
        lc_bench_add_part(w.output, b->jobs);
        err = take(b, result.all, result.n);
    }
    free(those);
    result.n = 0; /* taken */
    lc_collected_free(&result);
    lc_strbuf_free(&output);
    lc_strbuf_free(&ranks);
    lc_strbuf_free(&comm);
    lc_strbuf_free(&operations);
    return err;
}

/* DIR of an experiment, where its result is in one; the caller frees it. */
static char *experiment_directory(const struct lc_view *view) {
    const char *slash = strrchr(view->file, '/');
    return slash != NULL ? strndup(view->file, (size_t)(slash - view->file)) : strdup(".");
}

/* "bench" in the directory of the experiment, unless another one is wanted. */
static enum lc_err make_directory(const struct beside *b, const char *wanted,
                                  struct lc_strbuf *directory) {
    struct lc_strbuf name = {0};
    char *experiment = experiment_directory(b->view);
    if (experiment == NULL)
        return lc_fail(LC_ERR_NOMEM, "bench: not enough memory");
    if (wanted != NULL)
        lc_strbuf_puts(&name, wanted);
    else if (access(experiment, W_OK) == 0)
        lc_strbuf_printf(&name, "%s/bench", experiment);
    else
        lc_strbuf_puts(&name, "latecomer-bench-beside");
    enum lc_err err = lc_bench_directory(lc_strbuf_get(&name), directory);
    free(experiment);
    lc_strbuf_free(&name);
    return err;
}

static enum lc_err measure_all(struct beside *b, const struct lc_bench_options *each, int *code) {
    struct lc_bench_options w = *each;
    struct lc_strbuf directory = {0};
    LC_TRY(fill_options(b, &w));
    enum lc_err err = make_directory(b, each->output, &directory);
    b->jobs = json_array();
    for (size_t i = 0; i < b->n && err == LC_OK && !lc_bench_interrupted(); i++) {
        if (alone_of(b, &b->uses[i], true) != NULL)
            continue;
        if (isatty(STDERR_FILENO))
            lc_say("%zu of %zu: %s, %llu bytes, %u ranks", i + 1, b->n, b->uses[i].operation,
                   (unsigned long long)b->uses[i].bytes, b->uses[i].members);
        err = measure_some(b, i, &w, lc_strbuf_get(&directory), code);
    }
    if (lc_bench_interrupted())
        *code = LC_EXIT_ERROR;
    if (err == LC_OK)
        err = lc_bench_end(lc_strbuf_get(&directory), b->jobs, *code == LC_EXIT_OK);
    else
        json_decref(b->jobs);
    if (err == LC_OK)
        lc_say("result: %s", lc_strbuf_get(&directory));
    lc_strbuf_free(&directory);
    return err;
}

static json_t *known_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *use_json(const struct beside *b, const struct lc_operation_use *use) {
    const struct lc_fingerprint *f = alone_of(b, use, false);
    struct lc_strbuf ranks = {0};
    double each = 1e9 * use->seconds / use->calls;
    struct lc_strbuf comm = {0};
    put_ranks(use->rank, use->ranks, &ranks);
    put_communicators(use, &comm);
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:f, s:f, s:f, s:o}", "callpath", use->path,
                  "operation", use->operation, "bytes", (json_int_t)use->bytes, "members",
                  (json_int_t)use->members, "communicators", (json_int_t)use->n_groups, "ranks",
                  lc_strbuf_get(&ranks), "calls", use->calls, "seconds", use->seconds, "program_ns",
                  each, "waiting_ns", known_or_null(1e9 * use->waiting / use->calls));
    json_object_set_new(o, "comm", json_string(lc_strbuf_get(&comm)));
    lc_strbuf_free(&ranks);
    lc_strbuf_free(&comm);
    json_object_set_new(o, "comm_known", json_boolean(use->groups_known));
    json_object_set_new(o, "in_place", json_boolean(use->in_place));
    json_object_set_new(o, "pair", json_boolean(use->pair));
    json_object_set_new(o, "sized", json_boolean(use->sized));
    json_object_set_new(o, "with", use->with != NULL ? json_string(use->with) : json_null());
    json_object_set_new(o, "alone_bytes", f ? json_integer((json_int_t)f->bytes) : json_null());
    json_object_set_new(o, "alone_ns", f ? json_real(f->mean) : json_null());
    json_object_set_new(o, "alone_median_ns", f ? json_real(f->median.value) : json_null());
    json_object_set_new(o, "alone_ci_ns",
                        f ? json_pack("[f, f]", f->median.low, f->median.high) : json_null());
    json_object_set_new(o, "alone_ranks", f ? json_integer(members_of(f)) : json_null());
    json_object_set_new(o, "arrival_ns",
                        f && use->with == NULL ? json_real(fmax(each - f->median.value, 0))
                                               : json_null());
    return o;
}

/* For `show` and `report`, beside the result; where that cannot be written, it is said. */
static void write_beside(const struct beside *b, const json_t *table) {
    char *file = lc_beside_file(b->view->file);
    if (file != NULL && lc_bench_write_json(table, file) != LC_OK)
        lc_say("%s: `show` will not have this", lc_err_text());
    free(file);
}

enum lc_err lc_bench_beside(const char *experiment, char *const *results, size_t n_results,
                            const struct lc_bench_options *each, json_t **table, int *code) {
    struct beside b = {.n = 0};
    *table = NULL;
    LC_TRY(lc_locate_view(experiment, false, &b.view));
    for (uint32_t l = 0; l < b.view->model->n_locations; l++)
        b.ranks = lc_view_rank(b.view, l) >= b.ranks ? lc_view_rank(b.view, l) + 1 : b.ranks;
    enum lc_err err = find_uses(&b);
    if (err == LC_OK)
        err = n_results > 0 ? read_results(&b, results, n_results) : measure_all(&b, each, code);
    if (err == LC_OK) {
        json_t *list = json_array();
        for (size_t i = 0; i < b.n; i++)
            json_array_append_new(list, use_json(&b, &b.uses[i]));
        *table = json_pack("{s:s, s:i, s:s, s:I, s:I, s:o}", "format", "latecomer-beside",
                           "version", 1, "result", b.view->file, "ranks", (json_int_t)b.ranks,
                           "left_out", (json_int_t)(b.n_all - b.n), "callpaths", list);
        if (b.n_alone > 0)
            write_beside(&b, *table);
    }
    lc_operation_uses_free(b.uses, b.n_all);
    for (size_t i = 0; i < b.n_alone; i++)
        lc_fingerprint_free(b.alone[i]);
    free(b.alone);
    lc_view_close(b.view);
    return err;
}

void lc_bench_beside_text(const json_t *table, const struct lc_bench_page *page) {
    const json_t *list = json_object_get(table, "callpaths"), *one;
    for (size_t i = 0; (one = json_array_get(list, i)) != NULL; i++) {
        struct lc_strbuf lines = {0};
        const char *path = json_string_value(json_object_get(one, "callpath"));
        lc_beside_put(one, json_integer_value(json_object_get(table, "ranks")), page->bold,
                      page->plain, &lines);
        lc_strbuf_puts(&lines, "\n  ");
        lc_put_printable(&lines, path != NULL ? path : "?");
        lc_beside_put_calls(one, &lines);
        fprintf(page->out, "%s\n", lc_strbuf_get(&lines));
        lc_strbuf_free(&lines);
    }
}
