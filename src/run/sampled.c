#include "run/sampled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/mem.h"

enum { LEAST_GAPS = 10 };       /* as many alike tell how much a part differs between them */
enum { LEAST_OFF_PERCENT = 1 }; /* of a node's time: less of it off the processor is not shown */

uint32_t lc_sampled_exact(const struct lc_raw *defs, uint32_t node) {
    while (node != 0 && lc_raw_is_sampled(defs->nodes[node].kind))
        node = defs->nodes[node].parent;
    return node;
}

bool lc_sampled_is_off(const struct lc_raw_node *node) {
    return node->kind == LC_RAW_SAMPLED && node->ref == LC_NONE && lc_raw_is_off_cpu(node->offset);
}

double lc_sampled_gap_error(double whole, double part, double all, const double sums[3],
                            double one) {
    double p = all > 0 ? part / all : 0, gaps = sums[2] > 0 ? all * all / sums[2] : 0;
    if (gaps < LEAST_GAPS || part <= 0)
        return whole;
    double squares = fmax(sums[0] - 2 * p * sums[1] + p * p * sums[2], 0) * gaps / (gaps - 1);
    return whole * sqrt(squares + one * one) / all;
}

struct remainder {
    double value;
    size_t index;
};

static int compare_remainders(const void *a, const void *b) {
    const struct remainder *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

bool lc_sampled_divide(uint64_t total, const double *weights, size_t n, uint64_t *parts) {
    struct remainder *rest;
    double sum = 0;
    uint64_t given = 0;
    for (size_t i = 0; i < n; i++)
        sum += weights[i];
    if (n == 0 || !(sum > 0) || lc_alloc(&rest, n, sizeof rest[0]) != LC_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        double exact = (double)total * (weights[i] / sum);
        uint64_t whole = exact < (double)total ? (uint64_t)exact : total;
        parts[i] = whole <= total - given ? whole : total - given;
        given += parts[i];
        rest[i] = (struct remainder){weights[i] > 0 ? exact - (double)parts[i] : -1e300, i};
    }
    qsort(rest, n, sizeof rest[0], compare_remainders);
    for (size_t i = 0; given < total; i = (i + 1) % n) {
        uint64_t left = total - given, one = rest[i].value <= -1e300 ? 0 : 1;
        if (i == 0 && left > n) /* what doubles could not hold */
            one = left - n;
        parts[rest[i].index] += one;
        given += one;
    }
    free(rest);
    return true;
}

/* ---- reading */

struct reading {
    uint32_t node, location; /* of the exact row */
    struct lc_sample_part part;
    double squares;
};

static int compare_readings(const void *a, const void *b) {
    const struct reading *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return (x->part.node > y->part.node) - (x->part.node < y->part.node);
}

struct readings {
    struct reading *all;
    size_t n, cap;
    uint64_t *time_ns, *off_ns; /* per raw node: of exact nodes, of nodes off the processor */
};

static enum lc_err take_row(struct readings *r, const struct lc_raw *defs, const bool *exact,
                            const struct lc_raw_row *row) {
    if (row->size_class == LC_RAW_CLASS_TIME)
        r->time_ns[row->node] += row->sum_ns;
    if (row->size_class != LC_RAW_CLASS_SAMPLES)
        return LC_OK;
    uint32_t node = lc_sampled_exact(defs, row->node);
    bool off = lc_sampled_is_off(&defs->nodes[row->node]), measured = off && row->max_ns == 0;
    if (!exact[node])
        return LC_OK;
    LC_TRY(lc_grow(&r->all, &r->cap, r->n + 1, sizeof r->all[0]));
    if (off)
        r->off_ns[row->node] += row->sum_ns;
    r->all[r->n++] = (struct reading){.node = node,
                                      .location = row->location,
                                      .part = {.node = row->node,
                                               .samples = off ? 0 : row->count,
                                               .weight_ns = row->sum_ns,
                                               .own2 = measured ? 0 : (double)row->min_ns,
                                               .cross = measured ? 0 : (double)row->bytes_sent,
                                               .measured = measured},
                                      .squares = measured ? 0 : (double)row->max_ns};
    return LC_OK;
}

static enum lc_err read_all(struct readings *r, const struct lc_raw_file *file, const bool *exact) {
    const struct lc_raw *defs = lc_raw_file_defs(file);
    LC_TRY(lc_alloc(&r->time_ns, defs->n_nodes + 1, sizeof r->time_ns[0]));
    LC_TRY(lc_alloc(&r->off_ns, defs->n_nodes + 1, sizeof r->off_ns[0]));
    for (size_t part = 0; part < lc_raw_file_parts(file); part++) {
        size_t n;
        const struct lc_raw_row *rows = lc_raw_file_rows(file, part, &n);
        for (size_t i = 0; i < n; i++)
            LC_TRY(take_row(r, defs, exact, &rows[i]));
    }
    return LC_OK;
}

static enum lc_err make_splits(struct lc_sampled *s, const struct readings *r,
                               const struct lc_raw *defs) {
    LC_TRY(lc_alloc(&s->splits, r->n + 1, sizeof s->splits[0]));
    LC_TRY(lc_alloc(&s->parts, r->n + 1, sizeof s->parts[0]));
    LC_TRY(lc_alloc(&s->samples, defs->n_nodes + 1, sizeof s->samples[0]));
    double weight = 0, squares = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct reading *a = &r->all[i];
        bool off = lc_sampled_is_off(&defs->nodes[a->part.node]);
        if (off && r->off_ns[a->part.node] * 100 < r->time_ns[a->node] * LEAST_OFF_PERCENT)
            continue;
        struct lc_sample_split *split = s->splits + s->n_splits;
        if (s->n_splits > 0 && split[-1].node == a->node && split[-1].location == a->location) {
            split--;
        } else {
            s->n_splits++;
            *split = (struct lc_sample_split){
                .node = a->node, .location = a->location, .first = s->n_parts};
            weight = squares = 0;
        }
        s->parts[s->n_parts++] = a->part;
        split->n_parts++;
        s->n_samples += a->part.samples;
        s->samples[a->part.node] += off ? UINT32_MAX : a->part.samples; /* enough to be shown */
        weight += a->part.measured ? 0 : (double)a->part.weight_ns * 1e-3;
        squares += a->squares;
        split->all2 += a->part.cross;
        split->effective = squares > 0 ? weight * weight / squares : 0;
    }
    return LC_OK;
}

/* ---- splitting */

static enum lc_err split_row(struct lc_sampled *s, struct lc_sample_split *split) {
    struct lc_sample_part *parts = s->parts + split->first;
    size_t n = split->n_parts;
    double *weights, off = 0;
    uint64_t *ns;
    LC_TRY(lc_alloc(&weights, n + 1, sizeof weights[0]));
    enum lc_err err = lc_alloc(&ns, n + 1, sizeof ns[0]);
    if (err != LC_OK) {
        free(weights);
        return err;
    }
    for (size_t i = 0; i < n; i++)
        off += parts[i].measured ? (double)parts[i].weight_ns : 0;
    uint64_t off_ns = off < (double)split->total_ns ? (uint64_t)off : split->total_ns;
    for (int measured = 0; measured < 2; measured++) {
        for (size_t i = 0; i < n; i++)
            weights[i] = parts[i].measured == measured ? (double)parts[i].weight_ns : 0;
        uint64_t whole = measured ? off_ns : split->total_ns - off_ns;
        if (!lc_sampled_divide(whole, weights, n, ns))
            continue;
        for (size_t i = 0; i < n; i++)
            if (parts[i].measured == measured)
                parts[i].ns = ns[i];
    }
    split->on_ns = split->total_ns - off_ns;
    for (size_t i = 0; i < n; i++)
        if (parts[i].node != split->node) {
            split->row.sum_ns -= parts[i].ns;
            s->rows[s->n_rows++] = (struct lc_raw_row){.node = parts[i].node,
                                                       .location = split->location,
                                                       .size_class = LC_RAW_CLASS_TIME,
                                                       .sum_ns = parts[i].ns};
        }
    free(weights);
    free(ns);
    return LC_OK;
}

static enum lc_err split_all(struct lc_sampled *s, const struct lc_raw_file *file) {
    LC_TRY(lc_alloc(&s->rows, s->n_parts + 1, sizeof s->rows[0]));
    for (size_t part = 0; part < lc_raw_file_parts(file); part++) {
        size_t n;
        const struct lc_raw_row *rows = lc_raw_file_rows(file, part, &n);
        for (size_t i = 0; i < n; i++) {
            struct lc_sample_split *split = rows[i].size_class == LC_RAW_CLASS_TIME
                                                ? lc_sampled_find(s, rows[i].node, rows[i].location)
                                                : NULL;
            if (split == NULL || split->source != NULL)
                continue;
            split->source = &rows[i];
            split->row = rows[i];
            split->total_ns = rows[i].sum_ns;
            LC_TRY(split_row(s, split));
        }
    }
    return LC_OK;
}

struct lc_sample_split *lc_sampled_find(const struct lc_sampled *s, uint32_t node,
                                        uint32_t location) {
    size_t at = LC_FIRST_WHERE(i, 0, s->n_splits,
                               s->splits[i].node > node || (s->splits[i].node == node &&
                                                            s->splits[i].location >= location));
    if (at < s->n_splits && s->splits[at].node == node && s->splits[at].location == location)
        return &s->splits[at];
    return NULL;
}

enum lc_err lc_sampled_read(struct lc_sampled *s, const struct lc_raw_file *file,
                            const bool *exact) {
    struct readings r = {0};
    *s = (struct lc_sampled){0};
    enum lc_err err = read_all(&r, file, exact);
    if (err == LC_OK && r.n > 0)
        qsort(r.all, r.n, sizeof r.all[0], compare_readings);
    if (err == LC_OK)
        err = make_splits(s, &r, lc_raw_file_defs(file));
    if (err == LC_OK)
        err = split_all(s, file);
    free(r.all);
    free(r.time_ns);
    free(r.off_ns);
    if (err != LC_OK)
        lc_sampled_free(s);
    return err;
}

void lc_sampled_free(struct lc_sampled *s) {
    free(s->splits);
    free(s->parts);
    free(s->rows);
    free(s->samples);
    *s = (struct lc_sampled){0};
}
