#include "bench/perturbation.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "bench/launches.h"

enum { BLOCKS = 20 };

/* Of some run times; `memory` has room for them. */
static double median_of(const double *runs, size_t n, double *memory) {
    for (size_t i = 0; i < n; i++)
        memory[i] = runs[i];
    lc_stats_sort(memory, n);
    return lc_stats_quantile_sorted(memory, n, 0.5);
}

enum lc_err lc_perturbation_find(const double *plain, size_t n, size_t from,
                                 const struct lc_counted_series *counted,
                                 struct lc_perturbation *p) {
    size_t first = 0;
    *p = (struct lc_perturbation){.change = NAN, .low = -INFINITY, .high = INFINITY};
    while (first < counted->n && counted->at[first] < from)
        first++;
    size_t used = counted->n - first, blocks = used / LC_PERTURBATION_LEAST;
    blocks = blocks < BLOCKS ? blocks : BLOCKS;
    double *with, *memory;
    LC_TRY(lc_alloc(&with, 2 * BLOCKS, sizeof with[0]));
    double *without = with + BLOCKS;
    enum lc_err err = lc_alloc(&memory, n + counted->n + 1, sizeof memory[0]);
    for (size_t b = 0, begin = from; b < blocks && err == LC_OK; b++) {
        size_t c = first + used * b / blocks, next = first + used * (b + 1) / blocks;
        size_t end = counted->at[next - 1] < n ? counted->at[next - 1] : n;
        if (end > begin) { /* else none of those between was valid */
            with[p->blocks] = median_of(counted->runs + c, next - c, memory);
            without[p->blocks++] = median_of(plain + begin, end - begin, memory);
        }
        begin = end;
    }
    if (p->blocks > 0) {
        struct lc_ratio r = lc_launches_ratio(with, without, p->blocks, 0.95);
        p->change = r.value - 1;
        p->low = p->blocks > 1 ? r.low - 1 : -INFINITY;
        p->high = r.high - 1;
        p->with_ns = median_of(with, p->blocks, memory);
        p->without_ns = median_of(without, p->blocks, memory);
    }
    free(memory);
    free(with);
    return err;
}
