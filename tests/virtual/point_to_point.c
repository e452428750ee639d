/* Point to point: messages with heads, replies to senders that wait, probes. */
#include "ops.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum way { STANDARD, SYNCHRONOUS, READY, BUFFERED };

/* Messages of one clock. */
static struct told {
    uint64_t at;
    MPI_Request request;
    struct told *next;
} * told;

static void reclaim(bool wait) {
    for (struct told **t = &told; *t != NULL;) {
        struct told *one = *t;
        int done = 0;
        if (wait)
            done = CALL(PMPI_Wait, &one->request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        else
            CALL(PMPI_Test, &one->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            t = &one->next;
            continue;
        }
        *t = one->next;
        free(one);
    }
}

static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

void vt_tell(const struct vt_channel *channel, int to, int tag, uint64_t at) {
    struct told *t = malloc(sizeof *t);
    if (t == NULL)
        abort();
    t->at = at;
    pthread_mutex_lock(&telling);
    reclaim(false);
    CALL(PMPI_Isend, &t->at, 8, MPI_BYTE, to, tag, channel->shadow, &t->request);
    t->next = told;
    told = t;
    pthread_mutex_unlock(&telling);
}

void vt_told_all(void) {
    pthread_mutex_lock(&telling);
    reclaim(true);
    pthread_mutex_unlock(&telling);
}

uint64_t vt_hear(const struct vt_channel *channel, int from, int tag) {
    uint64_t at = 0;
    MPI_Request request;
    int done = 0;
    CALL(PMPI_Irecv, &at, 8, MPI_BYTE, from, tag, channel->shadow, &request);
    for (int turn = 0; !done; turn++) {
        vt_serve(turn);
        CALL(PMPI_Test, &request, &done, MPI_STATUS_IGNORE);
    }
    return at;
}

/* A message with its head in front of it: from MPI_BOTTOM, one of this type. */
static bool carry(struct head *head, const void *data, int count, MPI_Datatype type,
                  MPI_Datatype *both) {
    if (count < 0 || type == MPI_DATATYPE_NULL)
        return false;
    MPI_Aint places[2];
    CALL(PMPI_Get_address, head, &places[0]);
    CALL(PMPI_Get_address, (void *)data, &places[1]);
    if (data == MPI_BOTTOM)
        places[1] = 0;
    if (CALL(PMPI_Type_create_struct, 2, ((int[]){sizeof *head, count}), places,
             ((MPI_Datatype[]){MPI_BYTE, type}), both) != MPI_SUCCESS)
        return false;
    CALL(PMPI_Type_commit, both);
    return true;
}

/* NULL: a message that carries no clock. */
static const struct vt_channel *carries(MPI_Comm comm, int partner) {
    const struct vt_channel *channel =
        vt_inside > 0 || partner == MPI_PROC_NULL ? NULL : vt_channel(comm);
    return channel != NULL && channel->tools ? NULL : channel;
}

static bool must_wait(enum way way, int count, MPI_Datatype type) {
    int bytes = 0;
    if (way == STANDARD)
        CALL(PMPI_Type_size, type, &bytes);
    return way == SYNCHRONOUS || (int64_t)bytes * count > VT_EAGER;
}

/* The head of a message that is sent now. */
static void head_now(struct op *op, int tag_of_reply) {
    op->out.sent = vt_now();
    op->out.from = op->channel->rank;
    op->out.reply = 0;
    if (!op->waits)
        return;
    op->out.reply = tag_of_reply;
    CALL(PMPI_Irecv, &op->replied, 8, MPI_BYTE, op->to, tag_of_reply, op->channel->shadow,
         &op->reply);
}

static int next_reply(void) {
    static _Atomic unsigned number;
    return (int)(number++ % VT_REPLIES) + 1;
}

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* A new one with its datatype, or NULL: this message carries no clock. */
static struct op *op_send(enum way way, const void *data, int count, MPI_Datatype type, int to,
                          MPI_Comm comm, MPI_Datatype *both) {
    const struct vt_channel *channel = carries(comm, to);
    if (channel == NULL || to < 0 || to >= channel->size)
        return NULL;
    struct op *op = vt_op_new(SEND, channel);
    if (!carry(&op->out, data, count, type, both)) {
        free(op);
        return NULL;
    }
    op->to = to;
    op->waits = must_wait(way, count, type);
    return op;
}

static int start_send(struct op *op, isend_function *real, MPI_Datatype both, int tag,
                      MPI_Comm comm, MPI_Request *request) {
    head_now(op, op->waits ? next_reply() : 0);
    int result = INSIDE(real(MPI_BOTTOM, 1, both, op->to, tag, comm, request));
    CALL(PMPI_Type_free, &both);
    if (result != MPI_SUCCESS) {
        vt_no_reply(op);
        free(op);
    }
    return result;
}

/* A sender that gets no core when its message has been received ($VT_LINGER_MS of true time): what
 * the receiver does meanwhile must not take away what the tool looks for then. */
static void linger(void) {
    const char *text = getenv("VT_LINGER_MS");
    struct timespec time = {.tv_nsec = (text != NULL ? atol(text) : 0) * 1000000};
    if (time.tv_nsec > 0)
        nanosleep(&time, NULL);
}

static int send(enum way way, send_function *real, isend_function *start, const void *data,
                int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Datatype both;
    MPI_Request request;
    MPI_Status status;
    struct op *op = op_send(way, data, count, type, to, comm, &both);
    if (op == NULL)
        return INSIDE(real(data, count, type, to, tag, comm));
    bool waits = op->waits;
    int result = start_send(op, start, both, tag, comm, &request);
    if (result != MPI_SUCCESS)
        return result;
    result = vt_wait_for(op, &request, &status);
    if (waits)
        linger();
    return result;
}

static int isend(enum way way, isend_function *real, const void *data, int count, MPI_Datatype type,
                 int to, int tag, MPI_Comm comm, MPI_Request *request) {
    MPI_Datatype both;
    struct op *op = op_send(way, data, count, type, to, comm, &both);
    if (op == NULL)
        return INSIDE(real(data, count, type, to, tag, comm, request));
    int result = start_send(op, real, both, tag, comm, request);
    if (result == MPI_SUCCESS && !op->waits && vt_complete(op, *request))
        free(op); /* MPICH: one handle for all that are complete at once */
    else if (result == MPI_SUCCESS)
        vt_op_keep(op, *request);
    return result;
}

/* The real one has been made: what is known of it is kept from now on. */
static int keep_persistent(struct op *op, int result, const MPI_Request *request) {
    op->persistent = true;
    op->active = false;
    if (result == MPI_SUCCESS && vt_inside == 0)
        vt_op_keep(op, *request);
    else
        free(op);
    return result;
}

static int send_init(enum way way, isend_function *real, const void *data, int count,
                     MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    MPI_Datatype both;
    struct op *op = op_send(way, data, count, type, to, comm, &both);
    if (op == NULL)
        return keep_persistent(vt_op_new(NOTHING, NULL),
                               INSIDE(real(data, count, type, to, tag, comm, request)), request);
    int result = INSIDE(real(MPI_BOTTOM, 1, both, to, tag, comm, request));
    CALL(PMPI_Type_free, &both);
    return keep_persistent(op, result, request);
}

#define SENDS(way, name, start, init)                                                              \
    BOTH(MPI_##name)                                                                               \
    (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {                 \
        return send(way, REAL(PMPI_##name), REAL(PMPI_##start), data, n, type, to, tag, comm);     \
    }                                                                                              \
    BOTH(MPI_##start)                                                                              \
    (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r) { \
        return isend(way, REAL(PMPI_##start), data, n, type, to, tag, comm, r);                    \
    }                                                                                              \
    BOTH(MPI_##init)                                                                               \
    (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r) { \
        return send_init(way, REAL(PMPI_##init), data, n, type, to, tag, comm, r);                 \
    }

SENDS(STANDARD, Send, Isend, Send_init)
SENDS(SYNCHRONOUS, Ssend, Issend, Ssend_init)
SENDS(READY, Rsend, Irsend, Rsend_init)
SENDS(BUFFERED, Bsend, Ibsend, Bsend_init)

/* Buffered messages are longer here, so the MPI gets a larger buffer than the program gave. */
static struct {
    void *programs, *larger;
    int bytes;
} buffer;

BOTH(MPI_Buffer_attach)(void *data, int bytes) {
    if (vt_inside > 0 || bytes < 0)
        return CALL(PMPI_Buffer_attach, data, bytes);
    int more = 2 * bytes + (1 << 20);
    void *larger = malloc((size_t)more);
    int result = CALL(PMPI_Buffer_attach, larger, more);
    if (result == MPI_SUCCESS) {
        buffer.programs = data;
        buffer.larger = larger;
        buffer.bytes = bytes;
    } else {
        free(larger);
    }
    return result;
}

BOTH(MPI_Buffer_detach)(void *data, int *bytes) {
    int result = CALL(PMPI_Buffer_detach, data, bytes);
    if (result == MPI_SUCCESS && buffer.larger != NULL && vt_inside == 0) {
        *(void **)data = buffer.programs;
        *bytes = buffer.bytes;
        free(buffer.larger);
        buffer.larger = NULL;
    }
    return result;
}

static struct op *op_receive(void *data, int count, MPI_Datatype type, int from, MPI_Comm comm,
                             MPI_Datatype *both) {
    const struct vt_channel *channel = carries(comm, from);
    if (channel == NULL)
        return NULL;
    struct op *op = vt_op_new(RECEIVE, channel);
    if (!carry(&op->in, data, count, type, both)) {
        free(op);
        return NULL;
    }
    op->posted = vt_now();
    return op;
}

static int started(struct op *op, int result, MPI_Datatype *both, const MPI_Request *request) {
    if (both != NULL)
        CALL(PMPI_Type_free, both);
    if (result == MPI_SUCCESS)
        vt_op_keep(op, *request);
    else
        free(op);
    return result;
}

BOTH(MPI_Irecv)
(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    MPI_Datatype both;
    struct op *op = op_receive(data, count, type, from, comm, &both);
    if (op == NULL)
        return CALL(PMPI_Irecv, data, count, type, from, tag, comm, request);
    int result = CALL(PMPI_Irecv, MPI_BOTTOM, 1, both, from, tag, comm, request);
    return started(op, result, &both, request);
}

BOTH(MPI_Recv_init)
(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    MPI_Datatype both;
    struct op *op = op_receive(data, count, type, from, comm, &both);
    if (op == NULL)
        return keep_persistent(vt_op_new(NOTHING, NULL),
                               CALL(PMPI_Recv_init, data, count, type, from, tag, comm, request),
                               request);
    int result = CALL(PMPI_Recv_init, MPI_BOTTOM, 1, both, from, tag, comm, request);
    CALL(PMPI_Type_free, &both);
    return keep_persistent(op, result, request);
}

BOTH(MPI_Recv)
(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request request;
    if (carries(comm, from) == NULL)
        return CALL(PMPI_Recv, data, count, type, from, tag, comm, status);
    return vt_until_done(PMPI_Irecv(data, count, type, from, tag, comm, &request), &request,
                         status);
}

BOTH(MPI_Sendrecv)
(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int m, MPI_Datatype type_in,
 int from, int tag_in, MPI_Comm comm, MPI_Status *status) {
    MPI_Request receive, request;
    const struct vt_channel *channel = vt_channel(comm);
    if (vt_inside > 0 || channel == NULL || channel->tools)
        return CALL(PMPI_Sendrecv, out, n, type, to, tag, in, m, type_in, from, tag_in, comm,
                    status);
    int result = PMPI_Irecv(in, m, type_in, from, tag_in, comm, &receive);
    if (result != MPI_SUCCESS)
        return result;
    result = PMPI_Isend(out, n, type, to, tag, comm, &request);
    if (result != MPI_SUCCESS) {
        PMPI_Cancel(&receive);
        vt_until_done(MPI_SUCCESS, &receive, MPI_STATUS_IGNORE);
        return result;
    }
    int sent = vt_until_done(MPI_SUCCESS, &request, MPI_STATUS_IGNORE);
    result = vt_until_done(MPI_SUCCESS, &receive, status);
    return result != MPI_SUCCESS ? result : sent;
}

BOTH(MPI_Sendrecv_replace)
(void *data, int count, MPI_Datatype type, int to, int tag, int from, int tag_in, MPI_Comm comm,
 MPI_Status *status) {
    const struct vt_channel *channel = vt_channel(comm);
    int bytes = 0, packed = 0;
    if (vt_inside > 0 || channel == NULL || channel->tools || count < 0 ||
        CALL(PMPI_Pack_size, count, type, comm, &bytes) != MPI_SUCCESS)
        return CALL(PMPI_Sendrecv_replace, data, count, type, to, tag, from, tag_in, comm, status);
    char *copy = malloc((size_t)bytes + 1);
    if (copy == NULL)
        abort();
    int result = CALL(PMPI_Pack, data, count, type, copy, bytes, &packed, comm);
    if (result == MPI_SUCCESS)
        result = PMPI_Sendrecv(copy, packed, MPI_PACKED, to, tag, data, count, type, from, tag_in,
                               comm, status);
    free(copy);
    return result;
}

#if MPI_VERSION >= 4
BOTH(MPI_Isendrecv)
(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int m, MPI_Datatype type_in,
 int from, int tag_in, MPI_Comm comm, MPI_Request *request) {
    MPI_Datatype both[2];
    struct op *op = carries(comm, to) != NULL && to >= 0 && carries(comm, from) != NULL
                        ? vt_op_new(BOTH_WAYS, vt_channel(comm))
                        : NULL;
    if (op == NULL || !carry(&op->out, out, n, type, &both[0]) ||
        !carry(&op->in, in, m, type_in, &both[1])) {
        if (vt_inside == 0 && vt_channel(comm) != NULL && (to >= 0 || from >= 0))
            vt_unknown("MPI_Isendrecv with one partner");
        return CALL(PMPI_Isendrecv, out, n, type, to, tag, in, m, type_in, from, tag_in, comm,
                    request);
    }
    op->to = to;
    op->posted = vt_now();
    head_now(op, 0); /* it does not wait for the receiver */
    int result = CALL(PMPI_Isendrecv, MPI_BOTTOM, 1, both[0], to, tag, MPI_BOTTOM, 1, both[1], from,
                      tag_in, comm, request);
    /* MPICH 4.0 frees the datatypes of this call itself, once too often */
    return started(op, result, NULL, request);
}

/* Partitioned messages carry no head. Requests of one stream are matched in the order in which they
 * were made: the clock goes with a tag for each. */
static int parts_init(int result, bool sends, int parts, int peer, int tag, MPI_Comm comm,
                      const MPI_Request *request) {
    static struct partitioned {
        MPI_Comm comm;
        bool sends;
        int peer, tag, number;
        struct partitioned *next;
    } * all;
    const struct vt_channel *channel = carries(comm, peer);
    struct partitioned *m = all;
    if (result != MPI_SUCCESS || channel == NULL)
        return result;
    while (m != NULL && (m->comm != comm || m->sends != sends || m->peer != peer || m->tag != tag))
        m = m->next;
    if (m == NULL) {
        m = calloc(1, sizeof *m);
        if (m == NULL)
            abort();
        *m = (struct partitioned){comm, sends, peer, tag, 0, all};
        all = m;
    }
    struct op *op = vt_op_new(NOTHING, channel);
    op->parts = sends ? parts : -1;
    op->to = peer;
    op->part_tag = VT_TAG_PARTS + tag * 100 + m->number++ % 100;
    return keep_persistent(op, result, request);
}

BOTH(MPI_Psend_init)
(const void *data, int parts, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
 MPI_Info info, MPI_Request *request) {
    return parts_init(CALL(PMPI_Psend_init, data, parts, count, type, to, tag, comm, info, request),
                      true, parts, to, tag, comm, request);
}

BOTH(MPI_Precv_init)
(void *data, int parts, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
 MPI_Info info, MPI_Request *request) {
    return parts_init(
        CALL(PMPI_Precv_init, data, parts, count, type, from, tag, comm, info, request), false,
        parts, from, tag, comm, request);
}

static void parts_ready(MPI_Request request, int n) {
    struct op *op = vt_inside > 0 ? NULL : vt_op_find(request);
    if (op == NULL)
        return;
    op->ready += n;
    if (op->ready == op->parts)
        vt_tell(op->channel, op->to, op->part_tag, vt_now());
}

BOTH(MPI_Pready)(int part, MPI_Request request) {
    parts_ready(request, 1);
    return CALL(PMPI_Pready, part, request);
}

BOTH(MPI_Pready_range)(int low, int high, MPI_Request request) {
    parts_ready(request, high - low + 1);
    return CALL(PMPI_Pready_range, low, high, request);
}

#if MPI_VERSION == 4 && MPI_SUBVERSION == 0
#define LIST int
#else
#define LIST const int
#endif
BOTH(MPI_Pready_list)(int n, LIST parts[], MPI_Request request) {
    parts_ready(request, n);
    return CALL(PMPI_Pready_list, n, parts, request);
}
#endif

static void prepare(MPI_Request request) {
    struct op *op = vt_op_find(request);
    if (op == NULL)
        return;
    op->answered = false;
    op->told = 0;
    op->in = (struct head){0};
    op->posted = vt_now();
    if (op->kind == SEND)
        head_now(op, op->waits ? next_reply() : 0);
    if (op->parts < 0)
        CALL(PMPI_Irecv, &op->replied, 8, MPI_BYTE, op->to, op->part_tag, op->channel->shadow,
             &op->reply);
    op->ready = 0;
    op->active = true;
}

BOTH(MPI_Start)(MPI_Request *request) {
    if (vt_inside == 0)
        prepare(*request);
    return CALL(PMPI_Start, request);
}

BOTH(MPI_Startall)(int count, MPI_Request requests[]) {
    for (int i = 0; i < count && vt_inside == 0; i++)
        prepare(requests[i]);
    return CALL(PMPI_Startall, count, requests);
}

/* Probes see envelopes only: the clock moves when the message is received. */
BOTH(MPI_Iprobe)(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    MPI_Status own;
    if (carries(comm, from) == NULL)
        return CALL(PMPI_Iprobe, from, tag, comm, flag, status);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    int result = CALL(PMPI_Iprobe, from, tag, comm, flag, status);
    if (result == MPI_SUCCESS && vt_is_there(*flag, 0))
        vt_shorten(status);
    return result;
}

BOTH(MPI_Probe)(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status own;
    int flag = 0, result = MPI_SUCCESS;
    if (carries(comm, from) == NULL)
        return CALL(PMPI_Probe, from, tag, comm, status);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    for (int turn = 0; !flag && result == MPI_SUCCESS; turn++) {
        result = CALL(PMPI_Iprobe, from, tag, comm, &flag, status);
        if (!flag)
            vt_serve(turn);
    }
    if (flag)
        vt_shorten(status);
    return result;
}

BOTH(MPI_Improbe)
(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    MPI_Status own;
    if (carries(comm, from) == NULL)
        return CALL(PMPI_Improbe, from, tag, comm, flag, message, status);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    int result = CALL(PMPI_Improbe, from, tag, comm, flag, message, status);
    if (result == MPI_SUCCESS && *flag) {
        struct op *op = vt_op_new(RECEIVE, vt_channel(comm));
        vt_shorten(status);
        op->message = *message;
        vt_op_keep(op, MPI_REQUEST_NULL);
    }
    return result;
}

BOTH(MPI_Mprobe)(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    int flag = 0, result = MPI_SUCCESS;
    if (carries(comm, from) == NULL)
        return CALL(PMPI_Mprobe, from, tag, comm, message, status);
    for (int turn = 0; !flag && result == MPI_SUCCESS; turn++) {
        result = PMPI_Improbe(from, tag, comm, &flag, message, status);
        if (!flag)
            vt_serve(turn);
    }
    return result;
}

BOTH(MPI_Imrecv)
(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    MPI_Datatype both;
    struct op *op = vt_inside > 0 ? NULL : vt_op_of_message(*message);
    if (op == NULL || !carry(&op->in, data, count, type, &both))
        return CALL(PMPI_Imrecv, data, count, type, message, request);
    vt_op_forget(op);
    op->message = MPI_MESSAGE_NULL;
    op->posted = vt_now();
    op->next = NULL;
    return started(op, CALL(PMPI_Imrecv, MPI_BOTTOM, 1, both, message, request), &both, request);
}

BOTH(MPI_Mrecv)
(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    MPI_Request request;
    if (vt_inside > 0 || vt_op_of_message(*message) == NULL)
        return CALL(PMPI_Mrecv, data, count, type, message, status);
    return vt_until_done(PMPI_Imrecv(data, count, type, message, &request), &request, status);
}
