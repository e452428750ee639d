#include "analyze/costs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/results.h"
#include "base/mem.h"

static const struct {
    const char *name, *alias; /* the alias: in names of propagating and terminal waiting */
} kinds[LC_COST_KINDS] = {
    [LC_COST_LS] = {"latesender", "ls"},
    [LC_COST_LR] = {"latereceiver", "lr"},
    [LC_COST_PROBE] = {"probe", "probe"},
    [LC_COST_BARRIER] = {"barrier", "barrier"},
    [LC_COST_N2N] = {"n2n", "n2n"},
    [LC_COST_12N] = {"12n", "12n"},
    [LC_COST_N21] = {"n21", "n21"},
    [LC_COST_SCAN] = {"scan", "scan"},
    [LC_COST_MGMT] = {"mgmt", "mgmt"},
    [LC_COST_FINALIZE] = {"finalize", "finalize"},
    [LC_COST_RMA] = {"rma", "rma"},
    [LC_COST_IO] = {"io", "io"},
    [LC_COST_NEIGHBOR] = {"neighbor", "neighbor"},
    [LC_COST_OMPBARRIER] = {"ompbarrier", "ompbarrier"},
    [LC_COST_OMPIDLE] = {"ompidle", "ompidle"},
    [LC_COST_LOCK] = {"lock", "lock"},
    [LC_COST_OMPTASK] = {"omptask", "omptask"},
};
static const uint8_t cost_kinds[LC_WAIT_INIT] = {
    [LC_WAIT_LS] = LC_COST_LS,
    [LC_WAIT_LR] = LC_COST_LR,
    [LC_WAIT_PROBE] = LC_COST_PROBE,
    [LC_WAIT_BARRIER] = LC_COST_BARRIER,
    [LC_WAIT_N2N] = LC_COST_N2N,
    [LC_WAIT_12N] = LC_COST_12N,
    [LC_WAIT_N21] = LC_COST_N21,
    [LC_WAIT_SCAN] = LC_COST_SCAN,
    [LC_WAIT_MGMT] = LC_COST_MGMT,
    [LC_WAIT_OMP_EBARRIER] = LC_COST_OMPBARRIER,
    [LC_WAIT_OMP_IBARRIER] = LC_COST_OMPBARRIER,
    [LC_WAIT_OMP_CRITICAL] = LC_COST_LOCK,
    [LC_WAIT_OMP_LOCK] = LC_COST_LOCK,
    [LC_WAIT_PTHREAD_LOCK] = LC_COST_LOCK,
    [LC_WAIT_OMP_IDLE] = LC_COST_OMPIDLE,
    [LC_WAIT_RMA_CREATE] = LC_COST_RMA,
    [LC_WAIT_RMA_FREE] = LC_COST_RMA,
    [LC_WAIT_RMA_FENCE] = LC_COST_RMA,
    [LC_WAIT_RMA_EARLY_WAIT] = LC_COST_RMA,
    [LC_WAIT_RMA_LATE_POST] = LC_COST_RMA,
    [LC_WAIT_RMA_LOCK] = LC_COST_RMA,
    [LC_WAIT_IO] = LC_COST_IO,
    [LC_WAIT_NEIGHBOR] = LC_COST_NEIGHBOR,
    [LC_WAIT_TASKWAIT] = LC_COST_OMPTASK,
    [LC_WAIT_FINALIZE] = LC_COST_FINALIZE,
};
static const char *const suffixes[LC_MODELS] = {"", "_waitfirst"};

enum lc_cost_kind lc_cost_kind_of(uint8_t wait_kind) {
    return cost_kinds[wait_kind];
}

const char *lc_cost_kind_name(enum lc_cost_kind kind) {
    return kinds[kind].name;
}

enum lc_err lc_costs_new(struct lc_costs *costs, const struct lc_timelines *lines) {
    memset(costs, 0, sizeof *costs);
    costs->lines = lines;
    LC_TRY(lc_alloc(&costs->excess, lines->trace->n_locs + 1, sizeof *costs->excess));
    return lc_alloc(&costs->rows, lines->trace->n_locs, sizeof *costs->rows);
}

void lc_costs_free(struct lc_costs *costs) {
    for (size_t i = 0; costs->rows != NULL && i < costs->lines->trace->n_locs; i++)
        for (size_t k = 0; k < LC_COST_ROWS; k++)
            free(costs->rows[i][k]);
    for (size_t i = 0; costs->excess != NULL && i < costs->lines->trace->n_locs; i++)
        free(costs->excess[i]);
    free(costs->excess);
    free(costs->rows);
    costs->excess = NULL;
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

double lc_costs_of(const struct lc_costs *costs, size_t loc, enum lc_delay_model model,
                   uint32_t local_cnode) {
    double sum = 0;
    for (int kind = 0; kind < LC_COST_KINDS; kind++)
        for (int metric = LC_SHORT_TERM; metric <= LC_LONG_TERM; metric++) {
            const double *row = costs->rows[loc][lc_cost_row((enum lc_cost_metric)metric, model,
                                                             (enum lc_cost_kind)kind)];
            sum += row != NULL ? row[local_cnode] : 0;
        }
    return sum;
}

/* sums[]: per exact call path, 0 before and after. */
static void settle(double *row, const struct lc_timeline *line, const struct lc_an_cnode *cnodes,
                   double (*sums)[2]) {
    for (uint32_t k = 0; k < line->n_cnodes; k++) {
        double *sum = sums[cnodes[line->cnodes[k]].exact];
        sum[0] += row[k];
        sum[1] += row[k] > 0 ? row[k] : 0;
    }
    for (uint32_t k = 0; k < line->n_cnodes; k++) {
        const double *sum = sums[cnodes[line->cnodes[k]].exact];
        if (sum[0] < sum[1])
            row[k] = row[k] > 0 && sum[0] > 0 ? row[k] * (sum[0] / sum[1]) : 0;
    }
    for (uint32_t k = 0; k < line->n_cnodes; k++)
        memset(sums[cnodes[line->cnodes[k]].exact], 0, sizeof *sums);
}

enum lc_err lc_costs_settle(struct lc_costs *costs) {
    const struct lc_trace *trace = costs->lines->trace;
    double(*sums)[2] = NULL;
    if (!trace->sampled)
        return LC_OK;
    LC_TRY(lc_alloc(&sums, trace->n_cnodes + 1, sizeof *sums));
    for (size_t l = 0; l < trace->n_locs; l++)
        for (size_t r = 0; r < LC_COST_ROWS; r++)
            if (costs->rows[l][r] != NULL)
                settle(costs->rows[l][r], &costs->lines->lines[l], trace->cnodes, sums);
    free(sums);
    return LC_OK;
}

uint32_t lc_costs_local(const struct lc_timeline *line, uint32_t cnode) {
    for (uint32_t i = 0; i < line->n_cnodes; i++)
        if (line->cnodes[i] == cnode)
            return i;
    return LC_NONE;
}

void lc_exact_total(const struct lc_transport *comm, const struct lc_exact *sums, double *totals,
                    size_t n) {
    enum { AT_ONCE = 128 };
    for (size_t first = 0; first < n; first += AT_ONCE) {
        int64_t values[2 * AT_ONCE];
        size_t many = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (size_t i = 0; i < many; i++) { /* whole ones, and what is left, which is positive */
            values[2 * i] = (int64_t)(sums[first + i].parts >> LC_EXACT_BITS);
            values[2 * i + 1] =
                (int64_t)(sums[first + i].parts & (((int64_t)1 << LC_EXACT_BITS) - 1));
        }
        lc_transport_allreduce_i64(comm, values, 2 * many, LC_OP_SUM);
        for (size_t i = 0; i < many; i++)
            totals[first + i] = (double)values[2 * i] + (double)values[2 * i + 1] / 0x1p40;
    }
}

void lc_costs_totals(const struct lc_costs *costs, double totals[LC_COST_ROWS]) {
    lc_exact_total(costs->lines->trace->comm, costs->published, totals, LC_COST_ROWS);
}

static bool is_of_threads(enum lc_cost_kind kind) {
    return kind >= LC_COST_OMPBARRIER;
}

static void metric_name(char *name, size_t size, enum lc_cost_metric metric,
                        enum lc_delay_model model, enum lc_cost_kind kind) {
    static const char *const classes[LC_COST_METRICS] = {[LC_DIRECT] = "direct",
                                                         [LC_INDIRECT] = "indirect",
                                                         [LC_PROPAGATING] = "propagating",
                                                         [LC_TERMINAL] = "terminal"};
    if (metric < LC_DIRECT)
        snprintf(name, size, "delay_%s%s%s", kinds[kind].name,
                 metric == LC_LONG_TERM ? "_longterm" : "", suffixes[model]);
    else
        snprintf(name, size, "%s_wait_%s_%s%s", is_of_threads(kind) ? "omp" : "mpi",
                 classes[metric], metric < LC_PROPAGATING ? kinds[kind].name : kinds[kind].alias,
                 suffixes[model]);
}

/* Which kinds have metrics: those of messages, collectives and MPI_Finalize always, those of
 * threads where there are any, the others where somebody waits. */
static void find_present(const struct lc_costs *costs, int64_t present[LC_COST_KINDS]) {
    const struct lc_trace *trace = costs->lines->trace;
    for (int kind = 0; kind < LC_COST_KINDS; kind++)
        present[kind] = kind < LC_COST_RMA || (is_of_threads(kind) && trace->omp);
    for (size_t i = 0; i < trace->n_locs; i++)
        for (uint32_t k = 0; k < costs->lines->lines[i].n_states; k++) {
            const struct lc_timeline *line = &costs->lines->lines[i];
            present[lc_cost_kind_of(line->loc->waits[line->states[k].wait].kind)] = 1;
        }
    lc_transport_allreduce_i64(trace->comm, present, LC_COST_KINDS, LC_OP_MAX);
}

enum lc_err lc_costs_declare(struct lc_costs *costs, struct lc_results *results) {
    int64_t present[LC_COST_KINDS];
    find_present(costs, present);
    for (size_t row = 0; row < LC_COST_ROWS; row++)
        costs->handles[row] = LC_NONE;
    for (int kind = 0; kind < LC_COST_KINDS; kind++)
        for (int model = 0; model < LC_MODELS && present[kind]; model++)
            for (int metric = 0; metric < LC_COST_METRICS; metric++) {
                char name[64];
                metric_name(name, sizeof name, metric, model, kind);
                LC_TRY(lc_results_metric(results, name,
                                         &costs->handles[lc_cost_row(metric, model, kind)]));
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
