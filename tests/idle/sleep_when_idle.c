/* Preloaded in tests of MPI programs (tests/gate/tests.cmake): ranks that wait for a message sleep.
 * MPICH polls without end, Open MPI yields without end: where there are more ranks than cores,
 * ranks that wait take the cores from those that they wait for, and a test takes ten times the
 * processor time of what it does. Both MPIs poll through a function of another library. This one
 * stands before that, and sleeps when nothing has come IDLE_POLLS times in a row; longer where it
 * has slept often, as a rank does that waits for one that naps. Results, calls and the order of
 * the messages of a rank stay as they are. The library leave_core_when_idle, for figures of ranks
 * whose work is sleep, is made with -DEACH_NS: a rank that leaves its core more than a thousand
 * times a second is not asked where it sleeps. */
#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_POLLS = 50, POLLS_BETWEEN = 5, SHORT_SLEEPS = 100 };
#ifdef EACH_NS
enum { SHORT_NS = EACH_NS, LONG_NS = EACH_NS };
#else
enum { SHORT_NS = 10000, LONG_NS = 1000000 };
#endif

unsigned ucp_worker_progress(void *worker);
int opal_progress(void);
bool opal_progress_set_yield_when_idle(bool wanted);

static _Thread_local unsigned idle, sleeps; /* of this thread since something came: polls, sleeps */
static _Thread_local bool polls, has_yielded;

static void nothing_came(void) {
    if (++idle > IDLE_POLLS) {
        idle = IDLE_POLLS - POLLS_BETWEEN;
        struct timespec nap = {.tv_nsec = sleeps < SHORT_SLEEPS ? SHORT_NS : LONG_NS};
        sleeps += sleeps < SHORT_SLEEPS;
        syscall(SYS_nanosleep, &nap, NULL); /* the program may have a nanosleep() of its own */
    }
}

static void something_came(void) {
    idle = sleeps = 0;
}

/* The function behind ours. Not by RTLD_NEXT: where a plugin brought the MPI, its libraries are in
 * no scope of ours. */
static void *behind(const char *library, const char *name) {
    return dlsym(dlopen(library, RTLD_LAZY | RTLD_NOLOAD), name);
}

/* Of Open MPI 4, and 5. */
static void *behind_opal(const char *name) {
    bool is_5 = dlopen("libopen-pal.so.40", RTLD_LAZY | RTLD_NOLOAD) == NULL;
    return behind(is_5 ? "libopen-pal.so.80" : "libopen-pal.so.40", name);
}

/* UCX, below MPICH. Returns how many events there were. */
unsigned ucp_worker_progress(void *worker) {
    static unsigned (*_Atomic next)(void *);
    if (next == NULL)
        next = (unsigned (*)(void *))behind("libucp.so.0", "ucp_worker_progress");
    unsigned events = next(worker);
    if (events > 0)
        something_came();
    else
        nothing_came();
    return events;
}

/* Open MPI yields if nothing came, but only where it knows of more ranks than cores: always. */
bool opal_progress_set_yield_when_idle(bool wanted) {
    (void)wanted;
    return ((bool (*)(bool))behind_opal("opal_progress_set_yield_when_idle"))(true);
}

int opal_progress(void) {
    static int (*_Atomic next)(void);
    if (next == NULL)
        next = (int (*)(void))behind_opal("opal_progress");
    polls = true;
    has_yielded = false;
    int events = next();
    polls = false;
    if (!has_yielded)
        something_came();
    return events;
}

int sched_yield(void) {
    if (!polls)
        return (int)syscall(SYS_sched_yield);
    has_yielded = true;
    nothing_came();
    return 0;
}
