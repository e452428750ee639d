#include "measure/clocks/iteration_ranks.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/stats.h"
#include "base/strbuf.h"
#include "format/facts.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"

enum { MOST_BLOCKS = 64, MOST_ROWS = 256 };

static void fill(const struct lc_fact_field *f, const double *elapsed_s, const double *waiting_s,
                 double *sums) {
    double *row = sums + (size_t)lc_core.rank / f->ranks * f->blocks * LC_FIELD_VALUES;
    for (size_t b = 0; b < f->blocks; b++, row += LC_FIELD_VALUES) {
        row[LC_FIELD_ELAPSED] = lc_stats_mean(elapsed_s + b * f->block, f->block);
        row[LC_FIELD_WAITING] = lc_stats_mean(waiting_s + b * f->block, f->block);
        row[LC_FIELD_PRESENT] = 1;
    }
}

void lc_iterations_put_ranks(const double *elapsed_s, const double *waiting_s, size_t n,
                             size_t unit, struct lc_strbuf *facts) {
    size_t size = (size_t)lc_core.size;
    struct lc_fact_field f = {.unit = unit};
    f.block = (n + MOST_BLOCKS - 1) / MOST_BLOCKS;
    f.blocks = f.block > 0 ? n / f.block : 0;
    f.ranks = (size + MOST_ROWS - 1) / MOST_ROWS;
    f.rows = (size + f.ranks - 1) / f.ranks;
    size_t count = f.rows * f.blocks * LC_FIELD_VALUES;
    double *sums = calloc(2 * count + 1, sizeof *sums);
    int ok = sums != NULL && count > 0, all_ok = 0;
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, lc_core.comm);
    if (all_ok && sums != NULL) {
        if (elapsed_s != NULL)
            fill(&f, elapsed_s, waiting_s, sums);
        lc_real.Reduce(sums, sums + count, (int)count, MPI_DOUBLE, MPI_SUM, 0, lc_core.comm);
        if (lc_core.rank == 0) {
            size_t begin = lc_facts_begin(facts, LC_FACT_FIELD, &f, sizeof f);
            lc_strbuf_add(facts, (const char *)(sums + count), count * sizeof *sums);
            lc_facts_end(facts, begin);
        }
    }
    free(sums);
}
