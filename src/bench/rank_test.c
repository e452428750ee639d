#include "bench/rank_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct ranked {
    double value;
    int first;
};

static int by_value(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

enum lc_err lc_rank_test(const double *a, size_t n, const double *b, size_t m,
                         struct lc_rank_test_result *test) {
    struct ranked *all;
    LC_TRY(lc_alloc(&all, n + m, sizeof all[0]));
    for (size_t i = 0; i < n + m; i++)
        all[i] = (struct ranked){i < n ? a[i] : b[i - n], i < n};
    qsort(all, n + m, sizeof all[0], by_value);
    double sum = 0, ties = 0, total = (double)(n + m);
    for (size_t i = 0, end; i < n + m; i = end) {
        for (end = i; end < n + m && all[end].value <= all[i].value;)
            end++;
        double same = (double)(end - i), rank = (double)(i + 1 + end) / 2;
        ties += same * same * same - same;
        for (size_t k = i; k < end; k++)
            sum += all[k].first ? rank : 0;
    }
    free(all);
    double pairs = (double)n * (double)m, u = sum - (double)n * ((double)n + 1) / 2;
    double variance = pairs / 12 * (total + 1 - ties / (total * (total - 1)));
    test->superiority = u / pairs;
    double z = variance > 0 ? (u - pairs / 2) / sqrt(variance) : -INFINITY;
    test->p = 0.5 * erfc(z / sqrt(2.0));
    test->p_any_way = variance > 0 ? erfc(fabs(z) / sqrt(2.0)) : 1;
    return LC_OK;
}
