/* Functions of Python programs in call paths. Different stacks of Python functions are the same
 * words on C's stack (CPython 3.11 and later call a Python function without calling a C function),
 * so what identifies an entry of the call-path cache is, besides those words, its context: the
 * Python frames of the thread, numbered. */
#ifndef LC_MEASURE_CALLPATH_PYTHON_STACK_H
#define LC_MEASURE_CALLPATH_PYTHON_STACK_H

#include <stdint.h>

#include "measure/core/core.h"
#include "measure/core/thread.h"

struct lc_frame;

/* Of a Python frame: the outermost one of those that a C function runs; no function's. */
enum lc_python_kind { LC_PYTHON_OUTERMOST = 1, LC_PYTHON_NO_FUNCTION = 2, LC_PYTHON_KINDS = 3 };

/* Before the first event of a thread: makes what it needs if the process holds an interpreter that
 * is known; t->python stays NULL if not, or without memory. */
void lc_python_thread_init(struct lc_thread *t);
/* Frees what lc_python_thread_init made. */
void lc_python_thread_free(struct lc_thread *t);
/* The number of the thread's Python frames and open regions; t->ctx if there are no such frames.
 * The same number means the same frames at the same instructions. */
uint32_t lc_python_context(struct lc_thread *t);
/* Puts the Python functions of the last context in place of the interpreter's own C functions.
 * frames: n of them, innermost first, with room for LC_FRAMES_MAX; [low, *high]: those that are
 * shown; the new number of frames. Takes lc_core.lock. */
int lc_python_insert(struct lc_thread *t, struct lc_frame *frames, int n, int low, int *high);
/* What the interpreter runs in this thread now, innermost first, two words for each frame: its code
 * with enum lc_python_kind in the lowest bits, and the instruction; at most `most` frames. Their
 * number; 0: none, or they cannot be read. For handlers of signals: takes no lock and no memory,
 * and reads by a system call that cannot fault. May change errno. */
uint32_t lc_python_note(uint64_t *words, uint32_t most);
/* The number (lc_region_by_name) of the function whose code was noted; LC_NONE: it is none that is
 * shown, or is not there any more. */
uint32_t lc_python_noted(struct lc_thread *t, uint64_t code);
/* The begin of the C function that runs frames; 0: no interpreter is known. */
uint64_t lc_python_evaluate(void);

/* "3.9.2" if the process has a Python whose frames cannot be read; "" if not. Static. */
const char *lc_python_unread(void);

/* The context that calls of this thread have now. */
static inline uint32_t lc_context(struct lc_thread *t) {
    return lc_likely(t->python == NULL) ? t->ctx : lc_python_context(t);
}

#endif
