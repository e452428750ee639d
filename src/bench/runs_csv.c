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

static void put_repetition(FILE *out, const struct lc_fingerprint *f,
                           const struct lc_job_part *const *part, size_t i) {
    int64_t first = INT64_MAX, last_start = INT64_MIN, last = INT64_MIN, local = 0;
    int last_rank = 0;
    for (uint32_t r = 0; r < f->ranks; r++) {
        const int64_t *v = part[r]->values + i * (2 + part[r]->head.n_counters);
        put(out, f, i, (int)r, "runtime_ns", v[1] - v[0]);
        put(out, f, i, (int)r, "start_ns", v[0]);
        for (uint32_t c = 0; c < part[r]->head.n_counters; c++)
            if (v[2 + c] != 0)
                put(out, f, i, (int)r, part[r]->head.counter[c], v[2 + c]);
        first = v[0] < first ? v[0] : first;
        last_start = v[0] > last_start ? v[0] : last_start;
        last_rank = v[1] > last ? (int)r : last_rank;
        last = v[1] > last ? v[1] : last;
        local = v[1] - v[0] > local ? v[1] - v[0] : local;
    }
    put(out, f, i, -1, "global_ns", last - first);
    put(out, f, i, -1, "local_ns", local);
    put(out, f, i, -1, "skew_ns", last_start - first);
    put(out, f, i, -1, "last_rank", last_rank);
}

enum lc_err lc_runs_csv_job(FILE *out, const struct lc_fingerprint *f,
                            const struct lc_job_part *const *part) {
    double *values;
    LC_TRY(lc_alloc(&values, f->n, sizeof values[0]));
    for (size_t i = 0; i < f->n; i++)
        put_repetition(out, f, part, i);
    enum lc_err err = LC_OK;
    for (const struct lc_cumulative *m = lc_cumulative; m->name != NULL && err == LC_OK; m++) {
        err = m->fill(f->runs, f->n, values);
        for (size_t i = 0; i < f->n && err == LC_OK; i++)
            put(out, f, i, -1, m->name, (int64_t)(values[i] + 0.5));
    }
    free(values);
    return err;
}
