/* When receives were posted, for senders that wait for them (synchronous sends, rendezvous): a
 * receiver cannot know which message is one of these, so it logs every receive of a known source
 * before the call, a line in its own area; only a sender that needs it reads it, when its send is
 * over.
 *
 * Nouns
 *   line    stamp of the call that posted a receive, its stream (context, tag), and which message
 *           of the stream it will get: the one after `skip` others from sequence number `from` of
 *           the ring on
 *   posts   the newest lines of one receiver for one source
 *   owner   who posted the receive of a line, asked for before the line is overwritten
 *   got     the message of a receive that was late and is complete: its sender may not have
 *           looked for the line when that is overwritten, and is told then
 *
 * Invariants: nobody waits; a line that was overwritten is not found; where open wildcard receives
 * may take messages of the stream, the line says so (LC_POSTS_UNSURE) and is not used. */
#ifndef LC_PIGGYBACK_POSTS_H
#define LC_PIGGYBACK_POSTS_H

#include "piggyback/ring.h"

enum { LC_POSTS_LINES = 16, LC_POSTS_UNSURE = 4095 };

struct lc_post_line {
    struct lc_stamp stamp;
    _Atomic uint32_t number; /* count << 13 | skip << 1 | 1; 0: being written, or never was */
    uint32_t context;
    int32_t tag;
    uint32_t from;
};

struct lc_posts {               /* private to the receiver */
    struct lc_post_line *lines; /* NULL: not yet */
    void **owners;              /* of the lines; NULL: none, or no memory */
    uint32_t *got;              /* by line: number of the message, 0: none; NULL: as above */
    uint32_t count;
    bool off; /* no memory */
};

/* Cold: makes the lines for a source; false: no memory. */
bool lc_posts_make(struct lc_posts *posts, struct lc_area *mine, uint32_t source);

/* The receive of the line that was the `number`-th (count of the posts then) was late for message
 * `seq`, and has got it. */
static inline void lc_posts_got(struct lc_posts *posts, uint32_t number, uint32_t seq) {
    if (posts->got && posts->count - number < LC_POSTS_LINES)
        posts->got[(number - 1) % LC_POSTS_LINES] = seq;
}

/* What the receive of the line that comes next has got, once; 0: nothing that its sender may want
 * to know. Before lc_posts_place. */
static inline uint32_t lc_posts_leaving(struct lc_posts *posts, const struct lc_post_line **line) {
    uint32_t i = posts->count % LC_POSTS_LINES, seq = posts->got ? posts->got[i] : 0;
    if (__builtin_expect(seq != 0, 0)) {
        posts->got[i] = 0;
        *line = &posts->lines[i];
    }
    return seq;
}

/* The place of the next line: the caller writes the stamp there, then lc_posts_ready. */
static inline struct lc_post_line *lc_posts_place(struct lc_posts *posts) {
    struct lc_post_line *line = &posts->lines[posts->count++ % LC_POSTS_LINES];
    atomic_store_explicit(&line->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* 0 goes before the fields (lc_posts_find) */
    return line;
}

static inline void lc_posts_ready(const struct lc_posts *posts, struct lc_post_line *line,
                                  uint32_t context, int32_t tag, uint32_t from, uint32_t skip) {
    line->context = context;
    line->tag = tag;
    line->from = from;
    /* release: who sees the number sees the fields; the fence orders it before what MPI stores */
    atomic_store_explicit(&line->number, posts->count << 13 | skip << 1 | 1, memory_order_release);
    atomic_thread_fence(memory_order_release);
}

/* What a line says is not true any more: it is not found from now on. */
void lc_posts_forget(struct lc_posts *posts, uint32_t line);

/* The stamp of the receive that gets message `seq` of `out` (the ring of rank `me` to the owner of
 * `theirs`), of stream (context, tag). False: not there, or not sure (*unsure). */
bool lc_posts_find(const struct lc_area *theirs, const struct lc_ring_out *out, uint32_t me,
                   uint32_t context, int32_t tag, uint32_t seq, struct lc_stamp *stamp,
                   bool *unsure);

#endif
