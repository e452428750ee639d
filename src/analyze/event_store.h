/* Room for the events of locations in a file without a name: memory that the kernel can take back.
 * What lies in it is used like any other memory; lc_event_store_rest lets go of the pages that are
 * mapped, their content comes back from the file when it is next read. With it a trace is bounded
 * by its largest location while it is read, and by what one step touches after that.
 *
 * Room is given out from the front and comes back with the store as a whole. */
#ifndef LC_ANALYZE_EVENT_STORE_H
#define LC_ANALYZE_EVENT_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct lc_event_store;

/* A store in the directory of the file `beside`; the caller closes it. LC_ERR_IO: no file can be
 * made or mapped there; LC_ERR_NOMEM. */
enum lc_err lc_event_store_open(struct lc_event_store **store, const char *beside);
/* Everything in the store is gone; NULL: nothing. */
void lc_event_store_close(struct lc_event_store *store);
/* So many bytes, aligned to a page, zeroed; NULL: the disk or the store is full, or store is NULL.
 */
void *lc_event_store_take(struct lc_event_store *store, size_t bytes);
/* Whether a pointer lies in the store (false without one): it must not be freed then. */
bool lc_event_store_has(const struct lc_event_store *store, const void *memory);
/* Moves an array of so many bytes from the heap into the store; without room for it, or without a
 * store, it stays where it is. */
void lc_event_store_move(struct lc_event_store *store, void *array, size_t bytes);
/* Unmaps the pages in use; NULL: nothing. */
void lc_event_store_rest(struct lc_event_store *store);
/* Tells of so many bytes that were touched: rests whenever they have become many. */
void lc_event_store_touched(struct lc_event_store *store, size_t bytes);

#endif
