#include "analyze/results.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/results_private.h"
#include "base/hash.h"
#include "base/mem.h"

enum lc_err lc_results_new(struct lc_results **results) {
    return lc_alloc(results, 1, sizeof **results);
}

void lc_results_free(struct lc_results *results) {
    if (!results)
        return;
    for (size_t m = 0; m < results->n_metrics; m++) {
        free(results->metrics[m].cells);
        lc_lookup_free(&results->metrics[m].places);
    }
    free(results->metrics);
    free(results);
}

enum lc_err lc_results_metric(struct lc_results *results, const char *name, uint32_t *handle) {
    for (size_t m = 0; m < results->n_metrics; m++)
        if (strcmp(results->metrics[m].name, name) == 0) {
            *handle = (uint32_t)m;
            return LC_OK;
        }
    LC_TRY(lc_grow(&results->metrics, &results->cap_metrics, results->n_metrics + 1,
                   sizeof *results->metrics));
    *handle = (uint32_t)results->n_metrics;
    struct lc_result_metric *metric = &results->metrics[results->n_metrics++];
    *metric = (struct lc_result_metric){0};
    strncpy(metric->name, name, sizeof metric->name - 1);
    return LC_OK;
}

/* The cell of (cnode, location), new ones zero. Additions for one place come one after the other as
 * a rule. */
static enum lc_err find_cell(struct lc_result_metric *metric, uint32_t cnode, uint32_t location,
                             struct lc_result_cell **cell) {
    if (metric->n_cells && metric->last < metric->n_cells) {
        *cell = &metric->cells[metric->last];
        if ((*cell)->cnode == cnode && (*cell)->location == location)
            return LC_OK;
    }
    uint64_t hash = (uint64_t)location << 32 | cnode;
    uint32_t at =
        LC_LOOKUP(&metric->places, hash, i,
                  metric->cells[i].cnode == cnode && metric->cells[i].location == location);
    if (at == LC_NONE) {
        at = (uint32_t)metric->n_cells;
        LC_TRY(lc_grow(&metric->cells, &metric->cap_cells, metric->n_cells + 1,
                       sizeof *metric->cells));
        LC_TRY(lc_lookup_add(&metric->places, hash, at));
        metric->cells[metric->n_cells++] = (struct lc_result_cell){cnode, location, {0}};
    }
    metric->last = at;
    *cell = &metric->cells[metric->last];
    return LC_OK;
}

enum lc_err lc_results_add_int(struct lc_results *results, uint32_t handle, uint32_t cnode,
                               uint32_t location, int64_t value) {
    struct lc_result_metric *metric = &results->metrics[handle];
    struct lc_result_cell *cell;
    LC_TRY(find_cell(metric, cnode, location, &cell));
    cell->value.ticks += value;
    return LC_OK;
}

enum lc_err lc_results_add_ticks_real(struct lc_results *results, uint32_t handle, uint32_t cnode,
                                      uint32_t location, double ticks) {
    struct lc_result_metric *metric = &results->metrics[handle];
    struct lc_result_cell *cell;
    metric->real = true;
    LC_TRY(find_cell(metric, cnode, location, &cell));
    cell->value.real += ticks;
    return LC_OK;
}
