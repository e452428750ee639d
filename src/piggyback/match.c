#include "piggyback/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "piggyback/arrivals.h"
#include "piggyback/open_receives.h"
#include "piggyback/streams.h"

enum { LC_MATCH_PASSES = 8, LC_MATCH_LOOKS = 64, LC_MATCH_VOID_KEYS = 4096 };

enum lc_err lc_match_init(struct lc_matcher *match, uint32_t n_sources,
                          const struct lc_match_calls *calls, void *user) {
    memset(match, 0, sizeof *match);
    match->calls = calls;
    match->user = user;
    match->n_sources = n_sources;
    return lc_alloc(&match->sources, n_sources, sizeof *match->sources);
}

void lc_match_free(struct lc_matcher *match) {
    if (match->sources) {
        lc_streams_free(match);
        lc_patterns_free(match);
    }
    for (uint32_t i = 0; match->sources && i < match->n_sources; i++) {
        free(match->sources[i].void_keys);
        free(match->sources[i].posts.owners);
        free(match->sources[i].posts.got);
    }
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

void lc_match_add(struct lc_matcher *match, uint32_t source, const struct lc_ring_entry *entry,
                  const uint64_t *extra, uint32_t n_extra) {
    struct lc_source *s = &match->sources[source];
    if (entry->context == LC_CONTEXT_REPLY)
        match->calls->reply(match->user, source, entry);
    else if (entry->context == LC_CONTEXT_VOID)
        match->counts.void_entries++;
    else if (!is_void(match, s, entry))
        lc_stash_add(match, s, NULL, entry, extra, n_extra);
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
        lc_stash_add(match, s, entry, entry, NULL, 0);
    lc_ring_advance(&s->ring);
    return true;
}

void lc_match_drain(struct lc_matcher *match, uint32_t source) {
    struct lc_source *s = &match->sources[source];
    lc_stash_release(match, s->taken);
    s->taken = NULL;
    int looks = s->messages ? 2 : 0; /* MPI may need to be asked more than once */
    while (fetch(match, source) || looks-- > 0) {
    }
}

static void drop_void(struct lc_matcher *match, struct lc_source *s, struct lc_stashed *item) {
    lc_stash_unlink(match, s, item);
    lc_stash_release(match, item);
    match->counts.void_entries++;
}

/* The next entry of the stream after `before` (NULL: the first) in the stash, which grows from the
 * ring. */
static struct lc_stashed *next_of(struct lc_matcher *match, uint32_t source, uint32_t context,
                                  int32_t tag, struct lc_stashed *before, int looks) {
    struct lc_source *s = &match->sources[source];
    for (;;) {
        struct lc_stream *stream = before ? NULL : lc_stream_find(s, context, tag);
        struct lc_stashed *item = before ? before->next : stream ? stream->first : NULL;
        if (!item) {
            if (looks >= 0 && fetch(match, source))
                continue;
            if (looks-- <= 0 || (!s->messages && lc_ring_is_off(&s->ring)))
                return NULL;
            continue;
        }
        if (!lc_stash_is_void(item))
            return item;
        drop_void(match, s, item);
    }
}

struct lc_stashed *lc_match_nth(struct lc_matcher *match, uint32_t source, uint32_t context,
                                int32_t tag, uint32_t k, int looks) {
    struct lc_source *s = &match->sources[source];
    struct lc_stashed *item = NULL;
    struct lc_stream *stream = lc_stream_find(s, context, tag);
    if (k <= LC_MATCH_OPEN_SCAN && !(stream && stream->indexed)) {
        while ((item = next_of(match, source, context, tag, item, looks)) && k--) {
        }
        return item;
    }
    for (;;) {
        lc_stash_sweep(match, s);
        stream = lc_stream_find(s, context, tag);
        if (!stream || stream->n_items <= k) {
            if (fetch(match, source))
                continue;
            if (looks-- <= 0 || (!s->messages && lc_ring_is_off(&s->ring)))
                return NULL;
            continue;
        }
        item = lc_stash_at(stream, k);
        if (!lc_stash_is_void(item))
            return item;
        drop_void(match, s, item);
    }
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
    uint32_t open = lc_match_position(match, source, context, tag, UINT64_MAX, &unsure), here = 0;
    lc_stash_sweep(match, s);
    const struct lc_stream *stream = lc_stream_find(s, context, tag);
    if (stream)
        here = stream->n_items;
    if (unsure || here > open || open - here >= LC_POSTS_UNSURE)
        return LC_POSTS_UNSURE;
    return open - here;
}

static void add_void_key(struct lc_matcher *match, struct lc_source *s, uint32_t context,
                         int32_t tag) {
    match->counts.absent++;
    if (!s->messages && lc_ring_is_off(&s->ring))
        return;
    if (s->n_void_keys == s->cap_void_keys) {
        uint32_t cap = s->cap_void_keys ? 2 * s->cap_void_keys : 8;
        uint64_t *void_keys =
            cap <= LC_MATCH_VOID_KEYS ? realloc(s->void_keys, cap * sizeof *void_keys) : NULL;
        if (!void_keys)
            return;
        s->void_keys = void_keys;
        s->cap_void_keys = cap;
    }
    s->void_keys[s->n_void_keys++] = (uint64_t)context << 32 | (uint32_t)tag;
}

/* Sizes differ: takes the next one of the stream that fits. What is passed over too often
 * belongs to no receive. */
struct lc_stashed *lc_match_fitting(struct lc_matcher *match, uint32_t source,
                                    struct lc_stashed *item, uint32_t bytes) {
    struct lc_source *s = &match->sources[source];
    uint32_t context = item->entry.context;
    int32_t tag = item->entry.tag;
    match->counts.mispaired++;
    while (item && item->entry.bytes != bytes) {
        struct lc_stashed *before = item;
        if (++item->passed >= LC_MATCH_PASSES) {
            before = item->previous;
            lc_stash_unlink(match, s, item);
            lc_stash_release(match, item);
        }
        item = next_of(match, source, context, tag, before, 0);
    }
    return item;
}

const struct lc_ring_entry *lc_match_take_slow(struct lc_matcher *match, uint32_t source,
                                               uint32_t context, int32_t tag, uint64_t order,
                                               uint32_t bytes) {
    struct lc_source *s = &match->sources[source];
    bool unsure = false;
    lc_stash_release(match, s->taken);
    s->taken = NULL;
    uint32_t place = lc_match_position(match, source, context, tag, order, &unsure);
    match->counts.unsure += unsure;
    struct lc_stashed *item = lc_match_nth(match, source, context, tag, place, LC_MATCH_LOOKS);
    if (item && item->entry.bytes != bytes && bytes != (uint32_t)LC_ANY_BYTES) {
        item = lc_match_fitting(match, source, item, bytes);
        if (!item)
            return NULL;
    }
    if (!item) {
        add_void_key(match, s, context, tag);
        return NULL;
    }
    lc_stash_unlink(match, s, item);
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
    uint32_t place = lc_match_position(match, source, context, tag, UINT64_MAX, &unsure);
    if (unsure)
        return NULL;
    int looks = s->messages ? 2 : 0; /* MPI may need to be asked more than once */
    struct lc_stashed *item = lc_match_nth(match, source, context, tag, place, looks);
    return item ? &item->entry : NULL;
}

const struct lc_stashed *lc_match_take_from(struct lc_matcher *match, uint32_t source,
                                            uint32_t context, int32_t tag, int looks) {
    struct lc_source *s = &match->sources[source];
    lc_stash_release(match, s->taken);
    s->taken = NULL;
    struct lc_stashed *item = next_of(match, source, context, tag, NULL, looks);
    if (item == NULL)
        return NULL;
    lc_stash_unlink(match, s, item);
    s->taken = item;
    return item;
}
