#include "measure/unwind/walk.h"
#include "measure/samples/perf_ring.h"

struct frame {
    uint64_t ip, sp, fp;
    uint64_t lr;   /* where functions return to that have not stored it; 0: they all have */
    bool fp_known; /* where the copy ends, it may be lost, and of no interest */
};

static bool word_at(const struct lc_perf_record *sample, uint64_t slot, uint64_t *word) {
    uint64_t from = slot - sample->registers[LC_PERF_SP];
    if ((from & 7) != 0 || sample->stack_bytes < 8 || from > sample->stack_bytes - 8u)
        return false;
    *word = sample->stack[from / sizeof(uint64_t)];
    return true;
}

/* The frame of the caller; false: the copy does not hold what the rule needs. */
static bool step(const struct lc_perf_record *sample, const struct lc_rule *rule, struct frame *f) {
    uint64_t cfa = (rule->cfa == LC_CFA_SP ? f->sp : f->fp) + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->cfa != LC_CFA_SP && !f->fp_known)
        return false;
    if (rule->cfa == LC_CFA_AT_FP && !word_at(sample, cfa, &cfa))
        return false;
    uint64_t slot = cfa + (uint64_t)(int64_t)rule->ra_offset, stored = f->lr;
    bool in_register = rule->ra_offset == 0;
    if (in_register ? stored == 0 || cfa < f->sp : cfa <= f->sp || !word_at(sample, slot, &stored))
        return false;
    f->ip = lc_address_of(stored);
    f->lr = 0;
    if (rule->fp != LC_SAVED_FP_SAME) {
        bool at_cfa = rule->fp == LC_SAVED_FP_AT_CFA;
        slot = (at_cfa ? cfa : f->fp) + (uint64_t)(int64_t)rule->fp_offset;
        f->fp_known = (at_cfa || f->fp_known) && word_at(sample, slot, &f->fp);
    }
    f->sp = cfa;
    return true;
}

uint32_t lc_stack_copy_walk(struct lc_walk *w, const struct lc_perf_record *sample,
                            uint64_t *addresses, uint32_t max, bool *cut) {
    const uint64_t *registers = sample->registers;
    struct frame f = {.ip = registers[LC_PERF_IP],
                      .sp = registers[LC_PERF_SP],
                      .fp = registers[LC_PERF_FP],
                      .fp_known = true};
#if defined(__aarch64__)
    f.lr = registers[LC_PERF_LR];
#endif
    uint32_t n = 0;
    *cut = false;
    if (sample->stack_bytes == 0)
        return 0;
    while (n < max && f.ip != 0) {
        /* Rules are those of the calls before return addresses; the sample made no call. */
        const struct lc_rule *rule = lc_walk_rule(w, n == 0 ? f.ip + 1 : f.ip);
        addresses[n++] = f.ip;
        if (rule->cfa == LC_CFA_UNKNOWN || rule->cfa == LC_CFA_NONE)
            break;
        if (!step(sample, rule, &f)) {
            *cut = true;
            break;
        }
    }
    return n;
}
