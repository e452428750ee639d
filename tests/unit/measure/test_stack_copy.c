/* Copies of the stack: the call chain of frames laid out by hand, and copies, registers and rules
 * that hold anything: nothing outside of the copy is read, and the walk ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/unwind/walk.h"
#include "measure/samples/perf_ring.h"

enum { MOST = 128, SP = 0x7000 };

static struct lc_rule rules[8]; /* by address; the last one: of all others */

/* Instead of the tables of exception handling. */
const struct lc_rule *lc_walk_rule(struct lc_walk *w, uint64_t ip) {
    (void)w;
    for (int i = 0; i < 7; i++)
        if (rules[i].ip == ip)
            return &rules[i];
    return &rules[7];
}

static struct lc_perf_record *sample; /* its end is the end of the memory */

static int make(void **state) {
    (void)state;
    memset(rules, 0, sizeof rules);
    sample = calloc(1, sizeof *sample);
    return sample == NULL;
}

static int drop(void **state) {
    (void)state;
    free(sample);
    return 0;
}

/* leaf (16 bytes, saves the frame pointer) < middle (found by its frame pointer) < outermost. */
static void frames_are_found(void **state) {
    (void)state;
    uint64_t found[MOST];
    bool cut;
    rules[0] = (struct lc_rule){.ip = 0x101,
                                .cfa = LC_CFA_SP,
                                .cfa_offset = 16,
                                .ra_offset = -8,
                                .fp = LC_SAVED_FP_AT_CFA,
                                .fp_offset = -16};
    rules[1] = (struct lc_rule){.ip = 0x200,
                                .cfa = LC_CFA_FP,
                                .cfa_offset = 16,
                                .ra_offset = -8,
                                .fp = LC_SAVED_FP_AT_CFA,
                                .fp_offset = -16};
    rules[2] = (struct lc_rule){.ip = 0x300, .cfa = LC_CFA_NONE};
    sample->registers[LC_PERF_IP] = 0x100; /* the rule is that of the next byte: no call */
    sample->registers[LC_PERF_SP] = SP;
    sample->registers[LC_PERF_FP] = 1;
    sample->stack[0] = SP + 40; /* saved by leaf: middle's */
    sample->stack[1] = 0x200;
    sample->stack[6] = 0x300; /* at middle's CFA - 8 */
    sample->stack_bytes = 64;
    assert_int_equal(lc_stack_copy_walk(NULL, sample, found, MOST, &cut), 3);
    assert_int_equal(found[0], 0x100);
    assert_int_equal(found[1], 0x200);
    assert_int_equal(found[2], 0x300);
    assert_false(cut);
    sample->stack_bytes = 48; /* without the last return address */
    assert_int_equal(lc_stack_copy_walk(NULL, sample, found, MOST, &cut), 2);
    assert_true(cut);
    assert_int_equal(lc_stack_copy_walk(NULL, sample, found, 1, &cut), 1);
    sample->stack_bytes = 0;
    assert_int_equal(lc_stack_copy_walk(NULL, sample, found, MOST, &cut), 0);
}

#if defined(__aarch64__)
/* leaf stores nothing, so that it returns to where the register says; only the first frame can. */
static void leaf_returns_by_register(void **state) {
    (void)state;
    uint64_t found[MOST];
    bool cut;
    rules[0] = (struct lc_rule){.ip = 0x101, .cfa = LC_CFA_SP, .fp = LC_SAVED_FP_SAME};
    rules[1] = (struct lc_rule){
        .ip = 0x200, .cfa = LC_CFA_SP, .cfa_offset = 16, .ra_offset = -8, .fp = LC_SAVED_FP_SAME};
    rules[2] = (struct lc_rule){.ip = 0x300, .cfa = LC_CFA_SP, .fp = LC_SAVED_FP_SAME};
    sample->registers[LC_PERF_IP] = 0x100;
    sample->registers[LC_PERF_SP] = SP;
    sample->registers[LC_PERF_LR] = 0x200;
    sample->stack[1] = 0x300;
    sample->stack_bytes = 64;
    assert_int_equal(lc_stack_copy_walk(NULL, sample, found, MOST, &cut), 3);
    assert_int_equal(found[1], 0x200);
    assert_int_equal(found[2], 0x300);
    assert_true(cut); /* 0x300 stores nothing either, and called something */
}
#endif

static uint64_t word(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

static void anything_is_survived(void **state) {
    (void)state;
    uint64_t found[MOST];
    bool cut;
    for (int round = 0; round < 200000; round++) {
        for (int i = 0; i < 8; i++)
            rules[i] = (struct lc_rule){.ip = i < 7 ? word() % 16 : 0,
                                        .cfa = (uint8_t)(word() % (LC_CFA_AT_FP + 1)),
                                        .fp = (uint8_t)(word() % (LC_SAVED_FP_AT_FP + 1)),
                                        .cfa_offset = (int32_t)(word() % 512) - 128,
                                        .ra_offset = -(int32_t)(word() % 5) * 8,
                                        .fp_offset = (int32_t)(word() % 512) - 256};
        uint64_t sp = word() % 4 != 0 ? SP : word();
        sample->registers[LC_PERF_IP] = word() % 16;
        sample->registers[LC_PERF_SP] = sp;
        sample->registers[LC_PERF_FP] = word() % 2 != 0 ? sp + word() % 256 : word();
        sample->stack_bytes = (uint32_t)(word() % (LC_PERF_STACK + 1));
        for (int i = 0; i < 64; i++)
            sample->stack[i] = word() % 2 != 0 ? word() % 16 : sp + word() % LC_PERF_STACK;
        assert_in_range(lc_stack_copy_walk(NULL, sample, found, MOST, &cut), 0, MOST);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_are_found, make, drop),
#if defined(__aarch64__)
        cmocka_unit_test_setup_teardown(leaf_returns_by_register, make, drop),
#endif
        cmocka_unit_test_setup_teardown(anything_is_survived, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
