#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#include "measure/clocks/intervals.h"
#include "base/strbuf.h"
#include "format/facts.h"
#include "format/state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/global_time.h"
#include "measure/core/core.h"
#include "measure/callpath/loops.h"
#include "base/stats.h"
#include "base/mem.h"
#include "measure/clocks/call_state.h"

enum { MOST_BLOCKS = 64, MOST_ROWS = 256, MOST_LOOPS = 8 };

static void fill_field(const struct lc_fact_field *f, const double *elapsed_s,
                       const double *waiting_s, double *sums) {
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
    if (lc_on_all(sums != NULL && count > 0, lc_core.comm) && sums != NULL) {
        if (elapsed_s != NULL)
            fill_field(&f, elapsed_s, waiting_s, sums);
        lc_real.Reduce(sums, sums + count, (int)count, MPI_DOUBLE, MPI_SUM, 0, lc_core.comm);
        if (lc_core.rank == 0) {
            size_t begin = lc_facts_begin(facts, LC_FACT_FIELD, &f, sizeof f);
            lc_strbuf_add(facts, (const char *)(sums + count), count * sizeof *sums);
            lc_facts_end(facts, begin);
        }
    }
    free(sums);
}

struct usual {
    double median, limit; /* s; what lies above the limit is unusual */
};

/* Above 1.5 times the median, and beyond what most differ by. */
static struct usual find_usual(const double *v, double *room, size_t n) {
    struct usual usual;
    memcpy(room, v, n * sizeof *v);
    lc_stats_sort(room, n);
    usual.median = lc_stats_quantile_sorted(room, n, 0.5);
    for (size_t i = 0; i < n; i++)
        room[i] = fabs(v[i] - usual.median);
    lc_stats_sort(room, n);
    usual.limit =
        fmax(1.5 * usual.median, usual.median + 6 * lc_stats_quantile_sorted(room, n, 0.5));
    return usual;
}

/* The first iterations, up to a quarter of all, as long as they are unusual. */
static size_t warm_up(const double *v, size_t n, double limit) {
    size_t i = 0;
    while (i < n && v[i] > limit)
        i++;
    return i <= n / 4 ? i : 0;
}

static int larger(const void *a, const void *b) {
    double x = ((const struct lc_iteration_run *)a)->excess_s,
           y = ((const struct lc_iteration_run *)b)->excess_s;
    return (x < y) - (x > y);
}

/* Runs of unusual iterations, the costliest LC_ITERATION_OUTLIERS. */
static size_t find_runs(const double *v, size_t begin, size_t n, const struct usual *usual,
                        struct lc_iteration_run runs[LC_ITERATION_OUTLIERS + 1]) {
    size_t n_runs = 0;
    for (size_t i = begin; i < n; i++) {
        if (v[i] <= usual->limit)
            continue;
        struct lc_iteration_run run = {.from = i};
        for (; i < n && v[i] > usual->limit; i++)
            run.excess_s += v[i] - usual->median;
        run.until = i;
        runs[n_runs++] = run;
        qsort(runs, n_runs, sizeof *runs, larger);
        n_runs = n_runs < LC_ITERATION_OUTLIERS ? n_runs : LC_ITERATION_OUTLIERS;
    }
    return n_runs;
}

/* The rank that most often worked longest there; -1: none in more than half of them. */
static int64_t busiest(const int32_t *who, const struct lc_iteration_run *run) {
    for (size_t i = run->from; i < run->until; i++) {
        size_t same = 0;
        for (size_t k = run->from; k < run->until; k++)
            same += who[k] == who[i];
        if (2 * same > run->until - run->from)
            return who[i];
    }
    return -1;
}

/* Sets median_s, warm_up, n_runs and runs of the loop from the n > 0 times of its iterations and
 * the ranks that worked longest in each. Without memory they stay 0. */
static void lc_iterations_outliers(const double *elapsed_s, const int32_t *who, size_t n,
                                   struct lc_fact_loop *loop) {
    struct lc_iteration_run runs[LC_ITERATION_OUTLIERS + 1];
    double *room = malloc(n * sizeof *room);
    if (room == NULL)
        return;
    struct usual usual = find_usual(elapsed_s, room, n);
    free(room);
    loop->median_s = usual.median;
    loop->warm_up = warm_up(elapsed_s, n, usual.limit);
    loop->n_runs = find_runs(elapsed_s, (size_t)loop->warm_up, n, &usual, runs);
    for (size_t i = 0; i < loop->n_runs; i++) {
        loop->runs[i] = runs[i];
        loop->runs[i].rank = busiest(who, &runs[i]);
    }
}

/* By what a loop of one rank is known to the others. */
struct span {
    uint64_t home;       /* hash of its call path */
    uint64_t visits;     /* how often it came */
    uint64_t number, of; /* which one of the loops of its home, in order of time; all of them */
    double first, last, error; /* global time, s */
};

struct own_loop {
    const struct lc_loop *loop;
    struct span span;
};

#define NONE ((uint64_t)INT64_MAX)        /* for MPI_MIN, as lc_clk_key */
enum { FEWEST, STRIDE, HOLDER, N_LEAST }; /* of least[]; of STRIDE what it is less than NONE */
/* Of bounds[]: begin of the run, negated; of the loop begin, negated, end, and how long a rank was
 * in it; longest chains outside of OpenMP at both. */
enum { RUN, BEGIN, END, LONGEST, CHAIN_BEGIN, CHAIN_END, N_BOUNDS };

struct joined {
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

static size_t list_own(const struct lc_offset_ends *c, struct own_loop list[LC_LOOPS_OPEN],
                       struct lc_loops_left_out *left) {
    const struct lc_loop *loops[LC_LOOPS_OPEN];
    size_t n = lc_loops_found(loops, left);
    for (size_t i = 0; i < n; i++)
        list[i] = (struct own_loop){.loop = loops[i],
                                    .span = {.home = lc_clk_path_hash(loops[i]->home),
                                             .visits = loops[i]->count,
                                             .first = lc_clk_global_s(c, loops[i]->first),
                                             .last = lc_clk_global_s(c, loops[i]->last),
                                             .error = c->error * 1e-9}};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (list[k].span.home == list[i].span.home) {
                list[i].span.of++;
                list[i].span.number += loops[k]->first < loops[i]->first;
            }
    return n;
}

/* Are they one loop, on two ranks? Loops of one function follow each other, and one rank may have
 * more of them than another one, so that the time tells which is which. */
static bool is_at_that_time(const struct span *a, const struct span *b) {
    double both = fmin(a->last, b->last) - fmax(a->first, b->first) + a->error + b->error;
    return a->home == b->home && 2 * both >= fmax(a->last - a->first, b->last - b->first);
}

/* Where ranks wait for nobody in a loop (each writes its part of a file in turn), its time says
 * nothing; but that all of them have as many loops in the function does, and that this one comes as
 * often: the first visit of a site may be that of the code before, and the last that after. */
static bool is_in_that_place(const struct span *a, const struct span *b) {
    enum { ENDS = 2 };
    return a->home == b->home && a->number == b->number && a->of == b->of &&
           a->visits <= b->visits + ENDS && b->visits <= a->visits + ENDS;
}

static size_t find_loop(const struct own_loop *own, size_t n, const struct span *span,
                        bool (*is_same)(const struct span *, const struct span *)) {
    size_t i = 0;
    while (i < n && !is_same(&own[i].span, span))
        i++;
    return i;
}

/* Collective: does some rank that has as many loops in the function as all others have none at the
 * time of this one? `i`: the loop at that time here, `n`: none. */
static bool place_tells(const struct own_loop *own, size_t n, size_t i, const struct span *span) {
    enum { FEWEST_OF, MOST_OF, BY_TIME, N_SAID }; /* MOST_OF: what it is less than NONE */
    uint64_t said[N_SAID] = {NONE, NONE, i < n}, all[N_SAID];
    for (size_t k = 0; k < n; k++)
        if (own[k].span.home == span->home) {
            said[FEWEST_OF] = own[k].span.of;
            said[MOST_OF] = NONE - own[k].span.of;
        }
    if (said[FEWEST_OF] == NONE) /* none in this function, or none is left */
        said[BY_TIME] = 1;
    lc_real.Allreduce(said, all, N_SAID, MPI_UINT64_T, MPI_MIN, lc_core.comm);
    return all[BY_TIME] == 0 && all[FEWEST_OF] == NONE - all[MOST_OF];
}

/* Collective: how many iterations all ranks that have the loop share, and how they count. */
static void agree(const struct own_loop *own, struct joined *joined) {
    uint64_t least[N_LEAST] = {NONE, NONE, NONE}, all[N_LEAST];
    int have = own != NULL;
    if (own != NULL) {
        least[STRIDE] = NONE - own->loop->stride;
        least[HOLDER] = (uint64_t)lc_core.rank;
    }
    lc_real.Allreduce(least, all, N_LEAST, MPI_UINT64_T, MPI_MIN, lc_core.comm);
    joined->stride = NONE - all[STRIDE]; /* the largest */
    joined->holder = (int)all[HOLDER];
    least[FEWEST] = NONE;
    if (own != NULL && own->loop->n_visits > 0) /* strides are powers of two */
        least[FEWEST] = (own->loop->n_visits - 1) * own->loop->stride / joined->stride;
    lc_real.Allreduce(least, all, 1, MPI_UINT64_T, MPI_MIN, lc_core.comm);
    lc_real.Allreduce(&have, &joined->ranks, 1, MPI_INT, MPI_SUM, lc_core.comm);
    joined->n = all[FEWEST] != NONE ? (size_t)all[FEWEST] : 0;
}

enum { SUM_USEFUL, SUM_THREADS, SUM_PROCESS, N_SUM }; /* of sum[] */
enum { MAX_ELAPSED, MAX_CHAIN, N_MAX };               /* of max[] */

/* One list of values per iteration after the other; `_all`: over all ranks, on rank 0. */
struct values {
    double *sum, *sum_all, *max, *max_all, *waiting;
    uint64_t *most, *most_all; /* word_of */
    double bounds[N_BOUNDS], bounds_all[N_BOUNDS];
};

static bool allocate(struct values *v, size_t n) {
    v->sum = calloc((2 * N_SUM + 2 * N_MAX + 1) * n + 1, sizeof *v->sum);
    v->most = calloc(2 * n + 1, sizeof *v->most);
    if (v->sum == NULL || v->most == NULL)
        return false;
    v->sum_all = v->sum + N_SUM * n;
    v->max = v->sum_all + N_SUM * n;
    v->max_all = v->max + N_MAX * n;
    v->waiting = v->max_all + N_MAX * n;
    v->most_all = v->most + n;
    return true;
}

/* What the threads of this process did between two visits: ticks. */
struct done {
    uint64_t useful, most, chain;
    uint32_t threads;
};

/* Of the threads, or of the first one where no more is known, outside of MPI. */
static struct done done_between(const struct lc_visit *from, const struct lc_visit *to, size_t n) {
    uint64_t outside = to->outside - from->outside;
    struct done alone = {outside, outside, outside, 1};
    uint32_t threads = 0;
    for (size_t i = 1; i <= n; i++)
        threads = from[i].threads.n > threads ? from[i].threads.n : threads;
    const struct lc_loop_threads *a = &from->threads, *b = &to->threads;
    if (threads == 0 || a->n == 0 || b->chain < a->chain)
        return alone;
    return (struct done){b->useful - a->useful, b->most - a->most, b->chain - a->chain, threads};
}

static void fill(const struct own_loop *own, const struct joined *joined,
                 const struct lc_offset_ends *c, struct values *v) {
    double seconds = lc_clk.ns_per_tick * 1e-9;
    for (size_t i = 0; i < N_BOUNDS; i++)
        v->bounds[i] = -INFINITY;
    if (lc_clk.n_intervals > 0 && lc_clk.cap_intervals > 0)
        v->bounds[RUN] = -lc_clk_global_s(c, lc_clk.intervals[0].begin);
    if (own == NULL)
        return;
    size_t step = (size_t)(joined->stride / own->loop->stride);
    const struct lc_visit *visits = own->loop->visits;
    for (size_t i = 0; i < joined->n; i++) {
        const struct lc_visit *from = &visits[i * step], *to = &visits[(i + 1) * step];
        struct done done = done_between(from, to, step);
        double *sum = v->sum + i, *max = v->max + i, most = (double)done.most * seconds;
        sum[SUM_USEFUL * joined->n] = (double)done.useful * seconds;
        sum[SUM_THREADS * joined->n] = done.threads;
        sum[SUM_PROCESS * joined->n] = done.threads * most;
        max[MAX_ELAPSED * joined->n] = (double)(to->begin - from->begin) * seconds;
        max[MAX_CHAIN * joined->n] = (double)done.chain * seconds;
        v->waiting[i] = (double)(to->waited - from->waited) * seconds;
        v->most[i] = word_of(most, lc_core.rank);
    }
    v->bounds[BEGIN] = -lc_clk_global_s(c, visits[0].begin);
    v->bounds[END] = lc_clk_global_s(c, visits[joined->n * step].begin);
    v->bounds[LONGEST] = (double)(visits[joined->n * step].begin - visits[0].begin) * seconds;
    v->bounds[CHAIN_BEGIN] = (double)visits[0].threads.outside_omp * seconds;
    v->bounds[CHAIN_END] = (double)visits[joined->n * step].threads.outside_omp * seconds;
}

/* On rank 0: the loop as a fact, with its outliers. */
static void put(const struct joined *joined, const struct values *v, struct lc_fact_loop *loop,
                struct lc_strbuf *facts) {
    size_t n = joined->n;
    double *most = malloc(n * sizeof *most);
    int32_t *who = malloc(n * sizeof *who);
    for (size_t i = 0; most != NULL && who != NULL && i < n; i++) {
        most[i] = (double)(v->most_all[i] >> RANK_BITS) * 1e-9;
        who[i] = (int32_t)(v->most_all[i] & ((1u << RANK_BITS) - 1));
    }
    if (most != NULL && who != NULL) {
        loop->start_s = v->bounds_all[RUN] - v->bounds_all[BEGIN];
        loop->elapsed_s = v->bounds_all[END] + v->bounds_all[BEGIN];
        loop->total_s = v->bounds_all[LONGEST];
        loop->outside_omp_s = v->bounds_all[CHAIN_END] - v->bounds_all[CHAIN_BEGIN];
        lc_iterations_outliers(v->max_all + MAX_ELAPSED * n, who, n, loop);
        const double *const columns[LC_LOOP_COLUMNS] = {
            [LC_LOOP_ELAPSED] = v->max_all + MAX_ELAPSED * n,
            [LC_LOOP_CHAIN] = v->max_all + MAX_CHAIN * n,
            [LC_LOOP_USEFUL] = v->sum_all + SUM_USEFUL * n,
            [LC_LOOP_THREADS] = v->sum_all + SUM_THREADS * n,
            [LC_LOOP_PROCESS] = v->sum_all + SUM_PROCESS * n,
            [LC_LOOP_MOST] = most};
        size_t begin = lc_facts_begin(facts, LC_FACT_LOOP, loop, sizeof *loop);
        for (size_t i = 0; i < LC_LOOP_COLUMNS; i++)
            lc_strbuf_add(facts, (const char *)columns[i], n * sizeof *columns[i]);
        lc_facts_end(facts, begin);
    }
    free(most);
    free(who);
}

/* Mean ticks per kept visit that the code at a node took, in values [from, until) or, `outside`, in
 * all others; as far as it is among the longest of a visit. */
static double mean_of(const struct own_loop *own, size_t n, size_t step, uint32_t node,
                      const struct lc_iteration_run *run, bool outside) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < n * step; i++) {
        bool in = i >= run->from * step && i < run->until * step;
        if (in == outside)
            continue;
        count++;
        for (uint32_t k = 0; k < LC_LOOP_CODES; k++)
            if (own->loop->visits[i].codes[k].node == node)
                sum += (double)own->loop->visits[i].codes[k].ticks;
    }
    return count > 0 ? sum / (double)count : 0;
}

static bool is_among(const uint32_t *nodes, uint32_t n, uint32_t node) {
    uint32_t i = 0;
    while (i < n && nodes[i] != node)
        i++;
    return i < n;
}

/* The code that took longest beyond its usual time there; LC_NONE: not known. */
static uint32_t slow_code(const struct own_loop *own, size_t n, size_t step,
                          const struct lc_iteration_run *run) {
    enum { MOST_VISITS = 64 }; /* of a run that are looked at */
    uint32_t found = LC_NONE, nodes[MOST_VISITS * LC_LOOP_CODES], n_nodes = 0;
    double most = 0;
    for (size_t i = run->from * step; i < run->until * step && i < run->from * step + MOST_VISITS;
         i++)
        for (uint32_t k = 0; k < LC_LOOP_CODES; k++) {
            const struct lc_loop_code *code = &own->loop->visits[i].codes[k];
            if (code->ticks <= 0 || is_among(nodes, n_nodes, code->node))
                continue;
            nodes[n_nodes++] = code->node;
            double excess = mean_of(own, n, step, code->node, run, false) -
                            mean_of(own, n, step, code->node, run, true);
            if (excess > most) {
                most = excess;
                found = code->node;
            }
        }
    return found;
}

/* Collective: ranks that were longest in slow iterations name the code. */
static void name_slow(const struct own_loop *own, const struct joined *joined,
                      struct lc_fact_loop *loop) {
    lc_real.Bcast(&loop->n_runs, 1, MPI_UINT64_T, 0, lc_core.comm);
    lc_real.Bcast(loop->runs, (int)(loop->n_runs * sizeof *loop->runs), MPI_BYTE, 0, lc_core.comm);
    for (size_t i = 0; own != NULL && i < loop->n_runs; i++) {
        const struct lc_iteration_run *run = &loop->runs[i];
        uint32_t node =
            run->rank == lc_core.rank
                ? slow_code(own, joined->n, (size_t)(joined->stride / own->loop->stride), run)
                : LC_NONE;
        if (node != LC_NONE)
            lc_clk_book_node(node, 0, LC_STATE_WAIT_SLOW, loop->number * LC_ITERATION_OUTLIERS + i,
                             0);
    }
}

/* Collective. */
static void join(const struct own_loop *own, const struct lc_offset_ends *c, size_t number,
                 struct lc_strbuf *facts) {
    struct joined joined = {0};
    struct values v = {0};
    agree(own, &joined);
    struct lc_fact_loop loop = {
        .number = number, .n = joined.n, .stride = joined.stride, .ranks = joined.ranks};
    bool ok = joined.n + 1 >= LC_LOOP_LEAST && allocate(&v, joined.n);
    if (lc_on_all(ok, lc_core.comm) && v.sum != NULL && v.most != NULL) {
        fill(own, &joined, c, &v);
        lc_real.Reduce(v.max, v.max_all, (int)(N_MAX * joined.n), MPI_DOUBLE, MPI_MAX, 0,
                       lc_core.comm);
        lc_real.Reduce(v.sum, v.sum_all, (int)(N_SUM * joined.n), MPI_DOUBLE, MPI_SUM, 0,
                       lc_core.comm);
        lc_real.Reduce(v.most, v.most_all, (int)joined.n, MPI_UINT64_T, MPI_MAX, 0, lc_core.comm);
        lc_real.Reduce(v.bounds, v.bounds_all, N_BOUNDS, MPI_DOUBLE, MPI_MAX, 0, lc_core.comm);
        lc_iterations_put_ranks(own != NULL ? v.max + MAX_ELAPSED * joined.n : NULL, v.waiting,
                                joined.n, (size_t)joined.stride, facts);
        if (own != NULL && joined.holder == lc_core.rank)
            lc_clk_book_node(own->loop->home, 0, LC_STATE_WAIT_LOOP, number, 0);
        if (lc_core.rank == 0)
            put(&joined, &v, &loop, facts);
        name_slow(own, &joined, &loop);
    }
    free(v.sum);
    free(v.most);
}

static uint64_t largest_of_all(uint64_t value) {
    uint64_t largest = 0;
    lc_real.Allreduce(&value, &largest, 1, MPI_UINT64_T, MPI_MAX, lc_core.comm);
    return largest;
}

static uint64_t covers_ns(const struct own_loop *own) {
    return lc_clk_ns_of(lc_loop_covers(own->loop));
}

/* What the one that covers most does: nanoseconds, as ticks of two nodes may differ. */
static uint64_t most_covered_ns(const struct own_loop *own, size_t n) {
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = covers_ns(&own[i]) > most ? covers_ns(&own[i]) : most;
    return most;
}

/* Collective: ranks need not have the same loops; next is the one that covers most on any rank.
 * Takes it from the list, or none (loop NULL) where this rank has not found it; false: none is left
 * on any rank. */
static bool take_next(struct own_loop *own, size_t *n, struct own_loop *taken) {
    uint64_t mine = *n > 0 ? most_covered_ns(own, *n) + 1 : 0, most = largest_of_all(mine);
    *taken = (struct own_loop){.loop = NULL};
    if (most == 0)
        return false;
    int holder = mine == most ? lc_core.rank : lc_core.size, first = 0;
    lc_real.Allreduce(&holder, &first, 1, MPI_INT, MPI_MIN, lc_core.comm);
    size_t i = 0;
    while (i < *n && first == lc_core.rank && covers_ns(&own[i]) + 1 < most)
        i++;
    struct span span = first == lc_core.rank ? own[i].span : (struct span){0};
    lc_real.Bcast(&span, (int)sizeof span, MPI_BYTE, first, lc_core.comm);
    if (first != lc_core.rank)
        i = find_loop(own, *n, &span, is_at_that_time);
    if (place_tells(own, *n, i, &span) && first != lc_core.rank) {
        size_t placed = find_loop(own, *n, &span, is_in_that_place);
        i = placed < *n ? placed : i;
    }
    if (i < *n) {
        *taken = own[i];
        own[i] = own[--*n];
    }
    return true;
}

/* Collective: of the rank that has left out most. */
static void put_left_out(const struct own_loop *own, size_t n, const struct lc_loops_left_out *left,
                         struct lc_strbuf *facts) {
    uint64_t here = most_covered_ns(own, n), before = lc_clk_ns_of(left->ticks), all[3];
    uint64_t most[] = {left->n + n, here > before ? here : before, left->unwatched};
    lc_real.Allreduce(most, all, 3, MPI_UINT64_T, MPI_MAX, lc_core.comm);
    struct lc_fact_left_out fact = {
        .loops = all[0], .most_s = 1e-9 * (double)all[1], .unwatched = all[2]};
    if (lc_core.rank == 0 && (fact.loops > 0 || fact.unwatched > 0))
        lc_facts_put(facts, LC_FACT_LEFT_OUT, &fact, sizeof fact);
}

void lc_clk_iterations_put(const struct lc_offset_ends *c, struct lc_strbuf *facts) {
    struct own_loop own[LC_LOOPS_OPEN], taken;
    struct lc_loops_left_out left;
    size_t n = list_own(c, own, &left), number = 0;
    for (size_t k = 0; number < MOST_LOOPS && k < LC_LOOPS_OPEN && take_next(own, &n, &taken);
         k++) {
        size_t length = facts->length;
        join(taken.loop != NULL ? &taken : NULL, c, number, facts);
        number += lc_on_first(facts->length > length);
    }
    put_left_out(own, n, &left, facts);
}

/* Threads that work write them. */
#define NOT_SANITIZED __attribute__((no_sanitize("thread")))

/* Since its last event; 0: in a call, or in the OpenMP runtime. The first thread, which looks, is
 * at the begin of one. */
static NOT_SANITIZED uint64_t working(const struct lc_clk_thread *k, uint64_t now) {
    bool between = k == lc_clk.threads || (k->thread != NULL && k->thread->depth == 0);
    return between && !k->in_runtime && now > k->l.last ? now - k->l.last : 0;
}

NOT_SANITIZED void lc_clk_iteration_visit(struct lc_loop *loop, uint64_t now) {
    const struct lc_clk_thread *first = lc_clk.threads;
    struct lc_loop_threads *sums = &loop->threads;
    uint64_t most = 0;
    sums->n = 0;
    if (first == NULL || first->l.interval == 0)
        return;
    sums->outside_omp = (first->in_runtime ? first->in_runtime : now) - first->l.origin;
    if (lc_clk.backlog || (first->next == NULL && lc_clk.phase_chain == NULL))
        return;
    for (const struct lc_clk_thread *k = first; k != NULL; k = k->next) {
        if (k->index >= loop->cap_useful &&
            lc_grow(&loop->useful, &loop->cap_useful, k->index + 1u, sizeof *loop->useful) != LC_OK)
            continue;
        uint64_t useful = k->l.own + working(k, now), before = loop->useful[k->index];
        uint64_t more = useful > before ? useful - before : 0;
        loop->useful[k->index] = useful; /* less than before: in another interval */
        sums->useful += more;
        sums->n += more > 0;
        most = more > most ? more : most;
    }
    sums->most += most;
    sums->chain = first->l.process + working(first, now);
}
