/* Pairing of entries with receives against a model of MPI's own matching, in random programs: three
 * sources, few tags, two communicators, exact and wildcard receives, completions in any order,
 * cancelled receives, senders ahead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../first_seed.h"
#include "piggyback/match.h"
#include "piggyback/open_receives.h"
#include "piggyback/pending_entries.h"

enum { SOURCES = 3, OPEN = 12, QUEUE = 4096 };

struct message { /* sent, not matched yet */
    uint32_t source, context, number;
    int32_t tag;
    uint32_t seq;
};
struct receive {
    struct lc_recv recv;
    bool used, matched;
    struct message got;
};

static struct message queue[QUEUE];
static int n_queue;
static struct receive receives[OPEN];
static uint64_t n_replies;
static uint64_t n_posts_found, n_posts_unknown;
static void sender_asks(const struct receive *r);

static int status(void *user, const struct lc_recv *recv, int32_t *source, int32_t *tag) {
    (void)user;
    const struct receive *r = (const struct receive *)recv;
    if (!r->matched)
        return 0;
    *source = (int32_t)r->got.source;
    *tag = r->got.tag;
    return 1;
}

static bool pull(void *user, uint32_t source) {
    (void)user;
    (void)source;
    return false;
}

static void reply(void *user, uint32_t source, const struct lc_ring_entry *entry) {
    (void)user;
    (void)source;
    (void)entry;
    n_replies++;
}

static const struct lc_match_calls calls = {status, pull, reply};

static bool fits(const struct lc_recv *r, const struct message *m) {
    return r->context == m->context && (r->source == LC_ANY || r->source == (int32_t)m->source) &&
           (r->tag == LC_ANY || r->tag == m->tag);
}

/* MPI's rule: messages in order of arrival, each to the first open receive in post order that fits.
 */
static void match_all(void) {
    for (;;) {
        struct receive *best = NULL;
        int which = -1;
        for (int q = 0; q < n_queue && !best; q++)
            for (int i = 0; i < OPEN; i++)
                if (receives[i].used && !receives[i].matched &&
                    fits(&receives[i].recv, &queue[q]) &&
                    (!best || receives[i].recv.order < best->recv.order)) {
                    best = &receives[i];
                    which = q;
                }
        if (!best)
            return;
        best->matched = true;
        best->got = queue[which];
        sender_asks(best);
        memmove(queue + which, queue + which + 1, (size_t)(--n_queue - which) * sizeof *queue);
    }
}

static struct lc_area areas[SOURCES];
static struct lc_ring_out outs[SOURCES];

static void setup(struct lc_matcher *match) {
    assert_int_equal(lc_match_init(match, SOURCES, &calls, NULL), LC_OK);
    size_t bytes = lc_area_size(SOURCES);
    for (uint32_t s = 0; s < SOURCES; s++) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(memory != MAP_FAILED);
        lc_area_init(&areas[s], memory, bytes, s, SOURCES);
        lc_ring_out_init(&outs[s], &areas[s], 0);
        lc_ring_in_init(&match->sources[s].ring, &areas[s], 0);
    }
    memset(receives, 0, sizeof receives);
    n_queue = 0;
}

static void teardown(struct lc_matcher *match) {
    lc_match_free(match);
    for (uint32_t s = 0; s < SOURCES; s++) {
        lc_ring_out_free(&outs[s]);
        munmap(areas[s].head, areas[s].bytes);
    }
}

/* The sender of a message that was just matched finds the post of its receive, or nothing. */
static void sender_asks(const struct receive *r) {
    struct lc_stamp post;
    bool unsure;
    if (r->recv.source == LC_ANY || r->recv.tag == LC_ANY)
        return;
    const struct message *m = &r->got;
    if (lc_posts_find(&areas[0], &outs[m->source], m->source, m->context, m->tag, m->seq, &post,
                      &unsure)) {
        n_posts_found++;
        assert_int_equal(post.enter, r->recv.order);
    } else {
        n_posts_unknown++;
    }
}

static void log_post(struct lc_matcher *match, const struct lc_recv *recv,
                     const struct lc_ring_entry *entry) {
    uint32_t source = (uint32_t)recv->source;
    struct lc_source *s = &match->sources[source];
    if (!s->posts.lines)
        assert_true(lc_posts_make(&s->posts, &areas[0], source));
    uint32_t skip = entry ? 0 : lc_match_ahead(match, source, recv->context, recv->tag);
    struct lc_post_line *line = lc_posts_place(&s->posts);
    line->stamp = (struct lc_stamp){.enter = recv->order};
    lc_posts_ready(&s->posts, line, recv->context, recv->tag, entry ? entry->seq : s->ring.seq,
                   skip);
}

static uint32_t bytes_of(uint32_t number) {
    return number % 3 ? 8 : 16;
}

static void send_one(uint32_t *number) {
    struct message m = {.source = (uint32_t)rand() % SOURCES,
                        .context = LC_CONTEXT_FIRST + (uint32_t)rand() % 2,
                        .tag = rand() % 3,
                        .number = ++*number};
    if (n_queue == QUEUE)
        return;
    lc_ring_put(&outs[m.source], &(struct lc_stamp){.enter = m.number}, m.context, m.tag,
                bytes_of(m.number));
    m.seq = outs[m.source].seq;
    if (rand() % 16 == 0) /* replies travel in the same ring */
        lc_ring_put(&outs[m.source], &(struct lc_stamp){0}, LC_CONTEXT_REPLY, 0, 0);
    queue[n_queue++] = m;
    match_all();
}

static void post_one(struct lc_matcher *match, uint64_t *order, int wild) {
    for (int i = 0; i < OPEN; i++) {
        struct receive *r = &receives[i];
        if (r->used)
            continue;
        memset(r, 0, sizeof *r);
        r->recv.source = wild && rand() % 4 == 0 ? LC_ANY : rand() % SOURCES;
        r->recv.tag = wild && rand() % 6 == 0 ? LC_ANY : rand() % 3;
        r->recv.context = LC_CONTEXT_FIRST + (uint32_t)rand() % 2;
        r->recv.order = ++*order;
        if (r->recv.source != LC_ANY && r->recv.tag != LC_ANY) {
            const struct lc_ring_entry *entry =
                lc_match_look(match, (uint32_t)r->recv.source, r->recv.context, r->recv.tag);
            if (entry) /* it must be what MPI will match */
                r->got.number = (uint32_t)entry->stamp.enter;
            log_post(match, &r->recv, entry);
        }
        uint32_t foreseen = r->got.number;
        r->used = true;
        lc_match_open(match, &r->recv);
        match_all();
        if (foreseen)
            assert_true(r->matched && r->got.number == foreseen);
        return;
    }
}

static void forget(struct lc_posts *posts) {
    for (uint32_t line = 0; posts->lines && line < LC_POSTS_LINES; line++)
        lc_posts_forget(posts, line);
}

static uint64_t complete_one(struct lc_matcher *match) {
    struct receive *r = &receives[rand() % OPEN];
    if (!r->used)
        return 0;
    if (!r->matched) {
        if (rand() % 50 == 0) { /* cancelled */
            lc_match_close(match, &r->recv);
            r->used = false;
            if (r->recv.source != LC_ANY)
                forget(&match->sources[r->recv.source].posts);
        }
        return 0;
    }
    lc_match_close(match, &r->recv);
    uint64_t unsure = match->counts.unsure;
    const struct lc_ring_entry *entry = lc_match_take(
        match, r->got.source, r->got.context, r->got.tag, r->recv.order, bytes_of(r->got.number));
    r->used = false;
    assert_non_null(entry);
    if (match->counts.unsure == unsure)
        assert_int_equal(entry->stamp.enter, r->got.number);
    return 1;
}

static void program(unsigned seed, int wild) {
    struct lc_matcher match;
    uint32_t number = 0;
    uint64_t order = 0, taken = 0;
    n_posts_found = n_posts_unknown = 0;
    setup(&match);
    srand(seed);
    for (int step = 0; step < 20000; step++) {
        int ahead = step / 2000 % 2; /* phases in which senders run ahead, and others */
        switch (rand() % (ahead ? 4 : 3)) {
        case 0:
            post_one(&match, &order, wild);
            break;
        case 1:
            taken += complete_one(&match);
            break;
        default:
            if (n_queue < 1000)
                send_one(&number);
        }
    }
    assert_true(taken > 500);
    assert_int_equal(match.counts.taken, taken);
    assert_int_equal(match.counts.absent, 0);
    assert_int_equal(match.counts.unsure, 0);
    assert_int_equal(match.counts.mispaired, 0);
    assert_true(n_replies > 0);
    assert_true(wild ? n_posts_found > 0 : n_posts_found > 3 * n_posts_unknown);
    teardown(&match);
}

static void exact_receives(void **state) {
    (void)state;
    for (uint64_t first = first_seed(1), seed = first; seed < first + 10; seed++)
        program((unsigned)seed, 0);
}

static void wildcard_receives(void **state) {
    (void)state;
    for (uint64_t first = first_seed(1), seed = first; seed < first + 10; seed++)
        program((unsigned)seed, 1);
}

/* A cancelled send leaves a void entry, in the ring or already in the stash. */
static void cancelled_send(void **state) {
    (void)state;
    struct lc_matcher match;
    setup(&match);
    struct lc_ring_entry *a = lc_ring_put(&outs[0], &(struct lc_stamp){.enter = 1}, 2, 0, 8);
    lc_ring_put(&outs[0], &(struct lc_stamp){.enter = 2}, 2, 1, 8);
    struct lc_ring_entry *c = lc_ring_put(&outs[0], &(struct lc_stamp){.enter = 3}, 2, 0, 8);
    lc_ring_put(&outs[0], &(struct lc_stamp){.enter = 4}, 2, 0, 8);
    assert_int_equal(lc_match_take(&match, 0, 2, 1, 1, 8)->stamp.enter,
                     2); /* a is in the stash now */
    lc_ring_make_void(&outs[0], a, a->seq);
    lc_ring_make_void(&outs[0], c, c->seq);
    assert_int_equal(lc_match_take(&match, 0, 2, 0, 2, 8)->stamp.enter, 4);
    assert_int_equal(match.counts.void_entries, 2);
    teardown(&match);
}

/* An entry that is not there when its message is counts as absent; coming late it is dropped and
 * shifts nothing. */
static void late_entry(void **state) {
    (void)state;
    struct lc_matcher match;
    setup(&match);
    assert_null(lc_match_take(&match, 0, 2, 0, 1, 8));
    lc_ring_put(&outs[0], &(struct lc_stamp){.enter = 1}, 2, 0, 8);
    lc_ring_put(&outs[0], &(struct lc_stamp){.enter = 2}, 2, 0, 8);
    assert_int_equal(lc_match_take(&match, 0, 2, 0, 2, 8)->stamp.enter, 2);
    assert_int_equal(match.counts.absent, 0 + 1);
    assert_int_equal(match.counts.late, 0 + 0 + 1);
    teardown(&match);
}

/* A ghost of another size is detected, passed over and at last dropped; the stream goes on in step.
 */
static void mispaired(void **state) {
    (void)state;
    struct lc_matcher match;
    setup(&match);
    lc_ring_put(&outs[0], &(struct lc_stamp){.enter = 99}, 2, 0, 4);
    for (uint64_t i = 1; i <= 20; i++) {
        lc_ring_put(&outs[0], &(struct lc_stamp){.enter = i}, 2, 0, 8);
        assert_int_equal(lc_match_take(&match, 0, 2, 0, i, 8)->stamp.enter, i);
    }
    assert_int_equal(match.counts.mispaired, 8);
    teardown(&match);
}

/* With the word "speed" many receives, and how long they take (tests/figure.py); else few. */
static bool timed;

/* A sender far ahead, every message with a tag of its own, read last first: the stash is not
 * searched. (A list takes several seconds.) */
static void reverse_tags(void **state) {
    (void)state;
    const int many = timed ? 60000 : 3000;
    struct lc_matcher match;
    struct timespec begin, end;
    setup(&match);
    for (int i = 0; i < many; i++)
        lc_ring_put(&outs[0], &(struct lc_stamp){.enter = (uint64_t)i}, 2, i, 8);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = many - 1; i >= 0; i--)
        assert_int_equal(lc_match_take(&match, 0, 2, i, UINT64_MAX, 8)->stamp.enter, i);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (timed)
        printf("figure reverse_tags %.4f s\n", seconds);
    assert_int_equal(match.counts.taken, many);
    assert_int_equal(match.sources[0].n_streams, 0);
    teardown(&match);
}

/* Many receives are open, of a few streams: the next receive of a stream is told its place,
 * whatever closes; at the end no stream is left over. */
static void many_open(void **state) {
    (void)state;
    enum { MANY = 200, STREAMS = 3 };
    static struct lc_recv recv[MANY];
    struct lc_matcher match;
    uint32_t open[STREAMS] = {0};
    setup(&match);
    for (uint64_t i = 0; i < 2 * MANY; i++) /* i-th message: stream i % STREAMS */
        lc_ring_put(&outs[0], &(struct lc_stamp){.enter = i}, 2, (int32_t)(i % STREAMS), 8);
    for (int i = 0; i < MANY; i++) {
        int32_t tag = i % 5 % STREAMS;
        const struct lc_ring_entry *entry = lc_match_look(&match, 0, 2, tag);
        assert_non_null(entry);
        assert_int_equal(entry->stamp.enter, (uint64_t)open[tag] * STREAMS + (uint64_t)tag);
        assert_int_equal(lc_match_ahead(&match, 0, 3, tag), 0);
        recv[i] = (struct lc_recv){.source = 0, .tag = tag, .context = 2, .order = (uint64_t)i};
        lc_match_open(&match, &recv[i]);
        open[tag]++;
    }
    assert_true(match.sources[0].counted);
    for (int k = 0; k < MANY; k++) { /* in some order */
        struct lc_recv *r = &recv[k * 67 % MANY];
        lc_match_close(&match, r);
        assert_non_null(lc_match_take(&match, 0, 2, r->tag, r->order, 8));
        open[r->tag]--;
        assert_int_equal(match.sources[0].n_open, MANY - 1 - k);
    }
    assert_false(match.sources[0].counted);
    while (lc_match_take_from(&match, 0, 2, 0, 0) || lc_match_take_from(&match, 0, 2, 1, 0) ||
           lc_match_take_from(&match, 0, 2, 2, 0)) {
    }
    assert_int_equal(match.sources[0].n_streams, 0);
    teardown(&match);
}

/* A sender of many messages takes some back, wherever they are by then. */
static void many_cancelled(void **state) {
    (void)state;
    enum { MANY = 5000 };
    static struct lc_ring_entry *sent[MANY];
    struct lc_matcher match;
    setup(&match);
    for (uint64_t i = 0; i < MANY; i++) {
        sent[i] = lc_ring_put(&outs[0], &(struct lc_stamp){.enter = i}, 2, 0, 8);
        if (i % 7 == 3)
            lc_ring_make_void(&outs[0], sent[i], sent[i]->seq);
    }
    /* the last of all: everything is stashed */
    struct lc_recv recv[1] = {{.source = LC_ANY, .tag = 0, .context = 2, .order = 1}};
    lc_match_open(&match, &recv[0]);
    lc_match_drain(&match, 0);
    for (uint64_t i = 0; i < MANY; i += 7)
        lc_ring_make_void(&outs[0], sent[i], sent[i]->seq);
    lc_match_close(&match, &recv[0]);
    for (uint64_t i = 0; i < MANY; i++)
        if (i % 7 != 3 && i % 7 != 0)
            assert_int_equal(lc_match_take(&match, 0, 2, 0, i + 2, 8)->stamp.enter, i);
    assert_int_equal(match.counts.absent, 0);
    assert_int_equal(match.sources[0].n_streams, 0);
    teardown(&match);
}

enum order { FORWARD, REVERSE, RANDOM };
enum pattern { SAME, TAGS, ANY_SOURCE, ANY_TAG, ANY_BOTH };

static uint64_t n_asked;

static int status_counted(void *user, const struct lc_recv *recv, int32_t *source, int32_t *tag) {
    n_asked++;
    return status(user, recv, source, tag);
}

/* n receives are open, whose messages have all been sent; they are completed in some order. Returns
 * seconds of the processor. */
static double pending(int n, enum order in_order, enum pattern pattern) {
    static const struct lc_match_calls counted = {status_counted, pull, reply};
    struct receive *all = calloc((size_t)n, sizeof *all);
    int *which = calloc((size_t)n, sizeof *which);
    struct lc_matcher match;
    struct timespec begin, end;
    setup(&match);
    match.calls = &counted;
    n_asked = 0;
    srand(1);
    for (int i = 0; i < n; i++) {
        which[i] = in_order == REVERSE ? n - 1 - i : i;
        int other = rand() % (i + 1);
        if (in_order == RANDOM) {
            which[i] = which[other];
            which[other] = i;
        }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < n; i++) {
        struct receive *r = &all[i];
        r->got = (struct message){.source = (uint32_t)i % SOURCES,
                                  .context = 2,
                                  .tag = pattern == SAME || pattern == ANY_SOURCE ? 0 : i % 3000};
        r->matched = true;
        bool any_source = pattern == ANY_SOURCE || pattern == ANY_BOTH;
        r->recv = (struct lc_recv){.source = any_source ? LC_ANY : (int32_t)r->got.source,
                                   .tag = pattern >= ANY_TAG ? LC_ANY : r->got.tag,
                                   .context = 2,
                                   .order = (uint64_t)i + 1};
        lc_match_open(&match, &r->recv);
        lc_ring_put(&outs[r->got.source], &(struct lc_stamp){.enter = (uint64_t)i}, 2, r->got.tag,
                    8);
    }
    for (int i = 0; i < n; i++) {
        struct receive *r = &all[which[i]];
        lc_match_close(&match, &r->recv);
        const struct lc_ring_entry *entry =
            lc_match_take(&match, r->got.source, 2, r->got.tag, r->recv.order, 8);
        assert_non_null(entry);
        assert_int_equal(entry->stamp.enter, which[i]);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_int_equal(match.counts.unsure, 0);
    assert_true(n_asked <= (uint64_t)n); /* each wildcard at most once */
    for (uint32_t s = 0; s < SOURCES; s++) {
        assert_int_equal(match.sources[s].n_open, 0);
        assert_int_equal(match.sources[s].n_streams, 0);
    }
    assert_int_equal(match.n_wildcards + match.n_patterns, 0);
    teardown(&match);
    free(all);
    free(which);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

/* Whatever order they are completed in, each costs about the same (a list: hours). Told is the
 * worst. */
static void many_pending(void **state) {
    (void)state;
    const int many = timed ? 100000 : 5000;
    double worst = 0;
    for (int in_order = FORWARD; in_order <= RANDOM; in_order++)
        for (int pattern = SAME; pattern <= ANY_BOTH; pattern++) {
            double seconds = pending(many, (enum order)in_order, (enum pattern)pattern);
            worst = seconds > worst ? seconds : worst;
        }
    if (timed)
        printf("figure many_pending %.4f s\n", worst);
}

/* Entries that come after their messages: receives of few streams, completed in any order, claim
 * their places; entries come in the order of the sends, at any time after them. */
static void entries_later(void **state) {
    enum { ROUNDS = 20000, STREAMS = 3, AT_ONCE = 16, MOST_TURNS = 100 * ROUNDS };
    struct {
        struct lc_recv recv;
        struct lc_stashed *item;
        uint64_t number; /* of its message, and its size */
        bool posted, claimed;
    } all[AT_ONCE] = {0}, *r;
    uint64_t sent[ROUNDS], order = 0, n_sent = 0, n_come = 0, n_claimed = 0, n_read = 0;
    uint32_t streams[ROUNDS];
    struct lc_matcher match;
    (void)state;
    setup(&match);
    match.sources[0].messages = true;
    srand((unsigned)first_seed(11));
    for (int turns = 0; n_read < ROUNDS; turns++) {
        assert_true(turns < MOST_TURNS); /* more: a place stays empty */
        r = &all[rand() % AT_ONCE];
        if (!r->posted && n_sent < ROUNDS) { /* the receive is posted, its message is sent */
            uint32_t stream = (uint32_t)rand() % STREAMS;
            r->recv = (struct lc_recv){.source = 0,
                                       .tag = (int32_t)(stream % 2),
                                       .context = 2 + stream / 2,
                                       .order = ++order};
            lc_match_open(&match, &r->recv);
            r->posted = true;
            r->claimed = false;
            r->number = sent[n_sent] = n_sent + 1;
            streams[n_sent++] = stream;
        } else if (r->posted && !r->claimed && rand() % 2) { /* completed */
            lc_match_close(&match, &r->recv);
            r->item = lc_match_claim(&match, 0, r->recv.context, r->recv.tag, r->recv.order,
                                     (uint32_t)r->number);
            assert_non_null(r->item);
            r->claimed = true;
            n_claimed++;
        } else if (r->claimed && r->posted && !r->item->pending) {
            assert_int_equal(r->item->entry.stamp.enter, r->number);
            assert_int_equal(r->item->n_extra, r->number % 3);
            lc_match_release(&match, r->item);
            r->posted = false;
            n_read++;
        }
        if (n_come < n_sent && rand() % 3 == 0) {
            uint32_t stream = streams[n_come];
            uint64_t extra[2] = {0};
            struct lc_ring_entry entry = {.stamp.enter = sent[n_come],
                                          .tag = (int32_t)(stream % 2),
                                          .bytes = (uint32_t)sent[n_come]};
            atomic_store(&entry.context, 2 + stream / 2);
            lc_match_add(&match, 0, &entry, extra, (uint32_t)(sent[n_come] % 3));
            n_come++;
        }
    }
    assert_int_equal(match.counts.taken, ROUNDS);
    assert_int_equal(match.counts.mispaired + match.counts.absent + match.counts.unsure, 0);
    assert_int_equal(match.sources[0].n_streams + match.sources[0].n_stash, 0);
    teardown(&match);
}

/* A place that is given up: what comes there is nobody's, the next entry has its own place. */
static void given_up(void **state) {
    struct lc_matcher match;
    (void)state;
    setup(&match);
    match.sources[0].messages = true;
    struct lc_stashed *first = lc_match_claim(&match, 0, 2, 1, UINT64_MAX, 7);
    struct lc_stashed *second = lc_match_claim(&match, 0, 2, 1, UINT64_MAX, 8);
    assert_true(first->pending && second->pending && first != second);
    lc_match_release(&match, first);
    for (uint32_t bytes = 7; bytes < 9; bytes++) {
        struct lc_ring_entry entry = {.stamp.enter = bytes, .tag = 1, .bytes = bytes};
        atomic_store(&entry.context, 2);
        lc_match_add(&match, 0, &entry, NULL, 0);
    }
    assert_false(second->pending);
    assert_int_equal(second->entry.stamp.enter, 8);
    lc_match_release(&match, second);
    assert_int_equal(match.counts.absent, 1);
    assert_int_equal(match.counts.late, 1);
    assert_int_equal(match.sources[0].n_streams, 0);
    teardown(&match);
}

static void arrives(struct lc_matcher *match, uint32_t number) {
    struct lc_ring_entry entry = {
        .stamp = {.enter = 100 + number, .node = number}, .tag = 1, .bytes = number};
    atomic_store(&entry.context, 2);
    lc_match_add(match, 0, &entry, NULL, 0);
}

/* Whoever only looks at an entry is told of it when it arrives, and takes it from nobody: it is the
 * one behind those of the receives that are open. */
static void glances(void **state) {
    struct lc_recv open = {.source = 0, .tag = 1, .context = 2, .order = 1};
    struct lc_glance glance = {0}, other = {0};
    struct lc_matcher match;
    (void)state;
    setup(&match);
    match.sources[0].messages = true;
    lc_match_open(&match, &open);
    assert_true(lc_match_glance(&match, 0, 2, 1, &glance));
    assert_non_null(glance.item);
    assert_false(lc_match_glance(&match, 0, 2, 1, &other));
    arrives(&match, 7);
    assert_non_null(glance.item);
    arrives(&match, 8);
    assert_null(glance.item);
    assert_int_equal(glance.enter, 108);
    assert_int_equal(glance.node, 8);
    assert_true(lc_match_glance(&match, 0, 2, 1, &other)); /* it is there, and stays */
    assert_null(other.item);
    assert_int_equal(other.enter, 108);
    struct lc_stashed *next = lc_match_claim(&match, 0, 2, 1, UINT64_MAX, 8);
    lc_match_close(&match, &open);
    struct lc_stashed *first = lc_match_claim(&match, 0, 2, 1, open.order, 7);
    assert_int_equal(first->entry.stamp.enter, 107);
    assert_int_equal(next->entry.stamp.enter, 108);
    lc_match_release(&match, first);
    lc_match_release(&match, next);

    struct lc_stashed *claimed = lc_match_claim(&match, 0, 2, 1, UINT64_MAX, 9);
    assert_true(lc_match_glance_at(claimed, &glance));
    lc_match_look_away(&glance);
    arrives(&match, 9);
    assert_int_equal(glance.enter, 108); /* not told */
    lc_match_release(&match, claimed);
    assert_int_equal(match.counts.taken, 3);
    assert_int_equal(match.counts.mispaired + match.counts.absent + match.counts.unsure, 0);
    assert_int_equal(match.sources[0].n_streams + match.sources[0].n_stash, 0);
    teardown(&match);
}

int main(int argc, char **argv) {
    const struct CMUnitTest speed[] = {cmocka_unit_test(reverse_tags),
                                       cmocka_unit_test(many_pending)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_receives), cmocka_unit_test(wildcard_receives),
        cmocka_unit_test(cancelled_send), cmocka_unit_test(late_entry),
        cmocka_unit_test(mispaired),      cmocka_unit_test(reverse_tags),
        cmocka_unit_test(many_open),      cmocka_unit_test(many_cancelled),
        cmocka_unit_test(many_pending),   cmocka_unit_test(entries_later),
        cmocka_unit_test(given_up),       cmocka_unit_test(glances)};
    timed = argc > 1 && strcmp(argv[1], "speed") == 0;
    if (timed)
        return cmocka_run_group_tests(speed, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
