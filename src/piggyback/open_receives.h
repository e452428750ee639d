/* Open receives (match_types.h), and the place of one among those of its stream. */
#ifndef LC_PIGGYBACK_OPEN_RECEIVES_H
#define LC_PIGGYBACK_OPEN_RECEIVES_H

#include "piggyback/match_types.h"

/* Any source or any tag: which stream it belongs to is not known yet. */
static inline bool lc_recv_has_wildcard(const struct lc_recv *recv) {
    return recv->source == LC_ANY || recv->tag == LC_ANY;
}

/* lc_match_open of a receive with a wildcard. Without memory it counts as unsure and stays
 * closed. */
void lc_match_open_wildcard(struct lc_matcher *match, struct lc_recv *recv);
/* lc_match_close of an open receive with a wildcard. */
void lc_match_close_wildcard(struct lc_matcher *match, struct lc_recv *recv);
/* The cold half of lc_match_open: many are open, or streams count theirs already. */
void lc_match_opened(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv);
/* The cold half of lc_match_close, where streams count theirs. */
void lc_match_closed(struct lc_matcher *match, struct lc_source *s, struct lc_recv *recv);

/* A receive becomes open, after it was posted. It is the caller's, and must stay where it is until
 * lc_match_close. */
static inline void lc_match_open(struct lc_matcher *match, struct lc_recv *recv) {
    if (__builtin_expect(lc_recv_has_wildcard(recv), 0)) {
        lc_match_open_wildcard(match, recv);
        return;
    }
    struct lc_source *s = &match->sources[recv->source];
    recv->next = NULL;
    recv->previous = s->last;
    *(s->last ? &s->last->next : &s->first) = recv;
    s->last = recv;
    s->n_open++;
    recv->open = true;
    recv->place.count = 0;
    if (__builtin_expect(s->n_open > LC_MATCH_OPEN_SCAN || s->counted, 0))
        lc_match_opened(match, s, recv);
}

/* It leaves the list (completed, cancelled, freed); nothing if it is not open. Of a receive whose
 * wildcard is known by now (lc_match_take), `source` and `tag` are those of its message. */
static inline void lc_match_close(struct lc_matcher *match, struct lc_recv *recv) {
    if (!recv->open)
        return;
    if (__builtin_expect(lc_recv_has_wildcard(recv), 0)) {
        lc_match_close_wildcard(match, recv);
        return;
    }
    struct lc_source *s = &match->sources[recv->source];
    *(recv->previous ? &recv->previous->next : &s->first) = recv->next;
    *(recv->next ? &recv->next->previous : &s->last) = recv->previous;
    s->n_open--;
    recv->open = false;
    if (__builtin_expect(s->counted, 0))
        lc_match_closed(match, s, recv);
}

/* The number of open receives posted before `order` that belong to the stream; *unsure is set if a
 * wildcard receive among them is not known to be matched. */
uint32_t lc_match_position(struct lc_matcher *match, uint32_t source, uint32_t context, int32_t tag,
                           uint64_t order, bool *unsure);

/* Frees the patterns of receives with wildcards; the receives are the caller's. */
void lc_patterns_free(struct lc_matcher *match);

#endif
