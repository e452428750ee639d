/* Requests: start, completion, generalized ones. */
#include "sim_mpi.h"

#include <stdlib.h>
#include <string.h>

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

void sim_request_drop(MPI_Request request) {
    sim_drop(&requests, request);
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

void sim_handle_free(struct sim_handle *h) {
    expect_no_more(h);
    if (h->type != MPI_DATATYPE_NULL)
        sim_type_use(sim_type(h->type), -1);
    sim_collective_free(h->collective);
    if (h->second != NULL)
        sim_handle_free(h->second);
    free(h);
}

/* ---- starting ---- */

int sim_start_send(struct sim_handle *h) {
    const struct sim_group *others = sim_others(h->comm);
    if (h->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    size_t bytes;
    char *packed = sim_pack(h->data, h->count, sim_type(h->type), &bytes);
    struct sim_envelope to = {h->stream != 0 ? h->stream : sim_context(h->comm, false),
                              others->world[h->peer], h->comm->group->rank, h->tag};
    h->request = sim_send(to, packed, bytes, h->mode == SIM_SYNCHRONOUS, h->mode == SIM_BUFFERED);
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
        return h->parts > 0 ? MPI_SUCCESS : sim_start_send(h);
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
        sim_handle_free(one);
    }
}

/* What a complete one leaves; the class of its error, without calling a handler. */
int sim_finish(struct sim_handle *h, MPI_Status *status) {
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
        sim_finish(h->second, MPI_STATUS_IGNORE);
    return result;
}

/* The same, and its handle is gone unless it is persistent. */
static int finish_handle(MPI_Request *request, MPI_Status *status) {
    struct sim_handle *h = sim_handle_of(*request);
    if (h == NULL || !h->active) {
        sim_empty_status(status);
        return MPI_SUCCESS;
    }
    int result = sim_finish(h, status);
    if (!h->persistent) {
        sim_request_drop(*request);
        sim_handle_free(h);
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

int sim_report(const struct sim_comm *c, int class) {
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
    return sim_report(c, finish_handle(request, status));
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
    return sim_report(c, finish_handle(request, status));
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
    return sim_report(c, result);
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
    return sim_report(c, finish_handle(&all[*index], status));
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
    return sim_report(c, result);
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
        sim_finish(h, MPI_STATUS_IGNORE);
    } else if (h->request != NULL && h->use == SIM_USE_RECEIVE) {
        h->next_freed = freed;
        freed = h;
        sim_request_drop(*request);
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    } else if (h->request != NULL) {
        sim_request_free(h->request);
    }
    sim_request_drop(*request);
    if (h->use != SIM_USE_GENERAL || h->done)
        sim_handle_free(h);
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
