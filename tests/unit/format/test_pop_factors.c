/* The POP factors against the formulas worked by hand, and their identities for random sums. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "../first_seed.h"
#include "format/pop.h"

static void near(double is, double wanted) {
    if (fabs(is - wanted) > 1e-12)
        fail_msg("%.17g instead of %.17g", is, wanted);
}

/* 4 ranks, useful 1, 2, 3, 4 s; CP 6, T 8; time in MPI = T - useful; two nodes of two ranks. */
static void one_thread(void **state) {
    (void)state;
    struct lc_pop_sums sums = {.n_threads = 4,
                               .useful_sum = 10,
                               .useful_max = 4,
                               .process_max_sum = 10,
                               .process_chain_max = 4,
                               .critical_path = 6,
                               .outside_omp_max = 7.5,
                               .elapsed = 8,
                               .task_critical_path = 6,
                               .mpi_min = 4,
                               .mpi_node_min = 4.5,
                               .mpi_mean = 5.5};
    struct lc_pop pop;
    assert_true(lc_pop_compute(&sums, &pop));
    near(pop.all.parallel_efficiency, 2.5 / 8);
    near(pop.all.load_balance, 2.5 / 4);
    near(pop.all.communication_efficiency, 0.5);
    near(pop.all.serialisation_efficiency, 4.0 / 6);
    near(pop.all.transfer_efficiency, 0.75);
    near(pop.mpi.load_balance, pop.all.load_balance);
    near(pop.omp.transfer_efficiency, 1);
    near(pop.omp.parallel_efficiency, 1);
    near(pop.additive.load_balance, 1 - 1.5 / 8);
    near(pop.additive.serialisation_efficiency, 0.75);
    near(pop.additive.transfer_efficiency, 0.75);
    near(pop.additive.communication_efficiency, 0.5);
    near(pop.additive.parallel_efficiency, 2.5 / 8);
    near(pop.talp.communication_efficiency, 0.5);
    near(pop.talp.load_balance_in, 3.5 / 4);
    near(pop.talp.load_balance_out, 2.5 / 3.5);
    near(pop.talp.parallel_efficiency, 2.5 / 8);
    assert_true(pop.identity_error < 1e-9);
    sums.outside_mpi_sum = sums.useful_sum * 1.01; /* counted twice, and differently */
    assert_true(lc_pop_compute(&sums, &pop));
    assert_true(pop.identity_error > 0.009);
}

/* 2 processes of 2 threads: U = 4, 2 and 3, 1; CP_p = 5, 3; CP = 6; X = 8; T = 10. */
static void several_threads(void **state) {
    (void)state;
    struct lc_pop_sums sums = {.n_threads = 4,
                               .useful_sum = 10,
                               .useful_max = 4,
                               .process_max_sum = 2 * 4 + 2 * 3,
                               .process_chain_max = 5,
                               .critical_path = 6,
                               .outside_omp_max = 8,
                               .elapsed = 10,
                               .task_critical_path = 5,
                               .mpi_min = 5,
                               .mpi_node_min = 6,
                               .mpi_mean = 7.5,
                               .threads = true};
    struct lc_pop pop;
    assert_true(lc_pop_compute(&sums, &pop));
    near(pop.mpi.load_balance, 3.5 / 4);
    near(pop.omp.load_balance, 2.5 / 3.5);
    near(pop.mpi.serialisation_efficiency, 5.0 / 6);
    near(pop.omp.serialisation_efficiency, 4.0 / 5);
    near(pop.omp.transfer_efficiency, 0.8);
    near(pop.mpi.transfer_efficiency, 6.0 / 8);
    near(pop.omp.communication_efficiency, 0.8 * 0.8);
    near(pop.mpi.parallel_efficiency * pop.omp.parallel_efficiency, 0.25);
    assert_true(pop.identity_error < 1e-9);
}

static double random_between(double low, double high) {
    return low + (high - low) * rand() / RAND_MAX;
}

static void identities(void **state) {
    (void)state;
    srand((unsigned)first_seed(4));
    for (int i = 0; i < 1000; i++) {
        struct lc_pop_sums s = {.n_threads = 1 + rand() % 100, .useful_max = random_between(1, 9)};
        s.useful_sum = s.n_threads * s.useful_max * random_between(0.01, 1);
        s.process_max_sum = random_between(s.useful_sum, s.n_threads * s.useful_max);
        s.process_chain_max = s.useful_max * random_between(1, 3);
        s.critical_path = s.process_chain_max * random_between(1, 3);
        s.outside_omp_max = s.critical_path * random_between(1, 2);
        s.elapsed = s.outside_omp_max * random_between(1, 2);
        s.threads = i & 1;
        s.mpi_min = s.elapsed * random_between(0, 0.2);
        s.mpi_node_min = random_between(s.mpi_min, s.elapsed * 0.5);
        s.mpi_mean = s.elapsed - s.useful_sum / s.n_threads;
        struct lc_pop pop;
        assert_true(lc_pop_compute(&s, &pop));
        assert_true(pop.identity_error < 1e-9);
        assert_true(pop.all.parallel_efficiency > 0 && pop.all.parallel_efficiency <= 1);
    }
}

static void nothing_measured(void **state) {
    (void)state;
    struct lc_pop pop;
    assert_false(lc_pop_compute(&(struct lc_pop_sums){0}, &pop));
    near(pop.all.parallel_efficiency, 1);
}

static void text(void **state) {
    (void)state;
    struct lc_pop_sums sums = {.n_threads = 1,
                               .useful_sum = 1,
                               .useful_max = 1,
                               .process_max_sum = 1,
                               .process_chain_max = 1,
                               .critical_path = 1,
                               .outside_omp_max = 2,
                               .elapsed = 2,
                               .task_critical_path = 1};
    struct lc_pop pop;
    struct lc_strbuf out = {0};
    assert_true(lc_pop_compute(&sums, &pop));
    lc_pop_json(&pop, &out);
    assert_true(lc_strbuf_ok(&out));
    assert_non_null(strstr(out.text, "\"dialect\": \"clocks\", \"parallel_efficiency\": 0.5,"));
    assert_non_null(strstr(out.text, "\"mpi\": {\"parallel_efficiency\": 0.5"));
    assert_non_null(strstr(out.text, "\"dialects\": {\"additive\": {"));
    assert_non_null(strstr(out.text, "\"critical_path_s\": 1,"));
    assert_null(strstr(out.text, "task_curve"));
    lc_strbuf_free(&out);
}

/* 3 s of work, the longest chain of tasks 1 s. */
static void task_curve(void **state) {
    (void)state;
    struct lc_pop_sums sums = {.n_threads = 2,
                               .useful_sum = 3,
                               .useful_max = 1.5,
                               .process_max_sum = 3,
                               .process_chain_max = 1.5,
                               .critical_path = 1.5,
                               .outside_omp_max = 1.5,
                               .elapsed = 2,
                               .task_critical_path = 1,
                               .threads = true,
                               .tasks = true};
    struct lc_pop pop;
    struct lc_strbuf out = {0};
    assert_true(lc_pop_compute(&sums, &pop));
    lc_pop_json(&pop, &out);
    assert_true(lc_strbuf_ok(&out));
    const char *curve = strstr(out.text, "\"task_work_s\": 3, \"task_curve\": [");
    assert_non_null(curve);
    assert_non_null(strstr(curve, "{\"threads\": 1, \"at_least_s\": 3}, "
                                  "{\"threads\": 2, \"at_least_s\": 1.5}, "
                                  "{\"threads\": 4, \"at_least_s\": 1}, "));
    assert_non_null(strstr(curve, "{\"threads\": 1024, \"at_least_s\": 1}]"));
    lc_strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread), cmocka_unit_test(several_threads),
        cmocka_unit_test(identities), cmocka_unit_test(nothing_measured),
        cmocka_unit_test(text),       cmocka_unit_test(task_curve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
