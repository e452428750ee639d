/* All that OpenMP has, in one program, several times over: whatever the tool does, the result is
 * that of the sums. With an argument: how it ends. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long total;

static void add(long n) {
#pragma omp atomic
    total += n;
}

static void loops(int n) {
    long sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
        long own = 0;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp for schedule(guided)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp sections
        {
#pragma omp section
            sum += 1;
#pragma omp section
            sum += 2;
        }
#pragma omp single copyprivate(own)
        own = 1;
#pragma omp master
        sum += 4 * own;
#pragma omp for ordered
        for (int i = 0; i < 20; i++)
#pragma omp ordered
            sum += i;
    }
    add(sum);
}

/* LLVM's runtime fails at what GCC makes of these two: OWN_RUNTIME is for libgomp. */
#if defined __clang__ || defined OWN_RUNTIME
static void doacross(int n) {
    static long line[64];
    memset(line, 0, sizeof line);
#pragma omp parallel for ordered(1) num_threads(n) schedule(static, 1)
    for (int i = 1; i < 64; i++) {
#pragma omp ordered depend(sink : i - 1)
        line[i] = line[i - 1] + i;
#pragma omp ordered depend(source)
    }
    add(line[63]);
}

#endif

static long fibonacci(int n) {
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) if (n > 4)
    a = fibonacci(n - 1);
#pragma omp task shared(b) final(n < 5) mergeable
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(int n) {
    long x = 0, y = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
    {
        add(fibonacci(12));
#pragma omp taskgroup
        {
#pragma omp taskloop grainsize(5)
            for (int i = 0; i < 50; i++)
                add(i);
            for (int i = 0; i < 5; i++) {
#pragma omp task depend(out : x) priority(i)
                x = x + 1;
#pragma omp task depend(in : x)
                add(x);
#pragma omp task depend(in : x) depend(inout : y)
                y += x;
#pragma omp task depend(mutexinoutset : y)
                y += 1;
#pragma omp task depend(mutexinoutset : y)
                y += 2;
            }
        }
        add(y);
#pragma omp task if (0)
        add(7);
#pragma omp taskyield
    }
}

#ifdef TASKWAIT_DEPEND /* fails now and then in LLVM's runtimes before 19 */
/* Taskwaits with dependences, in which a thread executes tasks that have some, too. */
static void await(int deep) {
    long a = 0;
#pragma omp task depend(out : a) shared(a)
    {
        sched_yield();
        a = 1;
    }
    for (int i = 0; i < 2 && deep > 0; i++)
#pragma omp task
        await(deep - 1);
#pragma omp taskwait depend(in : a)
    add(a);
#pragma omp taskwait
}

/* In the last barrier of a region, where workers execute them. */
static void awaited(int n) {
#pragma omp parallel num_threads(n)
#pragma omp master
    for (int i = 0; i < 4; i++)
#pragma omp task
        await(2);
}
#endif

#if defined __clang__ || defined OWN_RUNTIME
static void detached(int n) {
    omp_event_handle_t event = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
    {
#pragma omp task detach(event)
        add(3);
#pragma omp task firstprivate(event)
        omp_fulfill_event(event);
#pragma omp taskwait
    }
}

#endif

#ifdef OWN_RUNTIME
/* Data of tasks that is copied by a function, of tasks and taskloops; objects of dependences. */
static void copies(int n) {
    long own[n], last = 0;
    omp_depend_t object;
    for (int i = 0; i < n; i++)
        own[i] = i + 1;
#pragma omp depobj(object) depend(inout : last)
#pragma omp parallel num_threads(n)
#pragma omp single
    for (int k = 0; k < 3; k++) {
#pragma omp task firstprivate(own) if (k > 0)
        for (int i = 0; i < n; i++)
            add(own[i] * k);
#pragma omp taskloop firstprivate(own) grainsize(2)
        for (int i = 0; i < 7; i++)
            add(own[i % n]);
#pragma omp taskloop nogroup num_tasks(3)
        for (unsigned long long i = 0; i < 9; i++)
            add((long)i);
#pragma omp task depend(depobj : object) shared(last)
        last = last * 2 + k;
        own[0]++;
    }
#pragma omp depobj(object) destroy
    add(last);
}

/* In no team, though a region is around it. */
static void apart(int n) {
#pragma omp parallel num_threads(n)
    {
#pragma omp target map(tofrom : total)
        {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 3; i++)
                add(i);
#pragma omp single
            add(1);
        }
#pragma omp barrier
        add(2);
    }
#pragma omp teams num_teams(2)
#pragma omp distribute parallel for
    for (int i = 0; i < 6; i++)
        add(i);
}

#endif

/* What GCC has since 13, and clang since 16; of GCC's, LLVM's runtime knows nothing. */
#if (defined __clang__ && __clang_major__ >= 16) ||                                                \
    (!defined __clang__ && __GNUC__ >= 13 && defined OWN_RUNTIME)
#define HAS_ALL_MEMORY
static void all_memory(int n) {
    long x = 0, y = 0;
#pragma omp parallel num_threads(n)
#pragma omp single
    for (int i = 0; i < 5; i++) {
#pragma omp task depend(inoutset : x) shared(x)
        {
#pragma omp atomic
            x += 1;
        }
#pragma omp task depend(inoutset : x) shared(x)
        {
#pragma omp atomic
            x += 2;
        }
#pragma omp task depend(out : y) shared(y)
        y += 1;
#pragma omp task depend(out : omp_all_memory) shared(x, y)
        y = y * 2 + x;
#pragma omp task depend(in : x) shared(x)
        add(x);
#pragma omp task depend(in : y) shared(y)
        add(y);
#ifndef __clang__
#pragma omp taskwait depend(inout : x, y) nowait
#endif
#pragma omp task depend(inout : x, y) shared(x, y)
        x += y;
    }
    add(x + y);
}
#endif

/* What GCC has since 12; clang 19 knows scope, but cannot compile it. */
#if (defined __clang__ && _OPENMP >= 202011) || (!defined __clang__ && __GNUC__ >= 12)
#define HAS_MASKED
static void masked(int n) {
    long sum = 0;
#pragma omp parallel num_threads(n)
    {
#pragma omp masked
        add(3);
#pragma omp masked filter(n - 1)
        add(omp_get_thread_num());
#ifndef __clang__
#pragma omp scope reduction(+ : sum)
        sum += 2;
#pragma omp scope nowait
        add(1);
#endif
#pragma omp masked
#pragma omp taskloop
        for (int i = 0; i < 5; i++)
            add(i);
    }
    add(sum);
}
#endif

#if defined NEWER_DEPENDENCES && defined __clang__
/* The same as clang makes of it since 16, by hand, for LLVM's runtimes that know it. */
enum { TIED = 1, IN = 1, OUT = 3, INOUTSET = 8, ALL_MEMORY = 0x80 };
struct kmp_task {
    void *shared;
    int (*run)(int, struct kmp_task *);
    int part;
    void *more[2];
};
struct kmp_depend {
    void *address;
    size_t bytes;
    unsigned char flags;
};
int __kmpc_global_thread_num(void *place);
struct kmp_task *__kmpc_omp_task_alloc(void *place, int thread, int flags, size_t task,
                                       size_t shared, int (*run)(int, struct kmp_task *));
int __kmpc_omp_task_with_deps(void *place, int thread, struct kmp_task *task, int n,
                              struct kmp_depend *list, int n_more, struct kmp_depend *more);

static long newer_x;

static int add_one(int thread, struct kmp_task *task) {
    (void)thread;
    (void)task;
#pragma omp atomic
    newer_x += 1;
    return 0;
}

static int twice(int thread, struct kmp_task *task) {
    (void)thread;
    (void)task;
    newer_x *= 2;
    return 0;
}

static void create(int (*run)(int, struct kmp_task *), void *address, unsigned char flags) {
    static struct {
        int reserved[4];
        const char *text;
    } place = {.reserved = {0, 2, 0, 0}, .text = ";constructs.c;create;1;1;;"};
    int thread = __kmpc_global_thread_num(&place);
    struct kmp_depend on = {address, sizeof(long), flags};
    struct kmp_task *task = __kmpc_omp_task_alloc(&place, thread, TIED, sizeof *task, 0, run);
    __kmpc_omp_task_with_deps(&place, thread, task, 1, &on, 0, NULL);
}

static void newer(int n) {
    static long a, b;
    newer_x = 1;
#pragma omp parallel num_threads(n)
#pragma omp single
    for (int i = 0; i < 5; i++) {
        create(add_one, &a, INOUTSET);
        create(add_one, &a, INOUTSET);
        create(add_one, &b, OUT);
        create(twice, NULL, ALL_MEMORY);
        create(add_one, &a, IN);
        create(add_one, &b, IN);
        create(twice, NULL, ALL_MEMORY);
    }
    add(newer_x);
}
#endif

static void locks(int n) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    long sum = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(n)
    for (int i = 0; i < 50; i++) {
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
        if (omp_test_lock(&lock)) {
            sum += 0;
            omp_unset_lock(&lock);
        }
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        sum += 0 * i;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp critical(named)
        { add(1); }
    }
    add(sum);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
}

static void nested(int n) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(n)
    {
#pragma omp parallel num_threads(2)
        {
            add(1);
#pragma omp barrier
            add(omp_get_thread_num());
        }
    }
    omp_set_max_active_levels(1);
}

static void cancelled(int n) {
#pragma omp parallel num_threads(n)
    {
#pragma omp for
        for (int i = 0; i < 1000; i++) {
#pragma omp cancel for if (i == 3)
        }
    }
}

static void *side(void *unused) {
    (void)unused;
    for (int i = 0; i < 5; i++)
        loops(2);
    return NULL;
}

static void many(int n, long count) {
#pragma omp parallel num_threads(n)
#pragma omp single
    for (long i = 0; i < count; i++)
#pragma omp task
        add(i);
}

int main(int argc, char **argv) {
    const char *end = argc > 1 ? argv[1] : "";
    pthread_t thread;
    for (int round = 0; round < 5; round++)
        for (int n = 1; n < 6; n++) {
            loops(n);
#if defined __clang__
            doacross(n);
#elif defined OWN_RUNTIME
            if (round == 0 &&
                n < 3) /* libgomp's threads wait for others without giving up the core */
                doacross(n);
#endif
#if defined __clang__ || defined OWN_RUNTIME
            if (n > 1) /* LLVM 14 fails in a team of one */
                detached(n);
#endif
            tasks(n);
#ifdef TASKWAIT_DEPEND
            awaited(n);
#endif
#ifdef HAS_ALL_MEMORY
            all_memory(n);
#endif
#ifdef HAS_MASKED
            masked(n);
#endif
#if defined NEWER_DEPENDENCES && defined __clang__
            newer(n);
#endif
#ifdef OWN_RUNTIME
            copies(n);
            apart(n);
#endif
            locks(n);
            nested(n);
            cancelled(n);
        }
    pthread_create(&thread, NULL, side, NULL);
    side(NULL);
    pthread_join(thread, NULL);
    many(2, strcmp(end, "many") == 0 ? 1000000 : 1000);
    if (strcmp(end, "fork") == 0) {
#pragma omp parallel num_threads(2)
#pragma omp master
        {
            pid_t child = fork();
            if (child == 0)
                _exit(5);
            int status = 0;
            waitpid(child, &status, 0);
            add(WEXITSTATUS(status));
        }
    }
    printf("%ld\n", total);
    fflush(stdout);
    if (strcmp(end, "exit") == 0) {
#pragma omp parallel num_threads(3)
        if (omp_get_thread_num() == 1)
            exit(9);
        else
            usleep(200000);
    }
    if (strcmp(end, "kill") == 0) {
#pragma omp parallel num_threads(3)
        if (omp_get_thread_num() == 1)
            raise(SIGKILL);
        else
            usleep(200000);
    }
    if (strcmp(end, "exec") == 0) {
#pragma omp parallel num_threads(3)
        if (omp_get_thread_num() == 1)
            execl("/bin/sh", "sh", "-c", "echo other; exit 6", (char *)NULL);
        else
            usleep(200000);
    }
    if (strcmp(end, "pause") == 0) {
        omp_pause_resource_all(omp_pause_soft);
        loops(3);
    }
    return 3;
}
