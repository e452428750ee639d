/* What the two files that write global definitions share: global.c (all but) global_code.c
 * (functions and where they are called). */
#ifndef LC_TRACE_GLOBAL_H
#define LC_TRACE_GLOBAL_H

#include "trace/rank.h"

struct lc_string_slot {
    char *text; /* NULL: free */
    uint32_t number;
};

struct lc_group_slot {
    uint32_t n, number;
    uint64_t *members; /* NULL: free */
};

struct lc_global {
    OTF2_GlobalDefWriter *w;
    OTF2_Archive *archive;
    const struct lc_union *u;
    const struct lc_trace_rank_info *infos;
    int n_ranks;
    const struct lc_trace_defs *process;
    const struct lc_trace_options *options;
    struct lc_string_slot *strings;
    size_t string_mask, n_strings;
    struct lc_group_slot *groups;
    size_t group_mask;
    uint32_t n_groups, n_comms;
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

/* Regions, call paths or call sites. */
void lc_global_code(struct lc_global *g);

#endif
