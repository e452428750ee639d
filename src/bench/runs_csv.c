#include "bench/runs_csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "bench/cumulative.h"

struct packer {
    FILE *file;
    ZSTD_CStream *stream;
    char out[1 << 16];
};

static bool pack(struct packer *p, const char *data, size_t n, ZSTD_EndDirective how) {
    ZSTD_inBuffer in = {data, n, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {p->out, sizeof p->out, 0};
        left = ZSTD_compressStream2(p->stream, &out, &in, how);
        if (ZSTD_isError(left) || fwrite(p->out, 1, out.pos, p->file) != out.pos)
            return false;
    } while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
    return true;
}

static ssize_t packer_write(void *cookie, const char *data, size_t n) {
    return pack(cookie, data, n, ZSTD_e_continue) ? (ssize_t)n : 0;
}

static int packer_close(void *cookie) {
    struct packer *p = cookie;
    bool ok = pack(p, NULL, 0, ZSTD_e_end);
    ok = fclose(p->file) == 0 && ok;
    ZSTD_freeCStream(p->stream);
    free(p);
    return ok ? 0 : EOF;
}

enum lc_err lc_runs_csv_begin(const char *file, FILE **out) {
    struct packer *p;
    *out = NULL;
    LC_TRY(lc_alloc(&p, 1, sizeof *p));
    p->file = fopen(file, "we");
    p->stream = ZSTD_createCStream();
    if (p->file != NULL && p->stream != NULL)
        *out = fopencookie(p, "w",
                           (cookie_io_functions_t){.write = packer_write, .close = packer_close});
    if (*out == NULL) {
        if (p->file != NULL)
            fclose(p->file);
        ZSTD_freeCStream(p->stream);
        free(p);
        return lc_fail_errno(LC_ERR_IO, "bench: %s: cannot be written", file);
    }
    fputs("operation,bytes,iteration,rank,metric,value\n", *out);
    return LC_OK;
}

enum lc_err lc_runs_csv_end(const char *file, FILE *out) {
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return lc_fail_errno(LC_ERR_IO, "bench: %s: cannot be written", file);
    return LC_OK;
}

static void put(FILE *out, const struct lc_fingerprint *f, size_t i, int rank, const char *metric,
                int64_t value) {
    fprintf(out, "%s,%" PRIu64 ",%zu,%d,%s,%" PRId64 "\n", f->operation, f->bytes, i, rank, metric,
            value);
}

/* What the ranks measured: a repetition with counters has other names for its times, so that
 * nobody takes them for run times. */
static void put_repetition(FILE *out, const struct lc_fingerprint *f,
                           const struct lc_measured_job *job, size_t i) {
    const struct lc_part_job *head = &job->part[0]->head;
    struct lc_rep_times t = lc_measured_job_times(job, i);
    bool counted = lc_job_rep(job->part[0], i)[LC_REP_COUNTED] != 0;
    for (uint32_t r = 0; r < f->ranks; r++) {
        const int64_t *v = lc_job_rep(job->part[r], i);
        put(out, f, i, (int)r, counted ? "counted_runtime_ns" : "runtime_ns",
            v[LC_REP_END] - v[LC_REP_START]);
        put(out, f, i, (int)r, "start_ns", v[LC_REP_START]);
        for (uint32_t c = counted ? 0 : head->n_read; c < head->n_counters; c++)
            put(out, f, i, (int)r, head->counter[c], v[LC_REP_COUNTERS + c]);
    }
    put(out, f, i, -1, counted ? "counted_global_ns" : "global_ns", t.last_end - t.first_start);
    put(out, f, i, -1, counted ? "counted_local_ns" : "local_ns", t.longest);
    put(out, f, i, -1, "skew_ns", t.last_start - t.first_start);
    put(out, f, i, -1, "last_rank", t.last_rank);
}

enum lc_err lc_runs_csv_job(FILE *out, const struct lc_fingerprint *f,
                            const struct lc_measured_job *job) {
    double *values;
    LC_TRY(lc_alloc(&values, f->n, sizeof values[0]));
    for (size_t i = 0; i < job->n; i++)
        put_repetition(out, f, job, i);
    enum lc_err err = LC_OK;
    for (const struct lc_cumulative *m = lc_cumulative; m->name != NULL && err == LC_OK; m++) {
        err = m->fill(f->runs, f->n, values);
        for (size_t i = 0; i < f->n && err == LC_OK; i++)
            put(out, f, job->runs[i], -1, m->name, (int64_t)(values[i] + 0.5));
    }
    free(values);
    return err;
}
