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
#include "piggyback/cpvec.h"

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

/* Late edges: the record of a message, or the clocks of a collective operation, arrive after those
 * of the call that received it were published, because the backlog had to force its event
 * (backlog.h). A late edge counts as if it had arrived in time, except in what was published
 * meanwhile (counts.edges_late). Where there are more of them than a thread can keep, messages of
 * one source share the record of the latest. With lc_clk.lock. */

struct lc_call;
struct lc_clk_thread;
struct lc_shadow;
struct lc_stashed;

/* Registers the edge of a message whose entry is still pending; takes `item`. */
void lc_clk_late_edge_add(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                          struct lc_stashed *item);
/* The same of a collective operation, whose wait state is of this kind (LC_MEASURED_KINDS: none).
 * False: there is no room, the edge is missing; else `shadow` is wanted until the edge is made. */
bool lc_clk_late_collective_add(struct lc_clk_thread *k, const struct lc_call *call,
                                struct lc_shadow *shadow, enum lc_measured_wait kind);

/* Adds the edges of this thread whose entries have arrived. */
void lc_clk_late_edges_take(struct lc_clk_thread *k);

/* What a thread worked since a moment, as far as it can be told in few words:
 * composed_collectives.c and turns.c send it in place of clocks that are not known yet. */

enum { LC_STEP_ITEMS = 3 };

struct lc_work_since {
    uint64_t ticks, whatif[LC_WHATIF_MAX];
    struct lc_cp_item items[LC_STEP_ITEMS]; /* ticks by call path */
    uint32_t n_items;
    uint32_t node, longest_node; /* as struct lc_logical has them */
    uint64_t longest;
};

/* It has worked so many ticks in this node; `part`: of the time until the next call. False: in more
 * call paths than LC_STEP_ITEMS. */
bool lc_work_add(struct lc_work_since *w, uint64_t ticks, uint32_t node, bool part);

/* The work by call path in nanoseconds; returns the number of items. */
uint32_t lc_work_items(const struct lc_work_since *w, struct lc_cp_item *items);

#endif
