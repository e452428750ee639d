#include "bench/precise.h"

#include "bench/categories.h"
#include "bench/dependent.h"

enum { LEAST = 50 };

enum lc_err lc_precise_enough(const double *runs, size_t n, double precision, bool *enough) {
    static const double quantiles[] = {0.5, 0.95};
    struct lc_quantile_interval q;
    struct lc_warmup warmup;
    *enough = false;
    if (n < LEAST)
        return LC_OK;
    LC_TRY(lc_dependent_quantile(runs, n, 0.5, &q));
    LC_TRY(lc_warmup_find(runs, n, q.value, &warmup));
    size_t from = warmup.end != LC_NO_END ? (size_t)warmup.end : 1;
    if (n - from < LEAST)
        return LC_OK;
    for (int i = 0; i < 2; i++) {
        LC_TRY(lc_dependent_quantile(runs + from, n - from, quantiles[i], &q));
        if (q.high - q.low > precision * q.value)
            return LC_OK;
    }
    *enough = true;
    return LC_OK;
}
