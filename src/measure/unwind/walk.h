/* The stack as frames, from remembered rules: how the caller's frame is found from each return
 * address (cfi.c) is looked up once, then a frame costs a few loads, no system call. Where a rule
 * is missing the caller falls back to libunwind.
 *
 * Invariant: reads only aligned words between the given frame and the end of the thread's stack,
 * and each step moves outwards, so it ends whatever the stack holds. */
#ifndef LC_MEASURE_UNWIND_WALK_H
#define LC_MEASURE_UNWIND_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* What the tables of exception handling (.eh_frame) say of one return address: how to find the
 * caller's frame. A small reader of those tables: only what compilers write for functions that call
 * others is understood; everything else is left to libunwind.
 *
 * Nouns
 *   CFA     canonical frame address: the stack pointer of the caller after the return
 *   rule    CFA, and where the caller's frame pointer and the return address lie, as offsets
 * Called when an address is first seen. Takes the dynamic linker's lock; reads nothing but tables
 * of objects that it lists. */

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
    int32_t ra_offset; /* the return address lies at CFA + this; 0: still in the register */
    uint8_t cfa, fp;   /* enum lc_cfa, enum lc_saved_fp */
};

/* The rule of a return address. */
void lc_cfi_rule(uint64_t ip, struct lc_rule *rule);

struct lc_frame;

enum { LC_RULES = 8192 };

/* Of one thread; zeroed at first. */
struct lc_walk {
    uint64_t stack_low, stack_high; /* of the thread; high 0: not asked yet, 1: unknown */
    struct lc_rule rules[LC_RULES];
};

/* As lc_unwind. -1: not by rules: another stack than the thread's own, a frame without a rule. */
int lc_walk_stack(struct lc_walk *w, uint64_t frame, struct lc_frame *frames, int max,
                  bool *complete);
/* The rule of a return address; it stays until another one needs its place. */
const struct lc_rule *lc_walk_rule(struct lc_walk *w, uint64_t ip);
/* Begin of the function around a return address; 0: unknown. */
uint64_t lc_walk_start(struct lc_walk *w, uint64_t ip);
/* A library was unloaded: the rules remembered for its code are forgotten. */
void lc_walk_forget(struct lc_walk *w);

/* The stack as frames, and the words on it that prove a call path. */

enum { LC_FRAMES_MAX = 1024, LC_FRAMES_CACHED = 512, LC_ITEMS_MAX = 128 };

/* A word of the stack that proves a call path. 12 bytes: what is compared on each call is what most
 * of a remembered path is. */
struct __attribute__((packed, aligned(4))) lc_check {
    uint64_t expected;
    int32_t offset; /* from the wrapper's frame address */
};

/* Of an activation: a word of the stack and its address. */
struct lc_mark {
    uint64_t slot;  /* where its return address lies */
    uint64_t value; /* that return address; 0: nothing to compare */
};

/* A function activation outside of the wrapper, innermost first. */
struct lc_frame {
    uint64_t ip;       /* where it goes on */
    uint64_t sp;       /* stack pointer there */
    uint64_t fp;       /* frame-pointer register there */
    uint64_t ip_slot;  /* where ip was found; 0: not in memory */
    uint64_t fp_slot;  /* the same for fp */
    uint64_t start;    /* begin of the function; 0: unknown */
    uint64_t cfa_slot; /* by rules: where the begin of the caller's frame was read; 0: computed */
    bool by_rule;      /* found by remembered rules: uses_fp and cfa_slot are known */
    bool uses_fp;      /* the frame-pointer register decides where the caller's frame is */
    bool signal;       /* interrupted here: ip is no return address */
    /* where it was called, if frames of the stack are left out after it; value 0: none is */
    struct lc_mark outer;
    /* of an interpreted function (python_stack.h): its number of lc_region_by_name + 1, the
     * line that runs, where its frame and its instruction lie; script 0: a function of the
     * machine's */
    uint32_t script, script_line;
    uint64_t script_slot, script_ip;
};

/* At the start: libunwind remembers the rules of 128 return addresses, too few for large programs,
 * whose every step would be a search then. */
void lc_unwind_init(void);

/* A library went away; another one may come to lie there. */
void lc_unwind_forget(void);

/* Frames outside of the wrapper with this frame address, found by libunwind: right for all that has
 * tables, and slow (20 system calls for each frame). *complete: the outermost one was reached. The
 * usual way is lc_walk_stack (unwind/walk.h). */
int lc_unwind(uint64_t frame, struct lc_frame *frames, int max, bool *complete);

/* The address in a return address as it is stored: where the processor signs return addresses
 * (pointer authentication of Arm), some of its upper bits are the signature. */
static inline uint64_t lc_address_of(uint64_t stored) {
#if defined(__aarch64__)
    register uint64_t x30 __asm__("x30") = stored;
    __asm__("hint #7" : "+r"(x30)); /* xpaclri: nothing on processors that do not sign */
    return x30;
#else
    return stored;
#endif
}

/* The words to compare, innermost first; false: not cacheable. *n <= 3 * n_frames. */
bool lc_unwind_checks(uint64_t frame, const struct lc_frame *frames, int n_frames,
                      struct lc_check *checks, uint32_t *n);

#endif
