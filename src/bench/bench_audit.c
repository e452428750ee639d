#include "bench/bench_audit.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "bench/launches.h"
#include "bench/parts.h"

struct block_medians {
    double *with, *without; /* [pairs] */
    double *memory;
    size_t pairs;
};

/* Of the repetitions of one block that begin at `from`; *end: where the next block begins. */
static double median_of(const double *runs, const int64_t *blocks, size_t n, size_t from,
                        size_t *end, double *memory) {
    size_t count = 0;
    while (from + count < n && blocks[from + count] == blocks[from]) {
        memory[count] = runs[from + count];
        count++;
    }
    *end = from + count;
    lc_stats_sort(memory, count);
    return lc_stats_quantile_sorted(memory, count, 0.5);
}

/* Pairs are blocks 0 and 1, 2 and 3, ..; a block of which no repetition was valid has none. */
static void fill(const double *runs, const int64_t *blocks, size_t n, struct block_medians *m) {
    for (size_t i = 0, second, end; i < n; i = second) {
        double first = median_of(runs, blocks, n, i, &second, m->memory);
        if (second >= n || blocks[i] % 2 != 0 || blocks[second] != blocks[i] + 1)
            continue;
        double other = median_of(runs, blocks, n, second, &end, m->memory);
        m->with[m->pairs] = lc_audit_counted(blocks[i]) ? first : other;
        m->without[m->pairs++] = lc_audit_counted(blocks[i]) ? other : first;
        second = end;
    }
}

static json_t *finite_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

enum lc_err lc_bench_audit(const double *runs, const int64_t *blocks, size_t n, json_t **audit) {
    struct block_medians m = {.pairs = 0};
    *audit = NULL;
    LC_TRY(lc_alloc(&m.memory, 3 * n + 1, sizeof m.memory[0]));
    m.with = m.memory + n;
    m.without = m.with + n;
    fill(runs, blocks, n, &m);
    if (m.pairs > 0) {
        struct lc_ratio r = lc_launches_ratio(m.with, m.without, m.pairs, 0.95);
        lc_stats_sort(m.with, m.pairs);
        lc_stats_sort(m.without, m.pairs);
        *audit = json_pack("{s:f, s:[o, o], s:f, s:f, s:I}", "perturbation", r.value - 1, "ci",
                           finite_or_null(r.low - 1), finite_or_null(r.high - 1), "with_ns",
                           lc_stats_quantile_sorted(m.with, m.pairs, 0.5), "without_ns",
                           lc_stats_quantile_sorted(m.without, m.pairs, 0.5), "pairs",
                           (json_int_t)m.pairs);
    } else {
        *audit = json_pack("{s:n, s:i}", "perturbation", "pairs", 0);
    }
    free(m.memory);
    return LC_OK;
}
