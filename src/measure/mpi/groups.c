#include "measure/mpi/groups.h"

#include <stdbool.h>

#include "base/hash.h"
#include "format/raw.h"
#include "measure/mpi/handles.h"

static struct lc_groups known; /* under lc_core.lock */

static uint64_t hash_of(const struct lc_comm *comm) {
    uint64_t hash = lc_hash_key((uint64_t)comm->size);
    for (int i = 0; i < comm->size; i++)
        hash = lc_hash_key(hash ^ (uint64_t)(uint32_t)comm->world[i]);
    return hash;
}

static bool has_number(const struct lc_comm *comm) {
    if (comm->inter || comm->size < 2)
        return false;
    for (int i = 0; i < comm->size; i++)
        if (comm->world[i] < 0) /* MPI_UNDEFINED */
            return false;
    return true;
}

uint32_t lc_group_number(const struct lc_comm *comm) {
    uint32_t alike = 0;
    if (!has_number(comm))
        return 0;
    uint64_t hash = hash_of(comm);
    for (uint32_t i = 0; i < known.n; i++) {
        const struct lc_known_group *group = &known.group[i];
        if (group->hash == hash && group->size == (uint32_t)comm->size)
            return group->number;
        alike += group->size == (uint32_t)comm->size;
    }
    if (known.n == LC_GROUPS_MOST || alike + 1 >= LC_RAW_GROUP_OTHER)
        return LC_RAW_GROUP_OTHER;
    known.group[known.n++] = (struct lc_known_group){.hash = hash,
                                                     .size = (uint32_t)comm->size,
                                                     .position = (uint32_t)comm->rank,
                                                     .number = alike + 1};
    return alike + 1;
}

void lc_groups_get(struct lc_groups *groups) {
    *groups = known;
}
