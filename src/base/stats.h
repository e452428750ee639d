/* Small exact statistics over arrays. Sums are compensated, so results do not depend on the number
 * of values. */
#ifndef LC_BASE_STATS_H
#define LC_BASE_STATS_H

#include <stddef.h>

/* The arithmetic mean; 0 of no values. */
double lc_stats_mean(const double *values, size_t count);
/* Quantile q in [0,1] of ascending values, linear between neighbours (type 7 of Hyndman and Fan); 0
 * for no values. */
double lc_stats_quantile_sorted(const double *ascending, size_t count, double q);
/* Sorts in place, ascending. */
void lc_stats_sort(double *values, size_t count);
/* Standard error of a part of `whole` that n draws of equal weight found with a share; by Laplace's
 * estimate of it, so that few draws that all agree are not certain. 0 for a share of 0. */
double lc_stats_share_error(double whole, double share, double n);

#endif
