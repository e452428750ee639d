#include "run/sample_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "base/table_text.h"
#include "run/path_samples.h"
#include "run/sparse_rows.h"

struct of_rank {
    double seconds, variance;
};

struct line { /* of a cnode, with those inside */
    uint64_t samples;
    double seconds, variance;
    double weight;                /* in the split that is being added up */
    double deviation;             /* the same: sum of the errors of its parts */
    double path_s, path_variance; /* on the critical path */
    struct of_rank *ranks;        /* of sampled cnodes, n_ranks */
};

static double weight_of(const struct lc_sample_split *split, const struct lc_sample_part *parts) {
    double sum = 0;
    for (size_t i = 0; i < split->n_parts; i++)
        sum += parts[i].measured ? 0 : (double)parts[i].weight_ns;
    return sum;
}

static double gap_error(const struct lc_sample_split *split, const struct lc_sample_part *part,
                        double all_ns, double on_s) {
    const double sums[3] = {part->own2, part->cross, split->all2};
    double one = split->effective > 0 ? all_ns / split->effective : 0;
    return part->measured
               ? 0
               : lc_sampled_gap_error(on_s, (double)part->weight_ns / LC_RAW_SAMPLE_UNIT_NS,
                                      all_ns / LC_RAW_SAMPLE_UNIT_NS, sums,
                                      one / LC_RAW_SAMPLE_UNIT_NS);
}

/* Each part counts for its node and for the sampled ones around it. Time off the processor was
 * measured: it has no error. */
static void add_split(const struct lc_sample_split *split, const struct lc_sample_part *parts,
                      const struct lc_named_tree *tree, const struct lc_model *model, size_t rank,
                      struct line *lines) {
    double whole = weight_of(split, parts), on_s = (double)split->on_ns * 1e-9;
    for (size_t i = 0; i < split->n_parts; i++)
        for (uint32_t c = tree->cnode_of[parts[i].node]; c != LC_NONE && tree->sampled[c];
             c = model->cnodes[c].parent) {
            lines[c].samples += parts[i].samples;
            lines[c].seconds += (double)parts[i].ns * 1e-9;
            lines[c].ranks[rank].seconds += (double)parts[i].ns * 1e-9;
            lines[c].weight += parts[i].measured ? 0 : (double)parts[i].weight_ns;
            lines[c].deviation += gap_error(split, &parts[i], whole, on_s);
        }
    for (size_t i = 0; i < split->n_parts; i++)
        for (uint32_t c = tree->cnode_of[parts[i].node]; c != LC_NONE && tree->sampled[c];
             c = model->cnodes[c].parent) {
            double share = whole > 0 ? lines[c].weight / whole : 0;
            double error =
                fmin(lc_stats_share_error(on_s, share, split->effective), lines[c].deviation);
            lines[c].variance += error * error;
            lines[c].ranks[rank].variance += error * error;
            lines[c].weight = lines[c].deviation = 0;
        }
}

/* Seconds of the rank with most of them beyond the mean of all, and the standard error of that. */
static double imbalance_of(const struct line *line, size_t n_ranks, double *error) {
    double sum = 0, variance = 0;
    const struct of_rank *most = line->ranks;
    for (size_t i = 0; i < n_ranks; i++) {
        sum += line->ranks[i].seconds;
        variance += line->ranks[i].variance;
        if (line->ranks[i].seconds > most->seconds)
            most = &line->ranks[i];
    }
    double n = (double)n_ranks, own = 1 - 1 / n;
    *error = sqrt(most->variance * own * own + (variance - most->variance) / (n * n));
    return most->seconds - sum / n;
}

/* ---- the critical path */

/* What the path has of one exact node on one location: cut by the samples of these very times, so
 * that as many of them tell the shares as fell into them on the whole. */
static void add_group(const struct lc_named_tree *tree, const struct lc_model *model,
                      const struct lc_path_piece *pieces, size_t n, double on_s, double samples,
                      struct line *lines) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++)
            for (uint32_t c = tree->cnode_of[pieces[i].node]; c != LC_NONE && tree->sampled[c];
                 c = model->cnodes[c].parent) {
                if (pass == 0) {
                    lines[c].path_s += pieces[i].seconds;
                    lines[c].weight += pieces[i].off ? 0 : pieces[i].seconds;
                    continue;
                }
                double share = on_s > 0 ? lines[c].weight / on_s : 0;
                double error = lc_stats_share_error(on_s, share, samples);
                lines[c].path_variance += error * error;
                lines[c].weight = 0;
            }
}

static enum lc_err add_path(const struct lc_sampled *sampled, const struct lc_named_tree *tree,
                            const struct lc_blame_table *v, struct line *lines) {
    struct lc_path_piece *pieces;
    size_t n, group;
    double on_s, samples;
    LC_TRY(lc_path_pieces(v->defs, v->values, v->n_values, &pieces, &n));
    for (size_t i = 0; i < n; i += group) {
        group = lc_path_group(sampled, pieces + i, n - i, &on_s, &samples);
        add_group(tree, v->model, pieces + i, group, on_s, samples, lines);
    }
    free(pieces);
    return LC_OK;
}

/* "solve.c:42": where the function begins; nothing where debug information does not say. */
static void print_source(const struct lc_region *region, struct lc_strbuf *text) {
    const char *slash = strrchr(region->module, '/');
    if (region->begin_line <= 0)
        return;
    lc_table_put(text, slash != NULL ? slash + 1 : region->module);
    lc_strbuf_printf(text, ":%lld", (long long)region->begin_line);
}

static enum lc_err print(const struct line *lines, size_t n_ranks, const struct lc_named_tree *tree,
                         const struct lc_model *model, struct lc_strbuf *text) {
    lc_strbuf_puts(text, "callpath\tsamples\tseconds\terror\tsource\tcritical_path\t"
                         "critical_path_error\timbalance\timbalance_error\n");
    for (uint32_t c = 0; c < tree->n_cnodes; c++) {
        if (!tree->sampled[c])
            continue;
        char *path = lc_model_callpath(model, c);
        if (path == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
        lc_table_put(text, path);
        lc_strbuf_printf(text, "\t%llu\t%.9f\t%.9f\t", (unsigned long long)lines[c].samples,
                         lines[c].seconds, sqrt(lines[c].variance));
        print_source(&model->regions[model->cnodes[c].region], text);
        double error, imbalance = imbalance_of(&lines[c], n_ranks, &error);
        lc_strbuf_printf(text, "\t%.9f\t%.9f\t%.9f\t%.9f\n", lines[c].path_s,
                         sqrt(lines[c].path_variance), imbalance, error);
        free(path);
    }
    return lc_strbuf_ok(text) ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot hold samples.tsv");
}

static size_t rank_index(const struct lc_raw *defs, uint32_t location) {
    int32_t rank = defs->locations[location].rank;
    return rank > 0 ? (size_t)rank : 0;
}

/* Room for every rank of each sampled cnode, as one piece of memory; *memory is the caller's. */
static enum lc_err give_ranks(struct line *lines, const struct lc_named_tree *tree,
                              const struct lc_raw *defs, size_t *n_ranks, struct of_rank **memory) {
    size_t n_sampled = 0;
    *n_ranks = 1;
    for (size_t i = 0; i < defs->n_locations; i++)
        if (rank_index(defs, (uint32_t)i) >= *n_ranks)
            *n_ranks = rank_index(defs, (uint32_t)i) + 1;
    for (uint32_t c = 0; c < tree->n_cnodes; c++)
        n_sampled += tree->sampled[c];
    LC_TRY(lc_alloc(memory, n_sampled * *n_ranks + 1, sizeof **memory));
    size_t at = 0;
    for (uint32_t c = 0; c < tree->n_cnodes; c++)
        if (tree->sampled[c])
            lines[c].ranks = *memory + *n_ranks * at++;
    return LC_OK;
}

enum lc_err lc_sample_table_write(const struct lc_sampled *sampled,
                                  const struct lc_named_tree *tree,
                                  const struct lc_blame_table *values,
                                  struct lc_cubex_writer *writer) {
    const struct lc_model *model = values->model;
    struct line *lines;
    struct of_rank *ranks = NULL;
    size_t n_ranks = 1;
    struct lc_strbuf text = {0};
    if (sampled->n_splits == 0)
        return LC_OK;
    LC_TRY(lc_alloc(&lines, tree->n_cnodes + 1, sizeof lines[0]));
    enum lc_err err = give_ranks(lines, tree, values->defs, &n_ranks, &ranks);
    for (size_t i = 0; err == LC_OK && i < sampled->n_splits; i++)
        if (sampled->splits[i].source != NULL)
            add_split(&sampled->splits[i], sampled->parts + sampled->splits[i].first, tree, model,
                      rank_index(values->defs, sampled->splits[i].location), lines);
    if (err == LC_OK)
        err = add_path(sampled, tree, values, lines);
    if (err == LC_OK)
        err = print(lines, n_ranks, tree, model, &text);
    if (err == LC_OK)
        err = lc_cubex_writer_misc(writer, "samples.tsv", lc_strbuf_get(&text), text.length);
    lc_strbuf_free(&text);
    free(ranks);
    free(lines);
    return err;
}

/* ---- errors as a metric */

static double root_of(double variance) {
    return sqrt(variance);
}

static enum lc_err add_errors(const struct lc_sample_split *split,
                              const struct lc_sample_part *parts, const struct lc_named_tree *tree,
                              uint32_t column, struct lc_sparse_rows *rows) {
    double whole = weight_of(split, parts), on_s = (double)split->on_ns * 1e-9;
    for (size_t i = 0; i < split->n_parts; i++) {
        double share = whole > 0 ? (double)parts[i].weight_ns / whole : 0;
        double error = fmin(lc_stats_share_error(on_s, share, split->effective),
                            gap_error(split, &parts[i], whole, on_s));
        const struct lc_sparse_row row = {tree->cnode_of[parts[i].node], column, {error * error}};
        if (!parts[i].measured && tree->sampled[row.cnode])
            LC_TRY(lc_sparse_add(rows, &row));
    }
    return LC_OK;
}

enum lc_err lc_time_errors_write(const struct lc_sampled *sampled, const struct lc_named_tree *tree,
                                 const struct lc_model *model, const uint32_t *column_of,
                                 double *columns, size_t n_columns,
                                 struct lc_cubex_writer *writer) {
    struct lc_sparse_rows rows = {0};
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < sampled->n_splits; i++)
        if (sampled->splits[i].source != NULL)
            err = add_errors(&sampled->splits[i], sampled->parts + sampled->splits[i].first, tree,
                             column_of[sampled->splits[i].location], &rows);
    lc_sparse_sort(&rows);
    if (err == LC_OK)
        err = lc_sparse_write(&rows, 0, root_of, lc_model_find_metric(model, "time_error"), columns,
                              n_columns, writer);
    lc_sparse_free(&rows);
    return err;
}
