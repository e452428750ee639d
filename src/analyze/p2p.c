#include "analyze/p2p.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/event_store.h"
#include "analyze/events.h"
#include "analyze/health.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/lookup.h"
#include "base/mem.h"

enum { PIECE = 1 << 13 }; /* messages per rank that travel at once */

struct channel {
    uint32_t comm, source, destination, tag;
    uint32_t head, tail;  /* receives of this rank; LC_NONE: empty */
    uint32_t sent, taken; /* sends that came, receives that left the list */
};

struct message {          /* a send on its way to the receiver */
    int64_t enter, leave; /* sending call */
    int64_t wait_start,
        wait_end; /* call that may have waited for the receiver; start > end: none */
    uint64_t bytes;
    uint32_t comm, destination, tag;
    uint32_t location, cnode, index; /* of the send */
    uint32_t left_out;               /* sends of the channel before it that are not in the trace */
    uint32_t synchronous;            /* it ends after its receive was posted */
};

struct reply { /* a late receiver (LC_NONE: there is no receiver), on its way to the sender */
    struct lc_match match;
    uint32_t location, index; /* of the send */
};

struct matcher {
    struct lc_trace *trace;
    struct channel *channels;
    size_t n_channels, cap_channels;
    struct lc_lookup channel_of;
    uint32_t *first; /* per location of this rank: number of its first operation */
    struct reply *replies;
    uint32_t *reply_dest;
    size_t n_replies, cap_replies, cap_reply_dest;
};

static uint64_t hash_channel(const struct channel *c) {
    uint64_t h = lc_hash_key((uint64_t)c->comm << 32 | c->tag);
    return h ^ (h >> 29) ^ ((uint64_t)c->source << 32 | c->destination);
}

static inline bool is_same(const struct channel *a, const struct channel *b) {
    return a->comm == b->comm && a->source == b->source && a->destination == b->destination &&
           a->tag == b->tag;
}

static struct channel *find_channel(const struct matcher *m, const struct channel *key) {
    uint32_t at = LC_LOOKUP(&m->channel_of, hash_channel(key), i, is_same(&m->channels[i], key));
    return at != LC_NONE ? &m->channels[at] : NULL;
}

static enum lc_err add_channel(struct matcher *m, const struct channel *key, struct channel **c) {
    LC_TRY(lc_grow(&m->channels, &m->cap_channels, m->n_channels + 1, sizeof *m->channels));
    LC_TRY(lc_lookup_add(&m->channel_of, hash_channel(key), (uint32_t)m->n_channels));
    *c = &m->channels[m->n_channels++];
    **c = *key;
    return LC_OK;
}

/* Location and operation of a number: the locations of a process are neighbours. */
static struct lc_p2p *operation(const struct matcher *m, uint32_t number, struct lc_loc *hint,
                                struct lc_loc **loc) {
    size_t i = (size_t)(hint - m->trace->locs);
    while (i + 1 < m->trace->n_locs && number >= m->first[i + 1])
        i++;
    *loc = &m->trace->locs[i];
    return &(*loc)->p2p[number - m->first[i]];
}

static struct lc_loc *first_location(const struct lc_trace *trace, uint32_t process) {
    return lc_trace_loc(trace, trace->processes[process].first_location);
}

static enum lc_err post(struct matcher *m, struct lc_loc *loc, uint32_t index) {
    struct lc_p2p *p2p = &loc->p2p[index];
    if (!(p2p->flags & LC_P2P_RECV) || !(p2p->flags & LC_P2P_KNOWN))
        return LC_OK;
    const struct channel key = {p2p->comm, p2p->peer, loc->process, p2p->tag, LC_NONE, LC_NONE,
                                0,         0};
    struct channel *c = find_channel(m, &key);
    if (!c)
        LC_TRY(add_channel(m, &key, &c));
    uint32_t number = m->first[loc - m->trace->locs] + index;
    p2p->link = LC_NONE;
    if (c->head == LC_NONE) {
        c->head = number;
    } else {
        struct lc_loc *at;
        operation(m, c->tail, first_location(m->trace, loc->process), &at)->link = number;
    }
    c->tail = number;
    return LC_OK;
}

struct started {
    int64_t time;
    uint32_t loc, index;
};

static int by_start(const void *a, const void *b) {
    const struct started *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->loc != y->loc)
        return x->loc < y->loc ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* What a visit touches: an operation, its call, the times of that, and of the other half. */
enum { VISITED_BYTES = 192 };

typedef enum lc_err visit_fn(struct matcher *m, struct lc_loc *loc, uint32_t index);

/* Visits the operations of a process in the order of their start; several threads are merged by
 * time. */
static enum lc_err visit_process(struct matcher *m, struct lc_loc *locs, uint32_t n_locs,
                                 visit_fn *visit) {
    size_t total = 0, active = 0;
    for (uint32_t i = 0; i < n_locs; i++) {
        total += locs[i].n_p2p;
        active += locs[i].n_p2p > 0;
    }
    if (active <= 1) {
        for (uint32_t i = 0; i < n_locs; i++)
            for (size_t k = 0; k < locs[i].n_p2p; k++) {
                LC_TRY(visit(m, &locs[i], (uint32_t)k));
                lc_event_store_touched(m->trace->store, VISITED_BYTES);
            }
        return LC_OK;
    }
    struct started *all;
    LC_TRY(lc_alloc(&all, total, sizeof *all));
    size_t n = 0;
    for (uint32_t i = 0; i < n_locs; i++)
        for (size_t k = 0; k < locs[i].n_p2p; k++)
            all[n++] = (struct started){locs[i].time[locs[i].calls[locs[i].p2p[k].call].enter], i,
                                        (uint32_t)k};
    qsort(all, n, sizeof *all, by_start);
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < n && err == LC_OK; i++)
        err = visit(m, &locs[all[i].loc], all[i].index);
    free(all);
    return err;
}

static enum lc_err visit_all(struct matcher *m, visit_fn *visit) {
    struct lc_trace *trace = m->trace;
    for (size_t i = 0; i < trace->n_locs;) {
        uint32_t n = trace->processes[trace->locs[i].process].n_locations;
        LC_TRY(visit_process(m, &trace->locs[i], n, visit));
        i += n;
    }
    return LC_OK;
}

static enum lc_err reply(struct matcher *m, const struct message *message,
                         const struct lc_match *match) {
    LC_TRY(lc_reserve(&m->replies, &m->cap_replies, m->n_replies + 1, sizeof *m->replies));
    LC_TRY(lc_reserve(&m->reply_dest, &m->cap_reply_dest, m->n_replies + 1, sizeof *m->reply_dest));
    m->reply_dest[m->n_replies] = lc_trace_owner(m->trace, message->location);
    m->replies[m->n_replies++] = (struct reply){*match, message->location, message->index};
    return LC_OK;
}

/* The node that a process runs on. */
static uint32_t node_of(const struct lc_trace *trace, uint32_t process) {
    uint32_t own = trace->processes[process].system_node;
    for (uint32_t node = own; node != LC_NONE; node = trace->system_nodes[node].parent)
        if (strcmp(trace->system_nodes[node].class_name, "node") == 0)
            return node;
    return own;
}

/* Between nodes a synchronous send lasts until after its receive was posted, whatever their clocks
 * say. */
static bool ended_after(const struct lc_trace *trace, const struct message *message, int64_t posted,
                        uint32_t receiver) {
    uint32_t sender = trace->locations[message->location].process;
    return message->wait_end > posted ||
           (message->synchronous && node_of(trace, sender) != node_of(trace, receiver));
}

/* A sending call that lasted until after the receive was posted, and began before that, waited for
 * it. */
static enum lc_err answer(struct matcher *m, const struct message *message, struct lc_loc *loc,
                          const struct lc_mpi_call *call) {
    int64_t posted = loc->time[call->enter];
    if (message->wait_start >= posted || !ended_after(m->trace, message, posted, loc->process))
        return LC_OK;
    struct lc_match match = {posted, loc->time[call->leave], loc->id, loc->cnode[call->enter]};
    return reply(m, message, &match);
}

/* Where only windows were traced, halves of messages have numbers: their place among those of
 * their channel in the trace, and the number of those before them that are not in it. Receives
 * before that of number `number` had their sends outside; NULL: that one is not in the trace. */
static struct lc_p2p *take_receive(struct matcher *m, struct channel *c, struct lc_loc *first,
                                   uint64_t number, struct lc_loc **loc) {
    while (c->head != LC_NONE) {
        struct lc_p2p *recv = operation(m, c->head, first, loc);
        uint64_t of = (uint64_t)c->taken +
                      lc_left_out_before(&(*loc)->p2p_left_out, (size_t)(recv - (*loc)->p2p));
        if (of > number)
            return NULL;
        c->head = recv->link;
        c->taken++;
        if (of == number)
            return recv;
    }
    return NULL;
}

static enum lc_err deliver(struct matcher *m, const struct message *message) {
    struct lc_trace *trace = m->trace;
    uint32_t source = trace->locations[message->location].process;
    const struct channel key = {
        message->comm, source, message->destination, message->tag, 0, 0, 0, 0};
    struct channel *c = find_channel(m, &key);
    struct lc_loc *loc = NULL;
    struct lc_p2p *recv = c ? take_receive(m, c, first_location(trace, message->destination),
                                           (uint64_t)c->sent++ + message->left_out, &loc)
                            : NULL;
    if (!recv) {
        lc_health_note(trace->health,
                       trace->numbered ? LC_HEALTH_OUTSIDE_WINDOW : LC_HEALTH_SEND_UNMATCHED,
                       message->location);
        struct lc_match nobody = {0, 0, LC_NONE, LC_NONE};
        return reply(m, message, &nobody);
    }
    if (recv->bytes != message->bytes)
        lc_health_note(trace->health, LC_HEALTH_BYTES_DIFFER, loc->id);
    if (loc->n_matches == loc->cap_matches) {
        size_t need = loc->n_matches ? loc->n_matches + 1 : loc->n_p2p / 2; /* as a rule all */
        LC_TRY(lc_reserve(&loc->matches, &loc->cap_matches, need ? need : 1, sizeof *loc->matches));
    }
    recv->link = (uint32_t)loc->n_matches;
    recv->flags |= LC_P2P_MATCHED;
    loc->matches[loc->n_matches++] =
        (struct lc_match){message->enter, message->leave, message->location, message->cnode};
    return answer(m, message, loc, &loc->calls[recv->call]);
}

static bool waits(uint32_t fn) {
    return fn == LC_FN_MPI_WAIT || fn == LC_FN_MPI_WAITSOME;
}

static void describe_wait(const struct lc_loc *loc, const struct lc_p2p *send,
                          struct message *out) {
    const struct lc_mpi_call *call = &loc->calls[send->call], *by = NULL;
    if (!(send->flags & LC_P2P_NONBLOCKING))
        by = call->fn == LC_FN_MPI_SEND || call->fn == LC_FN_MPI_SSEND ? call : NULL;
    else if (send->done != LC_NONE && call->fn != LC_FN_MPI_ISENDX &&
             waits(loc->calls[send->done].fn))
        by = &loc->calls[send->done];
    out->synchronous = call->fn == LC_FN_MPI_SSEND || call->fn == LC_FN_MPI_ISSEND;
    out->wait_start = by ? loc->time[by->enter] : INT64_MAX;
    out->wait_end = by ? loc->time[by->leave] : INT64_MIN;
    if (send->flags & LC_P2P_SELF)
        out->wait_start = INT64_MAX;
}

struct outbox {
    struct matcher m; /* first, so that visitors can find the rest */
    struct message *messages;
    uint32_t *dest;
    size_t count;
    uint32_t n_rounds;
};

static enum lc_err take_replies(struct matcher *m) {
    struct lc_trace *trace = m->trace;
    struct reply *in;
    size_t n;
    LC_TRY(lc_transport_exchange(trace->comm, m->replies, m->reply_dest, m->n_replies, sizeof *in,
                                 (void **)&in, &n));
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < n && err == LC_OK; i++) {
        struct lc_loc *loc = lc_trace_loc(trace, in[i].location);
        if (in[i].match.location == LC_NONE) {
            loc->p2p[in[i].index].flags |= LC_P2P_LOST;
            continue;
        }
        err = lc_reserve(&loc->lates, &loc->cap_lates, loc->n_lates + 1, sizeof *loc->lates);
        if (err != LC_OK)
            break;
        loc->lates[loc->n_lates++] = in[i].match;
        loc->p2p[in[i].index].link = (uint32_t)loc->n_lates;
    }
    free(in);
    m->n_replies = 0;
    return lc_transport_agree(trace->comm, err);
}

/* Collective: sends what is in the outbox; *more tells whether any rank has more to come. */
static enum lc_err flush(struct outbox *box, bool last, bool *more) {
    struct matcher *m = &box->m;
    struct message *in;
    size_t n;
    LC_TRY(lc_transport_exchange(m->trace->comm, box->messages, box->dest, box->count, sizeof *in,
                                 (void **)&in, &n));
    box->count = 0;
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < n && err == LC_OK; i++)
        err = deliver(m, &in[i]);
    free(in);
    LC_TRY(lc_transport_agree(m->trace->comm, err));
    LC_TRY(take_replies(m));
    int64_t open = !last;
    lc_transport_allreduce_i64(m->trace->comm, &open, 1, LC_OP_MAX);
    *more = open != 0;
    return LC_OK;
}

static enum lc_err send(struct matcher *m, struct lc_loc *loc, uint32_t index) {
    struct outbox *box = (struct outbox *)m;
    struct lc_p2p *p2p = &loc->p2p[index];
    if (p2p->flags & LC_P2P_RECV || !(p2p->flags & LC_P2P_KNOWN))
        return LC_OK;
    const struct lc_mpi_call *call = &loc->calls[p2p->call];
    p2p->link = 0;
    struct message message = {.enter = loc->time[call->enter],
                              .leave = loc->time[call->leave],
                              .bytes = p2p->bytes,
                              .comm = p2p->comm,
                              .destination = p2p->peer,
                              .tag = p2p->tag,
                              .location = loc->id,
                              .cnode = loc->cnode[call->enter],
                              .index = index,
                              .left_out = lc_left_out_before(&loc->p2p_left_out, index)};
    describe_wait(loc, p2p, &message);
    uint32_t owner = m->trace->processes[p2p->peer].owner;
    if (owner == m->trace->comm->rank)
        return deliver(m, &message);
    if (box->count == PIECE) {
        bool more;
        LC_TRY(flush(box, false, &more));
    }
    box->messages[box->count] = message;
    box->dest[box->count++] = owner;
    return LC_OK;
}

static enum lc_err number_operations(struct matcher *m) {
    struct lc_trace *trace = m->trace;
    LC_TRY(lc_alloc(&m->first, trace->n_locs + 1, sizeof *m->first));
    uint64_t total = 0;
    for (size_t i = 0; i < trace->n_locs; i++) {
        m->first[i] = (uint32_t)total;
        total += trace->locs[i].n_p2p;
    }
    return total < LC_NONE ? LC_OK
                           : lc_fail(LC_ERR_UNSUPPORTED,
                                     "messages: %llu on one rank: use more analysis ranks (-n)",
                                     (unsigned long long)total);
}

/* Room for the matches of all receives; where there is none in the store they grow on the heap. */
static void make_room(struct lc_trace *trace, struct lc_loc *loc) {
    size_t n = 0;
    for (size_t k = 0; k < loc->n_p2p; k++)
        n += loc->p2p[k].flags & LC_P2P_RECV && loc->p2p[k].flags & LC_P2P_KNOWN;
    loc->matches = lc_event_store_take(trace->store, n * sizeof *loc->matches);
    loc->cap_matches = loc->matches != NULL ? n : 0;
    lc_event_store_rest(trace->store);
}

static void count_unmatched(struct lc_trace *trace) {
    for (size_t i = 0; i < trace->n_locs; i++) {
        int64_t n = 0;
        for (size_t k = 0; k < trace->locs[i].n_p2p; k++) {
            uint64_t flags = trace->locs[i].p2p[k].flags;
            n += flags & LC_P2P_RECV && flags & LC_P2P_KNOWN && !(flags & LC_P2P_MATCHED);
        }
        lc_health_add(trace->health,
                      trace->numbered ? LC_HEALTH_OUTSIDE_WINDOW : LC_HEALTH_RECV_UNMATCHED,
                      trace->locs[i].id, n);
        lc_event_store_rest(trace->store);
    }
}

enum lc_err lc_p2p_match(struct lc_trace *trace) {
    struct outbox box = {.m = {.trace = trace}};
    enum lc_err err = number_operations(&box.m);
    for (size_t i = 0; i < trace->n_locs; i++)
        make_room(trace, &trace->locs[i]);
    size_t room = trace->comm->size > 1 ? PIECE : 1;
    if (err == LC_OK)
        err = lc_alloc(&box.messages, room, sizeof *box.messages);
    if (err == LC_OK)
        err = lc_alloc(&box.dest, room, sizeof *box.dest);
    if (err == LC_OK)
        err = visit_all(&box.m, post);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = visit_all(&box.m, send);
    if (err != LC_OK && trace->comm->size > 1) { /* others may wait in an exchange */
        lc_complain("%s", lc_err_text());
        lc_transport_abort(1);
    }
    bool more = err == LC_OK;
    while (more && err == LC_OK)
        err = flush(&box, true, &more);
    if (err == LC_OK)
        count_unmatched(trace);
    free(box.messages);
    free(box.dest);
    free(box.m.channels);
    lc_lookup_free(&box.m.channel_of);
    free(box.m.first);
    free(box.m.replies);
    free(box.m.reply_dest);
    return err;
}
