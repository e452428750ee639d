#include "measure/clocks/iteration_ranks.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/stats.h"
#include "base/strbuf.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"

enum { MOST_BLOCKS = 64, MOST_ROWS = 256 };

enum { ELAPSED, WAITING, PRESENT, N_VALUES }; /* per row and block */

struct field {
    size_t rows, blocks, block, unit, ranks;
};

static void put_list(const struct field *f, const double *sums, int value, struct lc_strbuf *out) {
    lc_strbuf_putc(out, '[');
    for (size_t row = 0; row < f->rows; row++) {
        lc_strbuf_puts(out, row > 0 ? ", [" : "[");
        for (size_t b = 0; b < f->blocks; b++) {
            const double *cell = sums + (row * f->blocks + b) * N_VALUES;
            lc_strbuf_puts(out, b > 0 ? ", " : "");
            if (cell[PRESENT] > 0)
                lc_strbuf_printf(out, "%.6g", cell[value] / cell[PRESENT] / (double)f->unit);
            else
                lc_strbuf_puts(out, "null");
        }
        lc_strbuf_putc(out, ']');
    }
    lc_strbuf_putc(out, ']');
}

static void fill(const struct field *f, const double *elapsed_s, const double *waiting_s,
                 double *sums) {
    double *row = sums + (size_t)lc_core.rank / f->ranks * f->blocks * N_VALUES;
    for (size_t b = 0; b < f->blocks; b++, row += N_VALUES) {
        row[ELAPSED] = lc_stats_mean(elapsed_s + b * f->block, f->block);
        row[WAITING] = lc_stats_mean(waiting_s + b * f->block, f->block);
        row[PRESENT] = 1;
    }
}

void lc_iterations_put_ranks(const double *elapsed_s, const double *waiting_s, size_t n,
                             size_t unit, struct lc_strbuf *out) {
    size_t size = (size_t)lc_core.size;
    struct field f = {.unit = unit};
    f.block = (n + MOST_BLOCKS - 1) / MOST_BLOCKS;
    f.blocks = f.block > 0 ? n / f.block : 0;
    f.ranks = (size + MOST_ROWS - 1) / MOST_ROWS;
    f.rows = (size + f.ranks - 1) / f.ranks;
    size_t count = f.rows * f.blocks * N_VALUES;
    double *sums = calloc(2 * count + 1, sizeof *sums);
    int ok = sums != NULL && count > 0, all_ok = 0;
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, lc_core.comm);
    if (all_ok && sums != NULL) {
        if (elapsed_s != NULL)
            fill(&f, elapsed_s, waiting_s, sums);
        lc_real.Reduce(sums, sums + count, (int)count, MPI_DOUBLE, MPI_SUM, 0, lc_core.comm);
        if (lc_core.rank == 0) {
            lc_strbuf_printf(out, "\"by_rank\": {\"ranks\": %zu, \"block\": %zu, \"elapsed_s\": ",
                             f.ranks, f.block * unit);
            put_list(&f, sums + count, ELAPSED, out);
            lc_strbuf_puts(out, ", \"waiting_s\": ");
            put_list(&f, sums + count, WAITING, out);
            lc_strbuf_puts(out, "}, ");
        }
    }
    free(sums);
}
