/* The stash: entries that were read from a source before their receive asked for them, by stream.
 * A stream is a list; where one has many entries and a receive far after the first is completed,
 * they get an index besides (order_tree.h), until the stream is empty. */
#include "piggyback/streams.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

static struct lc_stream **place_of(struct lc_source *s, uint32_t context, int32_t tag) {
    uint64_t mix = lc_hash_key((uint64_t)context << 32 | (uint32_t)tag);
    struct lc_stream **at = &s->streams[mix >> 32 & (s->n_buckets - 1)];
    while (*at && ((*at)->context != context || (*at)->tag != tag))
        at = &(*at)->next;
    return at;
}

struct lc_stream *lc_stream_find(struct lc_source *s, uint32_t context, int32_t tag) {
    return s->n_streams ? *place_of(s, context, tag) : NULL;
}

static bool grow(struct lc_source *s) {
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

struct lc_stream *lc_stream_make(struct lc_matcher *match, struct lc_source *s, uint32_t context,
                                 int32_t tag) {
    if (s->n_streams >= s->n_buckets && !grow(s))
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

void lc_stream_drop(struct lc_matcher *match, struct lc_source *s, struct lc_stream *stream) {
    if (stream->first || stream->open || stream->pending)
        return;
    *place_of(s, stream->context, stream->tag) = stream->next;
    s->n_streams--;
    stream->next = match->spare_streams;
    match->spare_streams = stream;
}

/* ---- entries */

static void index_item(struct lc_stream *stream, struct lc_stashed *item) {
    lc_order_add(&stream->items, &item->place, stream->arrived++);
}

struct lc_stashed *lc_stash_roomy(struct lc_matcher *match) {
    struct lc_stashed *item = match->spare_roomy;
    if (item)
        match->spare_roomy = item->next;
    else
        item = malloc(sizeof *item + LC_STASH_ROOM * sizeof *item->extra);
    if (item)
        item->roomy = true;
    return item;
}

void lc_stash_link(struct lc_source *s, struct lc_stream *stream, struct lc_stashed *item) {
    item->next = NULL;
    item->previous = stream->last;
    item->stream = stream;
    *(stream->last ? &stream->last->next : &stream->first) = item;
    stream->last = item;
    stream->n_items++;
    s->n_stash++;
    if (stream->indexed)
        index_item(stream, item);
}

void lc_stash_unlink(struct lc_matcher *match, struct lc_source *s, struct lc_stashed *item) {
    struct lc_stream *stream = item->stream;
    *(item->previous ? &item->previous->next : &stream->first) = item->next;
    *(item->next ? &item->next->previous : &stream->last) = item->previous;
    item->next = item->previous = NULL;
    stream->n_items--;
    s->n_stash--;
    if (stream->indexed)
        lc_order_remove(&stream->items, &item->place);
    if (stream->n_items == 0)
        stream->indexed = false;
    lc_stream_drop(match, s, stream);
}

void lc_stash_release(struct lc_matcher *match, struct lc_stashed *item) {
    if (!item)
        return;
    struct lc_stashed **spare = item->roomy ? &match->spare_roomy : &match->spare;
    item->next = *spare;
    *spare = item;
}

bool lc_stash_is_void(const struct lc_stashed *item) {
    const struct lc_ring_entry *o = item->origin; /* its segment may be in use again */
    return o && atomic_load_explicit(&o->seq, memory_order_relaxed) == item->entry.seq &&
           atomic_load_explicit(&o->context, memory_order_relaxed) == LC_CONTEXT_VOID;
}

void lc_stash_sweep(struct lc_matcher *match, struct lc_source *s) {
    uint32_t voids = lc_ring_voids(&s->ring);
    if (voids == s->seen_voids)
        return;
    s->seen_voids = voids;
    for (uint32_t b = 0; b < s->n_buckets; b++)
        for (struct lc_stream *stream = s->streams[b], *next_stream; stream; stream = next_stream) {
            next_stream = stream->next;
            for (struct lc_stashed *item = stream->first, *next; item; item = next) {
                next = item->next;
                if (!lc_stash_is_void(item))
                    continue;
                lc_stash_unlink(match, s, item);
                lc_stash_release(match, item);
                match->counts.void_entries++;
            }
        }
}

struct lc_stashed *lc_stash_at(struct lc_stream *stream, uint32_t k) {
    if (!stream->indexed) {
        stream->indexed = true;
        stream->arrived = 0;
        for (struct lc_stashed *item = stream->first; item; item = item->next)
            index_item(stream, item);
    }
    struct lc_order_node *node = lc_order_at(stream->items, k);
    return (struct lc_stashed *)((char *)node - offsetof(struct lc_stashed, place));
}

/* ---- life */

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
        free_list(stream->pending);
        free(stream);
        stream = next;
    }
}

void lc_streams_free(struct lc_matcher *match) {
    for (uint32_t i = 0; i < match->n_sources; i++) {
        struct lc_source *s = &match->sources[i];
        for (uint32_t b = 0; b < s->n_buckets; b++)
            free_streams(s->streams[b]);
        free(s->streams);
        free_list(s->taken);
    }
    free_list(match->spare);
    free_list(match->spare_roomy);
    free_streams(match->spare_streams);
}
