#include "measure/start/core_start.h"
#include "measure/hot/locations.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/timer.h"
#include "measure/alone/alone.h"
#include "measure/wrappers/wrappers.h"
#include "measure/core/core.h"
#include "measure/gather/finalize.h"
#include "measure/gomp/gomp.h"
#include "measure/openmp/tool.h"
#include "measure/callpath/budget.h"
#include "measure/callpath/entry.h"
#include "measure/unwind/modules.h"
#include "measure/unwind/walk.h"
#include "measure/samples/sampler.h"
#include "measure/core/state_write.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_hooks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/stub/stub.h"

/* Start of the core: options, state, and the slots of the stub. */

static void read_options(void) {
    lc_options_keep();
    const char *text = lc_option("LATECOMER_CALLPATH");
    if (text != NULL && strcmp(text, "caller") == 0)
        lc_core.callpath = LC_CALLPATH_CALLER;
    else if (text != NULL && strcmp(text, "none") == 0)
        lc_core.callpath = LC_CALLPATH_NONE;
    text = lc_option("LATECOMER_START_STOPPED");
    lc_core.start_stopped = text != NULL && strcmp(text, "0") != 0 && text[0] != '\0';
    lc_core.check_paths = lc_option("LATECOMER_CHECK_PATHS") != NULL;
    text = lc_option("LATECOMER_DIR");
    lc_core.dir = text != NULL ? strdup(text) : NULL;
    text = lc_option("LATECOMER_NOTIFY");
    lc_core.notify = text != NULL ? strdup(text) : NULL;
    text = lc_option("LATECOMER_STATE");
    lc_core.parent = text != NULL ? strdup(text) : NULL;
}

static void *find_real(struct lc_stub *stub, const char *name) {
    char full[128];
    snprintf(full, sizeof full, "P%s", name);
    void *real = stub->real_symbol(stub->mpi, full);
    return real != NULL ? real : stub->real_symbol(stub->mpi, name);
}

/* Both lists are in the order of format/mpi_functions.tsv; the stub's has the functions of all
 * flavours. */
static void take_slots(struct lc_stub *stub) {
    uint32_t slot = 0;
    for (uint32_t fn = 0; fn < LC_FN_COUNT && !LC_ALONE; fn++) {
        while (slot < stub->n_mpi && strcmp(stub->names[slot], lc_fn_names[fn]) != 0)
            slot++;
        if (slot < stub->n_mpi && *lc_wrappers[fn].real != NULL)
            stub->slots[slot] = lc_wrappers[fn].function;
    }
    /* In the order of LC_API_TABLE. */
    void *const api[] = {(void *)lc_api_begin,          (void *)lc_api_end,
                         (void *)lc_api_start,          (void *)lc_api_stop,
                         (void *)lc_api_begin_fortran,  (void *)lc_api_end_fortran,
                         (void *)lc_api_function_enter, (void *)lc_api_function_exit};
    for (size_t i = 0; i < sizeof api / sizeof *api; i++)
        stub->slots[stub->n_mpi + i] = api[i];
}

static void library_closed(void) {
    if (lc_core.forked)
        return;
    pthread_mutex_lock(&lc_core.lock);
    lc_modules_forget();
    lc_unwind_forget();
    pthread_mutex_unlock(&lc_core.lock);
    lc_mode_change(0, LC_MODE_FLUSH_PATHS);
}

/* The process ends: after MPI_Finalize there is nothing left to say, else its parent saves the
 * result. */
__attribute__((destructor)) static void process_ends(void) {
    struct lc_state_header *h = lc_core.state;
    if (h == NULL || lc_core.forked || getpid() != atomic_load(&h->pid))
        return;
    if (LC_ALONE)
        lc_alone_end();
    h->end_ns = lc_monotonic_raw_ns();
    unsigned none = LC_ENDING_NONE;
    atomic_compare_exchange_strong(&h->ending, &none, LC_ENDING_EXIT);
}

/* Paths come first and go last: all others book on them. OpenMP comes before the clocks: when the
 * measurement ends, it books waits in progress before the clocks of all ranks are joined. */
static const struct lc_part *const parts[] = {
    &lc_paths_part,  &lc_samples_part, &lc_omp_part,     &lc_gomp_part,
    &lc_clocks_part, &lc_trace_part,   &lc_profile_part, NULL};

static bool start_measuring(struct lc_stub *stub, char *why, unsigned long why_bytes) {
    lc_timer_init();
    lc_parts_register(parts);
    read_options();
    lc_unwind_init();
    lc_budget_init(!lc_core.check_paths && !lc_trace_wanted());
    enum lc_err err =
        lc_state_create(lc_trace_wanted() ? lc_trace_buffer_bytes() + ((size_t)4 << 20) : 0);
    if (err == LC_OK)
        err = lc_threads_init();
    if (err != LC_OK) {
        snprintf(why, why_bytes, "%s", lc_err_text());
        return false;
    }
    char program[LC_PROGRAM_ID_BYTES];
    lc_module_program(program);
    lc_state_set_program(program);
    struct lc_state_header *h = lc_core.state;
    h->begin_ns = stub->begin_ns;
    h->begin_realtime_ns = stub->begin_realtime_ns;
    h->flavour = stub->flavour;
    if (LC_ALONE) { /* the longer the time, the better known the rate of ticks */
        lc_core.init_ticks = lc_timer.by_counter ? stub->begin_ticks : stub->begin_ns;
        lc_timer.base_ticks = h->base_ticks = lc_core.init_ticks;
        lc_timer.base_ns = h->base_ns = stub->begin_ns;
    }
    snprintf(h->mpi, sizeof h->mpi, "%s", stub->product != NULL ? stub->product : "");
    atomic_store_explicit(&h->measured, LC_STATE_MEASURED, memory_order_release);
    lc_core.mode = LC_MODE_LIVE | (lc_core.start_stopped ? 0 : LC_MODE_ON) |
                   (lc_core.check_paths ? LC_MODE_CHECK : 0);
    stub->on_dlclose = library_closed;
    lc_parts_start(stub);
    return true;
}

__attribute__((visibility("default"))) int lc_core_start(struct lc_stub *stub, char *why,
                                                         unsigned long why_bytes) {
    if (stub->abi != LC_STUB_ABI) {
        snprintf(why, why_bytes, "parts of different versions are installed");
        return -1;
    }
    lc_core.stub = stub;
    if (LC_ALONE)
        lc_one_process();
    for (uint32_t fn = 0; fn < LC_FN_COUNT && !LC_ALONE; fn++)
        *lc_wrappers[fn].real = find_real(stub, lc_fn_names[fn]);
    if (!LC_NOP && !start_measuring(stub, why, why_bytes))
        return -1;
    take_slots(stub);
    if (!LC_NOP) {
        lc_core.state->start_ns = lc_monotonic_raw_ns() - stub->wake_ns;
        lc_budget_started(lc_thread_cpu_ns() - stub->wake_cpu_ns);
    }
    if (LC_ALONE)
        lc_alone_begin(lc_core.init_ticks);
    return 0;
}
