/* The OpenMP tools interface (OMPT), as far as it is used here: types and numbers as the OpenMP API
 * specification 5.2, chapter 19, defines them. Its header is part of some runtimes only, and the
 * program may bring any, so nothing of theirs is needed to build.
 *
 * Callbacks are called by LLVM's runtime on the thread of which they tell. */
#ifndef LC_MEASURE_OPENMP_OMPT_H
#define LC_MEASURE_OPENMP_OMPT_H

#include <stdint.h>

union ompt_data { /* a word of ours in the runtime's records of threads, regions, tasks; 0 first */
    uint64_t value;
    void *ptr;
};

struct ompt_frame {
    union ompt_data exit_frame, enter_frame;
    int exit_flags, enter_flags;
};

struct ompt_dependence {
    union ompt_data variable;
    int type;
};

typedef void (*ompt_any_fn)(void);
typedef ompt_any_fn (*ompt_lookup_fn)(const char *name);
typedef int (*ompt_set_callback_fn)(int event, ompt_any_fn callback);

struct ompt_start_result {
    int (*initialize)(ompt_lookup_fn lookup, int device, union ompt_data *tool);
    void (*finalize)(union ompt_data *tool);
    union ompt_data tool;
};

enum ompt_event {
    OMPT_THREAD_BEGIN = 1,
    OMPT_THREAD_END = 2,
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_CONTROL_TOOL = 11,
    OMPT_SYNC_REGION_WAIT = 16,
    OMPT_MUTEX_RELEASED = 17,
    OMPT_DEPENDENCES = 18,
    OMPT_WORK = 20,
    OMPT_MASKED = 21,
    OMPT_SYNC_REGION = 23,
    OMPT_LOCK_INIT = 24,
    OMPT_MUTEX_ACQUIRE = 26,
    OMPT_MUTEX_ACQUIRED = 27,
    OMPT_NEST_LOCK = 28
};

enum ompt_thread_kind { OMPT_THREAD_INITIAL = 1, OMPT_THREAD_WORKER = 2 };
enum ompt_endpoint { OMPT_BEGIN = 1, OMPT_END = 2, OMPT_BEGINEND = 3 };
enum ompt_sync {
    OMPT_SYNC_BARRIER = 1,
    OMPT_SYNC_IMPLICIT = 2,
    OMPT_SYNC_EXPLICIT = 3,
    OMPT_SYNC_IMPLEMENTATION = 4,
    OMPT_SYNC_TASKWAIT = 5,
    OMPT_SYNC_TASKGROUP = 6,
    OMPT_SYNC_REDUCTION = 7,
    OMPT_SYNC_WORKSHARE = 8,
    OMPT_SYNC_PARALLEL = 9,
    OMPT_SYNC_TEAMS = 10
};
enum ompt_work {
    OMPT_WORK_LOOP = 1,
    OMPT_WORK_SECTIONS = 2,
    OMPT_WORK_SINGLE = 3, /* by the thread that executes it */
    OMPT_WORK_SINGLE_OTHER = 4,
    OMPT_WORK_WORKSHARE = 5,
    OMPT_WORK_DISTRIBUTE = 6,
    OMPT_WORK_TASKLOOP = 7,
    OMPT_WORK_SCOPE = 8
};
enum ompt_mutex {
    OMPT_MUTEX_LOCK = 1,
    OMPT_MUTEX_TEST_LOCK = 2,
    OMPT_MUTEX_NEST_LOCK = 3,
    OMPT_MUTEX_TEST_NEST_LOCK = 4,
    OMPT_MUTEX_CRITICAL = 5,
    OMPT_MUTEX_ATOMIC = 6,
    OMPT_MUTEX_ORDERED = 7
};
#define OMPT_PARALLEL_LEAGUE 0x40000000 /* of teams: its shares are initial tasks */
#define OMPT_TASK_INITIAL    0x00000001
#define OMPT_TASK_IMPLICIT   0x00000002
#define OMPT_TASK_EXPLICIT   0x00000004
#define OMPT_TASK_TASKWAIT   0x00000010
#define OMPT_TASK_UNDEFERRED 0x08000000
#define OMPT_TASK_UNTIED     0x10000000
enum ompt_task_status {
    OMPT_STATUS_COMPLETE = 1,
    OMPT_STATUS_YIELD = 2,
    OMPT_STATUS_CANCEL = 3,
    OMPT_STATUS_DETACH = 4,
    OMPT_STATUS_EARLY_FULFILL = 5,
    OMPT_STATUS_LATE_FULFILL = 6,
    OMPT_STATUS_SWITCH = 7,
    OMPT_STATUS_TASKWAIT_COMPLETE = 8
};
enum ompt_dependence_kind {
    OMPT_DEPEND_IN = 1,
    OMPT_DEPEND_OUT = 2,
    OMPT_DEPEND_INOUT = 3,
    OMPT_DEPEND_MUTEXINOUTSET = 4,
    OMPT_DEPEND_SOURCE = 5,
    OMPT_DEPEND_SINK = 6,
    OMPT_DEPEND_INOUTSET = 7,
    OMPT_DEPEND_OUT_ALL_MEMORY = 34,
    OMPT_DEPEND_INOUT_ALL_MEMORY = 35
};

#endif
