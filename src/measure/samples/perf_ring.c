#include "base/timer.h"
#include "measure/samples/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/stats.h"
#include "measure/samples/timer_ring.h"

/* of a record that is of use, without a copy of the stack, and of what Python ran */
enum { MOST_BYTES = 512 + 8 + 16 * LC_PERF_PYTHON };

int lc_perf_ring_open(struct lc_perf_ring *ring, const struct lc_perf_wanted *wanted,
                      uint64_t bytes) {
    if (wanted->timer)
        return lc_timer_ring_open(ring, wanted, bytes);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *ring = (struct lc_perf_ring){
        .bytes = bytes, .period_ns = wanted->period_ns, .stack_bytes = wanted->stack_bytes};
    int saved = errno, fd = lc_perf_sampler_open(wanted);
    if (fd < 0)
        return -fd;
    void *map = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int error = map == MAP_FAILED ? errno : 0;
    close(fd);
    errno = saved;
    if (error != 0)
        return error;
    ring->page = map;
    ring->data = (const char *)map + page;
    return 0;
}

void lc_perf_ring_close(struct lc_perf_ring *ring) {
    if (ring->timer != NULL)
        lc_timer_ring_stop(ring);
    if (ring->page != NULL)
        munmap(ring->page, (size_t)(ring->data - (const char *)ring->page) + ring->bytes);
    ring->page = NULL;
}

const uint64_t *lc_perf_ring_head(const struct lc_perf_ring *ring) {
    return (const uint64_t *)((const char *)ring->page +
                              offsetof(struct perf_event_mmap_page, data_head));
}

void lc_perf_ring_done(struct lc_perf_ring *ring, uint64_t head) {
    struct perf_event_mmap_page *control = ring->page;
    ring->at = head;
    /* partner: the kernel, before it writes over what was read */
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

bool lc_perf_ring_full(const struct lc_perf_ring *ring, uint64_t head) {
    return head - ring->at > ring->bytes - MOST_BYTES - ring->stack_bytes;
}

/* Bytes [from, from + n) of the stream; n is less than the ring. */
static void take(const struct lc_perf_ring *ring, uint64_t from, void *to, size_t n) {
    size_t begin = (size_t)(from & (ring->bytes - 1));
    size_t first = ring->bytes - begin < n ? (size_t)ring->bytes - begin : n;
    memcpy(to, ring->data + begin, first);
    memcpy((char *)to + first, ring->data, n - first);
}

/* A record, read word by word; beyond its end there are zeros. */
struct words {
    const struct lc_perf_ring *ring;
    uint64_t at, end;
};

static uint64_t take_word(struct words *w) {
    uint64_t word = 0;
    if (w->end - w->at < sizeof word)
        return 0;
    take(w->ring, w->at, &word, sizeof word);
    w->at += sizeof word;
    return word;
}

static void skip_words(struct words *w, uint64_t n) {
    w->at += n < (w->end - w->at) / sizeof(uint64_t) ? n * sizeof(uint64_t) : w->end - w->at;
}

static void read_chain(struct words *w, struct lc_perf_record *record) {
    bool user = false;
    for (uint64_t n = take_word(w); n > 0 && w->at < w->end; n--) {
        uint64_t word = take_word(w);
        if (word >= (uint64_t)PERF_CONTEXT_MAX) /* says of what kind those after it are */
            user = word == (uint64_t)PERF_CONTEXT_USER;
        else if (user && record->n < LC_PERF_CALLERS)
            record->addresses[record->n++] = word;
    }
}

/* Registers, then: room for the copy, the copy, how much of it was filled. */
static void read_stack(struct words *w, struct lc_perf_record *record) {
    if (take_word(w) != PERF_SAMPLE_REGS_ABI_64)
        return;
    for (int i = 0; i < LC_PERF_REGISTERS; i++)
        record->registers[i] = take_word(w);
    uint64_t room = take_word(w), from = w->at;
    skip_words(w, room / sizeof(uint64_t));
    uint64_t filled = take_word(w);
    if (filled > room || filled > LC_PERF_STACK || filled > w->at - from)
        return;
    take(w->ring, from, record->stack, (size_t)filled);
    record->stack_bytes = (uint32_t)filled;
}

static void read_sample(struct words *w, struct lc_perf_record *record) {
    if (w->end - w->at < (w->ring->period_ns > 0 ? 2 : 1) * sizeof(uint64_t))
        return;
    record->kind = LC_PERF_SAMPLE;
    record->time_ns = take_word(w);
    if (w->ring->period_ns > 0)
        read_chain(w, record);
    if (w->ring->stack_bytes > 0)
        read_stack(w, record);
    record->n_python = record->n_noted;
}

static void read_python(struct words *w, struct lc_perf_record *record) {
    uint64_t n = (w->end - w->at) / (2 * sizeof(uint64_t));
    record->n_noted = n < LC_PERF_PYTHON ? (uint32_t)n : LC_PERF_PYTHON;
    for (uint32_t i = 0; i < 2 * record->n_noted; i++)
        record->python[i] = take_word(w);
}

bool lc_perf_ring_next(struct lc_perf_ring *ring, uint64_t head, struct lc_perf_record *record) {
    struct perf_event_header header;
    uint64_t there = head - ring->at;
    if (there < sizeof header || there > ring->bytes)
        return false;
    take(ring, ring->at, &header, sizeof header);
    if (header.size < sizeof header || header.size % 8 != 0 || header.size > there)
        return false;
    struct words w = {ring, ring->at + sizeof header, ring->at + header.size};
    ring->at += header.size;
    uint64_t n = (w.end - w.at) / sizeof(uint64_t);
    record->kind = LC_PERF_OTHER;
    record->time_ns = record->n = 0;
    record->in_kernel = false;
    record->stack_bytes = record->n_python = 0;
    if (header.type == LC_PERF_PYTHON_TYPE) {
        read_python(&w, record);
        return true;
    }
    if (header.type == PERF_RECORD_SAMPLE) {
        read_sample(&w, record);
        record->in_kernel =
            (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    } else if (header.type == PERF_RECORD_SWITCH && n >= 1) {
        skip_words(&w, n - 1);
        record->time_ns = take_word(&w);
        record->kind = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0 ? LC_PERF_IN
                       : (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0
                           ? LC_PERF_PREEMPTED
                           : LC_PERF_OUT;
    } else if (header.type == PERF_RECORD_LOST && n >= 2) {
        skip_words(&w, 1);
        record->n = take_word(&w);
        record->kind = LC_PERF_LOST;
    }
    record->n_noted = 0;
    return true;
}

/* ---- what a sample takes */

enum {
    SAMPLES = 5,          /* their median holds where another interruption fell into one or two */
    PERIOD_NS = 40000,    /* the kernel's least is 10,000 */
    STAMPS_MOST = 40000,  /* about a millisecond */
    RING_BYTES = 1 << 16, /* holds them with the largest copies */
    READING_NS = 5000,    /* unwinding a sample and finding its place */
    UNKNOWN_NS = 20000    /* what the kernel takes where that could not be measured */
};
enum { SWITCHES = 5, LONG_PERIOD_NS = 1000000000 };
static const double SHARE = 0.008, TICK_NS = 4e6;

/* Stamps in a row; where the ring has grown between two of them, a sample lay there. */
uint64_t lc_sample_cost_measure(uint32_t stack_bytes) {
    const struct lc_perf_wanted wanted = {.period_ns = PERIOD_NS, .stack_bytes = stack_bytes};
    struct lc_perf_ring ring;
    double gaps[SAMPLES];
    uint64_t usual = UINT64_MAX;
    size_t n = 0;
    if (lc_perf_ring_open(&ring, &wanted, RING_BYTES) != 0)
        return 0;
    const uint64_t *head = lc_perf_ring_head(&ring);
    uint64_t seen = __atomic_load_n(head, __ATOMIC_ACQUIRE), last = lc_ticks(), before = 0;
    for (int i = 0; i < STAMPS_MOST && n < SAMPLES; i++) {
        uint64_t is = __atomic_load_n(head, __ATOMIC_ACQUIRE), now = lc_ticks(), gap = now - last;
        if (is != seen) /* it may have come after the ring was looked at */
            gaps[n++] = (double)(gap > before ? gap : before);
        else if (gap < usual)
            usual = gap;
        last = now;
        before = gap;
        seen = is;
    }
    lc_perf_ring_close(&ring);
    lc_stats_sort(gaps, n);
    double ticks = lc_stats_quantile_sorted(gaps, n, 0.5) - (double)usual;
    return ticks > 0 ? (uint64_t)ticks : 0;
}

/* The least of some: what is more was an interruption. */
static double cost_to_switch(uint64_t period_ns) {
    const struct lc_perf_wanted wanted = {.period_ns = period_ns};
    int saved = errno, fd = lc_perf_sampler_open(&wanted);
    uint64_t least = UINT64_MAX;
    for (int i = 0; fd >= 0 && i < SWITCHES; i++) {
        uint64_t begin = lc_ticks();
        bool done =
            ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) == 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
        uint64_t ticks = lc_ticks() - begin;
        least = done && ticks < least ? ticks : least;
    }
    if (fd >= 0)
        close(fd);
    errno = saved;
    return least < UINT64_MAX ? (double)least : 0;
}

struct lc_switch_cost lc_switch_cost_measure(void) {
    struct lc_switch_cost cost = {.next = cost_to_switch(PERIOD_NS),
                                  .later = cost_to_switch(LONG_PERIOD_NS)};
    return cost;
}

double lc_switch_cost_of(const struct lc_switch_cost *cost, uint64_t period_ns) {
    double period = (double)period_ns,
           next = period < TICK_NS ? 1 - period / (2 * TICK_NS) : TICK_NS / (2 * period);
    double more = cost->next > cost->later ? cost->next - cost->later : 0;
    return cost->later + more * next;
}

uint32_t lc_sample_periods(double kernel_ns, uint64_t period_ns, uint32_t most) {
    double taken = 2 * ((kernel_ns > 0 ? kernel_ns : UNKNOWN_NS) + READING_NS);
    uint32_t periods = 1;
    while (periods < most && taken > SHARE * (double)period_ns * periods)
        periods *= 2;
    return periods;
}
