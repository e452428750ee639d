/* Sizes of partitions: what each split of the ranks over the programs of an MPMD run would take,
 * beside what was measured. A run predicts T - t(n) + t(n') for the sizes n', with t from
 * lc_partitions_time: what is not the code's stays as it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/scaled_runs.h"

enum {
    MOST_SPLITS = 4096
}; /* where there are more: those measured, and the best ones next to them */

/* Where a partition of this name is in a run; its n: nowhere, or in several places. */
static size_t find_part(const struct lc_scaled_run *run, const char *name) {
    size_t found = run->indicators.n;
    for (size_t i = 0; i < run->indicators.n; i++) {
        if (strcmp(run->indicators.list[i].own.name, name) != 0)
            continue;
        if (found < run->indicators.n)
            return run->indicators.n;
        found = i;
    }
    return found;
}

static size_t ranks_of(const struct lc_scaled_run *run) {
    size_t n = 0;
    for (size_t i = 0; i < run->indicators.n; i++)
        n += run->indicators.list[i].own.n_ranks;
    return n;
}

/* Does the run have the partitions of the sweep, with as many ranks in all? */
static bool belongs(const struct lc_sweep *sweep, const struct lc_scaled_run *run) {
    if (run->indicators.n != sweep->n_parts || ranks_of(run) != sweep->n_ranks)
        return false;
    for (size_t i = 0; i < sweep->n_parts; i++)
        if (find_part(run, sweep->first->indicators.list[i].own.name) == sweep->n_parts)
            return false;
    return true;
}

/* The partitions of a run in the order of the sweep, and their sizes. */
static void order_parts(const struct lc_sweep *sweep, const struct lc_scaled_run *run,
                        struct lc_partition *parts, size_t *sizes) {
    for (size_t i = 0; i < sweep->n_parts; i++) {
        size_t at = find_part(run, sweep->first->indicators.list[i].own.name);
        parts[i] = run->indicators.list[at].own;
        sizes[i] = parts[i].n_ranks;
    }
}

/* Ranks that are in another partition. */
static size_t distance(const size_t *a, const size_t *b, size_t n) {
    size_t moved = 0;
    for (size_t i = 0; i < n; i++)
        moved += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return moved / 2;
}

static enum lc_err add_split(struct lc_sweep *sweep, const size_t *sizes) {
    LC_TRY(lc_grow(&sweep->splits, &sweep->cap, sweep->n + 1, sizeof sweep->splits[0]));
    struct lc_split split = {.predicted_s = NAN, .measured_s = NAN};
    LC_TRY(lc_alloc(&split.sizes, sweep->n_parts, sizeof split.sizes[0]));
    memcpy(split.sizes, sizes, sweep->n_parts * sizeof sizes[0]);
    sweep->splits[sweep->n++] = split;
    return LC_OK;
}

/* NULL: not there yet. */
static struct lc_split *find_split(const struct lc_sweep *sweep, const size_t *sizes) {
    for (size_t i = 0; i < sweep->n; i++)
        if (distance(sweep->splits[i].sizes, sizes, sweep->n_parts) == 0)
            return &sweep->splits[i];
    return NULL;
}

/* C(n - 1, k - 1), or more than MOST_SPLITS. */
static size_t count_splits(size_t n, size_t k) {
    double count = 1.0;
    for (size_t i = 1; i < k && count <= MOST_SPLITS; i++)
        count = count * (double)(n - i) / (double)i;
    return count <= MOST_SPLITS ? (size_t)(count + 0.5) : MOST_SPLITS + 1;
}

/* All ways to give each partition a rank or more, in order. */
static enum lc_err add_all(struct lc_sweep *sweep, size_t *sizes) {
    size_t k = sweep->n_parts;
    for (size_t i = 0; i + 1 < k; i++)
        sizes[i] = 1;
    sizes[k - 1] = sweep->n_ranks - (k - 1);
    for (;;) {
        LC_TRY(add_split(sweep, sizes));
        size_t at = k - 1; /* the last one before the end that can grow by one of what follows */
        size_t rest = sizes[k - 1];
        while (at > 0 && rest <= k - at)
            rest += sizes[--at];
        if (at == 0)
            return LC_OK;
        sizes[at - 1]++;
        for (size_t i = at; i + 1 < k; i++)
            sizes[i] = 1;
        sizes[k - 1] = rest - 1 - (k - 1 - at);
    }
}

static enum lc_err add_measured(struct lc_sweep *sweep, const struct lc_scaling *scaling,
                                struct lc_partition *parts, size_t *sizes) {
    for (size_t r = 0; r < scaling->n_runs; r++) {
        const struct lc_scaled_run *run = &scaling->runs[r];
        if (!belongs(sweep, run))
            continue;
        order_parts(sweep, run, parts, sizes);
        struct lc_split *split = find_split(sweep, sizes);
        if (split == NULL) {
            LC_TRY(add_split(sweep, sizes));
            split = &sweep->splits[sweep->n - 1];
        }
        double before = split->n_measured > 0 ? split->measured_s * (double)split->n_measured : 0.0;
        split->n_measured++;
        split->measured_s = (before + run->indicators.elapsed_s) / (double)split->n_measured;
    }
    return LC_OK;
}

/* From the run with other sizes of which the fewest ranks would have to move; the first of equals.
 */
static void predict(struct lc_split *split, const struct lc_sweep *sweep,
                    const struct lc_scaling *scaling, struct lc_partition *parts, size_t *sizes) {
    size_t nearest = SIZE_MAX;
    for (size_t r = 0; r < scaling->n_runs; r++) {
        const struct lc_scaled_run *run = &scaling->runs[r];
        if (!belongs(sweep, run))
            continue;
        order_parts(sweep, run, parts, sizes);
        size_t moved = distance(sizes, split->sizes, sweep->n_parts);
        if (moved == 0 || moved >= nearest)
            continue;
        nearest = moved;
        split->predicted_s = run->indicators.elapsed_s -
                             lc_partitions_time(parts, sweep->n_parts, sizes) +
                             lc_partitions_time(parts, sweep->n_parts, split->sizes);
    }
}

/* What each run predicts to be best. */
static enum lc_err add_best(struct lc_sweep *sweep, const struct lc_scaling *scaling,
                            struct lc_partition *parts, size_t *sizes) {
    for (size_t r = 0; r < scaling->n_runs; r++) {
        if (!belongs(sweep, &scaling->runs[r]))
            continue;
        order_parts(sweep, &scaling->runs[r], parts, sizes);
        double time;
        LC_TRY(lc_partitions_best(parts, sweep->n_parts, sizes, &time));
        if (find_split(sweep, sizes) == NULL)
            LC_TRY(add_split(sweep, sizes));
    }
    return LC_OK;
}

static double time_of(const struct lc_split *split) {
    return split->n_measured > 0 ? split->measured_s : split->predicted_s;
}

static enum lc_err fill(struct lc_sweep *sweep, const struct lc_scaling *scaling) {
    struct lc_partition *parts;
    size_t *sizes;
    LC_TRY(lc_alloc(&parts, sweep->n_parts, sizeof parts[0]));
    enum lc_err err = lc_alloc(&sizes, sweep->n_parts, sizeof sizes[0]);
    if (err == LC_OK && count_splits(sweep->n_ranks, sweep->n_parts) <= MOST_SPLITS)
        err = add_all(sweep, sizes);
    if (err == LC_OK)
        err = add_measured(sweep, scaling, parts, sizes);
    if (err == LC_OK)
        err = add_best(sweep, scaling, parts, sizes);
    for (size_t i = 0; err == LC_OK && i < sweep->n; i++) {
        predict(&sweep->splits[i], sweep, scaling, parts, sizes);
        if (!(time_of(&sweep->splits[i]) >= time_of(&sweep->splits[sweep->best])))
            sweep->best = i;
    }
    free(parts);
    free(sizes);
    return err;
}

static bool is_swept(const struct lc_scaling *scaling, const struct lc_scaled_run *run) {
    for (size_t i = 0; i < scaling->n_sweeps; i++)
        if (belongs(&scaling->sweeps[i], run))
            return true;
    return false;
}

enum lc_err lc_scaling_sweep(struct lc_scaling *scaling) {
    LC_TRY(lc_alloc(&scaling->sweeps, scaling->n_runs, sizeof scaling->sweeps[0]));
    for (size_t r = 0; r < scaling->n_runs; r++) {
        const struct lc_scaled_run *run = &scaling->runs[r];
        struct lc_sweep sweep = {
            .first = run, .n_parts = run->indicators.n, .n_ranks = ranks_of(run)};
        if (run->indicators.n < 2 || is_swept(scaling, run) || !belongs(&sweep, run))
            continue;
        scaling->sweeps[scaling->n_sweeps] = sweep;
        LC_TRY(fill(&scaling->sweeps[scaling->n_sweeps++], scaling));
    }
    return LC_OK;
}

void lc_scaling_free_computed(struct lc_scaling *scaling) {
    for (size_t s = 0; s < scaling->n_sweeps; s++) {
        for (size_t i = 0; i < scaling->sweeps[s].n; i++)
            free(scaling->sweeps[s].splits[i].sizes);
        free(scaling->sweeps[s].splits);
    }
    free(scaling->sweeps);
    free(scaling->lost.list);
}
