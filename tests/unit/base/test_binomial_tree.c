/* The tree along which MPI_Finalize merges call trees, trace definitions and blame, and along which
 * rows flow to rank 0: simulated with the steps that each rank takes, up to 65,536 ranks. Messages
 * per rank are O(log P), of rows beside what the data takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/binomial.h"
#include "base/pieces.h"

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
            assert_int_equal(lc_binomial_parent(peer), rank);
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

/* Rows: what rank r has is the number r, so many times. */
struct flow {
    int size, rank;
    size_t (*times)(int rank);
    uint64_t sent, received, below; /* pieces, and bytes of the subtree */
    uint64_t most_too_many;         /* of all ranks: pieces beyond those that the data takes */
    struct lc_pieces pieces;
    struct flow *parent;
    uint32_t expected; /* on rank 0: number that comes next */
    size_t again;      /* and how often it has come */
};

static void to_parent(void *user, const struct lc_piece *piece) {
    struct flow *flow = user;
    flow->sent++;
    flow->parent->received++;
    flow->parent->below += piece->length;
    lc_pieces_put(&flow->parent->pieces, piece->bytes, piece->length);
}

/* Everything came, in the order of ranks. */
static void to_file(void *user, const struct lc_piece *piece) {
    struct flow *flow = user;
    for (uint32_t i = 0; i < piece->length; i += sizeof(uint32_t)) {
        uint32_t number;
        memcpy(&number, piece->bytes + i, sizeof number);
        while (flow->again == flow->times((int)flow->expected)) {
            flow->expected++;
            flow->again = 0;
        }
        assert_int_equal(number, flow->expected);
        flow->again++;
    }
}

/* The steps of one rank; those of its children when it waits for them. */
static void flow_of(struct flow *flow) {
    struct lc_binomial tree = lc_binomial_of(flow->rank, flow->size);
    size_t n = flow->times(flow->rank);
    int child, children = 0;
    uint32_t number = (uint32_t)flow->rank;
    lc_pieces_begin(&flow->pieces, flow->parent != NULL ? to_parent : to_file, flow);
    for (size_t i = 0; i < n; i++)
        lc_pieces_put(&flow->pieces, &number, sizeof number);
    flow->below = n * sizeof number;
    for (; lc_binomial_next(&tree, &child) == LC_BINOMIAL_CHILD; children++) {
        struct flow *other = calloc(1, sizeof *other);
        assert_non_null(other);
        *other =
            (struct flow){.size = flow->size, .rank = child, .times = flow->times, .parent = flow};
        flow_of(other);
        if (other->most_too_many > flow->most_too_many)
            flow->most_too_many = other->most_too_many;
        free(other);
    }
    lc_pieces_end(&flow->pieces);
    uint64_t data = flow->below / LC_PIECE_BYTES;
    assert_true(flow->parent == NULL || flow->sent <= data + 1);
    assert_true(flow->received <= data + (uint64_t)children);
    uint64_t too_many = flow->received > data ? flow->received - data : 0;
    if (too_many > flow->most_too_many)
        flow->most_too_many = too_many;
}

static size_t few(int rank) {
    return 50 + (size_t)rank % 7;
}

static size_t uneven(int rank) {
    return rank % 1000 == 17 ? 40000 : rank % 3 == 0 ? 0 : 1;
}

static void rows_flow_in_order(void **state) {
    static const int sizes[] = {1, 2, 3, 7, 64, 65, 1000, 65536};
    static size_t (*const times[])(int) = {few, uneven};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        int size = sizes[i / 2];
        struct flow *root = calloc(1, sizeof *root);
        assert_non_null(root);
        *root = (struct flow){.size = size, .times = times[i % 2]};
        uint64_t all = 0;
        for (int rank = 0; rank < size; rank++)
            all += sizeof(uint32_t) * times[i % 2](rank);
        flow_of(root);
        assert_int_equal(root->below, all);
        assert_true(root->most_too_many <= (uint64_t)log2_up(size));
        print_message("%5d ranks, %9llu bytes: rank 0 receives %llu pieces, nobody more than %llu "
                      "beyond its data\n",
                      size, (unsigned long long)all, (unsigned long long)root->received,
                      (unsigned long long)root->most_too_many);
        free(root);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_are_logarithmic),
                                       cmocka_unit_test(rows_flow_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
