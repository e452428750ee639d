#include "bench/harness/message_operations.h"

enum { TAG = 1 };

#define ONE d->n, MPI_BYTE

static bool takes_part(const struct lc_op_data *d) {
    return d->rank <= 1 && d->size >= 2;
}

int lc_op_pingpong(struct lc_op_data *d) {
    int error = MPI_SUCCESS, peer = 1 - d->rank;
    if (!takes_part(d))
        return MPI_SUCCESS;
    if (d->rank == 0)
        error = MPI_Send(d->send, ONE, peer, TAG, d->comm);
    if (error == MPI_SUCCESS)
        error = MPI_Recv(d->receive, ONE, peer, TAG, d->comm, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && d->rank == 1)
        error = MPI_Send(d->send, ONE, peer, TAG, d->comm);
    return error;
}

int lc_op_pingpong_nonblocking(struct lc_op_data *d) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int error, peer = 1 - d->rank;
    if (!takes_part(d))
        return MPI_SUCCESS;
    error = MPI_Irecv(d->receive, ONE, peer, TAG, d->comm, &requests[0]);
    if (error == MPI_SUCCESS && d->rank == 1)
        error = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS)
        error = MPI_Isend(d->send, ONE, peer, TAG, d->comm, &requests[1]);
    return error == MPI_SUCCESS ? MPI_Waitall(2, requests, statuses) : error;
}

int lc_op_send(struct lc_op_data *d) {
    if (!takes_part(d))
        return MPI_SUCCESS;
    return d->rank == 0 ? MPI_Send(d->send, ONE, 1, TAG, d->comm)
                        : MPI_Recv(d->receive, ONE, 0, TAG, d->comm, MPI_STATUS_IGNORE);
}

int lc_op_ssend(struct lc_op_data *d) {
    if (!takes_part(d))
        return MPI_SUCCESS;
    return d->rank == 0 ? MPI_Ssend(d->send, ONE, 1, TAG, d->comm)
                        : MPI_Recv(d->receive, ONE, 0, TAG, d->comm, MPI_STATUS_IGNORE);
}

int lc_op_isend(struct lc_op_data *d) {
    MPI_Request request;
    if (!takes_part(d))
        return MPI_SUCCESS;
    int error = d->rank == 0 ? MPI_Isend(d->send, ONE, 1, TAG, d->comm, &request)
                             : MPI_Irecv(d->receive, ONE, 0, TAG, d->comm, &request);
    lc_op_compute(d);
    return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

/* The neighbours in the order of ranks, the first one behind the last. */
static int next_rank(const struct lc_op_data *d) {
    return (d->rank + 1) % d->size;
}

static int previous_rank(const struct lc_op_data *d) {
    return (d->rank + d->size - 1) % d->size;
}

int lc_op_sendrecv(struct lc_op_data *d) {
    return MPI_Sendrecv(d->send, ONE, next_rank(d), TAG, d->receive, ONE, previous_rank(d), TAG,
                        d->comm, MPI_STATUS_IGNORE);
}

int lc_op_waitall(struct lc_op_data *d) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int error = MPI_Irecv(d->receive, ONE, previous_rank(d), TAG, d->comm, &requests[0]);
    if (error == MPI_SUCCESS)
        error = MPI_Isend(d->send, ONE, next_rank(d), TAG, d->comm, &requests[1]);
    return error == MPI_SUCCESS ? MPI_Waitall(2, requests, statuses) : error;
}

static bool is_origin(const struct lc_op_data *d) {
    return d->rank == 0 && d->size >= 2;
}

static int flush(struct lc_op_data *d, int error) {
    return error == MPI_SUCCESS ? MPI_Win_flush(1, d->window) : error;
}

int lc_op_put(struct lc_op_data *d) {
    return is_origin(d) ? flush(d, MPI_Put(d->send, ONE, 1, 0, ONE, d->window)) : MPI_SUCCESS;
}

int lc_op_get(struct lc_op_data *d) {
    return is_origin(d) ? flush(d, MPI_Get(d->receive, ONE, 1, 0, ONE, d->window)) : MPI_SUCCESS;
}

int lc_op_accumulate(struct lc_op_data *d) {
    return is_origin(d) ? flush(d, MPI_Accumulate(d->send, ONE, 1, 0, ONE, MPI_BOR, d->window))
                        : MPI_SUCCESS;
}

int lc_op_get_accumulate(struct lc_op_data *d) {
    if (!is_origin(d))
        return MPI_SUCCESS;
    return flush(d,
                 MPI_Get_accumulate(d->send, ONE, d->receive, ONE, 1, 0, ONE, MPI_BOR, d->window));
}

int lc_op_fence(struct lc_op_data *d) {
    return MPI_Win_fence(0, d->window);
}

int lc_op_lock(struct lc_op_data *d) {
    if (!is_origin(d))
        return MPI_SUCCESS;
    int error = MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, d->window);
    return error == MPI_SUCCESS ? MPI_Win_unlock(1, d->window) : error;
}

bool lc_op_is_of_two(int (*run)(struct lc_op_data *)) {
    static int (*const all[])(struct lc_op_data *) = {lc_op_pingpong, lc_op_pingpong_nonblocking,
                                                      lc_op_send,     lc_op_ssend,
                                                      lc_op_isend,    lc_op_put,
                                                      lc_op_get,      lc_op_get_accumulate,
                                                      lc_op_lock,     lc_op_accumulate};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (run == all[i])
            return true;
    return false;
}
