/* Point-to-point and one-sided operations that can be measured, by the name of the call: rows of
 * the table in bench_operations.c. Between ranks 0 and 1 of the communicator, from 0 to 1; the
 * others do nothing. Only MPI_Sendrecv, MPI_Waitall and MPI_Win_fence are of all ranks. */
#ifndef LC_BENCH_HARNESS_MESSAGE_OPERATIONS_H
#define LC_BENCH_HARNESS_MESSAGE_OPERATIONS_H

#include "bench/harness/operation_data.h"

int lc_op_pingpong(struct lc_op_data *d);             /* there and back */
int lc_op_pingpong_nonblocking(struct lc_op_data *d); /* by MPI_Isend, MPI_Irecv */
int lc_op_send(struct lc_op_data *d);                 /* MPI_Send here, MPI_Recv there */
int lc_op_ssend(struct lc_op_data *d);                /* MPI_Ssend here, MPI_Recv there */
int lc_op_isend(struct lc_op_data *d);          /* MPI_Isend here, MPI_Irecv there, and MPI_Wait */
int lc_op_sendrecv(struct lc_op_data *d);       /* each rank to the next one */
int lc_op_waitall(struct lc_op_data *d);        /* each rank to the next one, nonblocking */
int lc_op_put(struct lc_op_data *d);            /* and MPI_Win_flush: until the data are there */
int lc_op_get(struct lc_op_data *d);            /* and MPI_Win_flush */
int lc_op_accumulate(struct lc_op_data *d);     /* and MPI_Win_flush */
int lc_op_get_accumulate(struct lc_op_data *d); /* and MPI_Win_flush */
int lc_op_fence(struct lc_op_data *d);          /* an empty epoch */
int lc_op_lock(struct lc_op_data *d);           /* MPI_Win_lock (shared) and MPI_Win_unlock */

/* Is this one of those between ranks 0 and 1? On a communicator of one rank it does nothing. */
bool lc_op_is_of_two(int (*run)(struct lc_op_data *));

/* {name, function, has no form in place, window} each */
#define LC_MESSAGE_OPERATIONS                                                                      \
    {"pingpong", lc_op_pingpong, false, LC_OP_NO_WINDOW},                                          \
        {"pingpong_nonblocking", lc_op_pingpong_nonblocking, false, LC_OP_NO_WINDOW},              \
        {"MPI_Send", lc_op_send, false, LC_OP_NO_WINDOW},                                          \
        {"MPI_Recv", lc_op_send, false, LC_OP_NO_WINDOW},                                          \
        {"MPI_Ssend", lc_op_ssend, false, LC_OP_NO_WINDOW},                                        \
        {"MPI_Isend", lc_op_isend, false, LC_OP_NO_WINDOW},                                        \
        {"MPI_Wait", lc_op_isend, false, LC_OP_NO_WINDOW},                                         \
        {"MPI_Waitall", lc_op_waitall, false, LC_OP_NO_WINDOW},                                    \
        {"MPI_Sendrecv", lc_op_sendrecv, false, LC_OP_NO_WINDOW},                                  \
        {"MPI_Put", lc_op_put, false, LC_OP_LOCKED}, {"MPI_Get", lc_op_get, false, LC_OP_LOCKED},  \
        {"MPI_Accumulate", lc_op_accumulate, false, LC_OP_LOCKED},                                 \
        {"MPI_Get_accumulate", lc_op_get_accumulate, false, LC_OP_LOCKED},                         \
        {"MPI_Win_fence", lc_op_fence, false, LC_OP_FENCED},                                       \
        {"MPI_Win_lock", lc_op_lock, false, LC_OP_UNLOCKED},                                       \
        {"MPI_Win_unlock", lc_op_lock, false, LC_OP_UNLOCKED},

#endif
