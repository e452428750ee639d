/* DIR/.ranks: one record per rank that runs under the tool, at rank x size of a record; written
 * before the rank enters MPI_Init (measure/gather/agree.c says why). The parents read it, too: it
 * tells on which nodes the ranks are of which nothing else is known. */
#ifndef LC_FORMAT_RANK_RECORD_H
#define LC_FORMAT_RANK_RECORD_H

#include <stdint.h>

#define LC_RANK_RECORDS      ".ranks"
#define LC_RANK_RECORD_MAGIC 0x4c43524b30303031ull

enum { LC_RANK_HOST_BYTES = 32 };

enum lc_rank_room { LC_ROOM_ENDLESS, LC_ROOM_ASKED, LC_ROOM_ENOUGH, LC_ROOM_NONE };

struct lc_rank_record {
    uint64_t magic; /* written whole by one pwrite */
    uint64_t options;
    int32_t rank, pid, fd;         /* of the parent, which holds the rank's state */
    uint32_t room;                 /* enum lc_rank_room: for a communicator of our own */
    char node[64];                 /* boot id: the same on ranks that share memory */
    char host[LC_RANK_HOST_BYTES]; /* for people */
};
_Static_assert(sizeof(struct lc_rank_record) == 128, "records lie at fixed places");

#endif
