/* Where in the call tree a sample belongs: below the node of the time that it fell into.
 *
 * That node is exact. What is between it and the function that was sampled is known from the copy
 * of the stack that came with the sample, or, where that is too small, where the functions keep
 * frame pointers, which their tables of exception handling tell. Elsewhere the sampled function
 * hangs below a node "...". */
#ifndef LC_MEASURE_SAMPLES_SAMPLE_NODES_H
#define LC_MEASURE_SAMPLES_SAMPLE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/samples/perf_ring.h"
#include "measure/unwind/modules.h"

struct lc_thread;

enum { LC_SAMPLE_CHAIN = 128 }; /* functions of a sample in all */

/* A function activation of a sample. */
struct lc_activation_of_sample {
    uint32_t module; /* LC_NONE: unknown code */
    enum lc_module_kind kind;
    uint64_t offset; /* begin of the function, ELF address */
    uint64_t site;   /* where it was, ELF address */
    bool linked;     /* the next one on the stack has certainly called it */
    uint32_t script; /* number of its name + 1, of a function of Python; 0: of the machine */
};

/* Memory of a thread to work in. */
struct lc_sample_scratch {
    uint64_t addresses[LC_SAMPLE_CHAIN];
    struct lc_activation_of_sample activations[LC_SAMPLE_CHAIN];
    struct lc_activation_of_sample machine[LC_SAMPLE_CHAIN]; /* of these those of C's stack */
    uint32_t scripts[LC_PERF_PYTHON];                        /* functions of Python that ran */
    bool python_left; /* who runs the outermost of them is not in the copy of the stack */
};

/* The node of a sample in the time of node `at`: `at` itself where it was in the innermost function
 * of that node, in the MPI library or in this one, or where the tree is full. *cut: a larger copy
 * of the stack would have told more. *address: where in the node's code, in the ELF file; 0: in no
 * code of its own.
 * outer: NULL, or set to LC_NONE before. Where the copy of the stack tells that functions of `at`
 * had returned, *outer is the innermost one that was still active, and `at` is returned.
 * Threads unwind side by side; lc_core.lock is taken only where the call tree is looked at. */
uint32_t lc_sample_node(struct lc_thread *t, uint32_t at, const struct lc_perf_record *sample,
                        struct lc_sample_scratch *scratch, bool *cut, uint64_t *address,
                        uint32_t *outer);

/* The node for time of node `at` that is none of a function: enum lc_raw_sampled. Takes
 * lc_core.lock. */
uint32_t lc_sample_special(uint32_t at, uint64_t what);

#endif
