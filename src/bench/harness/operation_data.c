#include "bench/harness/operation_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"

void lc_op_compute(const struct lc_op_data *d) {
    uint64_t until = lc_ticks() + (uint64_t)(d->compute_ns / lc_timer.ns_per_tick);
    while (d->compute_ns > 0 && lc_ticks() < until)
        ;
}

static enum lc_err allocate(struct lc_op_data *d, size_t room) {
    size_t blocks = (size_t)(d->size > 2 ? d->size : 2), bytes = blocks * room * (size_t)d->n;
    LC_TRY(lc_alloc(&d->send, bytes + 64, 1));
    LC_TRY(lc_alloc(&d->receive, bytes + 64, 1));
    LC_TRY(lc_alloc(&d->extra, bytes + 64, 1));
    LC_TRY(lc_alloc(&d->counts, 6 * blocks, sizeof d->counts[0]));
    LC_TRY(lc_alloc(&d->types, blocks, sizeof(MPI_Datatype)));
    LC_TRY(lc_alloc(&d->far_places, blocks, sizeof d->far_places[0]));
    d->places = d->counts + blocks;
    d->parts = d->counts + 2 * blocks;
    d->part_places = d->counts + 3 * blocks;
    d->root_counts = d->counts + 4 * blocks;
    d->no_places = d->counts + 5 * blocks;
    memset(d->send, 1, bytes); /* pages that exist */
    return LC_OK;
}

static void fill_counts(struct lc_op_data *d) {
    for (int i = 0; i < (d->size > 2 ? d->size : 2); i++) {
        d->counts[i] = d->n;
        d->places[i] = i * d->n;
        d->far_places[i] = (MPI_Aint)i * d->n;
        d->types[i] = MPI_BYTE;
        d->parts[i] = i < d->size ? d->n / d->size + (i < d->n % d->size) : 0;
        d->part_places[i] = i > 0 ? d->part_places[i - 1] + d->parts[i - 1] : 0;
        d->root_counts[i] = i == d->root ? d->n : 0;
    }
}

enum lc_err lc_op_data_new(struct lc_op_data *d, MPI_Comm comm, size_t bytes, size_t room,
                           int root) {
    int size, periodic = 1;
    *d = (struct lc_op_data){
        .comm = comm, .ring = MPI_COMM_NULL, .window = MPI_WIN_NULL, .root = root};
    MPI_Comm_rank(comm, &d->rank);
    MPI_Comm_size(comm, &d->size);
    if (bytes * room > (size_t)(0x7fffffff / (d->size > 2 ? d->size : 2)))
        return lc_fail(LC_ERR_RANGE,
                       "bench: --bytes %zu: too much for %d ranks: blocks of all "
                       "ranks must fit into 2 GiB",
                       bytes * room, d->size);
    d->n = (int)bytes;
    size = d->size;
    MPI_Cart_create(comm, 1, &size, &periodic, 0, &d->ring);
    enum lc_err err = allocate(d, room);
    if (err == LC_OK)
        fill_counts(d);
    else
        lc_op_data_free(d);
    return err;
}

int lc_op_window_new(struct lc_op_data *d, enum lc_op_window kind) {
    MPI_Aint bytes = d->n > 8 ? d->n : 8;
    int error = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, d->comm, &d->window_memory, &d->window);
    if (error != MPI_SUCCESS) {
        d->window = MPI_WIN_NULL;
        return error;
    }
    d->epoch = kind;
    MPI_Win_set_errhandler(d->window, MPI_ERRORS_RETURN);
    return kind == LC_OP_FENCED   ? MPI_Win_fence(0, d->window)
           : kind == LC_OP_LOCKED ? MPI_Win_lock_all(0, d->window)
                                  : MPI_SUCCESS;
}

static void free_window(struct lc_op_data *d) {
    if (d->epoch == LC_OP_FENCED)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, d->window);
    if (d->epoch == LC_OP_LOCKED)
        MPI_Win_unlock_all(d->window);
    MPI_Win_free(&d->window);
}

void lc_op_data_free(struct lc_op_data *d) {
    if (d->window != MPI_WIN_NULL)
        free_window(d);
    if (d->ring != MPI_COMM_NULL)
        MPI_Comm_free(&d->ring);
    free(d->send);
    free(d->receive);
    free(d->extra);
    free(d->counts);
    free(d->types);
    free(d->far_places);
    d->send = d->receive = d->extra = NULL;
}
