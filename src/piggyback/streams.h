/* The stash: streams of a source (match_types.h), and the entries that were read before their
 * receive asked for them. */
#ifndef LC_PIGGYBACK_STREAMS_H
#define LC_PIGGYBACK_STREAMS_H

#include "piggyback/match_types.h"

enum { LC_MATCH_BUCKETS = 16 }; /* of a hash table when it is made */

/* The stream; NULL: nothing of it is stashed, open or pending. */
struct lc_stream *lc_stream_find(struct lc_source *s, uint32_t context, int32_t tag);
/* The stream, made if it is not there; NULL: no memory. */
struct lc_stream *lc_stream_make(struct lc_matcher *match, struct lc_source *s, uint32_t context,
                                 int32_t tag);
/* Forgets a stream of which nothing is stashed, open or pending any more. */
void lc_stream_drop(struct lc_matcher *match, struct lc_source *s, struct lc_stream *stream);

/* An item with room for LC_STASH_ROOM words, in no stream; NULL: no memory. */
struct lc_stashed *lc_stash_roomy(struct lc_matcher *match);
/* Puts an item at the end of its stream. */
void lc_stash_link(struct lc_source *s, struct lc_stream *stream, struct lc_stashed *item);
/* Takes an item out of its stream; the caller releases it. */
void lc_stash_unlink(struct lc_matcher *match, struct lc_source *s, struct lc_stashed *item);
/* Gives an item that is in no stream back to the free list; NULL: nothing. */
void lc_stash_release(struct lc_matcher *match, struct lc_stashed *item);
/* A cancelled send has made its entry void since it was stashed. */
bool lc_stash_is_void(const struct lc_stashed *item);
/* Drops those entries of the source, if there may be new ones. */
void lc_stash_sweep(struct lc_matcher *match, struct lc_source *s);
/* The k-th entry (from 0) of a stream that has more than k; it stays in the stream. */
struct lc_stashed *lc_stash_at(struct lc_stream *stream, uint32_t k);
/* All streams and what is stashed in them. */
void lc_streams_free(struct lc_matcher *match);

#endif
