/* Between which two call sites the time of a node was spent, per thread. */
#ifndef LC_MEASURE_CALLPATH_CALL_SITES_H
#define LC_MEASURE_CALLPATH_CALL_SITES_H

#include <stdbool.h>
#include <stdint.h>

struct lc_entry;
struct lc_thread;

/* Between which two call sites the time of a node was spent, per thread: sums over the transitions
 * (previous event, event) of entries. Takes the sum of one slot of an entry, before that is used
 * again. */
void lc_sites_take(struct lc_thread *t, struct lc_entry *e, int slot);
/* The same of all slots of all entries. */
void lc_sites_take_all(struct lc_thread *t);

/* The pair that took most of the node's time in all threads, as addresses in its file;
 * false: none. */
bool lc_sites_most(uint32_t node, uint64_t *from, uint64_t *to);

#endif
