/* Who is in which communicator: the groups of ranks that communicators of this process had, each
 * once, however many communicators it had. Rows of collectives carry the number that a group has
 * here (LC_RAW_ROW_GROUP_SHIFT); which ranks these are, rank 0 puts together from what all ranks
 * know: their own position in groups that are named by a hash of their ranks. Goes into meta of the
 * result (gather/rank_meta.c). */
#ifndef LC_MEASURE_MPI_GROUPS_H
#define LC_MEASURE_MPI_GROUPS_H

#include <stdint.h>

struct lc_comm;
struct lc_strbuf;

enum { LC_GROUPS_MOST = 32 };

struct lc_known_group {
    uint64_t hash; /* of its world ranks in their order */
    uint32_t size;
    uint32_t position; /* of this process */
    uint32_t number;   /* among those of its size, from 1 */
    uint32_t unused;
};

struct lc_groups {
    uint32_t n, unused;
    struct lc_known_group group[LC_GROUPS_MOST];
};

/* The number of the group of a communicator, found or new; 0: an intercommunicator, one of a single
 * rank, or of processes outside of MPI_COMM_WORLD; LC_RAW_GROUP_OTHER: there are too many. With
 * lc_core.lock held. */
uint32_t lc_group_number(const struct lc_comm *comm);
/* All so far. With lc_core.lock held. */
void lc_groups_get(struct lc_groups *groups);
/* `, "communicators": [{"ranks": "0-1,3", "numbers": 1}]` from the groups of n ranks, of which the
 * `stride` bytes apart: ranks in the order of the communicator; numbers: what each of them calls
 * it, a list where these differ. Left out: groups of which not all members say theirs, and those
 * for which there is no room; `, "communicators_left_out": 3` says how many. */
void lc_groups_put(struct lc_strbuf *out, const struct lc_groups *groups, int n, uint32_t stride);

#endif
