#include "measure/openmp/tasks.h"

#include <pthread.h>

#include "measure/clocks/call_state.h"
#include "measure/core/core.h"
#include "measure/openmp/nodes.h"
#include "measure/openmp/omp_self.h"

static _Atomic uint32_t n_spans; /* constructs that have one */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
static struct construct {
    _Alignas(LC_OMP_LINE) uint32_t node;
    _Atomic uint32_t running, at_once;
    uint64_t before; /* longest chains of the intervals before */
} constructs[LC_OMP_SPANS];

static uint32_t search(uint32_t node, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (constructs[i].node == node)
            return i + 1;
    return 0;
}

uint32_t lc_omp_span_of(struct lc_omp_node *node) {
    if (lc_likely(node->span_asked))
        return node->span;
    pthread_mutex_lock(&adding);
    uint32_t n = atomic_load_explicit(&n_spans, memory_order_relaxed);
    node->span = search(node->node, n);
    if (node->span == 0 && n < LC_OMP_SPANS) {
        constructs[n].node = node->node;
        node->span = n + 1;
        atomic_store_explicit(&n_spans, n + 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&adding);
    node->span_asked = true;
    return node->span;
}

void lc_omp_span_runs(struct lc_omp_task *task) {
    if (task->span == 0)
        return;
    struct construct *c = &constructs[task->span - 1];
    uint32_t most = atomic_load_explicit(&c->at_once, memory_order_relaxed);
    if (most >= atomic_load_explicit(&lc_omp_n_threads, memory_order_relaxed))
        return; /* more cannot be: all threads need not write the same line */
    task->counted = true;
    uint32_t now = atomic_fetch_add_explicit(&c->running, 1, memory_order_relaxed) + 1;
    while (now > most && !atomic_compare_exchange_weak_explicit(
                             &c->at_once, &most, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

void lc_omp_span_stops(struct lc_omp_task *task) {
    if (!task->counted)
        return;
    task->counted = false;
    atomic_fetch_sub_explicit(&constructs[task->span - 1].running, 1, memory_order_relaxed);
}

void lc_omp_span_ended(struct lc_omp_thread *o, const struct lc_omp_task *task) {
    if (task->span == 0 || task->span > task->n_spans || task->interval != o->interval)
        return;
    _Atomic uint64_t *longest = &o->longest_span[task->span - 1];
    uint64_t chain = task->spans[task->span - 1];
    if (chain > atomic_load_explicit(longest, memory_order_relaxed))
        atomic_store_explicit(longest, chain, memory_order_relaxed);
}

void lc_omp_spans_close(void) {
    for (uint32_t i = 0; i < LC_OMP_SPANS; i++) {
        uint64_t longest = 0;
        for (struct lc_omp_thread *o = lc_omp_threads(); o != NULL; o = o->next) {
            uint64_t its = atomic_exchange_explicit(&o->longest_span[i], 0, memory_order_relaxed);
            longest = its > longest ? its : longest;
        }
        constructs[i].before += longest;
    }
}

void lc_omp_spans_book(struct lc_omp_thread *o) {
    uint32_t n = atomic_load_explicit(&n_spans, memory_order_relaxed);
    lc_omp_spans_close();
    for (uint32_t i = 0; i < n; i++) {
        struct construct *c = &constructs[i];
        struct lc_omp_node *node = lc_omp_node_known(o, c->node);
        lc_omp_put(o, node, LC_MEASURED_OMP_TASK_SPAN, c->before);
        lc_omp_put(o, node, LC_MEASURED_OMP_AT_ONCE,
                   atomic_load_explicit(&c->at_once, memory_order_relaxed));
        c->before = 0;
        atomic_store_explicit(&c->at_once, 0, memory_order_relaxed);
    }
}
