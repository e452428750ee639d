/* What the parts of the matcher share.
 *
 * Parts
 *   match.c           takes the entry of a receive
 *   streams.c         the stash: entries that were passed over, by stream
 *   open_receives.c   which receives are open, and how many of a stream were posted before one */
#ifndef LC_PIGGYBACK_MATCH_PRIVATE_H
#define LC_PIGGYBACK_MATCH_PRIVATE_H

#include "piggyback/match.h"

enum { LC_MATCH_BUCKETS = 16 };

/* streams.c */
struct lc_stream *lc_stream_find(struct lc_source *s, uint32_t context, int32_t tag);
/* Made if it is not there; NULL: no memory. */
struct lc_stream *lc_stream_make(struct lc_matcher *match, struct lc_source *s, uint32_t context,
                                 int32_t tag);
/* Forgets a stream of which nothing is stashed or open any more. */
void lc_stream_drop(struct lc_matcher *match, struct lc_source *s, struct lc_stream *stream);
/* origin: its place in the ring, NULL: it came as message, with n_extra words. */
void lc_stash_add(struct lc_matcher *match, struct lc_source *s, struct lc_ring_entry *origin,
                  const struct lc_ring_entry *entry, const uint64_t *extra, uint32_t n_extra);
/* Takes it out of its stream; the caller releases it (NULL: nothing). */
void lc_stash_unlink(struct lc_matcher *match, struct lc_source *s, struct lc_stashed *item);
void lc_stash_release(struct lc_matcher *match, struct lc_stashed *item);
/* A cancelled send has made its entry void since it was stashed. */
bool lc_stash_is_void(const struct lc_stashed *item);
/* Drops those entries of the source, if there may be new ones. */
void lc_stash_sweep(struct lc_matcher *match, struct lc_source *s);
/* The k-th entry of a stream with so many. */
struct lc_stashed *lc_stash_at(struct lc_stream *stream, uint32_t k);
void lc_streams_free(struct lc_matcher *match);

/* open_receives.c: open receives posted before `order` that belong to the stream. */
uint32_t lc_match_position(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag,
                           uint64_t order, bool *unsure);
void lc_patterns_free(struct lc_matcher *match);

#endif
