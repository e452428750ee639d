/* Open receives, and the place of one among those of its stream.
 *
 * Few exact ones are looked through; from LC_MATCH_OPEN_SCAN on the streams keep theirs in order
 * (order_tree.h). A receive with a wildcard belongs to no stream until its message is known. When a
 * receive of a stream is completed, all earlier ones that fit its message are matched already, else
 * they would have got it: each is asked once with what, and belongs to that stream from then on. So
 * no completion looks at what another has looked at, in whatever order they come. */
#include "piggyback/open_receives.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "piggyback/streams.h"

/* ---- streams that keep their receives */

static void uncount(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv) {
    struct lc_stream *stream = lc_stream_find(s, recv->context, recv->tag);
    if (!stream || recv->place.count == 0)
        return;
    lc_order_remove(&stream->open, &recv->place);
    lc_stream_drop(match, s, stream);
}

static bool count_one(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv) {
    struct lc_stream *stream = lc_stream_make(match, s, recv->context, recv->tag);
    if (stream)
        lc_order_add(&stream->open, &recv->place, recv->order);
    return stream != NULL;
}

static void count_none(struct lc_matcher *match, struct lc_source *s) {
    s->counted = false;
    for (struct lc_recv *r = s->first; r; r = r->next)
        uncount(match, s, r);
}

/* From now on, until none is open; not without memory. */
static void count_all(struct lc_matcher *match, struct lc_source *s) {
    s->counted = true;
    for (struct lc_recv *r = s->first; r; r = r->next)
        if (!count_one(match, s, r)) {
            count_none(match, s);
            return;
        }
}

void lc_match_opened(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv) {
    if (!s->counted && s->n_open == LC_MATCH_OPEN_SCAN + 1)
        count_all(match, s);
    else if (s->counted && !count_one(match, s, recv))
        count_none(match, s);
}

void lc_match_closed(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv) {
    uncount(match, s, recv);
    s->counted = s->n_open > 0;
}

/* ---- wildcards */

static struct lc_pattern **place_of(const struct lc_matcher *match, uint32_t context,
                                    int32_t source, int32_t tag) {
    uint64_t mix = lc_hash_key((uint64_t)context << 32 | (uint32_t)tag);
    mix = lc_hash_key(mix >> 16 ^ (uint32_t)source);
    struct lc_pattern **at = &match->patterns[mix >> 32 & (match->n_pattern_buckets - 1)];
    while (*at && ((*at)->context != context || (*at)->source != source || (*at)->tag != tag))
        at = &(*at)->next;
    return at;
}

static bool grow(struct lc_matcher *match) {
    struct lc_pattern **old = match->patterns;
    uint32_t n_old = match->n_pattern_buckets, n = n_old ? 2 * n_old : LC_MATCH_BUCKETS;
    if (lc_alloc(&match->patterns, n, sizeof(struct lc_pattern *)) != LC_OK) {
        match->patterns = old;
        return n_old > 0; /* longer lists then */
    }
    match->n_pattern_buckets = n;
    for (uint32_t b = 0; b < n_old; b++)
        for (struct lc_pattern *p = old[b], *next; p; p = next) {
            next = p->next;
            struct lc_pattern **at = place_of(match, p->context, p->source, p->tag);
            p->next = NULL;
            *at = p;
        }
    free(old);
    return true;
}

static struct lc_pattern *make_pattern(struct lc_matcher *match, const struct lc_recv *recv) {
    if (match->n_patterns >= match->n_pattern_buckets && !grow(match))
        return NULL;
    struct lc_pattern **at = place_of(match, recv->context, recv->source, recv->tag), *p = *at;
    if (p)
        return p;
    p = match->spare_patterns;
    if (p)
        match->spare_patterns = p->next;
    else
        p = malloc(sizeof *p);
    if (!p)
        return NULL;
    *p = (struct lc_pattern){.context = recv->context, .source = recv->source, .tag = recv->tag};
    *at = p;
    match->n_patterns++;
    return p;
}

void lc_match_open_wildcard(struct lc_matcher *match, struct lc_recv *recv) {
    struct lc_pattern *p = make_pattern(match, recv);
    if (!p) { /* no memory: those after it take its place */
        match->counts.unsure++;
        return;
    }
    recv->next = NULL;
    recv->previous = p->last;
    *(p->last ? &p->last->next : &p->first) = recv;
    p->last = recv;
    recv->place.count = 0;
    recv->open = true;
    match->n_wildcards++;
}

void lc_match_close_wildcard(struct lc_matcher *match, struct lc_recv *recv) {
    struct lc_pattern **at = place_of(match, recv->context, recv->source, recv->tag), *p = *at;
    if (!p)
        return;
    *(recv->previous ? &recv->previous->next : &p->first) = recv->next;
    *(recv->next ? &recv->next->previous : &p->last) = recv->previous;
    recv->open = false;
    match->n_wildcards--;
    if (p->first)
        return;
    *at = p->next;
    match->n_patterns--;
    p->next = match->spare_patterns;
    match->spare_patterns = p;
}

/* Its message is known: it is one of the stream's. Of a process that has no stream it holds no
 * place. */
static void assign_stream(struct lc_matcher *match, struct lc_recv *recv, int32_t source,
                          int32_t tag) {
    lc_match_close_wildcard(match, recv);
    if (source < 0 || (uint32_t)source >= match->n_sources)
        return;
    struct lc_source *s = &match->sources[source];
    recv->source = source;
    recv->tag = tag;
    if (!s->counted)
        count_all(match, s);
    lc_match_open(match, recv);
}

/* Receives of one pattern that were posted before `order`. */
static bool ask_pattern(struct lc_matcher *match, uint32_t context, int32_t source, int32_t tag,
                        uint64_t order) {
    struct lc_pattern *p = match->n_patterns ? *place_of(match, context, source, tag) : NULL;
    bool all_known = true;
    for (struct lc_recv *r = p ? p->first : NULL, *next; r && r->order < order; r = next) {
        int32_t is_source, is_tag;
        next = r->next;
        if (match->calls->status(match->user, r, &is_source, &is_tag))
            assign_stream(match, r, is_source, is_tag);
        else
            all_known = false;
    }
    return all_known;
}

uint32_t lc_match_position(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag,
                           uint64_t order, bool *unsure) {
    struct lc_source *s = &match->sources[source];
    uint32_t earlier = 0;
    if (match->n_wildcards > 0) {
        *unsure |= !ask_pattern(match, context, LC_ANY, tag, order);
        *unsure |= !ask_pattern(match, context, (int32_t)source, LC_ANY, order);
        *unsure |= !ask_pattern(match, context, LC_ANY, LC_ANY, order);
    }
    if (s->counted) {
        const struct lc_stream *stream = lc_stream_find(s, context, tag);
        return stream ? lc_order_below(stream->open, order) : 0;
    }
    for (const struct lc_recv *r = s->first; r; r = r->next)
        earlier += r->order < order && r->context == context && r->tag == tag;
    return earlier;
}

void lc_patterns_free(struct lc_matcher *match) {
    for (uint32_t b = 0; b <= match->n_pattern_buckets; b++) {
        struct lc_pattern *p =
            b < match->n_pattern_buckets ? match->patterns[b] : match->spare_patterns;
        while (p) {
            struct lc_pattern *next = p->next;
            free(p);
            p = next;
        }
    }
    free(match->patterns);
}
