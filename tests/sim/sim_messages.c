/* Messages: blocking, nonblocking and persistent ones, in parts, probes. */
#include "sim_mpi.h"

#include <stdlib.h>

static int check(MPI_Comm comm, const void *data, long count, MPI_Datatype type, int peer, int tag,
                 bool receives, struct sim_comm **c) {
    TRY(sim_check_comm(comm, c));
    const struct sim_type *t = sim_type(type);
    if (count < 0)
        return sim_error(*c, MPI_ERR_COUNT);
    if (t == NULL || !t->committed)
        return sim_error(*c, MPI_ERR_TYPE);
    if (peer != MPI_PROC_NULL && !(receives && peer == MPI_ANY_SOURCE) &&
        (peer < 0 || peer >= sim_others(*c)->size))
        return sim_error(*c, MPI_ERR_RANK);
    if (tag < 0 && !(receives && tag == MPI_ANY_TAG))
        return sim_error(*c, MPI_ERR_TAG);
    if (data == NULL && count > 0 && t->size > 0 && t->lb == 0 && t->true_ub <= 4096 &&
        t->combiner == MPI_COMBINER_NAMED)
        return sim_error(*c, MPI_ERR_BUFFER);
    return MPI_SUCCESS;
}

static int new_message(enum sim_use use, int mode, const void *data, long count, MPI_Datatype type,
                       int peer, int tag, MPI_Comm comm, struct sim_handle **made) {
    struct sim_comm *c;
    TRY(check(comm, data, count, type, peer, tag, use == SIM_USE_RECEIVE, &c));
    struct sim_handle *h = *made = sim_handle_new(use);
    h->mode = mode;
    h->data = (void *)data;
    h->count = count;
    h->type = type;
    sim_type_use(sim_type(type), 1);
    h->peer = peer;
    h->tag = tag;
    h->comm = c;
    return MPI_SUCCESS;
}

static int blocking(struct sim_handle *h, MPI_Status *status) {
    struct sim_comm *c = h->comm;
    TRY(sim_start_one(h));
    if (h->request != NULL)
        sim_wait_request(h->request);
    int result = sim_finish(h, status);
    sim_handle_free(h);
    return sim_report(c, result);
}

static int nonblocking(struct sim_handle *h, MPI_Request *request) {
    TRY(sim_start_one(h));
    *request = sim_request_handle(h);
    return MPI_SUCCESS;
}

static int persistent(struct sim_handle *h, MPI_Request *request) {
    h->persistent = true;
    *request = sim_request_handle(h);
    return MPI_SUCCESS;
}

#define SENDS(mode, name, start, init)                                                             \
    BOTH(MPI_##name)                                                                               \
    (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {                 \
        struct sim_handle *h;                                                                      \
        ENTER("MPI_" #name);                                                                       \
        TRY(new_message(SIM_USE_SEND, mode, data, n, type, to, tag, comm, &h));                    \
        return blocking(h, MPI_STATUS_IGNORE);                                                     \
    }                                                                                              \
    BOTH(MPI_##start)                                                                              \
    (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r) { \
        struct sim_handle *h;                                                                      \
        ENTER("MPI_" #start);                                                                      \
        TRY(new_message(SIM_USE_SEND, mode, data, n, type, to, tag, comm, &h));                    \
        return nonblocking(h, r);                                                                  \
    }                                                                                              \
    BOTH(MPI_##init)                                                                               \
    (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r) { \
        struct sim_handle *h;                                                                      \
        TRY(new_message(SIM_USE_SEND, mode, data, n, type, to, tag, comm, &h));                    \
        return persistent(h, r);                                                                   \
    }

SENDS(SIM_STANDARD, Send, Isend, Send_init)
SENDS(SIM_SYNCHRONOUS, Ssend, Issend, Ssend_init)
SENDS(SIM_READY, Rsend, Irsend, Rsend_init)
SENDS(SIM_BUFFERED, Bsend, Ibsend, Bsend_init)

BOTH(MPI_Recv)
(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    struct sim_handle *h;
    ENTER("MPI_Recv");
    TRY(new_message(SIM_USE_RECEIVE, 0, data, n, type, from, tag, comm, &h));
    return blocking(h, status);
}

BOTH(MPI_Irecv)
(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    struct sim_handle *h;
    ENTER("MPI_Irecv");
    TRY(new_message(SIM_USE_RECEIVE, 0, data, n, type, from, tag, comm, &h));
    return nonblocking(h, request);
}

BOTH(MPI_Recv_init)
(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    struct sim_handle *h;
    TRY(new_message(SIM_USE_RECEIVE, 0, data, n, type, from, tag, comm, &h));
    return persistent(h, request);
}

BOTH(MPI_Sendrecv)
(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int m, MPI_Datatype type_in,
 int from, int tag_in, MPI_Comm comm, MPI_Status *status) {
    struct sim_handle *send, *receive;
    ENTER("MPI_Sendrecv");
    TRY(new_message(SIM_USE_RECEIVE, 0, in, m, type_in, from, tag_in, comm, &receive));
    int result = new_message(SIM_USE_SEND, SIM_STANDARD, out, n, type, to, tag, comm, &send);
    if (result != MPI_SUCCESS) {
        sim_handle_free(receive);
        return result;
    }
    TRY(sim_start_one(receive));
    TRY(sim_start_one(send));
    if (send->request != NULL)
        sim_wait_request(send->request);
    if (receive->request != NULL)
        sim_wait_request(receive->request);
    sim_finish(send, MPI_STATUS_IGNORE);
    result = sim_finish(receive, status);
    const struct sim_comm *c = receive->comm;
    sim_handle_free(send);
    sim_handle_free(receive);
    return sim_report(c, result);
}

BOTH(MPI_Sendrecv_replace)
(void *data, int count, MPI_Datatype type, int to, int tag, int from, int tag_in, MPI_Comm comm,
 MPI_Status *status) {
    struct sim_comm *c;
    size_t bytes;
    ENTER("MPI_Sendrecv_replace");
    TRY(check(comm, data, count, type, to, tag, false, &c));
    char *copy = sim_pack(data, count, sim_type(type), &bytes);
    int result = PMPI_Sendrecv(copy, (int)bytes, MPI_PACKED, to, tag, data, count, type, from,
                               tag_in, comm, status);
    free(copy);
    return result;
}

BOTH(MPI_Isendrecv)
(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int m, MPI_Datatype type_in,
 int from, int tag_in, MPI_Comm comm, MPI_Request *request) {
    struct sim_handle *send, *receive;
    ENTER("MPI_Isendrecv");
    TRY(new_message(SIM_USE_RECEIVE, 0, in, m, type_in, from, tag_in, comm, &receive));
    TRY(new_message(SIM_USE_SEND, SIM_STANDARD, out, n, type, to, tag, comm, &send));
    receive->second = send;
    TRY(sim_start_one(send));
    return nonblocking(receive, request);
}

BOTH(MPI_Isendrecv_replace)
(void *data, int count, MPI_Datatype type, int to, int tag, int from, int tag_in, MPI_Comm comm,
 MPI_Request *request) { /* what is sent has been copied when the call ends */
    return PMPI_Isendrecv(data, count, type, to, tag, data, count, type, from, tag_in, comm,
                          request);
}

/* ---- partitioned messages: one message, sent when the last part is ready ---- */

/* Requests of one communicator, partner and tag are matched in the order in which they were made:
 * each has a context of its own. */
static int parts_init(enum sim_use use, const void *data, int parts, MPI_Count count,
                      MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
    static struct stream {
        uint64_t context;
        enum sim_use use;
        int peer, tag, n;
        struct stream *next;
    } * streams;
    struct sim_handle *h;
    TRY(new_message(use, SIM_STANDARD, data, parts * count, type, peer, tag, comm, &h));
    struct stream *s = streams;
    while (s != NULL &&
           (s->context != h->comm->context || s->use != use || s->peer != peer || s->tag != tag))
        s = s->next;
    if (s == NULL) {
        s = sim_new(sizeof *s);
        *s = (struct stream){h->comm->context, use, peer, tag, 0, streams};
        streams = s;
    }
    h->stream = 1ull << 62 | h->comm->context << 20 | (uint64_t)s->n++;
    h->parts = use == SIM_USE_SEND ? parts : 0;
    return persistent(h, request);
}

BOTH(MPI_Psend_init)
(const void *data, int parts, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
 MPI_Info info, MPI_Request *request) {
    (void)info;
    return parts_init(SIM_USE_SEND, data, parts, count, type, to, tag, comm, request);
}

BOTH(MPI_Precv_init)
(void *data, int parts, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
 MPI_Info info, MPI_Request *request) {
    (void)info;
    return parts_init(SIM_USE_RECEIVE, data, parts, count, type, from, tag, comm, request);
}

static int parts_ready(const char *name, int n, MPI_Request request) {
    ENTER(name);
    struct sim_handle *h = sim_handle_of(request);
    if (h == NULL || h->parts == 0 || !h->active)
        return sim_error(NULL, MPI_ERR_REQUEST);
    h->ready += n;
    return h->ready == h->parts ? sim_start_send(h) : MPI_SUCCESS;
}

BOTH(MPI_Pready)(int part, MPI_Request request) {
    (void)part;
    return parts_ready("MPI_Pready", 1, request);
}

BOTH(MPI_Pready_range)(int low, int high, MPI_Request request) {
    return parts_ready("MPI_Pready_range", high - low + 1, request);
}

#if MPICH_NUMVERSION < 40100000 /* as its header declares it */
typedef int part_number;
#else
typedef const int part_number;
#endif

BOTH(MPI_Pready_list)(int n, part_number *parts, MPI_Request request) {
    (void)parts;
    return parts_ready("MPI_Pready_list", n, request);
}

BOTH(MPI_Parrived)(MPI_Request request, int part, int *flag) {
    ENTER("MPI_Parrived");
    (void)part;
    const struct sim_handle *h = sim_handle_of(request);
    *flag = h == NULL || sim_is_complete(h);
    if (!*flag)
        sim_poll();
    return MPI_SUCCESS;
}

/* ---- probes ---- */

struct look {
    uint64_t context;
    int source, tag;
    bool take;
    struct sim_message *found;
};

static bool look(void *data) {
    struct look *l = data;
    l->found = sim_look(l->context, l->source, l->tag, l->take);
    return l->found != NULL;
}

static int start_look(int from, int tag, MPI_Comm comm, bool take, struct look *l) {
    struct sim_comm *c;
    TRY(check(comm, "", 0, MPI_BYTE, from, tag, true, &c));
    *l = (struct look){sim_context(c, false), from, tag, take, NULL};
    return MPI_SUCCESS;
}

static void envelope(const struct sim_message *m, MPI_Status *status) {
    if (status == MPI_STATUS_IGNORE)
        return;
    sim_empty_status(status);
    status->MPI_SOURCE = m != NULL ? m->source : MPI_PROC_NULL;
    status->MPI_TAG = m != NULL ? m->tag : MPI_ANY_TAG;
    sim_set_count(status, m != NULL ? (long)m->bytes : 0);
}

BOTH(MPI_Probe)(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    struct look l;
    ENTER("MPI_Probe");
    TRY(start_look(from, tag, comm, false, &l));
    if (from != MPI_PROC_NULL)
        sim_wait_until(look, &l);
    envelope(l.found, status);
    return MPI_SUCCESS;
}

BOTH(MPI_Iprobe)(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    struct look l;
    ENTER("MPI_Iprobe");
    TRY(start_look(from, tag, comm, false, &l));
    *flag = from == MPI_PROC_NULL || look(&l);
    if (*flag)
        envelope(l.found, status);
    else
        sim_poll();
    return MPI_SUCCESS;
}

/* A message that a probe took: a handle of the same kind as requests. */
static MPI_Message message_handle(struct sim_message *m) {
    struct sim_handle *taken = sim_handle_new(SIM_USE_NONE);
    taken->extra = m;
    return sim_request_handle(taken);
}

BOTH(MPI_Mprobe)(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct look l;
    ENTER("MPI_Mprobe");
    TRY(start_look(from, tag, comm, true, &l));
    if (from != MPI_PROC_NULL)
        sim_wait_until(look, &l);
    envelope(l.found, status);
    *message = l.found != NULL ? message_handle(l.found) : MPI_MESSAGE_NO_PROC;
    return MPI_SUCCESS;
}

BOTH(MPI_Improbe)
(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct look l;
    ENTER("MPI_Improbe");
    TRY(start_look(from, tag, comm, true, &l));
    *flag = from == MPI_PROC_NULL || look(&l);
    if (*flag) {
        envelope(l.found, status);
        *message = l.found != NULL ? message_handle(l.found) : MPI_MESSAGE_NO_PROC;
    } else {
        sim_poll();
    }
    return MPI_SUCCESS;
}

static int message_receive(void *data, int count, MPI_Datatype type, MPI_Message *message,
                           struct sim_handle **made) {
    struct sim_handle *taken = sim_handle_of(*message);
    if (*message != MPI_MESSAGE_NO_PROC && (taken == NULL || taken->use != SIM_USE_NONE))
        return sim_error(NULL, MPI_ERR_REQUEST);
    TRY(new_message(SIM_USE_RECEIVE, 0, data, count, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD, made));
    (*made)->active = true;
    if (taken != NULL) {
        (*made)->request = sim_receive_message(taken->extra);
        sim_request_drop(*message);
        free(taken);
    }
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Mrecv)
(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    struct sim_handle *h;
    ENTER("MPI_Mrecv");
    TRY(message_receive(data, count, type, message, &h));
    int result = sim_finish(h, status);
    sim_handle_free(h);
    return sim_report(NULL, result);
}

BOTH(MPI_Imrecv)
(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    struct sim_handle *h;
    ENTER("MPI_Imrecv");
    TRY(message_receive(data, count, type, message, &h));
    *request = sim_request_handle(h);
    return MPI_SUCCESS;
}

/* ---- buffers: sends copy anyway ---- */

static void *buffer;
static int buffer_bytes;

BOTH(MPI_Buffer_attach)(void *data, int bytes) {
    if (buffer != NULL)
        return sim_error(NULL, MPI_ERR_BUFFER);
    buffer = data;
    buffer_bytes = bytes;
    return MPI_SUCCESS;
}

BOTH(MPI_Buffer_detach)(void *data, int *bytes) {
    if (buffer == NULL)
        return sim_error(NULL, MPI_ERR_BUFFER);
    *(void **)data = buffer;
    *bytes = buffer_bytes;
    buffer = NULL;
    return MPI_SUCCESS;
}
