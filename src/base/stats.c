#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

/* Neumaier's compensated sum */
static double stats_sum(const double *values, size_t count) {
    double sum = 0.0, lost = 0.0;
    for (size_t i = 0; i < count; i++) {
        double next = sum + values[i];
        lost += fabs(sum) >= fabs(values[i]) ? (sum - next) + values[i] : (values[i] - next) + sum;
        sum = next;
    }
    return sum + lost;
}

double lc_stats_mean(const double *values, size_t count) {
    return count == 0 ? 0.0 : stats_sum(values, count) / (double)count;
}

double lc_stats_quantile_sorted(const double *ascending, size_t count, double q) {
    if (count == 0)
        return 0.0;
    double place = q * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count)
        return ascending[count - 1];
    double part = place - (double)below;
    return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void lc_stats_sort(double *values, size_t count) {
    qsort(values, count, sizeof values[0], compare_doubles);
}

double lc_stats_share_error(double whole, double share, double n) {
    if (!(n > 0) || share <= 0)
        return 0.0;
    double p = (share * n + 1) / (n + 2);
    return whole * sqrt(p * (1 - p) / n);
}
