#include "measure/callpath/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hot_data.h"
#include "base/mem.h"
#include "measure/callpath/entry.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

enum { BUCKETS = 1024 };
enum { COUNTING, OPEN, OVER }; /* OVER: it is no loop, or others cover more */

static struct lc_loop *buckets[BUCKETS];
static struct lc_loop *open[LC_LOOPS_OPEN];
static LC_HOT_DATA size_t n_open;
static size_t n_sites;
static struct lc_loops_left_out left_out;

static struct lc_loop *find(uint32_t home, uint64_t site) {
    struct lc_loop **bucket = &buckets[lc_hash_key(site ^ (uint64_t)home << 48) % BUCKETS];
    for (struct lc_loop *l = *bucket; l != NULL; l = l->next)
        if (l->site == site && l->home == home)
            return l->state < OVER ? l : NULL;
    struct lc_loop *loop = n_sites < LC_LOOP_SITES ? calloc(1, sizeof *loop) : NULL;
    if (loop == NULL) {
        left_out.unwatched++;
        return NULL;
    }
    n_sites++;
    *loop = (struct lc_loop){.next = *bucket, .site = site, .home = home, .stride = 1};
    return *bucket = loop;
}

/* Its begin is the visit. */
static bool ends_region(const struct lc_entry *entry) {
    uint32_t code = (uint32_t)entry->fn_ctx;
    return code >= lc_region_fn(0, false) && (code - lc_region_fn(0, false)) % 2 == 1;
}

/* Regions have no site of their own: the function around them counts. */
struct lc_loop *lc_loop_of(const struct lc_thread *t, const struct lc_entry *entry,
                           uint32_t common) {
    if (t->index != 0 || entry->cut || ends_region(entry))
        return NULL;
    while (common > 0 && entry->items[common - 1].site == 0)
        common--;
    if (common == 0 || entry->items[common - 1].node == LC_NONE ||
        entry->items[common - 1].site == LC_SITE_UNKNOWN)
        return NULL;
    return find(entry->items[common - 1].node, entry->items[common - 1].site);
}

static bool is_around(const struct lc_loop *outer, const struct lc_loop *inner) {
    const struct lc_state_node *nodes = lc_state_nodes();
    uint32_t at = inner->home;
    for (uint32_t deep = 0; at != LC_NONE && deep < 1000 && at != outer->home; deep++)
        at = nodes[at].parent;
    return at == outer->home;
}

static void end(struct lc_loop *loop) {
    loop->state = OVER;
    loop->due = 0;
    free(loop->visits);
    loop->visits = NULL;
    loop->n_visits = loop->cap_visits = 0;
    free(loop->useful);
    loop->useful = NULL;
    loop->cap_useful = 0;
    size_t kept = 0;
    for (size_t i = 0; i < n_open; i++)
        if (open[i] != loop)
            open[kept++] = open[i];
    n_open = kept;
}

/* The one that covers least so far. One that has just begun stays until the next one is found: by
 * then it covers more than those that prepared it, or it never will. */
static void leave_one_out(void) {
    struct lc_loop *least = open[0];
    for (size_t i = 1; i < n_open; i++)
        if (lc_loop_covers(open[i]) < lc_loop_covers(least))
            least = open[i];
    left_out.n++;
    if (lc_loop_covers(least) > left_out.ticks)
        left_out.ticks = lc_loop_covers(least);
    end(least);
}

/* Of two sites in one home: do the visits of `often` come in bursts, as in a loop over neighbours,
 * with most of the time between the bursts? As many of the longest breaks as `loop` had iterations
 * tell. */
static bool comes_in_bursts(const struct lc_loop *often, const struct lc_loop *loop) {
    uint64_t longest[LC_LOOP_LEAST - 1] = {0}, breaks = 0;
    size_t n = 0;
    for (size_t i = often->n_visits; i-- > 1 && often->visits[i - 1].begin > loop->first;) {
        uint64_t gap = often->visits[i].begin - often->visits[i - 1].begin;
        n++;
        for (size_t k = 0; k < LC_LOOP_LEAST - 1; k++)
            if (gap > longest[k]) {
                uint64_t shorter = longest[k];
                longest[k] = gap;
                gap = shorter;
            }
    }
    for (size_t k = 0; k < LC_LOOP_LEAST - 1; k++)
        breaks += longest[k];
    return n * 2 > LC_LOOP_LEAST * 3 && breaks > (loop->last - loop->first) / 5 * 3;
}

/* The other one went on in a single iteration of this one. */
static bool is_in_one_iteration(const struct lc_loop *loop, const struct lc_loop *other) {
    for (size_t i = 0; i < loop->n_visits; i++)
        if (loop->visits[i].begin > other->first && loop->visits[i].begin < other->last)
            return false;
    return true;
}

/* Of two loops, of which one is in an iteration of the other, the outer one stays; but where that
 * iteration is most of all of it, it is no loop: commands are read, one of which does the work. */
static bool is_most_of(const struct lc_loop *inner, const struct lc_loop *outer, uint64_t now) {
    return 2 * (inner->last - inner->first) > now - outer->first;
}

LC_HOT_DATA const uint64_t *lc_loops_waited;
LC_HOT_DATA const _Atomic uint64_t *lc_loops_works;
LC_HOT_DATA void (*lc_loops_worked)(uint64_t, uint64_t, uint64_t,
                                    struct lc_loop_code[LC_LOOP_CODES]);
LC_HOT_DATA void (*lc_loops_threads)(struct lc_loop *, uint64_t);

/* The iteration before the last one, or one before that: what it did is known by now. */
static void look_at_work(struct lc_loop *loop, size_t i) {
    struct lc_visit *v = &loop->visits[i];
    if (lc_loops_works != NULL)
        lc_loops_worked(v->works, v->begin, v[1].begin, v->codes);
}

static uint64_t known_works(void) {
    return lc_loops_works != NULL ? atomic_load_explicit(lc_loops_works, memory_order_relaxed) : 0;
}

/* Most sites never become loops. When this one does, what it did in this iteration is still
 * remembered. */
static bool is_remembered(const struct lc_loop *loop, size_t i) {
    return loop->visits[i + 1].works - loop->visits[i].works < LC_LOOP_WORK / LC_LOOP_LEAST;
}

/* Longer iterations are looked at in time, but for those of sites in the body of another one that
 * are looked at already: they will not become loops, or without what these iterations did. */
static bool is_in_body(struct lc_loop *loop) {
    enum { BODIES = 8 };
    static struct lc_loop *bodies[BODIES];
    static uint32_t next;
    for (uint32_t i = 0; i < BODIES; i++) {
        const struct lc_loop *other = bodies[i];
        if (other == loop)
            return false;
        if (other != NULL && other->state < OVER && other->last > loop->first &&
            is_around(other, loop))
            return true;
    }
    bodies[next++ % BODIES] = loop;
    return false;
}

/* It has come often enough. Loops that went on since it came first are around it, or in it. */
static void promote(struct lc_loop *loop) {
    for (size_t i = 0; i < n_open; i++)
        if (open[i]->last > loop->first && is_around(open[i], loop) &&
            !(open[i]->home == loop->home && comes_in_bursts(open[i], loop))) {
            end(loop);
            return;
        }
    for (size_t i = 0; i < n_open; i++)
        if (open[i]->first > loop->first && is_around(loop, open[i]) &&
            is_in_one_iteration(loop, open[i]) && is_most_of(open[i], loop, loop->last)) {
            end(loop);
            return;
        }
    for (size_t i = n_open; i-- > 0;)
        if (open[i]->last > loop->first && is_around(loop, open[i]))
            end(open[i]);
    if (n_open == LC_LOOPS_OPEN)
        leave_one_out();
    loop->state = OPEN;
    open[n_open++] = loop;
    for (size_t i = 0; i + 2 < loop->n_visits; i++)
        if (is_remembered(loop, i))
            look_at_work(loop, i);
}

/* Loops that began since the last visit are inside of this iteration. */
static void end_inner(struct lc_loop *loop) {
    for (size_t i = n_open; i-- > 0;) {
        if (open[i] == loop || open[i]->first <= loop->seen || !is_around(loop, open[i]))
            continue;
        if (is_most_of(open[i], loop, loop->last)) {
            end(loop);
            return;
        }
        end(open[i]);
    }
}

static void thin_out(struct lc_loop *loop) {
    size_t kept = 0;
    for (size_t i = 0; i < loop->n_visits; i += 2) {
        uint32_t between = i > 0 ? loop->visits[i - 1].threads.n : 0;
        loop->visits[kept] = loop->visits[i];
        if (between > loop->visits[kept].threads.n)
            loop->visits[kept].threads.n = between;
        kept++;
    }
    loop->n_visits = kept;
    loop->stride *= 2;
}

static void keep(struct lc_loop *loop, uint64_t begin, uint64_t outside) {
    if (loop->n_visits == LC_LOOP_KEPT)
        thin_out(loop);
    if (lc_grow(&loop->visits, &loop->cap_visits, loop->n_visits + 1, sizeof *loop->visits) !=
        LC_OK) {
        end(loop);
        return;
    }
    if (loop->n_visits > 0 && begin - loop->visits[loop->n_visits - 1].begin > loop->longest)
        loop->longest = begin - loop->visits[loop->n_visits - 1].begin;
    if (lc_loops_threads != NULL)
        lc_loops_threads(loop, begin);
    loop->visits[loop->n_visits++] =
        (struct lc_visit){.begin = begin,
                          .outside = outside,
                          .waited = lc_loops_waited != NULL ? *lc_loops_waited : 0,
                          .works = known_works(),
                          .threads = loop->threads};
    size_t n = loop->n_visits;
    if (n > 2 && (loop->state == OPEN || (!is_remembered(loop, n - 3) && !is_in_body(loop))))
        look_at_work(loop, n - 3);
}

LC_HOT_DATA void (*lc_loops_visited)(const struct lc_loop *, struct lc_call *);
LC_HOT_DATA uint64_t lc_loops_due[2];

/* The visit that must be seen after this one. */
static uint64_t next_due(const struct lc_loop *loop) {
    uint64_t due = loop->count + loop->stride - (loop->count - 1) % loop->stride;
    for (size_t i = 0; i < sizeof lc_loops_due / sizeof *lc_loops_due; i++)
        if (lc_loops_due[i] > loop->count && lc_loops_due[i] < due)
            due = lc_loops_due[i];
    return due;
}

bool lc_loop_visit(struct lc_loop *loop, struct lc_call *call) {
    if (loop->state >= OVER)
        return false;
    if (loop->count == 1)
        loop->first = call->begin;
    if (loop->state == OPEN && n_open > 1)
        end_inner(loop);
    if (loop->state == OVER)
        return false;
    loop->seen = call->begin;
    if ((loop->count - 1) % loop->stride == 0)
        keep(loop, call->begin, call->thread->outside_ticks);
    if (loop->state == COUNTING && loop->count == LC_LOOP_LEAST)
        promote(loop);
    loop->due = loop->state != OVER ? next_due(loop) : 0;
    if (lc_loops_visited != NULL)
        lc_loops_visited(loop, call);
    return loop->state != OVER;
}

bool lc_loop_goes_on(const struct lc_loop *loop) {
    return loop->state == OPEN;
}

bool lc_loop_is_inside(const struct lc_loop *loop) {
    for (size_t b = 0; b < BUCKETS; b++)
        for (const struct lc_loop *l = buckets[b]; l != NULL; l = l->next)
            if (l != loop && l->state < OVER && l->count > 1 && l->last > loop->first &&
                l->home != loop->home && is_around(l, loop))
                return true;
    return false;
}

size_t lc_loops_found(const struct lc_loop *loops[LC_LOOPS_OPEN], struct lc_loops_left_out *left) {
    memcpy(loops, open, n_open * sizeof open[0]);
    *left = left_out;
    return n_open;
}
