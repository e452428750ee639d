/* Counters under the thread sanitizer: 8 threads book 100,000 calls each through the hot path (no
 * MPI is running), others switch the mode; then every call must be in the state. At last a table of
 * rows that cannot grow. Linked with the core's own objects. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure/hot/hot.h"
#include "measure/wrappers/wrappers.h"
#include "measure/hot/locations.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/samples/sampler.h"

enum { THREADS = 8, CALLS = 100000 };

__thread void *latecomer_private_self __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void one_call(uint64_t bytes) {
    struct lc_call call;
    if (!lc_enter(&call, LC_FN_Send, __builtin_frame_address(0), __builtin_return_address(0)))
        abort();
    call.bytes_sent = call.class_bytes = bytes;
    lc_stamp_end(&call);
    lc_leave(&call);
}

static void *work(void *arg) {
    uint64_t bytes = *(uint64_t *)arg;
    for (int i = 0; i < CALLS; i++)
        one_call(i % 2 == 0 ? bytes : 0);
    return NULL;
}

static void *disturb(void *arg) {
    (void)arg;
    for (int i = 0; i < 200; i++)
        lc_mode_change(0, i % 2 == 0 ? LC_MODE_FLUSH_TYPES : LC_MODE_FLUSH_PATHS);
    return NULL;
}

static uint64_t total(const struct lc_raw *raw, uint64_t *bytes, uint64_t *synced) {
    uint64_t count = 0;
    *bytes = *synced = 0;
    for (size_t i = 0; i < raw->n_rows; i++) {
        if (raw->rows[i].size_class >= LC_RAW_CLASS_MESSAGES)
            continue;
        count += raw->rows[i].count;
        *bytes += raw->rows[i].bytes_sent;
        *synced += raw->rows[i].synced;
    }
    return count;
}

/* ---- rows of times, where the table of them cannot grow */

enum { TOO_LARGE = 1024 /* bytes: what the first table of rows grows to */, NODES = 1000 };

static bool scarce;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes) {
    return scarce && count * bytes >= TOO_LARGE ? NULL : __real_calloc(count, bytes);
}

/* Each node has a row, or shares the one that nobody reads; a look-up in a full table would never
 * end. */
static void *rows_without_memory(void *arg) {
    bool *ok = arg;
    struct lc_call call;
    unsigned own = 0;
    if (!lc_enter(&call, LC_FN_Send, __builtin_frame_address(0), __builtin_return_address(0)))
        abort();
    struct lc_thread *t = call.thread;
    lc_leave(&call);
    scarce = true;
    alarm(30);
    for (uint32_t node = 1; node <= NODES; node++)
        own += lc_time_row(t, node) != t->void_row;
    *ok = own > 0 && own < NODES && t->times.n < t->times.mask + 1;
    for (uint32_t node = 1; node <= NODES; node++)
        *ok &= lc_time_row(t, node) == t->void_row || lc_time_row(t, node)->node == node;
    alarm(0);
    scarce = false;
    printf("%u of %d nodes have rows of their own without memory\n", own, NODES);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS], other;
    uint64_t sizes[THREADS], bytes, synced, wanted = 0;
    static const struct lc_part *const parts[] = {&lc_paths_part, &lc_samples_part, NULL};
    lc_timer_init();
    lc_parts_register(parts);
    unsetenv("LATECOMER_STATE");
    if (lc_state_create(0) != LC_OK || lc_threads_init() != LC_OK)
        return 2;
    lc_core.mode = LC_MODE_LIVE | LC_MODE_ON;
    for (int i = 0; i < THREADS; i++) {
        sizes[i] = (uint64_t)1 << i;
        wanted += sizes[i] * CALLS / 2;
        pthread_create(&threads[i], NULL, work, &sizes[i]);
    }
    pthread_create(&other, NULL, disturb, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(other, NULL);
    struct lc_raw *raw;
    if (lc_raw_new(&raw) != LC_OK ||
        lc_state_snapshot(lc_core.base, lc_core.bytes, 0, raw) != LC_OK)
        return 2;
    uint64_t count = total(raw, &bytes, &synced);
    printf("%zu locations, %llu calls, %llu bytes, %llu empty\n", raw->n_locations,
           (unsigned long long)count, (unsigned long long)bytes, (unsigned long long)synced);
    bool ok = raw->n_locations == THREADS && count == (uint64_t)THREADS * CALLS &&
              bytes == wanted && synced == (uint64_t)THREADS * CALLS / 2 &&
              atomic_load(&lc_core.state->lost) == 0;
    lc_raw_free(raw);
    bool rows_ok = false;
    pthread_create(&other, NULL, rows_without_memory, &rows_ok);
    pthread_join(other, NULL);
    return ok && rows_ok ? 0 : 1;
}
