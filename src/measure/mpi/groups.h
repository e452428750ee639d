/* Who is in which communicator: the groups of ranks that communicators of this process had, each
 * once, however many communicators it had. Rows of collectives carry the number that a group has
 * here (LC_RAW_ROW_GROUP_SHIFT); which ranks these are, the parent puts together from what all
 * ranks know: their own position in groups that are named by a hash of their ranks. Goes into the
 * facts (gather/rank_facts.c). */
#ifndef LC_MEASURE_MPI_GROUPS_H
#define LC_MEASURE_MPI_GROUPS_H

#include <stdint.h>

#include "format/facts.h"

struct lc_comm;

/* The number of the group of a communicator, found or new; 0: an intercommunicator, one of a single
 * rank, or of processes outside of MPI_COMM_WORLD; LC_RAW_GROUP_OTHER: there are too many. With
 * lc_core.lock held. */
uint32_t lc_group_number(const struct lc_comm *comm);
/* All so far. With lc_core.lock held. */
void lc_groups_get(struct lc_groups *groups);

#endif
