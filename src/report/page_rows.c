#include "report/page_rows.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { KIND_STORED, KIND_EXCLUSIVE, KIND_INCLUSIVE };
enum { STEPS = 32767, UNKNOWN = -32768 };

enum { LANES = 4 }; /* that are added up side by side */

struct row_head { /* as it lies in the block: 32 bytes */
    uint32_t metric, path, kind, largest_at;
    double sum, unit;
};

struct packed { /* a row of quantiles; `stored`: it is not zero everywhere */
    struct row_head head;
    int16_t quantiles[LC_PAGE_QUANTILES];
    bool stored;
};

struct packer {
    struct lc_view *view;
    struct lc_page_block *block;
    size_t n;              /* locations */
    double *rows;          /* quantiles: [n_paths][n] of the metric at hand, with children; not of
                            * paths without, but for INCLUSIVE metrics */
    double *values;        /* of one row */
    int16_t *steps, *near; /* [n]; those with the high bits of a quantile */
    struct packed *packed; /* [n_paths]: of a path without children both kinds are the same */
};

/* The largest by size; all are known and finite. */
static double find_largest(const double *values, size_t n) {
    double largest[LANES] = {0};
    size_t l = 0;
    for (; l + LANES <= n; l += LANES)
        for (size_t k = 0; k < LANES; k++) {
            double size = fabs(values[l + k]);
            largest[k] = largest[k] > size ? largest[k] : size;
        }
    for (; l < n; l++)
        largest[0] = fmax(largest[0], fabs(values[l]));
    return fmax(fmax(largest[0], largest[1]), fmax(largest[2], largest[3]));
}

/* The largest by size of those that are known and finite; *not_finite: some of those known are
 * not. */
static double find_largest_finite(const struct packer *p, const double *values, bool *not_finite) {
    double largest = 0.0;
    for (size_t l = 0; l < p->n; l++)
        if (!p->view->unknown[l] && isfinite(values[l]))
            largest = fmax(largest, fabs(values[l]));
        else
            *not_finite |= !p->view->unknown[l];
    return largest;
}

/* In blocks without a branch; the last one is looked through. */
static uint32_t find_location_of(const struct packer *p, const double *values, double largest) {
    enum { BLOCK = 16 };
    size_t l = 0;
    for (bool found = false; largest > 0.0 && l + BLOCK <= p->n; l += BLOCK) {
        for (size_t k = 0; k < BLOCK; k++)
            found |= fabs(values[l + k]) == largest;
        if (found)
            break;
    }
    for (; largest > 0.0 && l < p->n; l++)
        if (!p->view->unknown[l] && fabs(values[l]) == largest)
            return (uint32_t)l;
    return 0;
}

static double join_known(const struct packer *p, const struct lc_metric *metric,
                         const double *values) {
    double sum = 0.0;
    if (p->view->n_unknown == 0)
        return lc_view_join_all(metric, 0.0, values, p->n);
    for (size_t l = 0; l < p->n; l++)
        if (!p->view->unknown[l])
            sum = lc_view_join(metric, sum, values[l]);
    return sum;
}

/* The nearest step. */
static int16_t step_of(double value, double steps_per_unit) {
    double step = value * steps_per_unit;
    return (int16_t)(int)(step + copysign(0.5, step));
}

/* Values as steps of 1/32767 of the largest, and what is known of them all; false if all are
 * zero. */
static bool quantise(struct packer *p, const double *values, struct row_head *head) {
    const struct lc_metric *metric = &p->view->model->metrics[head->metric];
    const bool is_sum =
        metric->dtype != LC_DTYPE_MIN_DOUBLE && metric->dtype != LC_DTYPE_MAX_DOUBLE;
    bool not_finite = false;
    head->sum = join_known(p, metric, values);
    /* Where one value is not finite, no sum is. */
    const bool plain = p->view->n_unknown == 0 && is_sum && isfinite(head->sum);
    double largest =
        plain ? find_largest(values, p->n) : find_largest_finite(p, values, &not_finite);
    if (largest == 0.0 && !not_finite)
        return false;
    head->largest_at = find_location_of(p, values, largest);
    head->unit = largest / STEPS;
    const double steps_per_unit = largest >= DBL_MIN * STEPS ? STEPS / largest : 0.0;
    if (plain)
        for (size_t l = 0; l < p->n; l++)
            p->steps[l] = step_of(values[l], steps_per_unit);
    else
        for (size_t l = 0; l < p->n; l++)
            p->steps[l] = p->view->unknown[l] || !isfinite(values[l])
                              ? (int16_t)UNKNOWN
                              : step_of(values[l], steps_per_unit);
    return true;
}

enum { LOW_BITS = 6, HIGHS = 1 << (16 - LOW_BITS), LOWS = 1 << LOW_BITS };

/* High and low bits of a step; high bits are not in the order of steps, but with ORDER they are. */
enum { ORDER = HIGHS / 2 };

static unsigned high_bits(int16_t step) {
    return (unsigned)(uint16_t)step >> LOW_BITS;
}

static unsigned low_bits(int16_t step) {
    return (unsigned)step & (LOWS - 1);
}

static int16_t step_of_bits(size_t high, size_t low) {
    return (int16_t)(uint16_t)(high << LOW_BITS | low);
}

/* How many steps have the same high bits, in the order of steps. Neighbours are often alike: each
 * counts in a table of its own, so that no count waits for the one before. */
static void count_highs(const struct packer *p, uint32_t per_high[HIGHS]) {
    uint32_t tables[LANES][HIGHS] = {0};
    size_t l = 0;
    for (; l + LANES <= p->n; l += LANES)
        for (size_t k = 0; k < LANES; k++)
            tables[k][high_bits(p->steps[l + k])]++;
    for (; l < p->n; l++)
        tables[0][high_bits(p->steps[l])]++;
    for (size_t high = 0; high < HIGHS; high++)
        per_high[high ^ ORDER] =
            tables[0][high] + tables[1][high] + tables[2][high] + tables[3][high];
}

/* Quantiles without sorting: how many steps there are with the same high bits, and where a quantile
 * is among these, with the same low bits. Unknown locations come first, and are left out. */
static void find_quantiles(const struct packer *p, int16_t *quantiles) {
    uint32_t per_high[HIGHS], per_low[LC_PAGE_QUANTILES][LOWS];
    /* By high bits: where it is in per_low; is a quantile there? */
    uint8_t slot[HIGHS] = {0}, is_near[HIGHS] = {0};
    size_t unknown = 0, wanted[LC_PAGE_QUANTILES], before[LC_PAGE_QUANTILES] = {0};
    size_t highs[LC_PAGE_QUANTILES] = {0};
    uint8_t n_slots = 0;
    count_highs(p, per_high);
    for (size_t l = 0; per_high[high_bits(UNKNOWN) ^ ORDER] > 0 && l < p->n; l++)
        unknown += p->steps[l] == UNKNOWN;
    size_t first = unknown < p->n ? unknown : p->n - 1;
    for (size_t q = 0; q < LC_PAGE_QUANTILES; q++)
        wanted[q] = first + (p->n - 1 - first) * q / (size_t)(LC_PAGE_QUANTILES - 1);
    for (size_t q = 0, at = 0, seen = 0; q < LC_PAGE_QUANTILES; q++) {
        while (wanted[q] >= seen + per_high[at])
            seen += per_high[at++];
        const size_t high = at ^ ORDER;
        if (!is_near[high]) {
            highs[n_slots] = high;
            before[n_slots] = seen;
            is_near[high] = 1;
            slot[high] = n_slots++;
        }
    }
    memset(per_low, 0, n_slots * sizeof per_low[0]);
    size_t n_near = 0; /* few, and nobody can foretell which: hence without a branch */
    int16_t *near = p->near;
    for (size_t l = 0; l < p->n; l++) {
        near[n_near] = p->steps[l];
        n_near += is_near[high_bits(p->steps[l])];
    }
    for (size_t i = 0; i < n_near; i++)
        per_low[slot[high_bits(near[i])]][low_bits(near[i])]++;
    size_t q = 0;
    for (size_t k = 0; k < n_slots; k++)
        for (size_t low = 0, seen = before[k]; low < LOWS; low++)
            for (seen += per_low[k][low]; q < LC_PAGE_QUANTILES && wanted[q] < seen; q++)
                quantiles[q] = step_of_bits(highs[k], low);
}

static enum lc_err put_metric(struct packer *p, uint32_t metric) {
    for (uint32_t path = 0; path < p->view->n_paths; path++) {
        struct row_head head = {.metric = metric, .path = path, .kind = KIND_STORED};
        LC_TRY(lc_view_row(p->view, metric, path, p->values));
        if (!quantise(p, p->values, &head))
            continue;
        lc_page_block_put(p->block, &head, sizeof head);
        lc_page_block_put(p->block, p->steps, p->n * sizeof *p->steps);
    }
    return LC_OK;
}

static void pack(struct packer *p, const double *values, struct packed *packed) {
    packed->stored = quantise(p, values, &packed->head);
    if (packed->stored)
        find_quantiles(p, packed->quantiles);
}

static void put_packed(struct packer *p, const struct packed *packed) {
    if (!packed->stored)
        return;
    lc_page_block_put(p->block, &packed->head, sizeof packed->head);
    lc_page_block_put(p->block, packed->quantiles, sizeof packed->quantiles);
}

/* The values of a path without its children, of an INCLUSIVE metric. */
static const double *exclusive_row(struct packer *p, uint32_t path) {
    const struct lc_merged_path *paths = p->view->paths;
    memcpy(p->values, p->rows + path * p->n, p->n * sizeof *p->values);
    for (uint32_t c = paths[path].first_child; c != LC_NONE; c = paths[c].next_sibling)
        for (size_t l = 0; l < p->n; l++)
            p->values[l] -= p->rows[c * p->n + l];
    return p->values;
}

/* Adds the values with children to those of the parent, or of the whole. */
static void join_up(struct packer *p, const struct lc_metric *metric, uint32_t path,
                    const double *row, double *sums) {
    const uint32_t parent = p->view->paths[path].parent;
    if (parent == LC_NONE)
        lc_view_join_rows(metric, sums, row, p->n);
    else if (metric->kind != LC_METRIC_INCLUSIVE)
        lc_view_join_rows(metric, p->rows + parent * p->n, row, p->n);
}

/* Without children, as they are read. A parent comes before its children, so what is added to it
 * here is not in its own values any more. Of INCLUSIVE metrics all rows must be there first. */
static enum lc_err put_exclusive(struct packer *p, uint32_t metric, double *sums) {
    const struct lc_view *view = p->view;
    const struct lc_metric *m = &view->model->metrics[metric];
    const bool inclusive = m->kind == LC_METRIC_INCLUSIVE;
    for (uint32_t path = 0; inclusive && path < view->n_paths; path++)
        LC_TRY(lc_view_row(p->view, metric, path, p->rows + path * p->n));
    for (uint32_t path = 0; path < view->n_paths; path++) {
        struct packed *packed = &p->packed[path];
        const bool leaf = view->paths[path].first_child == LC_NONE;
        double *own = leaf ? p->values : p->rows + path * p->n;
        packed->head = (struct row_head){.metric = metric, .path = path, .kind = KIND_EXCLUSIVE};
        if (!inclusive)
            LC_TRY(lc_view_row(p->view, metric, path, own));
        const double *row = inclusive ? exclusive_row(p, path) : own;
        pack(p, row, packed);
        put_packed(p, packed);
        if (leaf)
            join_up(p, m, path, row, sums);
    }
    return LC_OK;
}

static enum lc_err put_metric_quantiles(struct packer *p, uint32_t metric) {
    const struct lc_view *view = p->view;
    double *sums;
    LC_TRY(lc_view_keep_location_sums(p->view, metric, &sums));
    LC_TRY(put_exclusive(p, metric, sums));
    for (uint32_t path = (uint32_t)view->n_paths; path-- > 0;) {
        const double *row = p->rows + path * p->n;
        struct packed *packed = &p->packed[path];
        const bool leaf = view->paths[path].first_child == LC_NONE;
        packed->head.kind = KIND_INCLUSIVE;
        if (!leaf)
            pack(p, row, packed);
        put_packed(p, packed);
        if (!leaf)
            join_up(p, &view->model->metrics[metric], path, row, sums);
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
        err = lc_alloc(&p.near, p.n + 1, sizeof *p.near);
    if (err == LC_OK && reduced)
        err = lc_alloc(&p.rows, view->n_paths * p.n, sizeof *p.rows);
    if (err == LC_OK && reduced)
        err = lc_alloc(&p.packed, view->n_paths, sizeof *p.packed);
    lc_page_block_put(block, head, sizeof head);
    for (uint32_t m = 0; err == LC_OK && m < view->model->n_metrics; m++)
        if (view->model->metrics[m].kind != LC_METRIC_DERIVED)
            err = reduced ? put_metric_quantiles(&p, m) : put_metric(&p, m);
    free(p.values);
    free(p.steps);
    free(p.near);
    free(p.rows);
    free(p.packed);
    return err;
}
