/* Random models and values for tests of the container, from a seed. */
#ifndef LC_TEST_CUBEX_SAMPLE_H
#define LC_TEST_CUBEX_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/cubex_write.h"
#include "model/metrics.h"

static inline uint32_t sample_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

/* The value of a cell is a function of the seed and its place; about half of the rows are zero. */
static inline double sample_value(uint64_t seed, uint32_t metric, uint32_t cnode, uint32_t location,
                                  int integer) {
    uint64_t row = seed + metric * UINT64_C(1000003) + cnode * UINT64_C(10007);
    if (sample_random(&row) % 2 == 0)
        return 0.0;
    row += location;
    uint32_t value = sample_random(&row);
    return integer ? value : value / 1e9 - 0.5;
}

static inline enum lc_err sample_model(uint64_t seed, uint32_t n_cnodes, uint32_t n_ranks,
                                       struct lc_model **out) {
    static const char *const metrics[] = {"time", "visits", "mpi_lswo_same", "max_time",
                                          "delay_n2n_longterm_waitfirst"};
    static const char *const names[] = {"main", "f<a, b>&\"'", "MPI_Send", "a/b", "größe\n\t",
                                        "",     "x]]>y"};
    struct lc_model *model;
    LC_TRY(lc_model_new(&model));
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        LC_TRY(lc_metrics_add(model, metrics[i], NULL));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct lc_region region = {.name = (char *)names[i],
                                         .mangled = (char *)names[(i + 1) % 7],
                                         .module = (char *)"lib&.so",
                                         .begin_line = (int64_t)i - 1,
                                         .end_line = -1};
        LC_TRY(lc_model_add_region(model, &region, NULL));
    }
    for (uint32_t c = 0; c < n_cnodes; c++) {
        /* Pre-order: below the previous one or one of its ancestors, sometimes a new root. */
        uint32_t parent = c == 0 ? LC_NONE : c - 1;
        while (parent != LC_NONE && sample_random(&seed) % 2 == 0)
            parent = model->cnodes[parent].parent;
        LC_TRY(lc_model_add_cnode(model, parent, sample_random(&seed) % 7, NULL));
    }
    uint32_t machine, node = 0, process;
    LC_TRY(lc_model_add_system_node(model, LC_NONE, "machine", "machine", &machine));
    for (uint32_t r = 0; r < n_ranks; r++) {
        if (r % 3 == 0)
            LC_TRY(lc_model_add_system_node(model, machine, "n<1>", "node", &node));
        LC_TRY(lc_model_add_process(model, r % 5 == 4 ? machine + 1 : node, (int32_t)r, "rank",
                                    &process));
        for (uint32_t t = 0; t <= r % 2; t++)
            LC_TRY(lc_model_add_location(model, process, (int32_t)t, "thread", NULL));
    }
    LC_TRY(lc_model_set_attr(model, "latecomer.meta", "{\"a\": \"<\\n>\n&\"}"));
    *out = model;
    return LC_OK;
}

static inline enum lc_err sample_write(uint64_t seed, const struct lc_model *model,
                                       const char *path, size_t misc_bytes) {
    struct lc_cubex_writer *writer;
    double *values = calloc(model->n_locations, sizeof values[0]);
    char *misc = malloc(misc_bytes + 1);
    memset(misc, 'm', misc_bytes);
    LC_TRY(lc_cubex_writer_open(&writer, path, model));
    for (uint32_t m = (uint32_t)model->n_metrics; m-- > 0;) { /* any order */
        LC_TRY(lc_cubex_writer_metric(writer, m));
        for (uint32_t c = 0; c < model->n_cnodes; c++) {
            for (uint32_t l = 0; l < model->n_locations; l++)
                values[l] = sample_value(seed, m, c, l, model->metrics[m].dtype == LC_DTYPE_UINT64);
            LC_TRY(lc_cubex_writer_row(writer, c, values));
        }
    }
    LC_TRY(lc_cubex_writer_misc(writer, "size_classes.tsv", misc, misc_bytes));
    free(values);
    free(misc);
    return lc_cubex_writer_close(writer);
}

#endif
