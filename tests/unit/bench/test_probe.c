/* Probes: what is recorded when, threads, unbalanced timers; what they cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* after those */
#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(slots) TIMER(grow_pool)
#include "latecomer_probe.h"

LATECOMER_PROBE_TABLE;

static struct latecomer_probe_table *const table = &latecomer_probe_table;

static void test_records(void **state) {
    (void)state;
    latecomer_probe_count(latecomer_probe_slots); /* before the first repetition: nothing */
    latecomer_probe_start(latecomer_probe_grow_pool);
    latecomer_probe_stop(latecomer_probe_grow_pool);
    assert_int_equal(latecomer_probe_open(table, 3), 0);
    latecomer_probe_count(latecomer_probe_slots);
    for (int i = 0; i < 4; i++) { /* the last has no memory */
        latecomer_probe_repetition(table, i);
        for (int k = 0; k <= i; k++)
            latecomer_probe_count(latecomer_probe_slots);
        latecomer_probe_start(latecomer_probe_grow_pool);
        int64_t begin = latecomer_probe_clock(table);
        while (latecomer_probe_clock(table) == begin) /* its steps may be longer than this takes */
            ;
        latecomer_probe_stop(latecomer_probe_grow_pool);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(latecomer_probe_value(table, i, latecomer_probe_slots), i + 1);
        assert_true(latecomer_probe_value(table, i, latecomer_probe_grow_pool) > 0);
    }
    assert_int_equal(table->unbalanced, 0);
    assert_string_equal(table->name[latecomer_probe_grow_pool], "grow_pool");
    latecomer_probe_repetition(table, 0);
    latecomer_probe_stop(latecomer_probe_grow_pool);
    latecomer_probe_start(latecomer_probe_grow_pool);
    latecomer_probe_start(latecomer_probe_grow_pool);
    latecomer_probe_stop(latecomer_probe_grow_pool);
    assert_int_equal(table->unbalanced, 2);
    latecomer_probe_clear(table, 0);
    assert_int_equal(latecomer_probe_value(table, 0, latecomer_probe_grow_pool), 0);
    latecomer_probe_repetition(table, -1);
}

/* Where the processor's counter does not run evenly: nanoseconds, at least those that pass between
 * two reads of the clock inside, and at most those between two outside. */
static void test_nanoseconds(void **state) {
    struct timespec at[4];
    (void)state;
    table->nanoseconds = 1;
    assert_int_equal(latecomer_probe_open(table, 1), 0);
    latecomer_probe_repetition(table, 0);
    clock_gettime(CLOCK_MONOTONIC_RAW, &at[0]);
    latecomer_probe_start(latecomer_probe_grow_pool);
    clock_gettime(CLOCK_MONOTONIC_RAW, &at[1]);
    do
        clock_gettime(CLOCK_MONOTONIC_RAW, &at[2]);
    while (at[2].tv_sec == at[1].tv_sec && at[2].tv_nsec < at[1].tv_nsec + 1000000);
    latecomer_probe_stop(latecomer_probe_grow_pool);
    clock_gettime(CLOCK_MONOTONIC_RAW, &at[3]);
    int64_t ns[4], took = latecomer_probe_value(table, 0, latecomer_probe_grow_pool);
    for (int i = 0; i < 4; i++)
        ns[i] = (int64_t)at[i].tv_sec * 1000000000 + at[i].tv_nsec;
    assert_in_range(took, ns[2] - ns[1], ns[3] - ns[0]);
    latecomer_probe_repetition(table, -1);
    table->nanoseconds = 0;
}

static void *count_many(void *nothing) {
    for (int i = 0; i < 1000; i++)
        latecomer_probe_count(latecomer_probe_slots);
    return nothing;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 70 }; /* more than there is memory for: one of them is this one */
    pthread_t threads[THREADS];
    assert_int_equal(latecomer_probe_open(table, 1), 0);
    latecomer_probe_repetition(table, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(latecomer_probe_value(table, 0, latecomer_probe_slots) + table->lost,
                     THREADS * 1000);
    assert_int_equal(table->lost, (THREADS - LATECOMER_PROBE_THREADS + 1) * 1000);
    latecomer_probe_repetition(table, -1);
}

enum { TIMES = 200000 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static volatile int64_t sink;

/* ns of one of them: the least of ten rounds. 0: two clock reads, 1: a pair, 2: nothing. */
static double cost(int what) {
    double best = 1e9;
    for (int round = 0; round < 10; round++) {
        double begin = now_ns();
        for (int i = 0; i < TIMES; i++) {
            if (what == 0)
                sink = latecomer_probe_clock(table) - latecomer_probe_clock(table); /* NOLINT */
            else if (what == 1) {
                latecomer_probe_start(latecomer_probe_grow_pool);
                latecomer_probe_stop(latecomer_probe_grow_pool);
            } else {
                sink = i;
            }
        }
        double took = (now_ns() - begin) / TIMES;
        best = took < best ? took : best;
    }
    return best;
}

static double cost_disabled_count(void) {
    double best = 1e9;
    for (int round = 0; round < 10; round++) {
        double begin = now_ns();
        for (int i = 0; i < TIMES; i++) {
            latecomer_probe_count(latecomer_probe_slots);
            sink = i;
        }
        double took = (now_ns() - begin) / TIMES;
        best = took < best ? took : best;
    }
    return best;
}

/* What a pair of a timer costs beside its two clock reads, and a disabled probe (tests/figure.py).
 */
static void test_cost(void **state) {
    (void)state;
    assert_int_equal(latecomer_probe_open(table, 1), 0);
    double loop = cost(2), disabled = cost_disabled_count() - loop;
    latecomer_probe_repetition(table, 0);
    double clocks = cost(0) - loop, pair = cost(1) - loop;
    latecomer_probe_repetition(table, -1);
    print_message("two clock reads %.1f ns, a timer pair %.1f ns, a disabled probe %.2f ns\n",
                  clocks, pair, disabled);
    printf("figure pair %.2f ns\nfigure disabled %.3f ns\n", pair - clocks, disabled);
}

int main(int argc, char **argv) {
    (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_records),
                                       cmocka_unit_test(test_nanoseconds),
                                       cmocka_unit_test(test_threads)};
    const struct CMUnitTest costs[] = {cmocka_unit_test(test_cost)};
    return argc > 1 ? cmocka_run_group_tests(costs, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
