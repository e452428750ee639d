/* Combined entries of many processes: random orders of arrival; the top line is that of all
 * members, in full, when the last one has entered; where one skips an operation, is in another
 * interval, or has other what-if clocks, there is no line, and the next operation has one again.
 * After a third of them what-if clocks begin, and after two thirds others: their maxima are in the
 * line. */
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

#include "piggyback/combine.h"
#include "log_write.h"

enum { MOST = 70, OPS = 600, SCENARIOS = 4 };

struct shared {
    _Atomic uint32_t entered[OPS + 1]; /* members, by operation */
    uint32_t versions[MOST][OPS];      /* of their vectors */
    _Atomic uint64_t checked, missing, wrong, unwanted;
};

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t h = (a * 1000003 + b + 1) * 0x9e3779b97f4a7c15ull;
    return (h ^ h >> 31) >> 20;
}

static uint32_t scenarios_at(uint32_t i) {
    return i < OPS / 3 ? 0 : i < 2 * OPS / 3 ? SCENARIOS : SCENARIOS - 1;
}

static uint64_t whatif_of(uint32_t member, uint64_t op, uint32_t scenario) {
    return mix(member, op + (4 + scenario) * 100000);
}

/* Who begins to carry others one operation later. */
static bool is_behind(uint32_t member, uint32_t i) {
    return member == 4 && (i == OPS / 3 || i == 2 * OPS / 3);
}

static struct lc_stamp stamp_of(uint32_t member, uint64_t op) {
    return (struct lc_stamp){.enter = mix(member, op),
                             .useful = mix(member, op + 100000),
                             .outside_omp = mix(member, op + 200000),
                             .phase_useful = mix(member, op + 300000),
                             .interval = op % 50 == 7 && member == op % 5 ? 2 : 1,
                             .phase = 3,
                             .node = member * 2};
}

static bool skips(uint32_t member, uint64_t op, uint32_t n) {
    return op % 40 == 11 && member == op % n;
}

static bool has_largest(const struct lc_combined *is, uint32_t n, uint64_t op, uint32_t i) {
    uint32_t scenarios = scenarios_at(i), generation = scenarios == SCENARIOS ? 1 : 2;
    if (is->whatif_of != (scenarios > 0 ? generation + 1 : 0))
        return false;
    for (uint32_t s = 0; s < scenarios; s++) {
        uint64_t most = 0;
        for (uint32_t member = 0; member < n; member++)
            most = whatif_of(member, op, s) > most ? whatif_of(member, op, s) : most;
        if (is->whatif[s] != most)
            return false;
    }
    return true;
}

static bool right(const struct lc_combined *is, uint32_t n, uint64_t op, const struct shared *sh,
                  uint32_t i_op) {
    uint32_t winner = 0, latest = 0;
    uint64_t outside = 0, phase = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct lc_stamp s = stamp_of(i, op);
        if (s.useful > stamp_of(winner, op).useful)
            winner = i;
        if (s.enter > stamp_of(latest, op).enter)
            latest = i;
        outside = s.outside_omp > outside ? s.outside_omp : outside;
        phase = s.phase_useful > phase ? s.phase_useful : phase;
    }
    struct lc_stamp w = stamp_of(winner, op), l = stamp_of(latest, op);
    return is->winner == winner && is->latest == latest && is->latest_node == l.node &&
           is->stamp.enter == l.enter && is->stamp.useful == w.useful &&
           is->stamp.vector == sh->versions[winner][i_op] && is->stamp.node == w.node &&
           is->stamp.outside_omp == outside && is->stamp.phase_useful == phase &&
           is->stamp.interval == 1 && is->done == op - 1 && has_largest(is, n, op, i_op);
}

/* The version of its vector in operation number i. */
static uint32_t publish(struct lc_cpvec *vec, struct lc_area *mine, uint32_t me, uint64_t op,
                        uint32_t i) {
    uint32_t scenarios = scenarios_at(is_behind(me, i) ? i - 1 : i);
    if (scenarios != vec->n_whatif) {
        if (!lc_cpvec_whatif_room(vec, mine))
            _exit(2);
        lc_cpvec_whatif_begin(vec, scenarios);
    }
    for (uint32_t s = 0; s < scenarios; s++)
        vec->whatif[s] = whatif_of(me, op, s);
    return lc_cpvec_publish(vec);
}

static void rank_main(struct shared *sh, struct lc_area *areas, uint32_t n, uint32_t me,
                      uint64_t before) {
    struct lc_colllog log;
    struct lc_combine combine;
    if (lc_colllog_init(&log, &areas[me], 77, n, me, 256, 0) != LC_OK)
        _exit(1);
    for (uint32_t i = 0; i < n; i++)
        log.areas[i] = &areas[i];
    lc_combine_init(&combine, &log, &areas[me]);
    struct lc_cpvec vec;
    lc_cpvec_init(&vec, &areas[me], 0, 0);
    log.next = before + 1;
    log.done = log.safe = log.published = before;
    srand(me);
    atomic_fetch_add(&sh->entered[0], 1);
    while (atomic_load(&sh->entered[0]) < n)
        sched_yield();
    for (uint32_t i = 0; i < OPS; i++) {
        uint64_t op = lc_colllog_begin(&log);
        struct lc_stamp stamp = stamp_of(me, op);
        stamp.vector = sh->versions[me][i] = publish(&vec, &areas[me], me, op, i);
        if (rand() % 100 == 0)
            usleep(100);
        if (!skips(me, op, n) && log_write(&log, op, &stamp))
            lc_combine_arrive(&combine, &log, op);
        atomic_fetch_add(&sh->entered[op - before], 1); /* the operation itself */
        while (atomic_load(&sh->entered[op - before]) < n)
            sched_yield();
        struct lc_combined all;
        bool wanted = op % 40 != 11 && op % 50 != 7 && !is_behind(4, i);
        if (!lc_combine_read(&combine, &log, op, &all))
            *(wanted ? &sh->missing : &sh->checked) += 1;
        else if (!wanted)
            sh->unwanted++;
        else
            *(right(&all, n, op, sh, i) ? &sh->checked : &sh->wrong) += 1;
        lc_colllog_end(&log, op);
        log.safe = op - 1;
    }
    lc_combine_free(&combine, &log, &areas[me]);
    _exit(0);
}

static void run(uint32_t n, uint64_t before) {
    size_t bytes = lc_area_size(n);
    struct shared *sh =
        mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct lc_area areas[MOST];
    assert_true(sh != MAP_FAILED);
    for (uint32_t i = 0; i < n; i++) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(memory != MAP_FAILED);
        lc_area_init(&areas[i], memory, bytes, i, n);
    }
    for (uint32_t i = 0; i < n; i++)
        if (fork() == 0)
            rank_main(sh, areas, n, i, before);
    for (uint32_t i = 0; i < n; i++) {
        int status = 1;
        wait(&status);
        assert_int_equal(status, 0);
    }
    assert_int_equal(sh->wrong, 0);
    assert_int_equal(sh->unwanted, 0);
    assert_int_equal(sh->missing, 0);
    assert_int_equal(sh->checked, (uint64_t)n * OPS);
    for (uint32_t i = 0; i < n; i++)
        munmap(areas[i].head, bytes);
    munmap(sh, sizeof *sh);
}

static void two_groups(void **state) {
    (void)state;
    run(9, 0);
}

static void three_levels(void **state) {
    (void)state;
    run(66, 0);
}

static void long_run(void **state) {
    (void)state;
    run(9, (1ull << 32) - OPS / 2);
}

static void few(void **state) {
    (void)state;
    struct lc_combine combine;
    struct lc_combined out;
    struct lc_colllog log = {.n = 8};
    lc_combine_init(&combine, &log, NULL);
    assert_int_equal(combine.n_levels, 0);
    assert_false(lc_combine_read(&combine, &log, 1, &out));
    lc_combine_free(&combine, &log, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(few), cmocka_unit_test(two_groups),
                                       cmocka_unit_test(three_levels), cmocka_unit_test(long_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
