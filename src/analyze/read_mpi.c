/* MPI records: messages, requests, collective operations. A record belongs to the innermost region
 * open at its time. */
#include <stdlib.h>

#include "analyze/reader.h"
#include "base/mem.h"

/* Communicator of the trace; LC_NONE (counted) if undefined. */
static uint32_t reader_comm(struct lc_reader *reader, uint64_t id) {
    if (id != reader->comm_id) {
        reader->comm_id = id;
        reader->comm = lc_idmap_get(&reader->defs->comm_of, id);
    }
    if (reader->comm == LC_NONE)
        lc_health_note(reader->health, LC_HEALTH_UNKNOWN_COMM, reader->loc->id);
    return reader->comm;
}

static bool is_member(uint32_t n, const uint32_t *members, uint32_t process) {
    for (uint32_t i = 0; i < n; i++)
        if (members[i] == process)
            return true;
    return false;
}

/* Process of a rank in messages of this process on a communicator: in an inter-communicator it is
 * in the other group. */
static uint32_t peer_of(struct lc_reader *reader, uint32_t comm_index, uint32_t rank) {
    const struct lc_an_comm *comm = &reader->trace->comms[comm_index];
    uint32_t own = reader->loc->process, n = comm->n_members, peer = LC_NONE;
    const uint32_t *members = comm->members;
    if (comm->n_remote && is_member(comm->n_members, comm->members, own)) {
        n = comm->n_remote;
        members = comm->remote;
    }
    if (comm->self)
        peer = own;
    else if (members && rank < n)
        peer = members[rank];
    if (peer == LC_NONE)
        lc_health_note(reader->health, LC_HEALTH_UNKNOWN_COMM, reader->loc->id);
    return peer;
}

static struct lc_p2p *add_p2p(struct lc_reader *reader, uint32_t call, uint64_t flags) {
    struct lc_loc *loc = reader->loc;
    if (loc->n_p2p == loc->cap_p2p) {
        reader->err = lc_reserve(&loc->p2p, &loc->cap_p2p, loc->n_p2p + 1, sizeof *loc->p2p);
        if (reader->err != LC_OK)
            return NULL;
    }
    struct lc_p2p *p2p = &loc->p2p[loc->n_p2p++];
    *p2p = (struct lc_p2p){.flags = flags, .call = call, .done = LC_NONE};
    return p2p;
}

/* Notes that the call around the record completes operation `index` (of colls or p2p). */
static void add_done(struct lc_reader *reader, uint32_t index, bool coll) {
    struct lc_loc *loc = reader->loc;
    if (loc->n_done == loc->cap_done) {
        reader->err = lc_reserve(&loc->done, &loc->cap_done, loc->n_done + 1, sizeof *loc->done);
        if (reader->err != LC_OK)
            return;
    }
    loc->done[loc->n_done++] = index << 1 | coll;
}

/* Fills in who and how much. */
static void describe(struct lc_reader *reader, struct lc_p2p *p2p, uint32_t rank, uint64_t comm_id,
                     uint32_t tag, uint64_t bytes) {
    uint32_t comm = reader_comm(reader, comm_id);
    if (comm == LC_NONE)
        return;
    uint32_t peer = peer_of(reader, comm, rank);
    if (peer == LC_NONE)
        return;
    p2p->comm = comm;
    p2p->peer = peer;
    p2p->tag = tag;
    p2p->bytes = bytes;
    p2p->flags |= LC_P2P_KNOWN;
    if (peer == reader->loc->process)
        p2p->flags |= LC_P2P_SELF;
}

/* Operation `index` comes after so many of its channel that are not in the trace. */
static void note_left_out(struct lc_reader *reader, struct lc_left_out *list,
                          OTF2_AttributeList *attributes, size_t index) {
    uint64_t count = 0;
    if (reader->defs->left_out == OTF2_UNDEFINED_ATTRIBUTE || attributes == NULL ||
        OTF2_AttributeList_GetUint64(attributes, reader->defs->left_out, &count) != OTF2_SUCCESS)
        return;
    if (list->n <= index) {
        reader->err = lc_grow(&list->counts, &list->cap, index + 1, sizeof *list->counts);
        if (reader->err != LC_OK)
            return;
        list->n = index + 1;
    }
    list->counts[index] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void count_message(struct lc_reader *reader, bool recv, uint64_t bytes) {
    if (!bytes) {
        lc_reader_count(reader, recv ? LC_COUNT_SYNCS_RECV : LC_COUNT_SYNCS_SEND, 1);
        return;
    }
    lc_reader_count(reader, recv ? LC_COUNT_COMMS_RECV : LC_COUNT_COMMS_SEND, 1);
    lc_reader_count(reader, recv ? LC_COUNT_BYTES_RCVD : LC_COUNT_BYTES_SENT, (int64_t)bytes);
}

static void open_request(struct lc_reader *reader, struct lc_idmap *map, uint64_t request,
                         uint32_t index) {
    if (lc_idmap_get(map, request) != LC_NONE)
        lc_health_note(reader->health, LC_HEALTH_REQUEST_REUSED, reader->loc->id);
    reader->err = lc_idmap_put(map, request, index);
}

/* The operation that a request stands for; LC_NONE (and a note): unknown. */
static uint32_t close_request(struct lc_reader *reader, struct lc_idmap *map, uint64_t request) {
    uint32_t index = lc_idmap_take(map, request);
    if (index == LC_NONE)
        lc_health_note(reader->health, LC_HEALTH_REQUEST_UNKNOWN, reader->loc->id);
    return index;
}

/* A message that the call around it sends or receives to the end. */
static inline OTF2_CallbackCode blocking(struct lc_reader *reader, OTF2_TimeStamp time,
                                         OTF2_AttributeList *attributes, uint64_t direction,
                                         uint32_t rank, OTF2_CommRef comm, uint32_t tag,
                                         uint64_t bytes) {
    lc_reader_time(reader, time);
    uint32_t call = lc_reader_call(reader);
    if (call == LC_NONE)
        return lc_reader_end(reader);
    struct lc_p2p *p2p = add_p2p(reader, call, direction);
    if (!p2p)
        return OTF2_CALLBACK_INTERRUPT;
    p2p->done = call;
    describe(reader, p2p, rank, comm, tag, bytes);
    note_left_out(reader, &reader->loc->p2p_left_out, attributes, reader->loc->n_p2p - 1);
    add_done(reader, (uint32_t)(reader->loc->n_p2p - 1), false);
    count_message(reader, direction == LC_P2P_RECV, bytes);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *attributes, uint32_t receiver,
                                 OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
    (void)location, (void)position;
    return blocking(user, time, attributes, 0, receiver, comm, tag, bytes);
}

static OTF2_CallbackCode on_recv(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *attributes, uint32_t sender,
                                 OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
    (void)location, (void)position;
    return blocking(user, time, attributes, LC_P2P_RECV, sender, comm, tag, bytes);
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *attributes, uint32_t receiver,
                                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                  uint64_t request) {
    (void)location, (void)position;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    uint32_t call = lc_reader_call(reader);
    if (call == LC_NONE)
        return lc_reader_end(reader);
    struct lc_p2p *p2p = add_p2p(reader, call, LC_P2P_NONBLOCKING);
    if (!p2p)
        return OTF2_CALLBACK_INTERRUPT;
    describe(reader, p2p, receiver, comm, tag, bytes);
    note_left_out(reader, &reader->loc->p2p_left_out, attributes, reader->loc->n_p2p - 1);
    open_request(reader, &reader->sends, request, (uint32_t)(reader->loc->n_p2p - 1));
    count_message(reader, false, bytes);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_isend_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                           uint64_t position, void *user,
                                           OTF2_AttributeList *attributes, uint64_t request) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    uint32_t index = close_request(reader, &reader->sends, request);
    if (index == LC_NONE)
        return lc_reader_end(reader);
    uint32_t call = lc_reader_call(reader);
    reader->loc->p2p[index].done = call;
    if (call != LC_NONE)
        add_done(reader, index, false);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time,
                                          uint64_t position, void *user,
                                          OTF2_AttributeList *attributes, uint64_t request) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    uint32_t call = lc_reader_call(reader);
    if (call == LC_NONE)
        return lc_reader_end(reader);
    if (!add_p2p(reader, call, LC_P2P_RECV | LC_P2P_NONBLOCKING))
        return OTF2_CALLBACK_INTERRUPT;
    open_request(reader, &reader->recvs, request, (uint32_t)(reader->loc->n_p2p - 1));
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *attributes, uint32_t sender,
                                  OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                  uint64_t request) {
    (void)location, (void)position;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    uint32_t index = close_request(reader, &reader->recvs, request);
    if (index == LC_NONE)
        return lc_reader_end(reader);
    uint32_t call = lc_reader_call(reader);
    struct lc_p2p *p2p = &reader->loc->p2p[index];
    p2p->done = call;
    describe(reader, p2p, sender, comm, tag, bytes);
    note_left_out(reader, &reader->loc->p2p_left_out, attributes, index);
    if (call != LC_NONE) {
        add_done(reader, index, false);
        count_message(reader, true, bytes);
    }
    return lc_reader_end(reader);
}

/* A cancelled send is no message: it does not count. */
static void cancel(struct lc_reader *reader, struct lc_p2p *p2p) {
    if (!(p2p->flags & LC_P2P_RECV)) {
        uint32_t node = reader->node;
        reader->node = reader->loc->cnode[reader->loc->calls[p2p->call].enter];
        lc_reader_count(reader, p2p->bytes ? LC_COUNT_COMMS_SEND : LC_COUNT_SYNCS_SEND, -1);
        lc_reader_count(reader, LC_COUNT_BYTES_SENT, -(int64_t)p2p->bytes);
        reader->node = node;
    }
    p2p->flags &= (uint16_t)~LC_P2P_KNOWN;
}

static OTF2_CallbackCode on_cancelled(OTF2_LocationRef location, OTF2_TimeStamp time,
                                      uint64_t position, void *user, OTF2_AttributeList *attributes,
                                      uint64_t request) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    uint32_t index = lc_idmap_take(&reader->recvs, request);
    if (index == LC_NONE)
        index = close_request(reader, &reader->sends, request);
    if (index != LC_NONE)
        cancel(reader, &reader->loc->p2p[index]);
    return lc_reader_end(reader);
}

static const uint8_t kind_of_op[] = {
    [OTF2_COLLECTIVE_OP_BARRIER] = LC_KIND_BARRIER,
    [OTF2_COLLECTIVE_OP_BCAST] = LC_KIND_12N,
    [OTF2_COLLECTIVE_OP_GATHER] = LC_KIND_N21,
    [OTF2_COLLECTIVE_OP_GATHERV] = LC_KIND_N21,
    [OTF2_COLLECTIVE_OP_SCATTER] = LC_KIND_12N,
    [OTF2_COLLECTIVE_OP_SCATTERV] = LC_KIND_12N,
    [OTF2_COLLECTIVE_OP_ALLGATHER] = LC_KIND_N2N,
    [OTF2_COLLECTIVE_OP_ALLGATHERV] = LC_KIND_N2N,
    [OTF2_COLLECTIVE_OP_ALLTOALL] = LC_KIND_N2N,
    [OTF2_COLLECTIVE_OP_ALLTOALLV] = LC_KIND_N2N_SYNC,
    [OTF2_COLLECTIVE_OP_ALLTOALLW] = LC_KIND_N2N_SYNC,
    [OTF2_COLLECTIVE_OP_ALLREDUCE] = LC_KIND_N2N,
    [OTF2_COLLECTIVE_OP_REDUCE] = LC_KIND_N21,
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = LC_KIND_N2N,
    [OTF2_COLLECTIVE_OP_SCAN] = LC_KIND_SCAN,
    [OTF2_COLLECTIVE_OP_EXSCAN] = LC_KIND_SCAN,
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = LC_KIND_N2N,
};

static void count_collective(struct lc_reader *reader, uint64_t sent, uint64_t received) {
    lc_reader_count(reader,
                    sent && received ? LC_COUNT_COMMS_CXCH
                    : sent           ? LC_COUNT_COMMS_CSRC
                    : received       ? LC_COUNT_COMMS_CDST
                                     : LC_COUNT_SYNCS_COLL,
                    1);
    if (sent)
        lc_reader_count(reader, LC_COUNT_BYTES_COUT, (int64_t)sent);
    if (received)
        lc_reader_count(reader, LC_COUNT_BYTES_CIN, (int64_t)received);
}

struct coll_end {
    OTF2_CollectiveOp op;
    uint32_t root;
    uint64_t sent, received;
};

/* Root as rank in the communicator. In an inter-communicator the receivers name it by its rank in
 * the other group, itself as "self", and the others of its group not at all. */
static uint32_t root_of(const struct lc_reader *reader, const struct lc_an_comm *comm,
                        uint32_t root) {
    if (!comm->n_remote)
        return root;
    uint32_t own = lc_transport_rank(comm, reader->loc->process);
    if (root == OTF2_COLLECTIVE_ROOT_SELF)
        return own;
    if (own == LC_NONE || root == OTF2_COLLECTIVE_ROOT_THIS_GROUP || root == LC_NONE)
        return LC_NONE;
    return lc_transport_group(comm, own) ? root : root + comm->n_members;
}

/* Neighbours are known of Cartesian topologies, and in own traces of all. */
static uint8_t neighbor_kind(struct lc_reader *reader, const struct lc_an_comm *comm) {
    if (comm->n_dims || comm->sources != NULL)
        return LC_KIND_NEIGHBOR;
    lc_health_note(reader->health, LC_HEALTH_COLL_NEIGHBORS, reader->loc->id);
    return LC_KIND_NONE;
}

/* Operation, root and roles, known only from the record at the end. Both sides of a barrier or
 * construction wait. */
static void describe_coll(struct lc_reader *reader, struct lc_coll_part *coll, uint64_t comm_id,
                          const struct coll_end *end) {
    coll->comm = reader_comm(reader, comm_id);
    if (coll->comm == LC_NONE)
        return;
    const struct lc_an_comm *comm = &reader->trace->comms[coll->comm];
    coll->op = end->op;
    coll->root = root_of(reader, comm, end->root);
    coll->flags =
        LC_COLL_KNOWN | (end->sent ? LC_COLL_SENDS : 0) | (end->received ? LC_COLL_RECEIVES : 0);
    if (reader->loc->calls[coll->call].fn == LC_FN_MPI_NEIGHBOR)
        coll->kind = neighbor_kind(reader, comm);
    else if (end->op < sizeof kind_of_op)
        coll->kind = kind_of_op[end->op];
    else
        lc_health_note(reader->health, LC_HEALTH_COLL_UNKNOWN, reader->loc->id);
    if (coll->kind == LC_KIND_BARRIER || coll->kind == LC_KIND_MGMT)
        coll->flags |= LC_COLL_SENDS | LC_COLL_RECEIVES;
}

static uint32_t add_coll(struct lc_reader *reader, const struct lc_coll_part *coll) {
    struct lc_loc *loc = reader->loc;
    if (loc->n_colls == loc->cap_colls) {
        reader->err =
            lc_reserve(&loc->colls, &loc->cap_colls, loc->n_colls + 1, sizeof *loc->colls);
        if (reader->err != LC_OK)
            return LC_NONE;
    }
    loc->colls[loc->n_colls] = *coll;
    return (uint32_t)loc->n_colls++;
}

void lc_reader_add_coll(struct lc_reader *reader, const struct lc_coll_part *coll) {
    uint32_t index = add_coll(reader, coll);
    if (index != LC_NONE)
        add_done(reader, index, true);
}

static OTF2_CallbackCode on_coll_begin(OTF2_LocationRef location, OTF2_TimeStamp time,
                                       uint64_t position, void *user,
                                       OTF2_AttributeList *attributes) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    if (reader->coll_begin != INT64_MIN)
        lc_health_note(reader->health, LC_HEALTH_COLL_BEGIN_ALONE, reader->loc->id);
    reader->coll_begin = t;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_coll_end(OTF2_LocationRef location, OTF2_TimeStamp time,
                                     uint64_t position, void *user, OTF2_AttributeList *attributes,
                                     OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                     uint64_t sent, uint64_t received) {
    (void)location, (void)position;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time), begin = reader->coll_begin;
    reader->coll_begin = INT64_MIN;
    if (op >= OTF2_COLLECTIVE_OP_DESTROY_HANDLE &&
        op <= OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE)
        return OTF2_CALLBACK_SUCCESS;
    uint32_t call = lc_reader_call(reader);
    if (call == LC_NONE)
        return lc_reader_end(reader);
    struct lc_loc *loc = reader->loc;
    const struct lc_mpi_call *c = &loc->calls[call];
    if (begin == INT64_MIN) {
        lc_health_note(reader->health, LC_HEALTH_COLL_END_ALONE, loc->id);
        begin = loc->time[c->enter];
    }
    struct lc_coll_part coll = {begin, t, call, LC_NONE, root, .klass = LC_COLL_BLOCKING};
    if (op == OTF2_COLLECTIVE_OP_CREATE_HANDLE) {
        if (c->fn == LC_FN_MPI_INIT || c->fn == LC_FN_MPI_FINALIZE || c->fn == LC_FN_MPI_WIN)
            return OTF2_CALLBACK_SUCCESS;
        coll.klass = LC_COLL_CREATE;
        coll.kind = LC_KIND_MGMT;
        coll.flags = LC_COLL_KNOWN | LC_COLL_SENDS | LC_COLL_RECEIVES;
        coll.comm = reader_comm(reader, comm);
        coll.op = op;
    } else {
        describe_coll(reader, &coll, comm, &(struct coll_end){op, root, sent, received});
        count_collective(reader, sent, received);
    }
    if (coll.flags & LC_COLL_KNOWN && coll.comm != LC_NONE) {
        lc_reader_add_coll(reader, &coll);
        if (reader->err == LC_OK)
            note_left_out(reader, &loc->colls_left_out, attributes, loc->n_colls - 1);
    }
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_nbc_request(OTF2_LocationRef location, OTF2_TimeStamp time,
                                        uint64_t position, void *user,
                                        OTF2_AttributeList *attributes, uint64_t request) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    uint32_t call = lc_reader_call(reader);
    if (call == LC_NONE)
        return lc_reader_end(reader);
    int64_t begin = reader->loc->time[reader->loc->calls[call].enter];
    struct lc_coll_part coll = {begin, begin, call, LC_NONE, LC_NONE, .klass = LC_COLL_NONBLOCKING};
    uint32_t index = add_coll(reader, &coll);
    if (index != LC_NONE)
        open_request(reader, &reader->colls, request, index);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_nbc_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                         uint64_t position, void *user,
                                         OTF2_AttributeList *attributes, OTF2_CollectiveOp op,
                                         OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                         uint64_t received, uint64_t request) {
    (void)location, (void)position;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    uint32_t index = close_request(reader, &reader->colls, request);
    if (index == LC_NONE)
        return lc_reader_end(reader);
    uint32_t call = lc_reader_call(reader);
    struct lc_coll_part *coll = &reader->loc->colls[index];
    if (op == OTF2_COLLECTIVE_OP_CREATE_HANDLE) { /* MPI_Comm_idup: not a data operation */
        coll->flags = 0;
        return lc_reader_end(reader);
    }
    describe_coll(reader, coll, comm, &(struct coll_end){op, root, sent, received});
    note_left_out(reader, &reader->loc->colls_left_out, attributes, index);
    if (coll->kind == LC_KIND_N2N_SYNC)
        coll->kind = LC_KIND_NONE;
    if (call != LC_NONE)
        add_done(reader, index, true);
    return lc_reader_end(reader);
}

/* The end of nonblocking operations (and of file operations) is that of their call, known only now;
 * what is still open is counted. */
enum lc_err lc_read_mpi_end(struct lc_reader *reader) {
    struct lc_loc *loc = reader->loc;
    for (size_t i = 0; i < loc->n_colls; i++)
        if (loc->colls[i].klass == LC_COLL_NONBLOCKING || loc->colls[i].klass == LC_COLL_IO)
            loc->colls[i].end = loc->time[loc->calls[loc->colls[i].call].leave];
    lc_health_add(reader->health, LC_HEALTH_REQUEST_OPEN, loc->id,
                  (int64_t)(reader->recvs.count + reader->sends.count + reader->colls.count));
    if (reader->coll_begin != INT64_MIN)
        lc_health_note(reader->health, LC_HEALTH_COLL_BEGIN_ALONE, loc->id);
    lc_idmap_clear(&reader->recvs);
    lc_idmap_clear(&reader->sends);
    lc_idmap_clear(&reader->colls);
    return LC_OK;
}

void lc_read_mpi_callbacks(OTF2_EvtReaderCallbacks *callbacks) {
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(callbacks, on_coll_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_coll_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, on_nbc_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, on_nbc_complete);
}
