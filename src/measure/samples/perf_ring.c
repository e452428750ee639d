#include "measure/samples/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_BYTES = 512 }; /* of a record that is of use */

int lc_perf_ring_open(struct lc_perf_ring *ring, const struct lc_perf_wanted *wanted,
                      uint64_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *ring = (struct lc_perf_ring){.bytes = bytes, .period_ns = wanted->period_ns};
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
    return head - ring->at > ring->bytes - MOST_BYTES;
}

/* Bytes [from, from + n) of the stream; n is less than the ring. */
static void take(const struct lc_perf_ring *ring, uint64_t from, void *to, size_t n) {
    size_t begin = (size_t)(from & (ring->bytes - 1));
    size_t first = ring->bytes - begin < n ? (size_t)ring->bytes - begin : n;
    memcpy(to, ring->data + begin, first);
    memcpy((char *)to + first, ring->data, n - first);
}

static void read_sample(const uint64_t *words, size_t n_words, struct lc_perf_record *record) {
    bool user = false;
    record->kind = n_words >= 2 ? LC_PERF_SAMPLE : LC_PERF_OTHER;
    record->n = 0;
    if (n_words < 2)
        return;
    record->time_ns = words[0];
    for (size_t i = 0; i < words[1] && i + 2 < n_words && record->n < LC_PERF_CALLERS; i++) {
        uint64_t word = words[i + 2];
        if (word >= (uint64_t)PERF_CONTEXT_MAX) /* says of what kind those behind it are */
            user = word == (uint64_t)PERF_CONTEXT_USER;
        else if (user)
            record->addresses[record->n++] = word;
    }
}

bool lc_perf_ring_next(struct lc_perf_ring *ring, uint64_t head, struct lc_perf_record *record) {
    struct perf_event_header header;
    uint64_t words[MOST_BYTES / sizeof(uint64_t)];
    uint64_t there = head - ring->at;
    if (there < sizeof header || there > ring->bytes)
        return false;
    take(ring, ring->at, &header, sizeof header);
    if (header.size < sizeof header || header.size % 8 != 0 || header.size > there)
        return false;
    size_t bytes = header.size - sizeof header;
    if (bytes > sizeof words)
        bytes = sizeof words;
    take(ring, ring->at + sizeof header, words, bytes);
    ring->at += header.size;
    size_t n = bytes / sizeof *words;
    *record = (struct lc_perf_record){.kind = LC_PERF_OTHER};
    if (header.type == PERF_RECORD_SAMPLE) {
        read_sample(words, n, record);
        record->in_kernel =
            (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    } else if (header.type == PERF_RECORD_SWITCH && n >= 1) {
        record->time_ns = words[n - 1];
        record->kind = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0 ? LC_PERF_IN
                       : (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0
                           ? LC_PERF_PREEMPTED
                           : LC_PERF_OUT;
    } else if (header.type == PERF_RECORD_LOST && n >= 2) {
        record->kind = LC_PERF_LOST;
        record->n = words[1];
    }
    return true;
}
