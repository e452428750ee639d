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
        free(results->metrics[m].slots);
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

/* Where the cell of (cnode, location) is in the table, or the free place for it. */
static uint32_t *find_slot(const struct lc_result_metric *metric, uint32_t cnode,
                           uint32_t location) {
    uint64_t h = lc_hash_key((uint64_t)location << 32 | cnode);
    size_t i = (size_t)(h ^ (h >> 32)) & (metric->n_slots - 1);
    for (; metric->slots[i] != 0; i = (i + 1) & (metric->n_slots - 1)) {
        const struct lc_result_cell *cell = &metric->cells[metric->slots[i] - 1];
        if (cell->cnode == cnode && cell->location == location)
            break;
    }
    return &metric->slots[i];
}

static enum lc_err grow_slots(struct lc_result_metric *metric) {
    size_t n = metric->n_slots ? 2 * metric->n_slots : 16;
    free(metric->slots);
    metric->slots = NULL;
    metric->n_slots = 0;
    LC_TRY(lc_alloc(&metric->slots, n, sizeof *metric->slots));
    metric->n_slots = n;
    for (size_t i = 0; i < metric->n_cells; i++)
        *find_slot(metric, metric->cells[i].cnode, metric->cells[i].location) = (uint32_t)i + 1;
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
    if (4 * (metric->n_cells + 1) > 3 * metric->n_slots)
        LC_TRY(grow_slots(metric));
    uint32_t *slot = find_slot(metric, cnode, location);
    if (*slot == 0) {
        LC_TRY(lc_grow(&metric->cells, &metric->cap_cells, metric->n_cells + 1,
                       sizeof *metric->cells));
        metric->cells[metric->n_cells++] = (struct lc_result_cell){cnode, location, {0}};
        *slot = (uint32_t)metric->n_cells;
    }
    metric->last = *slot - 1;
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
