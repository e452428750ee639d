/* Entries that arrive after their messages. A receive that completes claims the place of its entry
 * in the stream. A stream is thus a list of entries that have arrived, followed by a list of
 * pending places: the next entry of the stream belongs to the first of them. A place before a
 * claimed one belongs to an earlier receive that is still open. */
#include "piggyback/pending_entries.h"

#include "piggyback/match.h"
#include "piggyback/open_receives.h"
#include "piggyback/streams.h"

static struct lc_stashed *append(struct lc_matcher *match, struct lc_stream *stream) {
    struct lc_stashed *item = lc_stash_roomy(match);
    if (!item)
        return NULL;
    item->next = NULL;
    item->previous = NULL;
    item->stream = stream;
    item->origin = NULL;
    item->passed = 0;
    item->pending = true;
    item->claimed = false;
    item->n_extra = 0;
    item->glance = NULL;
    *(stream->last_pending ? &stream->last_pending->next : &stream->pending) = item;
    stream->last_pending = item;
    stream->n_unclaimed++;
    return item;
}

/* The k-th place that nobody has claimed. */
static struct lc_stashed *unclaimed(struct lc_matcher *match, struct lc_source *s, uint32_t context,
                                    int32_t tag, uint32_t k) {
    struct lc_stream *stream = lc_stream_make(match, s, context, tag);
    struct lc_stashed *item = stream && stream->n_unclaimed > 0 ? stream->pending : NULL;
    while (stream) {
        for (; item && (item->claimed || item->passed == LC_GIVEN_UP); item = item->next) {
        }
        if (!item)
            item = append(match, stream);
        if (!item || k-- == 0)
            break;
        item = item->next;
    }
    if (!item && stream)
        lc_stream_drop(match, s, stream);
    return item;
}

/* Of the places that follow the entries which are there. */
static uint32_t behind_entries(struct lc_source *s, uint32_t context, int32_t tag, uint32_t place) {
    const struct lc_stream *stream = lc_stream_find(s, context, tag);
    uint32_t here = stream ? stream->n_items : 0;
    return place > here ? place - here : 0;
}

struct lc_stashed *lc_match_claim(struct lc_matcher *match, uint32_t source, uint32_t context,
                                  int32_t tag, uint64_t order, uint32_t bytes) {
    struct lc_source *s = &match->sources[source];
    bool unsure = false;
    uint32_t place = lc_match_position(match, source, context, tag, order, &unsure);
    match->counts.unsure += unsure;
    struct lc_stashed *item = lc_match_nth(match, source, context, tag, place, 0);
    if (item && item->entry.bytes != bytes && bytes != (uint32_t)LC_ANY_BYTES) {
        item = lc_match_fitting(match, source, item, bytes);
        place = 0;
    }
    if (item) {
        lc_stash_unlink(match, s, item);
        match->counts.taken++;
        return item;
    }
    item = unclaimed(match, s, context, tag, behind_entries(s, context, tag, place));
    match->counts.absent += !item;
    if (item) {
        item->claimed = true;
        item->wanted = bytes;
        item->stream->n_unclaimed--;
    }
    return item;
}

bool lc_match_glance(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag,
                     struct lc_glance *glance) {
    struct lc_source *s = &match->sources[source];
    bool unsure = false;
    uint32_t place = lc_match_position(match, source, context, tag, UINT64_MAX, &unsure);
    if (unsure)
        return false;
    struct lc_stashed *item = lc_match_nth(match, source, context, tag, place, 0);
    if (!item)
        item = unclaimed(match, s, context, tag, behind_entries(s, context, tag, place));
    return item && lc_match_glance_at(item, glance);
}

bool lc_match_glance_at(struct lc_stashed *item, struct lc_glance *glance) {
    if (!item->pending) {
        lc_glance_fill(glance, &item->entry);
        return true;
    }
    if (item->glance)
        return false;
    item->glance = glance;
    glance->item = item;
    return true;
}

void lc_match_look_away(struct lc_glance *glance) {
    if (glance->item)
        glance->item->glance = NULL;
    glance->item = NULL;
}

void lc_match_release(struct lc_matcher *match, struct lc_stashed *item) {
    if (!item)
        return;
    if (item->pending) { /* given up: what comes is nobody's */
        match->counts.absent++;
        item->claimed = false;
        item->passed = LC_GIVEN_UP;
        item->wanted = (uint32_t)LC_ANY_BYTES;
        return;
    }
    lc_stash_release(match, item);
}
