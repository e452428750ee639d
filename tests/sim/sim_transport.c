/* The network: messages, their matching, and meetings (collective operations). All of it lies in
 * the segment, so whoever has the turn can move it on. */
#include "sim.h"

#include <stdio.h>
#include <string.h>

enum { ANY_SOURCE = -2, ANY_TAG = -1 }; /* MPICH's */

static uint64_t latency(int from, int to) {
    return sim_node_of(from) == sim_node_of(to) ? sim->model.latency_ns
                                                : sim->model.node_latency_ns;
}

static uint64_t ns_per_kib(int from, int to) {
    return sim_node_of(from) == sim_node_of(to) ? sim->model.ns_per_kib
                                                : sim->model.node_ns_per_kib;
}

static void complete_at(struct sim_request *request, uint64_t at) {
    request->complete_at = at;
    sim_event_add(at, (uint64_t)request->rank, SIM_COMPLETION, request);
}

static void complete_now(struct sim_request *request, uint64_t at) {
    request->complete = true;
    request->complete_at = at;
    sim_wake_rank(request->rank, at);
}

static bool fits(uint64_t context, int source, int tag, const struct sim_message *m) {
    return m->context == context && (source == ANY_SOURCE || source == m->source) &&
           (tag == ANY_TAG || tag == m->tag);
}

/* None of its threads is in an MPI call. */
static bool works(int rank) {
    for (const struct sim_task *t = sim_task_of(rank); t != NULL; t = sim_task_after(t))
        if (t->calls_mpi && !t->naps)
            return false;
    return true;
}

static void answer(struct sim_message *m, uint64_t at) {
    complete_at(m->sender, at + latency(m->to, m->from));
    m->sender = NULL;
}

static void matched(struct sim_message *m, uint64_t at) {
    if (m->buffered)
        sim->endpoints[m->from].buffered -= m->bytes;
    m->buffered = false;
    if (!m->waits || m->sender == NULL)
        return;
    m->waits = false;
    m->sender->message = NULL;
    if (sim->model.lazy && works(m->to)) {
        m->next = sim->endpoints[m->to].unanswered;
        sim->endpoints[m->to].unanswered = m;
    } else {
        answer(m, at);
    }
}

void sim_progress(void) {
    struct sim_endpoint *e = &sim->endpoints[sim_self()->rank];
    for (struct sim_message *m; (m = e->unanswered) != NULL;) {
        e->unanswered = m->next;
        answer(m, sim_self()->clock);
    }
    for (struct sim_request *r; (r = e->held) != NULL;) {
        e->held = r->next;
        complete_at(r, sim_self()->clock + latency(sim_self()->rank, r->rank));
    }
}

/* A member of a collective operation that has the data of others, but does not pass it on before
 * it calls MPI again; -1: none. */
static int holder_of(const struct sim_meeting *m) {
    for (int i = 0; i < m->n && sim->model.lazy && sim->model.shape == SIM_TREE; i++)
        if (m->parts[i].joined && !m->parts[i].left && works(m->parts[i].rank))
            return m->parts[i].rank;
    return -1;
}

static void arrive(struct sim_message *m) {
    struct sim_endpoint *e = &sim->endpoints[m->to];
    m->has_arrived = true;
    if (m->cancelled) {
        sim_free(m);
        return;
    }
    for (struct sim_request **r = &e->first_posted; *r != NULL; r = &(*r)->next)
        if (fits((*r)->context, (*r)->source, (*r)->tag, m)) {
            struct sim_request *request = *r;
            *r = request->next;
            if (e->last_posted == &request->next)
                e->last_posted = r;
            request->message = m;
            matched(m, m->arrives_at);
            complete_now(request, m->arrives_at);
            return;
        }
    m->next = NULL;
    *e->last = m;
    e->last = &m->next;
    sim_wake_rank(m->to, m->arrives_at); /* who probes */
}

void sim_event_run(const struct sim_event *event) {
    if (event->kind == SIM_ARRIVAL) {
        arrive(event->what);
        return;
    }
    if (event->kind == SIM_DEATH) {
        sim_kill(event->what, event->at);
        return;
    }
    struct sim_request *request = event->what;
    int holder = request->kind == SIM_MEETING ? holder_of(request->meeting) : -1;
    if (holder >= 0 && holder != request->rank) {
        request->next = sim->endpoints[holder].held;
        sim->endpoints[holder].held = request;
        return;
    }
    complete_now(request, event->at);
    if (request->orphan)
        sim_request_free(request);
}

static struct sim_request *request_new(enum sim_request_kind kind) {
    struct sim_request *r = sim_alloc(sizeof *r);
    r->kind = kind;
    r->rank = sim_self()->rank;
    r->posted_at = sim_self()->clock;
    return r;
}

struct sim_request *sim_send(struct sim_envelope to, const void *data, size_t bytes,
                             bool synchronous, bool buffered) {
    uint64_t now = sim_self()->clock, *last;
    struct sim_message *m = sim_alloc(sizeof *m + bytes);
    struct sim_request *r = request_new(SIM_SEND);
    m->context = to.context;
    m->from = r->rank;
    m->to = to.to;
    m->source = to.source;
    m->tag = to.tag;
    m->bytes = bytes;
    m->sent_at = now;
    sim->n_messages++;
    sim->n_bytes += bytes;
    if (bytes > 0)
        memcpy(m->data, data, bytes);
    m->arrives_at = now + latency(m->from, m->to) + bytes * ns_per_kib(m->from, m->to) / 1024 +
                    sim_draw(sim->model.jitter_ns + 1);
    last = &sim->last_arrival[m->from][m->to];
    if (m->arrives_at < *last)
        m->arrives_at = *last;
    *last = m->arrives_at;
    struct sim_endpoint *e = &sim->endpoints[m->from];
    m->waits = synchronous || (!buffered && (bytes > sim->model.eager_bytes ||
                                             e->buffered + bytes > sim->model.buffer_bytes));
    if (!m->waits) {
        m->buffered = true;
        e->buffered += bytes;
    }
    r->tag = to.tag;
    r->context = to.context;
    if (m->waits) {
        m->sender = r;
        r->message = m; /* for cancelling */
    } else {
        r->complete = true;
        r->complete_at = now;
    }
    sim_event_add(m->arrives_at, (uint64_t)m->from * SIM_MOST_RANKS + (uint64_t)m->to, SIM_ARRIVAL,
                  m);
    return r;
}

/* A message that nobody has asked for. */
static struct sim_message *take_out(struct sim_endpoint *e, struct sim_message **m) {
    struct sim_message *found = *m;
    *m = found->next;
    if (e->last == &found->next)
        e->last = m;
    return found;
}

struct sim_message *sim_look(uint64_t context, int source, int tag, bool take) {
    struct sim_endpoint *e = &sim->endpoints[sim_self()->rank];
    for (struct sim_message **m = &e->first; *m != NULL; m = &(*m)->next)
        if (fits(context, source, tag, *m)) {
            struct sim_message *found = *m;
            if (take)
                take_out(e, m);
            return found;
        }
    return NULL;
}

struct sim_request *sim_receive_message(struct sim_message *m) {
    struct sim_request *r = request_new(SIM_RECEIVE);
    r->context = m->context;
    r->source = m->source;
    r->tag = m->tag;
    r->message = m;
    r->complete = true;
    r->complete_at = r->posted_at;
    matched(m, r->posted_at);
    return r;
}

struct sim_request *sim_receive(uint64_t context, int source, int tag) {
    struct sim_message *m = sim_look(context, source, tag, true);
    if (m != NULL)
        return sim_receive_message(m);
    struct sim_request *r = request_new(SIM_RECEIVE);
    struct sim_endpoint *e = &sim->endpoints[r->rank];
    r->context = context;
    r->source = source;
    r->tag = tag;
    *e->last_posted = r;
    e->last_posted = &r->next;
    return r;
}

static void cancelled(struct sim_request *r) {
    r->cancelled = true;
    complete_now(r, sim_self()->clock);
}

/* Every other one that nobody has received or taken in a probe; MPICH cancels none. */
static bool cancel_send(struct sim_request *r) {
    struct sim_message *m = r->message;
    if (!sim->model.cancels_sends || m == NULL || !m->waits || sim_draw(2) == 0)
        return false;
    struct sim_endpoint *e = &sim->endpoints[m->to];
    struct sim_message **at = &e->first;
    while (*at != NULL && *at != m)
        at = &(*at)->next;
    if (m->has_arrived && *at == NULL)
        return false;
    m->cancelled = true;
    if (m->has_arrived)
        sim_free(take_out(e, at));
    r->message = NULL;
    cancelled(r);
    return true;
}

bool sim_cancel(struct sim_request *r) {
    struct sim_endpoint *e = &sim->endpoints[r->rank];
    if (r->complete || r->kind == SIM_MEETING)
        return false;
    if (r->kind == SIM_SEND)
        return cancel_send(r);
    for (struct sim_request **p = &e->first_posted; *p != NULL; p = &(*p)->next)
        if (*p == r) {
            *p = r->next;
            if (e->last_posted == &r->next)
                e->last_posted = p;
            cancelled(r);
            return true;
        }
    return false;
}

void sim_request_free(struct sim_request *r) {
    if (!r->complete) {
        r->orphan = true;
        return;
    }
    if (r->kind == SIM_RECEIVE)
        sim_free(r->message);
    sim_free(r);
}

static struct sim_meeting *meeting(uint64_t context, uint64_t number, int n, const char *what) {
    struct sim_meeting *m = sim->meetings;
    while (m != NULL && (m->context != context || m->number != number))
        m = m->next;
    if (m != NULL) {
        if (strcmp(m->what, what) != 0 || m->n != n)
            sim_fail(
                "collective operation %llu of a communicator: %s of %d, but others are in %s of %d",
                (unsigned long long)number, what, n, m->what, m->n);
        return m;
    }
    m = sim_alloc(sizeof *m + (size_t)n * sizeof m->parts[0]);
    m->context = context;
    m->number = number;
    m->n = n;
    m->fresh = sim->next_context;
    sim->next_context += (uint64_t)n;
    snprintf(m->what, sizeof m->what, "%s", what);
    m->next = sim->meetings;
    sim->meetings = m;
    return m;
}

/* How long what member j brings takes to member i. */
static uint64_t way(const struct sim_meeting *m, int i, int j) {
    unsigned distance = (unsigned)((i - j + m->n) % m->n);
    if (distance == 0 || m->latency_ns == 0)
        return m->latency_ns;
    uint64_t one = latency(m->parts[j].rank, m->parts[i].rank);
    if (sim->model.shape == SIM_AT_ONCE)
        return one;
    if (sim->model.shape == SIM_TREE)
        return one * (uint64_t)__builtin_popcount(distance);
    return one + (distance - 1) * (m->latency_ns / 8);
}

/* When all whom it needs have come: at its own time, or a message later than the last of them. */
static bool may_complete(const struct sim_meeting *m, int i, uint64_t *at) {
    const struct sim_part *p = &m->parts[i];
    if (p->needs == NULL && m->n_joined < m->n)
        return false;
    *at = p->at;
    for (int j = 0; j < m->n; j++) {
        const struct sim_part *other = &m->parts[j];
        if (p->needs != NULL && !p->needs[j])
            continue;
        if (!other->joined)
            return false;
        if (other->at + way(m, i, j) > *at)
            *at = other->at + way(m, i, j);
    }
    return true;
}

struct sim_request *sim_meet(uint64_t context, uint64_t number, int n, int me, const char *what,
                             uint64_t latency_ns, const void *data, size_t bytes,
                             const unsigned char *needs) {
    struct sim_meeting *m = meeting(context, number, n, what);
    struct sim_request *r = request_new(SIM_MEETING);
    struct sim_part *p = &m->parts[me];
    uint64_t now = sim_self()->clock, at;
    m->latency_ns = latency_ns;
    r->meeting = m;
    *p =
        (struct sim_part){.joined = true, .rank = r->rank, .at = now, .request = r, .bytes = bytes};
    if (bytes > 0)
        p->data = memcpy(sim_alloc(bytes), data, bytes);
    if (needs != NULL)
        p->needs = memcpy(sim_alloc((size_t)n), needs, (size_t)n);
    m->n_joined++;
    for (int i = 0; i < n; i++) {
        struct sim_request *other = m->parts[i].request;
        if (other == NULL || other->complete || other->complete_at > 0 ||
            (i != me && m->parts[i].needs != NULL && !m->parts[i].needs[me]) ||
            !may_complete(m, i, &at))
            continue;
        if (at <= now)
            complete_now(other, now);
        else
            complete_at(other, at);
    }
    return r;
}

void sim_leave(struct sim_meeting *m, int me) {
    m->parts[me].left = true;
    m->parts[me].request = NULL;
    if (++m->n_left < m->n)
        return;
    for (struct sim_meeting **p = &sim->meetings; *p != NULL; p = &(*p)->next)
        if (*p == m) {
            *p = m->next;
            break;
        }
    for (int i = 0; i < m->n; i++) {
        sim_free(m->parts[i].data);
        sim_free((void *)m->parts[i].needs);
    }
    sim_free(m);
}
