/* Call-tree nodes of constructs, and the time that belongs to them. Inside a region a thread is
 * always at one node: the region's, that of a construct in it, or of a task. Names stand in the
 * state as "!$omp parallel @FILE+0xADDRESS"; whoever reads it makes "@solve.c:12" of that. */
#ifndef LC_MEASURE_OPENMP_NODES_H
#define LC_MEASURE_OPENMP_NODES_H

#include "format/state.h"
#include "measure/core/thread.h"
#include "measure/openmp/omp_thread.h"

enum lc_omp_construct {
    LC_OMP_AT_PARALLEL,
    LC_OMP_AT_TEAMS,
    LC_OMP_AT_TASK,
    LC_OMP_AT_IMPLICIT_BARRIER,
    LC_OMP_AT_BARRIER,
    LC_OMP_AT_TASKWAIT,
    LC_OMP_AT_TASKGROUP,
    LC_OMP_AT_CRITICAL,
    LC_OMP_AT_ATOMIC,
    LC_OMP_AT_ORDERED,
    LC_OMP_AT_SET_LOCK,
    LC_OMP_AT_FOR,
    LC_OMP_AT_SECTIONS,
    LC_OMP_AT_SINGLE,
    LC_OMP_AT_MASTER,
    LC_OMP_AT_WORKSHARE,
    LC_OMP_AT_DISTRIBUTE,
    LC_OMP_AT_TASKLOOP,
    LC_OMP_AT_SCOPE,
    LC_OMP_AT_CRITICAL_BLOCK, /* this and the following in traces only */
    LC_OMP_AT_ORDERED_BLOCK,
    LC_OMP_AT_UNSET_LOCK,
    LC_OMP_AT_TEST_LOCK,
    LC_OMP_AT_CREATE_TASK,
    LC_OMP_AT_IDLE,
    LC_OMP_AT_NAME = 32 /* and one of these: `node` is the region's id of lc_region_by_name */
};

/* The node of a construct below another node (of the call tree), for this thread. NULL: no
 * memory. */
struct lc_omp_node *lc_omp_node_get(struct lc_omp_thread *o, uint32_t parent,
                                    enum lc_omp_construct construct, const void *code);
/* What is kept for a node of the call tree that is known: a region's. NULL: no memory. */
struct lc_omp_node *lc_omp_node_known(struct lc_omp_thread *o, uint32_t node);

/* A construct outside of all regions: the call path of the thread goes on with it. frame: of the
 * runtime's function that the program called, NULL: not known. 1 + its id as a region there, 0: it
 * has none, and is not to be closed; node: of the call tree. */
uint32_t lc_omp_path_open(struct lc_omp_thread *o, enum lc_omp_construct construct, void *frame,
                          const void *code, uint32_t *node);
/* lc_omp_path_open of one that began so many ticks ago, not before the thread's last event; not for
 * traces. After it the thread's last event is that begin. */
uint32_t lc_omp_path_open_late(struct lc_omp_thread *o, enum lc_omp_construct construct,
                               const void *code, uint64_t ago, uint32_t *node);
/* It ends; now: ticks, or 0: not known. */
void lc_omp_path_close(uint32_t opened, void *frame, const void *code, uint64_t now);

/* That of workers between regions. */
struct lc_omp_node *lc_omp_node_idle(struct lc_omp_thread *o);

/* Does this node's time belong to code of the program, not to its runtime? */
bool lc_omp_node_runs_code(const struct lc_omp_node *node);

/* The time since the last event belongs to where the thread is. */
void lc_omp_book(struct lc_omp_thread *o, uint64_t now);
/* It goes into a construct. Nothing outside of regions. */
void lc_omp_push(struct lc_omp_thread *o, enum lc_omp_construct construct, const void *code,
                 uint64_t now);
/* It goes into a construct that the trace does not show; false: it did not go anywhere. */
bool lc_omp_push_unseen(struct lc_omp_thread *o, enum lc_omp_construct construct, const void *code,
                        uint64_t now);
/* The thread leaves the innermost construct; now: ticks. */
void lc_omp_pop(struct lc_omp_thread *o, uint64_t now);
/* The thread goes from the innermost construct's entrance into its block (of a critical region,
 * ..), whose time belongs to the code around the construct; the trace shows the construct until
 * its end. */
void lc_omp_pop_into_block(struct lc_omp_thread *o, uint64_t now);

/* Parts of these. */

/* The node of a construct below another one that was asked for last there; NULL: it is not that
 * one. */
static inline struct lc_omp_node *lc_omp_node_inside(const struct lc_omp_node *at,
                                                     enum lc_omp_construct construct,
                                                     const void *code) {
    struct lc_omp_node *inner = at->inner;
    bool same = lc_likely(inner != NULL && inner->code == (uint64_t)code &&
                          inner->kind == (uint32_t)construct);
    return same ? inner : NULL;
}
/* The time since the last event, while it is measured, belongs to where the thread is. */
static inline void lc_omp_book_time(struct lc_omp_thread *o, uint64_t now) {
    struct lc_thread *t = o->t;
    if (now > t->last_ticks) {
        o->at->row->sum += now - t->last_ticks;
        t->outside_ticks += now - t->last_ticks;
        t->last_ticks = now;
    }
}
/* From where the thread is into a construct there; no more than LC_OMP_DEEPEST. */
static inline void lc_omp_go_into(struct lc_omp_thread *o, struct lc_omp_node *inner) {
    o->outer[o->n_outer++] = o->at;
    o->at = inner;
    inner->row->count++;
}
/* Out of the innermost one. */
static inline void lc_omp_go_out(struct lc_omp_thread *o) {
    if (--o->n_outer < LC_OMP_DEEPEST)
        o->at = o->outer[o->n_outer];
}

/* What is measured at a node besides its time; kind: enum lc_measured_wait. Not outside of measured
 * intervals. */
void lc_omp_add(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t amount);
/* Adds to what is measured at a node besides its time, also outside of measured intervals. */
void lc_omp_put(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t amount);
/* Adds waiting (kind: enum lc_measured_wait) at a node, and blames who was waited for; NULL: not
 * known. Not outside of measured intervals. */
void lc_omp_waited(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind, uint64_t ticks,
                   const struct lc_omp_late *late);
/* lc_omp_waited, also outside of measured intervals. */
void lc_omp_put_waited(struct lc_omp_thread *o, struct lc_omp_node *at, uint32_t kind,
                       uint64_t ticks, const struct lc_omp_late *late);

#endif
