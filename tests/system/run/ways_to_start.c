/* A program that people start in their own ways (ways_to_start.py). Words, all optional, in any
 * order:
 *   version     only asks which MPI this is and whether it runs, as configure scripts do, and ends
 *   helper      starts itself with `version` before MPI_Init
 *   shell       starts a shell before MPI_Init that says what is preloaded into it
 *   start=PATH  only starts that program
 *   after=PATH  asks which MPI this is, makes PATH.asked, and goes on when there is PATH
 *   dies        aborts before MPI_Init
 *   lock        locks all memory after MPI_Init and says how much there is
 *   file=PATH   removes that file after MPI_Init (the program's own)
 *   name=FILE   every second MPI_Allreduce is called by the address that dlsym gives for the MPI
 *               library FILE; which ones differs between ranks
 *   changes     changes after MPI_Init what a process can change of itself: environment, directory,
 *               umask, limits, signals; starts others by vfork and posix_spawn, is stopped once
 *   filter      allows itself no more system calls that look at the machine (seccomp)
 *   rights      becomes another user after MPI_Init
 *   comma       has chosen the locale of the environment, and says how it writes a half
 *   traps       is ended by what is no number: divisions by 0, overflows
 *   rounds      rounds upwards, and says at the end whether it still does
 *   nowhere     its directory has been removed
 *   again=N     starts itself N times by exec before
 *   no_code     can make no memory executable from then on (before its last exec)
 *   coroutine   makes its calls on a stack of its own, by makecontext
 *   atexit      finalizes MPI in exit
 *   forgets     throws its environment away before MPI_Init, but for what the launcher says in it,
 *               and HOME, without which Open MPI 5 does not start
 *   jumps       leaves calls that fail by longjmp, in the error handler
 * Then it makes 25 calls of MPI_Allreduce in time_step(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

static const char *word(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, strlen(name)) == 0)
            return argv[i] + strlen(name);
    return NULL;
}

static int version(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, initialised = 1, number, part;
    MPI_Get_library_version(text, &length);
    MPI_Get_version(&number, &part);
    MPI_Initialized(&initialised);
    printf("helper: %d %d %d\n", length > 0, number, initialised);
    return 0;
}

/* Makes a file that says that this process has asked, and waits for the other one. */
__attribute__((noinline)) static void ask_and_wait(const char *path) {
    char asked[4096];
    int number, part;
    MPI_Get_version(&number, &part);
    snprintf(asked, sizeof asked, "%s.asked", path);
    FILE *file = fopen(asked, "w");
    if (file == NULL)
        perror(asked);
    else
        fclose(file);
    while (access(path, F_OK) != 0)
        usleep(10000);
}

/* Memory of this process that is real, MiB. */
static long resident_mib(void) {
    long pages = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &shared) != 2)
        return -1;
    fclose(file);
    return shared * sysconf(_SC_PAGESIZE) >> 20;
}

static void ignore(int signo) {
    (void)signo;
}

static void start_others(void) {
    static char *const none[] = {NULL}, *const words[] = {"true", NULL};
    pid_t other;
    int status = -1, spawned = -1;
    pid_t pid = vfork();
    if (pid == 0) {
        execve("/bin/true", words, none);
        _exit(9);
    }
    waitpid(pid, &status, 0);
    if (posix_spawn(&other, "/bin/true", NULL, NULL, words, none) == 0)
        waitpid(other, &spawned, 0);
    printf("others: %d %d\n", status, spawned);
}

static bool is_stopped(pid_t pid) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    const char *name_end = strrchr(line, ')');
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'T';
}

/* Stops this process; a process of its own lets it go on when it has stopped. */
static void be_stopped(void) {
    pid_t self = getpid(), helper = fork();
    if (helper == 0) {
        while (getppid() == self && !is_stopped(self))
            usleep(1000);
        _exit(kill(self, SIGCONT) != 0);
    }
    raise(SIGSTOP);
    waitpid(helper, NULL, 0);
}

static void change_everything(void) {
    sigset_t all;
    start_others();
    be_stopped();
    clearenv();
    umask(0777);
    if (chdir("/") != 0)
        perror("/");
    for (int signo = 1; signo < NSIG; signo++)
        if (signo != SIGKILL && signo != SIGSTOP && signo != SIGCHLD)
            signal(signo, signo % 2 ? SIG_IGN : ignore);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1});
    setpriority(PRIO_PROCESS, 0, 5);
    prctl(PR_SET_NAME, "another name");
    prctl(PR_SET_DUMPABLE, 0);
}

/* What the tool would use after MPI_Init, and MPI not, or for long messages only. */
static void filter_calls(void) {
    static const unsigned refused[] = {SYS_perf_event_open, SYS_memfd_create, SYS_flock,
                                       SYS_process_vm_readv, SYS_process_vm_writev};
    enum { N = sizeof refused / sizeof *refused };
    struct sock_filter code[2 * N + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (int i = 0; i < N; i++) {
        code[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
        code[2 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[2 * N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {2 * N + 2, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        perror("seccomp");
}

static __typeof__(&MPI_Allreduce) by_name(const char *library) {
    void *mpi = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    return mpi != NULL ? (__typeof__(&MPI_Allreduce))dlsym(mpi, "MPI_Allreduce") : NULL;
}

__attribute__((noinline)) static int time_step(int rank, __typeof__(&MPI_Allreduce) named) {
    int sum = 0;
    for (int i = 0; i < 25; i++)
        if (named != NULL && (i + rank) % 2 == 0)
            named(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Starts itself anew, with one time less to go. */
static void start_again(char **argv, int argc) {
    char number[32], **words = calloc((size_t)argc + 1, sizeof *words);
    for (int i = 0; i < argc; i++)
        words[i] = argv[i];
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "again=", 6) == 0 && atoi(argv[i] + 6) > 0) {
            snprintf(number, sizeof number, "again=%d", atoi(argv[i] + 6) - 1);
            words[i] = number;
            execvp(argv[0], words);
            perror(argv[0]);
        }
    free(words);
}

static void be_nowhere(void) {
    char place[] = "/tmp/nowhere-XXXXXX";
    if (mkdtemp(place) == NULL || chdir(place) != 0 || rmdir(place) != 0)
        perror(place);
}

static void forget_environment(void) {
    static const char *const kept[] = {"OMPI_", "PMIX_",  "PMI_",        "HYD",
                                       "HOME=", "TMPDIR", "ASAN_OPTIONS"};
    static char *words[512];
    size_t n = 0;
    for (char **e = environ; *e != NULL && n < sizeof words / sizeof *words - 1; e++)
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            if (strncmp(*e, kept[i], strlen(kept[i])) == 0)
                words[n++] = *e;
    environ = words;
}

static void prepare(int argc, char **argv) {
#ifdef PR_SET_MDWE
    if (word(argc, argv, "no_code") && prctl(PR_SET_MDWE, 1UL, 0UL, 0UL, 0UL) != 0 &&
        errno != EPERM)
        perror("PR_SET_MDWE"); /* EPERM: it is set */
#endif
    start_again(argv, argc);
    if (word(argc, argv, "comma")) {
        setlocale(LC_ALL, "");
        printf("half: %.1f\n", 0.5);
    }
    if (word(argc, argv, "traps"))
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    if (word(argc, argv, "rounds"))
        fesetround(FE_UPWARD);
    if (word(argc, argv, "nowhere"))
        be_nowhere();
    if (word(argc, argv, "forgets"))
        forget_environment();
}

static jmp_buf before_failure;

static void jump_back(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    longjmp(before_failure, 1);
}

/* Calls from deep in the stack that fail, and are left. */
__attribute__((noinline)) static void fail_deeply(int depth) {
    volatile char room[256] = {0};
    if (depth > 0)
        fail_deeply(depth - 1);
    else
        MPI_Send((void *)room, 1, MPI_CHAR, 1000, 0, MPI_COMM_WORLD);
    room[0] = 1;
}

__attribute__((noinline)) static void leave_calls(void) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump_back, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int depth = 4; depth >= 0; depth -= 2)
        if (setjmp(before_failure) == 0)
            fail_deeply(depth);
        else
            printf("left at %d\n", depth);
    if (setjmp(before_failure) == 0)
        MPI_Send(NULL, 0, MPI_CHAR, 1000, 0, MPI_COMM_WORLD);
}

static void finalize(void) {
    MPI_Finalize();
}

static ucontext_t main_context, other_context;
static int other_rank, other_sum;

static void on_other_stack(void) {
    other_sum = time_step(other_rank, NULL);
}

static int time_step_in_coroutine(int rank) {
    enum { BYTES = 256 << 10 };
    char *stack = malloc(BYTES);
    other_rank = rank;
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = BYTES;
    other_context.uc_link = &main_context;
    makecontext(&other_context, on_other_stack, 0);
    swapcontext(&main_context, &other_context);
    free(stack);
    return other_sum;
}

int main(int argc, char **argv) {
    char line[4096];
    int rank;
    const char *start = word(argc, argv, "start="), *after = word(argc, argv, "after=");
    const char *asan;
    prepare(argc, argv);
    if (word(argc, argv, "version"))
        return version();
    if (start != NULL)
        return system(start) != 0;
    if (after != NULL)
        ask_and_wait(after);
    if (word(argc, argv, "dies"))
        abort();
    if (word(argc, argv, "helper")) {
        snprintf(line, sizeof line, "%s version", argv[0]);
        if (system(line) != 0)
            return 3;
    }
    if (word(argc, argv, "shell") && system("echo shell: $LD_PRELOAD") != 0)
        return 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (word(argc, argv, "filter"))
        filter_calls();
    if (word(argc, argv, "rights") && (setgid(65534) != 0 || setuid(65534) != 0))
        perror("setuid");
    if (word(argc, argv, "changes"))
        change_everything();
    if (word(argc, argv, "lock")) {
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
            perror("mlockall");
        printf("resident: %ld\n", resident_mib());
    }
    const char *file = word(argc, argv, "file="), *library = word(argc, argv, "name=");
    if (word(argc, argv, "jumps"))
        leave_calls();
    MPI_Barrier(MPI_COMM_WORLD);
    if (file != NULL && rank == 0 && unlink(file) != 0)
        perror(file);
    int sum = word(argc, argv, "coroutine")
                  ? time_step_in_coroutine(rank)
                  : time_step(rank, library != NULL ? by_name(library) : NULL);
    printf("rank %d sum %d\n", rank, sum);
    asan = getenv("ASAN_OPTIONS");
    printf("options: %s\n", asan != NULL ? asan : "none");
    if (word(argc, argv, "atexit")) {
        atexit(finalize);
        return 0;
    }
    MPI_Finalize();
    if (word(argc, argv, "rounds"))
        printf("upwards: %d\n", fegetround() == FE_UPWARD);
    return 0;
}
