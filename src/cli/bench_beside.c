#include "cli/bench_beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bench/bench_result.h"
#include "cli/cmd.h"
#include "report/locate.h"
#include "report/run_info.h"

enum { MOST = 20, REPS = 300 };
/* Sizes that are about the same: a program's is a mean. */
#define LC_ALIKE 1.3

/* Bytes that all ranks receive in one call of an operation of n bytes on p ranks: n p .. */
enum scale { EACH, EACH_FROM_EACH, FROM_LOWER_AND_ITSELF, FROM_LOWER };

static const struct {
    const char *name;
    enum scale scale; /* .. times 1, p, (p + 1) / 2, (p - 1) / 2 */
} collectives[] = {{"MPI_Barrier", EACH},
                   {"MPI_Bcast", EACH},
                   {"MPI_Gather", EACH},
                   {"MPI_Gatherv", EACH},
                   {"MPI_Scatter", EACH},
                   {"MPI_Scatterv", EACH},
                   {"MPI_Reduce", EACH},
                   {"MPI_Allgather", EACH_FROM_EACH},
                   {"MPI_Allgatherv", EACH_FROM_EACH},
                   {"MPI_Alltoall", EACH_FROM_EACH},
                   {"MPI_Alltoallv", EACH_FROM_EACH},
                   {"MPI_Alltoallw", EACH_FROM_EACH},
                   {"MPI_Allreduce", EACH_FROM_EACH},
                   {"MPI_Reduce_scatter", EACH_FROM_EACH},
                   {"MPI_Reduce_scatter_block", EACH_FROM_EACH},
                   {"MPI_Scan", FROM_LOWER_AND_ITSELF},
                   {"MPI_Exscan", FROM_LOWER}};
enum { COLLECTIVES = sizeof collectives / sizeof collectives[0] };

static const char *const wait_metrics[] = {"mpi_wait_nxn", "mpi_barrier_wait", "mpi_latebroadcast",
                                           "mpi_earlyreduce", "mpi_earlyscan"};

struct place { /* a call path of a collective */
    char *path;
    const char *operation;
    uint64_t bytes;
    double seconds, calls, waiting; /* over all ranks */
};

struct beside {
    struct lc_view *view;
    struct place *places;
    size_t n, room;
    double ranks;
    struct lc_fingerprint **alone;
    size_t n_alone, alone_room;
};

static enum lc_err total_of(struct beside *b, const char *metric, uint32_t path, double *total) {
    uint32_t id = lc_model_find_metric(b->view->model, metric);
    size_t n = b->view->model->n_locations;
    double *row;
    *total = 0;
    if (id == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&row, n, sizeof row[0]));
    enum lc_err err = lc_view_row(b->view, id, path, row);
    for (size_t l = 0; l < n && err == LC_OK; l++)
        *total += row[l];
    free(row);
    return err;
}

static double divisor(enum scale scale, double ranks) {
    return scale == EACH                    ? 1
           : scale == EACH_FROM_EACH        ? ranks
           : scale == FROM_LOWER_AND_ITSELF ? (ranks + 1) / 2
                                            : fmax(ranks - 1, 1) / 2;
}

static enum lc_err add_place(struct beside *b, uint32_t path, size_t which) {
    struct place p = {.operation = collectives[which].name};
    double bytes;
    LC_TRY(total_of(b, "time", path, &p.seconds));
    LC_TRY(total_of(b, "visits", path, &p.calls));
    LC_TRY(total_of(b, "bytes_cin", path, &bytes));
    for (size_t w = 0; w < sizeof wait_metrics / sizeof wait_metrics[0]; w++) {
        double waiting;
        LC_TRY(total_of(b, wait_metrics[w], path, &waiting));
        p.waiting += waiting;
    }
    if (p.calls <= 0)
        return LC_OK;
    p.bytes = (uint64_t)llround(bytes / p.calls / divisor(collectives[which].scale, b->ranks));
    LC_TRY(lc_grow(&b->places, &b->room, b->n + 1, sizeof b->places[0]));
    p.path = lc_view_path(b->view, path);
    b->places[b->n++] = p;
    return p.path != NULL ? LC_OK : lc_fail(LC_ERR_NOMEM, "bench: not enough memory");
}

static int by_seconds(const void *a, const void *b) {
    double x = ((const struct place *)a)->seconds, y = ((const struct place *)b)->seconds;
    return (x < y) - (x > y);
}

static enum lc_err find_places(struct beside *b) {
    for (uint32_t p = 0; p < b->view->n_paths; p++)
        for (size_t c = 0; c < COLLECTIVES; c++)
            if (strcmp(b->view->paths[p].name, collectives[c].name) == 0)
                LC_TRY(add_place(b, p, c));
    if (b->n == 0)
        return lc_fail(LC_ERR_NOT_FOUND, "bench: beside: %s: no blocking collective in there",
                       b->view->file);
    qsort(b->places, b->n, sizeof b->places[0], by_seconds);
    for (; b->n > MOST; b->n--)
        free(b->places[b->n - 1].path);
    return LC_OK;
}

/* The fingerprint of an operation whose size is nearest, if it is about the same. */
static const struct lc_fingerprint *alone_of(const struct beside *b, const struct place *p) {
    const struct lc_fingerprint *best = NULL;
    double nearest = log(LC_ALIKE);
    for (size_t i = 0; i < b->n_alone; i++) {
        const struct lc_fingerprint *f = b->alone[i];
        double distance = fabs(log(((double)f->bytes + 1) / ((double)p->bytes + 1)));
        bool sized = strcmp(p->operation, "MPI_Barrier") != 0;
        if (strcmp(f->operation, p->operation) == 0 && (!sized || distance <= nearest)) {
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
static enum lc_err fill_wishes(const struct beside *b, struct lc_bench_wishes *w) {
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
    w->ranks = w->ranks > 0 ? w->ranks : (long)b->ranks;
    w->reps = w->reps == 0 && w->precision <= 0 ? REPS : w->reps;
    w->one_of_many = true;
    return LC_OK;
}

static enum lc_err measure_all(struct beside *b, const struct lc_bench_wishes *each, int *code) {
    struct lc_bench_wishes w = *each;
    struct lc_strbuf directory = {0}, output = {0};
    LC_TRY(fill_wishes(b, &w));
    enum lc_err err = lc_bench_directory(
        each->output != NULL ? each->output : "latecomer-bench-beside", &directory);
    for (size_t i = 0; i < b->n && err == LC_OK && !lc_bench_interrupted(); i++) {
        struct lc_collected result;
        char bytes[32];
        int own = LC_EXIT_OK;
        if (alone_of(b, &b->places[i]) != NULL)
            continue;
        snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)b->places[i].bytes);
        lc_strbuf_clear(&output);
        lc_strbuf_printf(&output, "%s/%s-%s", lc_strbuf_get(&directory), b->places[i].operation,
                         bytes);
        w.operations = b->places[i].operation;
        w.bytes = bytes;
        w.output = lc_strbuf_get(&output);
        enum lc_err failed = lc_bench_start(&w, &result, &own);
        if (failed != LC_OK || own != LC_EXIT_OK) {
            lc_complain("bench: beside: %s of %s bytes: not measured", w.operations, bytes);
            *code = LC_EXIT_ERROR;
        }
        if (failed == LC_OK)
            err = take(b, result.all, result.n);
        result.n = 0; /* taken */
        lc_collected_free(&result);
    }
    if (err == LC_OK)
        lc_say("result: %s", lc_strbuf_get(&directory));
    lc_strbuf_free(&directory);
    lc_strbuf_free(&output);
    return err;
}

static json_t *place_json(const struct beside *b, const struct place *p) {
    const struct lc_fingerprint *f = alone_of(b, p);
    double each = 1e9 * p->seconds / p->calls;
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f}", "callpath", p->path, "operation",
                  p->operation, "bytes", (json_int_t)p->bytes, "calls", p->calls, "seconds",
                  p->seconds, "program_ns", each, "waiting_ns", 1e9 * p->waiting / p->calls);
    json_object_set_new(o, "alone_bytes", f ? json_integer((json_int_t)f->bytes) : json_null());
    json_object_set_new(o, "alone_ns", f ? json_real(f->mean) : json_null());
    json_object_set_new(o, "alone_median_ns", f ? json_real(f->median.value) : json_null());
    json_object_set_new(o, "alone_ranks", f ? json_integer((json_int_t)f->ranks) : json_null());
    json_object_set_new(o, "arrival_ns",
                        f ? json_real(fmax(each - f->median.value, 0)) : json_null());
    return o;
}

static double count_ranks(const struct lc_view *view) {
    int32_t most = 0;
    for (uint32_t l = 0; l < view->model->n_locations; l++)
        most = lc_view_rank(view, l) > most ? lc_view_rank(view, l) : most;
    return (double)most + 1;
}

enum lc_err lc_bench_beside(const char *experiment, char *const *results, size_t n_results,
                            const struct lc_bench_wishes *each, json_t **table, int *code) {
    struct beside b = {.n = 0};
    *table = NULL;
    LC_TRY(lc_locate_view(experiment, false, &b.view));
    b.ranks = count_ranks(b.view);
    enum lc_err err = find_places(&b);
    if (err == LC_OK)
        err = n_results > 0 ? read_results(&b, results, n_results) : measure_all(&b, each, code);
    if (err == LC_OK) {
        json_t *list = json_array();
        for (size_t i = 0; i < b.n; i++)
            json_array_append_new(list, place_json(&b, &b.places[i]));
        *table = json_pack("{s:s, s:i, s:s, s:I, s:o}", "format", "latecomer-beside", "version", 1,
                           "result", b.view->file, "ranks", (json_int_t)b.ranks, "callpaths", list);
    }
    for (size_t i = 0; i < b.n; i++)
        free(b.places[i].path);
    for (size_t i = 0; i < b.n_alone; i++)
        lc_fingerprint_free(b.alone[i]);
    free(b.places);
    free(b.alone);
    lc_view_close(b.view);
    return err;
}

static void print_place(const json_t *o, long long ranks, const struct lc_bench_page *page) {
    char in_program[32], alone[32], rest[32];
    struct lc_strbuf path = {0};
    double program_ns = json_number_value(json_object_get(o, "program_ns"));
    const json_t *alone_ns = json_object_get(o, "alone_median_ns");
    long long bytes = json_integer_value(json_object_get(o, "bytes"));
    long long own_ranks = json_integer_value(json_object_get(o, "alone_ranks"));
    lc_put_printable(&path, json_string_value(json_object_get(o, "callpath")));
    fprintf(page->out, "%s%s%s of %lld bytes takes %s%s%s in the program, ", page->bold,
            json_string_value(json_object_get(o, "operation")), page->plain, bytes, page->bold,
            lc_bench_time(program_ns, in_program), page->plain);
    if (!json_is_number(alone_ns)) {
        fputs("and was not measured alone.\n", page->out);
    } else {
        double arrival = json_number_value(json_object_get(o, "arrival_ns"));
        fprintf(page->out, "%s%s%s when all ranks arrive together", page->bold,
                lc_bench_time(json_number_value(alone_ns), alone), page->plain);
        if (own_ranks != ranks)
            fprintf(page->out, " (%lld ranks, not %lld)", own_ranks, ranks);
        fputs(arrival > 0.1 * program_ns ? ": the rest is arrival.\n" : ".\n", page->out);
    }
    fprintf(page->out, "  %s, %.0f calls", lc_strbuf_get(&path),
            json_number_value(json_object_get(o, "calls")));
    double waiting = json_number_value(json_object_get(o, "waiting_ns"));
    if (waiting > 0)
        fprintf(page->out, ", of which %s each are measured waiting", lc_bench_time(waiting, rest));
    fputc('\n', page->out);
    lc_strbuf_free(&path);
}

void lc_bench_beside_text(const json_t *table, const struct lc_bench_page *page) {
    const json_t *list = json_object_get(table, "callpaths"), *o;
    for (size_t i = 0; (o = json_array_get(list, i)) != NULL; i++)
        print_place(o, json_integer_value(json_object_get(table, "ranks")), page);
}
