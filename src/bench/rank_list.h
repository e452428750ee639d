/* Lists of ranks as `latecomer bench --ranks` takes them: "0,2-3". */
#ifndef LC_BENCH_RANK_LIST_H
#define LC_BENCH_RANK_LIST_H

#include <stdbool.h>

/* How many of the ranks 0 .. size - 1 are listed; 0: the list is not understood, or names ranks
 * that are not there. A rank that is listed twice counts once. */
long lc_rank_list_count(const char *list, long size);

/* Is this rank in a list of which lc_rank_list_count() is not 0? */
bool lc_rank_list_has(const char *list, long rank);

/* Several lists, as --comm takes them: "0-1/2-3". How many there are; 0: one is not understood, or
 * a rank is in two of them. */
long lc_rank_groups_count(const char *lists, long size);

/* The list, from 0, in which the rank is; -1: in none. */
long lc_rank_groups_of(const char *lists, long rank);

/* How many of the ranks 0 .. size - 1 are in list number `group`. */
long lc_rank_groups_members(const char *lists, long group, long size);

#endif
