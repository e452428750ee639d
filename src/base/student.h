/* Intervals of means: Student's distribution, and two samples that need not have the same variance
 * (Welch 1947). Samples in the order in which they were taken: where neighbours are alike
 * (iterations of a loop that drifts), they count for fewer. */
#ifndef LC_BASE_STUDENT_H
#define LC_BASE_STUDENT_H

#include <stddef.h>

#define LC_STUDENT_MOST 1000000 /* values that anybody is asked for */

/* The t with P(|T| <= t) = level, for `freedom` > 0 degrees of freedom; 0 < level < 1. */
double lc_student_quantile(double level, double freedom);

struct lc_difference {
    double mean_a, mean_b, delta; /* delta = mean_b - mean_a */
    double half;                  /* half the width of the interval of delta; INFINITY: cannot be
                                     told (fewer than two values on a side) */
    double var_a, var_b;          /* of a single value; NAN: cannot be told */
};

/* The difference of the means of two samples with its interval at this level. */
struct lc_difference lc_student_compare(const double *a, size_t n_a, const double *b, size_t n_b,
                                        double level);

/* How many values on each side show a difference `delta` of the means with this probability
 * (`power`, 0.5 to 1), where single values have these variances: the least n with
 * delta >= (t(level) + t(2 power - 1)) sqrt((var_a + var_b) / n), with Welch's degrees of freedom.
 * From `least` (2 or more) to LC_STUDENT_MOST, which also stands for all that is more. */
size_t lc_student_needed(double var_a, double var_b, double delta, double level, double power,
                         size_t least);

#endif
