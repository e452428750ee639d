/* What the tables of exception handling (.eh_frame) say of one return address: how to find the
 * caller's frame. A small reader of those tables: only what compilers write for functions that call
 * others is understood; everything else is left to libunwind.
 *
 * Nouns
 *   CFA     canonical frame address: the stack pointer of the caller after the return
 *   rule    CFA, and where the caller's frame pointer lies, as offsets. The return address itself
 *           lies at CFA - 8 (else there is no rule)
 * Called when an address is first seen. Takes the dynamic linker's lock; reads nothing but tables
 * of objects that it lists. */
#ifndef LC_MEASURE_UNWIND_CFI_H
#define LC_MEASURE_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum lc_cfa {
    LC_CFA_UNKNOWN, /* no table, or more than a rule can say: signal frames, other registers */
    LC_CFA_NONE,    /* no caller: the outermost frame */
    LC_CFA_SP,      /* stack pointer + cfa_offset */
    LC_CFA_FP,      /* frame pointer + cfa_offset */
    LC_CFA_AT_FP    /* the word at frame pointer + cfa_offset: realigned frames */
};

enum lc_saved_fp {
    LC_SAVED_FP_SAME,   /* still in the register */
    LC_SAVED_FP_AT_CFA, /* at CFA + fp_offset */
    LC_SAVED_FP_AT_FP   /* at frame pointer + fp_offset: realigned frames */
};

struct lc_rule {
    uint64_t ip;    /* the return address; 0: empty */
    uint64_t start; /* begin of the function; 0: unknown */
    int32_t cfa_offset, fp_offset;
    uint8_t cfa, fp; /* enum lc_cfa, enum lc_saved_fp */
};

/* The rule of a return address. */
void lc_cfi_rule(uint64_t ip, struct lc_rule *rule);

#endif
