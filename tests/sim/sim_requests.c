/* Point to point, and requests. */
#include "sim_mpi.h"

#include <stdlib.h>
#include <string.h>

enum mode { STANDARD, SYNCHRONOUS, READY, BUFFERED };

static struct sim_table requests = {.kind = 0xac000000u};

struct sim_handle *sim_handle_new(enum sim_use use) {
    struct sim_handle *h = sim_new(sizeof *h);
    h->use = use;
    h->type = MPI_DATATYPE_NULL;
    return h;
}

MPI_Request sim_request_handle(struct sim_handle *handle) {
    return sim_handle(&requests, handle);
}

struct sim_handle *sim_handle_of(MPI_Request request) {
    return sim_object(&requests, request);
}

/* Receives whose data has not reached the program's buffers. It does so in any call of MPI after it
 * has arrived, as where MPI itself makes progress: who looks at the memory sees it. */
static struct sim_handle *posted;

static void expect(struct sim_handle *h) {
    h->posted = true;
    h->previous_posted = NULL;
    h->next_posted = posted;
    if (posted != NULL)
        posted->previous_posted = h;
    posted = h;
}

static void expect_no_more(struct sim_handle *h) {
    if (!h->posted)
        return;
    h->posted = false;
    *(h->previous_posted != NULL ? &h->previous_posted->next_posted : &posted) = h->next_posted;
    if (h->next_posted != NULL)
        h->next_posted->previous_posted = h->previous_posted;
}

static void deliver_posted(void) {
    for (struct sim_handle *h = posted, *next; h != NULL; h = next) {
        next = h->next_posted;
        if (h->request == NULL || !h->request->complete || h->request->cancelled)
            continue;
        sim_take_receive(h, MPI_STATUS_IGNORE);
        h->delivered = true;
        expect_no_more(h);
    }
}

static void handle_free(struct sim_handle *h) {
    expect_no_more(h);
    if (h->type != MPI_DATATYPE_NULL)
        sim_type_use(sim_type(h->type), -1);
    sim_collective_free(h->collective);
    if (h->second != NULL)
        handle_free(h->second);
    free(h);
}

/* ---- starting ---- */

static int start_send(struct sim_handle *h) {
    const struct sim_group *others = sim_others(h->comm);
    if (h->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    size_t bytes;
    char *packed = sim_pack(h->data, h->count, sim_type(h->type), &bytes);
    struct sim_envelope to = {h->stream != 0 ? h->stream : sim_context(h->comm, false),
                              others->world[h->peer], h->comm->group->rank, h->tag};
    h->request = sim_send(to, packed, bytes, h->mode == SYNCHRONOUS, h->mode == BUFFERED);
    free(packed);
    return MPI_SUCCESS;
}

int sim_start_one(struct sim_handle *h) {
    h->active = true;
    h->ready = 0;
    h->request = NULL;
    h->delivered = false;
    switch (h->use) {
    case SIM_USE_SEND:
        return h->parts > 0 ? MPI_SUCCESS : start_send(h);
    case SIM_USE_RECEIVE:
        if (h->peer != MPI_PROC_NULL)
            h->request = sim_receive(h->stream != 0 ? h->stream : sim_context(h->comm, false),
                                     h->peer, h->tag);
        if (h->request != NULL)
            expect(h);
        sim_deliver = deliver_posted;
        return MPI_SUCCESS;
    case SIM_USE_COLLECTIVE:
        return sim_collective_start(h);
    default:
        return MPI_SUCCESS;
    }
}

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

/* ---- completing ---- */

bool sim_is_complete(const struct sim_handle *h) {
    if (!h->active)
        return true;
    if (h->use == SIM_USE_GENERAL)
        return h->done;
    return h->ready == h->parts && (h->request == NULL || h->request->complete) &&
           (h->second == NULL || sim_is_complete(h->second));
}

int sim_take_receive(struct sim_handle *h, MPI_Status *status) {
    const struct sim_message *m = h->request != NULL ? h->request->message : NULL;
    const struct sim_type *t = sim_type(h->type);
    size_t bytes = m != NULL ? m->bytes : 0, room = (size_t)(h->count * t->size);
    int result = MPI_SUCCESS;
    if (bytes > room) {
        bytes = room;
        result = MPI_ERR_TRUNCATE;
    }
    if (m != NULL && !h->delivered)
        sim_unpack(m->data, bytes, h->data, h->count, t);
    if (status != MPI_STATUS_IGNORE) {
        sim_set_count(status, (long)bytes);
        status->MPI_SOURCE = m != NULL ? m->source : MPI_PROC_NULL;
        status->MPI_TAG = m != NULL ? m->tag : MPI_ANY_TAG;
    }
    return result;
}

/* Receives whose requests the program has freed: their data still has to reach its buffers, before
 * anything tells the program so. */
static struct sim_handle *freed;

static void deliver_freed(void) {
    for (struct sim_handle **h = &freed; *h != NULL;) {
        struct sim_handle *one = *h;
        if (!one->request->complete) {
            h = &one->next_freed;
            continue;
        }
        *h = one->next_freed;
        sim_take_receive(one, MPI_STATUS_IGNORE);
        sim_request_free(one->request);
        handle_free(one);
    }
}

/* What a complete one leaves; the class of its error, without calling a handler. */
static int finish(struct sim_handle *h, MPI_Status *status) {
    int result = MPI_SUCCESS;
    bool cancelled = h->request != NULL && h->request->cancelled;
    expect_no_more(h);
    deliver_freed();
    sim_empty_status(status);
    if (h->use == SIM_USE_GENERAL) {
        MPI_Status own;
        result = h->query(h->extra, &own);
        if (status != MPI_STATUS_IGNORE) {
            int error = status->MPI_ERROR;
            *status = own;
            status->MPI_ERROR = error;
        }
        h->free(h->extra);
    } else if (!cancelled && h->use == SIM_USE_RECEIVE) {
        result = sim_take_receive(h, status);
    } else if (h->use == SIM_USE_COLLECTIVE) {
        result = sim_collective_finish(h);
    }
    if (cancelled && status != MPI_STATUS_IGNORE)
        status->count_hi_and_cancelled |= 1;
    if (h->request != NULL)
        sim_request_free(h->request);
    h->request = NULL;
    h->active = false;
    if (h->second != NULL)
        finish(h->second, MPI_STATUS_IGNORE);
    return result;
}

/* The same, and its handle is gone unless it is persistent. */
static int finish_handle(MPI_Request *request, MPI_Status *status) {
    struct sim_handle *h = sim_handle_of(*request);
    if (h == NULL || !h->active) {
        sim_empty_status(status);
        return MPI_SUCCESS;
    }
    int result = finish(h, status);
    if (!h->persistent) {
        sim_drop(&requests, *request);
        handle_free(h);
        *request = MPI_REQUEST_NULL;
    }
    return result;
}

static bool bad(const MPI_Request *request) {
    return *request != MPI_REQUEST_NULL && sim_handle_of(*request) == NULL;
}

static bool complete(MPI_Request request) {
    const struct sim_handle *h = sim_handle_of(request);
    return h == NULL || sim_is_complete(h);
}

static bool inactive(MPI_Request request) {
    const struct sim_handle *h = sim_handle_of(request);
    return h == NULL || !h->active;
}

static const struct sim_comm *comm_of(MPI_Request request) {
    const struct sim_handle *h = sim_handle_of(request);
    return h != NULL ? h->comm : NULL;
}

static int report(const struct sim_comm *c, int class) {
    return class != MPI_SUCCESS ? sim_error(c, class) : MPI_SUCCESS;
}

/* A set of requests that somebody waits for. */
struct set {
    int n;
    MPI_Request *requests;
};

static bool all_complete(void *data) {
    const struct set *s = data;
    for (int i = 0; i < s->n; i++)
        if (!complete(s->requests[i]))
            return false;
    return true;
}

static bool any_complete(void *data) {
    const struct set *s = data;
    bool any = false;
    for (int i = 0; i < s->n; i++) {
        if (inactive(s->requests[i]))
            continue;
        if (complete(s->requests[i]))
            return true;
        any = true;
    }
    return !any;
}

static int check_set(int n, MPI_Request *all) {
    if (n < 0)
        return sim_error(NULL, MPI_ERR_COUNT);
    for (int i = 0; i < n; i++)
        if (bad(&all[i]))
            return sim_error(NULL, MPI_ERR_REQUEST);
    return MPI_SUCCESS;
}

static int wait_for(MPI_Request *request, MPI_Status *status) {
    const struct sim_comm *c = comm_of(*request);
    struct set set = {1, request};
    sim_wait_until(all_complete, &set);
    return report(c, finish_handle(request, status));
}

BOTH(MPI_Wait)(MPI_Request *request, MPI_Status *status) {
    ENTER("MPI_Wait");
    TRY(check_set(1, request));
    return wait_for(request, status);
}

BOTH(MPI_Test)(MPI_Request *request, int *flag, MPI_Status *status) {
    ENTER("MPI_Test");
    TRY(check_set(1, request));
    const struct sim_comm *c = comm_of(*request);
    *flag = complete(*request);
    if (!*flag) {
        sim_poll();
        return MPI_SUCCESS;
    }
    return report(c, finish_handle(request, status));
}

static MPI_Status *status_at(MPI_Status *all, int i) {
    return all == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &all[i];
}

static int finish_all(int n, MPI_Request *all, MPI_Status *statuses) {
    const struct sim_comm *c = NULL;
    int result = MPI_SUCCESS, *errors = sim_new((size_t)n * sizeof *errors + 1);
    for (int i = 0; i < n; i++) {
        const struct sim_comm *its = comm_of(all[i]);
        errors[i] = finish_handle(&all[i], status_at(statuses, i));
        if (errors[i] != MPI_SUCCESS) {
            result = MPI_ERR_IN_STATUS;
            c = its;
        }
    }
    for (int i = 0; i < n && result != MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[i].MPI_ERROR = errors[i];
    free(errors);
    return report(c, result);
}

BOTH(MPI_Waitall)(int n, MPI_Request *all, MPI_Status *statuses) {
    ENTER("MPI_Waitall");
    TRY(check_set(n, all));
    struct set set = {n, all};
    sim_wait_until(all_complete, &set);
    return finish_all(n, all, statuses);
}

BOTH(MPI_Testall)(int n, MPI_Request *all, int *flag, MPI_Status *statuses) {
    ENTER("MPI_Testall");
    TRY(check_set(n, all));
    struct set set = {n, all};
    *flag = all_complete(&set);
    if (!*flag) {
        sim_poll();
        return MPI_SUCCESS;
    }
    return finish_all(n, all, statuses);
}

/* One of those that are complete, by lot; MPI_UNDEFINED: none is active. */
static int choose(int n, const MPI_Request *all) {
    int found = 0, chosen = MPI_UNDEFINED;
    for (int i = 0; i < n; i++)
        if (!inactive(all[i]) && complete(all[i]) && sim_draw((uint64_t)++found) == 0)
            chosen = i;
    return chosen;
}

static int finish_any(int n, MPI_Request *all, int *index, MPI_Status *status) {
    *index = choose(n, all);
    if (*index == MPI_UNDEFINED) {
        sim_empty_status(status);
        return MPI_SUCCESS;
    }
    const struct sim_comm *c = comm_of(all[*index]);
    return report(c, finish_handle(&all[*index], status));
}

BOTH(MPI_Waitany)(int n, MPI_Request *all, int *index, MPI_Status *status) {
    ENTER("MPI_Waitany");
    TRY(check_set(n, all));
    struct set set = {n, all};
    sim_wait_until(any_complete, &set);
    return finish_any(n, all, index, status);
}

BOTH(MPI_Testany)(int n, MPI_Request *all, int *index, int *flag, MPI_Status *status) {
    ENTER("MPI_Testany");
    TRY(check_set(n, all));
    struct set set = {n, all};
    *flag = any_complete(&set);
    if (!*flag) {
        *index = MPI_UNDEFINED;
        sim_poll();
        return MPI_SUCCESS;
    }
    return finish_any(n, all, index, status);
}

static int finish_some(int n, MPI_Request *all, int *n_done, int *indices, MPI_Status *statuses) {
    const struct sim_comm *c = NULL;
    int result = MPI_SUCCESS, *errors = sim_new((size_t)n * sizeof *errors + 1);
    bool any = false;
    *n_done = 0;
    for (int i = 0; i < n; i++) {
        if (inactive(all[i]))
            continue;
        any = true;
        if (!complete(all[i]))
            continue;
        const struct sim_comm *its = comm_of(all[i]);
        indices[*n_done] = i;
        errors[*n_done] = finish_handle(&all[i], status_at(statuses, *n_done));
        if (errors[*n_done] != MPI_SUCCESS) {
            result = MPI_ERR_IN_STATUS;
            c = its;
        }
        ++*n_done;
    }
    for (int i = 0; i < *n_done && result != MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[i].MPI_ERROR = errors[i];
    free(errors);
    if (!any)
        *n_done = MPI_UNDEFINED;
    return report(c, result);
}

BOTH(MPI_Waitsome)
(int n, MPI_Request *all, int *n_done, int *indices, MPI_Status *statuses) {
    ENTER("MPI_Waitsome");
    TRY(check_set(n, all));
    struct set set = {n, all};
    sim_wait_until(any_complete, &set);
    return finish_some(n, all, n_done, indices, statuses);
}

BOTH(MPI_Testsome)
(int n, MPI_Request *all, int *n_done, int *indices, MPI_Status *statuses) {
    ENTER("MPI_Testsome");
    TRY(check_set(n, all));
    TRY(finish_some(n, all, n_done, indices, statuses));
    if (*n_done == 0)
        sim_poll();
    return MPI_SUCCESS;
}

BOTH(MPI_Request_get_status)(MPI_Request request, int *flag, MPI_Status *status) {
    ENTER("MPI_Request_get_status");
    TRY(check_set(1, &request));
    struct sim_handle *h = sim_handle_of(request);
    *flag = complete(request);
    if (!*flag) {
        sim_poll();
        return MPI_SUCCESS;
    }
    sim_empty_status(status);
    if (h == NULL || !h->active || status == MPI_STATUS_IGNORE)
        return MPI_SUCCESS;
    if (h->use == SIM_USE_GENERAL)
        return h->query(h->extra, status);
    if (h->request != NULL && h->request->cancelled)
        status->count_hi_and_cancelled |= 1;
    else if (h->use == SIM_USE_RECEIVE)
        sim_take_receive(h, status);
    return MPI_SUCCESS;
}

BOTH(MPI_Request_free)(MPI_Request *request) {
    ENTER("MPI_Request_free");
    struct sim_handle *h = sim_handle_of(*request);
    if (h == NULL)
        return sim_error(NULL, MPI_ERR_REQUEST);
    if (h->use == SIM_USE_GENERAL) {
        h->freed = true; /* until it is complete */
        if (h->done)
            h->free(h->extra);
    }
    if (h->active && h->use == SIM_USE_RECEIVE && h->request != NULL && h->request->complete) {
        finish(h, MPI_STATUS_IGNORE);
    } else if (h->request != NULL && h->use == SIM_USE_RECEIVE) {
        h->next_freed = freed;
        freed = h;
        sim_drop(&requests, *request);
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    } else if (h->request != NULL) {
        sim_request_free(h->request);
    }
    sim_drop(&requests, *request);
    if (h->use != SIM_USE_GENERAL || h->done)
        handle_free(h);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_Cancel)(MPI_Request *request) {
    ENTER("MPI_Cancel");
    struct sim_handle *h = sim_handle_of(*request);
    if (h == NULL)
        return sim_error(NULL, MPI_ERR_REQUEST);
    if (h->use == SIM_USE_GENERAL)
        return h->cancel(h->extra, h->done);
    if (h->active && h->request != NULL)
        sim_cancel(h->request);
    return MPI_SUCCESS;
}

BOTH(MPI_Test_cancelled)(const MPI_Status *status, int *flag) {
    *flag = status->count_hi_and_cancelled & 1;
    return MPI_SUCCESS;
}

BOTH(MPI_Status_set_cancelled)(MPI_Status *status, int flag) {
    status->count_hi_and_cancelled = (status->count_hi_and_cancelled & ~1) | (flag != 0);
    return MPI_SUCCESS;
}

BOTH(MPI_Grequest_start)
(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_function,
 MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request) {
    struct sim_handle *h = sim_handle_new(SIM_USE_GENERAL);
    h->query = query;
    h->free = free_function;
    h->cancel = cancel;
    h->extra = extra;
    h->active = true;
    *request = sim_request_handle(h);
    return MPI_SUCCESS;
}

BOTH(MPI_Grequest_complete)(MPI_Request request) {
    struct sim_handle *h = sim_handle_of(request);
    if (h == NULL || h->use != SIM_USE_GENERAL)
        return sim_error(NULL, MPI_ERR_REQUEST);
    h->done = true;
    sim_wake_rank(sim_self()->rank, sim_self()->clock);
    return MPI_SUCCESS;
}

/* ---- messages ---- */

static int blocking(struct sim_handle *h, MPI_Status *status) {
    struct sim_comm *c = h->comm;
    TRY(sim_start_one(h));
    if (h->request != NULL)
        sim_wait_request(h->request);
    int result = finish(h, status);
    handle_free(h);
    return report(c, result);
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

SENDS(STANDARD, Send, Isend, Send_init)
SENDS(SYNCHRONOUS, Ssend, Issend, Ssend_init)
SENDS(READY, Rsend, Irsend, Rsend_init)
SENDS(BUFFERED, Bsend, Ibsend, Bsend_init)

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

BOTH(MPI_Start)(MPI_Request *request) {
    ENTER("MPI_Start");
    struct sim_handle *h = sim_handle_of(*request);
    if (h == NULL || !h->persistent || h->active)
        return sim_error(NULL, MPI_ERR_REQUEST);
    return sim_start_one(h);
}

BOTH(MPI_Startall)(int n, MPI_Request *all) {
    ENTER("MPI_Startall");
    for (int i = 0; i < n; i++) {
        struct sim_handle *h = sim_handle_of(all[i]);
        if (h == NULL || !h->persistent || h->active)
            return sim_error(NULL, MPI_ERR_REQUEST);
        TRY(sim_start_one(h));
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Sendrecv)
(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int m, MPI_Datatype type_in,
 int from, int tag_in, MPI_Comm comm, MPI_Status *status) {
    struct sim_handle *send, *receive;
    ENTER("MPI_Sendrecv");
    TRY(new_message(SIM_USE_RECEIVE, 0, in, m, type_in, from, tag_in, comm, &receive));
    int result = new_message(SIM_USE_SEND, STANDARD, out, n, type, to, tag, comm, &send);
    if (result != MPI_SUCCESS) {
        handle_free(receive);
        return result;
    }
    TRY(sim_start_one(receive));
    TRY(sim_start_one(send));
    if (send->request != NULL)
        sim_wait_request(send->request);
    if (receive->request != NULL)
        sim_wait_request(receive->request);
    finish(send, MPI_STATUS_IGNORE);
    result = finish(receive, status);
    const struct sim_comm *c = receive->comm;
    handle_free(send);
    handle_free(receive);
    return report(c, result);
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
    TRY(new_message(SIM_USE_SEND, STANDARD, out, n, type, to, tag, comm, &send));
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
    TRY(new_message(use, STANDARD, data, parts * count, type, peer, tag, comm, &h));
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
    return h->ready == h->parts ? start_send(h) : MPI_SUCCESS;
}

BOTH(MPI_Pready)(int part, MPI_Request request) {
    (void)part;
    return parts_ready("MPI_Pready", 1, request);
}

BOTH(MPI_Pready_range)(int low, int high, MPI_Request request) {
    return parts_ready("MPI_Pready_range", high - low + 1, request);
}

BOTH(MPI_Pready_list)(int n, int *parts, MPI_Request request) {
    (void)parts;
    return parts_ready("MPI_Pready_list", n, request);
}

BOTH(MPI_Parrived)(MPI_Request request, int part, int *flag) {
    ENTER("MPI_Parrived");
    (void)part;
    *flag = complete(request);
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
        sim_drop(&requests, *message);
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
    int result = finish(h, status);
    handle_free(h);
    return report(NULL, result);
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
