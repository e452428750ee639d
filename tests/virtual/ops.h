/* What is known of a request, or of a message that a probe took. Heads are part of messages in
 * transfer: an op stays where it is until they are complete. */
#ifndef VIRTUAL_OPS_H
#define VIRTUAL_OPS_H

#include "virtual.h"

struct head {
    uint64_t sent;
    int32_t from;  /* rank of the sender */
    int32_t reply; /* under which number it waits for the receiver's clock; 0: it does not */
};

/* NOTHING: a persistent request that carries no clock, known only because it may be inactive. */
enum kind { NOTHING = 0, SEND = 1, RECEIVE = 2, BOTH_WAYS = SEND | RECEIVE, COLLECTIVE = 4 };

struct op {
    enum kind kind;
    MPI_Request request;
    MPI_Message message;
    const struct vt_channel *channel;
    struct head out, in;
    uint64_t posted;   /* when the receive was */
    MPI_Request reply; /* comes for a send that waits */
    uint64_t replied;
    int to;
    bool persistent, active, waits, answered;
    int told, result; /* persistent and active: the MPI was asked, and has told this */
    MPI_Status status;
    struct vt_exchange exchange;
    int parts, ready, part_tag; /* partitioned: how many, how many are ready; tag of the clock */
    MPI_Comm *made, shadow;     /* of MPI_Comm_idup; the shadow comes with another request */
    MPI_Request making;
    struct op *next;
};

struct op *vt_op_new(enum kind kind, const struct vt_channel *channel);
void vt_op_keep(struct op *op, MPI_Request request); /* from now on it is found */
struct op *vt_op_find(MPI_Request request);          /* NULL: none of ours */
struct op *vt_op_of_message(MPI_Message message);
void vt_op_forget(struct op *op); /* not freed */

void vt_no_reply(struct op *op);                      /* it will not come: the send failed */
bool vt_complete(struct op *op, MPI_Request request); /* also what else has to come */
/* Waits for a request that is found (a started one, if result says so), or for one that is not. */
int vt_until_done(int result, MPI_Request *request, MPI_Status *status);
int vt_wait_for(struct op *op, MPI_Request *request, MPI_Status *status);

/* A test found something that comes at this time, or nothing. What has not arrived by the virtual
 * clock is not there yet, but comes nearer. */
bool vt_is_there(bool found, uint64_t at);
void vt_shorten(MPI_Status *status); /* to the length of the data alone */

#endif
