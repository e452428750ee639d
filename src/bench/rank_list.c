#include "bench/rank_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One entry, N or N-M; where the next begins, or NULL: this is none. */
static const char *next_entry(const char *at, long *first, long *last) {
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    *first = *last = strtol(at, &end, 10);
    if (*end == '-') {
        if (!isdigit((unsigned char)end[1]))
            return NULL;
        *last = strtol(end + 1, &end, 10);
    }
    if (*last < *first || (*end != ',' && *end != '\0' && *end != '/') ||
        (*end == ',' && !isdigit((unsigned char)end[1])))
        return NULL;
    return *end == ',' ? end + 1 : end;
}

/* Ends at the end, or where the next list begins. */
static bool is_in(const char *list, long rank) {
    long first, last;
    for (const char *at = list; at != NULL && *at != '\0' && *at != '/';) {
        at = next_entry(at, &first, &last);
        if (at != NULL && rank >= first && rank <= last)
            return true;
    }
    return false;
}

bool lc_rank_list_has(const char *list, long rank) {
    return is_in(list, rank);
}

static long count_in(const char *list, long size) {
    long first, last, most = -1, count = 0;
    for (const char *at = list; *at != '\0' && *at != '/';) {
        at = next_entry(at, &first, &last);
        if (at == NULL || last >= size)
            return 0;
        most = last > most ? last : most;
    }
    for (long rank = 0; rank <= most; rank++)
        count += is_in(list, rank);
    return count;
}

long lc_rank_list_count(const char *list, long size) {
    return strchr(list, '/') == NULL ? count_in(list, size) : 0;
}

/* Where the next list begins; NULL: there is none. */
static const char *next_list(const char *list) {
    const char *slash = strchr(list, '/');
    return slash != NULL ? slash + 1 : NULL;
}

long lc_rank_groups_of(const char *lists, long rank) {
    long group = 0;
    for (const char *at = lists; at != NULL; at = next_list(at), group++)
        if (is_in(at, rank))
            return group;
    return -1;
}

long lc_rank_groups_members(const char *lists, long group, long size) {
    const char *at = lists;
    for (; group > 0 && at != NULL; group--)
        at = next_list(at);
    return at != NULL ? count_in(at, size) : 0;
}

long lc_rank_groups_count(const char *lists, long size) {
    long groups = 0, listed = 0, different = 0;
    for (const char *at = lists; at != NULL; at = next_list(at), groups++) {
        long members = count_in(at, size);
        if (members == 0)
            return 0;
        listed += members;
    }
    for (long rank = 0; rank < size; rank++)
        different += lc_rank_groups_of(lists, rank) >= 0;
    return different == listed ? groups : 0;
}
