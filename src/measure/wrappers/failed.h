/* Calls that MPI refused and operations that failed: what was begun for them is taken back. A
 * receive whose message was longer than its buffer (class MPI_ERR_TRUNCATE) has got its message
 * all the same. */
#ifndef LC_MEASURE_WRAPPERS_FAILED_H
#define LC_MEASURE_WRAPPERS_FAILED_H

#include <mpi.h>
#include <stdbool.h>

struct lc_call;
struct lc_coll;
struct lc_msg;
struct lc_request;

/* MPI's class of a code; MPI_ERR_UNKNOWN if MPI does not tell. */
int lc_error_class(int result);
/* The call has done nothing: an argument is not valid. */
bool lc_was_refused(int result);
/* A send was refused or failed: what was begun for it is taken back. */
void lc_send_failed(struct lc_call *call, struct lc_msg *msg);
/* The same of a receive; status NULL: not known. A truncated message keeps its place. */
void lc_recv_failed(struct lc_call *call, struct lc_msg *msg, int result, const MPI_Status *status);
/* The same of both halves of MPI_Sendrecv. */
void lc_sendrecv_failed(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                        const MPI_Status *status);
/* The same of a collective operation. */
void lc_coll_failed(struct lc_call *call, struct lc_coll *coll, int result);
/* The same of a persistent request that could not be started. */
void lc_start_failed(struct lc_call *call, struct lc_request *r, struct lc_msg *msg);
/* After a call that failed: the operation is not, or no longer, in progress. */
bool lc_request_is_over(const struct lc_request *r, const MPI_Request *handle);

#endif
