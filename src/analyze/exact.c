#include "analyze/exact.h"

#include <stdint.h>

static const double parts_per_one = 0x1p40, most_parts = 0x1p100, least_long = 0x1p62;

/* Wraps around instead of having no meaning, should ever so many of the largest values come. */
static void add(struct lc_exact *sum, __int128 parts) {
    sum->parts = (__int128)((unsigned __int128)sum->parts + (unsigned __int128)parts);
}

void lc_exact_add(struct lc_exact *sum, double value) {
    double parts = value * parts_per_one;
    if (parts > -least_long && parts < least_long) {
        add(sum, (int64_t)(parts + (parts < 0 ? -0.5 : 0.5)));
        return;
    }
    parts = parts < most_parts ? parts : most_parts;
    add(sum, (__int128)(parts > -most_parts ? parts : -most_parts));
}

double lc_exact_get(const struct lc_exact *sum) {
    return sum->parts == (int64_t)sum->parts ? (double)(int64_t)sum->parts / parts_per_one
                                             : (double)sum->parts / parts_per_one;
}
