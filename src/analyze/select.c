#include "analyze/select.h"

#include <string.h>

/* From the highest byte to the lowest: histograms of the values that agree with the bytes found so
 * far. */

enum { MAX_AT = 8 };

static size_t byte_of(int64_t value, int shift) {
    return (size_t)((uint64_t)value >> shift) & 255;
}

enum lc_err lc_select_i64(const struct lc_transport *comm, const int64_t *values, size_t count,
                          const int64_t *at, size_t n_at, int64_t *found) {
    int64_t rest[MAX_AT], tally[MAX_AT][256], max = 0;
    if (n_at > MAX_AT)
        return lc_fail(LC_ERR_RANGE, "statistics: too many quantiles at once: %zu", n_at);
    for (size_t i = 0; i < count; i++)
        max = values[i] > max ? values[i] : max;
    lc_transport_allreduce_i64(comm, &max, 1, LC_OP_MAX);
    int shift = 0;
    while (shift < 56 && max >> shift > 255)
        shift += 8;
    for (size_t k = 0; k < n_at; k++) {
        rest[k] = at[k];
        found[k] = 0;
    }
    for (; shift >= 0; shift -= 8) {
        memset(tally, 0, sizeof tally);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < n_at; k++)
                if ((uint64_t)(values[i] ^ found[k]) >> shift >> 8 == 0)
                    tally[k][byte_of(values[i], shift)]++;
        lc_transport_allreduce_i64(comm, tally[0], n_at * 256, LC_OP_SUM);
        for (size_t k = 0; k < n_at; k++) {
            int64_t b = 0;
            while (b < 255 && rest[k] >= tally[k][b])
                rest[k] -= tally[k][b++];
            found[k] |= b << shift;
        }
    }
    return LC_OK;
}
