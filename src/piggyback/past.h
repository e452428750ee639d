/* What a thread did lately: its waiting, with those whose fault that was, and its work by call
 * path. Who waits for it looks there how much of its lateness it has from others, so that the cost
 * of waiting goes to where it began (docs/definitions/wait-states.md#33-delay-costs, wait-first).
 *
 * Nouns
 *   origin    code of a rank that costs others time: `direct` those who wait for that rank,
 *             `indirect` those who wait for them
 *   cause     the same inside of a wait: the largest LC_PAST_CAUSES, the rest is in none
 *   stretch   work in one call path without a pause
 *   gap       the time between two events; samples cut it into several stretches
 *   remote    the past of a rank of another node, from what came with its messages
 *   calls     when each of its latest calls began: what it tells others bears that time, so they
 *             find the thread of a rank that was late among several
 *
 * Invariant: direct + indirect of all origins + both rests = the waiting that was asked about. One
 * thread writes; others read at any time: what was overwritten meanwhile is not there. */
#ifndef LC_PIGGYBACK_PAST_H
#define LC_PIGGYBACK_PAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LC_PAST_CAUSES = 10,
    LC_PAST_WAITS = 512, /* of the first thread of a process; powers of two */
    LC_PAST_WORK = 1024,
    LC_THREAD_WAITS = 128, /* of a further one */
    LC_THREAD_WORK = 256,
    LC_PAST_CALLS = 256, /* of each, where there are several */
    LC_REMOTE_WAITS = 64,
    LC_REMOTE_WORK = 128,
    LC_ORIGINS = 32,
    LC_PAST_PARTS = 16
};

struct lc_past_cause {
    uint64_t key; /* rank << 32 | node */
    uint64_t ticks;
};

struct lc_past_wait {
    uint64_t begin, end, ticks; /* ticks: less than between these where several are one */
    uint32_t late_rank;
    uint16_t n;
    bool pairwise;       /* in an operation of these two ranks, in which no third one can be */
    uint8_t late_thread; /* number of its past, LC_PAST_ANY: not known */
    struct lc_past_cause causes[LC_PAST_CAUSES];
};

struct lc_past_work {
    uint64_t begin, end, ticks;
    uint64_t path; /* the same on all ranks for the same call path */
    uint32_t node;
    uint32_t same_gap; /* 1: of the same time between two events as the entry before it */
};

enum { LC_PAST_ANY = UINT8_MAX };

struct lc_past {
    _Atomic uint64_t n_waits, n_work; /* that were added so far */
    _Atomic uint64_t parted;          /* end of the last part of a gap that has several; 0: none */
    uint32_t cap_waits, cap_work;     /* powers of two; places follow */
    _Atomic uint64_t n_calls;         /* as n_waits; LC_PAST_CALLS places */
    uint64_t met;   /* in an area: offset of struct lc_met[n_ranks], when it waited for each */
    uint64_t calls; /* in an area: offset of the begins of calls; 0: they are not noted */
    uint64_t unused;
};

/* May these two numbers of pasts of a process be of the same thread? */
static inline bool lc_past_same(uint32_t a, uint32_t b) {
    return a == b || a == LC_PAST_ANY || b == LC_PAST_ANY;
}

/* Bytes of one with so many places, and making it in zeroed memory aligned to 64 bytes. */
size_t lc_past_size(uint32_t cap_waits, uint32_t cap_work);
void lc_past_init(struct lc_past *past, uint32_t cap_waits, uint32_t cap_work); /* see above */

/* A call of the thread begins; `begins`: LC_PAST_CALLS places. */
static inline void lc_past_call(struct lc_past *past, _Atomic uint64_t *begins, uint64_t time) {
    uint64_t n = atomic_load_explicit(&past->n_calls, memory_order_relaxed);
    atomic_store_explicit(&begins[n % LC_PAST_CALLS], time, memory_order_relaxed);
    /* release: who sees the number sees the time (lc_past_called) */
    atomic_store_explicit(&past->n_calls, n + 1, memory_order_release);
}
/* Did one of its latest `looks` calls begin then? */
bool lc_past_called(const struct lc_past *past, const _Atomic uint64_t *begins, uint64_t time,
                    uint32_t looks);

/* Adds a copy of a wait; in the order of their ends. */
void lc_past_add_wait(struct lc_past *past, const struct lc_past_wait *wait);
/* Adds a copy of a piece of work; in the order of their ends. */
void lc_past_add_work(struct lc_past *past, const struct lc_past_work *work);

/* A copy of the i-th wait; false: it is not there (any more). */
bool lc_past_wait_get(const struct lc_past *past, uint64_t i, struct lc_past_wait *wait);
/* A copy of the i-th piece of work; false: it is not there (any more). */
bool lc_past_work_get(const struct lc_past *past, uint64_t i, struct lc_past_work *work);

struct lc_origin {
    uint64_t key; /* rank << 32 | node */
    uint64_t direct, indirect;
};

struct lc_origins {
    struct lc_origin list[LC_ORIGINS];
    uint32_t n;
    uint64_t rest, rest_indirect; /* ticks of origins that had no room, or that nobody knows */
};

/* Two ranks were in the same operation: one waited until `release` for the other one to come, and
 * left it at `left`. The time before as well: who waits in an operation that the other one has left
 * already finds that operation in the first. */
struct lc_met {
    _Atomic uint64_t release, left, release_before, left_before;
    _Atomic uint32_t thread, thread_before; /* of the other one: number of its past, LC_PAST_ANY */
};

/* Rank `me` waited from `begin` on for `late_rank`, which came at `release` after it was in
 * `late_node`. */
struct lc_waited {
    const struct lc_past *late, *own; /* of these two threads; NULL: nothing is known */
    uint32_t me, late_rank, late_node;
    uint8_t thread, late_thread; /* numbers of these pasts; LC_PAST_ANY: not known */
    uint64_t
        since;     /* both were in the same operation then: when the one that waited was released */
    uint64_t left; /* and when that one left it; 0: not known */
    bool late_waited; /* that one is the late rank, not `me` */
    uint64_t begin, release;
    bool pairwise;  /* as that of lc_past_wait */
    uint32_t looks; /* entries of each kind that are looked at, at most */
    uint64_t same;  /* times that differ by less are one */
};

/* Whose fault that was. */
void lc_past_origins(const struct lc_waited *waited, struct lc_origins *origins);

struct lc_past_part {
    uint32_t node;
    uint64_t ticks;
};

/* What the late rank did in its last gap before the release in which it was in `late_node`:
 * `parts` by node; returns how many, 0: that gap is not known (any more). */
uint32_t lc_past_gap(const struct lc_waited *waited, struct lc_past_part parts[LC_PAST_PARTS]);

/* The wait as an entry for those who wait for `me`. */
void lc_past_entry(const struct lc_waited *waited, const struct lc_origins *origins,
                   struct lc_past_wait *entry);

#endif
