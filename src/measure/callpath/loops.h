/* Loops of the program, found while it runs: code that comes back to the same call site, again and
 * again, within one function.
 *
 * Nouns
 *   home   the innermost function (or region) that two events in a row have in common: its node
 *   site   the place in the home from which the later event was called: of Python a call, of
 *          which one line may have several
 *   visit  an event whose transition has this home and site; the time between two visits of a loop
 *          is an iteration
 *
 * A site that is visited LC_LOOP_LEAST times is a loop, unless a loop whose home lies around it
 * (or is the same) goes on meanwhile; loops inside of its iterations end when an outer one is
 * found. So of nested loops the outermost stays that repeats so often, unless most of all its time
 * is in one iteration, in which the inner one repeats (a program that reads commands, one of which
 * runs it). Of the sites of one home the first one stays, unless its visits come in bursts (a loop
 * over neighbours). Of more than LC_LOOPS_OPEN loops those stay that cover most time: a new one
 * takes the place of that which covers least, so that a main loop is kept however many loops
 * prepare it. Known limits: a loop in which the same event follows itself through the same
 * functions cannot be told from one further in; calls that are measured with less detail
 * (budget.h) are not seen.
 *
 * Only the thread that made the first event of the process is watched, so nothing here is locked.
 * Cost: the test in lc_book_gap, and where a transition is a visit two stores; the first 4096
 * visits of a site a call. Memory: LC_LOOP_SITES sites of 168 bytes, LC_LOOP_LEAST visits of 96
 * bytes of those that come back, LC_LOOP_KEPT of loops that are kept. Ranks find their loops
 * without a word between them; clocks/iterations.c joins them.
 */
#ifndef LC_MEASURE_CALLPATH_LOOPS_H
#define LC_MEASURE_CALLPATH_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/core/thread.h"

struct lc_entry;

/* LC_LOOP_KEPT: visits kept one by one; of longer loops every second, every fourth, .. */
enum { LC_LOOP_LEAST = 10, LC_LOOP_KEPT = 4096, LC_LOOPS_OPEN = 16, LC_LOOP_SITES = 4096 };

enum { LC_LOOP_CODES = 3, LC_LOOP_WORK = 16384 };

struct lc_loop_code { /* where an iteration worked longest */
    uint32_t node;
    float ticks;
};

/* What the threads of the process did until a visit, ticks. */
struct lc_loop_threads {
    /* useful time, summed over the visits: of all threads; of the one that had most since the visit
     * before */
    uint64_t useful, most;
    uint64_t chain, outside_omp; /* of the first thread: useful_process, outside_omp_global */
    uint32_t n; /* threads that worked since the visit before; 0: not known, or there is but one */
};

struct lc_visit { /* ticks; outside: time of the thread between events until then; waited: of the
                     process, as far as it was booked by then */
    uint64_t begin, outside, waited, works;   /* works: *lc_loops_works */
    struct lc_loop_code codes[LC_LOOP_CODES]; /* of the iteration that begins; ticks 0: none */
    struct lc_loop_threads threads;
};

struct lc_loop {
    uint64_t count; /* visits */
    uint64_t due;   /* the visit that lc_loop_visit must see next; 0: any */
    uint64_t last;
    uint64_t first, seen; /* seen: the last one that lc_loop_visit saw */
    uint64_t longest;     /* between two visits that were kept */
    uint64_t site;
    uint32_t home; /* node */
    uint32_t state;
    struct lc_loop *next; /* same hash */
    uint64_t stride;      /* visits 1, 1 + stride, .. are kept */
    struct lc_visit *visits;
    size_t n_visits, cap_visits;
    struct lc_loop_threads threads; /* until the last visit that was kept; and useful time then, */
    uint64_t *useful;               /* by location */
    size_t cap_useful;
};

/* Where the ticks stand that this process has waited (clocks/clocks_init.c); NULL: nowhere. */
extern const uint64_t *lc_loops_waited;
/* Stretches of work that are known so far (clocks/origins.c): the last LC_LOOP_WORK are remembered.
 * NULL: nobody knows of work. */
extern const _Atomic uint64_t *lc_loops_works;
/* Tells where the thread worked longest from `since` until `until` (ticks), largest first; first:
 * of these stretches, those before are of before `since`. */
extern void (*lc_loops_worked)(uint64_t first, uint64_t since, uint64_t until,
                               struct lc_loop_code codes[LC_LOOP_CODES]);

/* Brings loop->threads up to the visit at `begin` (clocks/iterations.c); NULL: nobody
 * can. */
extern void (*lc_loops_threads)(struct lc_loop *loop, uint64_t begin);

/* The site of this transition to `entry`, NULL: it is of no interest. In the slow half of
 * lc_book_gap. */
struct lc_loop *lc_loop_of(const struct lc_thread *t, const struct lc_entry *entry,
                           uint32_t common);

/* Told of visits that are due, after the loop knows of them (trace/trace_window.c); NULL: nobody.
 * The visits with these two numbers are always due. */
extern void (*lc_loops_visited)(const struct lc_loop *loop, struct lc_call *call);
extern uint64_t lc_loops_due[2];

/* Found, and not inside of another one that was found. */
bool lc_loop_goes_on(const struct lc_loop *loop);
/* Code further out has come back, too, since the loop began. */
bool lc_loop_is_inside(const struct lc_loop *loop);

/* A visit that is due. False: it will never be a loop. */
bool lc_loop_visit(struct lc_loop *loop, struct lc_call *call);

/* Every visit: an event that begins. */
static inline bool lc_loop_count(struct lc_loop *loop, struct lc_call *call) {
    loop->last = call->begin;
    return ++loop->count < loop->due || lc_loop_visit(loop, call);
}

/* Those that were found but had to make room, and the most that one of them covers; transitions
 * that may be visits of loops, but of sites that had no room. */
struct lc_loops_left_out {
    uint64_t n, ticks, unwatched;
};
/* Those that are kept; returns their number. */
size_t lc_loops_found(const struct lc_loop *loops[LC_LOOPS_OPEN],
                      struct lc_loops_left_out *left_out);
/* The time that it covers, ticks: without its longest iteration, as code that comes back in two
 * parts of a program does not repeat in between. */
static inline uint64_t lc_loop_covers(const struct lc_loop *loop) {
    return loop->last - loop->first - loop->longest;
}

#endif
