#include "piggyback/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

enum {
    LC_MATCH_PASSES = 8,
    LC_MATCH_LOOKS = 64,
    LC_MATCH_DEBTS = 4096,
    LC_MATCH_WALK = 1024,
    LC_MATCH_BUCKETS = 16
};

enum lc_err lc_match_init(struct lc_matcher *match, uint32_t n_sources,
                          const struct lc_match_calls *calls, void *user) {
    memset(match, 0, sizeof *match);
    match->calls = calls;
    match->user = user;
    match->n_sources = n_sources;
    return lc_alloc(&match->sources, n_sources, sizeof *match->sources);
}

static void free_list(struct lc_stashed *item) {
    while (item) {
        struct lc_stashed *next = item->next;
        free(item);
        item = next;
    }
}

static void free_streams(struct lc_stream *stream) {
    while (stream) {
        struct lc_stream *next = stream->next;
        free_list(stream->first);
        free(stream);
        stream = next;
    }
}

void lc_match_free(struct lc_matcher *match) {
    for (uint32_t i = 0; match->sources && i < match->n_sources; i++) {
        struct lc_source *s = &match->sources[i];
        for (uint32_t b = 0; b < s->n_buckets; b++)
            free_streams(s->streams[b]);
        free(s->streams);
        free_list(s->taken);
        free(s->void_keys);
        free(s->posts.owners);
    }
    free_list(match->spare);
    free_streams(match->spare_streams);
    free(match->sources);
    memset(match, 0, sizeof *match);
}

static bool is_void(struct lc_matcher *match, struct lc_source *s,
                    const struct lc_ring_entry *entry) {
    uint64_t key = (uint64_t)entry->context << 32 | (uint32_t)entry->tag;
    for (uint32_t i = 0; i < s->n_void_keys; i++)
        if (s->void_keys[i] == key) {
            memmove(s->void_keys + i, s->void_keys + i + 1,
                    (--s->n_void_keys - i) * sizeof *s->void_keys);
            match->counts.late++;
            return true;
        }
    return false;
}

/* ---- the stash */

static struct lc_stream **place_of(struct lc_source *s, uint32_t context, int32_t tag) {
    uint64_t mix = lc_hash_key((uint64_t)context << 32 | (uint32_t)tag);
    struct lc_stream **at = &s->streams[mix >> 32 & (s->n_buckets - 1)];
    while (*at && ((*at)->context != context || (*at)->tag != tag))
        at = &(*at)->next;
    return at;
}

static struct lc_stream *find_stream(struct lc_source *s, uint32_t context, int32_t tag) {
    return s->n_streams ? *place_of(s, context, tag) : NULL;
}

static bool grow_streams(struct lc_source *s) {
    struct lc_source old = *s;
    uint32_t n = old.n_buckets ? 2 * old.n_buckets : LC_MATCH_BUCKETS;
    if (lc_alloc(&s->streams, n, sizeof(struct lc_stream *)) != LC_OK) {
        s->streams = old.streams;
        return old.n_buckets > 0; /* longer lists then */
    }
    s->n_buckets = n;
    for (uint32_t b = 0; b < old.n_buckets; b++)
        for (struct lc_stream *stream = old.streams[b], *next; stream; stream = next) {
            next = stream->next;
            struct lc_stream **at = place_of(s, stream->context, stream->tag);
            stream->next = NULL;
            *at = stream;
        }
    free(old.streams);
    return true;
}

/* The stream, made if it is not there; NULL: no memory. */
static struct lc_stream *make_stream(struct lc_matcher *match, struct lc_source *s,
                                     uint32_t context, int32_t tag) {
    if (s->n_streams >= s->n_buckets && !grow_streams(s))
        return NULL;
    struct lc_stream **at = place_of(s, context, tag), *stream = *at;
    if (stream)
        return stream;
    stream = match->spare_streams;
    if (stream)
        match->spare_streams = stream->next;
    else
        stream = malloc(sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (struct lc_stream){.context = context, .tag = tag};
    *at = stream;
    s->n_streams++;
    return stream;
}

static void stash(struct lc_matcher *match, struct lc_source *s, struct lc_ring_entry *origin,
                  const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra) {
    struct lc_stream *stream = make_stream(match, s, entry->context, entry->tag);
    struct lc_stashed *item = n_extra || !stream ? NULL : match->spare;
    if (item)
        match->spare = item->next;
    else if (stream)
        item = malloc(sizeof *item + n_extra * sizeof *item->extra);
    if (!item) {
        match->counts.absent++;
        return;
    }
    item->next = NULL;
    item->stream = stream;
    item->origin = origin;
    memcpy(&item->entry, entry, sizeof *entry);
    item->passed = 0;
    item->n_extra = n_extra;
    if (n_extra)
        memcpy(item->extra, extra, n_extra * sizeof *extra);
    *(stream->last ? &stream->last->next : &stream->first) = item;
    stream->last = item;
    s->n_stash++;
}

/* A stream of which nothing is stashed or open any more. */
static void drop_stream(struct lc_matcher *match, struct lc_source *s, struct lc_stream *stream) {
    if (stream->first || stream->n_open)
        return;
    *place_of(s, stream->context, stream->tag) = stream->next;
    s->n_streams--;
    stream->next = match->spare_streams;
    match->spare_streams = stream;
}

/* Takes `item`, which comes after `before` (NULL: the first), out of its stream. */
static void unlink_item(struct lc_matcher *match, struct lc_source *s, struct lc_stashed *before,
                        struct lc_stashed *item) {
    struct lc_stream *stream = item->stream;
    *(before ? &before->next : &stream->first) = item->next;
    if (stream->last == item)
        stream->last = before;
    item->next = NULL;
    s->n_stash--;
    drop_stream(match, s, stream);
}

static void release(struct lc_matcher *match, struct lc_stashed *item) {
    if (!item)
        return;
    if (item->n_extra) {
        free(item);
        return;
    }
    item->next = match->spare;
    match->spare = item;
}

/* ---- open receives */

/* One receive is no longer open, or no longer counted. */
static void uncount(struct lc_matcher *match, struct lc_source *s, const struct lc_recv *recv) {
    struct lc_stream *stream = find_stream(s, recv->context, recv->tag);
    if (!stream || !stream->n_open)
        return;
    stream->n_open--;
    drop_stream(match, s, stream);
}

static bool count_one(struct lc_matcher *match, struct lc_source *s, const struct lc_recv *recv) {
    struct lc_stream *stream = make_stream(match, s, recv->context, recv->tag);
    if (stream)
        stream->n_open++;
    return stream != NULL;
}

/* From LC_MATCH_OPEN_SCAN open receives on, which cost too much to look through, streams count
 * theirs, until none is open. */
static void count_open(struct lc_matcher *match, struct lc_source *s, const struct lc_recv *recv) {
    if (s->counted) {
        if (count_one(match, s, recv))
            return;
    } else if (s->n_open == LC_MATCH_OPEN_SCAN + 1) {
        s->counted = true;
        for (const struct lc_recv *r = s->first; r && s->counted; r = r->next)
            s->counted = count_one(match, s, r);
        if (s->counted)
            return;
    } else {
        return;
    }
    s->counted = false; /* no memory */
    for (const struct lc_recv *r = s->first; r; r = r->next)
        uncount(match, s, r);
}

void lc_match_opened(struct lc_matcher *match, struct lc_source *s, const struct lc_recv *recv) {
    if (s->n_open > LC_MATCH_OPEN_SCAN)
        count_open(match, s, recv);
}

void lc_match_closed(struct lc_matcher *match, struct lc_source *s, const struct lc_recv *recv) {
    uncount(match, s, recv);
    s->counted = s->n_open > 0;
}

void lc_match_add(struct lc_matcher *match, uint32_t source, const struct lc_ring_entry *entry,
                  const uint64_t *extra, uint32_t n_extra) {
    struct lc_source *s = &match->sources[source];
    if (entry->context == LC_CONTEXT_REPLY)
        match->calls->reply(match->user, source, entry);
    else if (entry->context == LC_CONTEXT_VOID)
        match->counts.void_entries++;
    else if (!is_void(match, s, entry))
        stash(match, s, NULL, entry, extra, n_extra);
}

/* Moves the next entry of the ring to the stash, or sees to it otherwise; false: nothing there. */
static bool fetch(struct lc_matcher *match, uint32_t source) {
    struct lc_source *s = &match->sources[source];
    if (s->messages)
        return match->calls->pull(match->user, source);
    struct lc_ring_entry *entry = lc_ring_peek(&s->ring);
    if (!entry)
        return false;
    uint32_t context = atomic_load_explicit(&entry->context, memory_order_relaxed);
    if (context == LC_CONTEXT_REPLY)
        match->calls->reply(match->user, source, entry);
    else if (context == LC_CONTEXT_VOID)
        match->counts.void_entries++;
    else if (!is_void(match, s, entry))
        stash(match, s, entry, entry, NULL, 0);
    lc_ring_advance(&s->ring);
    return true;
}

void lc_match_drain(struct lc_matcher *match, uint32_t source) {
    struct lc_source *s = &match->sources[source];
    release(match, s->taken);
    s->taken = NULL;
    int looks = s->messages ? 2 : 0; /* MPI may need to be asked more than once */
    while (fetch(match, source) || looks-- > 0) {
    }
}

/* A cancelled send made its entry void after it was stashed (and the segment is not in use again).
 */
static bool gone(const struct lc_stashed *item) {
    const struct lc_ring_entry *o = item->origin;
    return o && atomic_load_explicit(&o->seq, memory_order_relaxed) == item->entry.seq &&
           atomic_load_explicit(&o->context, memory_order_relaxed) == LC_CONTEXT_VOID;
}

/* The next entry of the stream behind `*before` in the stash, which grows from the ring. */
static struct lc_stashed *next_of_stream(struct lc_matcher *match, uint32_t source,
                                         uint32_t context, int32_t tag, struct lc_stashed **before,
                                         int looks) {
    struct lc_source *s = &match->sources[source];
    for (;;) {
        struct lc_stream *stream = *before ? NULL : find_stream(s, context, tag);
        struct lc_stashed *item = *before ? (*before)->next : stream ? stream->first : NULL;
        if (!item) {
            if (fetch(match, source))
                continue;
            if (looks-- <= 0 || (!s->messages && lc_ring_is_off(&s->ring)))
                return NULL;
            continue;
        }
        if (!gone(item))
            return item;
        unlink_item(match, s, *before, item);
        release(match, item);
        match->counts.void_entries++;
    }
}

/* Open receives posted before `order` that belong to the stream. */
static uint32_t position(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag,
                         uint64_t order, bool *unsure) {
    uint32_t earlier = 0;
    struct lc_source *s = &match->sources[source];
    struct lc_stream *stream = s->counted ? find_stream(s, context, tag) : NULL;
    if (s->counted && order == UINT64_MAX)
        earlier = stream ? stream->n_open : 0;
    else
        for (struct lc_recv *r = s->first; r && r->order < order; r = r->next)
            earlier += r->context == context && r->tag == tag;
    for (struct lc_recv *r = match->wildcard_first; r && r->order < order; r = r->next) {
        int32_t is_source, is_tag;
        if (r->context != context || (r->source != LC_ANY && r->source != (int32_t)source) ||
            (r->tag != LC_ANY && r->tag != tag))
            continue;
        if (match->calls->status(match->user, r, &is_source, &is_tag))
            earlier += is_source == (int32_t)source && is_tag == tag;
        else
            *unsure = true;
    }
    return earlier;
}

/* Too many to look through before every receive. */
static bool has_many_open(const struct lc_matcher *match, const struct lc_source *s) {
    return match->n_wildcards > LC_MATCH_OPEN_SCAN ||
           (s->n_open > LC_MATCH_OPEN_SCAN && !s->counted);
}

uint32_t lc_match_ahead(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag) {
    struct lc_source *s = &match->sources[source];
    if (has_many_open(match, s))
        return LC_POSTS_UNSURE;
    bool unsure = false;
    uint32_t open = position(match, source, context, tag, UINT64_MAX, &unsure), here = 0;
    struct lc_stream *stream = find_stream(s, context, tag);
    for (struct lc_stashed *item = stream ? stream->first : NULL; item && here <= open;
         item = item->next)
        here += !gone(item);
    if (unsure || here > open || open - here >= LC_POSTS_UNSURE)
        return LC_POSTS_UNSURE;
    return open - here;
}

static void owe(struct lc_matcher *match, struct lc_source *s, uint32_t context, int32_t tag) {
    match->counts.absent++;
    if (!s->messages && lc_ring_is_off(&s->ring))
        return;
    if (s->n_void_keys == s->cap_void_keys) {
        uint32_t cap = s->cap_void_keys ? 2 * s->cap_void_keys : 8;
        uint64_t *void_keys =
            cap <= LC_MATCH_DEBTS ? realloc(s->void_keys, cap * sizeof *void_keys) : NULL;
        if (!void_keys)
            return;
        s->void_keys = void_keys;
        s->cap_void_keys = cap;
    }
    s->void_keys[s->n_void_keys++] = (uint64_t)context << 32 | (uint32_t)tag;
}

const struct lc_ring_entry *lc_match_take_slow(struct lc_matcher *match, uint32_t source,
                                               uint32_t context, int32_t tag, uint64_t order,
                                               uint32_t bytes) {
    struct lc_source *s = &match->sources[source];
    struct lc_stashed *before = NULL, *item;
    bool unsure = false;
    release(match, s->taken);
    s->taken = NULL;
    uint32_t skip = position(match, source, context, tag, order, &unsure);
    match->counts.unsure += unsure;
    while ((item = next_of_stream(match, source, context, tag, &before, LC_MATCH_LOOKS)) && skip--)
        before = item;
    if (item && item->entry.bytes != bytes && bytes != (uint32_t)LC_ANY_BYTES) {
        /* Sizes differ: take the next one of the stream that fits. What is passed over too often is
         * a ghost. */
        match->counts.mispaired++;
        while (item && item->entry.bytes != bytes) {
            if (++item->passed >= LC_MATCH_PASSES) {
                unlink_item(match, s, before, item);
                release(match, item);
            } else {
                before = item;
            }
            item = next_of_stream(match, source, context, tag, &before, 0);
        }
        if (!item)
            return NULL;
    }
    if (!item) {
        owe(match, s, context, tag);
        return NULL;
    }
    unlink_item(match, s, before, item);
    s->taken = item;
    match->counts.taken++;
    return &item->entry;
}

const struct lc_ring_entry *lc_match_look_slow(struct lc_matcher *match, uint32_t source,
                                               uint32_t context, int32_t tag) {
    struct lc_source *s = &match->sources[source];
    if (has_many_open(match, s))
        return NULL;
    bool unsure = false;
    uint32_t skip = position(match, source, context, tag, UINT64_MAX, &unsure);
    if (unsure || skip > LC_MATCH_WALK)
        return NULL;
    struct lc_stashed *before = NULL, *item;
    int looks = s->messages ? 2 : 0; /* MPI may need to be asked more than once */
    while ((item = next_of_stream(match, source, context, tag, &before, looks)) && skip--)
        before = item;
    return item ? &item->entry : NULL;
}

const struct lc_stashed *lc_match_take_from(struct lc_matcher *match, uint32_t source,
                                            uint32_t context, int32_t tag, int looks) {
    struct lc_source *s = &match->sources[source];
    struct lc_stashed *before = NULL;
    release(match, s->taken);
    s->taken = NULL;
    struct lc_stashed *item = next_of_stream(match, source, context, tag, &before, looks);
    if (item == NULL)
        return NULL;
    unlink_item(match, s, before, item);
    s->taken = item;
    return item;
}
