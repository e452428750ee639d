#define UNW_LOCAL_ONLY
#include <pthread.h>
#include <string.h>
#include <libunwind.h>

#include "measure/unwind/walk.h"
#include "base/hash.h"
#include "measure/core/core.h"

#if defined(__x86_64__)
enum { IS_X86_64 = 1, REG_FP = UNW_X86_64_RBP, REG_IP = UNW_X86_64_RIP };
#elif defined(__aarch64__)
enum { IS_X86_64 = 0, REG_FP = UNW_AARCH64_X29, REG_IP = UNW_AARCH64_X30 };
#endif

static uint64_t slot_of(unw_cursor_t *cursor, int reg) {
    unw_save_loc_t place;
    if (unw_get_save_loc(cursor, reg, &place) < 0 || place.type != UNW_SLT_MEMORY)
        return 0;
    return place.u.addr;
}

void lc_unwind_init(void) {
    enum { RULES = 4096, BYTES_OF_ONE = 512 }; /* at most */
    if (lc_limits_memory((size_t)RULES * BYTES_OF_ONE))
        unw_set_cache_size(unw_local_addr_space, RULES, 0);
}

void lc_unwind_forget(void) {
    unw_flush_cache(unw_local_addr_space, 0, 0);
}

static uint64_t start_of(unw_cursor_t *cursor) {
    unw_proc_info_t info;
    return unw_get_proc_info(cursor, &info) == 0 ? info.start_ip : 0;
}

int lc_unwind(uint64_t frame, struct lc_frame *frames, int max, bool *complete) {
    unw_context_t context;
    unw_cursor_t cursor;
    int n = 0, step;
    *complete = false;
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
        return 0;
    while ((step = unw_step(&cursor)) > 0) {
        unw_word_t ip = 0, sp = 0, fp = 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        unw_get_reg(&cursor, UNW_REG_SP, &sp);
        unw_get_reg(&cursor, REG_FP, &fp);
        /* Our own frames; the slots of the first one would point into the copy of the registers. */
        if (sp <= frame)
            continue;
        if (ip == 0) { /* the end, marked by an undefined return address */
            step = 0;
            break;
        }
        if (n == max)
            return n;
        struct lc_frame *f = &frames[n++];
        f->ip = lc_address_of(ip);
        f->sp = sp;
        f->fp = fp;
        f->ip_slot = slot_of(&cursor, REG_IP);
        f->fp_slot = slot_of(&cursor, REG_FP);
        f->signal = unw_is_signal_frame(&cursor) > 0;
        f->by_rule = f->uses_fp = false;
        f->cfa_slot = 0;
        f->start = start_of(&cursor);
    }
    *complete = step == 0;
    return n;
}

static bool add_check(uint64_t frame, uint64_t slot, uint64_t value, struct lc_check *checks,
                      uint32_t *n) {
    if (slot < frame || slot - frame > INT32_MAX || (slot & 7) != 0 ||
        *(const uint64_t *)slot != value)
        return false;
    checks[*n].offset = (int32_t)(slot - frame);
    checks[*n].expected = value;
    ++*n;
    return true;
}

/* A return address is compared as it is stored, with its signature. */
static bool add_return_address(uint64_t frame, const struct lc_frame *f, struct lc_check *checks,
                               uint32_t *n) {
    if (f->ip_slot < frame || (f->ip_slot & 7) != 0)
        return false;
    uint64_t stored = *(const uint64_t *)f->ip_slot;
    return lc_address_of(stored) == f->ip && add_check(frame, f->ip_slot, stored, checks, n);
}

/* The frame pointer of frame k, where it decides where the frame of its caller lies. Elsewhere the
 * register is data (a loop counter), and comparing it would make every call a miss. Rules say which
 * it is; of libunwind's frames it is guessed: it does if it points into its own frame, and
 * realigned frames keep the caller's frame at rbp - 8. */
__attribute__((no_sanitize("address"))) static bool
add_frame_pointer(uint64_t frame, const struct lc_frame *f, uint64_t outer_sp,
                  struct lc_check *checks, uint32_t *n) {
    if (f->by_rule ? !f->uses_fp : f->fp < f->sp || f->fp >= outer_sp)
        return true;
    if (!add_check(frame, f->fp_slot, f->fp, checks, n))
        return false;
    uint64_t slot = f->cfa_slot;
    if (!f->by_rule && f->fp != outer_sp - 16 && (f->fp & 7) == 0 && f->fp - 8 >= f->sp)
        slot = f->fp - 8;
    return slot == 0 || add_check(frame, slot, *(const uint64_t *)slot, checks, n);
}

/* Why these words prove the path, by induction from the wrapper outwards: the key of the entry is
 * the wrapper's frame, and the address that it returns to. Where a frame's address and stack
 * pointer are known, the rule of the address leads to the frame of its caller from the stack
 * pointer, or from the frame pointer, which is compared then; and there the return address is
 * compared. */
bool lc_unwind_checks(uint64_t frame, const struct lc_frame *frames, int n_frames,
                      struct lc_check *checks, uint32_t *n) {
    *n = 0;
    for (int k = 0; k < n_frames; k++) {
        const struct lc_frame *f = &frames[k];
        if (!IS_X86_64 && !f->by_rule) /* what is guessed of libunwind's frames is for x86-64 */
            return false;
        if (k > 0 && !add_return_address(frame, f, checks, n))
            return false;
        if (k + 1 < n_frames && !add_frame_pointer(frame, f, frames[k + 1].sp, checks, n))
            return false;
    }
    return true;
}

static void ask_stack(struct lc_walk *w) {
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    w->stack_high = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
        w->stack_low = (uint64_t)low;
        w->stack_high = (uint64_t)low + bytes;
    }
    pthread_attr_destroy(&attributes);
}

static inline const struct lc_rule *rule_of(struct lc_walk *w, uint64_t ip) {
    struct lc_rule *rule = &w->rules[(lc_hash_key(ip) >> 40) % LC_RULES];
    if (__builtin_expect(rule->ip != ip, 0))
        lc_cfi_rule(ip, rule);
    return rule;
}

static inline bool readable(uint64_t slot, uint64_t low, uint64_t high) {
    return slot >= low && slot <= high - 8 && (slot & 7) == 0;
}

/* The stack is the program's: what its frames hold need not be what they were compiled to hold. */
__attribute__((no_sanitize("address"))) static inline uint64_t word(uint64_t slot) {
    return *(const uint64_t *)slot;
}

/* Where a frame goes on, its registers there, and where address and frame pointer were found. */
struct place {
    uint64_t ip, sp, fp, ip_slot, fp_slot;
};

/* Where the frame of the caller begins; 0: beyond the stack. *at: where that was read. */
static inline uint64_t cfa_of(const struct lc_rule *rule, const struct place *p, uint64_t low,
                              uint64_t high, uint64_t *at) {
    uint64_t cfa = (rule->cfa == LC_CFA_SP ? p->sp : p->fp) + (uint64_t)(int64_t)rule->cfa_offset;
    *at = 0;
    if (__builtin_expect(rule->cfa == LC_CFA_AT_FP, 0)) {
        if (!readable(cfa, low, high))
            return 0;
        *at = cfa;
        cfa = word(cfa);
    }
    return cfa > p->sp && cfa <= high ? cfa : 0;
}

/* From a place to that of its caller, by the rule of its address; only words of [low, high) are
 * read. false: it leads out of them. */
__attribute__((always_inline)) static inline bool
step(const struct lc_rule *rule, struct place *p, uint64_t low, uint64_t high, uint64_t *cfa_slot) {
    uint64_t cfa = cfa_of(rule, p, low, high, cfa_slot);
    uint64_t slot = cfa + (uint64_t)(int64_t)rule->ra_offset;
    if (cfa == 0 || rule->ra_offset == 0 || !readable(slot, p->sp, high))
        return false;
    p->ip_slot = slot;
    p->ip = lc_address_of(word(slot));
    if (rule->fp != LC_SAVED_FP_SAME) {
        slot = (rule->fp == LC_SAVED_FP_AT_CFA ? cfa : p->fp) + (uint64_t)(int64_t)rule->fp_offset;
        if (!readable(slot, low, high))
            return false;
        p->fp_slot = slot;
        p->fp = word(slot);
    }
    p->sp = cfa;
    return true;
}

/* The place of the wrapper's caller. The wrapper keeps a frame pointer: at its frame address lie
 * the caller's, and the return address. */
#if defined(__x86_64__)
static inline bool begin_at_caller(struct lc_walk *w, uint64_t frame, uint64_t high,
                                   struct place *p) {
    (void)w;
    (void)high;
    *p = (struct place){word(frame + 8), frame + 16, word(frame), frame + 8, frame};
    return true;
}
#else
/* How far from them its frame ends is up to the compiler: found by the rules of our own frames. */
static __attribute__((noinline)) bool begin_at_caller(struct lc_walk *w, uint64_t frame,
                                                      uint64_t high, struct place *p) {
    uint64_t ip, sp, unused;
    __asm__ volatile("adr %0, .\n\tmov %1, sp" : "=r"(ip), "=r"(sp));
    /* rules are those of the instruction before a return address */
    *p = (struct place){.ip = ip + 1, .sp = sp, .fp = (uint64_t)__builtin_frame_address(0)};
    while (p->sp <= frame) {
        const struct lc_rule *rule = rule_of(w, p->ip);
        if (rule->cfa == LC_CFA_UNKNOWN || rule->cfa == LC_CFA_NONE ||
            !step(rule, p, sp, high, &unused))
            return false;
    }
    return p->ip_slot == frame + 8 && p->fp_slot == frame;
}
#endif

int lc_walk_stack(struct lc_walk *w, uint64_t frame, struct lc_frame *frames, int max,
                  bool *complete) {
    struct place p;
    *complete = false;
    if (w->stack_high == 0)
        ask_stack(w);
    uint64_t high = w->stack_high;
    if (frame < w->stack_low || frame >= high || high - frame < 24 || (frame & 7) != 0 ||
        !begin_at_caller(w, frame, high, &p))
        return -1;
    int n = 0;
    for (; p.ip != 0 && n < max; n++) {
        const struct lc_rule *rule = rule_of(w, p.ip);
        if (rule->cfa == LC_CFA_UNKNOWN)
            return -1;
        struct lc_frame *f = &frames[n];
        f->ip = p.ip;
        f->sp = p.sp;
        f->fp = p.fp;
        f->ip_slot = p.ip_slot;
        f->fp_slot = p.fp_slot;
        f->start = rule->start;
        f->cfa_slot = 0;
        f->by_rule = true;
        f->uses_fp = rule->cfa > LC_CFA_SP || rule->fp == LC_SAVED_FP_AT_FP;
        f->signal = false;
        if (rule->cfa == LC_CFA_NONE) {
            *complete = true;
            return n + 1;
        }
        if (!step(rule, &p, frame, high, &f->cfa_slot))
            return -1;
    }
    *complete = p.ip == 0;
    return n;
}

const struct lc_rule *lc_walk_rule(struct lc_walk *w, uint64_t ip) {
    return rule_of(w, ip);
}

uint64_t lc_walk_start(struct lc_walk *w, uint64_t ip) {
    return rule_of(w, ip)->start;
}

void lc_walk_forget(struct lc_walk *w) {
    memset(w->rules, 0, sizeof w->rules);
}
