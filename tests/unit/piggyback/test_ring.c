/* Rings between two processes over shared memory: every entry arrives once, in order, whole;
 * segments are used again; a sender that is far ahead is not stopped; without memory the ring goes
 * off and says so. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "piggyback/ring.h"

static struct lc_area make_area(size_t bytes) {
    struct lc_area area;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    lc_area_init(&area, memory, bytes, 0, 2);
    return area;
}

static void send_all(struct lc_area *area, uint32_t count) {
    struct lc_ring_out out;
    lc_ring_out_init(&out, area, 1);
    for (uint32_t i = 1; i <= count; i++) {
        struct lc_stamp stamp = {.enter = i, .useful = i * 3ull, .node = i ^ 0x55};
        lc_ring_put(&out, &stamp, LC_CONTEXT_FIRST + i % 3, (int32_t)i, i * 7);
        if (i % 1000 == 0)
            sched_yield();
    }
    lc_ring_out_free(&out);
}

static bool has_ended(pid_t child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child;
}

/* 1: an entry is not what was sent, or is not there though its sender has ended. */
static int receive_all(struct lc_area *area, uint32_t count, pid_t sender) {
    struct lc_ring_in in;
    lc_ring_in_init(&in, area, 1);
    for (uint32_t i = 1; i <= count; i++) {
        struct lc_ring_entry *entry;
        while (!(entry = lc_ring_peek(&in))) {
            if (has_ended(sender) && !lc_ring_peek(&in))
                return 1;
            sched_yield();
        }
        if (entry->stamp.enter != i || entry->stamp.useful != i * 3ull ||
            entry->stamp.node != (i ^ 0x55) || entry->tag != (int32_t)i || entry->bytes != i * 7 ||
            entry->context != LC_CONTEXT_FIRST + i % 3)
            return 1;
        lc_ring_advance(&in);
    }
    return 0;
}

static void two_processes(void **state) {
    (void)state;
    struct lc_area area = make_area(lc_area_size(2));
    pid_t child = fork();
    if (!child) {
        send_all(&area, 200000);
        _exit(0);
    }
    int wrong = receive_all(&area, 200000, child), status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(wrong, 0);
}

static void segments_are_used_again(void **state) {
    (void)state;
    struct lc_area area = make_area(sizeof(struct lc_area_head) + (64u << 10));
    struct lc_ring_out out;
    struct lc_ring_in in;
    lc_ring_out_init(&out, &area, 1);
    lc_ring_in_init(&in, &area, 1);
    for (uint32_t i = 1; i <= 100000; i++) {
        assert_non_null(lc_ring_put(&out, &(struct lc_stamp){.enter = i}, LC_CONTEXT_FIRST, 1, 2));
        struct lc_ring_entry *entry = lc_ring_peek(&in);
        assert_non_null(entry);
        assert_int_equal(entry->stamp.enter, i);
        lc_ring_advance(&in);
        assert_null(lc_ring_peek(&in));
    }
    assert_int_equal(out.n_lost, 0);
    lc_ring_out_free(&out);
}

static void without_memory(void **state) {
    (void)state;
    const size_t room = 16u << 10;
    struct lc_area area = make_area(sizeof(struct lc_area_head) + room);
    struct lc_ring_out out;
    struct lc_ring_in in;
    lc_ring_out_init(&out, &area, 1);
    lc_ring_in_init(&in, &area, 1);
    uint32_t sent = 0, got = 0;
    while (lc_ring_put(&out, &(struct lc_stamp){.enter = sent + 1}, LC_CONTEXT_FIRST, 1, 2))
        assert_true(++sent <= room / sizeof(struct lc_ring_entry));
    assert_true(sent >= LC_RING_ENTRIES);
    assert_null(lc_ring_put(&out, &(struct lc_stamp){0}, LC_CONTEXT_FIRST, 1, 2));
    assert_int_equal(out.n_lost, 2);
    struct lc_ring_entry *entry;
    while ((entry = lc_ring_peek(&in))) {
        assert_int_equal(entry->stamp.enter, ++got);
        lc_ring_advance(&in);
    }
    assert_int_equal(got, sent);
    assert_true(lc_ring_is_off(&in));
    lc_ring_out_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_processes),
                                       cmocka_unit_test(segments_are_used_again),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
