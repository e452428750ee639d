#include "report/page_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { KIND_STORED, KIND_EXCLUSIVE, KIND_INCLUSIVE };
enum { STEPS = 32767, UNKNOWN = -32768 };

struct packer {
    struct lc_view *view;
    struct lc_page_block *block;
    size_t n;       /* locations */
    double *rows;   /* quantiles: [n_paths][n] of the metric at hand, with children */
    double *values; /* of one row */
    int16_t *steps; /* [n], sorted for quantiles */
    int16_t *spare;
};

struct row_head { /* as it lies in the block: 32 bytes */
    uint32_t metric, path, kind, largest_at;
    double sum, unit;
};

static bool is_zero(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (values[i] != 0.0)
            return false;
    return true;
}

/* Values as steps of 1/32767 of the largest; returns the unit of a step. */
static double quantise(struct packer *p, uint32_t *largest_at) {
    double largest = 0.0;
    *largest_at = 0;
    for (uint32_t l = 0; l < p->n; l++)
        if (!p->view->unknown[l] && isfinite(p->values[l]) && fabs(p->values[l]) > largest) {
            largest = fabs(p->values[l]);
            *largest_at = l;
        }
    for (uint32_t l = 0; l < p->n; l++)
        p->steps[l] = p->view->unknown[l] || !isfinite(p->values[l])
                          ? (int16_t)UNKNOWN
                          : (int16_t)lrint(largest > 0.0 ? p->values[l] / largest * STEPS : 0.0);
    return largest / STEPS;
}

/* Sorts by bytes: two passes, whatever the values. */
static void sort_steps(int16_t *steps, int16_t *spare, size_t n) {
    for (int shift = 0; shift < 16; shift += 8) {
        size_t first[257] = {0};
        for (size_t i = 0; i < n; i++)
            first[(((uint16_t)steps[i] ^ 0x8000u) >> shift & 255) + 1]++;
        for (size_t b = 0; b < 256; b++)
            first[b + 1] += first[b];
        for (size_t i = 0; i < n; i++)
            spare[first[((uint16_t)steps[i] ^ 0x8000u) >> shift & 255]++] = steps[i];
        memcpy(steps, spare, n * sizeof *steps);
    }
}

/* Unknown locations are sorted to the front, and left out. */
static void put_quantiles(struct packer *p) {
    int16_t quantiles[LC_PAGE_QUANTILES];
    sort_steps(p->steps, p->spare, p->n);
    size_t first = 0;
    while (first + 1 < p->n && p->steps[first] == UNKNOWN)
        first++;
    for (size_t q = 0; q < LC_PAGE_QUANTILES; q++)
        quantiles[q] = p->steps[first + (p->n - 1 - first) * q / (size_t)(LC_PAGE_QUANTILES - 1)];
    lc_page_block_put(p->block, quantiles, sizeof quantiles);
}

static void put_row(struct packer *p, uint32_t metric, uint32_t path, uint32_t kind) {
    const struct lc_metric *m = &p->view->model->metrics[metric];
    struct row_head head = {.metric = metric, .path = path, .kind = kind};
    if (is_zero(p->values, p->n))
        return;
    for (size_t l = 0; l < p->n; l++)
        if (!p->view->unknown[l])
            head.sum = lc_view_join(m, head.sum, p->values[l]);
    head.unit = quantise(p, &head.largest_at);
    lc_page_block_put(p->block, &head, sizeof head);
    if (kind == KIND_STORED)
        lc_page_block_put(p->block, p->steps, p->n * sizeof *p->steps);
    else
        put_quantiles(p);
}

static enum lc_err put_metric(struct packer *p, uint32_t metric) {
    for (uint32_t path = 0; path < p->view->n_paths; path++) {
        LC_TRY(lc_view_row(p->view, metric, path, p->values));
        put_row(p, metric, path, KIND_STORED);
    }
    return LC_OK;
}

/* With children: of exclusive metrics they are added up here, parents come before children. */
static enum lc_err put_metric_quantiles(struct packer *p, uint32_t metric) {
    const struct lc_view *view = p->view;
    const struct lc_metric *m = &view->model->metrics[metric];
    for (uint32_t path = 0; path < view->n_paths; path++) {
        double *row = p->rows + path * p->n;
        LC_TRY(lc_view_row(p->view, metric, path, row));
        LC_TRY(lc_view_exclusive_row(p->view, metric, path, p->values));
        put_row(p, metric, path, KIND_EXCLUSIVE);
    }
    for (size_t path = view->n_paths; path-- > 0;) {
        uint32_t parent = view->paths[path].parent;
        const double *row = p->rows + path * p->n;
        memcpy(p->values, row, p->n * sizeof *row);
        put_row(p, metric, (uint32_t)path, KIND_INCLUSIVE);
        for (size_t l = 0; m->kind != LC_METRIC_INCLUSIVE && parent != LC_NONE && l < p->n; l++)
            p->rows[parent * p->n + l] = lc_view_join(m, p->rows[parent * p->n + l], row[l]);
    }
    return LC_OK;
}

enum lc_err lc_page_rows(struct lc_view *view, struct lc_page_block *block) {
    struct packer p = {.view = view, .block = block, .n = view->model->n_locations};
    bool reduced = p.n > LC_PAGE_EXACT_LOCATIONS;
    const uint32_t head[3] = {(uint32_t)p.n, reduced ? LC_PAGE_QUANTILES : (uint32_t)p.n, reduced};
    enum lc_err err = lc_alloc(&p.values, p.n + 1, sizeof *p.values);
    if (err == LC_OK)
        err = lc_alloc(&p.steps, p.n + 1, sizeof *p.steps);
    if (err == LC_OK)
        err = lc_alloc(&p.spare, p.n + 1, sizeof *p.spare);
    if (err == LC_OK && reduced)
        err = lc_alloc(&p.rows, view->n_paths * p.n, sizeof *p.rows);
    lc_page_block_put(block, head, sizeof head);
    for (uint32_t m = 0; err == LC_OK && m < view->model->n_metrics; m++)
        if (view->model->metrics[m].kind != LC_METRIC_DERIVED)
            err = reduced ? put_metric_quantiles(&p, m) : put_metric(&p, m);
    free(p.values);
    free(p.steps);
    free(p.spare);
    free(p.rows);
    return err;
}
