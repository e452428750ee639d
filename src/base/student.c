#include "base/student.h"

#include <math.h>
#include <stdbool.h>

#include "base/lookup.h"
#include "base/stats.h"

/* Continued fraction of the incomplete beta function (Lentz). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step = 1.0;
        for (int half = 0; half < 2; half++) {
            double term = half == 0 ? even : odd;
            d = 1.0 + term * d;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            c = 1.0 + term / c;
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            value *= step;
        }
        if (fabs(step - 1.0) < 1e-14)
            break;
    }
    return value;
}

/* The regularised incomplete beta function. */
static double beta_share(double a, double b, double x) {
    if (x <= 0.0 || x >= 1.0)
        return x <= 0.0 ? 0.0 : 1.0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

/* P(|T| > t) falls with t: bisection. */
double lc_student_quantile(double level, double freedom) {
    double low = 0.0, high = 1.0;
    while (beta_share(freedom / 2, 0.5, freedom / (freedom + high * high)) > 1.0 - level &&
           high < 1e12)
        high *= 2.0;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        double middle = (low + high) / 2;
        if (beta_share(freedom / 2, 0.5, freedom / (freedom + middle * middle)) > 1.0 - level)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Variance of the mean, that of a single value, and how many independent values the sample is
 * worth: n (1 - r) / (1 + r) where the correlation r of neighbours is more than chance
 * (1.645 / sqrt n). */
static double variance_of_mean(const double *values, size_t n, double mean, double *variance,
                               double *worth) {
    double square = 0.0, neighbours = 0.0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        square += (values[i] - mean) * (values[i] - mean);
        if (i > 0)
            neighbours += (values[i] - mean) * (values[i - 1] - mean);
    }
    *variance = square / (count - 1.0);
    double r = square > 0.0 ? neighbours / square : 0.0;
    *worth = r > 1.645 / sqrt(count) && n > 4 ? count * (1.0 - r) / (1.0 + r) : count;
    if (*worth < 2.0)
        *worth = 2.0;
    return *variance / *worth;
}

struct lc_difference lc_student_compare(const double *a, size_t n_a, const double *b, size_t n_b,
                                        double level) {
    struct lc_difference d = {.mean_a = lc_stats_mean(a, n_a), .mean_b = lc_stats_mean(b, n_b)};
    double worth_a, worth_b;
    d.delta = d.mean_b - d.mean_a;
    d.half = INFINITY;
    d.var_a = d.var_b = NAN;
    if (n_a < 2 || n_b < 2)
        return d;
    double va = variance_of_mean(a, n_a, d.mean_a, &d.var_a, &worth_a);
    double vb = variance_of_mean(b, n_b, d.mean_b, &d.var_b, &worth_b);
    double both = va + vb;
    if (both <= 0.0) {
        d.half = 0.0;
        return d;
    }
    double freedom = both * both / (va * va / (worth_a - 1.0) + vb * vb / (worth_b - 1.0));
    d.half = lc_student_quantile(level, freedom) * sqrt(both);
    return d;
}

static bool is_enough(double var_a, double var_b, double delta, double level, double power,
                      size_t n) {
    double both = var_a + var_b;
    double freedom = both * both / (var_a * var_a + var_b * var_b) * (double)(n - 1);
    double t =
        lc_student_quantile(level, freedom) + lc_student_quantile(2.0 * power - 1.0, freedom);
    return delta >= t * sqrt(both / (double)n);
}

size_t lc_student_needed(double var_a, double var_b, double delta, double level, double power,
                         size_t least) {
    size_t low = least, high = least;
    if (var_a + var_b <= 0.0)
        return least;
    while (!is_enough(var_a, var_b, delta, level, power, high)) {
        if (high >= LC_STUDENT_MOST)
            return LC_STUDENT_MOST;
        low = high;
        high = high * 2 < LC_STUDENT_MOST ? high * 2 : LC_STUDENT_MOST;
    }
    /* low is too few, or `least` */
    return LC_FIRST_WHERE(n, low, high, n > low && is_enough(var_a, var_b, delta, level, power, n));
}
