/* Each thread changes its own numbers with its own lock, while one visits all of them and finds all
 * numbers as they were outside of the locks: while visits are seldom, and when they have become
 * frequent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/far_barrier.h"
#include "base/owned_lock.h"

enum { THREADS = 3, LOOKS = 200, OFTEN_FROM = 100 };

struct own {
    _Alignas(64) struct lc_owned lock;
    uint64_t sum, twice, epoch; /* twice: never apart from sum outside of the lock */
    uint64_t apart;
};

static struct own owns[THREADS];
static uint64_t epoch; /* changed in visits to all, read with any lock */
static _Atomic bool over;

static void *owner(void *arg) {
    struct own *own = arg;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        lc_owned_lock(&own->lock);
        own->apart += own->epoch > epoch;
        own->epoch = epoch;
        own->sum++;
        atomic_signal_fence(memory_order_seq_cst); /* not both at once */
        own->twice += 2;
        lc_owned_unlock(&own->lock);
    }
    return arg;
}

static void visit_all(bool often) {
    bool seldom = false;
    for (int t = 0; t < THREADS; t++)
        seldom |= lc_owned_visit(&owns[t].lock);
    lc_owned_visits_seen(seldom);
    for (int t = 0; t < THREADS; t++)
        lc_owned_wait(&owns[t].lock);
    uint64_t apart = 0;
    for (int t = 0; t < THREADS; t++)
        apart += owns[t].twice != 2 * owns[t].sum || owns[t].epoch > epoch;
    assert_int_equal(apart, 0);
    epoch++;
    for (int t = 0; t < THREADS; t++)
        lc_owned_leave(&owns[t].lock, often);
}

static void one_visits_all(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    bool possible = lc_far_barrier_possible();
    for (int t = 0; t < THREADS; t++) {
        lc_owned_init(&owns[t].lock, !possible);
        assert_int_equal(pthread_create(&threads[t], NULL, owner, &owns[t]), 0);
    }
    for (int i = 0; i < LOOKS; i++)
        visit_all(!possible || i >= OFTEN_FROM);
    atomic_store_explicit(&over, true, memory_order_relaxed);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(owns[t].apart, 0);
        assert_int_equal(owns[t].twice, 2 * owns[t].sum);
    }
    assert_int_equal(epoch, LOOKS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_visits_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
