/* A lock of what one thread owns, and others look at now and then: the owner's way through it is
 * three plain instructions in place of an atomic one, which waits for all stores before it.
 *
 * Nouns
 *   owner    the only thread that calls lc_owned_lock
 *   visitor  any other thread; visitors exclude each other by a lock of theirs
 *   often    visits have become frequent, or the kernel does not help: from then on the owner's way
 *            is an atomic instruction, and a visit costs no system call
 *
 * Invariant: the owner says that it is inside, then looks for a visitor; a visitor says that it is
 * there, then looks whether the owner is inside. Between the two of a visitor a barrier is put into
 * the owner's instructions (far_barrier.h), so that one of both sees the other. */
#ifndef LC_BASE_OWNED_LOCK_H
#define LC_BASE_OWNED_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LC_OWNED_VISITED = 1, LC_OWNED_OFTEN = 2 };

struct lc_owned {
    _Atomic uint32_t busy;   /* the owner is inside */
    _Atomic uint32_t others; /* the bits above; written by visitors */
};

/* Before anybody uses it. often: visits are, or lc_far_barrier is not possible. */
static inline void lc_owned_init(struct lc_owned *l, bool often) {
    atomic_store_explicit(&l->busy, 0, memory_order_relaxed);
    atomic_store_explicit(&l->others, often ? LC_OWNED_OFTEN : 0, memory_order_relaxed);
}

/* There is a visitor, or often one: locks the atomic way. */
void lc_owned_lock_among(struct lc_owned *l);

static inline void lc_owned_lock(struct lc_owned *l) {
    atomic_store_explicit(&l->busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* for the compiler; visitors see to the processor */
    /* acquire: partner is lc_owned_leave */
    if (__builtin_expect(atomic_load_explicit(&l->others, memory_order_acquire) != 0, 0))
        lc_owned_lock_among(l);
}

static inline void lc_owned_unlock(struct lc_owned *l) {
    atomic_store_explicit(&l->busy, 0, memory_order_release); /* partner: lc_owned_wait */
}

/* A visit of one or several: lc_owned_visit for each, lc_owned_visits_seen once, lc_owned_wait for
 * each: then their owners are outside, until lc_owned_leave. */
/* true: seldom, so far. */
static inline bool lc_owned_visit(struct lc_owned *l) {
    return (atomic_fetch_or_explicit(&l->others, LC_OWNED_VISITED, memory_order_seq_cst) &
            LC_OWNED_OFTEN) == 0;
}
/* seldom: one of those that are visited is. */
void lc_owned_visits_seen(bool seldom);
/* The owner is outside from now on. */
void lc_owned_wait(struct lc_owned *l);
/* often: from now on; never again seldom. */
static inline void lc_owned_leave(struct lc_owned *l, bool often) {
    /* release: partners are lc_owned_lock, lc_owned_lock_among */
    atomic_store_explicit(&l->others, often ? LC_OWNED_OFTEN : 0, memory_order_release);
}

#endif
