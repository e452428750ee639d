/* Hashes: FNV-1a over bytes and words, and a mix for keys of hash tables. Values are the same on
 * all processes; none is ever stored in a result. */
#ifndef LC_BASE_HASH_H
#define LC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* What a hash begins with. */
#define LC_HASH_BEGIN 0xcbf29ce484222325ull

/* The hash so far and one more word (FNV-1a with a word in the place of a byte). */
static inline uint64_t lc_hash_word(uint64_t hash, uint64_t word) {
    return (hash ^ word) * 0x100000001b3ull;
}

static inline uint64_t lc_hash_bytes(uint64_t hash, const void *bytes, size_t length) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < length; i++)
        hash = lc_hash_word(hash, p[i]);
    return hash;
}

/* Without the NUL. */
static inline uint64_t lc_hash_text(uint64_t hash, const char *text) {
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
        hash = lc_hash_word(hash, *p);
    return hash;
}

/* Spreads a key over 64 bits (Fibonacci hashing): the upper bits are the good ones. */
static inline uint64_t lc_hash_key(uint64_t key) {
    return key * 0x9e3779b97f4a7c15ull;
}

/* Mixes the bits of a hash: all of them depend on all of those before, but for the highest. */
static inline uint64_t lc_hash_mix(uint64_t hash) {
    hash *= 0xff51afd7ed558ccdull;
    return hash ^ hash >> 32;
}

/* Spreads a key over 32 bits. */
static inline uint32_t lc_hash_key32(uint32_t key) {
    return key * 2654435761u;
}

#endif
