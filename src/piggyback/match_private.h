/* What the parts of the matcher share.
 *
 * Parts
 *   match.c            takes the entry of a receive
 *   pending_entries.c  claims its place where it has not arrived
 *   streams.c          the stash: entries that were passed over, by stream
 *   open_receives.c    which receives are open, and how many of a stream were posted before one */
#ifndef LC_PIGGYBACK_MATCH_PRIVATE_H
#define LC_PIGGYBACK_MATCH_PRIVATE_H

#include "piggyback/match.h"

enum { LC_MATCH_BUCKETS = 16, LC_STASH_ROOM = 64 /* words that a pending entry may bring */ };

/* match.c: the k-th entry of the stream; the next one of its stream from `item` on that has so many
 * bytes. NULL: not there. */
struct lc_stashed *lc_match_nth(struct lc_matcher *match, uint32_t source, uint32_t context,
                                int32_t tag, uint32_t k, int looks);
struct lc_stashed *lc_match_fitting(struct lc_matcher *match, uint32_t source,
                                    struct lc_stashed *item, uint32_t bytes);

/* pending_entries.c: an entry has come; true: it was pending, and is where it belongs. Forgets
 * those of a stream. */
bool lc_pending_arrived(struct lc_matcher *match, struct lc_source *s, struct lc_stream *stream,
                        struct lc_ring_entry *origin, const struct lc_ring_entry *entry,
                        const uint64_t *extra, uint32_t n_extra);
void lc_pending_free(struct lc_stream *stream);
/* streams.c: an item with room for LC_STASH_ROOM words; NULL: no memory. Puts one at the end of its
 * stream. */
struct lc_stashed *lc_stash_roomy(struct lc_matcher *match);
void lc_stash_link(struct lc_source *s, struct lc_stream *stream, struct lc_stashed *item);

/* streams.c: the stream; NULL: nothing of it is stashed, open or pending. */
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

/* open_receives.c: the number of open receives posted before `order` that belong to the stream;
 * *unsure is set if a wildcard receive among them is not known to be matched. */
uint32_t lc_match_position(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag,
                           uint64_t order, bool *unsure);
/* The patterns; receives are the caller's. */
void lc_patterns_free(struct lc_matcher *match);

#endif
