#include "measure/clocks/contexts.h"

#include <stdlib.h>
#include <string.h>

int32_t *lc_clk_comm_ranks(const int32_t *ranks, int32_t n) {
    int32_t *copy = ranks != NULL ? malloc(((size_t)n + 1) * sizeof *copy) : NULL;
    if (copy != NULL)
        memcpy(copy, ranks, (size_t)n * sizeof *copy);
    return copy;
}

void lc_clk_comm_release(struct lc_clk_comm *c) {
    free(c->sources);
    free(c->targets);
    free(c->ranks);
    free(c->local);
    free(c);
}

void lc_clk_comm_unuse(struct lc_clk_comm *c) {
    if (--c->uses == 0 && c->freed)
        lc_clk_comm_release(c);
}
