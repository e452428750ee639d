/* Records of samples as the kernel writes them, around the end of the ring, and memory that holds
 * anything: what is read stays inside, and reading ends. */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "measure/samples/perf_ring.h"
#include "measure/samples/timer_ring.h"

enum { BYTES = 4096 };

static struct perf_event_mmap_page page;
static char *data; /* exactly BYTES, so that the sanitizer sees what is beyond */
static struct lc_perf_ring ring;
static uint64_t head;

static int make(void **state) {
    (void)state;
    data = malloc(BYTES);
    memset(&page, 0, sizeof page);
    ring = (struct lc_perf_ring){.page = &page, .data = data, .bytes = BYTES, .period_ns = 1};
    head = 0;
    return data == NULL;
}

static int drop(void **state) {
    (void)state;
    free(data);
    return 0;
}

static void put(const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        data[head++ % BYTES] = ((const char *)bytes)[i];
}

static void put_record(uint32_t type, uint16_t misc, const uint64_t *words, size_t n) {
    struct perf_event_header header = {
        .type = type, .misc = misc, .size = (uint16_t)(sizeof header + n * sizeof *words)};
    put(&header, sizeof header);
    put(words, n * sizeof *words);
}

static void records_come_back(void **state) {
    (void)state;
    struct lc_perf_record r;
    for (uint64_t round = 0; round < 100; round++) { /* many times around */
        const uint64_t sample[] = {1000 + round, 4,    (uint64_t)PERF_CONTEXT_USER,
                                   0x10 + round, 0x20, 0x30};
        const uint64_t mixed[] = {7,
                                  5,
                                  (uint64_t)PERF_CONTEXT_KERNEL,
                                  0xffffffff81000000u,
                                  (uint64_t)PERF_CONTEXT_USER,
                                  0x40,
                                  0x50};
        const uint64_t time[] = {5}, lost[] = {1, 77, 5};
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sample, 6);
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, mixed, 7);
        put_record(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, time, 1);
        put_record(PERF_RECORD_SWITCH,
                   PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, time, 1);
        put_record(PERF_RECORD_SWITCH, 0, time, 1);
        put_record(PERF_RECORD_LOST, 0, lost, 3);
        put_record(PERF_RECORD_THROTTLE, 0, lost, 3);
        assert_true(lc_perf_ring_next(&ring, head, &r));
        assert_int_equal(r.kind, LC_PERF_SAMPLE);
        assert_int_equal(r.time_ns, 1000 + round);
        assert_int_equal(r.n, 3);
        assert_int_equal(r.addresses[0], 0x10 + round);
        assert_int_equal(r.addresses[2], 0x30);
        assert_false(r.in_kernel);
        assert_true(lc_perf_ring_next(&ring, head, &r));
        assert_true(r.in_kernel);
        assert_int_equal(r.n, 2);
        assert_int_equal(r.addresses[0], 0x40);
        static const enum lc_perf_kind kinds[] = {LC_PERF_OUT, LC_PERF_PREEMPTED, LC_PERF_IN,
                                                  LC_PERF_LOST, LC_PERF_OTHER};
        for (int i = 0; i < 5; i++) {
            assert_true(lc_perf_ring_next(&ring, head, &r));
            assert_int_equal(r.kind, kinds[i]);
            assert_true(kinds[i] != LC_PERF_LOST || r.n == 77);
        }
        assert_false(lc_perf_ring_next(&ring, head, &r));
        lc_perf_ring_done(&ring, head);
        assert_int_equal(page.data_tail, head);
        assert_false(lc_perf_ring_full(&ring, head));
    }
    assert_true(lc_perf_ring_full(&ring, head + BYTES - 100));
}

static uint64_t word(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

/* Registers and a copy of the stack behind the chain, or, of a thread that leaves the processor,
 * without one. */
static void stacks_come_back(void **state) {
    (void)state;
    static struct lc_perf_record r;
    for (uint64_t round = 0; round < 100; round++) {
        const uint64_t copy[] = {
            1000 + round, 1,  0x10, PERF_SAMPLE_REGS_ABI_64, 10, 11, 12, 13, 32, 21, 22,
            23,           24, 24}; /* room for 32 bytes, 24 filled */
        const uint64_t kernel_thread[] = {1000, 0, PERF_SAMPLE_REGS_ABI_NONE, 0};
        const uint64_t lying[] = {1, 0, PERF_SAMPLE_REGS_ABI_64, 0, 1, 2, 3, 1 << 20, 5, 1 << 20};
        const uint64_t none_filled[] = {1, 0, PERF_SAMPLE_REGS_ABI_64, 0, 1, 2, 3, 0};
        ring.stack_bytes = 32;
        ring.period_ns = 1;
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, copy, 14);
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, kernel_thread, 4);
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, lying, 10);
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, none_filled, 8);
        assert_true(lc_perf_ring_next(&ring, head, &r));
        assert_int_equal(r.n, 0); /* its context is not said to be the user's */
        for (unsigned i = 0; i < LC_PERF_REGISTERS; i++) /* in the order of their bits */
            assert_int_equal(r.registers[i], 10 + i);
        assert_int_equal(r.stack_bytes, 24);
        assert_int_equal(r.stack[0], 21);
        assert_int_equal(r.stack[2], 23);
        for (int i = 0; i < 3; i++) {
            assert_true(lc_perf_ring_next(&ring, head, &r));
            assert_int_equal(r.kind, LC_PERF_SAMPLE);
            assert_int_equal(r.stack_bytes, 0);
        }
        ring.period_ns = 0;
        const uint64_t leaving[] = {7, PERF_SAMPLE_REGS_ABI_64, 0, 1, 2, 3, 8, 99, 8};
        put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, leaving, 9);
        assert_true(lc_perf_ring_next(&ring, head, &r));
        assert_int_equal(r.time_ns, 7);
        assert_int_equal(r.n, 0);
        assert_int_equal(r.stack_bytes, 8);
        assert_int_equal(r.stack[0], 99);
        lc_perf_ring_done(&ring, head);
    }
}

static void anything_is_survived(void **state) {
    (void)state;
    struct lc_perf_record r;
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < BYTES; i += 8) {
            uint64_t w = word();
            if (i % 64 == 0) { /* often a header that could be one */
                struct perf_event_header h = {.type = word() % 3 == 0 ? PERF_RECORD_SAMPLE
                                                                      : (uint32_t)(word() % 20),
                                              .misc = (uint16_t)w,
                                              .size = (uint16_t)(word() % 70 * 8)};
                memcpy(&w, &h, sizeof w);
            }
            memcpy(data + i, &w, sizeof w);
        }
        ring.at = word() & ~7ull;
        ring.stack_bytes = word() % 2 != 0 ? 1024 : 0;
        ring.period_ns = word() % 2;
        head = ring.at + word() % (2 * BYTES);
        int records = 0;
        while (lc_perf_ring_next(&ring, head, &r)) {
            assert_true(r.n <= LC_PERF_CALLERS || r.kind == LC_PERF_LOST);
            assert_true(r.stack_bytes <= LC_PERF_STACK);
            assert_true(++records <= BYTES / 8);
        }
    }
}

/* Works for `seconds` of its time on the processor, with `mark` on its stack. */
__attribute__((noinline)) static double work(double seconds, volatile uint64_t mark) {
    struct timespec now, start;
    double sum = (double)mark, spent = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    while (spent < seconds) {
        for (int i = 0; i < 100000; i++)
            sum += 1.0 / (i + 1.0 + (double)mark);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        spent = (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
    }
    return sum;
}

static bool holds(const struct lc_perf_record *r, uint64_t mark) {
    for (size_t i = 0; i < r->stack_bytes / sizeof r->stack[0]; i++)
        if (r->stack[i] == mark)
            return true;
    return false;
}

/* How many of a timer's samples hold the mark; all have a place, and times that grow. */
static uint64_t count_marked(struct lc_perf_ring *of, uint64_t mark, uint64_t *all) {
    static _Thread_local struct lc_perf_record r;
    uint64_t marked = 0, before = 0, end = *lc_perf_ring_head(of);
    for (*all = 0; lc_perf_ring_next(of, end, &r); ++*all) {
        assert_int_equal(r.kind, LC_PERF_SAMPLE);
        assert_int_equal(r.n, 1);
        assert_int_equal(r.addresses[0], r.registers[LC_PERF_IP]);
        assert_true(r.time_ns > before);
        before = r.time_ns;
        marked += holds(&r, mark);
    }
    lc_perf_ring_done(of, end);
    return marked;
}

enum { SAMPLE_BYTES = 1 << 11, SMALL_RING = 1 << 14, SOME = 10 * SAMPLE_BYTES };

static const struct lc_perf_wanted by_timer = {
    .period_ns = 2000001, .stack_bytes = SAMPLE_BYTES, .timer = true};

/* Works until so many bytes of samples are there, however often the kernel lets timers expire. */
static void work_for(struct lc_perf_ring *of, uint64_t bytes, uint64_t mark) {
    for (uint64_t begin = *lc_perf_ring_head(of); *lc_perf_ring_head(of) - begin < bytes;)
        work(0.02, mark);
}

/* In another thread, which has a timer of its own; its stack ends soon above. */
static void *second_thread(void *marked) {
    struct lc_perf_ring own;
    uint64_t all;
    if (lc_perf_ring_open(&own, &by_timer, 1 << 16) != 0)
        return NULL;
    for (*(uint64_t *)marked = 0; *(uint64_t *)marked == 0;) {
        work_for(&own, 1, 0x1234567890abcdef);
        *(uint64_t *)marked = count_marked(&own, 0x1234567890abcdef, &all);
    }
    lc_perf_ring_close(&own);
    return marked;
}

static void timers_write_samples(void **state) {
    (void)state;
    struct lc_perf_ring own;
    pthread_t thread;
    uint64_t all, marked, marked_there = 0;
    const struct sigaction taken = {.sa_handler = SIG_IGN};
    assert_int_equal(lc_perf_ring_open(&own, &by_timer, 1 << 18), EINVAL);
    sigaction(SIGRTMAX, &taken, NULL);
    assert_true(lc_timer_ring_init(NULL));
    assert_true(lc_timer_ring_ours());
    assert_int_equal(lc_perf_ring_open(&own, &by_timer, 1 << 18), 0);
    errno = 77;
    work_for(&own, SOME, 0xfedcba0987654321);
    assert_int_equal(errno, 77);
    marked = count_marked(&own, 0xfedcba0987654321, &all);
    assert_true(all >= 5 && marked > 0);
    assert_int_equal(pthread_create(&thread, NULL, second_thread, &marked_there), 0);
    pthread_join(thread, NULL);
    assert_true(marked_there > 0);
    /* full: no record is half written, and later ones come when there is room again */
    lc_perf_ring_close(&own);
    assert_int_equal(lc_perf_ring_open(&own, &by_timer, SMALL_RING), 0);
    work_for(&own, SMALL_RING - 2 * SAMPLE_BYTES, 1);
    work(0.05, 1);
    count_marked(&own, 1, &all);
    assert_true(all >= 5 && all <= 7); /* of 2 KiB and some words */
    work_for(&own, 1, 1);
    count_marked(&own, 1, &all);
    assert_true(all >= 1);
    lc_perf_ring_close(&own);
    sigaction(SIGRTMAX - 1, &taken, NULL);
    assert_false(lc_timer_ring_ours());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_come_back, make, drop),
        cmocka_unit_test_setup_teardown(stacks_come_back, make, drop),
        cmocka_unit_test_setup_teardown(anything_is_survived, make, drop),
        cmocka_unit_test(timers_write_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
