#include "measure/openmp/omp_blame.h"

#include "base/short_lock.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "piggyback/blame.h"

static struct {
    _Atomic uint32_t lock;
    struct lc_blame rows;
    uint64_t ticks; /* of all rows */
} table;

static void flush(const struct lc_omp_node *at, struct lc_omp_blamed *blamed) {
    if (blamed->ticks == 0)
        return;
    const struct lc_blame_row row = {.wait_key = at->node,
                                     .late_rank = lc_clk.rank,
                                     .late_node = blamed->node,
                                     .late_thread = blamed->thread + 1,
                                     .rank = lc_clk.rank,
                                     .node = at->node,
                                     .ticks = blamed->ticks};
    lc_short_lock(&table.lock);
    lc_blame_add(&table.rows, &row);
    table.ticks += row.ticks;
    lc_short_unlock(&table.lock);
    blamed->ticks = 0;
}

void lc_omp_blame_add(struct lc_omp_node *at, const struct lc_omp_late *late, uint64_t ticks) {
    struct lc_omp_blamed *to = at->blamed;
    if (late == NULL)
        return;
    for (uint32_t i = 0; i < LC_OMP_BLAMED; i++) {
        struct lc_omp_blamed *is = &at->blamed[i];
        if (is->ticks > 0 && is->thread == late->thread && is->node == late->node) {
            is->ticks += ticks;
            return;
        }
        if (is->ticks < to->ticks)
            to = is;
    }
    flush(at, to);
    *to = (struct lc_omp_blamed){.thread = late->thread, .node = late->node, .ticks = ticks};
}

void lc_omp_blame_flush(struct lc_omp_thread *o) {
    for (size_t i = 0; i < LC_OMP_NODES; i++)
        for (struct lc_omp_node *n = o->nodes[i]; n != NULL; n = n->next)
            for (uint32_t b = 0; b < LC_OMP_BLAMED; b++)
                flush(n, &n->blamed[b]);
}

void lc_omp_blame_close(void) {
    lc_short_lock(&table.lock);
    lc_clk_lock();
    lc_blame_merge(&lc_clk.blame, &table.rows);
    lc_clk.waited_ticks += table.ticks;
    lc_clk_unlock();
    table.rows = (struct lc_blame){.n = 0};
    table.ticks = 0;
    lc_short_unlock(&table.lock);
}
