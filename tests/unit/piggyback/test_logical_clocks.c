/* Logical clocks and their vectors: growth, maxima at edges, vectors that travel, overflow,
 * overwritten versions, blame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../first_seed.h"
#include "piggyback/blame.h"
#include "piggyback/logical.h"

static struct lc_area make_area(uint32_t rank) {
    struct lc_area area;
    size_t bytes = lc_area_size(2);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    lc_area_init(&area, memory, bytes, rank, 2);
    return area;
}

static uint64_t sum(struct lc_cpvec *vec) {
    lc_cpvec_fold(vec);
    uint64_t s = vec->other;
    for (uint32_t i = 0; i < vec->n; i++)
        s += vec->items[i].ticks;
    return s;
}

static uint64_t item(struct lc_cpvec *vec, uint32_t rank, uint32_t node) {
    lc_cpvec_fold(vec);
    for (uint32_t i = 0; i < vec->n; i++)
        if (vec->items[i].key == ((uint64_t)rank << 32 | node))
            return vec->items[i].ticks;
    return 0;
}

static struct lc_logical a, b;

static void start(struct lc_area *area_a, struct lc_area *area_b, uint64_t now) {
    *area_a = make_area(0);
    *area_b = make_area(1);
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    b.rank = 1;
    lc_cpvec_init(&a.vec, area_a, 0, 0);
    lc_cpvec_init(&b.vec, area_b, 0, 0);
    lc_logical_begin(&a, 1, now);
    lc_logical_begin(&b, 1, now);
}

/* a works 10 in node 5, sends; b works 3 in node 6, receives, works 4 in node 7: b's chain is 10
 * + 4. */
static void one_edge(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp stamp;
    start(&area_a, &area_b, 100);
    lc_logical_useful(&a, 110, 5);
    lc_logical_stamp(&a, 110, &stamp);
    assert_int_equal(stamp.useful, 10);
    assert_int_equal(stamp.outside_omp, 10);
    lc_logical_useful(&b, 103, 6);
    lc_logical_take(&b, &stamp, 112, &area_a);
    b.last = 112;
    lc_logical_useful(&b, 116, 7);
    assert_int_equal(b.useful, 14);
    assert_int_equal(b.own, 7);
    assert_int_equal(item(&b.vec, 0, 5), 10);
    assert_int_equal(item(&b.vec, 1, 7), 4);
    assert_int_equal(item(&b.vec, 1, 6), 0);
    assert_int_equal(sum(&b.vec), b.useful);
    /* a slower sender does not win */
    a.last = 110;
    lc_logical_useful(&a, 112, 5);
    lc_logical_stamp(&a, 112, &stamp);
    lc_logical_take(&b, &stamp, 117, &area_a);
    assert_int_equal(b.useful, 14);
    /* nor does one of another interval */
    stamp.useful = 1000;
    stamp.interval = 2;
    lc_logical_take(&b, &stamp, 117, &area_a);
    assert_int_equal(b.useful, 14);
}

/* A call ended at 100, and the program is taken to go on at 110; it does at 104, and works until
 * 120. */
static void went_on_sooner(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    start(&area_a, &area_b, 0);
    lc_logical_useful(&a, 60, 5);
    a.in_mpi = 40;
    a.last = 110;
    a.skipped = a.own_in_calls = 10;
    lc_logical_back_to(&a, 104);
    assert_int_equal(a.own_in_calls, 4);
    lc_logical_useful(&a, 120, 5);
    assert_int_equal(a.useful, 60 + 16);
    assert_int_equal(a.last - a.begin, a.useful + a.in_mpi + a.skipped);
    lc_logical_back_to(&a, 120); /* nothing was early */
    assert_int_equal(a.skipped, 4);
    lc_logical_back_to(&a, 0); /* nor by more than such work */
    assert_int_equal(a.last, 116);
    assert_int_equal(a.skipped, 0);

    a.in_mpi += 4; /* another one; work of OpenMP's ends before it is over, and at 126 */
    a.last = 130;
    a.skipped = a.own_in_calls = 10;
    lc_logical_useful(&a, 122, 5);
    assert_int_equal(a.own_in_calls, 2);
    lc_logical_useful(&a, 126, 5);
    assert_int_equal(a.useful, 76 + 4);
    assert_int_equal(a.last - a.begin, a.useful + a.in_mpi + a.skipped);
}

static void overflow(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    start(&area_a, &area_b, 0);
    uint64_t now = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t node = rand() % 3 ? (uint32_t)rand() % 4 : (uint32_t)rand() % 500;
        now += 10;
        lc_logical_useful(&a, now, node);
        assert_int_equal(sum(&a.vec), a.useful);
    }
    assert_int_equal(a.vec.n, LC_CP_ITEMS);
    for (uint32_t node = 0; node < 4; node++)
        assert_true(item(&a.vec, 0, node) > 20000);
}

/* An edge that does not win changes neither clock nor vector, whether or not the version that the
 * vector continues is named; one that wins sets all of them. */
static void behind(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp stamp, later;
    start(&area_a, &area_b, 0);
    lc_logical_useful(&a, 50, 5);
    lc_logical_stamp(&a, 50, &stamp);
    lc_logical_take(&b, &stamp, 60, &area_a); /* b continues a's version */
    b.last = 60;
    lc_logical_useful(&b, 100, 7);
    assert_int_equal(b.useful, 90);
    assert_true(lc_cpvec_continues(&b.vec, &area_a, &stamp));
    uint64_t origin = b.origin;
    lc_logical_take(&b, &stamp, 110, &area_a);
    assert_int_equal(b.useful, 90);
    assert_int_equal(b.origin, origin);
    assert_int_equal(b.vec.n_recent, 1); /* own work */
    assert_int_equal(b.vec.recent[0].ticks, 40);
    a.grain = 1000; /* no new version */
    lc_logical_useful(&a, 150, 6);
    lc_logical_stamp(&a, 150, &later);
    assert_int_equal(later.vector, stamp.vector);
    assert_true(lc_cpvec_continues(&b.vec, &area_a, &later));
    lc_logical_take(&b, &later, 160, &area_a);
    assert_int_equal(b.useful, 150);
    assert_int_equal(item(&b.vec, 0, 5), 50);
    assert_int_equal(item(&b.vec, 0, 6), 100);
    assert_int_equal(item(&b.vec, 1, 7), 0);
    assert_int_equal(sum(&b.vec), 150);
}

/* A thread that has ended leaves its circle to another one: what it published is found there until
 * that one has published as often as there is room. */
static void after_another(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp ended, stamp;
    static struct lc_logical next, third;
    start(&area_a, &area_b, 0);
    lc_logical_useful(&a, 50, 5);
    lc_logical_stamp(&a, 50, &ended);
    memset(&next, 0, sizeof next);
    lc_cpvec_init_after(&next.vec, &a.vec, 0);
    lc_logical_begin(&next, 1, 50);
    assert_int_equal(lc_cpvec_publish(&a.vec), 0);
    lc_logical_useful(&next, 80, 6);
    lc_logical_stamp(&next, 80, &stamp);
    assert_true(stamp.vector != ended.vector);
    lc_logical_take(&b, &ended, 90, &area_a);
    assert_int_equal(b.vec.n_overwritten, 0);
    assert_int_equal(item(&b.vec, 0, 5), 50);
    memset(&third, 0, sizeof third);
    lc_cpvec_init(&third.vec, NULL, 0, 0);
    lc_logical_begin(&third, 1, 80);
    lc_logical_take(&third, &stamp, 90, &area_a);
    assert_int_equal(item(&third.vec, 0, 6), 30);
    for (int i = 0; i < LC_CP_VERSIONS; i++) {
        next.vec.base = 0; /* a whole one each time */
        lc_cpvec_publish(&next.vec);
    }
    lc_logical_begin(&b, 1, 100);
    lc_logical_take(&b, &ended, 110, &area_a);
    assert_int_equal(b.vec.n_overwritten, 1);
}

/* A sender that published many versions since: the latest one, scaled to the clock of the stamp. */
static void overwritten(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp first, other;
    start(&area_a, &area_b, 0);
    lc_logical_useful(&a, 1000, 5);
    lc_logical_useful(&a, 3000, 6);
    lc_logical_stamp(&a, 3000, &first);
    for (uint64_t i = 1; i <= 2 * LC_CP_VERSIONS; i++) {
        a.vec.base = 0; /* a whole one each time */
        lc_logical_useful(&a, 3000 + i, 6);
        lc_logical_stamp(&a, 3000 + i, &other);
    }
    lc_logical_take(&b, &first, 4000, &area_a);
    assert_int_equal(b.useful, 3000);
    assert_int_equal(b.vec.n_overwritten, 1);
    assert_int_equal(sum(&b.vec), 3000);
    assert_in_range(item(&b.vec, 0, 5), 950, 1000);
    assert_in_range(item(&b.vec, 0, 6), 2000, 2050);
}

/* The sender l, which has worked in `node` until now, is heard by the other, whose clock is behind
 * and becomes the same. */
static void pass_on(struct lc_logical *l, uint64_t now, uint32_t node, const struct lc_area *area,
                    struct lc_logical *to) {
    struct lc_stamp stamp;
    lc_logical_useful(l, now, node);
    lc_logical_stamp(l, now, &stamp);
    lc_logical_take(to, &stamp, now, area);
    to->last = now;
}

/* Two ranks take turns in few nodes each: all of their path is known, and whole versions are
 * published where the nodes are others than before only. */
static void deltas(void **state) {
    (void)state;
    enum { TURNS = 600, NODES = 3, PARTS = 3 };
    uint64_t right[2][NODES * PARTS] = {{0}}, now = 0;
    struct lc_area areas[2];
    start(&areas[0], &areas[1], 0);
    struct lc_logical *l[2] = {&a, &b};
    for (uint32_t i = 0; i < 2; i++)
        lc_cpvec_know(&l[i]->vec, areas, 2);
    for (uint32_t i = 0; i < TURNS; i++) {
        uint32_t rank = i % 2, node = i * PARTS / TURNS * NODES + i / 2 % NODES;
        uint64_t ticks = 5 + i % 7;
        right[rank][node] += ticks;
        pass_on(l[rank], now += ticks, node, &areas[rank], l[1 - rank]);
        assert_int_equal(l[1 - rank]->useful, now);
    }
    assert_in_range(a.vec.next + b.vec.next, 1, TURNS / 10);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(l[i]->vec.n_overwritten, 0);
        assert_int_equal(sum(&l[i]->vec), now);
        for (uint32_t k = 0; k < 2 * NODES * PARTS; k++)
            assert_int_equal(item(&l[i]->vec, k % 2, k / 2), right[k % 2][k / 2]);
    }
}

/* Shares of both vectors once what is not known is spread: within 4 standard errors of `right`. */
static void spread(struct lc_logical *l, uint64_t now, const double *right, uint32_t n) {
    static const struct lc_cp_kept none;
    double windows = (double)lc_cpvec_spread(&l->vec, &none) / (double)(1u << l->lot);
    assert_int_equal(sum(&l->vec), now);
    assert_int_equal(l->vec.other * 1000 / now, 0);
    for (uint32_t k = 0; k < 2 * n; k++) {
        double share = (double)item(&l->vec, k / n, k % n) / (double)now;
        double error = 4 * 0.5 / sqrt(windows);
        assert_true(share > right[k] - error && share < right[k] + error);
    }
}

/* Both begin, and vectors are noted in windows of 2^lot that are drawn. */
static void draw(struct lc_area areas[2], uint32_t lot) {
    start(&areas[0], &areas[1], 0);
    lc_cpvec_know(&a.vec, areas, 2);
    lc_cpvec_know(&b.vec, areas, 2);
    a.lot = b.lot = lot;
}

/* As in `deltas`, but in windows that are drawn only: few vectors are published, and the rest of
 * the path is not known. */
static void drawn(void **state) {
    (void)state;
    enum { TURNS = 200000, NODES = 3, LOT = 9 };
    double right[2 * NODES] = {0};
    uint64_t now = 0, published;
    struct lc_area areas[2];
    struct lc_logical *l[2] = {&a, &b};
    draw(areas, LOT);
    for (uint32_t i = 0; i < TURNS; i++) {
        uint32_t rank = i % 2, node = i / 2 % NODES;
        uint64_t ticks = 5 + i % 7 + (node == 1 ? 20 : 0);
        right[rank * NODES + node] += (double)ticks;
        pass_on(l[rank], now += ticks, node, &areas[rank], l[1 - rank]);
        assert_int_equal(l[1 - rank]->useful, now);
    }
    published = a.vec.next + a.vec.next_delta + b.vec.next + b.vec.next_delta;
    assert_in_range(published, TURNS / 16, TURNS / 4);
    for (uint32_t k = 0; k < 2 * NODES; k++)
        right[k] /= (double)now;
    for (uint32_t i = 0; i < 2; i++)
        spread(l[i], now, right, NODES);
}

/* Two ranks work at the same time, by turns one of them longer, and hear each other: all of the
 * path is in the longer work (node 1). */
static void drawn_of_longer(void **state) {
    (void)state;
    enum { ROUNDS = 100000, LONG = 20, SHORT = 10, LOT = 10 };
    static const double right[4] = {0, 0.5, 0, 0.5};
    struct lc_area areas[2];
    struct lc_stamp stamp[2];
    struct lc_logical *l[2] = {&a, &b};
    draw(areas, LOT);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        for (uint32_t rank = 0; rank < 2; rank++) {
            bool longer = i % 2 == rank;
            l[rank]->last = i * LONG;
            lc_logical_useful(l[rank], i * LONG + (longer ? LONG : SHORT), longer);
            lc_logical_stamp(l[rank], i * LONG + (longer ? LONG : SHORT), &stamp[rank]);
        }
        for (uint32_t rank = 0; rank < 2; rank++) {
            lc_logical_take(l[rank], &stamp[1 - rank], (i + 1) * LONG, &areas[1 - rank]);
            assert_int_equal(l[rank]->useful, (i + 1) * LONG);
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        spread(l[i], ROUNDS * LONG, right, 2);
}

/* What was noted before counts as it is; only what came since is spread. */
static void spread_since(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_cp_kept kept;
    start(&area_a, &area_b, 0);
    lc_cpvec_add(&a.vec, 5, 100);
    lc_cpvec_add(&a.vec, 6, 10);
    lc_cpvec_keep(&a.vec, &kept);
    lc_cpvec_add(&a.vec, 6, 10);
    lc_cpvec_add(&a.vec, 7, 30);
    lc_cpvec_add(&a.vec, LC_CP_UNKNOWN, 100);
    assert_int_equal(lc_cpvec_spread(&a.vec, &kept), 40);
    assert_int_equal(item(&a.vec, 0, 5), 100);
    assert_int_equal(item(&a.vec, 0, 6), 45);
    assert_int_equal(item(&a.vec, 0, 7), 105);
    assert_int_equal(sum(&a.vec), 250);
    lc_cpvec_keep(&a.vec, &kept);
    lc_cpvec_add(&a.vec, LC_CP_UNKNOWN, 50); /* nothing was drawn: no item has it */
    assert_int_equal(lc_cpvec_spread(&a.vec, &kept), 0);
    assert_int_equal(a.vec.other, 50);
    assert_int_equal(sum(&a.vec), 300);
}

/* What a delta was added to is not there any more: the latest whole version of the same thread,
 * scaled to the clock. */
static void delta_of_lost(void **state) {
    (void)state;
    struct lc_area areas[2];
    struct lc_stamp stamp, other;
    start(&areas[0], &areas[1], 0);
    lc_cpvec_know(&b.vec, areas, 2);
    pass_on(&a, 2000, 5, &areas[0], &b); /* b's path is a's now */
    lc_logical_useful(&b, 2100, 7);
    lc_logical_stamp(&b, 2100, &stamp);
    assert_int_equal(b.vec.next, 0); /* it has no whole version of its own */
    static struct lc_logical c;
    memset(&c, 0, sizeof c);
    c.rank = 1;
    lc_cpvec_init(&c.vec, NULL, 0, 0);
    lc_cpvec_know(&c.vec, areas, 2);
    lc_logical_begin(&c, 1, 0);
    lc_logical_take(&c, &stamp, 2100, &areas[1]);
    assert_int_equal(c.vec.n_overwritten, 0);
    assert_int_equal(item(&c.vec, 0, 5), 2000);
    assert_int_equal(item(&c.vec, 1, 7), 100);
    for (uint64_t i = 1; i <= LC_CP_VERSIONS; i++) {
        a.vec.base = 0;
        lc_logical_useful(&a, 2000 + i, 6);
        lc_logical_stamp(&a, 2000 + i, &other);
    }
    lc_logical_begin(&c, 1, 0);
    lc_logical_take(&c, &stamp, 2100, &areas[1]);
    assert_int_equal(c.vec.n_overwritten, 1);
    assert_int_equal(sum(&c.vec), 2100);
    assert_int_equal(item(&c.vec, 0, 5), 2000);
    assert_int_equal(item(&c.vec, 0, 6), LC_CP_VERSIONS);
}

/* Scenarios keep their own maxima: with node 5 at half, b's chain through a is 5 + 4 < its own 8.
 */
static void what_if(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp stamp;
    const float half = 0.5f, one = 1;
    start(&area_a, &area_b, 0);
    a.vec.n_whatif = b.vec.n_whatif = 1;
    lc_logical_useful(&a, 10, 5);
    lc_logical_whatif(&a, 10, &half);
    lc_logical_stamp(&a, 10, &stamp);
    lc_logical_useful(&b, 8, 6);
    lc_logical_whatif(&b, 8, &one);
    lc_logical_take(&b, &stamp, 11, &area_a);
    assert_int_equal(b.useful, 10);
    assert_int_equal(b.vec.whatif[0], 8);
    assert_int_equal(b.vec.n_whatif_lost, 1); /* a published no clocks */
}

/* What-if clocks are there after many more versions than vectors are kept for; not after all. */
/* Clocks that begin in the run: what was sent before has none, and none is missed. */
static void what_if_begins(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp before, after, later;
    start(&area_a, &area_b, 1000);
    lc_logical_useful(&a, 1010, 5);
    lc_logical_stamp(&a, 1010, &before);
    assert_true(lc_cpvec_whatif_room(&a.vec, &area_a));
    assert_true(lc_cpvec_whatif_room(&b.vec, &area_b));
    lc_cpvec_whatif_begin(&a.vec, 1);
    lc_cpvec_whatif_begin(&b.vec, 1);
    a.vec.whatif[0] = b.vec.whatif[0] = a.useful;
    lc_logical_take(&b, &before, 1020, &area_a);
    assert_int_equal(b.vec.n_whatif_lost, 0);
    for (int i = 0; i < 3; i++) { /* again, with another number */
        float twice = 2;
        lc_logical_useful(&a, 1020 + 10 * (uint64_t)i, 5);
        lc_logical_whatif(&a, 10, &twice);
        lc_logical_stamp(&a, 1020 + 10 * (uint64_t)i, &after);
        lc_logical_take(&b, &after, 1050, &area_a);
        assert_int_equal(b.vec.whatif[0], 10 + 20 * (uint64_t)(i + 1));
    }
    b.vec.whatif[0] = 30;
    lc_cpvec_whatif_begin(&a.vec, 1); /* a clock begins anew, for b later than for a: */
    a.vec.whatif[0] = 40;
    lc_logical_take(&b, &after, 1060, &area_a);
    assert_int_equal(b.vec.whatif[0], 70);
    lc_logical_useful(&a, 1070, 5);
    lc_logical_stamp(&a, 1070, &later);
    lc_logical_take(&b, &later, 1080, &area_a);
    assert_int_equal(b.vec.whatif[0], 70);
    assert_int_equal(b.vec.n_whatif_lost, 1); /* that cannot be */
    lc_cpvec_whatif_begin(&b.vec, 1);
    b.vec.whatif[0] = 20;
    lc_logical_take(&b, &after, 1090, &area_a);
    assert_int_equal(b.vec.whatif[0], 20);
    lc_logical_take(&b, &later, 1090, &area_a);
    assert_int_equal(b.vec.whatif[0], 40);
    lc_cpvec_whatif_begin(&b.vec, 1); /* for a later than for b: what a publishes has none for it */
    b.vec.whatif[0] = 20;
    lc_logical_useful(&a, 1100, 5);
    lc_logical_stamp(&a, 1100, &later);
    lc_logical_take(&b, &later, 1110, &area_a);
    assert_int_equal(b.vec.whatif[0], 20);
    assert_int_equal(b.vec.n_whatif_lost, 1);
}

static void what_if_far_ahead(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp first, other;
    const float twice = 2;
    start(&area_a, &area_b, 0);
    area_a = make_area(0);
    lc_cpvec_init(&a.vec, &area_a, 0, 1);
    b.vec.n_whatif = 1;
    lc_logical_useful(&a, 10, 5);
    lc_logical_whatif(&a, 10, &twice);
    lc_logical_stamp(&a, 10, &first);
    for (uint64_t i = 1; i <= 100 * LC_CP_VERSIONS; i++) {
        lc_logical_useful(&a, 10 + i, 6);
        lc_logical_whatif(&a, 1, &twice);
        lc_logical_stamp(&a, 10 + i, &other);
    }
    lc_logical_take(&b, &first, 7000, &area_a);
    assert_int_equal(b.vec.whatif[0], 20);
    assert_int_equal(b.vec.n_whatif_lost, 0);
    lc_logical_take(&b, &other, 7000, &area_a);
    assert_int_equal(b.vec.whatif[0], 2 * a.useful);
    for (uint64_t i = 1; i <= LC_WHATIF_VERSIONS; i++) {
        lc_logical_useful(&a, 7000 + i, 6);
        lc_logical_stamp(&a, 7000 + i, &first);
    }
    lc_logical_take(&b, &other, 7000, &area_a);
    assert_int_equal(b.vec.n_whatif_lost, 1);
}

/* The clock of a phase stays in it. */
static void other_phase(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp stamp;
    start(&area_a, &area_b, 0);
    a.phase = 1;
    lc_logical_useful(&a, 100, 5);
    lc_logical_stamp(&a, 100, &stamp);
    lc_logical_take(&b, &stamp, 101, &area_a);
    assert_int_equal(b.useful, 100);
    assert_int_equal(b.phase_useful, 0);
    b.phase = 1;
    lc_logical_take(&b, &stamp, 102, &area_a);
    assert_int_equal(b.phase_useful, 100);
}

/* An edge that is known late counts as if it had come in time, in all clocks. */
static void late_edge(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp stamp;
    struct lc_logical_since since;
    const float half = 0.5f, one = 1;
    start(&area_a, &area_b, 0);
    a.vec.n_whatif = 0;
    area_a = make_area(0);
    lc_cpvec_init(&a.vec, &area_a, 0, 1);
    b.vec.n_whatif = 1;
    lc_logical_useful(&a, 100, 5);
    lc_logical_whatif(&a, 100, &half);
    lc_logical_stamp(&a, 100, &stamp);
    lc_logical_useful(&b, 80, 6);
    lc_logical_whatif(&b, 80, &one);
    lc_logical_mark(&b, &since);
    b.last = 101;
    lc_logical_useful(&b, 105, 7);
    lc_logical_useful(&b, 111, 8);
    lc_logical_whatif(&b, 10, &one);
    lc_logical_rewind(&b, &since);
    assert_int_equal(b.useful, 80);
    lc_logical_take(&b, &stamp, 101, &area_a);
    const struct lc_logical_done done[2] = {{9, 80}, {7, 84}}; /* the first before the mark */
    lc_logical_forward(&b, &since, true, done, 2);
    assert_int_equal(b.useful, 110);
    assert_int_equal(b.own, 90);
    assert_int_equal(b.vec.whatif[0], 90); /* 80 > 50 */
    assert_int_equal(item(&b.vec, 0, 5), 100);
    assert_int_equal(item(&b.vec, 1, 7), 4);
    assert_int_equal(item(&b.vec, 1, 8), 6);
    assert_int_equal(item(&b.vec, 1, 9), 0);
    assert_int_equal(sum(&b.vec), b.useful);
}

static void blame(void **state) {
    (void)state;
    enum { LIGHT = 5000 };
    struct lc_blame *t = calloc(2, sizeof *t);
    uint64_t *light = calloc(LIGHT, sizeof *light), total = 0;
    for (int i = 0; i < 50000; i++) {
        struct lc_blame_row row = {.wait_key = (uint64_t)(rand() % 3),
                                   .late_rank = (uint32_t)rand() % 2,
                                   .late_thread = (uint32_t)rand() % 2,
                                   .late_node = 1,
                                   .ticks = 100};
        if (i % 4 == 0) {
            row = (struct lc_blame_row){
                .wait_key = (uint64_t)rand() % LIGHT, .late_rank = 9, .late_node = 2, .ticks = 3};
            light[row.wait_key] += row.ticks;
        }
        total += row.ticks;
        lc_blame_add(&t[i & 1], &row);
    }
    lc_blame_merge(&t[0], &t[1]);
    uint64_t sums = 0;
    for (uint32_t i = 0; i < t[0].n; i++) {
        const struct lc_blame_row *row = &t[0].rows[i];
        sums += row->ticks;
        if (row->late_rank == 9) /* what is said to be certain is */
            assert_true(row->ticks - row->error <= light[row->wait_key]);
    }
    assert_int_equal(sums, total);
    lc_blame_sort(&t[0]);
    for (uint32_t i = 0; i < 12; i++) { /* 3 * 2 * 2 heavy rows first, nearly exact */
        assert_true(t[0].rows[i].late_rank < 2);
        assert_true(t[0].rows[i].ticks - t[0].rows[i].error > 280000);
    }
    free(light);
    free(t);
}

/* Of 10 + 30 ticks, 30 of which were booked as costs, 30 are taken back with these costs; no more
 * than what is certain can be, and in a full table no row gets smaller than those that had to go
 * may have been. */
static void blame_taken_back(void **state) {
    (void)state;
    struct lc_blame *t = calloc(1, sizeof *t);
    uint64_t traced = 0;
    lc_blame_add_own(t, 0, 1, 5, 7, 10);
    lc_blame_add_own(t, 0, 1, 5, 7, 30);
    lc_blame_add(t,
                 &(struct lc_blame_row){
                     .wait_key = 1, .late_rank = 5, .late_node = 7, .traced = 30, .squares = -900});
    assert_false(lc_blame_take(t, 1, 6, 7, 30, &traced));
    assert_false(lc_blame_take(t, 1, 5, 7, 41, &traced));
    assert_true(lc_blame_take(t, 1, 5, 7, 30, &traced));
    assert_int_equal(traced, 20); /* what is left of the row is traced */
    assert_int_equal(t->rows[0].ticks, 10);
    assert_int_equal(t->rows[0].traced, 10);
    for (uint32_t i = 0; i < 2 * LC_BLAME_ROWS; i++)
        lc_blame_add_own(t, 0, 100 + i, 5, 7, 20);
    lc_blame_add_own(t, 0, 1, 5, 7, 1000);
    for (uint32_t i = 0; i < 2 * LC_BLAME_ROWS; i++) /* the smallest one grows */
        lc_blame_add_own(t, 0, 100 + i, 5, 7, 20);
    assert_int_equal(t->n, LC_BLAME_ROWS);
    assert_false(lc_blame_take(t, 1, 5, 7, 1000, &traced));
    assert_true(lc_blame_take(t, 1, 5, 7, 900, &traced));
    free(t);
}

/* A row that one table had no place for and another has: together it may have had more. */
static void blame_missed(void **state) {
    (void)state;
    for (int into = 0; into < 2; into++) {
        struct lc_blame *t = calloc(2, sizeof *t);
        lc_blame_add_own(&t[0], 0, 1, 5, 7, 20);
        for (uint32_t i = 0; i < LC_BLAME_ROWS; i++) /* the last one takes the place of the first */
            lc_blame_add_own(&t[0], 0, 100 + i, 5, 7, i == 0 ? 90 : 30);
        assert_int_equal(t[0].gone, 20);
        lc_blame_add_own(&t[1], 0, 1, 5, 7, 1000);
        lc_blame_add_own(&t[1], 0, 100, 5, 7, 5000);
        lc_blame_merge(&t[into], &t[1 - into]);
        lc_blame_sort(&t[into]);
        const struct lc_blame_row *both = &t[into].rows[0], *one = &t[into].rows[1];
        assert_int_equal(both->ticks - both->error, 5090);
        assert_int_equal(both->ticks + both->missed, 5090);
        assert_int_equal(one->ticks - one->error, 1000);
        assert_true(one->ticks + one->missed >= 1020);
        assert_true(t[into].gone >= 30);
        free(t);
    }
}

/* Squares of waits add up in one process; those of two processes as if each had waited for the same
 * work as the other. */
static void blame_squares(void **state) {
    (void)state;
    struct lc_blame *t = calloc(2, sizeof *t);
    for (uint64_t ticks = 3; ticks <= 4; ticks++)
        for (int process = 0; process < 2; process++)
            lc_blame_add_own(&t[process], 0, 1, 5, 7, ticks);
    assert_true(t[0].rows[0].squares == 25);
    lc_blame_merge(&t[0], &t[1]);
    assert_int_equal(t[0].n, 1);
    assert_int_equal(t[0].rows[0].ticks, 14);
    assert_true(t[0].rows[0].squares > 99.999 && t[0].rows[0].squares < 100.001);
    free(t);
}

/* Two ranks that take turns: while the same version of the other one's vector wins again, nothing
 * is read (here it is gone by then), and the vector is exact all the same. */
static void same_version_again(void **state) {
    (void)state;
    struct lc_area area_a, area_b;
    struct lc_stamp stamp;
    start(&area_a, &area_b, 0);
    a.grain = 1000;
    lc_logical_useful(&a, 100, 5);
    lc_logical_stamp(&a, 100, &stamp);
    uint32_t version = stamp.vector;
    lc_logical_take(&b, &stamp, 101, &area_a);
    b.last = 101;
    lc_logical_useful(&b, 104, 6);
    assert_int_equal(b.useful, 103);
    for (int i = 0; i < LC_CP_VERSIONS; i++)
        atomic_store(&a.vec.circle->versions[i].version, 0);
    lc_logical_useful(&a, 110, 8);
    lc_logical_stamp(&a, 110, &stamp);
    assert_int_equal(stamp.vector, version);
    lc_logical_take(&b, &stamp, 111, &area_a);
    assert_int_equal(b.useful, 110);
    assert_int_equal(b.vec.n_overwritten, 0);
    assert_int_equal(item(&b.vec, 0, 5), 100);
    assert_int_equal(item(&b.vec, 0, 8), 10);
    assert_int_equal(item(&b.vec, 1, 6), 0);
    assert_int_equal(sum(&b.vec), b.useful);
}

/* More nodes than there are places: what leaves goes to the node further out. */
static void outer_nodes(void **state) {
    (void)state;
    enum { NODES = 1000, MAIN = 1, PARTS = 10 };
    struct lc_area areas[2];
    uint64_t spent = 0;
    start(&areas[0], &areas[1], 0);
    lc_cpvec_know(&a.vec, areas, 2);
    lc_cpvec_know(&b.vec, areas, 2);
    for (uint32_t part = 0; part < PARTS; part++)
        lc_area_set_outer(&areas[0], 10 + part, MAIN);
    for (uint32_t node = 100; node < 100 + NODES; node++)
        lc_area_set_outer(&areas[0], node, 10 + node % PARTS);
    lc_logical_useful(&a, spent += 100000, 100);
    for (uint32_t i = 0; i < 3 * NODES; i++)
        lc_logical_useful(&a, spent += 7, 100 + i % NODES);
    assert_int_equal(sum(&a.vec), spent);
    assert_int_equal(a.vec.other, 0);
    assert_in_range(item(&a.vec, 0, 100), 100000, 100021); /* the largest stays where it was */
    struct lc_stamp stamp;
    lc_logical_stamp(&a, spent, &stamp);
    lc_logical_useful(&b, 1, 7);
    lc_logical_take(&b, &stamp, 10, &areas[0]);
    for (uint32_t node = 1; node < 60; node++) { /* of a rank whose nodes are not known */
        lc_logical_useful(&b, b.last + 1, node);
        assert_int_equal(sum(&b.vec), b.useful);
    }
    assert_int_equal(b.vec.other, 0); /* the others' items were moved out */
}

/* The rule of places in a full vector, word by word: again and again the smallest item that has a
 * node further out becomes that node's, until one meets an item that is there. */
struct plain {
    struct lc_cp_item items[LC_CP_ITEMS];
    uint32_t n;
    uint64_t other;
};

static uint32_t plain_find(const struct plain *p, uint64_t key) {
    uint32_t i = 0;
    while (i < p->n && p->items[i].key != key)
        i++;
    return i;
}

static uint64_t plain_outer(const struct lc_area *areas, uint64_t key) {
    uint64_t rank = (key & ~LC_CP_OUTER) >> 32;
    uint32_t outer = lc_area_outer(&areas[rank], (uint32_t)key);
    return outer != 0 ? LC_CP_OUTER | rank << 32 | outer : 0;
}

static uint32_t plain_smallest(const struct plain *p, const struct lc_area *areas, bool inner) {
    uint32_t found = p->n;
    for (uint32_t i = 0; i < p->n; i++)
        if ((!inner || plain_outer(areas, p->items[i].key) != 0) &&
            (found == p->n || p->items[i].ticks < p->items[found].ticks))
            found = i;
    return found;
}

static uint32_t plain_free(struct plain *p, const struct lc_area *areas) {
    for (uint32_t i; (i = plain_smallest(p, areas, true)) < p->n;) {
        uint64_t outer = plain_outer(areas, p->items[i].key);
        uint32_t at = plain_find(p, outer);
        if (at < p->n) {
            p->items[at].ticks += p->items[i].ticks;
            return i;
        }
        p->items[i].key = outer;
    }
    uint32_t i = plain_smallest(p, areas, false);
    p->other += p->items[i].ticks;
    return i;
}

static void plain_add(struct plain *p, const struct lc_area *areas, uint64_t key, uint64_t ticks) {
    uint32_t i = plain_find(p, key);
    if (i == p->n && i < LC_CP_ITEMS)
        p->items[p->n++] = (struct lc_cp_item){key, 0};
    else if (i == p->n)
        p->items[i = plain_free(p, areas)] = (struct lc_cp_item){key, 0};
    p->items[i].ticks += ticks;
}

static void rule_of_places(void **state) {
    (void)state;
    enum { NODES = 400, STEPS = 100000 };
    struct lc_area areas[2];
    static struct plain p;
    start(&areas[0], &areas[1], 0);
    lc_cpvec_know(&a.vec, areas, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t node = 2; node < NODES; node++) /* a tree; some stand for themselves */
            if (rand() % 10)
                lc_area_set_outer(&areas[rank], node, 1 + (uint32_t)rand() % (node - 1));
    uint64_t spent = 0, moved = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t key = (uint64_t)(rand() % 2) << 32 | (uint64_t)(1 + rand() % (NODES - 1));
        uint64_t ticks = (uint64_t)(rand() % (i % 1000 < 500 ? 3 : 1000)); /* many alike */
        moved += p.n == LC_CP_ITEMS && plain_find(&p, key) == p.n;
        plain_add(&p, areas, key, ticks);
        lc_cpvec_add(&a.vec, key, ticks);
        lc_cpvec_fold(&a.vec);
        spent += ticks;
        assert_int_equal(a.vec.n, p.n);
        assert_int_equal(a.vec.other, p.other);
        assert_memory_equal(a.vec.items, p.items, p.n * sizeof *p.items);
        if (i % 997 == 0) { /* taken over from another thread */
            struct lc_cp_item items[LC_CP_ITEMS];
            uint32_t n = lc_cpvec_pack(&a.vec, items, LC_CP_ITEMS - i % 7);
            lc_cpvec_adopt_items(&a.vec, items, n, spent);
            memcpy(p.items, items, n * sizeof *items);
            p.n = n;
            p.other = a.vec.other;
        }
    }
    assert_int_equal(sum(&a.vec), spent);
    assert_true(moved > STEPS / 4);
}

int main(void) {
    srand((unsigned)first_seed(1));
    const struct CMUnitTest tests[] = {cmocka_unit_test(outer_nodes),
                                       cmocka_unit_test(rule_of_places),
                                       cmocka_unit_test(one_edge),
                                       cmocka_unit_test(went_on_sooner),
                                       cmocka_unit_test(overflow),
                                       cmocka_unit_test(same_version_again),
                                       cmocka_unit_test(behind),
                                       cmocka_unit_test(after_another),
                                       cmocka_unit_test(overwritten),
                                       cmocka_unit_test(deltas),
                                       cmocka_unit_test(drawn),
                                       cmocka_unit_test(drawn_of_longer),
                                       cmocka_unit_test(spread_since),
                                       cmocka_unit_test(delta_of_lost),
                                       cmocka_unit_test(what_if),
                                       cmocka_unit_test(what_if_begins),
                                       cmocka_unit_test(what_if_far_ahead),
                                       cmocka_unit_test(other_phase),
                                       cmocka_unit_test(late_edge),
                                       cmocka_unit_test(blame),
                                       cmocka_unit_test(blame_taken_back),
                                       cmocka_unit_test(blame_missed),
                                       cmocka_unit_test(blame_squares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
