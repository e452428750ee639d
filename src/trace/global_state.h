/* What the files that write global definitions share: global.c (all but) global_code.c (functions
 * and where they are called), global_threads.c (threads and teams). */
#ifndef LC_TRACE_GLOBAL_STATE_H
#define LC_TRACE_GLOBAL_STATE_H

#include "base/hash.h"
#include "base/lookup.h"
#include "trace/rank.h"

struct lc_text_number {
    char *text;
    uint32_t number;
};

struct lc_group {
    uint32_t n, number;
    uint64_t *members;
};

struct lc_global {
    OTF2_GlobalDefWriter *w;
    OTF2_Archive *archive;
    const struct lc_union *u;
    const struct lc_trace_rank_info *infos;
    int n_ranks;
    const struct lc_trace_defs *process;
    const struct lc_trace_options *options;
    struct lc_text_number *texts;
    size_t n_texts, cap_texts;
    uint32_t n_strings; /* numbers in use: of each text one, some without */
    struct lc_lookup text_at;
    struct lc_group *groups;
    size_t n_written, cap_groups; /* of groups[] */
    uint32_t n_groups, n_comms, n_dimensions, n_topologies;
    struct lc_lookup group_at;
    OTF2_ErrorCode code;
    bool no_memory;
};

#define WRITE(g, call)                                                                             \
    do {                                                                                           \
        OTF2_ErrorCode write_code = OTF2_GlobalDefWriter_Write##call;                              \
        if ((g)->code == OTF2_SUCCESS)                                                             \
            (g)->code = write_code;                                                                \
    } while (0)

/* The number of a text; written on first use. Reference 0 is "". */
uint32_t lc_global_string(struct lc_global *g, const char *text);

/* Writes a group; its name is "". */
void lc_global_group(struct lc_global *g, uint32_t number, OTF2_GroupType type,
                     OTF2_Paradigm paradigm, uint32_t n, const uint64_t *members);

/* Threads that the program made, and teams of OpenMP: nothing where there are none. */
bool lc_global_has_teams(const struct lc_global *g);
/* Defines the paradigms of threads that occur. */
void lc_global_thread_paradigms(struct lc_global *g);
/* Defines the groups and communicators of threads and teams. */
void lc_global_thread_comms(struct lc_global *g);

/* Writes regions, call paths and call sites. */
void lc_global_code(struct lc_global *g);

#endif
