#include "measure/hot/callback.h"
#include "measure/core/core.h"
#include "measure/hot/hot.h"
#include "measure/unwind/bindings.h"
#include "measure/callpath/entry.h"
#include "measure/unwind/modules.h"
#include "measure/core/thread.h"

/* Calls that the program makes inside its callbacks: MPI is in a call of this thread already, and
 * runs the program's operator, attribute function, error handler or function of a generalized
 * request. They are counted on their own path (the frames of MPI are left out of it) and forwarded;
 * their time and their bytes belong to the call that MPI is in, so that nothing is booked twice.
 * Not MPI_Abort: it may be called in the handler of a signal that came while our lock was held. */

/* MPI's own calls of its functions, those of its plugins included, are not the program's. */
static bool made_by_program(uint64_t ra, uint32_t fn) {
    pthread_mutex_lock(&lc_core.lock);
    const struct lc_module *m = lc_module_find(ra - 1);
    bool mpi = m != NULL && m->kind == LC_MODULE_MPI;
    pthread_mutex_unlock(&lc_core.lock);
    return !mpi || lc_bindings_forwards(ra, lc_fn_names[fn]);
}

LC_COLD void lc_callback_call(struct lc_thread *t, uint32_t fn, uint64_t ra, uint64_t frame) {
    uint32_t mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
    if ((mode & (LC_MODE_LIVE | LC_MODE_ON)) != (LC_MODE_LIVE | LC_MODE_ON) || lc_core.forked ||
        fn >= LC_FN_COUNT || fn == LC_FN_Abort || t->in_callback || !made_by_program(ra, fn))
        return;
    if (t->callback_entry == NULL && (t->callback_entry = lc_plain_entry()) == NULL)
        return;
    bool cold = t->cold;
    t->in_callback = true; /* an entry that cannot be kept is made in callback_entry */
    struct lc_entry *entry = lc_entry_find(t, fn, ra, frame);
    if (!entry->pass && entry->path != NULL) {
        lc_row_add(lc_row(t, entry->path, 0), 0, 0, 0);
        atomic_fetch_add_explicit(&lc_core.n_in_callbacks, 1, memory_order_relaxed);
    }
    t->in_callback = false;
    t->cold = cold;
}
