/* Choices without a branch, for what cannot be foreseen (a branch that was guessed wrong costs 15
 * to 20 cycles from the moment when its operands are there). */
#ifndef LC_BASE_CHOOSE_H
#define LC_BASE_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* All bits set if `c`, else none; and what such a mask chooses. */
static inline uint64_t lc_mask(bool c) {
    return 0 - (uint64_t)c;
}
static inline uint64_t lc_choose(uint64_t mask, uint64_t a, uint64_t b) {
    return b ^ ((a ^ b) & mask);
}
static inline const void *lc_choose_pointer(uint64_t mask, const void *a, const void *b) {
    return (const void *)(uintptr_t)lc_choose(mask, (uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)b);
}
static inline uint64_t lc_larger(uint64_t a, uint64_t b) {
#if defined(__x86_64__) /* two instructions; of a choice in C the compiler may make a branch */
    if (!__builtin_constant_p(b)) {
        __asm__("cmpq %1, %0\n\tcmovbq %1, %0" : "+r"(a) : "r"(b) : "cc");
        return a;
    }
#endif
    return lc_choose(lc_mask(a > b), a, b);
}

#endif
