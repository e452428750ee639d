/* Pairs of ranks: exact up to 256 partners; beyond, sums of rows and of what is left out are all
 * that was added, and partners that are seen often keep their rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "piggyback/pairs.h"

static const struct lc_pair_row *row_of(const struct lc_pairs *pairs, uint32_t rank) {
    for (uint32_t i = 0; i < pairs->n; i++)
        if (pairs->rows[i].rank == rank)
            return &pairs->rows[i];
    return NULL;
}

static struct lc_pair_sums all_of(const struct lc_pairs *pairs) {
    struct lc_pair_sums all = pairs->left_out;
    for (uint32_t i = 0; i < pairs->n; i++) {
        all.ticks += pairs->rows[i].sums.ticks;
        all.messages += pairs->rows[i].sums.messages;
        all.bytes += pairs->rows[i].sums.bytes;
    }
    return all;
}

static void exact(void **state) {
    (void)state;
    struct lc_pairs *pairs = calloc(1, sizeof *pairs);
    assert_non_null(pairs);
    /* ranks whose hashes are the same, too */
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t i = 0; i < LC_PAIR_ROWS; i++) {
            lc_pairs_waited(pairs, i * 512, i + round);
            lc_pairs_sent(pairs, i * 512, 10 * i);
        }
    lc_pairs_not_sent(pairs, 512, 10);
    lc_pairs_waited(pairs, 1024, 100);
    lc_pairs_not_waited(pairs, 1024, 100);
    assert_int_equal(pairs->n, LC_PAIR_ROWS);
    assert_int_equal(pairs->n_left_out, 0);
    for (uint32_t i = 0; i < LC_PAIR_ROWS; i++) {
        const struct lc_pair_sums *sums = &row_of(pairs, i * 512)->sums;
        assert_int_equal(sums->ticks, 3 * i + 3);
        assert_int_equal(sums->messages, i == 1 ? 2 : 3);
        assert_int_equal(sums->bytes, i == 1 ? 20 : 30 * i);
    }
    lc_pairs_sort(pairs);
    assert_int_equal(pairs->rows[0].rank, (LC_PAIR_ROWS - 1) * 512);
    free(pairs);
}

static void heavy_ones_stay(void **state) {
    (void)state;
    struct lc_pairs *pairs = calloc(1, sizeof *pairs);
    assert_non_null(pairs);
    uint64_t bytes = 0, ticks = 0, messages = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        /* every third message goes to one of 20 ranks, the others to one of 5000 */
        uint32_t rank = i % 3 == 0 ? i / 3 % 20 : 100 + i * 7919u % 5000;
        lc_pairs_sent(pairs, rank, rank);
        lc_pairs_waited(pairs, rank, 1);
        bytes += rank;
        ticks++;
        messages++;
    }
    const struct lc_pair_sums all = all_of(pairs);
    assert_int_equal(all.bytes, bytes);
    assert_int_equal(all.ticks, ticks);
    assert_int_equal(all.messages, messages);
    assert_true(pairs->n_left_out > 0);
    for (uint32_t rank = 0; rank < 20; rank++) {
        assert_non_null(row_of(pairs, rank));
        assert_true(row_of(pairs, rank)->sums.messages >= 3000);
    }
    free(pairs);
}

/* A rank that comes when all rows are taken gets one; the rows of others are still found. */
static void late_ones_get_a_row(void **state) {
    (void)state;
    struct lc_pairs *pairs = calloc(1, sizeof *pairs);
    assert_non_null(pairs);
    for (uint32_t i = 0; i < 20000; i++)
        lc_pairs_sent(pairs, i % 4000, 1);
    for (uint32_t i = 0; i < 50000; i++)
        lc_pairs_sent(pairs, 77777, 1);
    assert_int_equal(all_of(pairs).messages, 70000);
    assert_non_null(row_of(pairs, 77777));
    assert_true(row_of(pairs, 77777)->sums.messages >= 50000 - LC_PAIR_TURN);
    assert_int_equal(pairs->n, LC_PAIR_ROWS);
    for (uint32_t i = 0; i < LC_PAIR_ROWS; i++) {
        uint32_t rank = pairs->rows[i].rank;
        uint64_t before = pairs->rows[i].sums.messages;
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(pairs->rows[k].rank, rank);
        lc_pairs_sent(pairs, rank, 1);
        assert_int_equal(pairs->rows[i].sums.messages, before + 1);
    }
    free(pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(heavy_ones_stay),
                                       cmocka_unit_test(late_ones_get_a_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
