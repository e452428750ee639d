/* The motif of messages: a random set of messages between random ranks, sent and received in random
 * order by random calls. */
#include "random_program.h"

struct message {
    uint32_t id;
    int source, dest, tag, bytes, how,
        exact; /* how: enum sending; exact: enum receiving of its destination's group */
    char *buffer;
};

enum sending { ISEND, ISSEND, IBSEND, SEND, SSEND, BSEND, FREED, SENDINGS };
enum receiving { EXACT, ANY_SOURCE, ANY_TAG, ANYTHING, PROBED, RECEIVINGS };

struct work {
    struct context *c;
    MPI_Comm comm;
    int me, n;
    struct message all[MAX_MESSAGES];
    int n_all;
    MPI_Request requests[2 * MAX_MESSAGES];
    struct message *
        of[2 * MAX_MESSAGES]; /* the receive's expectation; NULL for sends and cancelled receives */
    char *buffers[2 * MAX_MESSAGES];
    int n_requests;
    int mode; /* one way of receiving for all messages of this motif, so that wildcards cannot take
                 what is not theirs */
};

static void fill(char *buffer, uint32_t id, int bytes) {
    for (int i = 0; i < bytes; i++)
        buffer[i] = (char)hash64(((uint64_t)id << 32) + (uint64_t)(i % 251));
    if (bytes >= 4)
        memcpy(buffer, &id, 4);
}

/* The content tells the message's id; is it one for this rank, with the right length? Sums are
 * independent of the order. */
static void verify(struct work *w, const char *buffer, const MPI_Status *s,
                   const struct message *expected) {
    int bytes = -1;
    uint32_t id = 0;
    OK(MPI_Get_count(s, MPI_BYTE, &bytes));
    if (bytes >= 4)
        memcpy(&id, buffer, 4);
    const struct message *found = NULL;
    for (int i = 0; i < w->n_all; i++)
        if (w->all[i].dest == w->me && w->all[i].source == s->MPI_SOURCE &&
            w->all[i].tag == s->MPI_TAG && w->all[i].bytes == bytes &&
            (bytes < 4 || w->all[i].id == id))
            found = &w->all[i];
    CHECK(found != NULL);
    CHECK(w->mode == ANYTHING || w->mode == ANY_SOURCE || !expected ||
          expected->source == s->MPI_SOURCE);
    for (int i = 4; i < bytes; i++)
        if (buffer[i] != (char)hash64(((uint64_t)id << 32) + (uint64_t)(i % 251))) {
            CHECK(!"content");
            break;
        }
    w->c->checksum += hash64(((uint64_t)id << 20) + (uint64_t)bytes * 64 + (uint64_t)s->MPI_SOURCE);
}

static void plan(struct work *w) {
    static const int sizes[] = {0, 4, 8, 40, 500, 4100, 20000, 70000};
    uint64_t *r = &w->c->common;
    w->mode = (int)draw(r, RECEIVINGS);
    w->n_all = 1 + (int)draw(r, MAX_MESSAGES - 1);
    for (int i = 0; i < w->n_all; i++) {
        struct message *m = &w->all[i];
        m->id = (uint32_t)hash64(draw(r, 1u << 30) + (uint64_t)i * 77);
        m->source = (int)draw(r, (uint32_t)w->n);
        m->dest = (int)draw(r, (uint32_t)w->n);
        m->tag = (w->c->motif % 500) * 8 + (int)draw(r, 5);
        m->bytes = sizes[draw(r, 8)];
        m->how = (int)draw(r, SENDINGS);
        if ((w->c->threaded && (m->how == IBSEND || m->how == BSEND)) || m->bytes > 500)
            m->how = m->how == BSEND    ? SEND
                     : m->how == IBSEND ? ISEND
                                        : m->how; /* one attached buffer per process */
        if (w->mode ==
            PROBED) /* the receiver looks for it only after its own sends: these must not block */
            m->how = m->how == SEND || m->how == SSEND || m->how == FREED ? ISEND : m->how;
        if (m->how == SEND || m->how == SSEND)
            if (m->source == m->dest)
                m->how = ISEND;
        m->buffer = NULL;
    }
}

static void add(struct work *w, MPI_Request request, struct message *m, char *buffer) {
    w->requests[w->n_requests] = request;
    w->of[w->n_requests] = m;
    w->buffers[w->n_requests++] = buffer;
}

static void post_receive(struct work *w, struct message *m) {
    int any_source = w->mode == ANY_SOURCE || w->mode == ANYTHING,
        any_tag = w->mode == ANY_TAG || w->mode == ANYTHING;
    int room = any_source || any_tag ? 70000 : m->bytes;
    char *buffer = calloc(1, (size_t)room + 1);
    MPI_Request request;
    OK(MPI_Irecv(buffer, room, MPI_BYTE, any_source ? MPI_ANY_SOURCE : m->source,
                 any_tag ? MPI_ANY_TAG : m->tag, w->comm, &request));
    add(w, request, m, buffer);
}

/* A receive for which no message is sent, cancelled right away. */
static void cancelled_receive(struct work *w) {
    int value, flag = 0;
    MPI_Request request;
    MPI_Status s;
    OK(MPI_Irecv(&value, 1, MPI_INT, draw(&w->c->own, 2) ? MPI_ANY_SOURCE : w->me, 5000, w->comm,
                 &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &s));
    OK(MPI_Test_cancelled(&s, &flag));
    CHECK(flag);
}

static void send(struct work *w, struct message *m) {
    MPI_Request request = MPI_REQUEST_NULL;
    char *buffer = malloc((size_t)m->bytes + 1);
    fill(buffer, m->id, m->bytes);
    switch (m->how) {
    case ISEND:
    case FREED: /* freed only when its completion is known: see below */
        OK(MPI_Isend(buffer, m->bytes, MPI_BYTE, m->dest, m->tag, w->comm, &request));
        break;
    case ISSEND:
        OK(MPI_Issend(buffer, m->bytes, MPI_BYTE, m->dest, m->tag, w->comm, &request));
        break;
    case IBSEND:
        OK(MPI_Ibsend(buffer, m->bytes, MPI_BYTE, m->dest, m->tag, w->comm, &request));
        break;
    case SEND:
        OK(MPI_Send(buffer, m->bytes, MPI_BYTE, m->dest, m->tag, w->comm));
        break;
    case SSEND:
        OK(MPI_Ssend(buffer, m->bytes, MPI_BYTE, m->dest, m->tag, w->comm));
        break;
    default:
        OK(MPI_Bsend(buffer, m->bytes, MPI_BYTE, m->dest, m->tag, w->comm));
        break;
    }
    if (request == MPI_REQUEST_NULL) {
        free(buffer);
    } else if (m->how == FREED) {
        OK(MPI_Request_free(&request));
        m->buffer = buffer; /* the barrier after the motif tells that it was received */
    } else {
        add(w, request, NULL, buffer);
    }
}

static void probed_receive(struct work *w, struct message *m) {
    char *buffer = calloc(1, (size_t)m->bytes + 1);
    int flag = 0;
    MPI_Status s;
    MPI_Message message;
    MPI_Request request;
    switch (draw(&w->c->own, w->c->threaded ? 2 : 4)) {
    case 0:
        OK(MPI_Mprobe(m->source, m->tag, w->comm, &message, &s));
        OK(MPI_Get_count(&s, MPI_BYTE, &flag));
        buffer = realloc(buffer, (size_t)flag + 1);
        OK(MPI_Mrecv(buffer, flag, MPI_BYTE, &message, &s));
        break;
    case 1:
        for (; !flag; nap_ms(flag ? 0 : 1))
            OK(MPI_Improbe(m->source, m->tag, w->comm, &flag, &message, &s));
        OK(MPI_Get_count(&s, MPI_BYTE, &flag));
        buffer = realloc(buffer, (size_t)flag + 1);
        OK(MPI_Imrecv(buffer, flag, MPI_BYTE, &message, &request));
        OK(MPI_Wait(&request, &s));
        break;
    case 2:
        OK(MPI_Probe(m->source, m->tag, w->comm, &s));
        OK(MPI_Recv(buffer, m->bytes, MPI_BYTE, m->source, m->tag, w->comm, &s));
        break;
    default:
        for (; !flag; nap_ms(flag ? 0 : 1))
            OK(MPI_Iprobe(m->source, m->tag, w->comm, &flag, &s));
        OK(MPI_Recv(buffer, m->bytes, MPI_BYTE, m->source, m->tag, w->comm, &s));
        break;
    }
    verify(w, buffer, &s, m);
    free(buffer);
}

static void completed(struct work *w, int index, const MPI_Status *s) {
    if (w->of[index])
        verify(w, w->buffers[index], s, w->of[index]);
    free(w->buffers[index]);
    w->buffers[index] = NULL;
}

static void complete_all(struct work *w) {
    MPI_Status s[2 * MAX_MESSAGES];
    int n = w->n_requests, index, count, flag = 0, indices[2 * MAX_MESSAGES];
    switch (draw(&w->c->own, 6)) {
    case 0:
        OK(MPI_Waitall(n, w->requests, s));
        for (int i = 0; i < n; i++)
            completed(w, i, &s[i]);
        break;
    case 1:
        for (int i = 0; i < n; i++) {
            OK(MPI_Waitany(n, w->requests, &index, s));
            completed(w, index, s);
        }
        break;
    case 2:
        for (int left = n; left > 0; left -= count) {
            OK(MPI_Waitsome(n, w->requests, &count, indices, s));
            for (int i = 0; i < count; i++)
                completed(w, indices[i], &s[i]);
        }
        break;
    case 3:
        for (int left = n; left > 0; left -= count) {
            OK(MPI_Testsome(n, w->requests, &count, indices, s));
            for (int i = 0; i < count; i++)
                completed(w, indices[i], &s[i]);
            nap_ms(count == 0);
        }
        break;
    case 4:
        for (; n > 0 && !flag; nap_ms(!flag))
            OK(MPI_Testall(n, w->requests, &flag, s));
        for (int i = 0; i < n; i++)
            completed(w, i, &s[i]);
        break;
    default: /* one by one, from a random place on */
        for (int i = 0, first = n ? (int)draw(&w->c->own, (uint32_t)n) : 0; i < n; i++) {
            index =
                (first + i * (n - 1 > 0 ? n - 1 : 1)) % n; /* n - 1 steps forward: one backward */
            for (flag = 0; draw(&w->c->own, 2) && !flag; nap_ms(!flag))
                OK(MPI_Test(&w->requests[index], &flag, s));
            if (!flag)
                OK(MPI_Wait(&w->requests[index], s));
            completed(w, index, s);
        }
        break;
    }
}

/* Receives first (or probes last), so that blocking sends find them posted. All messages of a motif
 * are received in one way: with MPI_ANY_TAG they match in the order in which they were sent (per
 * source), with wildcards of both kinds barriers keep others out. */
void exchange(struct context *c) {
    int comm = (int)draw(&c->common, (uint32_t)c->n_comms), seal;
    struct work *w = calloc(1, sizeof *w);
    w->c = c;
    w->comm = c->comms[comm];
    w->n = c->n; /* the plan draws the same numbers on all ranks, members or not */
    if (w->comm != MPI_COMM_NULL) {
        MPI_Comm_size(w->comm, &w->n);
        MPI_Comm_rank(w->comm, &w->me);
    }
    uint64_t after = hash64(c->common);
    plan(w);
    c->common = after;
    if (w->comm != MPI_COMM_NULL) {
        seal = w->mode == ANYTHING || w->mode == ANY_TAG;
        for (int i = 0; i < w->n_all; i++)
            seal |= w->all[i].how == FREED;
        if (seal)
            OK(MPI_Barrier(w->comm));
        for (int i = 0; i < w->n_all && w->mode != PROBED; i++)
            if (w->all[i].dest == w->me)
                post_receive(w, &w->all[i]);
        maybe_nap(c);
        if (draw(&c->own, 3) == 0 && w->mode != ANYTHING)
            cancelled_receive(w);
        for (int i = 0; i < w->n_all; i++)
            if (w->all[i].source == w->me)
                send(w, &w->all[i]);
        for (int i = 0; i < w->n_all && w->mode == PROBED; i++)
            if (w->all[i].dest == w->me)
                probed_receive(w, &w->all[i]);
        complete_all(w);
        if (seal)
            OK(MPI_Barrier(w->comm));
    }
    for (int i = 0; i < w->n_all; i++)
        free(w->all[i].buffer);
    free(w);
}
