/* Motifs of random programs with operations, types, attributes and error handlers of their own,
 * and with messages in all other ways: modes, persistent requests, probes, two groups. */
#include "sim_random.h"

#include <stdlib.h>

enum { TAG = 30, BLOCKS = 1000 };

static void right(bool is) {
    if (!is)
        abort();
}

static void meets(const char *kind, int root, struct comm *c, const char *function) {
    note("K %d %s %d %d %d\n", c->id, kind, root, c->order++, c->me);
    ends(function);
}

static int next(const struct comm *c) {
    return (c->me + 1) % c->n;
}

static int previous(const struct comm *c) {
    return (c->me + c->n - 1) % c->n;
}

/* A message begins with who sent it, and its number. */
static void signed_by_me(int *message) {
    message[0] = rank;
    message[1] = n_sends++;
}

static int receive_later(const struct comm *c, int *message, int ints, MPI_Request *request) {
    FRAME;
    starts();
    MPI_Irecv(message, ints, MPI_INT, previous(c), TAG, c->comm, request);
    note("P %d\n", request_ids);
    ends("MPI_Irecv");
    return request_ids++;
}

/* ---- operations ---- */

static void sum_and_largest(void *in, void *inout, int *count, MPI_Datatype *type) {
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        b[2 * i] += a[2 * i];
        b[2 * i + 1] = a[2 * i + 1] > b[2 * i + 1] ? a[2 * i + 1] : b[2 * i + 1];
    }
}

/* Reductions of pairs by an operation of the program. */
void operations(struct comm *c) {
    FRAME;
    int kind = (int)draw(&common, 3), root = (int)draw(&common, (uint32_t)c->n);
    int commutes = (int)draw(&common, 2), in[2] = {c->me + 1, c->me}, result[2] = {0};
    MPI_Datatype pair;
    MPI_Op op;
    PLAIN(MPI_Type_contiguous, 2, MPI_INT, &pair);
    PLAIN(MPI_Type_commit, &pair);
    PLAIN(MPI_Op_create, sum_and_largest, commutes, &op);
    work();
    starts();
    if (kind == 0) {
        MPI_Allreduce(in, result, 1, pair, op, c->comm);
        meets("Allreduce", c->world[0], c, "MPI_Allreduce");
    } else if (kind == 1) {
        MPI_Reduce(in, result, 1, pair, op, root, c->comm);
        meets("Reduce", c->world[root], c, "MPI_Reduce");
    } else {
        MPI_Scan(in, result, 1, pair, op, c->comm);
        meets("Scan", c->world[0], c, "MPI_Scan");
    }
    int last = kind == 2 ? c->me : c->n - 1;
    right((kind == 1 && c->me != root) ||
          (result[0] == (last + 1) * (last + 2) / 2 && result[1] == last));
    PLAIN(MPI_Op_free, &op);
    PLAIN(MPI_Type_free, &pair);
}

/* ---- types ---- */

/* Two of four integers, many times; who receives has them one behind the other. */
void shapes(struct comm *c) {
    FRAME;
    static const int sizes[] = {1, 8, 100, BLOCKS};
    static int out_of[4 * BLOCKS], into[2 * BLOCKS];
    int blocks = sizes[draw(&common, 4)], way = (int)draw(&common, 2), position = 0;
    MPI_Datatype vector;
    MPI_Request request;
    if (c->n < 2)
        return;
    PLAIN(MPI_Type_vector, blocks, 2, 4, MPI_INT, &vector);
    PLAIN(MPI_Type_commit, &vector);
    int id = receive_later(c, into, 2 * BLOCKS, &request);
    work();
    signed_by_me(out_of);
    out_of[4 * blocks - 3] = blocks > 1 ? blocks : out_of[1];
    starts();
    if (way == 0) {
        MPI_Send(out_of, 1, vector, next(c), TAG, c->comm);
        note("S %d %d Send %d -1\n", out_of[1], c->world[next(c)], 8 * blocks);
        ends("MPI_Send");
    } else {
        MPI_Ssend(out_of, 1, vector, next(c), TAG, c->comm);
        note("S %d %d Ssend %d -1\n", out_of[1], c->world[next(c)], 8 * blocks);
        ends("MPI_Ssend");
    }
    starts();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("R %d %d %d\n", id, into[0], into[1]);
    ends("MPI_Wait");
    right(blocks == 1 || into[2 * blocks - 1] == blocks);
    PLAIN(MPI_Pack, out_of, 1, vector, into, (int)sizeof into, &position, c->comm);
    right(position == 8 * blocks);
    PLAIN(MPI_Type_free, &vector);
}

/* ---- messages in other ways ---- */

/* Sends that wait for nobody: buffered ones, and those whose receive is posted. */
void ways_to_send(struct comm *c) {
    FRAME;
    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    int kind = (int)draw(&common, 4), in[2], out_of[2], size_of_buffer;
    void *detached;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (c->n < 2)
        return;
    int id = receive_later(c, in, 2, &requests[0]);
    work();
    starts();
    MPI_Barrier(c->comm);
    meets("Barrier", c->world[0], c, "MPI_Barrier");
    PLAIN(MPI_Buffer_attach, buffer, (int)sizeof buffer);
    work();
    signed_by_me(out_of);
    starts();
    if (kind == 0)
        MPI_Bsend(out_of, 2, MPI_INT, next(c), TAG, c->comm);
    else if (kind == 1)
        MPI_Rsend(out_of, 2, MPI_INT, next(c), TAG, c->comm);
    else if (kind == 2)
        MPI_Ibsend(out_of, 2, MPI_INT, next(c), TAG, c->comm, &requests[1]);
    else
        MPI_Irsend(out_of, 2, MPI_INT, next(c), TAG, c->comm, &requests[1]);
    note("S %d %d %s 8 %d\n", out_of[1], c->world[next(c)], kind % 2 == 0 ? "Bsend" : "Rsend",
         kind < 2 ? -1 : request_ids);
    ends(kind == 0   ? "MPI_Bsend"
         : kind == 1 ? "MPI_Rsend"
         : kind == 2 ? "MPI_Ibsend"
                     : "MPI_Irsend");
    work();
    starts();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note("R %d %d %d\n", id, in[0], in[1]);
    if (kind >= 2)
        note("D %d\n", request_ids++);
    ends("MPI_Waitall");
    PLAIN(MPI_Buffer_detach, &detached, &size_of_buffer);
    right(detached == buffer);
}

/* The same requests again and again. */
void persistent(struct comm *c) {
    FRAME;
    int rounds = 1 + (int)draw(&common, 4), in[2], out_of[2], a[2] = {0}, sum[2], id[3];
    bool synchronous = draw(&common, 2) == 0, meets_too = draw(&common, 2) == 0;
    MPI_Request requests[3];
    if (c->n < 2)
        return;
    PLAIN(MPI_Recv_init, in, 2, MPI_INT, previous(c), TAG, c->comm, &requests[0]);
    if (synchronous)
        PLAIN(MPI_Ssend_init, out_of, 2, MPI_INT, next(c), TAG, c->comm, &requests[1]);
    else
        PLAIN(MPI_Send_init, out_of, 2, MPI_INT, next(c), TAG, c->comm, &requests[1]);
    if (meets_too)
        PLAIN(MPI_Allreduce_init, a, sum, 2, MPI_INT, MPI_SUM, c->comm, MPI_INFO_NULL,
              &requests[2]);
    for (int i = 0; i < rounds; i++) {
        work();
        signed_by_me(out_of);
        for (int k = 0; k < 3; k++)
            id[k] = request_ids++;
        starts();
        MPI_Startall(2, requests);
        note("P %d\nS %d %d %s 8 %d\n", id[0], out_of[1], c->world[next(c)],
             synchronous ? "Ssend" : "Send", id[1]);
        ends("MPI_Startall");
        if (meets_too) {
            starts();
            MPI_Start(&requests[2]);
            note("Q %d %d allreduce %d %d %d\n", id[2], c->id, c->world[0], c->order++, c->me);
            ends("MPI_Start");
        }
        work();
        starts();
        MPI_Waitall(2 + meets_too, requests, MPI_STATUSES_IGNORE);
        note("R %d %d %d\nD %d\n", id[0], in[0], in[1], id[1]);
        if (meets_too)
            note("E %d\n", id[2]);
        ends("MPI_Waitall");
    }
    for (int k = 0; k < 2 + meets_too; k++)
        PLAIN(MPI_Request_free, &requests[k]);
}

/* A receive that gets no message, of any source or the one before. */
static void never(const struct comm *c, int tag, bool any, MPI_Request *request) {
    FRAME;
    static int nothing[2];
    starts();
    MPI_Irecv(nothing, 2, MPI_INT, any ? MPI_ANY_SOURCE : previous(c), tag, c->comm, request);
    note("P %d\n", request_ids++);
    ends("MPI_Irecv");
}

static void cancel(MPI_Request *request, bool frees) {
    FRAME;
    MPI_Status status;
    int flag;
    PLAIN(MPI_Cancel, request);
    if (frees) {
        PLAIN(MPI_Request_free, request);
        return;
    }
    PLAIN(MPI_Wait, request, &status);
    PLAIN(MPI_Test_cancelled, &status, &flag);
    right(flag != 0);
}

/* Receives are cancelled while others, before them and after them, get their messages: of a tag
 * that nobody sends, or of the same one before anybody does. */
void cancels(struct comm *c) {
    FRAME;
    static int out_of[2 * BLOCKS], in[2 * BLOCKS];
    int way = (int)draw(&common, 5), ints = draw(&common, 2) == 0 ? 2 : 2 * BLOCKS, id;
    bool any = draw(&common, 2) == 0, frees = draw(&common, 2) == 0;
    bool synchronous = draw(&common, 2) == 0;
    MPI_Request cancelled, received = MPI_REQUEST_NULL, sent;
    if (c->n < 2)
        return;
    never(c, way < 2 ? TAG : TAG + 1, any && way > 1, &cancelled);
    work();
    id = way < 3 ? receive_later(c, in, 2 * BLOCKS, &received) : -1;
    if (way == 0) {
        cancel(&cancelled, frees);
    } else if (way == 1) {
        PLAIN(MPI_Cancel, &cancelled);
    }
    if (way < 2) {
        starts();
        MPI_Barrier(c->comm);
        meets("Barrier", c->world[0], c, "MPI_Barrier");
    }
    work();
    signed_by_me(out_of);
    starts();
    if (synchronous)
        MPI_Issend(out_of, ints, MPI_INT, next(c), TAG, c->comm, &sent);
    else
        MPI_Isend(out_of, ints, MPI_INT, next(c), TAG, c->comm, &sent);
    note("S %d %d %s %d %d\n", out_of[1], c->world[next(c)], synchronous ? "Ssend" : "Send",
         4 * ints, request_ids);
    ends(synchronous ? "MPI_Issend" : "MPI_Isend");
    int send = request_ids++;
    work();
    if (way == 2 || way == 3)
        cancel(&cancelled, frees);
    starts();
    if (id < 0)
        MPI_Recv(in, 2 * BLOCKS, MPI_INT, previous(c), TAG, c->comm, MPI_STATUS_IGNORE);
    else
        MPI_Wait(&received, MPI_STATUS_IGNORE);
    if (id < 0)
        note("P -1\n");
    note("R %d %d %d\n", id, in[0], in[1]);
    ends(id < 0 ? "MPI_Recv" : "MPI_Wait");
    if (way == 4)
        cancel(&cancelled, frees);
    else if (way == 1)
        PLAIN(MPI_Wait, &cancelled, MPI_STATUS_IGNORE);
    starts();
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    note("D %d\n", send);
    ends("MPI_Wait");
}

static int send_later(const struct comm *c, int *message, int ints, bool synchronous,
                      MPI_Request *request) {
    FRAME;
    signed_by_me(message);
    starts();
    if (synchronous)
        MPI_Issend(message, ints, MPI_INT, next(c), TAG, c->comm, request);
    else
        MPI_Isend(message, ints, MPI_INT, next(c), TAG, c->comm, request);
    note("S %d %d %s %d %d\n", message[1], c->world[next(c)], synchronous ? "Ssend" : "Send",
         4 * ints, request_ids);
    ends(synchronous ? "MPI_Issend" : "MPI_Isend");
    return request_ids++;
}

/* Was it cancelled? done: it is complete, whichever way. */
static bool is_gone(MPI_Request *request, int id, int *done) {
    FRAME;
    MPI_Status status;
    int gone = 0;
    starts();
    MPI_Test(request, done, &status);
    if (*done)
        note("D %d\n", id);
    ends("MPI_Test");
    if (*done) {
        PLAIN(MPI_Test_cancelled, &status, &gone);
    }
    if (gone)
        note("G %d\n", id);
    return gone != 0;
}

/* A send is cancelled, while others of its stream are before it and behind it. Who was to get it
 * is told whether it comes, and may have received the first that does before. */
void cancelled_sends(struct comm *c) {
    FRAME;
    enum { FIRST, DOOMED, LAST, WORD, SENDS };
    static int out_of[SENDS][2 * BLOCKS], in[2 * BLOCKS], told[3];
    int when = (int)draw(&common, 3), early_id = -1;
    MPI_Request early = MPI_REQUEST_NULL;
    bool large = draw(&common, 2) == 0, synchronous = draw(&common, 3) > 0;
    bool first = draw(&common, 2) == 0, one_by_one = draw(&common, 2) == 0;
    int last = (int)draw(&common, 3), done, id[SENDS], told_id = request_ids++, n = 0;
    MPI_Request sent[SENDS], word;
    if (c->n < 2)
        return;
    for (int i = 0; i < SENDS; i++)
        sent[i] = MPI_REQUEST_NULL;
    starts();
    MPI_Irecv(told, 3, MPI_INT, previous(c), TAG + 2, c->comm, &word);
    note("P %d\n", told_id);
    ends("MPI_Irecv");
    if (when > 0 && (first || last > 0))
        early_id = receive_later(c, in, 2 * BLOCKS, &early);
    work();
    if (first)
        id[FIRST] = send_later(c, out_of[FIRST], 2, false, &sent[FIRST]);
    id[DOOMED] = send_later(c, out_of[DOOMED], large ? 2 * BLOCKS : 2, synchronous, &sent[DOOMED]);
    if (last == 1)
        id[LAST] = send_later(c, out_of[LAST], 2, false, &sent[LAST]);
    work();
    PLAIN(MPI_Cancel, &sent[DOOMED]);
    out_of[WORD][2] = is_gone(&sent[DOOMED], id[DOOMED], &done);
    if (last == 2)
        id[LAST] = send_later(c, out_of[LAST], 2, false, &sent[LAST]);
    work();
    signed_by_me(out_of[WORD]);
    id[WORD] = request_ids++;
    starts();
    MPI_Isend(out_of[WORD], 3, MPI_INT, next(c), TAG + 2, c->comm, &sent[WORD]);
    note("S %d %d Send 12 %d\n", out_of[WORD][1], c->world[next(c)], id[WORD]);
    ends("MPI_Isend");
    for (int i = 0; i < 2; i++) {
        bool gets_word = (i == 0) == (when == 1);
        if (!gets_word && early_id < 0)
            continue;
        starts();
        MPI_Wait(gets_word ? &word : &early, MPI_STATUS_IGNORE);
        if (gets_word)
            note("R %d %d %d\n", told_id, told[0], told[1]);
        else
            note("R %d %d %d\n", early_id, in[0], in[1]);
        ends("MPI_Wait");
    }
    for (int i = first + !told[2] + (last > 0) - (early_id >= 0); i > 0; i--) {
        work();
        starts();
        MPI_Recv(in, 2 * BLOCKS, MPI_INT, previous(c), TAG, c->comm, MPI_STATUS_IGNORE);
        note("P -1\nR -1 %d %d\n", in[0], in[1]);
        ends("MPI_Recv");
    }
    work();
    for (int i = 0; i < SENDS; i++) {
        if (sent[i] == MPI_REQUEST_NULL)
            continue;
        sent[n] = sent[i];
        id[n++] = id[i];
    }
    for (int i = 0; i < (one_by_one ? n : 1); i++) {
        starts();
        MPI_Waitall(one_by_one ? 1 : n, &sent[i], MPI_STATUSES_IGNORE);
        for (int k = i; k < (one_by_one ? i + 1 : n); k++)
            note("D %d\n", id[k]);
        ends("MPI_Waitall");
    }
}

/* Looks for a message before it receives it. */
void probes(struct comm *c) {
    FRAME;
    int way = (int)draw(&common, 3), in[2], out_of[2], found = 0, id = request_ids++;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    if (c->n < 2)
        return;
    work();
    signed_by_me(out_of);
    starts();
    MPI_Isend(out_of, 2, MPI_INT, next(c), TAG, c->comm, &request);
    note("S %d %d Send 8 %d\n", out_of[1], c->world[next(c)], id);
    ends("MPI_Isend");
    work();
    if (way == 0)
        PLAIN(MPI_Probe, previous(c), TAG, c->comm, &status);
    else if (way == 1)
        PLAIN(MPI_Mprobe, previous(c), TAG, c->comm, &message, &status);
    for (; way == 2 && !found; work())
        PLAIN(MPI_Improbe, previous(c), TAG, c->comm, &found, &message, &status);
    PLAIN(MPI_Get_count, &status, MPI_INT, &found);
    right(found == 2);
    work();
    starts();
    if (way == 0)
        MPI_Recv(in, 2, MPI_INT, previous(c), TAG, c->comm, MPI_STATUS_IGNORE);
    else
        MPI_Mrecv(in, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
    note("P -1\nR -1 %d %d\n", in[0], in[1]);
    if (way < 2)
        note("F %d %d\n", in[0], in[1]);
    ends(way == 0 ? "MPI_Recv" : "MPI_Mrecv");
    starts();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("D %d\n", id);
    ends("MPI_Wait");
}

/* ---- attributes and errors ---- */

static int copies, deletes, failures;

static int copied(MPI_Comm of, int key, void *extra, void *value, void *into, int *is) {
    (void)of, (void)key, (void)extra;
    copies++;
    *(void **)into = value;
    *is = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm of, int key, void *value, void *extra) {
    (void)of, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void failed(MPI_Comm *of, int *code, ...) {
    (void)of, (void)code;
    failures++;
}

/* An attribute goes with a copy of the communicator; calls on it fail, and the program goes on. */
void attributes(struct comm *c) {
    FRAME;
    static int value = 7;
    int key, flag, *got, before = failures;
    bool returns = draw(&common, 2) == 0;
    struct comm made = *c;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    copies = deletes = 0;
    PLAIN(MPI_Comm_create_keyval, copied, deleted, &key, NULL);
    PLAIN(MPI_Comm_set_attr, c->comm, key, &value);
    work();
    starts();
    MPI_Comm_dup(c->comm, &made.comm);
    meets("Comm_dup", c->world[0], c, "MPI_Comm_dup");
    made.id = ++comm_ids * 1000 + c->world[0];
    made.order = 0;
    PLAIN(MPI_Comm_get_attr, made.comm, key, &got, &flag);
    right(flag && got == &value && copies == 1);
    if (!returns)
        PLAIN(MPI_Comm_create_errhandler, failed, &handler);
    PLAIN(MPI_Comm_set_errhandler, made.comm, handler);
    PLAIN(MPI_Send, &value, 1, MPI_INT, made.n + 3, TAG, made.comm);
    PLAIN(MPI_Bcast, &value, -1, MPI_INT, 0, made.comm);
    right(failures == before + (returns ? 0 : 2));
    PLAIN(MPI_Pcontrol, 2);
    work();
    starts();
    MPI_Barrier(made.comm);
    meets("Barrier", made.world[0], &made, "MPI_Barrier");
    if (!returns)
        PLAIN(MPI_Errhandler_free, &handler);
    PLAIN(MPI_Comm_free, &made.comm);
    PLAIN(MPI_Comm_delete_attr, c->comm, key);
    right(deletes == 2);
    PLAIN(MPI_Comm_free_keyval, &key);
}

/* ---- two groups ---- */

/* The even and the odd ranks talk to each other, and become one again. */
void two_groups(struct comm *c) {
    FRAME;
    int odd = c->me % 2, in[2], out_of[2] = {0}, sum[2], key = c->me / 2;
    int id = ++comm_ids * 1000 + c->world[0];
    MPI_Comm half, both, merged;
    if (c->n < 2)
        return;
    work();
    starts();
    MPI_Comm_split(c->comm, odd, key, &half);
    meets("Comm_split", 0, c, "MPI_Comm_split");
    work();
    starts();
    MPI_Intercomm_create(half, 0, c->comm, 1 - odd, TAG, &both);
    meets("Intercomm_create", 0, c, "MPI_Intercomm_create");
    int others = (c->n + odd) / 2; /* of the other group */
    if (key < others && key < c->n - others) {
        MPI_Request request;
        int peer = 2 * key + 1 - odd;
        work();
        starts();
        MPI_Irecv(in, 2, MPI_INT, key, TAG, both, &request);
        note("P %d\n", request_ids);
        ends("MPI_Irecv");
        work();
        signed_by_me(out_of);
        starts();
        MPI_Send(out_of, 2, MPI_INT, key, TAG, both);
        note("S %d %d Send 8 -1\n", out_of[1], c->world[peer]);
        ends("MPI_Send");
        starts();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        note("R %d %d %d\n", request_ids++, in[0], in[1]);
        ends("MPI_Wait");
    }
    work();
    starts();
    MPI_Intercomm_merge(both, odd, &merged);
    meets("Intercomm_merge", 0, c, "MPI_Intercomm_merge");
    work();
    starts();
    MPI_Allreduce(out_of, sum, 2, MPI_INT, MPI_SUM, merged);
    note("K %d Allreduce 0 0 %d\n", id, c->me);
    ends("MPI_Allreduce");
    PLAIN(MPI_Comm_free, &merged);
    PLAIN(MPI_Comm_free, &both);
    PLAIN(MPI_Comm_free, &half);
}
