/* Phases and categories of the repetitions of a micro-benchmark:
 * docs/definitions/micro-benchmark.md, section 2; after [Roth 2021], section 4.5.
 *
 * Nouns
 *   run time x_i   of repetition i: the largest of all ranks, ns
 *   warm-up        repetitions 1 .. w-1, if there is an end w
 *   raw end        w by the cumulative minimum alone
 *   end            the raw end, if the level of run times really changes there; else where the
 *                  minimum falls by the most, if it does so there; else LC_NO_END */
#ifndef LC_BENCH_CATEGORIES_H
#define LC_BENCH_CATEGORIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

enum lc_category {
    LC_CATEGORY_FIRST,
    LC_CATEGORY_WARMUP,
    LC_CATEGORY_OUTLIER,
    LC_CATEGORY_GOOD,
    LC_CATEGORIES
};

enum { LC_NO_END = -1, LC_WARMUP_LEAST = 10 };

struct lc_warmup {
    int64_t raw_end, end; /* repetitions, or LC_NO_END */
    double p;             /* rank test: the level before is not higher; 1 without a raw end */
    double superiority;   /* chance that a run time before w is above one after it */
    double step;          /* fall of the level at w, in medians of all run times */
    double fall;          /* the same, as a part of the level before w */
};

/* "first", "warmup", "outlier" or "good"; static. */
const char *lc_category_name(enum lc_category category);

/* The smallest w >= LC_WARMUP_LEAST at which the cumulative minimum falls by a tenth of the median
 * or more; LC_NO_END. */
int64_t lc_warmup_raw_end(const double *runs, size_t n, double median);

/* Raw end and end; the rest of it is of the end, of the raw one where there is none.
 * LC_ERR_NOMEM. */
enum lc_err lc_warmup_find(const double *runs, size_t n, double median, struct lc_warmup *warmup);

/* Where a series is as far as it is known by now, in words for people: "first ones", "no warm-up
 * seen", "warm since repetition 48". LC_ERR_NOMEM. */
enum lc_err lc_phase_so_far(const double *runs, size_t n, double median, struct lc_strbuf *text);

/* categories[i] for each run; `end` as found. */
void lc_categorize(const double *runs, size_t n, double median, int64_t end, uint8_t *categories);

#endif
