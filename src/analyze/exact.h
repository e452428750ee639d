/* Sums of fractions that do not depend on the order of their parts: what is added is first rounded
 * to whole numbers of 2^-40, and these add up exactly. So a sum is the same to the last bit however
 * many ranks its parts come from. Used by costs.c, long_term.c, graph_spans.c. */
#ifndef LC_ANALYZE_EXACT_H
#define LC_ANALYZE_EXACT_H

enum { LC_EXACT_BITS = 40 }; /* of the fraction */

struct lc_exact { /* zero-initialise */
    __int128 parts;
};

/* Adds a value; beyond 2^60 it counts as that. */
void lc_exact_add(struct lc_exact *sum, double value);
/* The sum, rounded to a double. */
double lc_exact_get(const struct lc_exact *sum);

#endif
