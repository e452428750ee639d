/* What all ranks have for rank 0, as one stream of bytes in the order of ranks, along the binomial
 * tree (binomial.h): each rank puts its own bytes, then passes on the streams of its children, the
 * nearest first; the subtree of a rank are the ranks that follow it.
 *
 * Nouns
 *   piece   one message to the parent: as much as fits, of however many ranks it is
 *   bytes   of a rank's subtree B, each rank sends B / LC_PIECE_BYTES + 1 pieces at most, and
 *           receives so many and one per child more: O(log P) beside the data itself
 *
 * No memory is asked for: a rank needs one piece that comes in and one that goes out. */
#ifndef LC_BASE_PIECES_H
#define LC_BASE_PIECES_H

#include <stddef.h>
#include <stdint.h>

enum { LC_PIECE_BYTES = 65528, LC_PIECE_HEAD = 8 };

struct lc_piece {
    uint32_t length; /* of bytes */
    uint32_t last;   /* of this stream */
    char bytes[LC_PIECE_BYTES];
};

struct lc_pieces {
    struct lc_piece out;
    /* takes a piece: LC_PIECE_HEAD + length bytes from its beginning; rank 0's writes the file */
    void (*send)(void *user, const struct lc_piece *piece);
    void *user;
};

/* Nothing put yet; `send` is called with `user` for each piece that is full. */
void lc_pieces_begin(struct lc_pieces *pieces, void (*send)(void *, const struct lc_piece *),
                     void *user);
/* Bytes of this rank, or of a piece that came in. Sends what is full. */
void lc_pieces_put(struct lc_pieces *pieces, const void *bytes, size_t n_bytes);
/* Sends the rest, with `last` set, even if there is none. */
void lc_pieces_end(struct lc_pieces *pieces);

#endif
