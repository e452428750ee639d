/* Messages in calls that are made seldom enough to stay out of line: MPI_Isendrecv, what makes
 * persistent and partitioned requests and starts them, and matched probes. Called by the generated
 * wrappers; `result` is what MPI returned. */
#ifndef LC_MEASURE_WRAPPERS_MESSAGE_SETUP_H
#define LC_MEASURE_WRAPPERS_MESSAGE_SETUP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/wrappers/messages.h"

/* MPI_Isendrecv: a send and a receive that have one request. */
void lc_isendrecv_begin(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, uint64_t count,
                        MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                        MPI_Comm comm);
/* After it: the one request gets both halves. */
void lc_isendrecv_end(struct lc_call *call, struct lc_msg *out, struct lc_msg *in, int result,
                      const MPI_Request *request);
/* Persistent and partitioned requests. result: of MPI; the request is read if it succeeded. */
void lc_send_init(struct lc_call *call, int result, uint64_t count, MPI_Datatype type, int dest,
                  int tag, MPI_Comm comm, enum lc_send_kind kind, const MPI_Request *request);
/* After MPI_Recv_init: notes the persistent request of a receive. */
void lc_recv_init(struct lc_call *call, int result, int source, int tag, MPI_Comm comm,
                  const MPI_Request *request);

/* Before partitions of a send become ready. */
void lc_pready(struct lc_call *call, MPI_Request request, int count);
/* MPI_Psend_init and MPI_Precv_init. */
void lc_partitioned_init(struct lc_call *call, int result, bool send, int partitions,
                         uint64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         const MPI_Request *request);
/* Before MPI_Start and MPI_Startall. */
void lc_start_begin(struct lc_call *call, int count, const MPI_Request *requests);
/* After them; requests are read as far as MPI has started them. */
void lc_start_end(struct lc_call *call, int result, int count, const MPI_Request *requests);
/* After MPI_Mprobe and MPI_Improbe: remembers the message if one was found. */
void lc_mprobe_end(struct lc_call *call, int result, bool found, MPI_Comm comm,
                   const MPI_Message *message, const MPI_Status *status);
/* Before MPI_Mrecv and MPI_Imrecv: what is known of the message. */
void lc_mrecv_begin(struct lc_call *call, struct lc_msg *msg, const MPI_Message *message);

#endif
