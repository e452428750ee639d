/* How much the measuring itself disturbs, over all fingerprints of several launches (`--audit`):
 * docs/definitions/micro-benchmark.md, "Several launches". */
#ifndef LC_BENCH_BENCH_AUDIT_H
#define LC_BENCH_BENCH_AUDIT_H

#include <jansson.h>

#include "bench/fingerprint.h"
#include "bench/fingerprint_text.h"

enum lc_audited {
    LC_AUDIT_EMPTY,        /* median of `empty`, ns: what is in every run time */
    LC_AUDIT_SHARE,        /* that, relative to the median of each operation beside it */
    LC_AUDIT_PERTURBATION, /* by reading counters, relative */
    LC_AUDIT_SKEW,         /* median of how far apart ranks began, ns */
    LC_AUDIT_CLOCK,        /* how well the global clock is known, ns */
    LC_AUDITED
};

struct lc_bench_audit {
    struct {
        double *values;
        size_t n, room;
    } of[LC_AUDITED];
};

/* Takes what the fingerprints of one launch say; `empty` should be one of them. LC_ERR_NOMEM. */
enum lc_err lc_bench_audit_add(struct lc_bench_audit *audit, struct lc_fingerprint *const *all,
                               size_t n);
/* Per key {"median", "largest", "n"}; null where nothing tells. Sorts what it holds. */
json_t *lc_bench_audit_json(struct lc_bench_audit *audit);
/* Frees what it holds, not the struct. */
void lc_bench_audit_free(struct lc_bench_audit *audit);

/* A paragraph of that object; nothing where it is NULL. */
void lc_bench_audit_text(const json_t *audit, const struct lc_bench_page *page);

#endif
