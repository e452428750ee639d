/* Each thread changes its own numbers with its own short lock, while one takes the locks of all of
 * them and finds all numbers as they were outside of the locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/short_lock.h"

enum { THREADS = 3, ADDED = 20000, LOOKS = 1000 };

struct own {
    _Alignas(64) _Atomic uint32_t lock;
    uint64_t sum, twice, epoch; /* twice: never apart from sum outside of the lock */
    uint64_t apart;
};

static struct own owns[THREADS];
static uint64_t epoch; /* changed with all locks, read with any */

static void *owner(void *arg) {
    struct own *own = arg;
    for (int i = 0; i < ADDED; i++) {
        lc_short_lock(&own->lock);
        own->apart += own->epoch > epoch;
        own->epoch = epoch;
        own->sum++;
        atomic_signal_fence(memory_order_seq_cst); /* not both at once */
        own->twice += 2;
        lc_short_unlock(&own->lock);
    }
    return arg;
}

static void one_looks_at_all(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    uint64_t apart = 0;
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, owner, &owns[t]), 0);
    for (int i = 0; i < LOOKS; i++) {
        for (int t = 0; t < THREADS; t++)
            lc_short_lock(&owns[t].lock);
        for (int t = 0; t < THREADS; t++)
            apart += owns[t].twice != 2 * owns[t].sum || owns[t].epoch > epoch;
        epoch++;
        for (int t = 0; t < THREADS; t++)
            lc_short_unlock(&owns[t].lock);
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        lc_short_lock_free(&owns[t].lock);
        apart += owns[t].apart;
        assert_int_equal(owns[t].sum, ADDED);
        assert_int_equal(owns[t].twice, 2 * ADDED);
    }
    assert_int_equal(epoch, LOOKS);
    assert_int_equal(apart, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_looks_at_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
