#include "analyze/costs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/results.h"
#include "base/mem.h"

static const char *const long_names[LC_COST_KINDS] = {
    [LC_COST_LS] = "latesender",     [LC_COST_LR] = "latereceiver",
    [LC_COST_BARRIER] = "barrier",   [LC_COST_N2N] = "n2n",
    [LC_COST_12N] = "12n",           [LC_COST_N21] = "n21",
    [LC_COST_SCAN] = "scan",         [LC_COST_MGMT] = "mgmt",
    [LC_COST_FINALIZE] = "finalize", [LC_COST_OMPBARRIER] = "ompbarrier",
    [LC_COST_OMPIDLE] = "ompidle",   [LC_COST_LOCK] = "lock",
    [LC_COST_OMPTASK] = "omptask",
};
static const char *const short_names[LC_COST_MPI_KINDS] = {
    "ls", "lr", "barrier", "n2n", "12n", "n21", "scan", "mgmt", "finalize"};
static const char *const suffixes[LC_MODELS] = {"", "_waitfirst"};

enum lc_cost_kind lc_cost_kind_of(uint8_t wait_kind) {
    switch (wait_kind) {
    case LC_WAIT_LS:
        return LC_COST_LS;
    case LC_WAIT_LR:
        return LC_COST_LR;
    case LC_WAIT_BARRIER:
        return LC_COST_BARRIER;
    case LC_WAIT_N2N:
        return LC_COST_N2N;
    case LC_WAIT_12N:
        return LC_COST_12N;
    case LC_WAIT_N21:
        return LC_COST_N21;
    case LC_WAIT_SCAN:
        return LC_COST_SCAN;
    case LC_WAIT_MGMT:
        return LC_COST_MGMT;
    case LC_WAIT_FINALIZE:
        return LC_COST_FINALIZE;
    case LC_WAIT_OMP_EBARRIER:
    case LC_WAIT_OMP_IBARRIER:
        return LC_COST_OMPBARRIER;
    case LC_WAIT_OMP_CRITICAL:
    case LC_WAIT_OMP_LOCK:
    case LC_WAIT_PTHREAD_LOCK:
        return LC_COST_LOCK;
    case LC_WAIT_OMP_IDLE:
        return LC_COST_OMPIDLE;
    case LC_WAIT_TASKWAIT:
        return LC_COST_OMPTASK;
    default:
        return LC_COST_UNNAMED;
    }
}

const char *lc_cost_kind_name(enum lc_cost_kind kind) {
    return long_names[kind];
}

enum lc_err lc_costs_new(struct lc_costs *costs, const struct lc_timelines *lines) {
    memset(costs, 0, sizeof *costs);
    costs->lines = lines;
    return lc_alloc(&costs->rows, lines->trace->n_locs, sizeof *costs->rows);
}

void lc_costs_free(struct lc_costs *costs) {
    for (size_t i = 0; costs->rows != NULL && i < costs->lines->trace->n_locs; i++)
        for (size_t k = 0; k < LC_COST_ROWS; k++)
            free(costs->rows[i][k]);
    free(costs->rows);
    costs->rows = NULL;
}

enum lc_err lc_costs_add(struct lc_costs *costs, size_t loc, enum lc_cost_metric metric,
                         enum lc_delay_model model, enum lc_cost_kind kind, uint32_t local_cnode,
                         double ticks) {
    double **row = &costs->rows[loc][lc_cost_row(metric, model, kind)];
    if (*row == NULL)
        LC_TRY(lc_alloc(row, costs->lines->lines[loc].n_cnodes, sizeof **row));
    (*row)[local_cnode] += ticks;
    return LC_OK;
}

uint32_t lc_costs_local(const struct lc_timeline *line, uint32_t cnode) {
    for (uint32_t i = 0; i < line->n_cnodes; i++)
        if (line->cnodes[i] == cnode)
            return i;
    return LC_NONE;
}

static const double parts_per_tick = 1099511627776.0; /* 2^40 */

void lc_exact_add(struct lc_exact *sum, double ticks) {
    double whole = floor(ticks);
    sum->whole += (int64_t)whole;
    sum->parts += (int64_t)((ticks - whole) * parts_per_tick + 0.5);
    if (sum->parts >= (int64_t)1 << 40) {
        sum->parts -= (int64_t)1 << 40;
        sum->whole++;
    }
}

void lc_exact_total(const struct lc_transport *comm, const struct lc_exact *sums, double *totals,
                    size_t n) {
    int64_t values[2 * LC_COST_ROWS];
    for (size_t i = 0; i < n; i++) {
        values[2 * i] = sums[i].whole;
        values[2 * i + 1] = sums[i].parts;
    }
    lc_transport_allreduce_i64(comm, values, 2 * n, LC_OP_SUM);
    for (size_t i = 0; i < n; i++)
        totals[i] = (double)values[2 * i] + (double)values[2 * i + 1] / parts_per_tick;
}

void lc_costs_totals(const struct lc_costs *costs, double totals[LC_COST_ROWS]) {
    lc_exact_total(costs->lines->trace->comm, costs->published, totals, LC_COST_ROWS);
}

static void metric_name(char *name, size_t size, enum lc_cost_metric metric,
                        enum lc_delay_model model, enum lc_cost_kind kind) {
    const char *suffix = suffixes[model];
    switch (metric) {
    case LC_SHORT_TERM:
        snprintf(name, size, "delay_%s%s", long_names[kind], suffix);
        break;
    case LC_LONG_TERM:
        snprintf(name, size, "delay_%s_longterm%s", long_names[kind], suffix);
        break;
    case LC_DIRECT:
        snprintf(name, size, "mpi_wait_direct_%s%s", long_names[kind], suffix);
        break;
    case LC_INDIRECT:
        snprintf(name, size, "mpi_wait_indirect_%s%s", long_names[kind], suffix);
        break;
    case LC_PROPAGATING:
        snprintf(name, size, "mpi_wait_propagating_%s%s", short_names[kind], suffix);
        break;
    case LC_TERMINAL:
    case LC_COST_METRICS:
        snprintf(name, size, "mpi_wait_terminal_%s%s", short_names[kind], suffix);
        break;
    }
}

enum lc_err lc_costs_declare(struct lc_costs *costs, struct lc_results *results) {
    for (size_t row = 0; row < LC_COST_ROWS; row++)
        costs->handles[row] = LC_NONE;
    for (int kind = 0; kind < LC_COST_KINDS; kind++) {
        if (kind >= LC_COST_MPI_KINDS && !costs->lines->trace->omp)
            continue;
        int n_metrics = kind < LC_COST_MPI_KINDS ? LC_COST_METRICS : LC_DIRECT;
        for (int model = 0; model < LC_MODELS; model++)
            for (int metric = 0; metric < n_metrics; metric++) {
                char name[64];
                metric_name(name, sizeof name, metric, model, kind);
                LC_TRY(lc_results_metric(results, name,
                                         &costs->handles[lc_cost_row(metric, model, kind)]));
            }
    }
    return LC_OK;
}

enum lc_err lc_costs_publish(struct lc_costs *costs, size_t loc, struct lc_results *results) {
    const struct lc_timeline *line = &costs->lines->lines[loc];
    for (size_t r = 0; r < LC_COST_ROWS; r++) {
        double *row = costs->rows[loc][r];
        for (uint32_t k = 0; row != NULL && k < line->n_cnodes; k++) {
            if (row[k] == 0)
                continue;
            lc_exact_add(&costs->published[r], row[k]);
            if (costs->handles[r] != LC_NONE)
                LC_TRY(lc_results_add_ticks_real(results, costs->handles[r], line->cnodes[k],
                                                 line->loc->id, row[k]));
        }
        free(row);
        costs->rows[loc][r] = NULL;
    }
    return LC_OK;
}
