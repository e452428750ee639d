/* Edges that come in. */
#ifndef LC_MEASURE_CLOCKS_EDGES_H
#define LC_MEASURE_CLOCKS_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "piggyback/logical.h"
#include "piggyback/ring.h"

/* The edge of one entry of `source`, at `now`. `extra`: the entry came as record (edges.c). */
void lc_clk_edge_far(struct lc_clk_thread *k, uint32_t source, const struct lc_stamp *stamp,
                     uint64_t now, const uint64_t *extra, uint32_t n_extra);

static inline void lc_clk_edge(struct lc_clk_thread *k, uint32_t source,
                               const struct lc_stamp *stamp, uint64_t now, const uint64_t *extra,
                               uint32_t n_extra) {
    if (lc_likely(lc_clk.areas[source].head != NULL && n_extra == 0))
        lc_logical_take(&k->l, stamp, now, &lc_clk.areas[source]);
    else
        lc_clk_edge_far(k, source, stamp, now, extra, n_extra);
}

/* Vector and what-if clocks of the thread for a record, these as they were when it made the stamp
 * (NULL: now); at most `room` items of the vector. Returns the number of words. */
uint32_t lc_clk_extra(struct lc_clk_thread *k, const struct lc_stamp *then, uint32_t room,
                      uint64_t *extra);

/* Adds n items (key, ns) to the vector of a record: as if it had been made after this work. */
void lc_clk_extra_add(uint64_t *extra, const struct lc_cp_item *items, uint32_t n);

/* The what-if clocks in nanoseconds, LC_WHATIF_MAX words. */
void lc_clk_whatif_words(const struct lc_clk_thread *k, const struct lc_stamp *then,
                         uint64_t *words);

/* An operation over a communicator whose constructor is not in the table of calls: no edge, as the
 * members have not agreed on a number for it. */
LC_COLD void lc_clk_count_unseen(uint64_t *kind);

#endif
