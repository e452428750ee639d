/* Lists of ranks as `latecomer bench --ranks` takes them: "0,2-3". */
#ifndef LC_BENCH_RANK_LIST_H
#define LC_BENCH_RANK_LIST_H

#include <stdbool.h>

/* How many of the ranks 0 .. size - 1 are listed; 0: the list is not understood, or names ranks
 * that are not there. A rank that is listed twice counts once. */
long lc_rank_list_count(const char *list, long size);

/* Is this rank in a list of which lc_rank_list_count() is not 0? */
bool lc_rank_list_has(const char *list, long rank);

#endif
