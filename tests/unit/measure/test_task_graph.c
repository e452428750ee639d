/* OpenMP's edges, exactly: random programs of regions, barriers, tasks, dependences, taskgroups and
 * critical sections run on a runtime of this test, in virtual time, and call what a runtime calls.
 * What comes out is compared with the program activity graph, made here node by node with the edges
 * of the specification, and its longest path: thread-centric and task-centric critical path, as
 * they are and as what-if scenarios change them, work and span of constructs, useful time, waiting
 * of each kind, idle and ready time. */
#include "../first_seed.h"
#include "task_graph.h"

#include <sys/mman.h>

#include "measure/openmp/omp_self.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/team.h"

static const uint64_t none, *no_samples = &none;

static void reset(void) {
    n_regions = n_actions = n_planned = n_groups = n_tasks = n_nodes = n_edges = 0;
    arrived = inside = 0;
    memset(places, 0, sizeof places);
    memset(measured, 0, sizeof measured);
    memset(expected, 0, sizeof expected);
    memset(own_work, 0, sizeof own_work);
    memset(running, 0, sizeof running);
    memset(at_once, 0, sizeof at_once);
    now += 1000;
    program_begin = now;
    lc_clk.n_intervals++;
    for (uint32_t i = 0; i < LOCKS; i++)
        locks[i] = (struct lock){.released = LC_NONE};
    for (uint32_t i = 0; i < THREADS; i++) {
        places[i].wants = places[i].holds = -1;
        places[i].last = LC_NONE;
        threads[i].index = i;
        threads[i].last_ticks = now;
        threads[i].clocks = NULL;
        threads[i].sample_head = &no_samples;
        atomic_store(&threads[i].mode, LC_MODE_LIVE | LC_MODE_ON | LC_MODE_CLOCKS);
    }
}

static const uint32_t as_it_is[] = {1, 1, 1}, tasks_longer[] = {1, 2, 2}, only_first[] = {0, 1, 0},
                      only_second[] = {0, 0, 1};

static void compare(uint32_t seed) {
    uint64_t longest = 0, critical = longest_path(OF_THREADS, as_it_is);
    uint64_t task = longest_path(OF_TASKS, as_it_is);
    uint64_t whatif[LC_WHATIF_MAX] = {0};
    expected[0][LC_MEASURED_OMP_TASK_SPAN] =
        longest_path(OF_TASKS, only_first) + longest_path(OF_TASKS, only_second);
    expected[0][LC_MEASURED_OMP_AT_ONCE] = at_once[1] + at_once[2];
    for (uint32_t i = 0; i < THREADS; i++) {
        const struct lc_clk_thread *k = threads[i].clocks;
        for (uint32_t kind = 0; kind < LC_MEASURED_KINDS; kind++)
            if (measured[i][kind] != expected[i][kind])
                fail_msg("seed %u: thread %u: %s: %llu, not %llu", seed, i, lc_raw_measured[kind],
                         (unsigned long long)measured[i][kind],
                         (unsigned long long)expected[i][kind]);
        if (k == NULL)
            continue;
        longest = k->l.useful > longest ? k->l.useful : longest;
        assert_true(k->l.phase_useful == k->l.useful && k->l.phase_process == k->l.process);
        for (uint32_t s = 0; s < SCENARIOS; s++)
            whatif[s] = k->l.vec.whatif[s] > whatif[s] ? k->l.vec.whatif[s] : whatif[s];
        uint64_t in_omp = k->l.in_omp + (k->in_runtime ? now - k->in_runtime : 0);
        if (k->l.own != own_work[i] || k->l.own + in_omp != now - k->l.begin)
            fail_msg("seed %u: thread %u: %llu useful, not %llu; %llu in the runtime of %llu", seed,
                     i, (unsigned long long)k->l.own, (unsigned long long)own_work[i],
                     (unsigned long long)in_omp, (unsigned long long)(now - k->l.begin));
    }
    uint64_t chain = lc_omp_task_chain(lc_clk.n_intervals, whatif);
    const uint64_t predicted[] = {longest_path(OF_THREADS, tasks_longer), task,
                                  longest_path(OF_TASKS, tasks_longer)};
    for (uint32_t s = 0; s < SCENARIOS; s++)
        if (whatif[s] != predicted[s])
            fail_msg("seed %u: what-if scenario %u: %llu, not %llu", seed, s,
                     (unsigned long long)whatif[s], (unsigned long long)predicted[s]);
    if (longest != critical || (chain != 0 && chain != task))
        fail_msg("seed %u: critical path %llu, not %llu; along the tasks %llu, not %llu", seed,
                 (unsigned long long)longest, (unsigned long long)critical,
                 (unsigned long long)chain, (unsigned long long)task);
    assert_int_equal(lc_omp_phase_chain(lc_clk.n_intervals, now), chain);
    assert_true(task <= critical);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_true(own_work[i] <= critical);
}

static struct task *begin_program(void) {
    reset();
    struct task *initial = new_task(true);
    initial->next = &actions[0];
    be(0);
    lc_omp_implicit_task(OMPT_BEGIN, NULL, &initial->data, 1, 0, OMPT_TASK_INITIAL);
    return initial;
}

static void end_program(uint32_t seed) {
    be(0);
    lc_omp_worked(threads[0].openmp, now);
    lc_clk.switch_ticks = now;
    lc_omp_book_open();
    run_events(0);
    lc_omp_book_spans();
    compare(seed);
}

/* The runtime ends its workers: it tells of the end of their last region then, if not before. */
static void end_worker(uint32_t thread, union ompt_data *share) {
    be(thread);
    lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_END, NULL, share, NULL);
    lc_omp_implicit_task(OMPT_END, NULL, share, 0, thread, 0);
    lc_omp_thread_end(NULL);
}

/* Shares of n threads, which are where the region ends. */
static void end_region(struct task *initial, union ompt_data *shares, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        be(i);
        lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_BEGIN, &region, &shares[i], NULL);
    }
    for (uint32_t i = 1; i < n; i++)
        end_worker(i, &shares[i]);
    be(0);
    lc_omp_sync_region(OMPT_SYNC_IMPLICIT, OMPT_END, &region, &shares[0], NULL);
    lc_omp_implicit_task(OMPT_END, NULL, &shares[0], n, 0, 0);
    lc_omp_parallel_end(&region, &initial->data, 0, NULL);
}

static void forget_program(void) {
    for (uint32_t i = 1; i < THREADS; i++)
        if (places[i].old != NULL)
            end_worker(i, &places[i].old->data);
    run_events(0);
    for (uint32_t i = 0; i < n_tasks; i++)
        free(tasks[i]);
    for (uint32_t i = 0; i < THREADS; i++)
        lc_omp_thread_gone(&threads[i]);
}

/* The number of explicit tasks that ran. */
static uint32_t one_program(uint32_t seed) {
    srand(seed);
    struct task *initial = begin_program();
    for (uint32_t left = 1 + below(3); left > 0; left--) {
        serial_work(initial);
        team = 1 + below(FEW);
        run_region(initial, NULL);
    }
    serial_work(initial);
    end_program(seed);
    uint32_t explicit_ones = 0;
    for (uint32_t i = 0; i < n_tasks; i++)
        explicit_ones += !tasks[i]->implicit;
    forget_program();
    return explicit_ones;
}

static void start(void) {
    size_t bytes = lc_area_size(THREADS);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    lc_area_init(&lc_clk.mine, memory, bytes, 0, THREADS);
    lc_clk.areas = &lc_clk.mine;
    lc_clk.size = 1;
    lc_clk.on = lc_clk.ready = true;
    lc_clk.n_whatif = SCENARIOS;
    lc_clk.whatif_tasks = 1u << PER_TASK | 1u << LONGER_PER_TASK;
}

static void random_programs(void **state) {
    uint32_t n = 0, before = n_chunks;
    (void)state;
    for (uint64_t first = first_seed(1), seed = first; seed < first + 1000; seed++)
        n += one_program((uint32_t)seed);
    assert_true(n > 10000);
    assert_in_range(n_chunks - before, 0, 20); /* all records of one program serve the next */
}

/* The experiment of the OTF-CPT slides: one task of 0.1 s and 115 of 0.02 s, created by one thread
 * at once; the long one runs first (good schedule), or last (bad). Here creation takes no time, so
 * that all is known: on n threads the good one takes 5 rounds of 0.02 s, and what is left then; in
 * the bad one the long task begins when the first thread finds no other. */
enum { ROUND = 20000, SMALL = 115, LONG = 5 };

static const struct row {
    uint32_t threads;
    double good, bad; /* load balance on the slides, percent */
} slides[] = {{2, 100.0, 96.8}, {4, 99.9, 90.8},  {6, 99.9, 83.4},  {8, 99.8, 79.0},
              {12, 99.8, 71.4}, {16, 93.7, 62.6}, {24, 99.6, 56.0}, {32, 80.7, 46.9},
              {48, 47.0, 34.9}, {64, 35.9, 32.1}, {96, 25.2, 21.2}};

static uint32_t plan_experiment(bool good, uint32_t *others) {
    struct action list[SMALL + 4] = {0};
    uint32_t n = 0, bodies[2];
    for (uint32_t i = 0; i < 2; i++) {
        bodies[i] = n_actions;
        actions[n_actions++] =
            (struct action){.kind = WORK, .value = i == 0 ? LONG * ROUND : ROUND};
        actions[n_actions++] = (struct action){.kind = END};
    }
    for (uint32_t i = 0; i <= SMALL; i++)
        list[n++] = (struct action){.kind = CREATE, .value = bodies[i != (good ? 0 : SMALL)]};
    list[n++] = (struct action){.kind = BARRIER};
    list[n++] = (struct action){.kind = END};
    memcpy(actions + n_actions, list, n * sizeof *list);
    n_actions += n;
    *others = n_actions - 2;
    return n_actions - n;
}

static void one_experiment(const struct row *on, bool good) {
    struct task *initial = begin_program();
    uint32_t bodies[THREADS], others, n = on->threads;
    uint32_t left = LONG * (n - 1) < SMALL ? SMALL - LONG * (n - 1) : 0;
    uint64_t begin = now, takes = (good ? LONG + (left + n - 1) / n : SMALL / n + LONG) * ROUND;
    bodies[0] = plan_experiment(good, &others);
    for (uint32_t i = 1; i < THREADS; i++)
        bodies[i] = others;
    team = n;
    run_region(initial, bodies);
    end_program(n);
    uint64_t longest = 0, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct lc_logical *l = &clocks[i].l;
        longest = l->useful > longest ? l->useful : longest;
        most = l->own > most ? l->own : most;
    }
    double balance = 100.0 * (SMALL + LONG) * ROUND / n / (double)most;
    double off = balance - (good ? on->good : on->bad);
    assert_int_equal(now - begin, takes);
    assert_int_equal(longest, takes);
    uint64_t whatif[LC_WHATIF_MAX] = {0};
    assert_int_equal(lc_omp_task_chain(lc_clk.n_intervals, whatif), LONG * ROUND);
    assert_int_equal(whatif[PER_TASK], LONG * ROUND);
    /* with more threads than work, creation shows on the slides */
    double within = good && n > 24 && n < 96 ? 6.0 : 1.0;
    assert_true(off <= within && off >= -within);
    assert_true((longest == LONG * ROUND) == (good && n >= 24));
    forget_program();
}

static void experiment_of_the_slides(void **state) {
    (void)state;
    in_order = true;
    for (size_t i = 0; i < sizeof slides / sizeof *slides; i++)
        for (int good = 0; good < 2; good++)
            one_experiment(&slides[i], good);
    in_order = false;
}

static int of_late_report;
static uint64_t late_lock = 9000; /* another one each time */

static void report_release(void) {
    while_waiting = while_sleeping = NULL;
    now += 20;
    be(0);
    lc_omp_mutex_released(of_late_report, late_lock, NULL);
    be(1);
}

static uint32_t sleeps, sleeps_wanted; /* before the report; 0: it comes while it does not sleep */

static void sleep_until_report(void) {
    if (++sleeps == sleeps_wanted)
        report_release();
}

/* The first thread's release is reported 20 after the second one has the lock: that one works from
 * the report on, in the clocks, too. */
static void one_late_report(int kind, bool tries, uint64_t *waited) {
    struct task *initial = begin_program();
    union ompt_data shares[2] = {{0}, {0}};
    uint64_t lock = ++late_lock;
    of_late_report = kind;
    lc_omp_parallel_begin(&initial->data, NULL, &region, 2, 0, NULL);
    lc_omp_implicit_task(OMPT_BEGIN, &region, &shares[0], 2, 0, OMPT_TASK_IMPLICIT);
    lc_omp_mutex_acquire(kind, 0, 0, lock, NULL);
    lc_omp_mutex_acquired(kind, lock, NULL);
    be(1);
    lc_omp_thread_begin(OMPT_THREAD_WORKER, &(union ompt_data){0});
    lc_omp_implicit_task(OMPT_BEGIN, &region, &shares[1], 2, 1, OMPT_TASK_IMPLICIT);
    now += 30;
    lc_omp_mutex_acquire(kind, 0, 0, lock, NULL);
    now += 70;
    sleeps = 0;
    while_waiting = sleeps_wanted == 0 ? report_release : NULL;
    while_sleeping = sleeps_wanted > 0 ? sleep_until_report : NULL;
    lc_omp_mutex_acquired(kind, lock, NULL);
    assert_null(while_waiting);
    assert_null(while_sleeping);
    assert_int_equal(threads[1].openmp->edges_lost, 0);
    now += 50;
    lc_omp_worked(threads[1].openmp, now);
    run_events(0);
    assert_int_equal(clocks[1].l.own, tries ? 150 : 80);
    assert_int_equal(clocks[1].l.useful, 170);
    assert_int_equal(*waited, tries ? 0 : 90);
    end_region(initial, shares, 2);
    forget_program();
}

static void late_reports(void **state) {
    (void)state;
    one_late_report(OMPT_MUTEX_CRITICAL, false, &measured[1][LC_MEASURED_OMP_CRITICAL]);
    one_late_report(OMPT_MUTEX_ORDERED, false, &measured[1][LC_MEASURED_OMP_CRITICAL]);
    one_late_report(OMPT_MUTEX_LOCK, false, &measured[1][LC_MEASURED_OMP_LOCK]);
    one_late_report(OMPT_MUTEX_TEST_LOCK, true, &measured[1][LC_MEASURED_OMP_LOCK]);
    /* that thread has lost its core for long; the runtime has said that it reports every release */
    lc_omp_mutexes_init(true);
    sleeps_wanted = 10000;
    one_late_report(OMPT_MUTEX_CRITICAL, false, &measured[1][LC_MEASURED_OMP_CRITICAL]);
    sleeps_wanted = 0;
    lc_omp_mutexes_init(false);
}

/* A runtime that does not report releases is not waited for again and again, whatever it says. */
static void no_reports(void **state) {
    enum { UNREPORTED = 40, MOST_SLEEPS = 50000 };
    (void)state;
    lc_omp_mutexes_init(true);
    struct task *initial = begin_program();
    union ompt_data share = {0};
    uint64_t lost = 0;
    sleeps = 0;
    sleeps_wanted = UINT32_MAX;
    while_sleeping = sleep_until_report;
    lc_omp_parallel_begin(&initial->data, NULL, &region, 1, 0, NULL);
    lc_omp_implicit_task(OMPT_BEGIN, &region, &share, 1, 0, OMPT_TASK_IMPLICIT);
    for (uint64_t lock = 0; lock < UNREPORTED; lock++)
        for (int i = 0; i < 2; i++) {
            lc_omp_mutex_acquire(OMPT_MUTEX_LOCK, 0, 0, 20000 + lock, NULL);
            lc_omp_mutex_acquired(OMPT_MUTEX_LOCK, 20000 + lock, NULL);
            lost += (uint64_t)i;
        }
    while_sleeping = NULL;
    assert_int_equal(threads[0].openmp->edges_lost, lost);
    assert_in_range(sleeps, 1, MOST_SLEEPS);
    lc_omp_mutexes_init(false);
    end_region(initial, &share, 1);
    forget_program();
}

/* Two teams, the second one on a worker: LLVM's runtime tells of each as an initial task of the
 * league, which is a region. 100 and 300 of work, then 100 after both. */
static void league(void **state) {
    enum { LEAGUE = 0x40000002 };
    (void)state;
    struct task *initial = begin_program();
    union ompt_data teams[2] = {{0}, {0}};
    lc_omp_parallel_begin(&initial->data, NULL, &region, 2, LEAGUE, NULL);
    assert_int_equal(last_region, LC_OMP_AT_TEAMS);
    lc_omp_implicit_task(OMPT_BEGIN, &region, &teams[0], 2, 0, OMPT_TASK_INITIAL);
    be(1);
    lc_omp_thread_begin(OMPT_THREAD_WORKER, &(union ompt_data){0});
    lc_omp_implicit_task(OMPT_BEGIN, &region, &teams[1], 2, 1, OMPT_TASK_INITIAL);
    now += 100;
    be(0);
    lc_omp_sync_region(OMPT_SYNC_TEAMS, OMPT_BEGIN, &region, &teams[0], NULL);
    now += 200;
    be(1);
    lc_omp_sync_region(OMPT_SYNC_TEAMS, OMPT_BEGIN, &region, &teams[1], NULL);
    be(0);
    lc_omp_sync_region(OMPT_SYNC_TEAMS, OMPT_END, NULL, &teams[0], NULL);
    lc_omp_implicit_task(OMPT_END, NULL, &teams[0], 0, 0, OMPT_TASK_INITIAL);
    lc_omp_parallel_end(&region, &initial->data, LEAGUE, NULL);
    now += 100;
    lc_omp_worked(threads[0].openmp, now);
    run_events(0);
    assert_int_equal(clocks[0].l.own, 200);
    assert_int_equal(clocks[0].l.useful, 400);
    assert_int_equal(measured[0][LC_MEASURED_OMP_IBARRIER], 200);
    end_worker(1, &teams[1]);
    forget_program();
}

/* Two ordered loops over rows and columns, none waits for the end of the first: iteration (r, c),
 * on thread r modulo their number, works, waits for (r - 1, c), works again, and lets others go
 * on. */
enum { ROWS = 12, COLUMNS = 5, LOOPS = 2 };

struct iterating {
    uint32_t loop, row, column;
    enum { COMES, WAITS, WORKS } stage;
    uint64_t when, came, useful, own, waits;
};

static struct iteration_done {
    bool is;
    uint64_t when, useful;
} done[LOOPS][ROWS][COLUMNS];

static const struct iteration_done *waits_for(const struct iterating *p) {
    return p->row > 0 ? &done[p->loop][p->row - 1][p->column] : NULL;
}

/* When it can go on. */
static uint64_t goes_on(const struct iterating *p) {
    const struct iteration_done *other = p->stage == WAITS ? waits_for(p) : NULL;
    if (other == NULL)
        return p->when;
    return !other->is ? UINT64_MAX : other->when > p->when ? other->when : p->when;
}

static void tell_iteration(int type, uint32_t row, uint32_t column) {
    const struct ompt_dependence list[] = {{.variable = {.value = row}, .type = type},
                                           {.variable = {.value = column}, .type = type}};
    lc_omp_dependences(&(union ompt_data){0}, list, 2);
}

static void work_on(struct iterating *p, uint32_t work) {
    p->when = now + work;
    p->useful += work;
    p->own += work;
}

static void next_iteration(struct iterating *p, uint32_t thread, uint32_t n) {
    p->stage = COMES;
    if (++p->column == COLUMNS) {
        p->column = 0;
        p->row += n;
    }
    if (p->row >= ROWS) {
        lc_omp_work(OMPT_WORK_LOOP, OMPT_END, &region, NULL, 0, NULL);
        p->row = thread;
        if (++p->loop == LOOPS)
            return;
        lc_omp_work(OMPT_WORK_LOOP, OMPT_BEGIN, &region, NULL, 0, NULL);
    }
    work_on(p, below(20));
}

static void iterate(struct iterating *p, uint32_t thread, uint32_t n) {
    const struct iteration_done *other = waits_for(p);
    switch (p->stage) {
    case COMES:
        lc_omp_sink(true, NULL);
        p->came = now;
        p->stage = WAITS;
        break;
    case WAITS:
        if (other != NULL) {
            tell_iteration(OMPT_DEPEND_SINK, p->row - 1, p->column);
            p->useful = other->useful > p->useful ? other->useful : p->useful;
            p->waits += other->when > p->came ? other->when - p->came : 0;
        }
        lc_omp_sink(false, NULL);
        work_on(p, 1 + below(30));
        p->stage = WORKS;
        break;
    default:
        tell_iteration(OMPT_DEPEND_SOURCE, p->row, p->column);
        done[p->loop][p->row][p->column] = (struct iteration_done){true, now, p->useful};
        next_iteration(p, thread, n);
    }
}

static void one_wavefront(uint32_t seed) {
    srand(seed);
    struct task *initial = begin_program();
    union ompt_data shares[FEW] = {{0}};
    struct iterating all[FEW] = {{0}};
    uint32_t n = 2 + below(FEW - 1);
    memset(done, 0, sizeof done);
    lc_omp_parallel_begin(&initial->data, NULL, &region, n, 0, NULL);
    for (uint32_t i = 0; i < n; i++) {
        be(i);
        if (i > 0)
            lc_omp_thread_begin(OMPT_THREAD_WORKER, &(union ompt_data){0});
        lc_omp_implicit_task(OMPT_BEGIN, &region, &shares[i], n, i, OMPT_TASK_IMPLICIT);
        lc_omp_work(OMPT_WORK_LOOP, OMPT_BEGIN, &region, NULL, 0, NULL);
        all[i].row = i;
        work_on(&all[i], below(20));
    }
    for (;;) {
        uint32_t first = LC_NONE;
        for (uint32_t i = 0; i < n; i++)
            if (all[i].loop < LOOPS &&
                (first == LC_NONE || goes_on(&all[i]) < goes_on(&all[first])))
                first = i;
        if (first == LC_NONE)
            break;
        now = goes_on(&all[first]);
        be(first);
        iterate(&all[first], first, n);
    }
    run_events(0);
    for (uint32_t i = 0; i < n; i++) {
        if (clocks[i].l.own != all[i].own || clocks[i].l.useful != all[i].useful ||
            measured[i][LC_MEASURED_OMP_CRITICAL] != all[i].waits)
            fail_msg(
                "seed %u: thread %u: %llu useful, chain %llu, waiting %llu; not %llu, %llu, %llu",
                seed, i, (unsigned long long)clocks[i].l.own,
                (unsigned long long)clocks[i].l.useful,
                (unsigned long long)measured[i][LC_MEASURED_OMP_CRITICAL],
                (unsigned long long)all[i].own, (unsigned long long)all[i].useful,
                (unsigned long long)all[i].waits);
        assert_int_equal(threads[i].openmp->edges_lost, 0);
    }
    end_region(initial, shares, n);
    forget_program();
}

static void wavefronts(void **state) {
    (void)state;
    for (uint64_t first = first_seed(1), seed = first; seed < first + 200; seed++)
        one_wavefront((uint32_t)seed);
}

/* Clocks lag behind the program, as with ranks on several nodes: they come to the same. */
static int lag(void **state) {
    (void)state;
    lc_clk.backlog = true;
    return 0;
}

static int lag_no_more(void **state) {
    (void)state;
    lc_clk.backlog = false;
    return 0;
}

int main(void) {
    start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
        cmocka_unit_test(league),
        cmocka_unit_test(late_reports),
        cmocka_unit_test(wavefronts),
        cmocka_unit_test(experiment_of_the_slides),
        cmocka_unit_test_setup_teardown(random_programs, lag, lag_no_more),
        cmocka_unit_test_setup_teardown(league, lag, lag_no_more),
        cmocka_unit_test_setup_teardown(late_reports, lag, lag_no_more),
        cmocka_unit_test_setup_teardown(wavefronts, lag, lag_no_more),
        cmocka_unit_test_setup_teardown(experiment_of_the_slides, lag, lag_no_more),
        cmocka_unit_test(no_reports), /* nobody waits for reports after it */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
