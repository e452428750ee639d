#include "measure/samples/counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/callpath/entry.h"

enum { HARDWARE = 2, PAGE = 4096 }; /* the first of enum lc_counter */

struct lc_counting {
    uint64_t last[LC_COUNTERS];
    const struct perf_event_mmap_page *pages[HARDWARE]; /* NULL: not counted */
    struct lc_row_table rows;
};

void lc_counting_init(void) {
    const char *text = lc_option("LATECOMER_COUNTERS");
    if (text == NULL || *text == '\0')
        return;
    lc_core.counters_asked =
        1u << LC_COUNTER_FAULTS | 1u << LC_COUNTER_SWITCHES | 1u << LC_COUNTER_BYTES;
    if (strcmp(text, "software") != 0)
        lc_core.counters_asked |= 1u << LC_COUNTER_INSTRUCTIONS | 1u << LC_COUNTER_CYCLES;
    lc_core.counters = lc_core.counters_asked;
}

#if defined(__x86_64__)
static const struct perf_event_mmap_page *open_hardware(uint64_t config) {
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof attr,
                                   .config = config,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int saved = errno;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    void *map = fd >= 0 ? mmap(NULL, PAGE, PROT_READ, MAP_SHARED, (int)fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close((int)fd);
    errno = saved;
    if (map == MAP_FAILED)
        return NULL;
    const struct perf_event_mmap_page *page = map;
    if (page->cap_user_rdpmc && page->index != 0)
        return page;
    munmap(map, PAGE);
    return NULL;
}

/* As the kernel documents it; a counter that others use as well is scaled to all of its time. */
static uint64_t read_hardware(const struct perf_event_mmap_page *page) {
    uint32_t lock, index;
    uint64_t enabled, running, count;
    do {
        lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        enabled = page->time_enabled;
        running = page->time_running;
        index = page->index;
        count = (uint64_t)page->offset;
        if (index != 0) {
            uint32_t low, high, shift = 64 - page->pmc_width;
            __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
            int64_t value = (int64_t)(((uint64_t)high << 32 | low) << shift) >> shift;
            count += (uint64_t)value;
        }
        atomic_thread_fence(memory_order_acquire);
    } while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != lock);
    return running > 0 && running < enabled
               ? (uint64_t)((double)count * (double)enabled / (double)running)
               : count;
}
#else
static const struct perf_event_mmap_page *open_hardware(uint64_t config) {
    (void)config;
    return NULL;
}

static uint64_t read_hardware(const struct perf_event_mmap_page *page) {
    (void)page;
    return 0;
}
#endif

static void look(const struct lc_counting *c, uint64_t now[LC_COUNTERS]) {
    struct rusage usage;
    int saved = errno;
    for (int i = 0; i < HARDWARE; i++)
        now[i] = c->pages[i] != NULL ? read_hardware(c->pages[i]) : 0;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        memset(&usage, 0, sizeof usage);
    now[LC_COUNTER_FAULTS] = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
    now[LC_COUNTER_SWITCHES] = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
    now[LC_COUNTER_BYTES] = c->last[LC_COUNTER_BYTES]; /* calls are booked with theirs */
    errno = saved;
}

void lc_counting_begin(struct lc_thread *t) {
    static const uint64_t events[HARDWARE] = {[LC_COUNTER_INSTRUCTIONS] =
                                                  PERF_COUNT_HW_INSTRUCTIONS,
                                              [LC_COUNTER_CYCLES] = PERF_COUNT_HW_CPU_CYCLES};
    t->counting = lc_core.counters != 0 ? calloc(1, sizeof(struct lc_counting)) : NULL;
    for (uint32_t i = 0; t->counting != NULL && i < HARDWARE; i++) {
        if ((lc_core.counters & 1u << i) != 0)
            t->counting->pages[i] = open_hardware(events[i]);
        if (t->counting->pages[i] == NULL) /* one thread without it: no sum is whole */
            atomic_fetch_and(&lc_core.counters, ~(1u << i));
    }
    if (t->counting != NULL)
        look(t->counting, t->counting->last);
}

void lc_counting_end(struct lc_thread *t) {
    struct lc_counting *c = t->counting;
    t->counting = NULL;
    for (int i = 0; c != NULL && i < HARDWARE; i++)
        if (c->pages[i] != NULL)
            munmap((void *)(uintptr_t)c->pages[i], PAGE);
    if (c != NULL)
        free(c->rows.rows);
    free(c);
}

void lc_counting_book(struct lc_thread *t, uint32_t node, uint64_t bytes,
                      uint64_t counts[LC_COUNTERS]) {
    struct lc_counting *c = t->counting;
    uint64_t now[LC_COUNTERS], since[LC_COUNTERS];
    look(c, now);
    for (int i = 0; i < LC_COUNTERS; i++) {
        since[i] = now[i] > c->last[i] ? now[i] - c->last[i] : 0;
        c->last[i] = now[i];
    }
    if (counts != NULL)
        memcpy(counts, since, sizeof since);
    struct lc_state_row *row = node != 0 && node != LC_NONE
                                   ? lc_row_of(t, &c->rows, LC_RAW_CLASS_COUNTERS, node, 0)
                                   : NULL;
    if (row == NULL)
        return;
    row->count++;
    row->sum += since[LC_COUNTER_INSTRUCTIONS];
    row->min += since[LC_COUNTER_CYCLES];
    row->max += since[LC_COUNTER_FAULTS];
    row->bytes_sent += since[LC_COUNTER_SWITCHES];
    row->bytes_rcvd += bytes;
}

void lc_counting_sent_cold(struct lc_call *call, uint64_t bytes) {
    const uint64_t counts[LC_COUNTERS] = {[LC_COUNTER_BYTES] = bytes};
    if (call->mode & LC_MODE_CLOCKS)
        lc_clocks_counted(call->thread, counts);
}

void lc_counting_skip(struct lc_thread *t) {
    look(t->counting, t->counting->last);
}
