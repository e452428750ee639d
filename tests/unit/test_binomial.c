/* The tree along which MPI_Finalize merges call trees, trace definitions and blame: simulated with
 * the steps that each rank takes, up to 65,536 ranks. Messages per rank are O(log P). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/binomial.h"

static int log2_up(int n) {
    int bits = 0;
    while ((1 << bits) < n)
        bits++;
    return bits;
}

struct totals {
    int most_received; /* by one rank */
    int most_deep;     /* messages one after the other, from a leaf to the root */
    int sent;
};

/* Every rank's steps, ranks from the last to the first: children come before their parents. */
static struct totals simulate(int size) {
    struct totals totals = {0};
    int *held = calloc((size_t)size, sizeof *held), *deep = calloc((size_t)size, sizeof *deep);
    char *given = calloc((size_t)size, 1);
    assert_true(held != NULL && deep != NULL && given != NULL);
    for (int rank = size - 1; rank >= 0; rank--) {
        struct lc_binomial tree = lc_binomial_of(rank, size);
        enum lc_binomial_step step;
        int peer = -1, received = 0;
        held[rank]++;
        while ((step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD) {
            assert_true(peer > rank && peer < size);
            struct lc_binomial other = lc_binomial_of(peer, size);
            int parent = -1;
            while (lc_binomial_next(&other, &parent) == LC_BINOMIAL_CHILD)
                ;
            assert_int_equal(parent, rank); /* it sends to whoever waits for it */
            assert_false(given[peer]);
            given[peer] = 1;
            held[rank] += held[peer];
            deep[rank] = deep[peer] + 1 > deep[rank] ? deep[peer] + 1 : deep[rank];
            received++;
        }
        assert_int_equal(step, rank == 0 ? LC_BINOMIAL_DONE : LC_BINOMIAL_PARENT);
        totals.sent += step == LC_BINOMIAL_PARENT;
        if (received > totals.most_received)
            totals.most_received = received;
    }
    totals.most_deep = deep[0];
    assert_int_equal(held[0], size); /* everybody's part, once */
    free(held);
    free(deep);
    free(given);
    return totals;
}

static void messages_are_logarithmic(void **state) {
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000, 4096, 65535, 65536};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct totals totals = simulate(sizes[i]);
        assert_int_equal(totals.sent, sizes[i] - 1);
        assert_int_equal(totals.most_received, log2_up(sizes[i]));
        assert_true(totals.most_deep <= log2_up(sizes[i]));
        print_message("%5d ranks: at most %d messages received and 1 sent per rank\n", sizes[i],
                      totals.most_received);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_are_logarithmic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
