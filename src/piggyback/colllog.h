/* Collectives: each rank keeps a log per communicator in its area; members number the operations
 * alike (MPI demands one order). A rank writes its entry before the call if its data goes to
 * others, and reads after the call only those whose data came to it.
 *
 * Nouns
 *   number   of the operation on this communicator, from 1; 64 bits, so none comes twice
 *   done     all operations up to this number are read by a rank (nonblocking ones: below the
 *            oldest still open); published in a line of its own every quarter of the log, and
 *            inside every entry
 *   safe     lower bound of the done of all members: what is not newer may be overwritten
 *   spill    segments for the entries of a member that is further ahead than the log is long (a
 *            root of broadcasts), found by the number; at most LC_SPILL_SEGMENTS
 *
 * Invariants: never waits, never overwrites what somebody may still read (an entry for which there
 * is no room in the spill either is skipped and counted); an entry that does not carry the number
 * is not there: no edge. */
#ifndef LC_PIGGYBACK_COLLLOG_H
#define LC_PIGGYBACK_COLLLOG_H

#include "piggyback/ring.h"

struct lc_log_entry {
    struct lc_stamp stamp;
    _Atomic uint64_t number; /* 0: nothing was written here */
    uint64_t done;
};

struct lc_log_head {
    _Atomic uint64_t done;
    _Atomic uint64_t spill; /* offset of a struct lc_log_spill; 0: not yet */
    _Atomic uint64_t left;  /* other members that have freed the communicator */
    uint64_t unused[5];
    struct lc_log_entry entries[];
};

enum { LC_LOG_OPEN = 16, LC_SPILL_SEGMENTS = 256, LC_SPILL_ENTRIES = 64 };

struct lc_log_spill { /* segment of operation n: [n / LC_SPILL_ENTRIES % LC_SPILL_SEGMENTS] */
    _Atomic uint64_t segments[LC_SPILL_SEGMENTS]; /* offsets of LC_SPILL_ENTRIES entries; 0: none */
};

struct lc_colllog {
    uint64_t id;      /* of the communicator, equal on all members */
    uint32_t n, me;   /* members */
    uint32_t entries; /* power of two */
    uint64_t next;    /* number of the next operation */
    uint64_t done, safe, published;
    uint64_t open[LC_LOG_OPEN];   /* nonblocking operations not yet read */
    uint32_t n_open, n_unlisted;  /* beyond LC_LOG_OPEN: done stays until they are over */
    struct lc_log_head *mine;     /* NULL: no memory */
    struct lc_log_head **theirs;  /* by member; NULL: not found yet */
    const struct lc_area **areas; /* by member; NULL: not on this node */
    struct lc_area *area;         /* the own one */
    uint64_t look_again;          /* operation from which on `safe` is worth another look */
    uint64_t *spilled; /* by segment of the spill: its newest operation, 0 none; NULL: no spill */
    uint64_t n_skipped, n_spilled;
};

/* `reuse`: offset of the shared part of a freed log of the same number of entries, 0: none. It is
 * cleared: entries do not say whose they are. Errors: LC_ERR_NOMEM. */
enum lc_err lc_colllog_init(struct lc_colllog *log, struct lc_area *mine, uint64_t id, uint32_t n,
                            uint32_t me, uint32_t entries, uint64_t reuse);
struct lc_freed_log {    /* the shared part of a freed log, still in the table of logs */
    uint64_t id, offset; /* offset 0: none */
    uint64_t readers;    /* members that may still read it until they free the communicator too */
};
/* Frees private memory and marks the log for the other members. Freeing is collective, but does not
 * synchronise: others may still be about to read the last entries. */
void lc_colllog_free(struct lc_colllog *log, struct lc_area *mine, struct lc_freed_log *freed);
/* True: nobody reads it any more, it is out of the table and may be used by another communicator.
 */
bool lc_colllog_reusable(struct lc_area *mine, const struct lc_freed_log *freed);

/* Claims the number of an operation; every member calls it for every operation of the communicator.
 */
static inline uint64_t lc_colllog_begin(struct lc_colllog *log) {
    return log->next++;
}

/* The place of the entry of operation `op` where the log is full as far as is known: looks again,
 * else in the spill. NULL: skipped. */
struct lc_log_entry *lc_colllog_place_slow(struct lc_colllog *log, uint64_t op);
/* The place of the entry of operation `op`, before the MPI call: the caller writes the stamp there,
 * then lc_colllog_ready. NULL: skipped. */
static inline struct lc_log_entry *lc_colllog_place(struct lc_colllog *log, uint64_t op) {
    if (__builtin_expect(!log->mine || op - log->safe > log->entries, 0))
        return lc_colllog_place_slow(log, op);
    return &log->mine->entries[op & (log->entries - 1)];
}
static inline void lc_colllog_ready(const struct lc_colllog *log, uint64_t op,
                                    struct lc_log_entry *entry) {
    entry->done = log->done;
    /* release: who sees the number sees the fields; fence: the number goes before the later stores
     * of MPI (lc_colllog_read) */
    atomic_store_explicit(&entry->number, op, memory_order_release);
    atomic_thread_fence(memory_order_release);
    lc_line_hand_over(entry);
}

/* The log of a member, found in its area and kept; NULL: it has none yet. */
struct lc_log_head *lc_colllog_find(struct lc_colllog *log, uint32_t member);
/* The entry of `op` in the spill of a log that lies in `area`; NULL: not there. */
const struct lc_log_entry *lc_colllog_find_spilled(const struct lc_area *area,
                                                   const struct lc_log_head *head, uint64_t op);

/* The entry of a member, NULL: not there. It stays until this rank's done passes op. */
static inline const struct lc_log_entry *lc_colllog_read(struct lc_colllog *log, uint32_t member,
                                                         uint64_t op) {
    const struct lc_log_head *head = log->theirs[member];
    if (__builtin_expect(!head, 0)) {
        head = lc_colllog_find(log, member);
        if (!head)
            return NULL;
    }
    const struct lc_log_entry *entry = &head->entries[op & (log->entries - 1)];
    if (__builtin_expect(atomic_load_explicit(&entry->number, memory_order_acquire) != op, 0))
        return lc_colllog_find_spilled(log->areas[member], head, op);
    return entry;
}

/* A nonblocking operation stays open until lc_colllog_close; blocking ones call end only. */
void lc_colllog_keep_open(struct lc_colllog *log, uint64_t op);
/* The operation that was kept open is over. */
void lc_colllog_close(struct lc_colllog *log, uint64_t op);
/* Shows the others what this rank has read, so that they may overwrite it. */
void lc_colllog_publish(struct lc_colllog *log);
/* Operation `op`, the newest, did not take place here: the next one has its number. What was
 * written for it is written again, since who reads an entry of an operation expects this rank to
 * write it. */
static inline void lc_colllog_take_back(struct lc_colllog *log, uint64_t op) {
    if (log->next == op + 1)
        log->next = op;
}

/* Operation `op` is over: the place of a later entry is fetched. Who only writes may run ahead of
 * those who read, and fetches further ahead (broadcasts with cores far apart: -40 ns; where all
 * wait for all it is the next one: others cost 80 ns there). */
static inline void lc_colllog_claim(struct lc_colllog *log, uint64_t op, bool ahead) {
    if (__builtin_expect(log->mine != NULL, 1))
        lc_line_claim(&log->mine->entries[(op + (ahead ? 4 : 1)) & (log->entries - 1)]);
}
static inline void lc_colllog_end(struct lc_colllog *log, uint64_t op) {
    if (__builtin_expect(!log->n_open && !log->n_unlisted, 1))
        log->done = op;
    if (__builtin_expect(log->done - log->published >= log->entries / 4, 0))
        lc_colllog_publish(log);
}

#endif
