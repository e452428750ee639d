#include "analyze/align.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/model.h" /* LC_NONE */

enum { SLACK = 16 };                       /* edits beyond the difference in length */
static const size_t most_moves = 1u << 28; /* bytes of the table of moves */

enum move { MATCH, SKIP_REFERENCE, SKIP_OWN };

struct cost {
    uint32_t edits;
    double distance;
};

static bool less(struct cost a, struct cost b) {
    return a.edits != b.edits ? a.edits < b.edits : a.distance < b.distance;
}

static struct cost plus(struct cost a, uint32_t edits, double distance) {
    return (struct cost){a.edits + edits, a.distance + distance};
}

static struct cost match(struct cost before, const struct lc_align_record *a,
                         const struct lc_align_record *b) {
    double distance = (double)a->end - (double)b->end;
    return plus(before, a->op != b->op || a->root != b->root, distance < 0 ? -distance : distance);
}

/* cost[k], k = j - i - low: of own[0..i) against reference[0..j), row by row; moves[] says how each
 * was reached. */
static void fill(const struct lc_align_record *reference, size_t n_reference,
                 const struct lc_align_record *own, size_t n_own, int64_t low, size_t width,
                 struct cost *cost, uint8_t *moves) {
    const struct cost never = {UINT32_MAX / 2, 0};
    for (size_t i = 0; i <= n_own; i++)
        for (size_t k = 0; k < width; k++) {
            int64_t j = (int64_t)i + low + (int64_t)k;
            struct cost best = never;
            enum move move = MATCH;
            if (i == 0 && j == 0)
                best = (struct cost){0, 0};
            else if (i && j > 0 && j <= (int64_t)n_reference)
                best = match(cost[k], &own[i - 1], &reference[j - 1]);
            if (k && j > 0 && j <= (int64_t)n_reference && less(plus(cost[k - 1], 1, 0), best)) {
                best = plus(cost[k - 1], 1, 0);
                move = SKIP_REFERENCE;
            }
            if (i && k + 1 < width && j >= 0 && j <= (int64_t)n_reference &&
                less(plus(cost[k + 1], 1, 0), best)) {
                best = plus(cost[k + 1], 1, 0);
                move = SKIP_OWN;
            }
            cost[k] = best;
            moves[i * width + k] = (uint8_t)move;
        }
}

static void trace_back(size_t n_reference, size_t n_own, int64_t low, size_t width,
                       const uint8_t *moves, uint32_t *partner) {
    size_t i = n_own, j = n_reference;
    while (i || j) {
        enum move move = moves[i * width + (size_t)((int64_t)j - (int64_t)i - low)];
        if (move == SKIP_REFERENCE) {
            j--;
            continue;
        }
        i--;
        j -= move == MATCH;
        partner[i] = move == MATCH ? (uint32_t)j : LC_NONE;
    }
}

bool lc_align(const struct lc_align_record *reference, size_t n_reference,
              const struct lc_align_record *own, size_t n_own, uint32_t *partner) {
    int64_t difference = (int64_t)n_reference - (int64_t)n_own;
    int64_t low = (difference < 0 ? difference : 0) - SLACK;
    size_t width = (size_t)((difference > 0 ? difference : 0) + SLACK - low + 1);
    if (width > most_moves / (n_own + 1))
        return false;
    struct cost *cost = NULL;
    uint8_t *moves = NULL;
    bool done = lc_alloc(&cost, width, sizeof *cost) == LC_OK &&
                lc_alloc(&moves, width * (n_own + 1), 1) == LC_OK;
    if (done) {
        fill(reference, n_reference, own, n_own, low, width, cost, moves);
        trace_back(n_reference, n_own, low, width, moves, partner);
    }
    free(cost);
    free(moves);
    return done;
}
