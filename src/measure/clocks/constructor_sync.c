/* The synchronisation of all members of a new communicator inside its constructor. */
#include <stdlib.h>

#include "base/timer.h"
#include "measure/mpi/handles.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/constructor_sync.h"
#include "measure/clocks/shadow_record.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/logical.h"

static MPI_Datatype type = MPI_DATATYPE_NULL;
static MPI_Op largest = MPI_OP_NULL;

static void merge(void *in, void *inout, int *n, MPI_Datatype *unused) {
    (void)unused;
    for (int i = 0; i < *n; i++)
        lc_shadow_merge((const struct lc_shadow_record *)in + i,
                        (struct lc_shadow_record *)inout + i);
}

static bool prepare(void) {
    lc_clk_lock();
    if (type == MPI_DATATYPE_NULL) {
        lc_real.Type_contiguous((int)sizeof(struct lc_shadow_record), MPI_BYTE, &type);
        lc_real.Type_commit(&type);
        lc_real.Op_create(merge, 1, &largest);
    }
    lc_clk_unlock();
    return type != MPI_DATATYPE_NULL && largest != MPI_OP_NULL;
}

void lc_clk_constructor_sync_finish(void) {
    if (largest != MPI_OP_NULL)
        lc_real.Op_free(&largest);
    if (type != MPI_DATATYPE_NULL)
        lc_real.Type_free(&type);
}

/* Between two groups the first round brings the maxima of the other one, the second those of both.
 */
void lc_clk_constructor_sync(struct lc_clk_thread *k, struct lc_call *call, struct lc_comm *comm) {
    struct lc_clk_comm *c = comm->clocks;
    struct lc_clk_coll x = {.c = c, .kind = LC_COLL_SYNC};
    struct lc_shadow_record *both = calloc(2, sizeof *both);
    if (c == NULL || both == NULL || !prepare()) {
        free(both);
        return;
    }
    if (k != NULL) {
        struct lc_stamp stamp;
        lc_logical_stamp(&k->l, call->begin, &stamp);
        lc_shadow_fill(k, &stamp, &both[0]);
    }
    uint32_t number = UINT32_MAX - c->n_syncs++;
    LC_CLK_LOG("X %u %u %d -1 1 1\nY %u %u\n", c->context, number, (int)x.kind, c->context, number);
    int result = MPI_SUCCESS;
    for (int round = 0; round < (comm->inter ? 2 : 1) && result == MPI_SUCCESS; round++) {
        if (round > 0)
            lc_shadow_merge(&both[1], &both[0]);
        result = lc_real.Allreduce(&both[0], &both[1], 1, type, largest, comm->handle);
    }
    call->end = lc_ticks();
    if (result == MPI_SUCCESS && k != NULL)
        lc_shadow_apply(k, call, &x, &both[1]);
    free(both);
}
