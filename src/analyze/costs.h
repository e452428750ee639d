/* Where costs are added up before they become metrics: rows of doubles per (location, metric), one
 * value per call path that the location visits; a row exists once something was booked. Also the
 * names of the metrics of root causes.
 *
 * Each value is booked by the owner of the location, in an order that does not depend on the number
 * of ranks. Used by delay.c, long_term.c, classification.c. */
#ifndef LC_ANALYZE_COSTS_H
#define LC_ANALYZE_COSTS_H

#include "analyze/exact.h"
#include "analyze/profile.h"

enum lc_cost_kind {
    LC_COST_LS,
    LC_COST_LR,
    LC_COST_PROBE,
    LC_COST_BARRIER,
    LC_COST_N2N,
    LC_COST_12N,
    LC_COST_N21,
    LC_COST_SCAN,
    LC_COST_MGMT,
    LC_COST_FINALIZE,
    LC_COST_RMA, /* windows: fences, post-start-complete-wait, locks, construction */
    LC_COST_IO,
    LC_COST_NEIGHBOR,
    LC_COST_OMPBARRIER, /* from here on: threads */
    LC_COST_OMPIDLE,
    LC_COST_LOCK,
    LC_COST_OMPTASK,
    LC_COST_KINDS
};

enum lc_delay_model { LC_PROPORTIONAL, LC_WAIT_FIRST, LC_MODELS };

enum lc_cost_metric {
    LC_SHORT_TERM,
    LC_LONG_TERM,
    LC_DIRECT,
    LC_INDIRECT,
    LC_PROPAGATING,
    LC_TERMINAL,
    LC_COST_METRICS
};

enum { LC_COST_ROWS = LC_COST_METRICS * LC_MODELS * LC_COST_KINDS };

struct lc_costs {
    const struct lc_timelines *lines;
    double *(*rows)[LC_COST_ROWS]; /* per location of this rank */
    /* per location of this rank and call path of the trace: time by which the location was late,
     * counted once however many have waited; NULL: never, or samples have divided nothing */
    double **excess;
    struct lc_exact published[LC_COST_ROWS]; /* sums of rows that are in the results by now */
    uint32_t handles[LC_COST_ROWS];          /* in the results; LC_NONE: no metric of this trace */
    /* costs that ended at waiting without cause */
    struct lc_exact uncaused[LC_MODELS][LC_COST_KINDS];
    int64_t n_caused,
        n_indirect;           /* wait states with a cause; those of them with an indirect part */
    int64_t n_circles;        /* wait states in a circle (wrong clocks) */
    int64_t n_short_of_blame; /* w > D + W although not cut */
};

/* The costs that a kind of wait state (enum lc_wait_kind) has. */
enum lc_cost_kind lc_cost_kind_of(uint8_t wait_kind);
const char *lc_cost_kind_name(enum lc_cost_kind kind); /* "latesender" */

/* Rows of zeros for all locations of this rank; lc_costs_free frees them. LC_ERR_NOMEM. */
enum lc_err lc_costs_new(struct lc_costs *costs, const struct lc_timelines *lines);
/* Frees the rows, not the struct. */
void lc_costs_free(struct lc_costs *costs);

/* Adds to the call path with this index in the timeline of the location. Errors: LC_ERR_NOMEM. */
enum lc_err lc_costs_add(struct lc_costs *costs, size_t loc, enum lc_cost_metric metric,
                         enum lc_delay_model model, enum lc_cost_kind kind, uint32_t local_cnode,
                         double ticks);
/* What a call path of a location costs by now, of all kinds. */
double lc_costs_of(const struct lc_costs *costs, size_t loc, enum lc_delay_model model,
                   uint32_t local_cnode);
/* Costs of what samples found inside of an exact call path can be negative by chance, after all
 * have been booked: these become 0, the others inside that much less; the sum stays.
 * LC_ERR_NOMEM. */
enum lc_err lc_costs_settle(struct lc_costs *costs);
/* Index of a call path in the timeline, LC_NONE if the location never visits it. */
uint32_t lc_costs_local(const struct lc_timeline *line, uint32_t cnode);

/* Over all ranks: sums[i] becomes totals[i]. Collective. */
void lc_exact_total(const struct lc_transport *comm, const struct lc_exact *sums, double *totals,
                    size_t n);
/* Sums of what was published, by row (lc_cost_row). Collective. */
void lc_costs_totals(const struct lc_costs *costs, double totals[LC_COST_ROWS]);

static inline size_t lc_cost_row(enum lc_cost_metric metric, enum lc_delay_model model,
                                 enum lc_cost_kind kind) {
    return ((size_t)metric * LC_MODELS + model) * LC_COST_KINDS + kind;
}

/* Declares the metrics of this trace, the same on all ranks. Collective. Errors: LC_ERR_NOMEM. */
enum lc_err lc_costs_declare(struct lc_costs *costs, struct lc_results *results);
/* Moves the rows of a location into the results. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_costs_publish(struct lc_costs *costs, size_t loc, struct lc_results *results);

#endif
