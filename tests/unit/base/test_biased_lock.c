/* Nobody is inside a biased lock together with another one, also while its owner loses it: each
 * adds to plain numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "base/biased_lock.h"

enum { ROUNDS = 100, OTHERS = 3, ADDED = 2000 };

static struct lc_biased lock;
static uint64_t sum, twice; /* of all that was added; never apart outside of the lock */
static _Atomic uint64_t apart;
static _Atomic bool begun;

static void add(void) {
    lc_biased_lock(&lock);
    atomic_fetch_add_explicit(&apart, twice != 2 * sum, memory_order_relaxed);
    sum++;
    atomic_signal_fence(memory_order_seq_cst); /* not both at once */
    twice += 2;
    lc_biased_unlock(&lock);
}

static void *other(void *arg) {
    while (!atomic_load(&begun))
        sched_yield();
    lc_biased_share(&lock);
    for (int i = 0; i < ADDED; i++)
        add();
    return arg;
}

static void owner_and_others(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[OTHERS];
        lock = (struct lc_biased)LC_BIASED_INITIALIZER;
        lc_biased_own(&lock);
        sum = twice = 0;
        atomic_store(&begun, false);
        for (int t = 0; t < OTHERS; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, other, NULL), 0);
        for (int i = 0; i < ADDED; i++) {
            if (i == round * (ADDED / ROUNDS))
                atomic_store(&begun, true);
            add();
        }
        for (int t = 0; t < OTHERS; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(sum, (OTHERS + 1) * ADDED);
        assert_int_equal(atomic_load(&apart), 0);
        assert_true(atomic_load(&lock.shared));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(owner_and_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
