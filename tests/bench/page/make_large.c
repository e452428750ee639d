/* Makes a large result: RANKS ranks x PATHS call paths x METRICS metrics, no value zero. Usage:
 * make_large OUT.cubex RANKS PATHS METRICS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/cubex_write.h"
#include "model/metrics.h"
#include "model/model.h"

static void need(enum lc_err err) {
    if (err != LC_OK) {
        fprintf(stderr, "make_large: %s\n", lc_err_text());
        exit(1);
    }
}

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static void add_metrics(struct lc_model *model, int n) {
    static const char *const known[] = {"time", "visits", "mpi_latesender", "mpi_wait_nxn",
                                        "bytes_sent"};
    for (int m = 0; m < n; m++) {
        char name[32];
        snprintf(name, sizeof name, "metric_%d", m);
        if (m < (int)(sizeof known / sizeof *known)) {
            need(lc_metrics_add(model, known[m], NULL));
            continue;
        }
        const struct lc_metric metric = {.name = name,
                                         .display = name,
                                         .unit = (char *)(uintptr_t) "sec",
                                         .descr = (char *)(uintptr_t) "made up",
                                         .kind = LC_METRIC_EXCLUSIVE,
                                         .dtype = LC_DTYPE_DOUBLE,
                                         .parent = LC_NONE};
        need(lc_model_add_metric(model, &metric, NULL));
    }
}

/* Eight children each, in depth-first order. */
static void add_paths(struct lc_model *model, uint32_t parent, int *left, int depth) {
    char name[64];
    uint32_t region, cnode;
    snprintf(name, sizeof name, depth > 3 ? "MPI_Call_%d" : "solver::step_%d(double*, int)", *left);
    const struct lc_region r = {.name = name,
                                .paradigm = (char *)(uintptr_t)(depth > 3 ? "mpi" : "compiler"),
                                .begin_line = -1,
                                .end_line = -1};
    need(lc_model_add_region(model, &r, &region));
    need(lc_model_add_cnode(model, parent, region, &cnode));
    (*left)--;
    for (int i = 0; i < 8 && *left > 0 && depth < 5; i++)
        add_paths(model, cnode, left, depth + 1);
}

static void add_ranks(struct lc_model *model, int n) {
    uint32_t machine, node = 0, process;
    need(lc_model_add_system_node(model, LC_NONE, "machine", "machine", &machine));
    for (int rank = 0; rank < n; rank++) {
        char name[32];
        snprintf(name, sizeof name, "node%d", rank / 64);
        if (rank % 64 == 0)
            need(lc_model_add_system_node(model, machine, name, "node", &node));
        need(lc_model_add_process(model, node, rank, "process", &process));
        need(lc_model_add_location(model, process, 0, "thread", NULL));
    }
}

int main(int argc, char **argv) {
    struct lc_model *model;
    struct lc_cubex_writer *writer;
    uint64_t state = 1;
    if (argc != 5) {
        fprintf(stderr, "usage: make_large OUT.cubex RANKS PATHS METRICS\n");
        return 2;
    }
    int left = atoi(argv[3]), n_metrics = atoi(argv[4]);
    need(lc_model_new(&model));
    add_metrics(model, n_metrics);
    while (left > 0)
        add_paths(model, LC_NONE, &left, 0);
    add_ranks(model, atoi(argv[2]));
    need(lc_model_set_attr(model, "latecomer.meta",
                           "{\"program\": \"large\", \"wall_time_s\": 100}"));
    double *values = calloc(model->n_locations, sizeof *values);
    need(lc_cubex_writer_open(&writer, argv[1], model));
    for (uint32_t m = 0; values != NULL && m < model->n_metrics; m++) {
        need(lc_cubex_writer_metric(writer, m));
        for (uint32_t c = 0; c < model->n_cnodes; c++) {
            double scale = (double)(next(&state) % 1000 + 1) * 1e-6;
            for (size_t l = 0; l < model->n_locations; l++)
                values[l] = (double)(next(&state) % 100000) * scale;
            need(lc_cubex_writer_row(writer, c, values));
        }
    }
    need(lc_cubex_writer_close(writer));
    free(values);
    lc_model_free(model);
    return 0;
}
