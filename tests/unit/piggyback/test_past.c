/* Whose fault a wait was, from what the late rank did lately: worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "piggyback/past.h"

enum { ME = 3, LATE = 2, F = 7, G = 8, CALL = 9 };
#define KEY(rank, node) ((uint64_t)(rank) << 32 | (node))

static struct lc_past *make(uint32_t waits, uint32_t work) {
    struct lc_past *past = aligned_alloc(64, (lc_past_size(waits, work) + 63) / 64 * 64);
    assert_non_null(past);
    memset(past, 0, lc_past_size(waits, work));
    lc_past_init(past, waits, work);
    return past;
}

static void worked(struct lc_past *past, uint64_t begin, uint64_t end, uint32_t node) {
    lc_past_add_work(
        past,
        &(struct lc_past_work){
            .begin = begin, .end = end, .ticks = end - begin, .path = 1000 + node, .node = node});
}

static void waited(struct lc_past *past, uint64_t begin, uint64_t end, uint32_t late,
                   struct lc_past_cause a, struct lc_past_cause b) {
    lc_past_add_wait(past, &(struct lc_past_wait){.begin = begin,
                                                  .end = end,
                                                  .ticks = end - begin,
                                                  .late_rank = late,
                                                  .n = b.ticks > 0 ? 2 : 1,
                                                  .causes = {a, b}});
}

static const struct lc_origin *find(const struct lc_origins *origins, uint64_t key) {
    for (uint32_t i = 0; i < origins->n; i++)
        if (origins->list[i].key == key)
            return &origins->list[i];
    return NULL;
}

static uint64_t sum(const struct lc_origins *origins) {
    uint64_t all = origins->rest + origins->rest_indirect;
    for (uint32_t i = 0; i < origins->n; i++)
        all += origins->list[i].direct + origins->list[i].indirect;
    return all;
}

static struct lc_waited question(const struct lc_past *late, const struct lc_past *own) {
    return (struct lc_waited){.late = late,
                              .own = own,
                              .me = ME,
                              .late_rank = LATE,
                              .late_node = CALL,
                              .begin = 1000,
                              .release = 2000,
                              .looks = 64};
}

static void without_a_past_it_is_the_late_rank(void **state) {
    (void)state;
    struct lc_origins origins;
    struct lc_waited w = question(NULL, NULL);
    lc_past_origins(&w, &origins);
    assert_int_equal(origins.n, 1);
    assert_int_equal(find(&origins, KEY(LATE, CALL))->direct, 1000);
}

/* The gap with that node, all of it: F 100, G 300; not the one before, nor work after it. */
static void a_gap_has_all_its_parts(void **state) {
    (void)state;
    struct lc_past *late = make(8, 8);
    struct lc_past_part parts[LC_PAST_PARTS];
    struct lc_waited w = question(late, NULL);
    for (int i = 0; i < 6; i++) {
        static const struct {
            uint64_t begin, end;
            uint32_t node, same_gap;
        } all[] = {{500, 800, F, 0},   {1000, 1050, F, 0},    {1050, 1350, G, 1},
                   {1350, 1400, F, 1}, {1500, 1900, CALL, 0}, {2000, 2100, G, 0}};
        lc_past_add_work(late, &(struct lc_past_work){.begin = all[i].begin,
                                                      .end = all[i].end,
                                                      .ticks = all[i].end - all[i].begin,
                                                      .path = 1000 + all[i].node,
                                                      .node = all[i].node,
                                                      .same_gap = all[i].same_gap});
    }
    assert_int_equal(lc_past_gap(&w, parts), 1);
    assert_int_equal(parts[0].node, CALL);
    w.late_node = G;
    assert_int_equal(lc_past_gap(&w, parts), 2);
    assert_int_equal(parts[0].node, F);
    assert_int_equal(parts[0].ticks, 100);
    assert_int_equal(parts[1].node, G);
    assert_int_equal(parts[1].ticks, 300);
    w.looks = 3;
    assert_int_equal(lc_past_gap(&w, parts), 0);
    w.looks = 64;
    w.since = 1400;
    assert_int_equal(lc_past_gap(&w, parts), 0);
    w.late = NULL;
    assert_int_equal(lc_past_gap(&w, parts), 0);
    free(late);
}

/* Its waiting comes first; what is left goes to its excess per call path: F 500 - 300, G 400. */
static void waiting_then_excess(void **state) {
    (void)state;
    struct lc_origins origins;
    struct lc_past *late = make(8, 8), *own = make(8, 8);
    waited(late, 600, 1000, 1, (struct lc_past_cause){KEY(0, F), 300},
           (struct lc_past_cause){KEY(1, G), 100});
    worked(late, 0, 500, F);
    worked(late, 1100, 1500, G);
    worked(late, 1900, 2400, F); /* 100 of it before the release */
    worked(own, 100, 500, F);
    struct lc_waited w = question(late, own);
    lc_past_origins(&w, &origins);
    assert_int_equal(find(&origins, KEY(0, F))->indirect, 300);
    assert_int_equal(find(&origins, KEY(1, G))->indirect, 100);
    assert_int_equal(find(&origins, KEY(LATE, F))->direct, 200); /* 600 * 200 / 600 */
    assert_int_equal(find(&origins, KEY(LATE, G))->direct, 400);
    assert_int_equal(sum(&origins), 1000);
    struct lc_past_wait entry;
    lc_past_entry(&w, &origins, &entry);
    assert_int_equal(entry.n, 4);
    assert_true(entry.causes[0].key == KEY(LATE, G) && entry.causes[0].ticks == 400);
    assert_int_equal(entry.causes[3].ticks, 100);
    free(late);
    free(own);
}

/* More waiting than was waited for it: in proportion, nothing is direct. */
static void more_inherited_than_waited(void **state) {
    (void)state;
    struct lc_origins origins;
    struct lc_past *late = make(8, 8);
    waited(late, 0, 1500, 1, (struct lc_past_cause){KEY(0, F), 1500}, (struct lc_past_cause){0, 0});
    waited(late, 1500, 2000, 1, (struct lc_past_cause){KEY(1, G), 500},
           (struct lc_past_cause){0, 0});
    struct lc_waited w = question(late, NULL);
    lc_past_origins(&w, &origins);
    assert_int_equal(find(&origins, KEY(0, F))->indirect, 750);
    assert_int_equal(find(&origins, KEY(1, G))->indirect, 250);
    assert_int_equal(sum(&origins), 1000);
    free(late);
}

/* Only what happened since both were in the same operation: the late rank waited for this one
 * until 800, or both for rank 1 until 700, or as the asker knows. */
static void since_they_met(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct lc_origins origins;
        struct lc_past *late = make(8, 8), *own = make(8, 8);
        waited(late, 100, 600, 0, (struct lc_past_cause){KEY(0, F), 500},
               (struct lc_past_cause){0, 0});
        if (how == 0)
            waited(late, 600, 800, ME, (struct lc_past_cause){KEY(ME, F), 200},
                   (struct lc_past_cause){0, 0});
        if (how == 1) {
            waited(late, 650, 700, 1, (struct lc_past_cause){KEY(1, F), 50},
                   (struct lc_past_cause){0, 0});
            waited(own, 690, 700, 1, (struct lc_past_cause){KEY(1, F), 10},
                   (struct lc_past_cause){0, 0});
        }
        struct lc_waited w = question(late, own);
        w.since = how == 2 ? 650 : 0;
        lc_past_origins(&w, &origins);
        assert_null(find(&origins, KEY(0, F)));
        assert_int_equal(find(&origins, KEY(LATE, CALL))->direct, 1000);
        free(late);
        free(own);
    }
}

/* Both waited for messages of rank 1 that came at the same time: that is no operation of both. */
static void messages_at_the_same_time_are_no_meeting(void **state) {
    (void)state;
    struct lc_origins origins;
    struct lc_past *late = make(8, 8), *own = make(8, 8);
    waited(late, 100, 600, 0, (struct lc_past_cause){KEY(0, F), 500}, (struct lc_past_cause){0, 0});
    struct lc_past_wait message = {.begin = 650,
                                   .end = 700,
                                   .ticks = 50,
                                   .late_rank = 1,
                                   .n = 1,
                                   .pairwise = true,
                                   .causes = {{KEY(1, F), 50}}};
    lc_past_add_wait(late, &message);
    lc_past_add_wait(own, &message);
    struct lc_waited w = question(late, own);
    lc_past_origins(&w, &origins);
    assert_int_equal(find(&origins, KEY(0, F))->indirect, 500);
    assert_int_equal(find(&origins, KEY(1, F))->indirect, 50);
    assert_int_equal(sum(&origins), 1000);
    free(late);
    free(own);
}

/* Places that were used again are not there; random pasts: nothing is lost. */
static void bounded_and_conserved(void **state) {
    (void)state;
    struct lc_past_wait wait;
    srand((unsigned)first_seed(1));
    for (int round = 0; round < 2000; round++) {
        struct lc_origins origins;
        struct lc_past *late = make(8, 8), *own = make(8, 8);
        uint64_t at = 0;
        for (int i = 0; i < rand() % 30; i++) {
            uint64_t ticks = 1 + (uint64_t)rand() % 200;
            uint64_t part = (uint64_t)rand() % ticks;
            if (rand() % 2)
                waited(rand() % 2 ? late : own, at, at + ticks, (uint32_t)rand() % 5,
                       (struct lc_past_cause){KEY(rand() % 5, rand() % 40), part},
                       (struct lc_past_cause){KEY(rand() % 5, 50 + rand() % 40), ticks - part});
            else
                worked(rand() % 2 ? late : own, at, at + ticks, (uint32_t)rand() % 50);
            at += ticks;
        }
        struct lc_waited w = question(late, own);
        w.begin = at / 2;
        w.release = at + 1 + (uint64_t)rand() % 500;
        w.since = (uint64_t)rand() % 100;
        w.looks = 1 + (uint32_t)rand() % 20;
        lc_past_origins(&w, &origins);
        assert_int_equal(sum(&origins), w.release - w.begin);
        uint64_t n = late->n_waits;
        assert_false(lc_past_wait_get(late, n, &wait));
        if (n > 8)
            assert_false(lc_past_wait_get(late, n - 9, &wait));
        if (n > 0)
            assert_true(lc_past_wait_get(late, n - 1, &wait));
        free(late);
        free(own);
    }
}

/* Rank LATE was in that call for longer than ME's wait for it took: it waited there, for rank 5,
 * until ME left it or it did. */
static void what_a_call_still_waits_for_is_before_the_next(void **state) {
    (void)state;
    for (uint64_t left = 0; left <= 900; left += 300) {
        struct lc_past *late = make(8, 8), *own = make(8, 8);
        struct lc_origins origins;
        struct lc_waited w = question(late, own);
        waited(late, 100, 600, 5, (struct lc_past_cause){KEY(5, F), 500},
               (struct lc_past_cause){0, 0});
        w.since = 200;
        w.left = left;
        lc_past_origins(&w, &origins);
        const struct lc_origin *inherited = find(&origins, KEY(5, F));
        uint64_t wanted = left == 0 ? 400 : left == 300 ? 300 : 0;
        assert_int_equal(inherited != NULL ? inherited->indirect : 0, wanted);
        assert_int_equal(sum(&origins), 1000);
        free(late);
        free(own);
    }
}

/* Which thread a time is of: that of which a call began then. */
static void a_call_is_found_by_its_begin(void **state) {
    (void)state;
    struct lc_past *past = make(8, 8);
    static _Atomic uint64_t begins[LC_PAST_CALLS];
    assert_false(lc_past_called(past, begins, 0, LC_PAST_CALLS));
    for (uint64_t call = 1; call <= LC_PAST_CALLS + 3; call++) {
        lc_past_call(past, begins, 10 * call);
        assert_true(lc_past_called(past, begins, 10 * call, 1));
        assert_false(lc_past_called(past, begins, 10 * call + 1, LC_PAST_CALLS));
    }
    assert_false(lc_past_called(past, begins, 30, LC_PAST_CALLS)); /* overwritten */
    assert_true(lc_past_called(past, begins, 40, LC_PAST_CALLS));
    assert_false(lc_past_called(past, begins, 40, 8));
    free(past);
}

/* The late rank waited at 900 for a thread of ME: only if it is the one that waits, or nobody knows
 * which, both were in the same operation then. */
static void another_thread_is_no_meeting(void **state) {
    (void)state;
    static const uint8_t its[] = {0, 1, LC_PAST_ANY};
    for (size_t i = 0; i < sizeof its; i++) {
        struct lc_past *late = make(8, 8), *own = make(8, 8);
        struct lc_origins origins;
        struct lc_waited w = question(late, own);
        w.thread = 1;
        waited(late, 400, 500, 5, (struct lc_past_cause){KEY(5, F), 100},
               (struct lc_past_cause){0, 0});
        lc_past_add_wait(late, &(struct lc_past_wait){.begin = 880,
                                                      .end = 900,
                                                      .ticks = 20,
                                                      .late_rank = ME,
                                                      .late_thread = its[i],
                                                      .n = 1,
                                                      .causes = {{KEY(ME, G), 20}}});
        lc_past_origins(&w, &origins);
        const struct lc_origin *inherited = find(&origins, KEY(5, F));
        assert_int_equal(inherited != NULL ? inherited->indirect : 0, its[i] == 0 ? 100 : 0);
        assert_int_equal(sum(&origins), 1000);
        free(late);
        free(own);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_call_still_waits_for_is_before_the_next),
        cmocka_unit_test(a_gap_has_all_its_parts),
        cmocka_unit_test(without_a_past_it_is_the_late_rank),
        cmocka_unit_test(waiting_then_excess),
        cmocka_unit_test(more_inherited_than_waited),
        cmocka_unit_test(since_they_met),
        cmocka_unit_test(messages_at_the_same_time_are_no_meeting),
        cmocka_unit_test(bounded_and_conserved),
        cmocka_unit_test(a_call_is_found_by_its_begin),
        cmocka_unit_test(another_thread_is_no_meeting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
