/* The parts of the library beside the core: call paths, samples, OpenMP, clocks, trace, profile.
 * Each says what it does when the process and its threads begin and end; the core knows none by
 * name.
 *
 * The order stands once, in start/core_start.c: parts begin in that order, and a thread leaves them
 * in the opposite one. Members that are NULL are nothing to do. */
#ifndef LC_MEASURE_CORE_CORE_PARTS_H
#define LC_MEASURE_CORE_CORE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct lc_call;
struct lc_stub;
struct lc_thread;

struct lc_part {
    /* LC_MODE_CLOCKS, ..: init, thread_new, thread_end and finalize are called only where the mode
     * of the call has it; 0: always. */
    uint32_t mode;
    /* The library starts: options are read, the state is there. */
    void (*start)(struct lc_stub *stub);
    /* After MPI_Init, collective if lc_core.agreed; call->end is its end. */
    void (*init)(struct lc_call *call);
    /* Memory of the calling thread, which is no location yet. An error: it is not measured. */
    enum lc_err (*thread_make)(struct lc_thread *t);
    void (*thread_free)(struct lc_thread *t);
    /* The calling thread has become a location, at call->begin. */
    void (*thread_new)(struct lc_call *call);
    /* It ends, at call->begin. */
    void (*thread_end)(struct lc_call *call);
    /* Does the location of the calling thread, which ends, stay for the next one that takes its
     * place? Then the thread leaves it, and another one goes on with it. */
    bool (*keeps)(void);
    void (*thread_leaves)(struct lc_thread *t);
    void (*thread_takes_over)(struct lc_thread *t);
    /* Measurement is about to stop in this process, at call->begin. */
    void (*stops)(struct lc_call *call);
    /* Before the results are gathered in MPI_Finalize: collective if lc_core.agreed. */
    void (*finalize)(struct lc_call *call);
    /* After finalize of all parts: what they know together. */
    void (*finalized)(void);
    /* The measurement is over: writes what is known. Collective if lc_core.agreed. */
    void (*write)(void);
    /* In a child that the process has made, which is not measured; t: the thread that made it. */
    void (*fork)(struct lc_thread *t);
};

/* Once; `parts` ends with NULL. */
void lc_parts_register(const struct lc_part *const *parts);

/* All parts start, in their order. */
void lc_parts_start(struct lc_stub *stub);
/* MPI_Init is over: all parts begin, in their order. */
void lc_parts_init(struct lc_call *call);
/* Memory of all parts for the calling thread. LC_ERR_NOMEM: all that was made is free again. */
enum lc_err lc_parts_thread_make(struct lc_thread *t);
/* Frees what lc_parts_thread_make made. */
void lc_parts_thread_free(struct lc_thread *t);
/* The calling thread has become a location. */
void lc_parts_thread_new(struct lc_call *call);
/* The calling thread ends: the last part first. */
void lc_parts_thread_end(struct lc_call *call);
/* Does a part want the location of the calling thread, which ends, to stay? */
bool lc_parts_keep(void);
/* The calling thread leaves its location, which stays. */
void lc_parts_thread_leaves(struct lc_thread *t);
/* The calling thread goes on with this location, which another one has left. */
void lc_parts_thread_takes_over(struct lc_thread *t);
/* Measurement is about to stop in this process. */
void lc_parts_stop(struct lc_call *call);
/* The measurement ends, before results are gathered. */
void lc_parts_finalize(struct lc_call *call);
/* The measurement is over: all parts write what they know, in their order. */
void lc_parts_write(void);
/* This process is a child of the measured one; t: the thread that made it. */
void lc_parts_fork(struct lc_thread *t);

#endif
