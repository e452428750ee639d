/* Root causes of wait states (docs/definitions/wait-states.md#3-root-causes): synchronisation
 * intervals, difference profiles, short-term costs, and what long_term.c needs to pass costs on and
 * classification.c to divide the waiting itself.
 *
 * The interval of a wait state lives at the owner of its *cause*: there the excess of the cause per
 * call path (D) and the waiting of the cause inside the interval (W) are known, and there costs are
 * booked. The profile of the waiting location comes from its owner, a batch of windows at a time.
 * Intervals are in order of (cause, release, start, waiting location), whatever the number of
 * ranks. */
#ifndef LC_ANALYZE_DELAY_H
#define LC_ANALYZE_DELAY_H

#include "analyze/costs.h"

struct lc_sync_interval {
    uint64_t state;  /* number of the wait state in the trace */
    int64_t from;    /* T* */
    int64_t start;   /* s */
    int64_t release; /* u */
    int64_t ticks;   /* w */
    int64_t code;    /* D */
    int64_t waits;   /* W */
    uint64_t excess; /* first entry of D[c]; the last: that of the next interval */
    uint32_t waiting, cause;
    uint32_t cause_cnode;
    uint32_t first_v, n_v; /* the states of the cause in the interval, by index in its timeline */
    uint8_t kind;          /* enum lc_cost_kind */
    uint8_t cut;
};

struct lc_delay {
    const struct lc_timelines *lines;
    struct lc_costs *costs;
    struct lc_sync_interval *intervals; /* n_intervals + 1: the last one only closes `excess` */
    size_t n_intervals;
    uint32_t *excess_cnode; /* index in the timeline of the cause */
    int64_t *excess_ticks;
    size_t n_excess, cap_excess, cap_excess_ticks;
    /* per state of this rank */
    struct lc_state_blame {
        int64_t code, waits;      /* D and W of its interval; both 0 without cause */
        double handed[LC_MODELS]; /* the largest share of a later wait state */
        uint32_t cause;           /* LC_NONE: none */
        uint32_t interval;        /* its index at the owner of the cause */
    } * blame;
};

/* Intervals and short-term costs. Collective. Errors: LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_delay_run(struct lc_delay *delay, const struct lc_timelines *lines,
                         struct lc_costs *costs);
/* Keeps D and W of every wait state in the trace (lc_loc.parts). Errors: LC_ERR_NOMEM. */
enum lc_err lc_delay_keep_parts(const struct lc_delay *delay);
/* Frees what it holds, not the struct. */
void lc_delay_free(struct lc_delay *delay);
/* Frees what only costs and chains need; the blame per state stays. */
void lc_delay_free_intervals(struct lc_delay *delay);

/* How the waiting of an interval is divided (docs/definitions/wait-states.md#33-delay-costs):
 * shares of the code and of the waits of the cause; their sum is 1. */
static inline void lc_delay_shares(enum lc_delay_model model, int64_t ticks, int64_t code,
                                   int64_t waits, double *to_code, double *to_wait) {
    *to_code = 1;
    *to_wait = 0;
    if (code + waits == 0)
        return;
    if (model == LC_PROPORTIONAL) {
        *to_code = (double)code / (double)(code + waits);
        *to_wait = (double)waits / (double)(code + waits);
    } else {
        int64_t handed = waits < ticks ? waits : ticks;
        *to_code = (double)(ticks - handed) / (double)ticks;
        *to_wait = (double)handed / (double)ticks;
    }
}

/* The call paths of the cause that are to blame for the costs of an interval. */
size_t lc_delay_n_blamed(const struct lc_sync_interval *interval);
/* Number i of them: its part of `ticks`; *local: its index in the timeline of the cause. */
double lc_delay_blamed(const struct lc_delay *delay, const struct lc_sync_interval *interval,
                       size_t i, double ticks, uint32_t *local);

#endif
