/* Several launches of one job on each side: how much launches differ decides, not repetitions.
 * docs/definitions/micro-benchmark.md, section 3. */
#ifndef LC_BENCH_COMPARE_LAUNCHES_H
#define LC_BENCH_COMPARE_LAUNCHES_H

#include "bench/bench_compare.h"

/* By which factor two launches of the same may differ where that is not known: 95 % of pairs on
 * the machine of the tests (docs/definitions/micro-benchmark.md). */
#define LC_LAUNCHES_DIFFER 4.0

/* a[n_a], b[n_b]: launches, one at least. One each: as lc_bench_compare(), and where both were
 * measured by this tool the band gets room for other launches. seed, pairs: as there.
 * LC_ERR_NOMEM. */
enum lc_err lc_bench_compare_launches(const struct lc_fingerprint *const *a, size_t n_a,
                                      const struct lc_fingerprint *const *b, size_t n_b,
                                      uint64_t seed, size_t pairs, struct lc_bench_pair *pair);

#endif
