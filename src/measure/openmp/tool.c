#include "measure/openmp/tool.h"

#include <stdio.h>
#include <string.h>

#include "format/facts.h"
#include "measure/clocks/clocks.h"
#include "measure/core/core.h"
#include "measure/openmp/omp_self.h"
#include "measure/openmp/ompt.h"
#include "measure/openmp/omp_thread.h"
#include "measure/openmp/tasks.h"
#include "measure/openmp/team.h"
#include "measure/stub/stub.h"
#include "measure/hot/locations.h"

static char runtime_name[128];

static int control_tool(uint64_t command, uint64_t modifier, void *argument, const void *code) {
    enum { START = 1, PAUSE = 2, END = 4 };
    (void)modifier;
    (void)argument;
    (void)code;
    if (lc_omp_self() == NULL || (command != START && command != PAUSE && command != END))
        return -1; /* ignored */
    lc_control(command == START, __builtin_frame_address(0), __builtin_return_address(0));
    return 0;
}

#define CALLBACK(event, function)                                                                  \
    { event, (ompt_any_fn)(function), #event }
static const struct {
    int event;
    ompt_any_fn function;
    const char *name;
} callbacks[] = {
    CALLBACK(OMPT_THREAD_BEGIN, lc_omp_thread_begin),
    CALLBACK(OMPT_THREAD_END, lc_omp_thread_end),
    CALLBACK(OMPT_PARALLEL_BEGIN, lc_omp_parallel_begin),
    CALLBACK(OMPT_PARALLEL_END, lc_omp_parallel_end),
    CALLBACK(OMPT_IMPLICIT_TASK, lc_omp_implicit_task),
    CALLBACK(OMPT_TASK_CREATE, lc_omp_task_create),
    CALLBACK(OMPT_TASK_SCHEDULE, lc_omp_task_schedule),
    CALLBACK(OMPT_DEPENDENCES, lc_omp_dependences),
    CALLBACK(OMPT_SYNC_REGION, lc_omp_sync_region),
    CALLBACK(OMPT_SYNC_REGION_WAIT, lc_omp_sync_region_wait),
    CALLBACK(OMPT_WORK, lc_omp_work),
    CALLBACK(OMPT_MASKED, lc_omp_masked),
    CALLBACK(OMPT_LOCK_INIT, lc_omp_lock_init),
    CALLBACK(OMPT_MUTEX_ACQUIRE, lc_omp_mutex_acquire),
    CALLBACK(OMPT_MUTEX_ACQUIRED, lc_omp_mutex_acquired),
    CALLBACK(OMPT_MUTEX_RELEASED, lc_omp_mutex_released),
    CALLBACK(OMPT_NEST_LOCK, lc_omp_nest_lock),
    CALLBACK(OMPT_CONTROL_TOOL, control_tool),
};
enum { N_CALLBACKS = sizeof callbacks / sizeof *callbacks, SET_ALWAYS = 5 };
static int
    reported[N_CALLBACKS]; /* enum ompt_set_result_t of each: how far the runtime reports it */

static int initialize(ompt_lookup_fn lookup, int device, union ompt_data *tool) {
    (void)device;
    (void)tool;
    ompt_set_callback_fn set = (ompt_set_callback_fn)lookup("ompt_set_callback");
    if (set == NULL || lc_core.state == NULL || lc_core.forked)
        return 0; /* the runtime goes on without us */
    for (size_t i = 0; i < N_CALLBACKS; i++) {
        reported[i] = set(callbacks[i].event, callbacks[i].function);
        if (callbacks[i].event == OMPT_MUTEX_RELEASED)
            lc_omp_mutexes_init(reported[i] == SET_ALWAYS);
    }
    return 1;
}

static void finalize(union ompt_data *tool) {
    (void)tool;
}

static bool starts(const char *runtime) {
    if (lc_core.state == NULL || lc_core.forked || lc_core.finalized)
        return false;
    lc_core.openmp = true;
    lc_clk.task_chain = lc_omp_task_chain;
    lc_clk.phase_chain = lc_omp_phase_chain;
    size_t length = strlen(runtime_name);
    snprintf(runtime_name + length, sizeof runtime_name - length, "%s%s", length > 0 ? ", " : "",
             runtime != NULL ? runtime : "unknown");
    return true;
}

bool lc_omp_start_native(const char *runtime) {
    for (size_t i = 0; i < N_CALLBACKS && runtime_name[0] == '\0'; i++)
        reported[i] = callbacks[i].event != OMPT_MASKED && callbacks[i].event != OMPT_CONTROL_TOOL
                          ? SET_ALWAYS
                          : 0;
    return starts(runtime);
}

static void *start_tool(unsigned version, const char *runtime) {
    static struct ompt_start_result result = {.initialize = initialize, .finalize = finalize};
    (void)version;
    return starts(runtime) ? &result : NULL;
}

static void start(struct lc_stub *stub) {
    stub->openmp_tool = start_tool;
    stub->openmp_sink = lc_omp_sink;
}

static void thread_end(struct lc_call *call) {
    lc_omp_thread_gone(call->thread);
}

/* The measurement ends: books waits in progress. */
static void finalize_measurement(struct lc_call *call) {
    (void)call;
    if (lc_core.openmp)
        lc_omp_book_open();
}

static void stops(struct lc_call *call) {
    if (lc_core.openmp)
        lc_omp_book_joined(call->begin);
}

/* All clocks are known: books what follows from them. */
static void book_spans(void) {
    if (lc_core.openmp)
        lc_omp_book_spans();
}

const struct lc_part lc_omp_part = {.start = start,
                                    .thread_end = thread_end,
                                    .stops = stops,
                                    .finalize = finalize_measurement,
                                    .finalized = book_spans};

void lc_omp_put_facts(struct lc_strbuf *facts) {
    struct lc_fact_openmp fact = {0};
    if (runtime_name[0] == '\0')
        return;
    memcpy(fact.runtime, runtime_name, sizeof fact.runtime);
    for (struct lc_omp_thread *o = lc_omp_threads(); o != NULL; o = o->next) {
        fact.edges_lost += o->edges_lost;
        fact.tasks += o->tasks;
    }
    lc_facts_put(facts, LC_FACT_OPENMP, &fact, sizeof fact);
    for (size_t i = 0; i < N_CALLBACKS; i++) {
        struct lc_fact_missing missing = {0};
        memcpy(missing.event, callbacks[i].name, strlen(callbacks[i].name));
        if (reported[i] != SET_ALWAYS)
            lc_facts_put(facts, LC_FACT_MISSING, &missing, sizeof missing);
    }
}
