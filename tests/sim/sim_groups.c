/* Groups of ranks. */
#include "sim_mpi.h"

#include <stdlib.h>
#include <string.h>

static struct sim_table groups = {.kind = 0x88000000u};
static struct sim_group empty = {.rank = MPI_UNDEFINED};

struct sim_group *sim_group_new(int size) {
    struct sim_group *g = sim_new(sizeof *g);
    g->size = size;
    g->world = sim_new((size_t)size * sizeof *g->world + 1);
    g->rank = MPI_UNDEFINED;
    return g;
}

void sim_group_free(struct sim_group *g) {
    if (g != NULL && g != &empty) {
        free(g->world);
        free(g);
    }
}

struct sim_group *sim_group_find_own_rank(struct sim_group *g) {
    g->rank = MPI_UNDEFINED;
    for (int i = 0; i < g->size; i++)
        if (g->world[i] == sim_self()->rank)
            g->rank = i;
    return g;
}

struct sim_group *sim_group_copy(const struct sim_group *g) {
    struct sim_group *copy = sim_group_new(g->size);
    memcpy(copy->world, g->world, (size_t)g->size * sizeof *g->world);
    return sim_group_find_own_rank(copy);
}

int sim_group_place(const struct sim_group *g, int world) {
    for (int i = 0; i < g->size; i++)
        if (g->world[i] == world)
            return i;
    return MPI_UNDEFINED;
}

struct sim_group *sim_group(MPI_Group group) {
    return group == MPI_GROUP_EMPTY ? &empty : sim_object(&groups, group);
}

int sim_group_handle(struct sim_group *g, MPI_Group *handle) {
    sim_group_find_own_rank(g);
    if (g->size == 0) {
        sim_group_free(g);
        *handle = MPI_GROUP_EMPTY;
    } else {
        *handle = sim_handle(&groups, g);
    }
    return MPI_SUCCESS;
}

BOTH(MPI_Group_size)(MPI_Group group, int *size) {
    *size = GROUP(group)->size;
    return MPI_SUCCESS;
}

BOTH(MPI_Group_rank)(MPI_Group group, int *rank) {
    *rank = GROUP(group)->rank;
    return MPI_SUCCESS;
}

BOTH(MPI_Group_free)(MPI_Group *group) {
    struct sim_group *g = GROUP(*group);
    if (g != &empty)
        sim_drop(&groups, *group);
    sim_group_free(g);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static bool good_ranks(const struct sim_group *g, int n, const int *ranks) {
    for (int i = 0; i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= g->size)
            return false;
        for (int j = 0; j < i; j++)
            if (ranks[i] == ranks[j])
                return false;
    }
    return n >= 0;
}

BOTH(MPI_Group_incl)(MPI_Group group, int n, const int *ranks, MPI_Group *new) {
    const struct sim_group *g = GROUP(group);
    if (!good_ranks(g, n, ranks))
        return sim_error(NULL, MPI_ERR_RANK);
    struct sim_group *made = sim_group_new(n);
    for (int i = 0; i < n; i++)
        made->world[i] = g->world[ranks[i]];
    return sim_group_handle(made, new);
}

BOTH(MPI_Group_excl)(MPI_Group group, int n, const int *ranks, MPI_Group *new) {
    const struct sim_group *g = GROUP(group);
    if (!good_ranks(g, n, ranks))
        return sim_error(NULL, MPI_ERR_RANK);
    struct sim_group *made = sim_group_new(g->size);
    made->size = 0;
    for (int i = 0; i < g->size; i++) {
        bool out = false;
        for (int j = 0; j < n; j++)
            out = out || ranks[j] == i;
        if (!out)
            made->world[made->size++] = g->world[i];
    }
    return sim_group_handle(made, new);
}

/* Ranks of the ranges, in their order; the caller frees. */
static int *spread(int n, int ranges[][3], int *count) {
    int *ranks = sim_new(65536 * sizeof *ranks);
    *count = 0;
    for (int i = 0; i < n; i++)
        for (int r = ranges[i][0]; ranges[i][2] > 0 ? r <= ranges[i][1] : r >= ranges[i][1];
             r += ranges[i][2]) {
            if (ranges[i][2] == 0 || *count == 65536)
                break;
            ranks[(*count)++] = r;
        }
    return ranks;
}

BOTH(MPI_Group_range_incl)(MPI_Group group, int n, int ranges[][3], MPI_Group *new) {
    int count, *ranks = spread(n, ranges, &count);
    int result = PMPI_Group_incl(group, count, ranks, new);
    free(ranks);
    return result;
}

BOTH(MPI_Group_range_excl)(MPI_Group group, int n, int ranges[][3], MPI_Group *new) {
    int count, *ranks = spread(n, ranges, &count);
    int result = PMPI_Group_excl(group, count, ranks, new);
    free(ranks);
    return result;
}

/* Those of a that are in b, or are not; then those of c that are not in a. */
static int combine(const struct sim_group *a, const struct sim_group *b, bool in,
                   const struct sim_group *c, MPI_Group *new) {
    struct sim_group *made = sim_group_new(a->size + c->size);
    made->size = 0;
    for (int i = 0; i < a->size; i++)
        if (b == NULL || (sim_group_place(b, a->world[i]) != MPI_UNDEFINED) == in)
            made->world[made->size++] = a->world[i];
    for (int i = 0; i < c->size; i++)
        if (sim_group_place(a, c->world[i]) == MPI_UNDEFINED)
            made->world[made->size++] = c->world[i];
    return sim_group_handle(made, new);
}

BOTH(MPI_Group_union)(MPI_Group a, MPI_Group b, MPI_Group *new) {
    return combine(GROUP(a), NULL, true, GROUP(b), new);
}

BOTH(MPI_Group_intersection)(MPI_Group a, MPI_Group b, MPI_Group *new) {
    return combine(GROUP(a), GROUP(b), true, &empty, new);
}

BOTH(MPI_Group_difference)(MPI_Group a, MPI_Group b, MPI_Group *new) {
    return combine(GROUP(a), GROUP(b), false, &empty, new);
}

int sim_group_compare(const struct sim_group *a, const struct sim_group *b) {
    bool same = a->size == b->size;
    for (int i = 0; i < a->size; i++) {
        if (sim_group_place(b, a->world[i]) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
        same = same && a->world[i] == b->world[i];
    }
    if (a->size != b->size)
        return MPI_UNEQUAL;
    return same ? MPI_IDENT : MPI_SIMILAR;
}

BOTH(MPI_Group_compare)(MPI_Group a, MPI_Group b, int *result) {
    *result = sim_group_compare(GROUP(a), GROUP(b));
    return MPI_SUCCESS;
}

BOTH(MPI_Group_translate_ranks)
(MPI_Group from, int n, const int *ranks, MPI_Group to, int *translated) {
    const struct sim_group *a = GROUP(from), *b = GROUP(to);
    for (int i = 0; i < n; i++) {
        if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= a->size))
            return sim_error(NULL, MPI_ERR_RANK);
        translated[i] =
            ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : sim_group_place(b, a->world[ranks[i]]);
    }
    return MPI_SUCCESS;
}
