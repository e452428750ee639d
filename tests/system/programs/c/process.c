/* What a process may do beside MPI: another working directory and umask, closed descriptors, timers
 * that interrupt, stacks of its own, long jumps, a thread that initialises and finalises MPI, a
 * cleared environment, forks that run exit handlers. */
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

static volatile sig_atomic_t ticks;
static jmp_buf back;
static ucontext_t main_context, other_context;
static int coroutine_sum;

static void on_tick(int signal_number) {
    (void)signal_number;
    ticks++;
}

static void exchange(int n, int tag) {
    int in = -1;
    for (int i = 0; i < n; i++) {
        OK(MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT,
                        (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in == i);
    }
}

/* An interval timer that hits MPI and the tool wherever they are. */
static void interrupted(void) {
    struct sigaction action = {.sa_handler = on_tick};
    struct itimerval period = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &period, NULL) == 0);
    for (int i = 0; i < 30; i++) {
        exchange(20, 1);
        nap_ms(1);
    }
    CHECK(setitimer(ITIMER_REAL, &none, NULL) == 0 && ticks > 0);
    say("interrupted");
}

static void coroutine(void) {
    for (int i = 0; i < 10; i++) {
        int sum = 0;
        OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        coroutine_sum += sum;
        CHECK(swapcontext(&other_context, &main_context) == 0);
    }
}

/* Two stacks that call MPI in turn. */
static void two_stacks(void) {
    size_t bytes = 512 << 10;
    char *stack = malloc(bytes);
    CHECK(stack && getcontext(&other_context) == 0);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = bytes;
    other_context.uc_link = &main_context;
    makecontext(&other_context, coroutine, 0);
    for (int i = 0; i < 10; i++) {
        CHECK(swapcontext(&main_context, &other_context) == 0);
        exchange(1, 2);
    }
    say("coroutine %d", coroutine_sum);
    free(stack);
}

static void leave_by_jump(void) {
    exchange(1, 3);
    if (size > 0)
        longjmp(back, 1);
}

__attribute__((noinline)) static int deep(int n) {
    volatile int keep = n;
    if (n == 0)
        leave_by_jump();
    else
        keep += deep(n - 1);
    return keep;
}

static void jumps(void) {
    for (volatile int i = 0; i < 20; i++)
        if (setjmp(back) == 0)
            say("FAILED jump %d", deep(i * 5));
    say("jumps");
}

/* Deeper than any table of ours. */
__attribute__((noinline)) static int recurse(int n) {
    volatile int keep = n;
    if (n == 0)
        exchange(1, 4);
    else
        keep += recurse(n - 1);
    return keep;
}

static void forks(void) {
    int status = 0, failed = 0;
    for (int i = 0; i < 5; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (i == 0)
                exit(7); /* exit handlers that were inherited */
            if (i == 1)
                _exit(7);
            if (i == 2) {
                execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
                _exit(1);
            }
            if (i == 3) { /* a grandchild outlives its parent */
                if (fork() == 0) {
                    nap_ms(30);
                    _exit(0);
                }
                _exit(7);
            }
            abort();
        }
        exchange(3, 5);
        if (waitpid(child, &status, 0) != child ||
            (i < 4 ? status != 7 << 8 : !WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT))
            failed++;
    }
    say("forks failed %d", failed);
}

static void *whole_program(void *arg) {
    int *argc = arg;
    char **argv = NULL;
    struct rlimit files, no_core = {0, 0};
    start_program_threads(argc, &argv, MPI_THREAD_SERIALIZED);
    setrlimit(RLIMIT_CORE, &no_core);
    CHECK(chdir("/") == 0);
    umask(0777);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &files);
    interrupted();
    two_stacks();
    jumps();
    say("recursion %d", recurse(3000) > 0);
    forks();
    char *directory = getenv("TALLY_DIR"), keep[4096] = "";
    snprintf(keep, sizeof keep, "%s", directory ? directory : "");
    clearenv();
    exchange(5, 6);
    if (keep[0])
        setenv("TALLY_DIR", keep, 1);
    umask(022);
    *argc = end_program();
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    (void)argv;
    for (int fd = 200; fd < 300; fd++) /* as daemons do; the launcher's own are low */
        close(fd);
    CHECK(pthread_create(&thread, NULL, whole_program, &argc) == 0);
    pthread_join(thread, NULL);
    return argc;
}
