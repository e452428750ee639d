/* Shadow collectives: what carries the clocks of a collective operation whose members share no
 * memory, in parts of packets between its members. Nobody waits for one. With lc_clk.lock. */
#ifndef LC_MEASURE_CLOCKS_SHADOW_COLLECTIVES_H
#define LC_MEASURE_CLOCKS_SHADOW_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/mpi/operations.h"
#include "measure/clocks/records.h"
#include "piggyback/ring.h"

struct lc_call;
struct lc_clk_coll;
struct lc_clk_comm;
struct lc_clk_thread;
struct lc_coll;
struct lc_comm;
struct lc_shadow;
struct lc_shadow_edge;
struct lc_stamp;

/* This member is in the operation: what the others send is passed on from now on. coll NULL: every
 * member of both groups waits for every other one. NULL: no memory. */
struct lc_shadow *lc_clk_shadow_new(struct lc_call *call, const struct lc_clk_coll *x,
                                    const struct lc_comm *comm, const struct lc_coll *coll);
/* The program's operation is over, and its edge will be made. */
void lc_clk_shadow_ended(struct lc_shadow *m, uint64_t end);
/* MPI has refused it here: it does not count among those that are combined. */
void lc_clk_shadow_refused(struct lc_shadow *m);
/* The caller needs it no more, and there is nothing to pass on: it may be freed. */
void lc_clk_shadow_drop(struct lc_shadow *m);

/* Sends this member's clocks as they were at `stamp` (NULL: it sends no data, so none). */
void lc_clk_shadow_publish(struct lc_clk_thread *k, struct lc_shadow *m,
                           const struct lc_stamp *stamp);
/* Has the result for this member arrived? */
bool lc_clk_shadow_arrived(const struct lc_shadow *m);
/* Edge and wait of the call; the caller needs it no more. If the result has not arrived, the edge
 * is late (edges.h). */
void lc_clk_shadow_end(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                       struct lc_shadow *m);

/* Of a late edge into a call that ended at `end`, once the result has arrived; false: nothing. */
bool lc_clk_shadow_edge(const struct lc_shadow *m, uint64_t end, struct lc_shadow_edge *e);
/* The late edge is made: it is needed no more. */
void lc_clk_shadow_release(struct lc_shadow *m);

/* A part of this operation has arrived: passes on what can be passed on. */
void lc_clk_shadow_part(uint32_t context, uint32_t number);
/* Other members still need this one. */
bool lc_clk_shadows_left(void);
/* Drops what this member still has to pass on; counted. */
void lc_clk_shadows_give_up(void);

/* A timeout without progress; zero-initialise. */
enum { LC_GIVE_UP_MS = 2000 };
struct lc_clk_timeout {
    uint64_t left, since;
};
/* Called again and again: false once nothing is left, or `left`, a number that changes with every
 * progress, has stayed the same for so many milliseconds. */
bool lc_clk_within_timeout(struct lc_clk_timeout *t, uint64_t left, uint32_t ms);

/* What a member of a collective operation sends to the others where they share no memory; times and
 * clocks in nanoseconds of the global clock. */

struct lc_call;
struct lc_clk_coll;
struct lc_clk_thread;

struct lc_shadow_record {
    uint64_t n;                               /* members that contributed */
    double useful, outside_omp, phase_useful; /* ns */
    uint32_t interval, phase;
    double latest, earliest; /* ns of the global clock */
    uint32_t latest_rank, latest_node, earliest_rank, earliest_node;
    uint64_t extra[LC_RECORD_EXTRA];
    uint64_t past[LC_PAST_WORDS]; /* of latest_rank (origins.h); 0: none */
};

/* Of no member yet. */
void lc_shadow_empty(struct lc_shadow_record *r);
/* Only the words that are set. */
void lc_shadow_copy(const struct lc_shadow_record *from, struct lc_shadow_record *to);

/* The words that are set, at most sizeof *r of them; how many. */
uint32_t lc_shadow_pack(const struct lc_shadow_record *r, uint64_t *words);
/* Back. False: damaged. */
bool lc_shadow_unpack(const uint64_t *words, uint32_t n, struct lc_shadow_record *r);

/* Fills the record that this member sends of itself to the others. */
void lc_shadow_fill(struct lc_clk_thread *k, const struct lc_stamp *stamp,
                    struct lc_shadow_record *r);

/* b becomes the maximum of both; one with n 0 is neutral. */
void lc_shadow_merge(const struct lc_shadow_record *a, struct lc_shadow_record *b);

/* What the record says to a call that ended at `end`: the clocks of its edge, who it waited for and
 * when that one entered. */
struct lc_shadow_edge {
    struct lc_stamp stamp;
    const uint64_t *extra; /* LC_RECORD_EXTRA words, of the record */
    uint64_t release;
    uint32_t rank, node;
};

/* Edge into the call, and what it waited for. */
void lc_shadow_apply(struct lc_clk_thread *k, struct lc_call *call, const struct lc_clk_coll *x,
                     const struct lc_shadow_record *r);

#endif
