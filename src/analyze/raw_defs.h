/* Definitions while they are read, as they stand in the archive: for archive_defs.c (clock,
 * strings, system tree, locations, regions) and archive_defs_comm.c (groups, communicators,
 * windows, files, topologies) only. */
#ifndef LC_ANALYZE_RAW_DEFS_H
#define LC_ANALYZE_RAW_DEFS_H

#include "analyze/definition_ids.h"
#include "base/mem.h"

struct raw_group { /* location group */
    uint64_t id, system_node;
    const char *name;
    uint32_t order;   /* rank, or after all ranks */
    uint32_t process; /* in the trace; LC_NONE: no process */
    uint32_t n_locations;
};

struct raw_program { /* of a location group */
    uint64_t group;
    const char *name;
};

struct raw_location {
    uint64_t id, n_events, group;
    const char *name;
};

struct raw_node {
    uint64_t id, parent;
    const char *name, *class_name;
};

struct raw_comm {
    uint64_t id, group, remote; /* remote: OTF2_UNDEFINED_GROUP or group B */
    bool window;
};

struct raw_dim { /* of a Cartesian topology */
    uint64_t id;
    struct lc_an_dim dim;
};

struct raw_topology {
    uint64_t comm;
    uint32_t n_dims;
    const uint64_t *dims;
};

struct raw_neighbours { /* of a process in a communicator */
    uint64_t location, comm;
    const char *ranks; /* as text */
};

struct lc_def_raw {
    struct lc_defs *defs;
    enum lc_err err;
    struct raw_group *groups;
    size_t n_groups, cap_groups;
    struct raw_program *programs;
    size_t n_programs, cap_programs;
    struct raw_location *locations;
    size_t n_locations, cap_locations;
    struct raw_node *nodes;
    size_t n_nodes, cap_nodes;
    struct raw_comm *comms;
    size_t n_comms, cap_comms;
    struct raw_dim *dims;
    size_t n_dims, cap_dims;
    struct raw_neighbours *neighbours;
    size_t n_neighbours, cap_neighbours;
    struct raw_topology *topologies;
    size_t n_topologies, cap_topologies;
    struct lc_idmap location_process; /* OTF2 location -> process */
    struct lc_idmap node_of;
};

/* Appends one zeroed element; NULL (and raw->err) without memory. */
#define RAW_ADD(raw, field)                                                                        \
    (((raw)->err = lc_grow(&(raw)->field, &(raw)->cap_##field, (raw)->n_##field + 1,               \
                           sizeof *(raw)->field)) == LC_OK                                         \
         ? &(raw)->field[(raw)->n_##field++]                                                       \
         : NULL)

#define RAW_END(raw) ((raw)->err == LC_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT)

#endif
