#include "measure/unwind/cfi.h"
#include "measure/unwind/unwind.h"
#include "measure/unwind/walk.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"

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

/* Where the frame of f's caller begins; 0: beyond the stack. */
static inline uint64_t cfa_of(const struct lc_rule *rule, struct lc_frame *f, uint64_t low,
                              uint64_t high) {
    uint64_t cfa = (rule->cfa == LC_CFA_SP ? f->sp : f->fp) + (uint64_t)(int64_t)rule->cfa_offset;
    if (__builtin_expect(rule->cfa == LC_CFA_AT_FP, 0)) {
        if (!readable(cfa, low, high))
            return 0;
        f->cfa_slot = cfa;
        cfa = word(cfa);
    }
    return cfa > f->sp && readable(cfa - 8, f->sp, high) ? cfa : 0;
}

int lc_walk_stack(struct lc_walk *w, uint64_t frame, struct lc_frame *frames, int max,
                  bool *complete) {
    *complete = false;
    if (w->stack_high == 0)
        ask_stack(w);
    uint64_t high = w->stack_high;
    if (frame < w->stack_low || frame >= high || high - frame < 24 || (frame & 7) != 0)
        return -1;
    /* The wrapper keeps a frame pointer. */
    uint64_t ip = word(frame + 8), sp = frame + 16, fp = word(frame);
    uint64_t ip_slot = frame + 8, fp_slot = frame;
    int n = 0;
    for (; ip != 0 && n < max; n++) {
        const struct lc_rule *rule = rule_of(w, ip);
        if (rule->cfa == LC_CFA_UNKNOWN)
            return -1;
        struct lc_frame *f = &frames[n];
        f->ip = ip;
        f->sp = sp;
        f->fp = fp;
        f->ip_slot = ip_slot;
        f->fp_slot = fp_slot;
        f->start = rule->start;
        f->cfa_slot = 0;
        f->by_rule = true;
        f->uses_fp = rule->cfa > LC_CFA_SP || rule->fp == LC_SAVED_FP_AT_FP;
        f->signal = false;
        if (rule->cfa == LC_CFA_NONE) {
            *complete = true;
            return n + 1;
        }
        uint64_t cfa = cfa_of(rule, f, frame, high);
        if (cfa == 0)
            return -1;
        if (rule->fp != LC_SAVED_FP_SAME) {
            fp_slot =
                (rule->fp == LC_SAVED_FP_AT_CFA ? cfa : fp) + (uint64_t)(int64_t)rule->fp_offset;
            if (!readable(fp_slot, frame, high))
                return -1;
            fp = word(fp_slot);
        }
        ip_slot = cfa - 8;
        ip = word(ip_slot);
        sp = cfa;
    }
    *complete = ip == 0;
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
