/* What OTF2's numbers of definitions mean in the trace: strings, regions, communicators, windows,
 * files, groups. Filled while the definitions are read, asked by the readers of events.
 *
 * Invariant: one region per name (call paths are equal if their names are), and one for functions
 * of that name that samples found. */
#ifndef LC_ANALYZE_DEFINITION_IDS_H
#define LC_ANALYZE_DEFINITION_IDS_H

#include <otf2/otf2.h>

#include "analyze/trace.h"
#include "base/idmap.h"

struct lc_def_group {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint32_t n_members;
    const uint64_t *members;   /* as in the archive */
    const uint32_t *processes; /* as processes of the trace; LC_NONE: unknown */
};

struct lc_def_context {      /* a calling context */
    uint32_t parent, region; /* contexts[], or LC_NONE; region of the trace */
};

struct lc_def_generator { /* of samples */
    double weight;        /* what one stands for, against those of other generators */
    bool scheduler;       /* the thread leaves the processor, or comes back */
};

struct lc_defs {
    struct lc_trace *trace;
    struct lc_idmap strings; /* OTF2 id -> texts[] */
    const char **texts;
    size_t n_texts, cap_texts;
    struct lc_idmap region_of; /* OTF2 region -> regions of the trace */
    struct lc_idmap name_of;   /* hash of a name -> regions of the trace */
    size_t cap_regions;
    struct lc_idmap comm_of;   /* OTF2 communicator -> comms of the trace */
    struct lc_idmap window_of; /* OTF2 window -> comms of the trace */
    struct lc_idmap file_of;   /* OTF2 I/O handle -> comms of the trace */
    struct lc_idmap group_of;  /* OTF2 group -> groups[] */
    struct lc_def_group *groups;
    size_t n_groups, cap_groups;
    struct lc_idmap context_of;   /* OTF2 calling context -> contexts[] */
    struct lc_idmap generator_of; /* OTF2 interrupt generator -> generators[] */
    struct lc_def_context *contexts;
    size_t n_contexts, cap_contexts;
    struct lc_def_generator *generators;
    size_t n_generators, cap_generators;
    int64_t skipped_locations; /* no CPU threads, or without a process */
    uint32_t left_out;         /* attribute LC_LEFT_OUT_ATTRIBUTE; OTF2_UNDEFINED_ATTRIBUTE: none */
};

/* Frees what it holds, not the trace. */
void lc_defs_free(struct lc_defs *defs);

/* Text of an OTF2 string, which belongs to `defs`; "" if undefined. */
const char *lc_defs_text(const struct lc_defs *defs, uint64_t id);

/* Finds or adds the region of that name (program names, <unknown>), found by samples or entered.
 * Errors: LC_ERR_NOMEM. */
enum lc_err lc_defs_region(struct lc_defs *defs, const struct lc_an_region *region, uint32_t *id);

#endif
