/* Messages in turn: records that need no clocks of their sender. */
#include "measure/clocks/records.h"

#include <stdlib.h>
#include <string.h>

#include "measure/clocks/backlog.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/edges.h"
#include "measure/clocks/global_time.h"
#include "measure/clocks/wait_states.h"
#include "measure/clocks/what_if_factors.h"
#include "measure/core/core.h"
#include "piggyback/logical.h"

enum {
    LC_TURNS = 24,         /* in a packet */
    LC_TURN_KEPT = 64,     /* messages to a partner */
    LC_TURN_PARTNERS = 64, /* 32 KiB each */
    LC_TURN_STREAMS = 8,   /* of a partner */
    LC_RECORD_MOST = LC_RECORD_HEAD + LC_RECORD_EXTRA
};
#define LC_TURN_MARK 0x7475726eull
#define LC_BASE_MARK (0x62617365ull << 32)

/* A turn as words of a part: these, the items of both works, what-if clocks of both. */
struct words {
    uint16_t n_items[2];
    uint32_t n_whatif, chain, mark;
    uint64_t node_seq, context_tag, bytes;
    double enter;      /* ns of the global clock */
    uint64_t received; /* stream */
    uint64_t spans[2]; /* ns: from the last send (the base) to the end of the receive, and on */
    uint64_t work[2];  /* ns: until the receive, and since */
};
enum {
    LC_TURN_HEAD = sizeof(struct words) / sizeof(uint64_t),
    LC_TURN_MOST = LC_TURN_HEAD + 2 * (2 * LC_STEP_ITEMS + LC_WHATIF_MAX)
};

struct stream {
    uint64_t id; /* context, tag */
    uint64_t n;  /* messages since the promise */
};
/* A base as words of a part: mark and chain, number of streams, these, the words of a record. */
enum { LC_BASE_HEAD = 2 };

struct kept {
    uint32_t seq, n;  /* n 0: its clocks are not known yet */
    struct stream of; /* n: its place in the stream */
    uint64_t words[LC_RECORD_MOST];
};

struct part { /* of a packet, for later; room for a turn at least */
    struct part *next;
    uint32_t seq, n; /* seq of a base: chain */
    uint64_t words[];
};
static struct part *spare_parts; /* with room for a turn */
static uint32_t n_spare_parts;

struct partner {
    bool promises, promised; /* this rank, the other one: to keep what it sends */
    bool in_turn;            /* the other one's last record says so */
    bool uncounted;          /* there was no room in `from`: no chain begins any more */
    bool voided;             /* a message to the other one has not left, and was counted */
    uint32_t promised_seq;   /* from this one on */
    uint32_t n_kept;         /* so far */
    uint32_t next_received;  /* of these, the one after the last that the other one received */
    uint32_t n_to, n_from;   /* streams */
    struct stream to[LC_TURN_STREAMS], from[LC_TURN_STREAMS];
    uint64_t received[LC_TURN_STREAMS]; /* by the other one, of `to`, until its last turn */
    struct part *parts, *bases;         /* its records in order; bases of chains to come */
    struct part *last;                  /* of the first, while there are any */
    uint32_t chain;                     /* of its last turn */
    uint64_t clocks[LC_RECORD_MOST];    /* after it, as words of a record */
    struct kept kept[LC_TURN_KEPT];
};
static struct partner **partners; /* by rank */
static uint32_t n_partners;

static struct { /* of this rank; peer -1: nothing */
    int32_t peer;
    bool got;  /* received from it since the last send to it */
    bool open; /* chain */
    uint32_t chain;
    uint64_t at, received_at, received; /* the last send (or base); received: stream */
    struct lc_work_since before, work;
} turn = {.peer = -1};

static uint64_t stream_of(uint32_t context, int32_t tag) {
    return (uint64_t)context << 32 | (uint32_t)tag;
}

static struct partner *partner_of(uint32_t rank) {
    return partners != NULL ? partners[rank] : NULL;
}

static struct partner *make_partner(uint32_t rank) {
    if (partners == NULL)
        partners = calloc(lc_clk.size, sizeof *partners);
    if (partners != NULL && partners[rank] == NULL && n_partners < LC_TURN_PARTNERS) {
        partners[rank] = calloc(1, sizeof **partners);
        n_partners += partners[rank] != NULL;
    }
    return partner_of(rank);
}

/* Its place in the table; LC_TURN_STREAMS: there is no room. */
static uint32_t find_stream(struct stream *all, uint32_t *n, uint64_t id) {
    uint32_t i = 0;
    while (i < *n && all[i].id != id)
        i++;
    if (i == *n && i < LC_TURN_STREAMS)
        all[(*n)++] = (struct stream){.id = id};
    return i;
}

/* ---- this rank's own turns */

void lc_clk_turns_worked(uint64_t ticks, uint32_t node, bool part) {
    if (turn.open && !lc_work_add(&turn.work, ticks, node, part))
        lc_clk_turns_close();
}

void lc_clk_turns_portion(const struct lc_portion_done *portion) {
    if (turn.open && !lc_work_portion(&turn.work, portion))
        lc_clk_turns_close();
}

void lc_clk_turns_close(void) {
    if (lc_core.multiple) /* no turns: threads have no order in which they call MPI */
        return;
    if (turn.open)
        lc_clk_packet_release((uint32_t)turn.peer);
    turn.open = false;
    turn.peer = -1;
}

bool lc_clk_turns_open(void) {
    return turn.open;
}

static void tell_base(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    uint64_t words[LC_BASE_HEAD + 2 * LC_TURN_STREAMS + LC_PART_WORDS];
    struct lc_stamp stamp;
    uint32_t at[2]; /* rank, chain */
    memcpy(at, data, sizeof at);
    lc_logical_stamp(&k->l, call->begin, &stamp);
    lc_clk_lock();
    const struct partner *p = partner_of(at[0]);
    uint32_t head = LC_BASE_HEAD + 2 * p->n_from;
    words[0] = LC_BASE_MARK | at[1];
    words[1] = p->n_from;
    memcpy(words + LC_BASE_HEAD, p->from, p->n_from * sizeof *p->from);
    uint32_t n = lc_clk_record_pack(k, &stamp, 0, 0, 0, 0, 0, words + head);
    if (!lc_clk_packet_add(at[0], LC_PART_BASE, words, head + n))
        lc_clk.counts.skipped++;
    lc_clk_unlock();
}

void lc_clk_turns_begin(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source) {
    static const struct lc_event_type event = {.run = tell_base, .turn = true};
    uint32_t at[2] = {source, turn.chain};
    lc_clk_backlog_submit(&event, k, call, at, sizeof at);
}

/* Does the receive from `source` get the next message of a stream that both sides count? It does
 * where another one of the stream, sent after the promise, was received before. */
static bool is_counted(uint32_t source, uint64_t stream) {
    const struct partner *p = partner_of(source);
    if (p == NULL || !p->promised || !p->in_turn || p->uncounted ||
        lc_clk.match.sources[source].n_open > 0 || lc_clk.match.n_wildcards > 0)
        return false;
    uint32_t i = 0;
    while (i < p->n_from && p->from[i].id != stream)
        i++;
    return i < p->n_from;
}

bool lc_clk_turns_received(struct lc_clk_thread *k, const struct lc_call *call, uint32_t source,
                           uint32_t context, int32_t tag, bool certain) {
    if (lc_core.multiple)
        return false;
    uint64_t stream = stream_of(context, tag);
    bool answers = turn.peer == (int32_t)source && !turn.got && certain && !k->todo &&
                   is_counted(source, stream);
    if (turn.open && !answers)
        lc_clk_turns_close();
    if (source == lc_clk.rank)
        return false;
    /* of scenarios that are about to be chosen a turn could not tell */
    bool begins = answers && !turn.open && lc_clk.n_threads == 1 && !lc_clk_point_is_under_way();
    if (begins) {
        memset(&turn.work, 0, sizeof turn.work);
        turn.open = true;
        turn.chain++;
        turn.at = call->begin;
    }
    turn.peer = (int32_t)source;
    turn.got = true;
    turn.before = turn.work;
    turn.received_at = call->end;
    turn.received = stream;
    memset(&turn.work, 0, sizeof turn.work);
    return begins;
}

void lc_clk_turns_got(uint32_t source, const struct lc_ring_entry *entry) {
    struct partner *p = partner_of(source);
    if (p == NULL || !p->promised || (int32_t)(entry->seq - p->promised_seq) < 0)
        return;
    uint32_t i = find_stream(p->from, &p->n_from, stream_of(entry->context, entry->tag));
    if (i < LC_TURN_STREAMS)
        p->from[i].n++;
    else
        p->uncounted = true;
}

static uint32_t put_work(const struct lc_work_since *w, struct words *head, uint32_t i,
                         uint64_t *words, uint32_t n) {
    head->work[i] = lc_clk_ns_of(w->ticks);
    head->n_items[i] = (uint16_t)lc_work_items(w, (struct lc_cp_item *)(words + n));
    return n + 2 * head->n_items[i];
}

static uint32_t put_whatif(const struct lc_work_since *w, uint64_t *words, uint32_t n) {
    uint64_t whatif[LC_WHATIF_MAX];
    lc_work_whatif(w, whatif);
    for (uint32_t s = 0; s < lc_clk.n_whatif; s++)
        words[n++] = lc_clk_ns_of(whatif[s]);
    return n;
}

static bool tell(const struct lc_call *call, const struct lc_turn_send *x) {
    uint64_t words[LC_PART_WORDS];
    struct words head = {
        .n_whatif = lc_clk.n_whatif,
        .chain = turn.chain,
        .mark = LC_TURN_MARK,
        .node_seq = (uint64_t)turn.work.node << 32 | x->seq,
        .context_tag = stream_of(x->context, x->tag),
        .bytes = x->bytes,
        .enter = lc_clk_to_global(call->begin),
        .received = turn.received,
        .spans = {lc_clk_ns_of(turn.received_at - turn.at),
                  lc_clk_ns_of(call->begin - turn.received_at)},
    };
    uint32_t n = put_work(&turn.before, &head, 0, words, LC_TURN_HEAD);
    n = put_work(&turn.work, &head, 1, words, n);
    n = put_whatif(&turn.before, words, n);
    n = put_whatif(&turn.work, words, n);
    memcpy(words, &head, sizeof head);
    if (!lc_clk_packet_add(x->to, LC_PART_RECORD, words, n))
        return false;
    lc_clk.counts.record_bytes += n * sizeof *words;
    lc_clk_packet_hold(x->to, LC_TURNS);
    return true;
}

static void keep(struct partner *p, const struct lc_turn_send *x) {
    struct kept *kept = &p->kept[p->n_kept++ % LC_TURN_KEPT];
    uint64_t id = stream_of(x->context, x->tag);
    uint32_t i = find_stream(p->to, &p->n_to, id);
    kept->seq = x->seq;
    kept->n = 0;
    kept->of = (struct stream){id, i < LC_TURN_STREAMS ? p->to[i].n++ : UINT64_MAX};
}

enum lc_turn_way lc_clk_turns_send(const struct lc_call *call, const struct lc_turn_send *x) {
    if (lc_core.multiple)
        return LC_TURN_NONE;
    bool in_turn = turn.peer == (int32_t)x->to && turn.got;
    struct partner *p = in_turn ? make_partner(x->to) : partner_of(x->to);
    bool sent =
        turn.open && in_turn && (x->flags & LC_RECORD_BACK) == 0 && p != NULL && tell(call, x);
    if (turn.open && !sent)
        lc_clk_turns_close();
    turn.peer = (int32_t)x->to;
    turn.got = false;
    turn.at = call->begin;
    memset(&turn.work, 0, sizeof turn.work);
    if (p == NULL)
        return LC_TURN_NONE;
    p->promises |= in_turn;
    if (p->promises)
        keep(p, x);
    return sent ? LC_TURN_SENT : in_turn ? LC_TURN_KEEPS : LC_TURN_NONE;
}

void lc_clk_turns_void(uint32_t to) {
    struct partner *p = partner_of(to);
    if (p != NULL)
        p->voided = true;
}

/* ---- those of partners */

/* What this rank keeps of the message that the partner received; NULL: nothing. *place: among the
 * streams. */
static struct kept *find_received(struct partner *p, uint64_t stream, uint32_t *place) {
    uint32_t n = p->n_kept < LC_TURN_KEPT ? p->n_kept : LC_TURN_KEPT, most = n;
    *place = find_stream(p->to, &p->n_to, stream);
    if (*place == LC_TURN_STREAMS)
        return NULL;
    uint32_t back = p->n_kept - p->next_received; /* it is likely to be the next one */
    for (back = back >= 1 && back <= n ? back : 1; most > 0; most--) {
        struct kept *kept = &p->kept[(p->n_kept - back) % LC_TURN_KEPT];
        if (kept->of.id == stream && kept->of.n == p->received[*place]) {
            p->next_received = p->n_kept - back + 1;
            return kept;
        }
        back = back < n ? back + 1 : 1;
    }
    return NULL;
}

/* The partner's record with this number goes in turn: it keeps what it sends from the first such
 * one on. */
static void note_promise(struct partner *p, uint32_t seq) {
    if (!p->promised)
        p->promised_seq = seq;
    p->promised = p->in_turn = true;
}

static bool measures(const uint64_t *clocks) {
    return clocks[4] >> 32 != 0;
}

/* The partner goes on for so long, and works meanwhile. */
static void go_on(uint64_t *clocks, const struct words *head, uint32_t i, const uint64_t *items,
                  const uint64_t *whatif) {
    uint64_t *extra = clocks + LC_RECORD_HEAD;
    if (!measures(clocks))
        return;
    clocks[1] += head->work[i];
    clocks[2] += head->spans[i];
    clocks[3] += head->work[i];
    for (uint32_t s = 0; s < head->n_whatif; s++)
        extra[2 + s] += whatif[s];
    lc_clk_extra_add(extra, (const struct lc_cp_item *)items, head->n_items[i]);
}

/* The edge of a message to the partner: as lc_logical_edge. */
static void take_edge(uint64_t *clocks, const uint64_t *words) {
    const uint64_t *theirs = words + LC_RECORD_HEAD;
    uint64_t *extra = clocks + LC_RECORD_HEAD;
    if (!measures(clocks) || clocks[4] >> 32 != words[4] >> 32)
        return;
    clocks[2] = clocks[2] > words[2] ? clocks[2] : words[2];
    if (words[4] == clocks[4] && words[3] > clocks[3]) /* the same phase */
        clocks[3] = words[3];
    uint32_t n = lc_clk_generation_of(extra) == lc_clk_generation_of(theirs)
                     ? lc_clk_scenarios_of(extra)
                     : 0; /* the message is of an earlier one */
    for (uint32_t s = 0; s < n; s++)
        extra[2 + s] = extra[2 + s] > theirs[2 + s] ? extra[2 + s] : theirs[2 + s];
    if (words[1] <= clocks[1])
        return;
    clocks[1] = words[1];
    extra[0] = theirs[0];
    memcpy(extra + 2 + LC_WHATIF_MAX, theirs + 2 + LC_WHATIF_MAX, 2 * theirs[0] * sizeof *extra);
}

/* The edge of a message that is not kept any more: it is not known by how much the partner's clocks
 * are too low. No clock of useful time is larger than the time since the interval began, for the
 * partner or for this rank, whose message it was; `enter` is after it. */
static void count_missing(const uint64_t *clocks, double enter) {
    const struct lc_logical *l = &lc_clk.threads->l;
    uint64_t now = lc_clk_from_global(enter), most = clocks[2];
    if (!measures(clocks) || l->interval != clocks[4] >> 32)
        return;
    if (now > l->origin && lc_clk_ns_of(now - l->origin) > most)
        most = lc_clk_ns_of(now - l->origin);
    lc_clk_count_missing(most > clocks[1] ? lc_clk_ticks_of(most - clocks[1]) : 0);
}

static struct part *take_part(uint32_t n) {
    struct part *q = n <= LC_TURN_MOST ? spare_parts : NULL;
    if (q == NULL)
        return malloc(sizeof *q + (n > LC_TURN_MOST ? n : LC_TURN_MOST) * sizeof *q->words);
    spare_parts = q->next;
    n_spare_parts--;
    return q;
}

static void give_part(struct part *q) {
    if (q->n > LC_TURN_MOST || n_spare_parts == LC_TURN_KEPT) {
        free(q);
        return;
    }
    q->next = spare_parts;
    spare_parts = q;
    n_spare_parts++;
}

/* The partner's clocks before its first turn of a chain. False: they have not come. */
static bool take_base(struct partner *p, uint32_t chain) {
    struct part **at = &p->bases, *base;
    while (*at != NULL && (*at)->seq != chain)
        at = &(*at)->next;
    base = *at;
    if (base == NULL)
        return false;
    *at = base->next;
    uint32_t n_streams = (uint32_t)base->words[1], head = LC_BASE_HEAD + 2 * n_streams;
    struct stream streams[LC_TURN_STREAMS];
    memcpy(streams, base->words + LC_BASE_HEAD, n_streams * sizeof *streams);
    memset(p->received, 0, sizeof p->received);
    for (uint32_t i = 0; i < n_streams; i++) {
        uint32_t place = find_stream(p->to, &p->n_to, streams[i].id);
        if (place < LC_TURN_STREAMS)
            p->received[place] = streams[i].n;
    }
    memcpy(p->clocks, base->words + head, (base->n - head) * sizeof *p->clocks);
    p->chain = chain;
    give_part(base);
    return true;
}

static bool is_base(const uint64_t *words, uint32_t n) {
    if (n < LC_BASE_HEAD || words[0] >> 32 != LC_BASE_MARK >> 32 || words[1] > LC_TURN_STREAMS)
        return false;
    uint32_t head = LC_BASE_HEAD + 2 * (uint32_t)words[1];
    return n >= head + LC_RECORD_HEAD + 2 + LC_WHATIF_MAX && n - head <= LC_RECORD_MOST;
}

static bool is_turn(const uint64_t *words, uint32_t n, struct words *head) {
    if (n < LC_TURN_HEAD)
        return false;
    memcpy(head, words, sizeof *head);
    return head->mark == LC_TURN_MARK && head->n_items[0] <= LC_STEP_ITEMS &&
           head->n_items[1] <= LC_STEP_ITEMS && head->n_whatif <= LC_WHATIF_MAX &&
           n == LC_TURN_HEAD + 2 * (head->n_items[0] + head->n_items[1] + head->n_whatif);
}

/* The turn as the record that it stands for. False: its base, or the clocks of a message of this
 * rank that it depends on, are not known yet. */
static bool work_off(uint32_t source, struct partner *p, const uint64_t *words,
                     const struct words *head) {
    uint32_t place = 0;
    if (head->chain != p->chain && !take_base(p, head->chain))
        return false;
    const struct kept *kept = p->voided ? NULL : find_received(p, head->received, &place);
    if (kept != NULL && kept->n == 0)
        return false;
    const uint64_t *items[2] = {words + LC_TURN_HEAD, words + LC_TURN_HEAD + 2 * head->n_items[0]};
    const uint64_t *whatif = items[1] + 2 * head->n_items[1];
    uint64_t *clocks = p->clocks;
    go_on(clocks, head, 0, items[0], whatif);
    if (kept != NULL) {
        p->received[place]++;
        take_edge(clocks, kept->words);
    } else {
        count_missing(clocks, head->enter);
    }
    go_on(clocks, head, 1, items[1], whatif + head->n_whatif);
    memcpy(&clocks[0], &head->enter, sizeof head->enter);
    clocks[5] = head->node_seq;
    clocks[6] = head->context_tag;
    clocks[7] = head->bytes;
    lc_clk_record_arrived(
        source, clocks,
        (int)(LC_RECORD_HEAD + 2 + LC_WHATIF_MAX + 2 * (uint32_t)clocks[LC_RECORD_HEAD]));
    note_promise(p, (uint32_t)head->node_seq);
    return true;
}

/* Works off what has arrived of this partner, in order. */
static void work_off_all(uint32_t source, struct partner *p) {
    struct words head;
    for (struct part *q; (q = p->parts) != NULL;) {
        if (!is_turn(q->words, q->n, &head))
            lc_clk_record_arrived(source, q->words, (int)q->n);
        else if (!work_off(source, p, q->words, &head))
            return;
        p->parts = q->next;
        give_part(q);
    }
}

void lc_clk_turns_known(uint32_t to, uint32_t seq, const uint64_t *words, uint32_t n) {
    struct partner *p = partner_of(to);
    uint32_t back = p == NULL ? 0 : p->n_kept < LC_TURN_KEPT ? p->n_kept : LC_TURN_KEPT;
    if (back > 0) { /* numbers ascend, but for gaps one by one */
        uint32_t far = p->kept[(p->n_kept - 1) % LC_TURN_KEPT].seq - seq + 1;
        back = far < back ? far : back;
    }
    for (; back > 0; back--) {
        struct kept *at = &p->kept[(p->n_kept - back) % LC_TURN_KEPT];
        if (at->seq != seq)
            continue;
        memcpy(at->words, words, n * sizeof *words);
        at->n = n;
        break;
    }
    if (p != NULL)
        work_off_all(to, p);
}

/* By number: a turn may come before a record with clocks that its sender sent before. *last: a part
 * of the list, if it has any, from which on the place is looked for; the new one if it is last. */
static void put_part(struct part **list, struct part **last, uint32_t seq, const uint64_t *words,
                     uint32_t n) {
    struct part *q = take_part(n);
    if (q == NULL) { /* what waits for it goes on without (force_oldest in backlog.c) */
        lc_clk.counts.skipped++;
        return;
    }
    if (*list != NULL && (int32_t)((*last)->seq - seq) < 0)
        list = &(*last)->next;
    while (*list != NULL && (int32_t)((*list)->seq - seq) < 0)
        list = &(*list)->next;
    *q = (struct part){.next = *list, .seq = seq, .n = n};
    memcpy(q->words, words, n * sizeof *words);
    *list = q;
    if (q->next == NULL)
        *last = q;
}

bool lc_clk_turns_take(uint32_t source, const uint64_t *words, uint32_t n) {
    struct partner *p = partner_of(source);
    struct words head;
    if (p == NULL)
        return false;
    struct part *early = p->bases; /* there is one at most, as a rule */
    if (is_base(words, n))
        put_part(&p->bases, &early, (uint32_t)words[0], words, n);
    else if (is_turn(words, n, &head)) {
        if (p->parts == NULL && work_off(source, p, words, &head))
            return true;
        put_part(&p->parts, &p->last, (uint32_t)head.node_seq, words, n);
        return true;
    } else if (p->parts != NULL && n >= LC_RECORD_HEAD && words[7] != LC_RECORD_SHADOW &&
               words[6] >> 32 != LC_CONTEXT_REPLY)
        put_part(&p->parts, &p->last, (uint32_t)words[5], words, n);
    else
        return false;
    work_off_all(source, p);
    return true;
}

void lc_clk_turns_arrived(uint32_t source, uint32_t seq, uint64_t flags) {
    bool keeps = (flags & LC_RECORD_KEEPS) != 0;
    struct partner *p = keeps ? make_partner(source) : partner_of(source);
    if (p != NULL)
        p->in_turn = false;
    if (p != NULL && keeps)
        note_promise(p, seq);
}

static void free_parts(struct part *first) {
    for (struct part *next; first != NULL; first = next) {
        next = first->next;
        free(first);
    }
}

void lc_clk_turns_end(void) {
    for (uint32_t i = 0; partners != NULL && i < lc_clk.size; i++)
        if (partners[i] != NULL) {
            free_parts(partners[i]->parts);
            free_parts(partners[i]->bases);
            free(partners[i]);
        }
    free(partners);
    partners = NULL;
    free_parts(spare_parts);
    spare_parts = NULL;
    n_spare_parts = 0;
}
