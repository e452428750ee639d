/* Floating-point numbers as words of messages. */
#ifndef LC_BASE_BITS_H
#define LC_BASE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t lc_bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double lc_double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
