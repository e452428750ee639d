#include "base/pieces.h"

#include <string.h>

void lc_pieces_begin(struct lc_pieces *pieces, void (*send)(void *, const struct lc_piece *),
                     void *user) {
    pieces->out.length = pieces->out.last = 0;
    pieces->send = send;
    pieces->user = user;
}

void lc_pieces_put(struct lc_pieces *pieces, const void *bytes, size_t n_bytes) {
    struct lc_piece *out = &pieces->out;
    for (size_t done = 0; done < n_bytes;) {
        if (out->length == LC_PIECE_BYTES) {
            pieces->send(pieces->user, out);
            out->length = 0;
        }
        size_t room = LC_PIECE_BYTES - out->length;
        size_t part = n_bytes - done < room ? n_bytes - done : room;
        memcpy(out->bytes + out->length, (const char *)bytes + done, part);
        out->length += (uint32_t)part;
        done += part;
    }
}

void lc_pieces_end(struct lc_pieces *pieces) {
    pieces->out.last = 1;
    pieces->send(pieces->user, &pieces->out);
    pieces->out.length = 0;
}
