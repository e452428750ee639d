#include "bench/categories.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "bench/rank_test.h"

/* What makes a raw end accepted. Chosen on synthetic series (tests/unit/bench). */
#define LC_FALL        0.1           /* of the median: the raw rule's */
#define LC_CERTAIN     0.001         /* p of the rank test */
#define LC_SUPERIORITY 0.9           /* the level before is above that after, nearly always */
#define LC_STEP        (LC_FALL / 2) /* the level beside w falls at least by this */
/* Repetitions on each side that are beside w, and those right beside it. */
enum { LC_NEAR = 25, LC_RIGHT_BESIDE = 5 };

const char *lc_category_name(enum lc_category category) {
    static const char *const names[] = {"first", "warmup", "outlier", "good"};
    return names[category];
}

int64_t lc_warmup_raw_end(const double *runs, size_t n, double median) {
    double least = n > 0 ? runs[0] : 0;
    for (size_t j = 1; j < n; j++) {
        double next = fmin(least, runs[j]);
        if (j >= LC_WARMUP_LEAST && next - least <= -LC_FALL * median)
            return (int64_t)j;
        least = next;
    }
    return LC_NO_END;
}

/* Where the minimum falls by the most, from LC_WARMUP_LEAST on; LC_NO_END. */
static int64_t largest_fall(const double *runs, size_t n) {
    double least = n > 0 ? runs[0] : 0, largest = 0;
    int64_t at = LC_NO_END;
    for (size_t j = 1; j < n; j++) {
        double fall = least - runs[j];
        if (j >= LC_WARMUP_LEAST && fall > largest) {
            largest = fall;
            at = (int64_t)j;
        }
        least = fmin(least, runs[j]);
    }
    return at;
}

static double median_of(const double *values, size_t n, double *scratch) {
    for (size_t i = 0; i < n; i++)
        scratch[i] = values[i];
    lc_stats_sort(scratch, n);
    return lc_stats_quantile_sorted(scratch, n, 0.5);
}

/* Without the outliers of the segment itself: the level before may be twice that after. In place;
 * returns how many stay. */
static size_t drop_outliers(double *values, size_t n, double *scratch) {
    double limit = 2 * median_of(values, n, scratch);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (values[i] < limit)
            values[kept++] = values[i];
    return kept;
}

/* The longest row of run times above `level`: a level that comes back belongs to no warm-up. */
static size_t longest_above(const double *values, size_t n, double level) {
    size_t longest = 0, row = 0;
    for (size_t i = 0; i < n; i++) {
        row = values[i] > level ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    return longest;
}

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Whether run times cross the middle of both levels right at w. Where that is too early, while a
 * noisy warm-up goes on, high ones follow: all of them count here, also what is an outlier among
 * the good ones. */
static bool falls_here(const double *runs, size_t n, size_t w, double middle, double *scratch) {
    size_t last = least_of(w - 1, LC_RIGHT_BESIDE), next = least_of(n - w, LC_RIGHT_BESIDE);
    return median_of(runs + w - last, last, scratch) > middle &&
           median_of(runs + w, next, scratch) < middle;
}

/* Whether the level changes at w. `memory` has room for 2 n. */
static enum lc_err test_change(const double *runs, size_t n_runs, double median, size_t w,
                               double *memory, struct lc_warmup *warmup) {
    double *before = memory + 1, *after = memory + w, *scratch = memory + n_runs;
    for (size_t i = 0; i < n_runs; i++)
        memory[i] = runs[i];
    size_t n = drop_outliers(before, w - 1, scratch);
    size_t m = drop_outliers(after, n_runs - w, scratch);
    if (n < 2 || m < LC_WARMUP_LEAST)
        return LC_OK;
    struct lc_rank_test_result test;
    LC_TRY(lc_rank_test(before, n, after, m, &test));
    warmup->superiority = test.superiority;
    warmup->p = test.p;
    size_t near_n = least_of(n, LC_NEAR), near_m = least_of(m, LC_NEAR);
    double last = median_of(before + n - near_n, near_n, scratch);
    double next = median_of(after, near_m, scratch);
    warmup->step = (last - next) / median;
    warmup->fall = last > 0 ? (last - next) / last : 0;
    double middle = (median_of(before, n, scratch) + median_of(after, m, scratch)) / 2;
    if (warmup->p < LC_CERTAIN && warmup->superiority >= LC_SUPERIORITY &&
        warmup->step >= LC_STEP && falls_here(runs, n_runs, w, middle, scratch) &&
        2 * longest_above(after, m, middle) < n)
        warmup->end = (int64_t)w;
    return LC_OK;
}

enum lc_err lc_warmup_find(const double *runs, size_t n, double median, struct lc_warmup *warmup) {
    *warmup = (struct lc_warmup){.raw_end = lc_warmup_raw_end(runs, n, median), .end = LC_NO_END};
    warmup->p = 1;
    if (warmup->raw_end == LC_NO_END)
        return LC_OK;
    struct lc_warmup other = *warmup;
    int64_t largest = largest_fall(runs, n);
    double *memory;
    LC_TRY(lc_alloc(&memory, 2 * n, sizeof memory[0]));
    enum lc_err err = test_change(runs, n, median, (size_t)warmup->raw_end, memory, warmup);
    if (err == LC_OK && warmup->end == LC_NO_END && largest != warmup->raw_end)
        err = test_change(runs, n, median, (size_t)largest, memory, &other);
    if (other.end != LC_NO_END)
        *warmup = other;
    free(memory);
    return err;
}

enum lc_err lc_phase_so_far(const double *runs, size_t n, double median, struct lc_strbuf *text) {
    struct lc_warmup warmup;
    if (n <= LC_WARMUP_LEAST) {
        lc_strbuf_puts(text, "first ones");
        return LC_OK;
    }
    LC_TRY(lc_warmup_find(runs, n, median, &warmup));
    if (warmup.end != LC_NO_END)
        lc_strbuf_printf(text, "warm since repetition %lld", (long long)warmup.end);
    else
        lc_strbuf_puts(text, "no warm-up seen");
    return LC_OK;
}

void lc_categorize(const double *runs, size_t n, double median, int64_t end, uint8_t *categories) {
    for (size_t i = 0; i < n; i++)
        categories[i] = i == 0                  ? LC_CATEGORY_FIRST
                        : (int64_t)i < end      ? LC_CATEGORY_WARMUP
                        : runs[i] >= 2 * median ? LC_CATEGORY_OUTLIER
                                                : LC_CATEGORY_GOOD;
}
