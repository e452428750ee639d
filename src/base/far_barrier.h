/* A barrier that one thread puts into the instructions of all others of the process, so that these
 * need none of their own: each of their stores before it is seen after it, and they see what the
 * caller stored before. */
#ifndef LC_BASE_FAR_BARRIER_H
#define LC_BASE_FAR_BARRIER_H

#include <stdbool.h>

/* Asks the kernel for it (membarrier). false: it has none, or a sanitizer watches threads, which
 * does not know of it. */
bool lc_far_barrier_possible(void);
/* Only where it is possible; a system call. */
void lc_far_barrier(void);

#endif
