/* Who was late and who waits for whom, merged over all ranks in MPI_Finalize: tables of blame and
 * costs along a tree, the heaviest pairs of each rank. */
#include <math.h>
#include <stdlib.h>

#include "base/binomial.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "format/facts.h"
#include "measure/callpath/entry.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/origins.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "piggyback/blame.h"
#include "piggyback/pairs.h"

enum { LC_BLAME_KEPT = 64, LC_BLAME_TAG = 0x4c33 };

/* What this rank did in `node` is of interest: between which of its calls it spent most of its time
 * there. */
static void fill_sites(struct lc_state_wait *w) {
    uint64_t from = 0, to = 0;
    uint32_t node = w->node;
    pthread_mutex_lock(&lc_core.lock);
    while (lc_raw_is_sampled(lc_state_nodes()[node].kind)) /* the calls are those around it */
        node = lc_state_nodes()[node].parent;
    if (lc_sites_most(node, &from, &to)) {
        w->sites[0] = from;
        w->sites[1] = to;
    }
    pthread_mutex_unlock(&lc_core.lock);
}

/* Not so where a call had no path: measurement was off when it began, or the state was full. */
static bool is_node(uint32_t node) {
    return node < atomic_load_explicit(&lc_core.state->nodes.count, memory_order_acquire);
}

void lc_clk_book_node(uint32_t node, uint64_t ticks, uint32_t what, uint64_t index,
                      uint32_t late_thread) {
    uint64_t offset = 0;
    if (!is_node(node))
        return;
    struct lc_state_wait *w = lc_state_take(sizeof *w, &offset);
    if (w == NULL)
        return;
    w->node = node;
    w->what = what;
    w->late_thread = late_thread;
    w->thread = late_thread != 0 ? late_thread - 1 : 0;
    w->index = index;
    w->ticks[what == LC_STATE_WAIT_TIMES ? LC_MEASURED_KINDS : 0] = ticks;
    if (what != LC_STATE_WAIT_BLAME && what != LC_STATE_WAIT_MORE && what != LC_STATE_WAIT_PASSED &&
        what != LC_STATE_WAIT_SPREAD)
        fill_sites(w);
    w->next = atomic_load_explicit(&lc_core.state->waits, memory_order_relaxed);
    atomic_store_explicit(&lc_core.state->waits, offset, memory_order_release);
}

void lc_clk_sites_close(void) {
    pthread_mutex_lock(&lc_core.lock);
    for (struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        lc_sites_take_all(t);
    pthread_mutex_unlock(&lc_core.lock);
}

/* Adds up the tables of all ranks: rank 0 has the sum. `other`: room for one. */
static void add_up(struct lc_blame *table, struct lc_blame *other) {
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    enum lc_binomial_step step;
    int peer;
    while ((step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD) {
        lc_real.Recv(other, (int)sizeof *other, MPI_BYTE, peer, LC_BLAME_TAG, lc_core.comm,
                     MPI_STATUS_IGNORE);
        lc_blame_merge(table, other);
    }
    if (step == LC_BINOMIAL_PARENT)
        lc_real.Send(table, (int)sizeof *table, MPI_BYTE, peer, LC_BLAME_TAG, lc_core.comm);
}

/* The largest rows of rank 0 to all; returns how many. */
static int share_top(struct lc_blame *table, struct lc_blame_row top[LC_BLAME_KEPT]) {
    int n = 0;
    if (lc_core.rank == 0) {
        lc_blame_sort(table);
        while (n < LC_BLAME_KEPT && n < (int)table->n &&
               table->rows[n].ticks > table->rows[n].error) {
            top[n] = table->rows[n];
            n++;
        }
    }
    lc_real.Bcast(&n, 1, MPI_INT, 0, lc_core.comm);
    lc_real.Bcast(top, n * (int)sizeof *top, MPI_BYTE, 0, lc_core.comm);
    return n;
}

static uint64_t certain_indirect(const struct lc_blame_row *row) {
    return row->indirect - row->indirect_error;
}

/* Both sums, so that one can see that they are equal. On rank 0 the table is that of all ranks. */
static void put_costs(const struct lc_blame *costs, const struct lc_blame_row *top, int n,
                      struct lc_strbuf *facts) {
    enum { WAITS, REST, REST_INDIRECT, SUMS };
    uint64_t mine[SUMS] = {lc_clk.waited_ticks, lc_clk.cost_rest, lc_clk.cost_rest_indirect};
    uint64_t all[SUMS] = {0, 0, 0};
    lc_real.Reduce(mine, all, SUMS, MPI_UINT64_T, MPI_SUM, 0, lc_core.comm);
    if (lc_core.rank != 0)
        return;
    uint64_t costs_all = all[REST] + all[REST_INDIRECT], passed = all[REST_INDIRECT];
    uint64_t known = 0, indirect = 0;
    double s_per_tick = lc_clk.ns_per_tick * 1e-9;
    for (uint32_t i = 0; i < costs->n; i++) {
        costs_all += costs->rows[i].ticks;
        passed += costs->rows[i].indirect;
    }
    for (int i = 0; i < n; i++) {
        known += top[i].ticks - top[i].error;
        indirect += certain_indirect(&top[i]);
    }
    uint64_t unknown = costs_all - known, unknown_indirect = passed - indirect;
    const struct lc_fact_waiting fact = {
        .waits_s = (double)all[WAITS] * s_per_tick,
        .costs_s = (double)costs_all * s_per_tick,
        .direct_s = (double)(known - indirect) * s_per_tick,
        .indirect_s = (double)indirect * s_per_tick,
        .unknown_direct_s = (double)(unknown - unknown_indirect) * s_per_tick,
        .unknown_indirect_s = (double)unknown_indirect * s_per_tick};
    lc_facts_put(facts, LC_FACT_WAITING, &fact, sizeof fact);
}

/* For the standard error of what samples found. */
static void book_spread(const struct lc_blame_row *row, uint32_t what, int i) {
    if (is_node(row->late_node) && lc_raw_is_sampled(lc_state_nodes()[row->late_node].kind))
        lc_clk_book_node(row->late_node, (uint64_t)sqrt(fmax(row->squares, 0)), what, (uint64_t)i,
                         0);
}

static void book_blame(const struct lc_blame_row *top, int n) {
    for (int i = 0; i < n; i++) {
        if (top[i].rank == lc_clk.rank) {
            lc_clk_book_node(top[i].node, top[i].ticks - top[i].error, LC_STATE_WAIT_BLAME,
                             (uint64_t)i, 0);
            if (top[i].error + top[i].missed > 0)
                lc_clk_book_node(top[i].node, top[i].error + top[i].missed, LC_STATE_WAIT_MORE,
                                 (uint64_t)i, 0);
        }
        if (top[i].late_rank != lc_clk.rank)
            continue;
        lc_clk_book_node(top[i].late_node, 0, LC_STATE_WAIT_LATE, (uint64_t)i, top[i].late_thread);
        book_spread(&top[i], LC_STATE_WAIT_BLAME_SPREAD, i);
    }
}

static void book_costs(const struct lc_blame_row *top, int n) {
    for (int i = 0; i < n; i++) {
        uint64_t indirect = certain_indirect(&top[i]);
        uint64_t direct = top[i].ticks - top[i].error - indirect;
        if (top[i].late_rank != lc_clk.rank)
            continue;
        lc_clk_book_node(top[i].late_node, direct, LC_STATE_WAIT_COST, (uint64_t)i,
                         top[i].late_thread);
        lc_clk_book_node(top[i].late_node, indirect, LC_STATE_WAIT_PASSED, (uint64_t)i, 0);
        book_spread(&top[i], LC_STATE_WAIT_SPREAD, i);
    }
}

void lc_clk_merge_blame(struct lc_strbuf *facts) {
    struct lc_blame *b = &lc_clk.blame, *other = malloc(sizeof *other),
                    *keyed = calloc(1, sizeof *keyed);
    struct lc_blame_row top[LC_BLAME_KEPT];
    lc_clk_origins_finish();
    if (lc_on_all(other != NULL && keyed != NULL, lc_core.comm) && keyed != NULL && other != NULL) {
        for (uint32_t i = 0; i < b->n; i++) {
            struct lc_blame_row row = b->rows[i];
            row.wait_key = lc_clk_path_hash((uint32_t)row.wait_key);
            lc_blame_add(keyed, &row);
        }
        keyed->gone = b->gone;
        add_up(keyed, other);
        int n = share_top(keyed, top);
        book_blame(top, n);
        add_up(&lc_clk.costs, other);
        n = share_top(&lc_clk.costs, top);
        book_costs(top, n);
        put_costs(&lc_clk.costs, top, n, facts);
    }
    free(other);
    free(keyed);
}

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
        if (rows != NULL && i < room)
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
        const size_t from = i / room;
        const struct lc_fact_pair pair = {.from = (double)from,
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
    if (lc_on_all(rows != NULL && (lc_core.rank != 0 || all != NULL), lc_core.comm)) {
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
