#include "report/advice.h"

#include <stdbool.h>
#include <string.h>

#include "report/finding_kinds.h"
#include "report/view_fold.h"

#define READ_BY_ALL                                                                                \
    "Let all ranks read a part each (MPI-IO), read in larger pieces or ahead of time, or read "    \
    "once and hand on what was read."
#define WRITE_BY_ALL                                                                               \
    "Let all ranks write a part each (MPI-IO), write in larger pieces or less often, or leave it " \
    "to a thread while the work goes on."

#define LC_FOR_A_THREAD "waiting for a thread"

/* What samples found of the late code: state, and what it was in that state for (NULL: whatever
 * it was, the last row of the state). */
static const struct {
    const char *state, *purpose, *advice;
} by_state[] = {
    {"off CPU", "sleeping",
     "Find out what it sleeps for: it asks for pauses itself. Wait for what is awaited instead of "
     "looking for it from time to time, or take the pause away."},
    {"off CPU", "reading a file", READ_BY_ALL},
    {"off CPU", "writing a file", WRITE_BY_ALL},
    {"kernel", "reading a file", READ_BY_ALL}, /* from memory: it was read before */
    {"kernel", "writing a file", WRITE_BY_ALL},
    {"off CPU", "waiting for a lock",
     "Hold the lock for less time, or use one lock per part of the data."},
    {"off CPU", LC_FOR_A_THREAD,
     "Find out which of the threads that it waits for is the last, and what that one does."},
    {"off CPU", "page fault",
     "It waits for pages of a file that it has mapped, or that were swapped out: read them ahead "
     "of time (madvise, MAP_POPULATE), or use less memory per node."},
    {"off CPU", "file system",
     "It waits for files or devices: read and write in larger pieces, ahead of time, or let all "
     "ranks do a part each (MPI-IO)."},
    {"off CPU", NULL,
     "Find out what it waits for outside of MPI: it is not on a processor. Start that earlier, or "
     "do other work meanwhile."},
    {"kernel", NULL,
     "Find out what the kernel does for it: mostly page faults of memory that is used for the "
     "first time (allocate once and use it again, or use larger pages), or system calls (fewer, "
     "larger "
     "ones)."},
};

/* Code of one rank that the others wait for in this kind of call, or in this construct. */
static const struct {
    enum lc_finding_id kind;
    const char *metric;
    bool ordered; /* only at "!$omp ordered" */
    const char *advice;
} by_wait[] = {
    {LC_LOCK_CONTENTION, "omp_lock_contention_critical", true,
     "Do what need not be in order before the ordered part, or keep the results of the iterations "
     "and put them in order after the loop."},
    {LC_LATE_RANK, "mpi_latebroadcast", false,
     "Let the root do less before it sends: give the others a part of this work, send parts as "
     "they are done, or do the same work on all ranks instead of sending its result."},
};

bool lc_is_ordered(const char *name) {
    static const char construct[] = "!$omp ordered";
    return strncmp(name, construct, sizeof construct - 1) == 0;
}

/* "(STATE)" and "(STATE: PURPOSE)", as the last part of a name. */
static bool is_state(const char *name, const char *state, const char **purpose) {
    const char *open = strrchr(name, '(');
    size_t length = strlen(state);
    if (open == NULL || strncmp(open + 1, state, length) != 0)
        return false;
    *purpose = strncmp(open + 1 + length, ": ", 2) == 0 ? open + length + 3 : NULL;
    return *purpose != NULL || open[1 + length] == ')';
}

/* "PURPOSE)", or one of several: "page fault: reading a file)". */
static bool names(const char *named, const char *purpose) {
    size_t length = strlen(purpose);
    while (strncmp(named, purpose, length) != 0 || (named[length] != ')' && named[length] != ':')) {
        const char *next = strstr(named, ": ");
        if (next == NULL)
            return false;
        named = next + 2;
    }
    return true;
}

/* The outermost function of the C library decides: all that block end in a wait for a futex. */
static bool is_for(const struct lc_view *view, uint32_t path, const char *named,
                   const char *purpose) {
    const char *found = NULL, *outer;
    if (named != NULL)
        return names(named, purpose);
    for (path = view->paths[path].parent; path != LC_NONE; path = view->paths[path].parent) {
        outer = lc_purpose_of(view->paths[path].name);
        if (outer == NULL) /* above are the program's functions */
            break;
        found = outer;
    }
    return found != NULL && strcmp(found, purpose) == 0;
}

bool lc_waits_for_thread(const struct lc_view *view, uint32_t path) {
    const char *named;
    return is_state(view->paths[path].name, "off CPU", &named) &&
           is_for(view, path, named, LC_FOR_A_THREAD);
}

const char *lc_advice_for(const struct lc_view *view, const struct lc_finding *finding) {
    const char *named;
    if (finding->kind->of_partitions)
        return finding->kind->advice;
    for (size_t i = 0; finding->path != LC_NONE && i < sizeof by_state / sizeof *by_state; i++)
        if (is_state(view->paths[finding->path].name, by_state[i].state, &named) &&
            (by_state[i].purpose == NULL ||
             is_for(view, finding->path, named, by_state[i].purpose)))
            return by_state[i].advice;
    for (size_t i = 0; finding->metric != NULL && i < sizeof by_wait / sizeof *by_wait; i++)
        if (finding->kind == lc_finding_begin(by_wait[i].kind).kind &&
            strcmp(finding->metric, by_wait[i].metric) == 0 &&
            (!by_wait[i].ordered || lc_is_ordered(view->paths[finding->path].name)))
            return by_wait[i].advice;
    return finding->kind->advice;
}
