#include "piggyback/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "piggyback/streams.h"

/* To the first pending place of its stream; false: it is not meant for that. */
static bool put_pending(struct lc_matcher *match, struct lc_source *s, struct lc_stream *stream,
                        struct lc_ring_entry *origin, const struct lc_ring_entry *entry,
                        const uint64_t *extra, uint32_t n_extra) {
    struct lc_stashed *item = stream->pending;
    bool given_up = item->passed == LC_GIVEN_UP;
    if (item->claimed && item->wanted != entry->bytes && item->wanted != (uint32_t)LC_ANY_BYTES) {
        match->counts.mispaired++;
        return false;
    }
    stream->pending = item->next;
    if (!stream->pending)
        stream->last_pending = NULL;
    stream->n_unclaimed -= !item->claimed && !given_up;
    memcpy(&item->entry, entry, sizeof *entry);
    if (item->glance)
        lc_glance_fill(item->glance, entry);
    item->glance = NULL;
    item->origin = origin;
    item->pending = false;
    item->passed = 0;
    item->n_extra = n_extra;
    if (n_extra)
        memcpy(item->extra, extra, n_extra * sizeof *extra);
    if (given_up) {
        match->counts.late++;
        lc_stash_release(match, item);
    } else if (item->claimed) {
        match->counts.taken++;
    } else {
        lc_stash_link(s, stream, item);
    }
    lc_stream_drop(match, s, stream);
    return true;
}

void lc_stash_add(struct lc_matcher *match, struct lc_source *s, struct lc_ring_entry *origin,
                  const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra) {
    struct lc_stream *stream = lc_stream_make(match, s, entry->context, entry->tag);
    if (n_extra > LC_STASH_ROOM)
        n_extra = 0;
    if (stream && stream->pending && put_pending(match, s, stream, origin, entry, extra, n_extra))
        return;
    struct lc_stashed *item = !stream ? NULL : n_extra ? lc_stash_roomy(match) : match->spare;
    if (item && !n_extra)
        match->spare = item->next;
    else if (!item && stream && !n_extra)
        item = malloc(sizeof *item);
    if (!item) {
        match->counts.absent++;
        return;
    }
    item->origin = origin;
    memcpy(&item->entry, entry, sizeof *entry);
    item->passed = 0;
    item->pending = item->claimed = false;
    item->roomy = n_extra > 0;
    item->n_extra = n_extra;
    if (n_extra)
        memcpy(item->extra, extra, n_extra * sizeof *extra);
    lc_stash_link(s, stream, item);
}
