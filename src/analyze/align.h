/* Aligns two sequences of collective records: fewest edits (a record missing, superfluous, or of
 * another operation or root), and among those the smallest sum of distances between the ends of
 * matched records, which says which of many equal operations is the one that is missing. Used by
 * realign.c. */
#ifndef LC_ANALYZE_ALIGN_H
#define LC_ANALYZE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_align_record {
    int64_t end;
    uint32_t op, root;
};

/* partner[i]: place of own[i] in the reference, or LC_NONE. False if the two differ too much or
 * memory lacks (partner[] is unset). */
bool lc_align(const struct lc_align_record *reference, size_t n_reference,
              const struct lc_align_record *own, size_t n_own, uint32_t *partner);

#endif
