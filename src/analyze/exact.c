#include "analyze/exact.h"

static const double parts_per_one = 0x1p40, most_parts = 0x1p100, least_long = 0x1p62;

void lc_exact_add(struct lc_exact *sum, double value) {
    double parts = value * parts_per_one;
    if (parts > -least_long && parts < least_long) {
        sum->parts += (int64_t)(parts + (parts < 0 ? -0.5 : 0.5));
        return;
    }
    parts = parts < most_parts ? parts : most_parts;
    parts = parts > -most_parts ? parts : -most_parts;
    sum->parts += (__int128)parts;
}

double lc_exact_get(const struct lc_exact *sum) {
    return sum->parts == (int64_t)sum->parts ? (double)(int64_t)sum->parts / parts_per_one
                                             : (double)sum->parts / parts_per_one;
}

void lc_exact_total(const struct lc_transport *comm, const struct lc_exact *sums, double *totals,
                    size_t n) {
    enum { AT_ONCE = 128 };
    for (size_t first = 0; first < n; first += AT_ONCE) {
        int64_t values[2 * AT_ONCE];
        size_t many = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (size_t i = 0; i < many; i++) { /* whole ones, and what is left, which is positive */
            values[2 * i] = (int64_t)(sums[first + i].parts >> 40);
            values[2 * i + 1] = (int64_t)(sums[first + i].parts & (((int64_t)1 << 40) - 1));
        }
        lc_transport_allreduce_i64(comm, values, 2 * many, LC_OP_SUM);
        for (size_t i = 0; i < many; i++)
            totals[first + i] = (double)values[2 * i] + (double)values[2 * i + 1] / parts_per_one;
    }
}
