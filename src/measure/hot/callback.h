/* Calls that the program makes inside its callbacks. */
#ifndef LC_MEASURE_HOT_CALLBACK_H
#define LC_MEASURE_HOT_CALLBACK_H

#include <stdint.h>

struct lc_thread;

/* a call of this thread, which is inside an MPI call, by the program? Counted then. */
void lc_callback_call(struct lc_thread *t, uint32_t fn, uint64_t ra, uint64_t frame);

#endif
