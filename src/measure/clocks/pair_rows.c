#include "measure/clocks/pair_rows.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "format/facts.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "piggyback/pairs.h"

/* Rows of all ranks together, as far as there is one for each rank. */
enum { MOST_ROWS = 65536 };

struct row { /* from: by position */
    double to, waiting_s, messages, bytes;
};

enum { LEFT_PAIRS, LEFT_S, LEFT_MESSAGES, LEFT_BYTES, N_LEFT };

static void leave_out(double left[N_LEFT], double pairs, const struct lc_pair_sums *sums) {
    left[LEFT_PAIRS] += pairs;
    left[LEFT_S] += (double)sums->ticks * lc_clk.ns_per_tick * 1e-9;
    left[LEFT_MESSAGES] += (double)sums->messages;
    left[LEFT_BYTES] += (double)sums->bytes;
}

/* The heaviest rows of this rank; the rest is added to `left`. */
static void fill(struct row *rows, uint32_t room, double left[N_LEFT]) {
    struct lc_pairs *pairs = &lc_clk.pairs;
    lc_pairs_sort(pairs);
    leave_out(left, pairs->n_left_out, &pairs->left_out);
    for (uint32_t i = 0; i < pairs->n; i++) {
        const struct lc_pair_sums *sums = &pairs->rows[i].sums;
        if (i < room)
            rows[i] =
                (struct row){pairs->rows[i].rank, (double)sums->ticks * lc_clk.ns_per_tick * 1e-9,
                             (double)sums->messages, (double)sums->bytes};
        else
            leave_out(left, 1, sums);
    }
}

static void put(const struct row *rows, uint32_t room, const double left[N_LEFT],
                struct lc_strbuf *facts) {
    const struct lc_fact_pairs fact = {.pairs = left[LEFT_PAIRS],
                                       .waiting_s = left[LEFT_S],
                                       .messages = left[LEFT_MESSAGES],
                                       .bytes = left[LEFT_BYTES]};
    size_t begin = lc_facts_begin(facts, LC_FACT_PAIRS, &fact, sizeof fact);
    for (size_t i = 0; i < (size_t)room * (size_t)lc_core.size; i++) {
        const struct lc_fact_pair pair = {.from = (double)(i / room),
                                          .to = rows[i].to,
                                          .waiting_s = rows[i].waiting_s,
                                          .messages = rows[i].messages,
                                          .bytes = rows[i].bytes};
        if (pair.waiting_s > 0 || pair.messages > 0)
            lc_strbuf_add(facts, (const char *)&pair, sizeof pair);
    }
    lc_facts_end(facts, begin);
}

void lc_clk_pairs_put(struct lc_strbuf *facts) {
    uint32_t n = (uint32_t)lc_core.size, room = MOST_ROWS / n, most = 0;
    double left[N_LEFT] = {0}, left_all[N_LEFT] = {0};
    lc_real.Allreduce(&lc_clk.pairs.n, &most, 1, MPI_UINT32_T, MPI_MAX, lc_core.comm);
    room = room < most ? room : most;
    room = room > 0 ? room : 1;
    struct row *rows = calloc(room, sizeof *rows);
    struct row *all = lc_core.rank == 0 ? calloc((size_t)room * n, sizeof *all) : NULL;
    int ok = rows != NULL && (lc_core.rank != 0 || all != NULL), all_ok = 0;
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, lc_core.comm);
    if (all_ok) {
        int doubles = (int)(room * (sizeof *rows / sizeof(double)));
        fill(rows, room, left);
        lc_real.Gather(rows, doubles, MPI_DOUBLE, all, doubles, MPI_DOUBLE, 0, lc_core.comm);
        lc_real.Reduce(left, left_all, N_LEFT, MPI_DOUBLE, MPI_SUM, 0, lc_core.comm);
        if (all != NULL)
            put(all, room, left_all, facts);
    }
    free(rows);
    free(all);
}
