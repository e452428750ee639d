/* Entries that travel beside messages: one ring per ordered pair of ranks, in the sender's area
 * (area.h).
 *
 * Nouns
 *   stamp    what a rank publishes when it enters an operation: time, logical clocks, call
 *            path
 *   entry    one cache line: stamp + key (communicator, tag), bytes and sequence number of the
 *            message
 *   segment  31 entries and a line that names the next segment; segments the receiver has left are
 *            used again
 *
 * Invariants: the sender never waits and never overwrites what was not read; entries are read in
 * order; an entry is there if and only if its sequence number is the expected one. Out of memory:
 * the ring goes off for good, since one lost entry would shift a stream. The sender half is private
 * to the sending rank, the receiver half to the receiving one; several threads take turns under a
 * lock. */
#ifndef LC_PIGGYBACK_RING_H
#define LC_PIGGYBACK_RING_H

#include <stdbool.h>

#include "base/err.h"

#include "piggyback/area.h"

struct lc_stamp {
    uint64_t enter;  /* ticks of the node's clock */
    uint64_t useful; /* logical clocks, in ticks (logical.h) */
    uint64_t outside_omp;
    uint64_t phase_useful;
    uint32_t interval; /* number of the measured interval; 0: not measuring */
    uint32_t phase;    /* number of the phase in it */
    uint32_t node;     /* of the sender's call tree: where it was before the call */
    uint32_t vector;   /* version of its critical-path vector (cpvec.h) */
};

/* Contexts that no communicator has. */
enum { LC_CONTEXT_VOID = 0, LC_CONTEXT_REPLY = 1, LC_CONTEXT_FIRST = 2 };

struct lc_ring_entry {
    struct lc_stamp stamp;
    _Atomic uint32_t seq; /* from 1 in each ring */
    _Atomic uint32_t context;
    int32_t tag;
    uint32_t bytes; /* of the message, modulo 2^32 */
};

enum { LC_RING_ENTRIES = 31 };

struct lc_ring_segment {
    struct lc_ring_entry entries[LC_RING_ENTRIES]; /* lc_ring_entry_at */
    _Atomic uint64_t next;                         /* offset; 0: not yet */
    uint64_t unused[7];
};

/* The i-th entry. One after the other do not lie side by side, nor at equal distances (powers of 3
 * modulo 31): the processor that reads one takes its neighbours along, and who writes the next one
 * would have to take it back (Isend+Irecv+Waitall -10 ns; -40, a pair -15, with cores far apart).
 */
static inline struct lc_ring_entry *lc_ring_entry_at(struct lc_ring_segment *segment, uint32_t i) {
    static const uint8_t order[LC_RING_ENTRIES] = {1,  3,  9,  27, 19, 26, 16, 17, 20, 29, 25,
                                                   13, 8,  24, 10, 30, 28, 22, 4,  12, 5,  15,
                                                   14, 11, 2,  6,  18, 23, 7,  21, 0};
    return &segment->entries[order[i]];
}

struct lc_ring_header {     /* in the sender's area */
    _Atomic uint64_t first; /* offset of the first segment; 0: not yet */
    _Atomic uint32_t off;   /* the sender gave up */
    _Atomic uint32_t voids; /* entries of cancelled and failed sends */
    uint32_t unused[12];
    _Atomic uint64_t left; /* segments that the receiver has left; the only word it writes */
    uint64_t unused_too[7];
};

struct lc_ring_out {
    struct lc_ring_segment *segment; /* NULL: nothing sent yet */
    uint32_t fill, seq;
    bool off;
    struct lc_ring_header *header;
    struct lc_area *area;
    uint64_t *queue; /* offsets of the segments in use, oldest first */
    uint32_t queue_first, queue_count, queue_cap;
    uint64_t recycled; /* segments taken back */
    uint64_t n_lost;   /* entries not written since it went off */
};

struct lc_ring_in {
    struct lc_ring_segment *segment;
    uint32_t at, seq; /* next to read, and its sequence number */
    uint64_t left;
    struct lc_ring_header *header; /* NULL: not seen yet */
    const struct lc_area *area;    /* of the sender; NULL: no ring */
    uint32_t reader;               /* my rank: index of the header */
};

/* Cold: next segment of the sender; false: off. */
bool lc_ring_grow(struct lc_ring_out *out);
/* The sending end of the ring to a process; no memory is taken yet. */
void lc_ring_out_init(struct lc_ring_out *out, struct lc_area *mine, uint32_t to);
void lc_ring_out_free(struct lc_ring_out *out); /* what the sender keeps; the ring stays */
/* An entry that was written, by its number; NULL: its segment is in use again, or was never. */
const struct lc_ring_entry *lc_ring_sent(const struct lc_ring_out *out, uint32_t seq);
void lc_ring_in_init(struct lc_ring_in *in, const struct lc_area *theirs, uint32_t me); /* to me */
/* Cold: first or next segment of the receiver; NULL: not there yet. */
struct lc_ring_entry *lc_ring_turn(struct lc_ring_in *in);

/* A hint that another core will read this line next: it goes to the cache both share (-100 ns per
 * message where a line costs 150 to fetch from the other core; a no-op on processors that do not
 * know it). */
static inline void lc_line_hand_over(const void *line) {
#if defined(__x86_64__)
    __asm__ volatile(".byte 0x0f, 0x1c, 0x07" ::"D"(line) : "memory"); /* cldemote (%rdi) */
#else
    (void)line;
#endif
}

/* This core will write the line soon: it is fetched, and taken from those that have read it, ahead
 * of time (-10 to -80 ns per collective; of a ring after its message is sent: 0 to -10). */
static inline void lc_line_claim(const void *line) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw (%0)" ::"r"(line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* The place of the next entry, before its message is sent: the caller writes the stamp there, then
 * lc_ring_ready. Valid until its segment is used again; NULL: off. */
static inline struct lc_ring_entry *lc_ring_place(struct lc_ring_out *out) {
    if (__builtin_expect(!out->segment || out->fill == LC_RING_ENTRIES || out->off, 0) &&
        !lc_ring_grow(out)) {
        out->n_lost++;
        return NULL;
    }
    return lc_ring_entry_at(out->segment, out->fill++);
}

/* The place of the next entry, for lc_line_claim; NULL: not known yet. */
static inline const void *lc_ring_next(const struct lc_ring_out *out) {
    return __builtin_expect(out->segment && out->fill < LC_RING_ENTRIES, 1)
               ? lc_ring_entry_at(out->segment, out->fill)
               : NULL;
}

static inline void lc_ring_ready(struct lc_ring_out *out, struct lc_ring_entry *entry,
                                 uint32_t context, int32_t tag, uint32_t bytes) {
    atomic_store_explicit(&entry->context, context, memory_order_relaxed);
    entry->tag = tag;
    entry->bytes = bytes;
    /* release: whoever sees the number sees the fields (lc_ring_peek). The fence orders the number
     * before the later stores of MPI. */
    atomic_store_explicit(&entry->seq, ++out->seq, memory_order_release);
    atomic_thread_fence(memory_order_release);
    lc_line_hand_over(entry);
}

/* Both, from a stamp. */
static inline struct lc_ring_entry *lc_ring_put(struct lc_ring_out *out,
                                                const struct lc_stamp *stamp, uint32_t context,
                                                int32_t tag, uint32_t bytes) {
    struct lc_ring_entry *entry = lc_ring_place(out);
    if (entry) {
        entry->stamp = *stamp;
        lc_ring_ready(out, entry, context, tag, bytes);
    }
    return entry;
}

/* The next entry without taking it; NULL: not there. Valid until the next call for this ring. */
static inline struct lc_ring_entry *lc_ring_peek(struct lc_ring_in *in) {
    if (__builtin_expect(!in->segment || in->at == LC_RING_ENTRIES, 0))
        return lc_ring_turn(in);
    struct lc_ring_entry *entry = lc_ring_entry_at(in->segment, in->at);
    if (atomic_load_explicit(&entry->seq, memory_order_acquire) != in->seq)
        return NULL;
    return entry;
}

/* Where the next entry will be, for prefetching; any readable address if that is not known. */
static inline const void *lc_ring_head(const struct lc_ring_in *in) {
    return __builtin_expect(in->segment && in->at < LC_RING_ENTRIES, 1)
               ? (const void *)lc_ring_entry_at(in->segment, in->at)
               : in;
}

/* The entry that was taken last; NULL: its segment has been left. */
static inline const struct lc_ring_entry *lc_ring_last(const struct lc_ring_in *in) {
    return in->segment && in->at > 0 ? lc_ring_entry_at(in->segment, in->at - 1) : NULL;
}

static inline void lc_ring_advance(struct lc_ring_in *in) {
    in->at++;
    in->seq++;
}

/* Nothing was sent with this entry after all; its segment may be in use again. */
void lc_ring_make_void(struct lc_ring_out *out, struct lc_ring_entry *entry, uint32_t seq);
/* How many entries were made void so far. */
uint32_t lc_ring_voids(const struct lc_ring_in *in);
/* No more entries will come. */
bool lc_ring_is_off(const struct lc_ring_in *in);

#endif
