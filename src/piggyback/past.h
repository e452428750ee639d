/* What a process did lately: its waiting, with those whose fault that was, and its work by call
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
    LC_PAST_WAITS = 512, /* of a process; powers of two */
    LC_PAST_WORK = 1024,
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
    bool pairwise; /* in an operation of these two ranks, in which no third one can be */
    struct lc_past_cause causes[LC_PAST_CAUSES];
};

struct lc_past_work {
    uint64_t begin, end, ticks;
    uint64_t path; /* the same on all ranks for the same call path */
    uint32_t node;
    uint32_t same_gap; /* 1: of the same time between two events as the entry before it */
};

struct lc_past {
    _Atomic uint64_t n_waits, n_work; /* that were added so far */
    _Atomic uint64_t parted;          /* end of the last part of a gap that has several; 0: none */
    uint32_t cap_waits, cap_work;     /* powers of two; places follow */
    uint64_t unused[4];
};

/* Bytes of one with so many places, and making it in zeroed memory aligned to 64 bytes. */
size_t lc_past_size(uint32_t cap_waits, uint32_t cap_work);
void lc_past_init(struct lc_past *past, uint32_t cap_waits, uint32_t cap_work); /* see above */

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
};

/* Rank `me` waited from `begin` on for `late_rank`, which came at `release` after it was in
 * `late_node`. */
struct lc_waited {
    const struct lc_past *late, *own; /* NULL: nothing is known */
    uint32_t me, late_rank, late_node;
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
