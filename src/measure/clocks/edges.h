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
#include "piggyback/portions.h"

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

/* The what-if clocks in nanoseconds, LC_WHATIF_MAX words; returns their generation. */
uint32_t lc_clk_whatif_words(const struct lc_clk_thread *k, const struct lc_stamp *then,
                             uint64_t *words);

/* What the post of its receive says of a send to this rank, whose call lasted from `begin` to
 * `end`: is there an edge, from the post to the end of the call? Only where the call ended after
 * the post; between nodes a synchronous send always did, whatever their clocks say. Any other send
 * may have ended later for reasons of its own: it has an edge where it waited. *waited: ticks that
 * the call waited for the post. */
static inline bool lc_clk_post_edge(uint32_t to, bool synchronous, uint64_t posted, uint64_t begin,
                                    uint64_t end, uint64_t *waited) {
    bool after = posted < end || (synchronous && lc_clk.areas[to].head == NULL);
    *waited = after && posted > begin ? lc_min(posted, end) - begin : 0;
    return after && (synchronous || *waited > 0);
}

/* An operation over a communicator whose constructor is not in the table of calls: no edge, as the
 * members have not agreed on a number for it. */
LC_COLD void lc_clk_count_unseen(uint64_t *kind);

/* Open edges: a call waits for nothing that comes from elsewhere. Where its clocks or its wait
 * state depend on what is not known when it ends, that is open: the record of a message or the
 * clocks of a collective operation, because the backlog had to force the event (backlog.h); when
 * the receive of a message was posted, because its reply is on its way. Once it is known, from the
 * begin of a later call on, the edge counts as if it had come in time, except in what was published
 * meanwhile (counts.edges_late), and the wait state is booked with the call. With lc_clk.lock, if
 * nothing else is said. */

struct lc_ended;
struct lc_shadow;

/* The edge of a message whose entry is pending; takes `item`. Where a thread has more open edges
 * than it can keep, messages of one source share the record of the latest. */
void lc_clk_open_message(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                         struct lc_stashed *item);
/* The edge of a collective operation, whose wait state is of this kind (LC_MEASURED_KINDS: none).
 * False: there is no room, the edge is missing; else `shadow` is wanted until the edge is made. */
bool lc_clk_open_collective(struct lc_clk_thread *k, const struct lc_call *call,
                            struct lc_shadow *shadow, enum lc_measured_wait kind);
/* The edge from the post of the receive of a message that was sent, the wait for it, or both. */
void lc_clk_open_post(struct lc_clk_thread *k, const struct lc_call *call,
                      const struct lc_ended *sent, bool edge, bool wait);
/* Makes the edges of this thread that have become known. Takes lc_clk.lock. */
void lc_clk_open_edges_take(struct lc_clk_thread *k);
/* Is the wait of a send open? */
bool lc_clk_waits_for_posts(void);
/* An edge that is not made: clocks are too low by so many ticks, at most. Of what-if clocks that is
 * not known, so it is taken to be as much. */
void lc_clk_count_missing(uint64_t ticks);

/* A reply of a late receiver was read (lc_match_calls). */
void lc_clk_reply(void *user, uint32_t source, const struct lc_ring_entry *entry);
/* The reply to message `seq` to this rank; NULL: none. Valid until the next reply is read. */
const struct lc_reply_slot *lc_clk_find_reply(uint32_t rank, uint32_t seq);
/* Vector and what-if clocks that came with a reply, before the reply itself is read. */
void lc_clk_reply_extra(uint32_t rank, int32_t seq, const uint64_t *extra, uint32_t n);

/* What a thread worked since a moment, as far as it can be told in few words:
 * composed_collectives.c and turns.c send it in place of clocks that are not known yet. */

enum { LC_STEP_ITEMS = 3 };

struct lc_work_since {
    uint64_t ticks, whatif[LC_WHATIF_MAX]; /* of the scenarios that the user has named */
    struct lc_portion_done portions[LC_STEP_ITEMS];
    uint32_t n_portions;
    struct lc_cp_item items[LC_STEP_ITEMS]; /* ticks by call path */
    uint32_t n_items;
    uint32_t node, longest_node; /* as struct lc_logical has them */
    uint64_t longest;
};

/* It has worked so many ticks in this node; `part`: of the time until the next call. False: in more
 * call paths than LC_STEP_ITEMS. */
bool lc_work_add(struct lc_work_since *w, uint64_t ticks, uint32_t node, bool part);

/* A portion of it. False: there are more than LC_STEP_ITEMS. */
bool lc_work_portion(struct lc_work_since *w, const struct lc_portion_done *portion);

/* By how much the work makes the what-if clocks grow, ticks. Of scenarios that the library has
 * chosen that is known where this rank's clocks have passed the last point before it
 * (what_if_factors.h). */
void lc_work_whatif(const struct lc_work_since *w, uint64_t whatif[LC_WHATIF_MAX]);

/* The work by call path in nanoseconds; returns the number of items. */
uint32_t lc_work_items(const struct lc_work_since *w, struct lc_cp_item *items);

#endif
