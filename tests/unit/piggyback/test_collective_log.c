/* Collective logs between four processes: random kinds of operations and roots, random delays;
 * values that travel in the entries equal what the operation itself delivers (through a table that
 * the test keeps), none is overwritten before it was read. */
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

#include "piggyback/colllog.h"
#include "log_write.h"

enum { RANKS = 4, OPS = 6000 };

struct shared {
    _Atomic uint64_t entered[RANKS]; /* operations entered by each */
    _Atomic uint64_t checked, missing, wrong, skipped;
};

static uint64_t value(uint32_t rank, uint64_t op) {
    return (uint64_t)rank * 1000003 + op * 17;
}

static unsigned hash(uint64_t op) {
    uint64_t h = (op + 1) * 0x9e3779b97f4a7c15ull;
    return (unsigned)(h >> 33);
}

static void wait_for(struct shared *sh, uint32_t rank, uint64_t op) {
    while (atomic_load(&sh->entered[rank]) < op)
        sched_yield();
}

static void check(struct shared *sh, struct lc_colllog *log, uint32_t member, uint64_t op) {
    const struct lc_log_entry *entry = lc_colllog_read(log, member, op);
    if (!entry)
        sh->missing++;
    else if (entry->stamp.enter != value(member, op))
        sh->wrong++;
    else
        sh->checked++;
}

/* As after many operations. */
static void start_at(struct lc_colllog *log, uint64_t first) {
    log->next = first;
    log->done = log->safe = first - 1;
    lc_colllog_publish(log);
}

static void rank_main(struct shared *sh, struct lc_area *areas, uint32_t me, uint32_t entries,
                      uint64_t first) {
    struct lc_colllog log;
    if (lc_colllog_init(&log, &areas[me], 77, RANKS, me, entries, 0) != LC_OK)
        _exit(1);
    for (uint32_t i = 0; i < RANKS; i++)
        log.areas[i] = &areas[i];
    start_at(&log, first);
    srand(me);
    uint64_t open = 0; /* one nonblocking broadcast that is read later */
    uint32_t open_root = 0;
    for (uint32_t i = 0; i < OPS; i++) {
        uint64_t op = lc_colllog_begin(&log);
        uint32_t h = hash(op), kind = h % 4, root = h / 4 % RANKS;
        struct lc_stamp stamp = {.enter = value(me, op)};
        if (rand() % 200 == 0)
            usleep(200);
        bool source =
            kind == 0 || (kind == 3 && me != root) || (kind != 0 && kind != 3 && me == root);
        if (source)
            log_write(&log, op, &stamp);
        atomic_store(&sh->entered[me], op);
        if (kind == 0) { /* all to all */
            for (uint32_t m = 0; m < RANKS; m++)
                wait_for(sh, m, op);
            for (uint32_t m = 0; m < RANKS; m++)
                if (m != me)
                    check(sh, &log, m, op);
        } else if (kind == 1 && me != root) { /* broadcast */
            wait_for(sh, root, op);
            check(sh, &log, root, op);
        } else if (kind == 3 && me == root) { /* reduce */
            for (uint32_t m = 0; m < RANKS; m++)
                if (m != root) {
                    wait_for(sh, m, op);
                    check(sh, &log, m, op);
                }
        } else if (kind == 2 && !open) { /* nonblocking broadcast */
            lc_colllog_keep_open(&log, op);
            open = op;
            open_root = root;
            continue;
        }
        lc_colllog_end(&log, op);
        if (open && i % 7 == 0) {
            if (open_root != me) {
                wait_for(sh, open_root, open);
                check(sh, &log, open_root, open);
            }
            lc_colllog_close(&log, open);
            open = 0;
        }
    }
    sh->skipped += log.n_skipped;
    struct lc_freed_log freed;
    lc_colllog_free(&log, &areas[me], &freed);
    _exit(freed.offset == 0 || freed.readers != RANKS - 1);
}

static void run(uint32_t entries, uint64_t first, struct shared *sh) {
    memset(sh, 0, sizeof *sh);
    struct lc_area areas[RANKS];
    size_t bytes = sizeof(struct lc_area_head) + (1u << 20);
    for (uint32_t i = 0; i < RANKS; i++) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        lc_area_init(&areas[i], memory, bytes, i, RANKS);
    }
    for (uint32_t i = 0; i < RANKS; i++)
        if (!fork())
            rank_main(sh, areas, i, entries, first);
    for (int i = 0, status; i < RANKS; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (uint32_t i = 0; i < RANKS; i++)
        munmap(areas[i].head, bytes);
}

static void large_and_tiny(void **state) {
    (void)state;
    struct shared *sh =
        mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(sh != MAP_FAILED);
    run(1024, 1, sh);
    assert_true(sh->checked > OPS);
    assert_int_equal(sh->wrong, 0);
    assert_int_equal(sh->missing, 0);
    run(8, 1, sh); /* too short: the rest goes to the spill */
    assert_int_equal(sh->wrong, 0);
    assert_int_equal(sh->missing, 0);
    assert_int_equal(sh->skipped, 0);
    munmap(sh, sizeof *sh);
}

/* 2^32 operations are an hour of small ones: nothing is lost when the numbers pass it. */
static void long_run(void **state) {
    (void)state;
    struct shared *sh =
        mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(sh != MAP_FAILED);
    for (uint32_t entries = 8; entries <= 1024; entries *= 128) {
        run(entries, (1ull << 32) - OPS / 2, sh);
        assert_true(sh->checked > OPS);
        assert_int_equal(sh->wrong, 0);
        assert_int_equal(sh->missing, 0);
        assert_int_equal(sh->skipped, 0);
    }
    munmap(sh, sizeof *sh);
}

/* A root of broadcasts far ahead of another rank, which then reads all of them, twice: nothing is
 * lost up to the limit, what is beyond is counted; segments are used again. */
static void far_ahead(void **state) {
    (void)state;
    enum { ENTRIES = 256, LIMIT = 16639, OVER = 100 };
    struct lc_area areas[2];
    struct lc_colllog logs[2];
    size_t bytes = sizeof(struct lc_area_head) + (4u << 20);
    for (uint32_t i = 0; i < 2; i++) {
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        lc_area_init(&areas[i], memory, bytes, i, 2);
        assert_int_equal(lc_colllog_init(&logs[i], &areas[i], 77, 2, i, ENTRIES, 0), LC_OK);
    }
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t m = 0; m < 2; m++)
            logs[i].areas[m] = &areas[m];
    uint64_t used = 0;
    for (int round = 0; round < 2; round++) {
        uint64_t first = logs[0].next;
        uint32_t wrong = 0, missing = 0;
        for (uint32_t i = 0; i < LIMIT + OVER; i++) {
            uint64_t op = lc_colllog_begin(&logs[0]);
            log_write(&logs[0], op, &(struct lc_stamp){.enter = value(0, op)});
            lc_colllog_end(&logs[0], op);
        }
        for (uint32_t i = 0; i < LIMIT + OVER; i++) {
            uint64_t op = lc_colllog_begin(&logs[1]);
            const struct lc_log_entry *entry = lc_colllog_read(&logs[1], 0, op);
            missing += entry == NULL;
            wrong += entry != NULL && entry->stamp.enter != value(0, op);
            lc_colllog_end(&logs[1], op);
        }
        assert_int_equal(logs[1].next, first + LIMIT + OVER);
        assert_int_equal(wrong, 0);
        assert_in_range(missing, 1, OVER + ENTRIES);
        assert_int_equal(logs[0].n_skipped, (round ? used : 0) + missing);
        used = logs[0].n_skipped;
        lc_colllog_publish(&logs[1]);
    }
    assert_true(areas[0].head->used < bytes / 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct lc_freed_log freed;
        lc_colllog_free(&logs[i], &areas[i], &freed);
    }
    for (uint32_t i = 0; i < 2; i++)
        munmap(areas[i].head, bytes);
}

/* One frees the communicator at once after an operation, the other has not read yet. */
static void freed_early(void **state) {
    (void)state;
    struct lc_area areas[2];
    struct lc_colllog logs[2];
    struct lc_freed_log freed[2];
    size_t bytes = sizeof(struct lc_area_head) + (1u << 20);
    for (uint32_t i = 0; i < 2; i++) {
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        lc_area_init(&areas[i], memory, bytes, i, 2);
        assert_int_equal(lc_colllog_init(&logs[i], &areas[i], 77, 2, i, 8, 0), LC_OK);
    }
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t m = 0; m < 2; m++)
            logs[i].areas[m] = &areas[m];
        uint64_t op = lc_colllog_begin(&logs[i]);
        log_write(&logs[i], op, &(struct lc_stamp){.enter = value(i, op)});
    }
    lc_colllog_free(&logs[0], &areas[0], &freed[0]);
    assert_false(lc_colllog_reusable(&areas[0], &freed[0]));
    const struct lc_log_entry *entry = lc_colllog_read(&logs[1], 0, 1);
    assert_non_null(entry);
    assert_int_equal(entry->stamp.enter, value(0, 1));
    lc_colllog_free(&logs[1], &areas[1], &freed[1]);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(lc_colllog_reusable(&areas[i], &freed[i]));
        assert_int_equal(lc_area_find_log(&areas[i], 77), 0);
        munmap(areas[i].head, bytes);
    }
}

/* A communicator that has the memory of a freed one does not find its entries, nor those of its
 * spill, under the numbers that are its own, too. */
static void used_again(void **state) {
    (void)state;
    enum { ENTRIES = 8, MANY = 20 };
    struct lc_area areas[2];
    struct lc_colllog logs[2];
    struct lc_freed_log freed[2] = {{0}};
    size_t bytes = sizeof(struct lc_area_head) + (1u << 20);
    for (uint32_t i = 0; i < 2; i++) {
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        lc_area_init(&areas[i], memory, bytes, i, 2);
    }
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(
                lc_colllog_init(&logs[i], &areas[i], 77 + round, 2, i, ENTRIES, freed[i].offset),
                LC_OK);
            for (uint32_t m = 0; m < 2; m++)
                logs[i].areas[m] = &areas[m];
        }
        for (uint64_t op = 1; op <= MANY; op++) {
            assert_int_equal(lc_colllog_begin(&logs[0]), op);
            assert_int_equal(lc_colllog_begin(&logs[1]), op);
            assert_null(lc_colllog_read(&logs[1], 0, op));
            if (round == 0)
                log_write(&logs[0], op, &(struct lc_stamp){.enter = op});
        }
        if (round == 0) {
            assert_non_null(lc_colllog_read(&logs[1], 0, 1));
            assert_non_null(lc_colllog_read(&logs[1], 0, MANY)); /* of the spill */
        }
        for (uint32_t i = 0; i < 2; i++)
            lc_colllog_free(&logs[i], &areas[i], &freed[i]);
        for (uint32_t i = 0; i < 2; i++)
            assert_true(lc_colllog_reusable(&areas[i], &freed[i]));
    }
    for (uint32_t i = 0; i < 2; i++)
        munmap(areas[i].head, bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_and_tiny), cmocka_unit_test(long_run),
                                       cmocka_unit_test(far_ahead), cmocka_unit_test(freed_early),
                                       cmocka_unit_test(used_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
