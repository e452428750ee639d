/* The comparison of two results in its forms. */
#ifndef LC_BENCH_COMPARE_TEXT_H
#define LC_BENCH_COMPARE_TEXT_H

#include "bench/bench_compare.h"
#include "bench/fingerprint_text.h"

struct lc_bench_comparison {
    struct lc_fingerprint **a, **b;
    size_t n_a, n_b;
    struct lc_bench_pair *pairs;                /* jobs of A with their partners in B */
    const struct lc_fingerprint **in_a, **in_b; /* [n] their first launches */
    size_t n;
    const struct lc_fingerprint **alone; /* [n_alone] jobs that the other side does not have */
    size_t n_alone, n_alone_a;           /* those of A come first */
    enum lc_bench_verdict verdict;       /* the gravest; not comparable if a job is alone */
};

/* Operands of each side: FILE or DIR, several launches of the same jobs;
 * lc_bench_comparison_free(), also after a failure. Errors: those of lc_bench_read_all. */
enum lc_err lc_bench_comparison_new(struct lc_bench_comparison *c, char *const *a, size_t n_a,
                                    char *const *b, size_t n_b, uint64_t seed);
/* Frees what it holds, not the struct. */
void lc_bench_comparison_free(struct lc_bench_comparison *c);

/* The JSON object, a new reference. */
json_t *lc_bench_comparison_json(const struct lc_bench_comparison *c);
void lc_bench_comparison_text(const struct lc_bench_comparison *c,
                              const struct lc_bench_page *page); /* to page->out */

#endif
