/* Collectives: who writes, who reads, who waits for whom
 * (docs/definitions/wait-states.md#23-collectives). Inside a node by logs in shared memory
 * (collectives.c); members on several nodes: shadow_collectives.c. */
#ifndef LC_MEASURE_CLOCKS_COLLECTIVES_H
#define LC_MEASURE_CLOCKS_COLLECTIVES_H

#include <stdint.h>
#include <stdbool.h>

#include "measure/clocks/call_state.h"
#include "measure/mpi/operations.h"
#include "measure/clocks/records.h"
#include "piggyback/ring.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/edges.h"
#include "piggyback/cpvec.h"

struct lc_request;
struct lc_shadow;
struct lc_shadow_batch;
struct lc_shadow_edge;

/* The deferred work of a blocking collective: reads the entries of the others, which had not
 * reached this core's cache when the call ended. */
void lc_clk_deferred_collective(struct lc_clk_thread *k, struct lc_deferred *deferred);

/* a nonblocking collective is complete */
void lc_clk_coll_completed(struct lc_call *call, struct lc_clk_thread *k, struct lc_request *r);

/* The end of an operation where clocks lag behind the program; call NULL: nothing is read from the
 * node's log. With lc_clk.lock. */
void lc_clk_coll_over(struct lc_clk_thread *k, struct lc_call *call, struct lc_clk_coll *x);

/* Collective operations where clocks lag behind the program (backlog.h): their begin, their
 * publication and their end are events of the backlog. */

/* A member enters. */
void lc_clk_coll_begin_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                  const struct lc_coll *coll, struct lc_clk_coll *x);
/* Publishes this member's clocks as they are at the begin of the call; once per operation. */
void lc_clk_coll_publish_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                    struct lc_clk_coll *x);
/* The operation is complete when the call ends. */
void lc_clk_coll_end_in_backlog(struct lc_call *call, struct lc_clk_thread *k, struct lc_coll *coll,
                                struct lc_clk_coll *x);
/* The operation is complete; x is released by its event. */
void lc_clk_coll_over_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                 struct lc_clk_coll *x);
/* MPI has refused the operation, or it failed; lc_clk_coll_over_in_backlog follows. */
void lc_clk_coll_failed_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                   struct lc_clk_coll *x);

/* The synchronisation of all members of a communicator (both groups) in its constructor. */
void lc_clk_constructor_sync_in_backlog(struct lc_call *call, struct lc_clk_thread *k,
                                        struct lc_comm *comm);

/* Shadow collectives: what carries the clocks of a collective operation whose members share no
 * memory, in parts of packets between its members. Nobody waits for one. With lc_clk.lock. */

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

struct lc_shadow_record {
    uint64_t n;                               /* members that contributed */
    double useful, outside_omp, phase_useful; /* ns */
    uint32_t interval, phase;
    double latest, earliest; /* ns of the global clock */
    uint32_t latest_rank, latest_node, earliest_rank, earliest_node;
    uint64_t extra[LC_RECORD_EXTRA];
    uint64_t past[LC_PAST_WORDS]; /* of latest_rank (origins.h); 0: none */
};

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

/* One shadow collective, for shadow_collectives.c and composed_collectives.c; its place in the
 * tree. */

/* What a member did from one operation to the next (composed_collectives.c). */
struct lc_shadow_step {
    double work; /* ns: the most of a member; where that was */
    struct lc_cp_item items[LC_STEP_ITEMS];
    uint64_t n_items;
    double whatif[LC_WHATIF_MAX];
    double latest; /* ns of the global clock */
    uint32_t latest_rank, latest_node;
    /* at the begin, at the end of the member where it was least; as no step changed it */
    double outside_omp, outside_omp_end;
};

struct lc_shadow {
    struct lc_shadow *next, *previous; /* of those under way */
    struct lc_clk_comm *c;
    /* of the operation, its lowest 31 bits: far fewer are under way; those of constructors (struct
     * lc_clk_coll, constructor) have the bit above */
    uint32_t number;
    enum lc_coll_kind kind;
    bool inter, both;              /* two groups; and each waits for all of both */
    bool direct;                   /* no tree */
    const int32_t *ranks, *others; /* of the own group (intra: of all), of the other one */
    int32_t n, me, n_others, root;
    bool is_root, takes_part;   /* inter: a member of the root's group need not */
    bool own, sent, come, over; /* come: `received` is complete; over: nothing to pass on */
    bool wanted;                /* the backlog holds it, or a late edge */
    int32_t *to, *from;         /* pairs: world ranks; from: -1 when it has come */
    int32_t n_to, n_from, n_received;
    uint64_t received_from; /* children of the tree, by step */
    /* reduced with others (collectives.h) */
    bool composed, chained;           /* chained: among those of its communicator */
    struct lc_shadow *after, *before; /* of its communicator */
    bool soon;                        /* it came soon after the one before */
    bool relative, ended, few;        /* few: it is sent alone */
    uint64_t enter, end, origin,
        published;                 /* ticks; of outside_omp; when its clocks were published */
    struct lc_work_since did;      /* this member since the one before, if relative */
    struct lc_shadow_batch *batch; /* it is the first of this one */
    /* of this one the number of steps that were counted, and the last of them (NULL: none yet) */
    uint32_t n_steps;
    struct lc_shadow *last_step;
    struct lc_shadow_record mine, up, received; /* not cleared: empty_record */
};

static inline uint32_t lc_shadow_context(const struct lc_shadow *m) {
    return (m->c->context ^ 0x73686164) | LC_CONTEXT_FIRST;
}

/* ---- trees: place 0 is the root, the parent of v is v without its lowest bit */

enum { LC_SHADOW_LEVELS = 31 };

static inline int32_t lc_shadow_rank_at(const struct lc_shadow *m, int32_t place) {
    return m->ranks[(place + m->root) % m->n];
}

static inline int32_t lc_shadow_place(const struct lc_shadow *m) {
    return (m->me - m->root + m->n) % m->n;
}

/* The place of a child; -1: none at this level. */
static inline int32_t lc_shadow_child(const struct lc_shadow *m, int level) {
    int32_t v = lc_shadow_place(m), bit = (int32_t)1 << level;
    return (v == 0 || bit < (v & -v)) && v + bit < m->n ? v + bit : -1;
}

/* The rank of the parent. */
static inline int32_t lc_shadow_parent(const struct lc_shadow *m) {
    int32_t v = lc_shadow_place(m);
    return lc_shadow_rank_at(m, v & (v - 1));
}

/* ---- those under way */

void lc_shadow_free_spare(void); /* memory of those that are over */
/* If nothing is to be done for it any more it goes, unless the backlog holds it. */
void lc_shadow_go(struct lc_shadow *m);
/* The one with this context and number; NULL: not begun. */
struct lc_shadow *lc_shadow_find(uint32_t context, uint32_t number);

/* Several collectives combined in one reduction. In a barrier, an allreduce, .. every member gets
 * the clocks of every other one, so that all clocks are equal after it. Where all members do
 * nothing but work until they enter the next one on the same communicator, the clocks after that
 * are those before plus the most work of a member: a *step*. Steps need not wait for clocks, so a
 * member sends several at once; the maxima of several steps take one message up the tree and one
 * down.
 *
 * Nouns
 *   first   the operation whose turn it is: the members send their clocks
 *   step    an operation after it, as a function of the clocks after the one before
 *   batch   the first one and some steps, as many as every member knows of
 *
 * Invariants: batches of one communicator follow each other, the next one begins when a member has
 * the last one. All members take the same steps of a batch: where the clocks of a member were not
 * the same after an operation (another interval or phase; an edge that came in earlier than any
 * before changes outside_omp), the batch ends there for all. Only the first thread
 * composes; others send operations one by one. With lc_clk.lock, but for the functions of the
 * thread's own. */

enum { LC_STEPS = 19, LC_STEPS_WAIT_US = 20000, LC_STEPS_SOON_US = 5000 };

/* ---- what the thread did since the last operation; not locked */

/* It has worked so long in this node; `part`: of the time until the next call. */
void lc_clk_composed_worked(uint64_t ticks, uint32_t node, bool part);
/* This was a portion of it. */
void lc_clk_composed_portion(const struct lc_portion_done *portion);
/* Something else has happened that changes clocks or publishes them. */
void lc_clk_composed_break(void);

/* ---- operations */

/* The member enters this one. */
void lc_clk_composed_begin(struct lc_shadow *m, uint64_t enter);
/* It is over, and its edge will be made. */
void lc_clk_composed_end(struct lc_shadow *m, uint64_t end);
/* Does for it what is possible now: send its clocks, pass on those of others, take the result. */
void lc_clk_composed_advance(struct lc_shadow *m);
/* It does not count among the operations of its communicator. */
void lc_clk_composed_drop(struct lc_shadow *m);

/* A part of a packet: the first word is LC_COMPOSED_MARK, then come context and number of the
 * operation, and the batch. */
#define LC_COMPOSED_MARK (0x636f6d70ull << 32)
static inline bool lc_clk_composed_is(const uint64_t *words, int n) {
    return n >= 2 && words[0] == LC_COMPOSED_MARK;
}
/* Takes in the part of a packet that lc_clk_composed_is saw. */
void lc_clk_composed_part(uint32_t source, const uint64_t *words, uint32_t n);
/* Advances those that have waited long enough for more steps to combine. */
void lc_clk_composed_progress(void);
/* May some of them have waited long enough (now: lc_patience_ticks)? Any thread may ask, without
 * the lock. */
bool lc_clk_composed_waits(uint64_t now);
/* on: from now on no operation waits for more steps to combine. */
void lc_clk_composed_eager(bool on);

#endif
