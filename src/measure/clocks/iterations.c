#include "measure/clocks/iterations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "format/state.h"
#include "measure/clocks/blame_merge.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/iteration_statistics.h"
#include "measure/clocks/global_time.h"
#include "measure/core.h"
#include "measure/paths/loops.h"

struct own_loop {
    const struct lc_loop *loop;
    uint64_t key; /* never 0 */
};

enum { FEWEST, STRIDE, HOLDER, N_LEAST }; /* of least[]; of STRIDE the complement */
enum { RUN, BEGIN, END, N_BOUNDS }; /* of bounds[]; RUN (the begin of the run), BEGIN are negated */

struct joined {
    uint64_t key;
    size_t n;        /* iterations (blocks of `stride`), the same on all ranks */
    uint64_t stride; /* visits */
    int holder;      /* the lowest rank that has it */
    int ranks;       /* that have it */
};

/* Who worked longest, as one word that can be compared: ns, then the rank (its last bits). */
enum { RANK_BITS = 20 };

static uint64_t word_of(double useful_s, int rank) {
    double ns = useful_s > 0 ? useful_s * 1e9 : 0;
    return (uint64_t)fmin(ns, 0x1p43) << RANK_BITS | ((uint32_t)rank & ((1u << RANK_BITS) - 1));
}

static size_t list_own(struct own_loop list[LC_LOOPS]) {
    const struct lc_loop *loops[LC_LOOPS];
    uint64_t lost;
    size_t n = lc_loops_found(loops, &lost);
    for (size_t i = 0; i < n; i++) {
        uint64_t before = 0;
        for (size_t k = 0; k < i; k++)
            before += loops[k]->home == loops[i]->home;
        uint64_t key = lc_hash_word(lc_clk_path_hash(loops[i]->home), before);
        list[i] = (struct own_loop){loops[i], key != 0 ? key : 1};
    }
    return n;
}

/* Collective: how many iterations all ranks that have the loop share, and how they count. */
static void agree(const struct own_loop *own, struct joined *joined) {
    uint64_t least[N_LEAST] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, all[N_LEAST];
    int have = own != NULL;
    if (own != NULL) {
        least[STRIDE] = ~own->loop->stride;
        least[HOLDER] = (uint64_t)lc_core.rank;
    }
    lc_real.Allreduce(least, all, N_LEAST, MPI_UINT64_T, MPI_MIN, lc_core.comm);
    joined->stride = ~all[STRIDE]; /* the largest */
    joined->holder = (int)all[HOLDER];
    least[FEWEST] = UINT64_MAX;
    if (own != NULL && own->loop->n_visits > 0) /* strides are powers of two */
        least[FEWEST] = (own->loop->n_visits - 1) * own->loop->stride / joined->stride;
    lc_real.Allreduce(least, all, 1, MPI_UINT64_T, MPI_MIN, lc_core.comm);
    lc_real.Allreduce(&have, &joined->ranks, 1, MPI_INT, MPI_SUM, lc_core.comm);
    joined->n = all[FEWEST] != UINT64_MAX ? (size_t)all[FEWEST] : 0;
}

struct values { /* per iteration; `_all`: over all ranks, on rank 0 */
    double *elapsed, *elapsed_all, *useful, *useful_all;
    uint64_t *most, *most_all;
    double bounds[N_BOUNDS], bounds_all[N_BOUNDS];
};

static bool allocate(struct values *v, size_t n) {
    v->elapsed = calloc(4 * n + 1, sizeof *v->elapsed);
    v->most = calloc(2 * n + 1, sizeof *v->most);
    if (v->elapsed == NULL || v->most == NULL)
        return false;
    v->elapsed_all = v->elapsed + n;
    v->useful = v->elapsed + 2 * n;
    v->useful_all = v->elapsed + 3 * n;
    v->most_all = v->most + n;
    return true;
}

static void fill(const struct own_loop *own, const struct joined *joined,
                 const struct lc_offset_ends *c, struct values *v) {
    double seconds = lc_clk.ns_per_tick * 1e-9;
    v->bounds[RUN] = v->bounds[BEGIN] = v->bounds[END] = -INFINITY;
    if (lc_clk.n_intervals > 0 && lc_clk.cap_intervals > 0)
        v->bounds[RUN] = -lc_clk_global_s(c, lc_clk.intervals[0].begin);
    if (own == NULL)
        return;
    size_t step = (size_t)(joined->stride / own->loop->stride);
    const struct lc_visit *visits = own->loop->visits;
    for (size_t i = 0; i < joined->n; i++) {
        const struct lc_visit *from = &visits[i * step], *to = &visits[(i + 1) * step];
        v->elapsed[i] = (double)(to->begin - from->begin) * seconds;
        v->useful[i] = (double)(to->outside - from->outside) * seconds;
        v->most[i] = word_of(v->useful[i], lc_core.rank);
    }
    v->bounds[BEGIN] = -lc_clk_global_s(c, visits[0].begin);
    v->bounds[END] = lc_clk_global_s(c, visits[joined->n * step].begin);
}

static void put(const struct joined *joined, const struct values *v, size_t number,
                struct lc_strbuf *out) {
    struct lc_iteration_values values = {.n = joined->n,
                                         .ranks = joined->ranks,
                                         .visits = joined->stride,
                                         .elapsed_s = v->elapsed_all,
                                         .useful_s = v->useful_all};
    unsigned long long iterations = (unsigned long long)(joined->n * joined->stride);
    lc_strbuf_printf(out,
                     "{\"found_by\": \"recurring calls\", \"loop\": %zu, \"ranks\": %d, \"count\": "
                     "%llu, \"kept\": %llu, \"start_s\": %.17g, \"elapsed_s\": %.17g, ",
                     number, joined->ranks, iterations, iterations,
                     v->bounds_all[RUN] - v->bounds_all[BEGIN],
                     v->bounds_all[END] + v->bounds_all[BEGIN]);
    double *most = malloc((joined->n + 1) * sizeof *most);
    for (size_t i = 0; most != NULL && i < joined->n; i++)
        most[i] = (double)(v->most_all[i] >> RANK_BITS) * 1e-9;
    int32_t *who = malloc((joined->n + 1) * sizeof *who);
    for (size_t i = 0; who != NULL && i < joined->n; i++)
        who[i] = (int32_t)(v->most_all[i] & ((1u << RANK_BITS) - 1));
    values.most_s = most;
    values.who = who;
    lc_iterations_describe(&values, out);
    free(most);
    free(who);
    lc_strbuf_putc(out, '}');
}

/* Collective. */
static void join(const struct own_loop *own, const struct lc_offset_ends *c, size_t number,
                 struct lc_strbuf *out) {
    struct joined joined = {0};
    struct values v = {0};
    agree(own, &joined);
    int ok = joined.n + 1 >= LC_LOOP_LEAST && allocate(&v, joined.n), all_ok = 0;
    lc_real.Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, lc_core.comm);
    if (all_ok && v.elapsed != NULL && v.most != NULL) {
        fill(own, &joined, c, &v);
        lc_real.Reduce(v.elapsed, v.elapsed_all, (int)joined.n, MPI_DOUBLE, MPI_MAX, 0,
                       lc_core.comm);
        lc_real.Reduce(v.useful, v.useful_all, (int)joined.n, MPI_DOUBLE, MPI_SUM, 0, lc_core.comm);
        lc_real.Reduce(v.most, v.most_all, (int)joined.n, MPI_UINT64_T, MPI_MAX, 0, lc_core.comm);
        lc_real.Reduce(v.bounds, v.bounds_all, N_BOUNDS, MPI_DOUBLE, MPI_MAX, 0, lc_core.comm);
        if (own != NULL && joined.holder == lc_core.rank)
            lc_clk_book_node(own->loop->home, 0, LC_STATE_WAIT_LOOP, number, 0);
        if (lc_core.rank == 0) {
            lc_strbuf_puts(out, number > 0 ? ", " : "");
            put(&joined, &v, number, out);
        }
    }
    free(v.elapsed);
    free(v.most);
}

/* Ranks need not have the same loops: the largest key that is left is next. */
void lc_clk_iterations_put(const struct lc_offset_ends *c, struct lc_strbuf *out) {
    struct own_loop own[LC_LOOPS];
    size_t n = list_own(own), number = 0;
    uint64_t below = UINT64_MAX;
    lc_strbuf_puts(out, ", \"iterations\": [");
    for (size_t k = 0; k < 2 * LC_LOOPS; k++) {
        const struct own_loop *mine = NULL;
        for (size_t i = 0; i < n; i++)
            if (own[i].key < below && (mine == NULL || own[i].key > mine->key))
                mine = &own[i];
        uint64_t key = mine != NULL ? mine->key : 0, next = 0;
        lc_real.Allreduce(&key, &next, 1, MPI_UINT64_T, MPI_MAX, lc_core.comm);
        if (next == 0)
            break;
        size_t length = out->length;
        join(mine != NULL && mine->key == next ? mine : NULL, c, number, out);
        int grew = out->length > length;
        lc_real.Bcast(&grew, 1, MPI_INT, 0, lc_core.comm);
        number += (size_t)grew;
        below = next;
    }
    lc_strbuf_putc(out, ']');
}
