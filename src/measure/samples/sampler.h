/* Samples of the code between events, taken at a low rate of each thread's time on the processor:
 * which functions the time of an exact node of the call tree was spent in.
 *
 * The kernel takes them (perf_ring.h), without signals; the thread reads them at its next event,
 * when it is known to which node the time since the last one belongs. So each sample is placed by
 * what the thread did, not by clocks. An event without new samples costs a load and a compare.
 *
 * A second ring at a low rate serves where the time between two events is so long that the first
 * one is full.
 *
 * Where counters are read (counting.h) each event is as one with new samples. */
#ifndef LC_MEASURE_SAMPLES_SAMPLER_H
#define LC_MEASURE_SAMPLES_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/core/thread.h"

/* Each thread is sampled from its first event to its end. */
extern const struct lc_part lc_samples_part;

/* Are there any that nobody has looked at? Also true in a child that was made after the back of
 * the C library (a plain system call): it has no ring, and the pointer to it is NULL there. */
static inline bool lc_samples_new(const struct lc_thread *t) {
    const uint64_t *head = *t->sample_head;
    return head == NULL || __atomic_load_n(head, __ATOMIC_ACQUIRE) != t->sample_seen;
}

/* Is the time since the thread's last event, until then, so long that it is looked at where the
 * kernel takes no samples for now? */
static inline bool lc_samples_long_gap(const struct lc_thread *t, uint64_t now) {
    return now - t->last_ticks > t->long_gap; /* too large where `now` is before: looked at again */
}

/* Those since the thread's last event, whose time belongs to call->entry's gap; the time that this
 * takes is the tool's own. Books, and tells the clocks. */
void lc_samples_gap(struct lc_call *call);
/* Those of time of a node that OpenMP's callbacks book, until now. */
void lc_samples_at(struct lc_thread *t, uint32_t node);
/* Those of time of a node that OpenMP's callbacks book, until now, and how the time from `since` to
 * `until` (ticks) divides among functions: split is called in order for each, with the end of its
 * part and its node. */
void lc_samples_split_at(struct lc_thread *t, uint32_t node, uint64_t since, uint64_t until,
                         void (*split)(void *context, uint64_t end, uint32_t node), void *context);
/* Those inside of an MPI call that ends: of no interest; its counters are. */
void lc_samples_left(const struct lc_call *call);
/* Those in the OpenMP runtime: of no interest. */
void lc_samples_drop(struct lc_thread *t);

#endif
