#include "measure/core/mode.h"

#include <pthread.h>
#include <stdatomic.h>

#include "measure/core/core.h"
#include "measure/core/thread.h"

void lc_mode_change(uint32_t clear, uint32_t set) {
    pthread_mutex_lock(&lc_core.lock);
    lc_core.mode = (lc_core.mode & ~clear) | (set & ~(uint32_t)LC_MODE_FLUSH);
    for (struct lc_thread *t = lc_core.threads; t != NULL; t = t->next) {
        atomic_fetch_and_explicit(&t->mode, ~clear, memory_order_relaxed);
        atomic_fetch_or_explicit(&t->mode, set, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lc_core.lock);
}
