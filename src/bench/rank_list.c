#include "bench/rank_list.h"

#include <ctype.h>
#include <stdlib.h>

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
    if (*last < *first || (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0'))
        return NULL;
    return *end == ',' ? end + 1 : end;
}

bool lc_rank_list_has(const char *list, long rank) {
    long first, last;
    for (const char *at = list; at != NULL && *at != '\0';) {
        at = next_entry(at, &first, &last);
        if (at != NULL && rank >= first && rank <= last)
            return true;
    }
    return false;
}

long lc_rank_list_count(const char *list, long size) {
    long first, last, count = 0;
    for (const char *at = list; *at != '\0';) {
        at = next_entry(at, &first, &last);
        if (at == NULL || last >= size)
            return 0;
    }
    for (long rank = 0; rank < size; rank++)
        count += lc_rank_list_has(list, rank);
    return count;
}
