#include "measure/clocks/iteration_threads.h"

#include "base/mem.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/callpath/loops.h"
#include "measure/core/thread.h"

/* Threads that work write them. */
#define NOT_SANITIZED __attribute__((no_sanitize("thread")))

/* Since its last event; 0: in a call, or in the OpenMP runtime. The first thread, which looks, is
 * at the begin of one. */
static NOT_SANITIZED uint64_t working(const struct lc_clk_thread *k, uint64_t now) {
    bool between = k == lc_clk.threads || (k->thread != NULL && k->thread->depth == 0);
    return between && !k->in_runtime && now > k->l.last ? now - k->l.last : 0;
}

NOT_SANITIZED void lc_clk_iteration_visit(struct lc_loop *loop, uint64_t now) {
    const struct lc_clk_thread *first = lc_clk.threads;
    struct lc_loop_threads *sums = &loop->threads;
    uint64_t most = 0;
    sums->n = 0;
    if (first == NULL || first->l.interval == 0)
        return;
    sums->outside_omp = (first->in_runtime ? first->in_runtime : now) - first->l.origin;
    if (lc_clk.backlog || (first->next == NULL && lc_clk.phase_chain == NULL))
        return;
    for (const struct lc_clk_thread *k = first; k != NULL; k = k->next) {
        if (k->index >= loop->cap_useful &&
            lc_grow(&loop->useful, &loop->cap_useful, k->index + 1u, sizeof *loop->useful) != LC_OK)
            continue;
        uint64_t useful = k->l.own + working(k, now), before = loop->useful[k->index];
        uint64_t more = useful > before ? useful - before : 0;
        loop->useful[k->index] = useful; /* less than before: in another interval */
        sums->useful += more;
        sums->n += more > 0;
        most = more > most ? more : most;
    }
    sums->most += most;
    sums->chain = first->l.process + working(first, now);
}
