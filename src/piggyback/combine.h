/* Collectives of all with all, many members on one node: instead of reading a line of every member,
 * groups of 8 combine theirs, on the way up a tree (Yew, Tzeng and Lawrie 1987).
 *
 * Nouns
 *   group    8 members, or 8 groups of the level below; the last to arrive combines the lines of
 *            the group into one *before its own MPI call* and arrives at the next level
 *   line     the combined entry: largest clocks, also of each what-if scenario, latest enter, and
 *            whose they are
 *   slot     of an operation in a group, used again as those of the log (colllog.h)
 * Invariants: nobody waits; the operation ends only after all have entered, so the top line is
 * there when the first member leaves; where it is not (somebody skipped an entry, was in another
 * interval, or carries other what-if clocks), the lines of the members are read one by one as
 * ever. The lines of a group lie in the area of its first member. Only for operations that every
 * member sends in and synchronise. */
#ifndef LC_PIGGYBACK_COMBINE_H
#define LC_PIGGYBACK_COMBINE_H

#include "piggyback/colllog.h"
#include "piggyback/cpvec.h"

enum { LC_COMBINE_GROUP = 8, LC_COMBINE_LEVELS = 5, LC_COMBINE_SLOTS = 64 };

struct lc_combined {
    struct lc_stamp stamp;        /* of the one with the largest useful time; enter: the latest */
    uint32_t winner;              /* that member */
    uint32_t latest, latest_node; /* who entered last, and where it was before */
    uint32_t whatif_of;           /* generation of these clocks + 1; 0: nobody has any */
    uint64_t done;                /* smallest */
    uint64_t whatif[LC_WHATIF_MAX];
};

struct lc_combine_slot {      /* two lines: what the arriving write, and what all read */
    _Atomic uint64_t arrived; /* operation << 8 | members or groups that have arrived */
    uint64_t unused[7];
    struct lc_combined line;
    _Atomic uint64_t number; /* as in struct lc_log_entry; 0: not valid */
};

struct lc_combine {
    uint32_t n_levels;                                  /* 0: off */
    uint32_t n[LC_COMBINE_LEVELS + 1];                  /* members, groups of each level */
    struct lc_combine_slot **groups[LC_COMBINE_LEVELS]; /* per level and group; NULL: not found */
};

/* Makes the groups whose first member this is. Off if there are fewer than two groups, or no
 * memory. All members of the log must be on this node. */
void lc_combine_init(struct lc_combine *combine, struct lc_colllog *log, struct lc_area *mine);
/* Gives the groups back; all members have freed the communicator. */
void lc_combine_free(struct lc_combine *combine, struct lc_colllog *log, struct lc_area *mine);

/* This member has written its entry of operation `op`. */
void lc_combine_arrive(struct lc_combine *combine, struct lc_colllog *log, uint64_t op);
/* The combined entry of all members, own included; false: not there. */
bool lc_combine_read(struct lc_combine *combine, struct lc_colllog *log, uint64_t op,
                     struct lc_combined *out);

#endif
