#include "measure/samples/timer_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/timer.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { LEAST_AWAY_NS = 100000, TIMERS = 512, CHAIN_WORDS = 2, PAGE = 4096 };

struct lc_ring_timer {
    _Atomic bool used;
    pthread_t owner; /* a signal of the thread that had it before comes to nothing */
    int id;          /* the kernel's */
    bool made;
    bool switches;                     /* it notes time off the processor */
    volatile uint32_t n_looks;         /* at the clocks, */
    volatile uint64_t wall_ns, cpu_ns; /* the last one */
    struct lc_perf_ring ring;
};

static struct lc_ring_timer timers[TIMERS];
static int number; /* of the signal; 0: none */
static lc_python_notes *notes;

/* ---- in the handler */

static char *data_of(const struct lc_perf_ring *ring) {
    return (char *)ring->page + (ring->data - (const char *)ring->page);
}

static void put_words(const struct lc_perf_ring *ring, uint64_t *at, const uint64_t *words,
                      size_t n) {
    char *data = data_of(ring);
    for (size_t i = 0; i < n; i++, *at += sizeof *words) /* the ring holds whole words */
        memcpy(data + (*at & (ring->bytes - 1)), &words[i], sizeof *words);
}

/* Bytes of the stack that could be copied to the ring. By pages: beyond its end there may be none.
 */
static uint64_t copy_stack(const struct lc_perf_ring *ring, uint64_t at, uint64_t sp) {
    char *data = data_of(ring);
    uint64_t begin = at & (ring->bytes - 1), room = ring->stack_bytes;
    uint64_t first = ring->bytes - begin < room ? ring->bytes - begin : room;
    struct iovec to[2] = {{data + begin, first}, {data, room - first}};
    struct iovec from[LC_PERF_STACK / PAGE + 1];
    unsigned long n = 0;
    for (uint64_t done = 0; done < room; n++) {
        uint64_t left = PAGE - ((sp + done) & (PAGE - 1));
        from[n].iov_base = (void *)(uintptr_t)(sp + done);
        from[n].iov_len = left < room - done ? left : room - done;
        done += from[n].iov_len;
    }
    long got = syscall(SYS_process_vm_readv, getpid(), to, 2ul, from, n, 0ul);
    return got > 0 ? (uint64_t)got & ~(uint64_t)7 : 0;
}

/* The registers of a sample, in the order of enum lc_perf_register. */
static void read_registers(const void *context, uint64_t registers[LC_PERF_REGISTERS]) {
#if defined(__x86_64__)
    const greg_t *all = ((const ucontext_t *)context)->uc_mcontext.gregs;
    registers[LC_PERF_AX] = (uint64_t)all[REG_RAX];
    registers[LC_PERF_FP] = (uint64_t)all[REG_RBP];
    registers[LC_PERF_SP] = (uint64_t)all[REG_RSP];
    registers[LC_PERF_IP] = (uint64_t)all[REG_RIP];
#elif defined(__aarch64__)
    const mcontext_t *all = &((const ucontext_t *)context)->uc_mcontext;
    registers[LC_PERF_FP] = all->regs[29];
    registers[LC_PERF_LR] = all->regs[30];
    registers[LC_PERF_SP] = all->sp;
    registers[LC_PERF_IP] = all->pc;
#else
#error "which registers are these?"
#endif
}

/* Since the last look; short times are those of interrupts and of the clocks themselves. */
static uint64_t time_away(const struct lc_ring_timer *timer, uint64_t wall_ns, uint64_t cpu_ns) {
    uint64_t wall = wall_ns - timer->wall_ns, cpu = cpu_ns - timer->cpu_ns;
    return wall > cpu + LEAST_AWAY_NS ? wall - cpu : 0;
}

static void looked(struct lc_ring_timer *timer, uint64_t wall_ns, uint64_t cpu_ns) {
    timer->wall_ns = wall_ns;
    timer->cpu_ns = cpu_ns;
    timer->n_looks++;
}

/* As if the thread had left the processor right after the last look, so that no more of it counts
 * for what it did since then than is certain. */
static void write_switches(struct lc_ring_timer *timer) {
    const struct lc_perf_ring *ring = &timer->ring;
    struct perf_event_mmap_page *control = ring->page;
    uint64_t now = lc_monotonic_raw_ns(), cpu = lc_thread_cpu_ns(), at = control->data_head;
    uint64_t away = time_away(timer, now, cpu), left = timer->wall_ns;
    looked(timer, now, cpu);
    struct perf_event_header header = {
        .type = PERF_RECORD_SWITCH, .misc = PERF_RECORD_MISC_SWITCH_OUT, .size = 16};
    uint64_t words[] = {0, left, 0, left + away};
    if (away == 0 || ring->bytes - (at - control->data_tail) < sizeof words)
        return;
    memcpy(&words[0], &header, sizeof header);
    header.misc = 0;
    memcpy(&words[2], &header, sizeof header);
    put_words(ring, &at, words, sizeof words / sizeof words[0]);
    __atomic_store_n(&control->data_head, at, __ATOMIC_RELEASE);
}

/* What Python runs, where that is an interpreter's thread. */
static void write_python(const struct lc_perf_ring *ring) {
    uint64_t words[1 + 2 * LC_PERF_PYTHON];
    struct perf_event_mmap_page *control = ring->page;
    uint64_t head = control->data_head, at = head;
    uint32_t n = notes != NULL ? notes(words + 1, LC_PERF_PYTHON) : 0;
    struct perf_event_header header = {.type = LC_PERF_PYTHON_TYPE,
                                       .size = (uint16_t)(8 * (1 + 2 * n))};
    if (n == 0 || ring->bytes - (head - control->data_tail) < header.size)
        return;
    memcpy(&words[0], &header, sizeof header);
    put_words(ring, &at, words, 1 + 2 * n);
    __atomic_store_n(&control->data_head, at, __ATOMIC_RELEASE);
}

static void write_sample(const struct lc_perf_ring *ring, const void *context) {
    struct perf_event_mmap_page *control = ring->page;
    uint64_t head = control->data_head, at = head, registers[LC_PERF_REGISTERS];
    uint64_t words = 2 + CHAIN_WORDS +
                     (ring->stack_bytes > 0 ? 3 + LC_PERF_REGISTERS + ring->stack_bytes / 8 : 0);
    struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
                                       .misc = PERF_RECORD_MISC_USER,
                                       .size = (uint16_t)(8 + words * 8)};
    if (ring->bytes - (head - control->data_tail) < header.size)
        return;
    read_registers(context, registers);
    uint64_t start[] = {0, lc_monotonic_raw_ns(), CHAIN_WORDS, (uint64_t)PERF_CONTEXT_USER,
                        registers[LC_PERF_IP]};
    memcpy(&start[0], &header, sizeof header);
    put_words(ring, &at, start, sizeof start / sizeof start[0]);
    if (ring->stack_bytes > 0) {
        const uint64_t abi = PERF_SAMPLE_REGS_ABI_64, room = ring->stack_bytes;
        put_words(ring, &at, &abi, 1);
        put_words(ring, &at, registers, LC_PERF_REGISTERS);
        put_words(ring, &at, &room, 1);
        uint64_t filled = copy_stack(ring, at, registers[LC_PERF_SP]);
        at += room;
        put_words(ring, &at, &filled, 1);
    }
    /* partner: the same thread, which this interrupts */
    __atomic_store_n(&control->data_head, at, __ATOMIC_RELEASE);
}

/* Somebody else's: what it would have done. */
static void end_as_without(int signal) {
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
    raise(signal);
}

static void on_tick(int signal, siginfo_t *info, void *context) {
    int saved = errno;
    struct lc_ring_timer *timer = info->si_value.sival_ptr;
    if (info->si_code != SI_TIMER || timer < timers || timer >= timers + TIMERS)
        end_as_without(signal);
    else if (timer->ring.page != NULL && pthread_equal(timer->owner, pthread_self())) {
        if (timer->switches)
            write_switches(timer);
        write_python(&timer->ring);
        write_sample(&timer->ring, context);
    }
    errno = saved;
}

/* ---- outside of it */

bool lc_timer_ring_init(lc_python_notes *of_python) {
    notes = of_python;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, old;
    action.sa_sigaction = on_tick;
    sigfillset(&action.sa_mask);
    for (int s = SIGRTMAX; s >= SIGRTMIN && number == 0; s--)
        if (sigaction(s, NULL, &old) == 0 && (old.sa_flags & SA_SIGINFO) == 0 &&
            old.sa_handler == SIG_DFL && sigaction(s, &action, NULL) == 0)
            number = s;
    return number != 0;
}

bool lc_timer_ring_ours(void) {
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == on_tick;
}

static struct lc_ring_timer *take_timer(void) {
    for (size_t i = 0; i < TIMERS; i++)
        if (!atomic_exchange_explicit(&timers[i].used, true, memory_order_acquire))
            return &timers[i];
    return NULL;
}

static int start(struct lc_ring_timer *timer, uint64_t period_ns) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    struct timespec period = {.tv_sec = (time_t)(period_ns / 1000000000),
                              .tv_nsec = (long)(period_ns % 1000000000)};
    const struct itimerspec when = {.it_interval = period, .it_value = period};
    event.sigev_value.sival_ptr = timer;
    event.sigev_notify_thread_id = gettid();
    /* not by the C library: its identifiers are those of the program */
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer->id) != 0)
        return errno;
    timer->made = true;
    return syscall(SYS_timer_settime, timer->id, 0, &when, NULL) == 0 ? 0 : errno;
}

int lc_timer_ring_open(struct lc_perf_ring *ring, const struct lc_perf_wanted *wanted,
                       uint64_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct lc_ring_timer *timer = number != 0 ? take_timer() : NULL;
    int saved = errno;
    *ring = (struct lc_perf_ring){
        .bytes = bytes, .period_ns = wanted->period_ns, .stack_bytes = wanted->stack_bytes};
    if (timer == NULL)
        return EINVAL;
    void *map =
        mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int error = map == MAP_FAILED ? ENOMEM : 0;
    if (error == 0) {
        ring->page = map;
        ring->data = (const char *)map + page;
        ring->timer = timer;
        timer->owner = pthread_self();
        timer->switches = wanted->switches;
        looked(timer, lc_monotonic_raw_ns(), lc_thread_cpu_ns());
        timer->ring = *ring;
        error = start(timer, wanted->period_ns);
    } else {
        atomic_store_explicit(&timer->used, false, memory_order_release);
    }
    if (error != 0)
        lc_perf_ring_close(ring);
    errno = saved;
    return error;
}

uint64_t lc_timer_ring_away_ns(const struct lc_perf_ring *ring) {
    struct lc_ring_timer *timer = ring->timer;
    uint64_t now, cpu, away;
    uint32_t looks;
    if (timer == NULL)
        return 0;
    do { /* again where a tick came between */
        looks = timer->n_looks;
        now = lc_monotonic_raw_ns();
        cpu = lc_thread_cpu_ns();
        away = time_away(timer, now, cpu);
    } while (looks != timer->n_looks);
    looked(timer, now, cpu);
    return away;
}

void lc_timer_ring_stop(struct lc_perf_ring *ring) {
    struct lc_ring_timer *timer = ring->timer;
    int saved = errno;
    if (timer->made)
        syscall(SYS_timer_delete, timer->id);
    timer->made = false;
    timer->ring.page = NULL;
    ring->timer = NULL;
    atomic_store_explicit(&timer->used, false, memory_order_release);
    errno = saved;
}
