/* Remembered rules against libunwind, frame by frame, and frames that no rule can be right for: the
 * walk must say so, and read nothing outside of the stack. walk LIBRARY_A LIBRARY_B: two libraries
 * of equal layout and different frames; walk speed: nanoseconds of a frame whose rule is known. */
#include <pthread.h>
#include <alloca.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "measure/unwind/walk.h"

#define NOINLINE __attribute__((noinline, noclone))

enum { FRAMES = 1024 };
static struct lc_walk walker;
static struct lc_frame walked[FRAMES], judged[FRAMES];
static int n_walked, n_judged, n_compared, failures;
static bool complete;
static volatile char sink;

static void fail(const char *what, int i) {
    fprintf(stderr, "wrong: %s (frame %d of %d, libunwind %d)\n", what, i, n_walked, n_judged);
    failures++;
}

/* What a wrapper does. */
NOINLINE static void probe(void) {
    uint64_t frame = (uint64_t)__builtin_frame_address(0);
    n_walked = lc_walk_stack(&walker, frame, walked, FRAMES, &complete);
    bool complete_too;
    n_judged = lc_unwind(frame, judged, FRAMES, &complete_too);
    if (n_walked < 0)
        return;
    if (n_walked != n_judged || complete != complete_too)
        fail("number of frames", n_walked);
    for (int i = 0; i < n_walked && i < n_judged; i++, n_compared++) {
        const struct lc_frame *a = &walked[i], *b = &judged[i];
        if (a->ip != b->ip || a->sp != b->sp || a->start != b->start || a->signal != b->signal)
            fail("address, stack pointer or function", i);
        if (a->fp != b->fp || a->fp_slot != b->fp_slot || (i > 0 && a->ip_slot != b->ip_slot))
            fail("frame pointer or places", i);
    }
}

static void must_walk(const char *what) {
    if (n_walked < 1)
        fail(what, 0);
    n_walked = -2;
}

static void must_refuse(const char *what) {
    if (n_walked != -1)
        fail(what, 0);
    n_walked = -2;
}

/* --- what compilers make */

NOINLINE static int recursion(int n) {
    if (n == 0)
        probe();
    else
        recursion(n - 1);
    sink = (char)n;
    return n;
}

NOINLINE static int variable(int n) {
    char *p = alloca((size_t)n * 16 + 16);
    memset(p, n, (size_t)n * 16 + 16);
    if (n > 0 && n % 5 != 0)
        variable(n - 1);
    else
        probe();
    return sink = p[n];
}

NOINLINE static int realigned(int n) {
    _Alignas(128) volatile char big[256];
    big[n & 255] = (char)n;
    if (n > 0)
        variable(n);
    else
        probe();
    return big[n & 255];
}

static int compare(const void *a, const void *b) {
    probe();
    return *(const int *)a - *(const int *)b;
}

static void compiled(void) {
    for (int i = 0; i < 60; i += 7) {
        recursion(i);
        must_walk("recursion");
        variable(i);
        must_walk("frames of variable size");
        realigned(i);
        must_walk("realigned frames");
    }
    int numbers[20];
    for (int i = 0; i < 20; i++)
        numbers[i] = i * 7 % 11;
    qsort(numbers, 20, sizeof *numbers, compare);
    must_walk("a callback of the C library");
    recursion(FRAMES + 10);
    if (n_walked != FRAMES || complete)
        fail("more frames than there is room for", n_walked);
}

/* --- frames made by hand: each calls its argument; what they tell of themselves differs */

typedef void made(void (*call)(void));
made made_usual, made_outermost, made_misaligned, made_inwards, made_at_itself, made_far,
    made_fp_null, made_fp_top, made_fp_beyond, made_fp_code, made_deref_null, made_deref_beyond,
    made_unknown, made_bare;

#if defined(__x86_64__)
made made_rbx;

#define MADE(name, tables, enter, leave)                                                           \
    __asm__(".pushsection .text\n.type " #name ", @function\n" #name ":\n" tables "\n" enter       \
            "\ncall *%rdi\n" leave "\nret\n.cfi_endproc\n.size " #name ", .-" #name                \
            "\n.popsection\n");
#define START ".cfi_startproc"

MADE(made_usual, START, "sub $24, %rsp\n.cfi_adjust_cfa_offset 24", "add $24, %rsp")
MADE(made_outermost, START "\n.cfi_undefined rip", "sub $24, %rsp\n.cfi_adjust_cfa_offset 24",
     "add $24, %rsp")
MADE(made_rbx, START,
     "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_offset rbx, -16\nmov %rsp, %rbx\n"
     ".cfi_def_cfa rbx, 16\nsub $16, %rsp",
     "add $16, %rsp\npop %rbx")
MADE(made_misaligned, START "\n.cfi_def_cfa rsp, 12", "sub $8, %rsp", "add $8, %rsp")
MADE(made_inwards, START "\n.cfi_def_cfa rsp, -64", "sub $8, %rsp", "add $8, %rsp")
MADE(made_at_itself, START "\n.cfi_def_cfa rsp, 0", "sub $8, %rsp", "add $8, %rsp")
MADE(made_far, START "\n.cfi_def_cfa rsp, 0x40000000", "sub $8, %rsp", "add $8, %rsp")
/* CFA is rbp + 16, but rbp is something else */
#define MADE_FP(name, value)                                                                       \
    MADE(name, START,                                                                              \
         "push %rbp\n.cfi_offset rbp, -16\nmovabs " value ", %rbp\n.cfi_def_cfa rbp, 16",          \
         "pop %rbp")
MADE_FP(made_fp_null, "$0")
MADE_FP(made_fp_top, "$-16")
MADE_FP(made_fp_beyond, "$0x7fffffffffffff00")
MADE_FP(made_fp_code, "$0x400000")
/* CFA is the word at rbp - 8: DW_CFA_def_cfa_expression, 3 bytes: breg6 -8, deref */
#define MADE_DEREF(name, value)                                                                    \
    MADE(name, START,                                                                              \
         "push %rbp\n.cfi_offset rbp, -16\nmovabs " value                                          \
         ", %rbp\n.cfi_escape 0x0f, 3, 0x76, 0x78, 6",                                             \
         "pop %rbp")
MADE_DEREF(made_deref_null, "$0")
MADE_DEREF(made_deref_beyond, "$0x7fffffffffffff00")
/* an instruction that the reader does not know: DW_CFA_val_offset, for rbx */
MADE(made_unknown, START "\n.cfi_escape 0x14, 3, 0", "sub $8, %rsp", "add $8, %rsp")
/* no table at all */
__asm__(".pushsection .text\n.type made_bare, @function\nmade_bare:\nsub $24, %rsp\ncall *%rdi\n"
        "add $24, %rsp\nret\n.size made_bare, .-made_bare\n.popsection\n");
#define OTHER_REGISTER made_rbx
/* sub $24, %rsp; call *%rdi; add $24, %rsp; ret */
static const unsigned char generated_code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7,
                                               0x48, 0x83, 0xc4, 0x18, 0xc3};
#else
made made_x9;

/* x29 and x30 are stored; CFA is sp + 32 unless the tables say otherwise. */
#define MADE(name, tables, enter)                                                                  \
    __asm__(".pushsection .text\n.type " #name ", %function\n" #name ":\n.cfi_startproc\n"         \
            "stp x29, x30, [sp, -32]!\n.cfi_adjust_cfa_offset 32\n.cfi_offset x29, -32\n"          \
            ".cfi_offset x30, -24\n" tables "\n" enter                                             \
            "\nblr x0\nldp x29, x30, [sp], 32\nret\n.cfi_endproc\n.size " #name ", .-" #name       \
            "\n.popsection\n");

MADE(made_usual, "", "")
MADE(made_outermost, ".cfi_undefined x30", "")
MADE(made_x9, "mov x9, sp\n.cfi_def_cfa x9, 32", "")
MADE(made_misaligned, ".cfi_def_cfa sp, 12", "")
MADE(made_inwards, ".cfi_def_cfa sp, -64", "")
MADE(made_at_itself, ".cfi_def_cfa sp, 0", "")
MADE(made_far, ".cfi_def_cfa sp, 0x40000000", "")
/* CFA is x29 + 16, but x29 is something else */
#define MADE_FP(name, value)    MADE(name, ".cfi_def_cfa x29, 16", "ldr x29, =" value)
MADE_FP(made_fp_null, "0")
MADE_FP(made_fp_top, "-16")
MADE_FP(made_fp_beyond, "0x7fffffffffffff00")
MADE_FP(made_fp_code, "0x400000")
/* CFA is the word at x29 - 8: DW_CFA_def_cfa_expression, 3 bytes: breg29 -8, deref */
#define MADE_DEREF(name, value) MADE(name, ".cfi_escape 0x0f, 3, 0x8d, 0x78, 6", "ldr x29, =" value)
MADE_DEREF(made_deref_null, "0")
MADE_DEREF(made_deref_beyond, "0x7fffffffffffff00")
/* an instruction that the reader does not know: DW_CFA_val_offset, for x3 */
MADE(made_unknown, ".cfi_escape 0x14, 3, 0", "")
/* no table at all */
__asm__(".pushsection .text\n.type made_bare, %function\nmade_bare:\n"
        "stp x29, x30, [sp, -32]!\nblr x0\nldp x29, x30, [sp], 32\nret\n"
        ".size made_bare, .-made_bare\n.popsection\n");
#define OTHER_REGISTER          made_x9
/* stp x29, x30, [sp, -16]!; blr x0; ldp x29, x30, [sp], 16; ret */
static const uint32_t generated_code[] = {0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

static void by_walk_alone(void) { /* the judge would not survive these */
    n_walked =
        lc_walk_stack(&walker, (uint64_t)__builtin_frame_address(0), walked, FRAMES, &complete);
}

static void made_by_hand(void) {
    static const struct {
        const char *name;
        made *calls;
    } refused[] = {{"frames by another register", OTHER_REGISTER},
                   {"misaligned frames", made_misaligned},
                   {"a frame inside of itself", made_inwards},
                   {"a frame at itself", made_at_itself},
                   {"a frame beyond the stack", made_far},
                   {"frame pointer 0", made_fp_null},
                   {"frame pointer at the end of memory", made_fp_top},
                   {"frame pointer at no memory", made_fp_beyond},
                   {"frame pointer in code", made_fp_code},
                   {"a frame found through 0", made_deref_null},
                   {"a frame found through no memory", made_deref_beyond},
                   {"an unknown instruction", made_unknown},
                   {"no table", made_bare}};
    made_usual(probe);
    must_walk("a usual frame made by hand");
    made_outermost(by_walk_alone);
    if (n_walked != 1 || !complete)
        fail("the outermost frame is marked", n_walked);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        refused[i].calls(by_walk_alone);
        must_refuse(refused[i].name);
        refused[i].calls(by_walk_alone); /* remembered */
        must_refuse(refused[i].name);
    }
}

static void generated(void) {
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        abort();
    memcpy(at, generated_code, sizeof generated_code);
    __builtin___clear_cache(at, (char *)at + sizeof generated_code);
    mprotect(at, 4096, PROT_READ | PROT_EXEC);
    made *code;
    memcpy(&code, &at, sizeof code);
    code(by_walk_alone);
    must_refuse("generated code");
    munmap(at, 4096);
}

/* --- other stacks */

static void on_signal(int number) {
    (void)number;
    probe();
}

static void interrupted(void) {
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    must_refuse("a signal handler");
    static char other[65536];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    must_refuse("a signal handler on its own stack");
}

static ucontext_t here, there;

static void coroutine(void) {
    recursion(5);
}

static void coroutines(void) {
    char *stack = malloc(65536);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 65536;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    must_refuse("a stack of the program's own");
    free(stack);
}

static void *in_thread(void *unused) {
    (void)unused;
    lc_walk_forget(&walker);
    walker.stack_high = 0; /* one walker is one thread's */
    recursion(7);
    must_walk("a thread");
    return NULL;
}

static void threads(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
        abort();
    pthread_join(thread, NULL);
    walker.stack_high = 0;
}

/* --- libraries that take each other's place */

static uint64_t through(const char *library) {
    void *handle = dlopen(library, RTLD_NOW);
    void *found = handle != NULL ? dlsym(handle, "call_it") : NULL;
    void (*call_it)(void (*)(void));
    if (found == NULL) {
        fail(library, 0);
        return 0;
    }
    memcpy(&call_it, &found, sizeof call_it);
    call_it(probe);
    must_walk(library);
    dlclose(handle);
    return (uint64_t)found;
}

static void unloaded(char **libraries) {
    uint64_t first = through(libraries[0]);
    lc_walk_forget(&walker); /* what the library asks for when something is closed */
    lc_unwind_forget();
    uint64_t second = through(libraries[1]);
    printf("the second library lies %s the first was\n",
           first == second ? "where" : "elsewhere than");
    lc_walk_forget(&walker);
}

/* --- */

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_ns = 1e9;

static void time_walks(void) {
    enum { WALKS = 2000, ROUNDS = 50 };
    uint64_t frame = (uint64_t)__builtin_frame_address(0);
    for (int k = 0; k < ROUNDS; k++) {
        double begin = now_ns();
        for (int i = 0; i < WALKS; i++)
            n_walked = lc_walk_stack(&walker, frame, walked, FRAMES, &complete);
        double ns = (now_ns() - begin) / WALKS / n_walked;
        best_ns = ns < best_ns ? ns : best_ns;
    }
}

static NOINLINE int dive_a(int n);
static NOINLINE int dive_b(int n) {
    if (n == 0)
        time_walks();
    else
        dive_a(n - 1);
    sink = (char)n;
    return n;
}
static NOINLINE int dive_a(int n) {
    volatile char room[100];
    room[n % 100] = 0;
    return dive_b(n) + room[n % 100];
}

int main(int argc, char **argv) {
    lc_unwind_init();
    if (argc == 2 && strcmp(argv[1], "speed") == 0) {
        dive_a(20);
        printf("figure frame %.2f ns\n", best_ns); /* whose rule is known: tests/figure.py */
        return 0;
    }
    if (argc != 3)
        return 2;
    compiled();
    made_by_hand();
    generated();
    interrupted();
    coroutines();
    threads();
    unloaded(argv + 1);
    printf("%d frames compared with libunwind\n", n_compared);
    return failures > 0 || n_compared < 2000;
}
