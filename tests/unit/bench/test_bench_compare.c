/* Verdicts on pairs whose truth is known: alike, with memory; shifted, another tail, a second mode.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after those */
#include <cmocka.h>

#include "bench/bench_compare.h"

#include "synthetic.h"

enum kind { SAME, SHIFT, TAIL, MODE };
enum { N = 1000 };

/* Log-normal with autocorrelation `memory`, one in twenty of them longer. */
static struct lc_fingerprint *make(enum kind kind, double memory) {
    double *runs = malloc(N * sizeof *runs), level = gauss();
    struct lc_fingerprint *f;
    for (int i = 0; i < N; i++) {
        level = memory * level + sqrt(1 - memory * memory) * gauss();
        runs[i] = 20000 * exp(0.04 * level);
        if (uniform() < 0.05)
            runs[i] *= 1.1 - 0.1 * log(1 - uniform());
        if (kind == SHIFT)
            runs[i] *= 1.05;
        if (kind == TAIL && uniform() < 0.1)
            runs[i] *= 1.3 - 0.2 * log(1 - uniform());
        if (kind == MODE && uniform() < 0.3)
            runs[i] *= 1.5;
    }
    assert_int_equal(lc_fingerprint_new(&f, "MPI_Bcast", 8, 4, runs, N, NULL), LC_OK);
    return f;
}

/* How often each verdict comes out of `times` pairs. */
static void count(enum kind kind, double memory, int times, int *verdicts) {
    memset(verdicts, 0, LC_BENCH_VERDICTS * sizeof verdicts[0]);
    for (int i = 0; i < times; i++) {
        struct lc_fingerprint *a = make(SAME, memory), *b = make(kind, memory);
        struct lc_bench_pair pair;
        assert_int_equal(lc_bench_compare(a, b, (uint64_t)i + 1, &pair), LC_OK);
        verdicts[pair.verdict]++;
        lc_fingerprint_free(a);
        lc_fingerprint_free(b);
    }
    print_message("kind %d, memory %.1f: same %d, tail %d, shifted %d, modes %d of %d\n", kind,
                  memory, verdicts[LC_BENCH_SAME], verdicts[LC_BENCH_TAIL],
                  verdicts[LC_BENCH_SHIFTED], verdicts[LC_BENCH_MODES], times);
}

/* 1,000 pairs of equals in all. */
static void test_false_alarms(void **state) {
    (void)state;
    int verdicts[LC_BENCH_VERDICTS], same = 0;
    static const double memory[] = {0, 0.3, 0.6, 0.8};
    synthetic_state = 7;
    for (int m = 0; m < 4; m++) {
        count(SAME, memory[m], 250, verdicts);
        same += verdicts[LC_BENCH_SAME];
    }
    assert_true(same >= 950);
}

static void test_named_rightly(void **state) {
    (void)state;
    int verdicts[LC_BENCH_VERDICTS];
    synthetic_state = 8;
    count(SHIFT, 0.5, 100, verdicts);
    assert_true(verdicts[LC_BENCH_SHIFTED] >= 90);
    count(TAIL, 0.5, 100, verdicts);
    assert_true(verdicts[LC_BENCH_TAIL] >= 90);
    count(MODE, 0.5, 100, verdicts);
    assert_true(verdicts[LC_BENCH_MODES] >= 90);
}

static void test_not_comparable(void **state) {
    (void)state;
    struct lc_fingerprint *a = make(SAME, 0), *b = make(SAME, 0);
    struct lc_bench_pair pair;
    b->bytes = 16;
    assert_int_equal(lc_bench_compare(a, b, 1, &pair), LC_OK);
    assert_int_equal(pair.verdict, LC_BENCH_NOT_COMPARABLE);
    assert_string_equal(pair.why, "different sizes");
    lc_fingerprint_free(a);
    lc_fingerprint_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_alarms),
                                       cmocka_unit_test(test_named_rightly),
                                       cmocka_unit_test(test_not_comparable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
