/* Requests: what is known of them, what else has to come before they are complete, completion.
 * Whatever blocks is done by a nonblocking call and a loop, so that a waiting process answers
 * senders that wait for receives which it has posted. */
#include "ops.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct op *ops; /* in order: handles of requests that were complete at once may be equal */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER; /* after the other one */

struct op *vt_op_new(enum kind kind, const struct vt_channel *channel) {
    struct op *op = calloc(1, sizeof *op);
    if (op == NULL)
        abort();
    op->kind = kind;
    op->channel = channel;
    op->request = op->reply = op->making = MPI_REQUEST_NULL;
    op->message = MPI_MESSAGE_NULL;
    op->active = true;
    return op;
}

void vt_op_keep(struct op *op, MPI_Request request) {
    op->request = request;
    op->next = NULL;
    pthread_mutex_lock(&lock);
    struct op **end = &ops;
    while (*end != NULL)
        end = &(*end)->next;
    *end = op;
    pthread_mutex_unlock(&lock);
}

struct op *vt_op_find(MPI_Request request) {
    pthread_mutex_lock(&lock);
    struct op *op = ops;
    while (op != NULL && (op->message != MPI_MESSAGE_NULL || op->request != request))
        op = op->next;
    pthread_mutex_unlock(&lock);
    return op;
}

void vt_op_forget(struct op *gone) {
    pthread_mutex_lock(&lock);
    for (struct op **op = &ops; *op != NULL; op = &(*op)->next)
        if (*op == gone) {
            *op = gone->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

struct op *vt_op_of_message(MPI_Message message) {
    pthread_mutex_lock(&lock);
    struct op *op = ops;
    while (op != NULL && (message == MPI_MESSAGE_NULL || op->message != message))
        op = op->next;
    pthread_mutex_unlock(&lock);
    return op;
}

/* The sender of a received message may wait for the clock at which the receive was posted. */
static void answer(struct op *op) {
    if (op->in.reply != 0 && !op->answered)
        vt_tell(op->channel, op->in.from, op->in.reply, op->posted);
    op->answered = true;
}

/* MPI_Request_get_status. What it tells of a persistent request is kept: in MPICH 4.2 that makes
 * the request inactive. */
static int ask(struct op *op, MPI_Request request, int *done, MPI_Status *status) {
    bool keeps = op != NULL && op->persistent && op->active;
    if (!keeps)
        return CALL(PMPI_Request_get_status, request, done, status);
    pthread_mutex_lock(&asking); /* who asks second might find it inactive */
    if (!op->told)
        op->result = CALL(PMPI_Request_get_status, request, &op->told, &op->status);
    *done = op->told;
    if (op->told)
        *status = op->status;
    int result = op->result;
    pthread_mutex_unlock(&asking);
    return result;
}

/* The result and status of a wait that ends a request: if the question has made it inactive, which
 * an empty status shows, what was told then. Else the wait is right: of partitioned receives MPICH
 * 4.0 tells no source and tag when it is asked. */
static int ended(const struct op *op, int result, MPI_Status *status) {
    if (op == NULL || !op->told || result != MPI_SUCCESS || status->MPI_SOURCE != MPI_ANY_SOURCE ||
        status->MPI_TAG != MPI_ANY_TAG)
        return result;
    MPI_Status told = op->status;
    told.MPI_ERROR = status->MPI_ERROR; /* only those of several requests have one */
    *status = told;
    return op->result;
}

static void sleep_truly(long ns) {
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = ns}, NULL);
}

void vt_serve(int turn) {
    pthread_mutex_lock(&lock);
    for (struct op *op = ops; op != NULL; op = op->next) {
        int done = 0;
        MPI_Status status = {0};
        if (!(op->kind & RECEIVE) || !op->active || op->answered || op->message != MPI_MESSAGE_NULL)
            continue;
        ask(op, op->request, &done, &status);
        if (done && op->kind == RECEIVE)
            answer(op);
    }
    pthread_mutex_unlock(&lock);
    if (turn < 1000)
        syscall(SYS_sched_yield); /* not the program's */
    else
        sleep_truly(50000);
}

void vt_no_reply(struct op *op) {
    if (op->reply == MPI_REQUEST_NULL)
        return;
    CALL(PMPI_Cancel, &op->reply);
    CALL(PMPI_Wait, &op->reply, MPI_STATUS_IGNORE);
}

/* Is it complete for the program: the request itself, and what carries clocks? */
bool vt_complete(struct op *op, MPI_Request request) {
    int done = 0, cancelled = 0;
    MPI_Status status = {0};
    if (op != NULL && op->kind == COLLECTIVE && op->channel->file)
        return vt_exchange_done(&op->exchange); /* all have come: it will not take long */
    ask(op, request, &done, &status);
    if (!done)
        return false;
    if (op == NULL)
        return true;
    if (op->reply != MPI_REQUEST_NULL) {
        CALL(PMPI_Test, &op->reply, &done, MPI_STATUS_IGNORE);
        if (!done) {
            CALL(PMPI_Test_cancelled, &status, &cancelled);
            if (!cancelled)
                return false;
            vt_no_reply(op);
        }
    }
    if (op->making != MPI_REQUEST_NULL)
        CALL(PMPI_Test, &op->making, &done, MPI_STATUS_IGNORE);
    return done && (op->kind != COLLECTIVE || vt_exchange_done(&op->exchange));
}

/* By which clock a request that is complete has arrived. */
static uint64_t arrival(struct op *op) {
    uint64_t at = 0;
    if (op->kind & RECEIVE && op->in.sent > 0)
        at = op->in.sent + VT_LATENCY_NS;
    if (op->replied + VT_LATENCY_NS > at && op->replied > 0)
        at = op->replied + VT_LATENCY_NS;
    if (op->kind == COLLECTIVE)
        at = vt_exchange_at(&op->exchange);
    return at;
}

/* The length of the data alone. */
void vt_shorten(MPI_Status *status) {
    int bytes = 0;
    CALL(PMPI_Get_count, status, MPI_BYTE, &bytes);
    if (bytes >= (int)sizeof(struct head))
        CALL(PMPI_Status_set_elements, status, MPI_BYTE, bytes - (int)sizeof(struct head));
}

/* A request is complete, and the MPI has told so. */
static void settle(struct op *op, MPI_Status *status) {
    int cancelled = 0;
    if (op->kind & RECEIVE) {
        CALL(PMPI_Test_cancelled, status, &cancelled);
        if (!cancelled) {
            answer(op);
            vt_shorten(status);
        }
    }
    if (op->made != NULL)
        vt_channel_add_shadow(*op->made, op->shadow);
    if (!cancelled)
        vt_later(arrival(op));
    vt_exchange_free(&op->exchange);
    op->in = (struct head){0};
    op->replied = 0;
    op->active = false;
    op->told = 0;
    if (!op->persistent)
        free(op);
}

int vt_wait_for(struct op *op, MPI_Request *request, MPI_Status *status) {
    for (int turn = 0; !vt_complete(op, *request); turn++)
        vt_serve(turn);
    int result = CALL(PMPI_Wait, request, status);
    settle(op, status);
    return result;
}

static int finish(MPI_Request *request, MPI_Status *status);

/* For a blocking call: a request has been started, or not. */
int vt_until_done(int result, MPI_Request *request, MPI_Status *status) {
    MPI_Status own = {0};
    if (result != MPI_SUCCESS)
        return result;
    struct op *op = vt_op_find(*request);
    for (int turn = 0; !vt_complete(op, *request); turn++)
        vt_serve(turn);
    return finish(request, status != MPI_STATUS_IGNORE ? status : &own);
}

int vt_started(int result, const struct vt_channel *channel, enum vt_rule rule, int root,
               const int *counts, const MPI_Request *request) {
    if (result != MPI_SUCCESS || channel == NULL || vt_inside > 0)
        return result;
    struct op *op = vt_op_new(COLLECTIVE, channel);
    vt_exchange_start(&op->exchange, channel, rule, root, counts);
    vt_op_keep(op, *request);
    return result;
}

static int idup(int result, MPI_Comm comm, MPI_Comm *made, const MPI_Request *request) {
    const struct vt_channel *channel = vt_channel(comm);
    if (result != MPI_SUCCESS || channel == NULL || vt_inside > 0)
        return result;
    struct op *op = vt_op_new(COLLECTIVE, channel);
    vt_exchange_start(&op->exchange, channel, VT_ALL, 0, NULL);
    op->made = made;
    CALL(PMPI_Comm_idup, channel->shadow, &op->shadow, &op->making);
    vt_op_keep(op, *request);
    return result;
}

BOTH(MPI_Comm_idup)(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
    return idup(CALL(PMPI_Comm_idup, comm, made, request), comm, made, request);
}

BOTH(MPI_Request_free)(MPI_Request *request) {
    struct op *op = vt_inside == 0 ? vt_op_find(*request) : NULL;
    if (op != NULL && op->active && op->kind & RECEIVE)
        vt_unknown("MPI_Request_free of a receive");
    if (op != NULL)
        vt_op_forget(op); /* not freed: its head may be on its way */
    return CALL(PMPI_Request_free, request);
}

/* Completion. What is complete, whatever the virtual clock says: */
static int finish(MPI_Request *request, MPI_Status *status) {
    struct op *op = vt_op_find(*request);
    if (op != NULL && !op->persistent)
        vt_op_forget(op);
    int result = ended(op, CALL(PMPI_Wait, request, status), status);
    if (op != NULL && op->persistent && *request == MPI_REQUEST_NULL) {
        vt_op_forget(op); /* Open MPI frees those that fail */
        op->persistent = false;
    }
    if (op != NULL && (op->active || !op->persistent))
        settle(op, status);
    return result;
}

enum state { IDLE, PENDING, COMPLETE };

static enum state state_of(MPI_Request request, uint64_t *at) {
    *at = 0;
    if (request == MPI_REQUEST_NULL)
        return IDLE;
    struct op *op = vt_op_find(request);
    if (op != NULL && !op->active)
        return IDLE;
    if (!vt_complete(op, request))
        return PENDING;
    if (op != NULL)
        *at = arrival(op);
    return COMPLETE;
}

/* The first to come of those that are complete: its place, or -1. active: are there any that can
 * come? */
static int first_complete(int count, const MPI_Request requests[], uint64_t *first, bool *active) {
    int place = -1;
    *active = false;
    for (int i = 0; i < count; i++) {
        uint64_t at;
        enum state state = state_of(requests[i], &at);
        *active = *active || state != IDLE;
        if (state == COMPLETE && (place < 0 || at < *first)) {
            place = i;
            *first = at;
        }
    }
    return place;
}

static bool all_complete(int count, const MPI_Request requests[], uint64_t *last) {
    uint64_t at;
    *last = 0;
    for (int i = 0; i < count; i++) {
        if (state_of(requests[i], &at) == PENDING)
            return false;
        *last = at > *last ? at : *last;
    }
    return true;
}

bool vt_is_there(bool found, uint64_t at) {
    if (!found) {
        vt_serve(1000); /* truly asleep: else naps of who tests again pass in no time */
        return false;
    }
    if (at > vt_now() + VT_LATENCY_NS) {
        vt_later(vt_now() + VT_LATENCY_NS);
        return false;
    }
    return true;
}

BOTH(MPI_Wait)(MPI_Request *request, MPI_Status *status) {
    uint64_t at;
    MPI_Status own = {0};
    if (vt_inside > 0 || vt_op_find(*request) == NULL || state_of(*request, &at) == IDLE)
        return CALL(PMPI_Wait, request, status);
    for (int turn = 0; state_of(*request, &at) == PENDING; turn++)
        vt_serve(turn);
    return finish(request, status != MPI_STATUS_IGNORE ? status : &own);
}

BOTH(MPI_Test)(MPI_Request *request, int *flag, MPI_Status *status) {
    uint64_t at;
    MPI_Status own = {0};
    enum state state =
        vt_inside > 0 || vt_op_find(*request) == NULL ? IDLE : state_of(*request, &at);
    if (state == IDLE)
        return CALL(PMPI_Test, request, flag, status);
    *flag = vt_is_there(state == COMPLETE, at);
    return *flag ? finish(request, status != MPI_STATUS_IGNORE ? status : &own) : MPI_SUCCESS;
}

/* The same for several: each status has an error if there is one. */
static int all_ended(int count, struct op *const known[], int result, MPI_Status statuses[]) {
    int class = result;
    if (result != MPI_SUCCESS)
        CALL(PMPI_Error_class, result, &class);
    for (int i = 0; i < count && (class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS); i++) {
        int own = class == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
        int error = ended(known[i], own, &statuses[i]);
        for (int k = 0; error != MPI_SUCCESS && class == MPI_SUCCESS && k < count; k++)
            statuses[k].MPI_ERROR = MPI_SUCCESS;
        if (error != MPI_SUCCESS)
            class = result = MPI_ERR_IN_STATUS;
        if (class != MPI_SUCCESS)
            statuses[i].MPI_ERROR = error;
    }
    return result;
}

static int finish_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct op **known = calloc((size_t)count + 1, sizeof *known);
    MPI_Status *own = calloc((size_t)count + 1, sizeof *own);
    if (known == NULL || own == NULL)
        abort();
    if (statuses == MPI_STATUSES_IGNORE)
        statuses = own;
    for (int i = 0; i < count; i++) {
        known[i] = requests[i] != MPI_REQUEST_NULL ? vt_op_find(requests[i]) : NULL;
        if (known[i] != NULL && !known[i]->active)
            known[i] = NULL;
        else if (known[i] != NULL && !known[i]->persistent)
            vt_op_forget(known[i]);
    }
    int result = all_ended(count, known, CALL(PMPI_Waitall, count, requests, statuses), statuses);
    for (int i = 0; i < count; i++) {
        struct op *op = known[i];
        bool pending = op != NULL && result != MPI_SUCCESS &&
                       (op->persistent ? statuses[i].MPI_ERROR == MPI_ERR_PENDING
                                       : requests[i] != MPI_REQUEST_NULL);
        if (pending && !op->persistent) /* MPICH stops at one that has failed */
            vt_op_keep(op, requests[i]);
        else if (op != NULL && !pending)
            settle(op, &statuses[i]);
    }
    free(known);
    free(own);
    return result;
}

BOTH(MPI_Waitall)(int count, MPI_Request requests[], MPI_Status statuses[]) {
    uint64_t at;
    if (vt_inside > 0)
        return CALL(PMPI_Waitall, count, requests, statuses);
    for (int turn = 0; !all_complete(count, requests, &at); turn++)
        vt_serve(turn);
    return finish_all(count, requests, statuses);
}

BOTH(MPI_Testall)(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    uint64_t at = 0;
    if (vt_inside > 0)
        return CALL(PMPI_Testall, count, requests, flag, statuses);
    bool found = all_complete(count, requests, &at);
    *flag = vt_is_there(found, at);
    return *flag ? finish_all(count, requests, statuses) : MPI_SUCCESS;
}

BOTH(MPI_Waitany)(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    uint64_t at = 0;
    bool active;
    MPI_Status own = {0};
    int place = vt_inside > 0 ? -1 : first_complete(count, requests, &at, &active);
    if (vt_inside > 0 || (place < 0 && !active))
        return CALL(PMPI_Waitany, count, requests, index, status);
    for (int turn = 0; place < 0; turn++) {
        vt_serve(turn);
        place = first_complete(count, requests, &at, &active);
    }
    *index = place;
    return finish(&requests[place], status != MPI_STATUS_IGNORE ? status : &own);
}

BOTH(MPI_Testany)
(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    uint64_t at = 0;
    bool active;
    MPI_Status own = {0};
    int place = vt_inside > 0 ? -1 : first_complete(count, requests, &at, &active);
    if (vt_inside > 0 || (place < 0 && !active))
        return CALL(PMPI_Testany, count, requests, index, flag, status);
    *flag = vt_is_there(place >= 0, at);
    *index = *flag ? place : MPI_UNDEFINED;
    return *flag ? finish(&requests[place], status != MPI_STATUS_IGNORE ? status : &own)
                 : MPI_SUCCESS;
}

/* All that have arrived by the virtual clock. */
static int finish_some(int count, MPI_Request requests[], int *done, int indices[],
                       MPI_Status statuses[]) {
    int result = MPI_SUCCESS;
    uint64_t until = vt_now() + VT_LATENCY_NS, at;
    *done = 0;
    for (int i = 0; i < count; i++) {
        MPI_Status own = {0};
        MPI_Status *status = statuses != MPI_STATUSES_IGNORE ? &statuses[*done] : &own;
        if (state_of(requests[i], &at) != COMPLETE || at > until)
            continue;
        int one = finish(&requests[i], status);
        if (one != MPI_SUCCESS)
            result = MPI_ERR_IN_STATUS;
        status->MPI_ERROR = one;
        indices[(*done)++] = i;
    }
    return result;
}

BOTH(MPI_Waitsome)
(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    uint64_t at = 0;
    bool active;
    int place = vt_inside > 0 ? -1 : first_complete(count, requests, &at, &active);
    if (vt_inside > 0 || (place < 0 && !active))
        return CALL(PMPI_Waitsome, count, requests, done, indices, statuses);
    for (int turn = 0; place < 0; turn++) {
        vt_serve(turn);
        place = first_complete(count, requests, &at, &active);
    }
    vt_later(at);
    return finish_some(count, requests, done, indices, statuses);
}

BOTH(MPI_Testsome)
(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
    uint64_t at = 0;
    bool active;
    int place = vt_inside > 0 ? -1 : first_complete(count, requests, &at, &active);
    if (vt_inside > 0 || (place < 0 && !active))
        return CALL(PMPI_Testsome, count, requests, done, indices, statuses);
    *done = 0;
    if (!vt_is_there(place >= 0, at))
        return MPI_SUCCESS;
    return finish_some(count, requests, done, indices, statuses);
}

/* An MPI as MPICH 4.2 ($VT_ASKING_ENDS): to ask for a persistent request that is complete makes it
 * inactive. */
static bool asking_ends(const struct op *op) {
    return op != NULL && op->persistent && getenv("VT_ASKING_ENDS") != NULL;
}

/* As probes: the clock moves when the request is completed. The tool asks, too. */
BOTH(MPI_Request_get_status)(MPI_Request request, int *flag, MPI_Status *status) {
    uint64_t at;
    MPI_Status own = {0};
    enum state state = vt_inside > 0 ? IDLE : state_of(request, &at);
    if (state == IDLE)
        return CALL(PMPI_Request_get_status, request, flag, status);
    *flag = state == COMPLETE;
    if (!*flag)
        return MPI_SUCCESS;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    struct op *op = vt_op_find(request);
    if (asking_ends(op))
        return finish(&request, status);
    int result = ask(op, request, flag, status);
    if (op != NULL && op->kind & RECEIVE)
        vt_shorten(status);
    return result;
}
