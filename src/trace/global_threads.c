/* Global definitions of threads: paradigms, and the groups and communicators that the records of
 * threads and teams refer to. Members of a communicator's group are positions in the group of all
 * locations of its paradigm. */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/global_state.h"

static bool created(const struct lc_trace_location_info *l) {
    return l->thread > 0 && !l->openmp;
}

static bool has_threads(const struct lc_global *g) {
    for (int r = 0; r < g->n_ranks; r++)
        for (uint32_t i = 0; i < g->infos[r].n_locations; i++)
            if (created(&g->infos[r].locations[i]))
                return true;
    return false;
}

bool lc_global_has_teams(const struct lc_global *g) {
    for (int r = 0; r < g->n_ranks; r++)
        if (g->infos[r].n_teams > 0)
            return true;
    return false;
}

void lc_global_thread_paradigms(struct lc_global *g) {
    if (has_threads(g))
        WRITE(g, Paradigm(g->w, OTF2_PARADIGM_PTHREAD, lc_global_string(g, "Pthread"),
                          OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT));
    if (!lc_global_has_teams(g))
        return;
    OTF2_AttributeValue team = {.stringRef = lc_global_string(g, "Thread team ${id}")};
    WRITE(g, Paradigm(g->w, OTF2_PARADIGM_OPENMP, lc_global_string(g, "OpenMP"),
                      OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN));
    WRITE(g, ParadigmProperty(g->w, OTF2_PARADIGM_OPENMP, OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
                              OTF2_TYPE_STRING, team));
}

static void write_comm(struct lc_global *g, uint32_t comm, OTF2_Paradigm paradigm, uint32_t n,
                       const uint64_t *members) {
    lc_global_group(g, g->n_groups, OTF2_GROUP_TYPE_COMM_GROUP, paradigm, n, members);
    WRITE(g, Comm(g->w, comm, lc_global_string(g, ""), g->n_groups++, OTF2_UNDEFINED_COMM,
                  OTF2_COMM_FLAG_NONE));
}

/* The main thread and those that it is taken to have created, per process. */
static void write_created(struct lc_global *g, uint64_t *members) {
    uint32_t n = 0;
    for (int r = 0; r < g->n_ranks; r++)
        for (uint32_t i = 0; i < g->infos[r].n_locations; i++)
            if (!g->infos[r].locations[i].openmp)
                members[n++] = g->infos[r].locations[i].location;
    lc_global_group(g, g->n_groups++, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_PTHREAD, n,
                    members);
    uint64_t next = 0;
    for (int r = 0; r < g->n_ranks; r++) {
        uint32_t of_process = 0;
        for (uint32_t i = 0; i < g->infos[r].n_locations; i++)
            if (!g->infos[r].locations[i].openmp)
                members[of_process++] = next++;
        write_comm(g, g->n_comms + (uint32_t)r, OTF2_PARADIGM_PTHREAD, of_process, members);
    }
}

/* Positions in the group of all that are in teams: LC_NONE: it is in none. */
static uint32_t number_members(struct lc_global *g, uint64_t *members, uint32_t *positions) {
    uint32_t n = 0;
    for (int r = 0; r < g->n_ranks; r++) {
        const struct lc_trace_rank_info *info = &g->infos[r];
        for (uint32_t i = 0; i < info->n_locations; i++)
            positions[i] = LC_NONE;
        for (uint32_t i = 0; i < info->n_teams; i++)
            if (info->teams[i].location < info->n_locations)
                positions[info->teams[i].location] = 0;
        for (uint32_t i = 0; i < info->n_locations; i++)
            if (positions[i] != LC_NONE) {
                positions[i] = n;
                members[n++] = info->locations[i].location;
            }
        positions += info->n_locations;
    }
    return n;
}

/* Those of one process in one team, in the order of its locations. */
static void write_team(struct lc_global *g, int rank, uint32_t team, const uint32_t *positions,
                       uint64_t *members) {
    const struct lc_trace_rank_info *info = &g->infos[rank];
    uint32_t n = 0;
    for (uint32_t i = 0; i < info->n_teams; i++) /* by location, then as they came */
        if (info->teams[i].team == team && info->teams[i].location < info->n_locations)
            members[n++] = positions[info->teams[i].location];
    write_comm(g, lc_trace_team_comm(g->n_comms, (uint32_t)g->n_ranks, (uint32_t)rank, team),
               OTF2_PARADIGM_OPENMP, n, members);
}

/* Numbers are without gaps: some processes have fewer teams than others, and so empty ones. */
static void write_teams(struct lc_global *g, uint64_t *members, uint32_t *positions) {
    uint32_t n = number_members(g, members, positions), n_teams = 0;
    lc_global_group(g, g->n_groups++, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP, n,
                    members);
    const uint32_t *of_rank = positions;
    for (int r = 0; r < g->n_ranks; r++) {
        const struct lc_trace_rank_info *info = &g->infos[r];
        uint32_t in_teams = 0;
        for (uint32_t i = 0; i < info->n_locations; i++)
            if (of_rank[i] != LC_NONE)
                members[in_teams++] = of_rank[i];
        for (uint32_t i = 0; i < info->n_teams; i++)
            n_teams = info->teams[i].team >= n_teams ? info->teams[i].team + 1 : n_teams;
        if (!has_threads(g))
            write_comm(g, g->n_comms + (uint32_t)r, OTF2_PARADIGM_OPENMP, in_teams, members);
        of_rank += info->n_locations;
    }
    for (uint32_t team = 0; team < n_teams; team++) {
        of_rank = positions;
        for (int r = 0; r < g->n_ranks; r++) {
            write_team(g, r, team, of_rank, members);
            of_rank += g->infos[r].n_locations;
        }
    }
}

void lc_global_thread_comms(struct lc_global *g) {
    size_t n_all = 0;
    for (int r = 0; r < g->n_ranks; r++)
        n_all += g->infos[r].n_locations;
    uint64_t *members = malloc((n_all + 1) * sizeof(*members));
    uint32_t *positions = calloc(n_all + 1, sizeof(*positions));
    if (members == NULL || positions == NULL)
        g->no_memory = true;
    else if (has_threads(g))
        write_created(g, members);
    if (!g->no_memory && lc_global_has_teams(g))
        write_teams(g, members, positions);
    free(members);
    free(positions);
}
