/* The trace area: memory for streams, and what happens when a chunk or all of them are full.
 *
 * A stream grows chunk by chunk; fresh chunks come from the area, or from the list of those given
 * back. If there is none, the thread writes its own chunks to its file, gives back all but one and
 * goes on (a FLUSH record says from when to when), or it stops for good. Each thread touches its
 * own stream only; the list of free chunks is behind a lock, taken once per chunk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/c_numbers.h"
#include "base/timer.h"
#include "format/trace_record.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"
#include "format/filter.h"
#include "format/trace_choice.h"

struct lc_tracing lc_tracing = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                .defs_lock = PTHREAD_MUTEX_INITIALIZER};

static __thread uint64_t sink[8]; /* where a stopped stream writes */

enum { DEFAULT_BYTES = 64 << 20, LEAST_BYTES = 1 << 18 };

uint64_t lc_trace_buffer_bytes(void) {
    const char *text = lc_option("LATECOMER_BUFFER");
    char *end = NULL;
    double value = text && *text ? lc_strtod(text, &end) : 0;
    if (end && end != text) {
        if (*end == 'k' || *end == 'K')
            value *= 1024;
        else if (*end == 'm' || *end == 'M')
            value *= 1 << 20;
        else if (*end == 'g' || *end == 'G')
            value *= 1 << 30;
    }
    if (!(value > 0))
        value = DEFAULT_BYTES;
    uint64_t bytes = value < LEAST_BYTES ? LEAST_BYTES
                     : value > 64e9      ? (uint64_t)64e9
                                         : (uint64_t)value;
    return bytes & ~(uint64_t)(LC_TRACE_CHUNK_BYTES - 1);
}

bool lc_trace_wanted(void) {
    struct lc_trace_choice choice;
    return lc_trace_choose(lc_option("LATECOMER_TRACE"), &choice) &&
           choice.what != LC_RECORD_NOTHING;
}

static struct lc_trace_chunk *chunk_at(uint32_t number) {
    return (struct lc_trace_chunk *)((char *)lc_tracing.area + lc_tracing.area->chunks_offset) +
           number;
}

/* A chunk, or LC_TRACE_NO_CHUNK. Its pages are asked for at once: one fault each would cost more.
 */
static uint32_t take_chunk(void) {
    struct lc_trace_area *area = lc_tracing.area;
    pthread_mutex_lock(&lc_tracing.lock);
    uint32_t number = atomic_load_explicit(&area->free_chunk, memory_order_relaxed);
    if (number != LC_TRACE_NO_CHUNK) {
        atomic_store_explicit(&area->free_chunk, chunk_at(number)->next, memory_order_relaxed);
        lc_tracing.n_free--;
    } else {
        number = atomic_load_explicit(&area->fresh_chunk, memory_order_relaxed);
        if (number < area->n_chunks) {
            uint64_t offset = (uint64_t)((char *)chunk_at(number) - lc_core.base);
            atomic_store_explicit(&area->fresh_chunk, number + 1, memory_order_relaxed);
            if (!lc_state_make_usable(offset, LC_TRACE_CHUNK_BYTES))
                number = LC_TRACE_NO_CHUNK;
#ifdef MADV_POPULATE_WRITE
            else
                madvise(chunk_at(number), LC_TRACE_CHUNK_BYTES, MADV_POPULATE_WRITE);
#endif
        } else {
            number = LC_TRACE_NO_CHUNK;
        }
    }
    pthread_mutex_unlock(&lc_tracing.lock);
    if (number != LC_TRACE_NO_CHUNK) {
        chunk_at(number)->next = LC_TRACE_NO_CHUNK;
        chunk_at(number)->used_words = 0;
    }
    return number;
}

static void give_chunks(uint32_t number, uint32_t keep) {
    pthread_mutex_lock(&lc_tracing.lock);
    while (number != LC_TRACE_NO_CHUNK && number != keep) {
        struct lc_trace_chunk *chunk = chunk_at(number);
        uint32_t next = chunk->next;
        chunk->next = atomic_load_explicit(&lc_tracing.area->free_chunk, memory_order_relaxed);
        atomic_store_explicit(&lc_tracing.area->free_chunk, number, memory_order_relaxed);
        lc_tracing.n_free++;
        number = next;
    }
    pthread_mutex_unlock(&lc_tracing.lock);
}

static void open_chunk(struct lc_trace_stream *s, uint32_t number) {
    struct lc_trace_chunk *chunk = chunk_at(number);
    if (s->last_chunk == LC_TRACE_NO_CHUNK) {
        s->first_chunk = number;
    } else {
        chunk_at(s->last_chunk)->used_words = (uint32_t)(s->next - chunk_at(s->last_chunk)->words);
        chunk_at(s->last_chunk)->next = number;
    }
    atomic_signal_fence(memory_order_release);
    s->next = chunk->words;
    s->limit = chunk->words + LC_TRACE_CHUNK_WORDS;
    s->last_chunk = number;
}

/* A reader goes by `next` only if it lies in the last chunk, so the order of these stores does not
 * matter to it. */
static void trace_stream_open(struct lc_trace_stream *s, uint32_t thread, uint64_t begin_ticks) {
    s->base_ticks = lc_tracing.area->base_ticks;
    s->thread = thread;
    s->min_bytes = lc_tracing.min_bytes;
    s->more_bytes = lc_tracing.max_bytes - lc_tracing.min_bytes;
    s->begin_ticks = begin_ticks > s->base_ticks ? begin_ticks - s->base_ticks : 0;
    s->first_chunk = s->last_chunk = LC_TRACE_NO_CHUNK;
    uint32_t number = take_chunk();
    if (number != LC_TRACE_NO_CHUNK)
        open_chunk(s, number);
    atomic_store_explicit(&s->state,
                          number != LC_TRACE_NO_CHUNK ? LC_STREAM_OPEN : LC_STREAM_STOPPED,
                          memory_order_release);
}

static void stop(struct lc_trace_stream *s) {
    if (s->last_chunk != LC_TRACE_NO_CHUNK &&
        atomic_load_explicit(&s->state, memory_order_relaxed) == LC_STREAM_OPEN)
        chunk_at(s->last_chunk)->used_words = (uint32_t)(s->next - chunk_at(s->last_chunk)->words);
    atomic_store_explicit(&s->state, LC_STREAM_STOPPED, memory_order_release);
    s->limit = NULL;
}

static int open_file(const struct lc_trace_stream *s) {
    char path[4200];
    if (!lc_core.dir || lc_core.rank < 0) {
        errno = ENOENT;
        return -1;
    }
    snprintf(path, sizeof(path), "%s/traces", lc_core.dir);
    mkdir(path, 0777);
    if (s->thread == LC_TRACE_DEFS)
        snprintf(path, sizeof(path), "%s/traces/r%d.defs", lc_core.dir, lc_core.rank);
    else
        snprintf(path, sizeof(path), "%s/traces/r%d.t%u.raw", lc_core.dir, lc_core.rank, s->thread);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* Writes the stream's chunks to its file and keeps the last, emptied. A file that takes only a part
 * is cut back to what it was. */
static bool trace_flush(struct lc_trace_stream *s) {
    int fd = open_file(s);
    bool ok = fd >= 0;
    chunk_at(s->last_chunk)->used_words = (uint32_t)(s->next - chunk_at(s->last_chunk)->words);
    uint64_t bytes = 0;
    for (uint32_t c = s->first_chunk; ok && c != LC_TRACE_NO_CHUNK; c = chunk_at(c)->next) {
        ok = lc_write_all(fd, chunk_at(c)->words, chunk_at(c)->used_words * 8ull);
        bytes += chunk_at(c)->used_words * 8ull;
    }
    if (!ok) {
        if (lc_tracing.area->flush_failed == 0)
            lc_tracing.area->flush_failed = (uint32_t)errno;
        if (fd >= 0 && ftruncate(fd, (off_t)s->flushed_bytes) != 0)
            s->lost_records++;
    }
    if (fd >= 0)
        close(fd);
    if (!ok)
        return false;
    uint32_t kept = s->last_chunk, first = s->first_chunk;
    s->next = chunk_at(kept)->words;
    s->first_chunk = kept;
    s->flushed_bytes += bytes;
    give_chunks(first, kept);
    return true;
}

static bool grow(struct lc_trace_stream *s) {
    uint32_t number = take_chunk();
    if (number == LC_TRACE_NO_CHUNK)
        return false;
    open_chunk(s, number);
    return true;
}

static bool make_room(struct lc_trace_stream *s) {
    if (atomic_load_explicit(&s->state, memory_order_relaxed) != LC_STREAM_OPEN)
        return false;
    if (grow(s))
        return true;
    if (lc_tracing.area->on_full_stop)
        return false;
    uint64_t begin = lc_ticks();
    if (!trace_flush(s))
        return false;
    pthread_mutex_lock(&lc_tracing.lock);
    lc_tracing.area->n_flushes++;
    pthread_mutex_unlock(&lc_tracing.lock);
    s->next[0] = lc_rec_word(LC_REC_FLUSH, begin - s->base_ticks);
    s->next[1] = lc_ticks() - s->base_ticks;
    lc_trace_commit(s, s->next + 2);
    return true;
}

LC_COLD uint64_t *lc_trace_refill(struct lc_trace_stream *s, unsigned words) {
    if (make_room(s) && s->next + words <= s->limit)
        return s->next;
    stop(s);
    s->lost_records++;
    return sink;
}

LC_COLD void lc_trace_renew(struct lc_trace_stream *s) {
    if (atomic_load_explicit(&s->state, memory_order_relaxed) != LC_STREAM_OPEN)
        return;
    if (!make_room(s)) {
        s->next[0] =
            lc_rec_word(LC_REC_OFF, lc_ticks() - s->base_ticks); /* the margin has room for it */
        lc_trace_commit(s, s->next + 1);
        stop(s);
    }
}

/* A thread that ended: gives its chunks back if memory is scarce. */
void lc_trace_stream_close(struct lc_trace_stream *s) {
    struct lc_trace_area *area = lc_tracing.area;
    if (atomic_load_explicit(&s->state, memory_order_relaxed) != LC_STREAM_OPEN)
        return;
    uint32_t left = area->n_chunks -
                    atomic_load_explicit(&area->fresh_chunk, memory_order_relaxed) +
                    lc_tracing.n_free;
    bool scarce = left < area->n_chunks / 2 && !area->on_full_stop;
    if (scarce && trace_flush(s)) {
        uint32_t last = s->last_chunk;
        s->first_chunk = s->last_chunk = LC_TRACE_NO_CHUNK;
        atomic_store_explicit(&s->state, LC_STREAM_CLOSED, memory_order_release);
        give_chunks(last, LC_TRACE_NO_CHUNK);
        return;
    }
    chunk_at(s->last_chunk)->used_words = (uint32_t)(s->next - chunk_at(s->last_chunk)->words);
    atomic_store_explicit(&s->state, LC_STREAM_CLOSED, memory_order_release);
}

struct lc_trace_stream *lc_trace_stream_new(struct lc_thread *thread, uint64_t begin_ticks) {
    struct lc_trace_area *area = lc_tracing.area;
    if (!area)
        return NULL;
    uint32_t i = atomic_fetch_add_explicit(&area->n_streams, 1, memory_order_acq_rel);
    if (i >= LC_TRACE_STREAMS) {
        atomic_store_explicit(&area->n_streams, LC_TRACE_STREAMS, memory_order_release);
        atomic_fetch_add_explicit(&area->lost_threads, 1, memory_order_relaxed);
        return NULL;
    }
    trace_stream_open(&area->streams[i], thread->index, begin_ticks);
    return &area->streams[i];
}

/* Sizes are left out here, names when the archive is made: they may be set later, or are not known
 * to the program. */
static void read_filter(void) {
    const char *path = lc_option("LATECOMER_FILTER");
    struct lc_filter *filter = NULL;
    lc_tracing.min_bytes = 0;
    lc_tracing.max_bytes = UINT64_MAX;
    if (path && *path && lc_filter_load(&filter, path) == LC_OK &&
        filter->min_bytes <= filter->max_bytes) {
        lc_tracing.min_bytes = filter->min_bytes;
        lc_tracing.max_bytes = filter->max_bytes;
    }
    lc_filter_free(filter);
}

void lc_trace_start(void) {
    if (!lc_trace_wanted() || !lc_core.state || lc_tracing.area)
        return;
    read_filter();
    uint64_t chunks = (sizeof(struct lc_trace_area) + LC_TRACE_CHUNK_BYTES - 1) &
                      ~(uint64_t)(LC_TRACE_CHUNK_BYTES - 1);
    uint64_t bytes = chunks + lc_trace_buffer_bytes();
    uint64_t offset = lc_state_reserve(bytes);
    struct lc_trace_area *area = (struct lc_trace_area *)(lc_core.base + offset);
    if (offset == 0 || !lc_state_make_usable(offset, chunks)) {
        lc_say_once("latecomer: no trace: no room for a buffer of %llu MiB: use a smaller --buffer",
                    (unsigned long long)(bytes >> 20));
        return;
    }
    const char *on_full = lc_option("LATECOMER_ON_FULL"),
               *callpath = lc_option("LATECOMER_TRACE_CALLPATH");
    area->self = (uint64_t)area;
    area->bytes = bytes;
    area->chunks_offset = chunks;
    area->n_chunks = (uint32_t)((bytes - chunks) / LC_TRACE_CHUNK_BYTES);
    area->base_ticks = lc_core.state->base_ticks;
    area->free_chunk = LC_TRACE_NO_CHUNK;
    area->rank = area->size = -1;
    area->on_full_stop = on_full && strcmp(on_full, "stop") == 0;
    area->context = callpath && strcmp(callpath, "context") == 0;
    lc_tracing.samples = callpath == NULL || strcmp(callpath, "none") != 0;
    lc_tracing.area = area;
    trace_stream_open(&area->defs, LC_TRACE_DEFS, area->base_ticks);
    atomic_thread_fence(memory_order_release);
    area->magic = LC_TRACE_MAGIC;
    lc_core.state->trace_bytes = bytes;
    lc_core.state->trace_offset = offset;
    lc_core.mode |= LC_MODE_TRACE | LC_MODE_RECORD;
    lc_trace_window_init();
}
