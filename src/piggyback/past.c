#include "piggyback/past.h"

#include <string.h>

static struct lc_past_wait *wait_at(const struct lc_past *past, uint64_t i) {
    return (struct lc_past_wait *)(past + 1) + (i & (past->cap_waits - 1));
}

static struct lc_past_work *work_at(const struct lc_past *past, uint64_t i) {
    struct lc_past_wait *waits = (struct lc_past_wait *)(past + 1);
    return (struct lc_past_work *)(waits + past->cap_waits) + (i & (past->cap_work - 1));
}

size_t lc_past_size(uint32_t cap_waits, uint32_t cap_work) {
    return sizeof(struct lc_past) + cap_waits * sizeof(struct lc_past_wait) +
           cap_work * sizeof(struct lc_past_work);
}

void lc_past_init(struct lc_past *past, uint32_t cap_waits, uint32_t cap_work) {
    past->cap_waits = cap_waits;
    past->cap_work = cap_work;
}

void lc_past_add_wait(struct lc_past *past, const struct lc_past_wait *wait) {
    uint64_t n = atomic_load_explicit(&past->n_waits, memory_order_relaxed);
    *wait_at(past, n) = *wait;
    /* release: who sees the number sees the entry (lc_past_wait_get) */
    atomic_store_explicit(&past->n_waits, n + 1, memory_order_release);
}

void lc_past_add_work(struct lc_past *past, const struct lc_past_work *work) {
    uint64_t n = atomic_load_explicit(&past->n_work, memory_order_relaxed);
    *work_at(past, n) = *work;
    if (work->same_gap)
        atomic_store_explicit(&past->parted, work->end, memory_order_relaxed);
    /* release: as above (lc_past_work_get) */
    atomic_store_explicit(&past->n_work, n + 1, memory_order_release);
}

/* Entry i of n was not overwritten while it was copied: the next one of its place is entry i +
 * cap, which is written while there are i + cap. */
static bool still_there(const _Atomic uint64_t *n, uint64_t i, uint32_t cap) {
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(n, memory_order_relaxed) < i + cap;
}

bool lc_past_wait_get(const struct lc_past *past, uint64_t i, struct lc_past_wait *wait) {
    if (i >= atomic_load_explicit(&past->n_waits, memory_order_acquire))
        return false;
    *wait = *wait_at(past, i);
    return still_there(&past->n_waits, i, past->cap_waits) && wait->n <= LC_PAST_CAUSES;
}

bool lc_past_work_get(const struct lc_past *past, uint64_t i, struct lc_past_work *work) {
    if (i >= atomic_load_explicit(&past->n_work, memory_order_acquire))
        return false;
    *work = *work_at(past, i);
    return still_there(&past->n_work, i, past->cap_work);
}

/* One that is overwritten meanwhile is another call's time: of this thread, too. */
bool lc_past_called(const struct lc_past *past, const _Atomic uint64_t *begins, uint64_t time,
                    uint32_t looks) {
    uint64_t n = atomic_load_explicit(&past->n_calls, memory_order_acquire);
    uint64_t least = n - (looks < LC_PAST_CALLS ? looks : LC_PAST_CALLS);
    for (least = least > n ? 0 : least; n > least; n--)
        if (atomic_load_explicit(&begins[(n - 1) % LC_PAST_CALLS], memory_order_relaxed) == time)
            return true;
    return false;
}

/* Ticks of an entry that lie in [from, until). */
static uint64_t inside(uint64_t begin, uint64_t end, uint64_t ticks, uint64_t from,
                       uint64_t until) {
    uint64_t a = begin > from ? begin : from, b = end < until ? end : until;
    if (b <= a)
        return 0;
    if (a == begin && b == end)
        return ticks;
    return (uint64_t)((double)ticks * (double)(b - a) / (double)(end - begin));
}

/* ---- when both were in the same operation last */

/* Both were in the operation at `since` until the first of them left it: the one that waited at
 * `left`, and the other one not before its own wait in that call was over, if it had one. */
static uint64_t parted(const struct lc_waited *w) {
    const struct lc_past *other = w->late_waited ? w->own : w->late;
    struct lc_past_wait x;
    if (other == NULL || w->left <= w->since)
        return w->since;
    uint64_t n = atomic_load_explicit(&other->n_waits, memory_order_acquire);
    for (uint32_t look = 0; look < w->looks && n > 0 && lc_past_wait_get(other, --n, &x); look++) {
        if (x.end <= w->since)
            break;
        if (x.begin <= w->since)
            return x.end < w->left ? x.end : w->left;
    }
    return w->since;
}

/* As far as the waits of both tell: the late rank waited for this one, or both for the same rank at
 * the same time, unless it was in messages to each of them. */
static uint64_t met(const struct lc_waited *w) {
    struct lc_past_wait theirs, mine = {.end = UINT64_MAX};
    uint64_t since = parted(w);
    uint64_t n = atomic_load_explicit(&w->late->n_waits, memory_order_acquire);
    uint64_t n_own =
        w->own != NULL ? atomic_load_explicit(&w->own->n_waits, memory_order_relaxed) : 0;
    for (uint32_t look = 0; look < w->looks && n > 0 && lc_past_wait_get(w->late, --n, &theirs);
         look++) {
        if (theirs.end <= since)
            break;
        if (theirs.end > w->begin)
            continue;
        if (theirs.late_rank == w->me && lc_past_same(theirs.late_thread, w->thread))
            return theirs.end;
        while (mine.end > theirs.end + w->same && n_own > 0 &&
               lc_past_wait_get(w->own, n_own - 1, &mine))
            n_own--;
        if (mine.end + w->same >= theirs.end && mine.end <= theirs.end + w->same &&
            mine.late_rank == theirs.late_rank && !mine.pairwise && !theirs.pairwise)
            return theirs.end;
    }
    return since;
}

/* ---- the excess of the late rank, per call path */

struct code {
    uint64_t path, late, own;
    uint32_t node;
};

struct excess {
    struct code list[LC_ORIGINS];
    uint32_t n;
};

static struct code *code_of(struct excess *excess, uint64_t path) {
    for (uint32_t i = 0; i < excess->n; i++)
        if (excess->list[i].path == path)
            return &excess->list[i];
    return NULL;
}

/* Work in [since, until); where not all of it was looked at, *since is where that begins. */
static void add_work(const struct lc_past *past, uint32_t looks, uint64_t *since, uint64_t until,
                     bool late, struct excess *excess) {
    struct lc_past_work x;
    uint64_t n = atomic_load_explicit(&past->n_work, memory_order_acquire), seen = until;
    uint32_t look = 0;
    for (; n > 0; look++) {
        if (look == looks || !lc_past_work_get(past, --n, &x)) {
            *since = seen > *since ? seen : *since;
            return;
        }
        if (x.end <= *since)
            return;
        seen = x.begin < until ? x.begin : until;
        uint64_t ticks = inside(x.begin, x.end, x.ticks, *since, until);
        struct code *code = ticks > 0 ? code_of(excess, x.path) : NULL;
        if (ticks > 0 && code == NULL && late && excess->n < LC_ORIGINS) {
            code = &excess->list[excess->n++];
            *code = (struct code){.path = x.path, .node = x.node};
        }
        if (code != NULL && late)
            code->late += ticks;
        else if (code != NULL)
            code->own += ticks;
    }
}

/* ---- origins */

static struct lc_origin *origin_of(struct lc_origins *origins, uint64_t key) {
    for (uint32_t i = 0; i < origins->n; i++)
        if (origins->list[i].key == key)
            return &origins->list[i];
    if (origins->n == LC_ORIGINS)
        return NULL;
    origins->list[origins->n] = (struct lc_origin){.key = key};
    return &origins->list[origins->n++];
}

static void add_direct(const struct lc_waited *w, uint64_t ticks, uint64_t since,
                       struct lc_origins *origins) {
    struct excess excess = {.n = 0};
    uint64_t rank = (uint64_t)w->late_rank << 32, all = 0, left = ticks;
    if (w->late != NULL) {
        add_work(w->late, w->looks, &since, w->release, true, &excess);
        if (w->own != NULL)
            add_work(w->own, w->looks, &since, w->begin, false, &excess);
    }
    const struct code *most = NULL;
    for (uint32_t i = 0; i < excess.n; i++) {
        struct code *code = &excess.list[i];
        code->late = code->late > code->own ? code->late - code->own : 0;
        all += code->late;
        if (most == NULL || code->late > most->late)
            most = code;
    }
    for (uint32_t i = 0; all > 0 && i < excess.n; i++) {
        const struct code *code = &excess.list[i];
        uint64_t part = (uint64_t)((double)ticks * (double)code->late / (double)all);
        struct lc_origin *origin =
            part > 0 && code != most ? origin_of(origins, rank | code->node) : NULL;
        if (origin != NULL && part <= left) {
            origin->direct += part;
            left -= part;
        }
    }
    struct lc_origin *origin =
        origin_of(origins, rank | (all > 0 && most != NULL ? most->node : w->late_node));
    if (origin != NULL)
        origin->direct += left;
    else
        origins->rest += left;
}

/* `ticks` of the wait are due to waiting of the late rank, of which there was `all`. */
static void add_inherited(const struct lc_waited *w, uint64_t ticks, uint64_t all, uint64_t since,
                          struct lc_origins *origins) {
    struct lc_past_wait v;
    uint64_t n = atomic_load_explicit(&w->late->n_waits, memory_order_acquire), left = ticks;
    for (uint32_t look = 0; look < w->looks && n > 0 && lc_past_wait_get(w->late, --n, &v);
         look++) {
        if (v.end <= since)
            break;
        uint64_t part = inside(v.begin, v.end, v.ticks, since, w->release);
        double scale = part > 0 && v.ticks > 0
                           ? (double)ticks / (double)all * (double)part / (double)v.ticks
                           : 0;
        for (uint32_t i = 0; scale > 0 && i < v.n; i++) {
            uint64_t its = (uint64_t)((double)v.causes[i].ticks * scale);
            struct lc_origin *origin =
                its > 0 && its <= left ? origin_of(origins, v.causes[i].key) : NULL;
            if (origin != NULL) {
                origin->indirect += its;
                left -= its;
            }
        }
    }
    origins->rest_indirect += left;
}

void lc_past_origins(const struct lc_waited *w, struct lc_origins *origins) {
    uint64_t ticks = w->release - w->begin, all = 0, since = w->since;
    struct lc_past_wait v;
    origins->n = 0;
    origins->rest = origins->rest_indirect = 0;
    if (w->late != NULL) {
        since = met(w);
        uint64_t n = atomic_load_explicit(&w->late->n_waits, memory_order_acquire);
        for (uint32_t look = 0; look < w->looks && n > 0 && lc_past_wait_get(w->late, --n, &v);
             look++) {
            if (v.end <= since)
                break;
            all += inside(v.begin, v.end, v.ticks, since, w->release);
        }
    }
    uint64_t inherited = all < ticks ? all : ticks;
    if (inherited > 0)
        add_inherited(w, inherited, all, since, origins);
    if (ticks > inherited)
        add_direct(w, ticks - inherited, since, origins);
}

static uint32_t add_part(struct lc_past_part *parts, uint32_t n, const struct lc_past_work *x) {
    uint32_t i = 0;
    while (i < n && parts[i].node != x->node)
        i++;
    if (i == LC_PAST_PARTS) /* the first one has what found no room */
        i = 0;
    else if (i == n)
        parts[n++] = (struct lc_past_part){.node = x->node};
    parts[i].ticks += x->ticks;
    return n;
}

uint32_t lc_past_gap(const struct lc_waited *w, struct lc_past_part parts[LC_PAST_PARTS]) {
    struct lc_past_work x;
    uint32_t n_parts = 0;
    bool found = false;
    if (w->late == NULL)
        return 0;
    uint64_t n = atomic_load_explicit(&w->late->n_work, memory_order_acquire);
    /* That gap is whole, so it tells no more than late_node: entries of another process are far. */
    if (atomic_load_explicit(&w->late->parted, memory_order_relaxed) <= w->since)
        return 0;
    for (uint32_t look = 0; look < w->looks && n > 0 && lc_past_work_get(w->late, --n, &x);
         look++) {
        if (x.end <= w->since)
            return 0;
        if (x.begin >= w->release)
            continue;
        n_parts = add_part(parts, n_parts, &x);
        found = found || x.node == w->late_node;
        if (!x.same_gap && found)
            return n_parts;
        if (!x.same_gap)
            n_parts = 0;
    }
    return 0;
}

void lc_past_entry(const struct lc_waited *w, const struct lc_origins *origins,
                   struct lc_past_wait *entry) {
    *entry = (struct lc_past_wait){.begin = w->begin,
                                   .end = w->release,
                                   .ticks = w->release - w->begin,
                                   .late_rank = w->late_rank,
                                   .late_thread = w->late_thread,
                                   .pairwise = w->pairwise};
    for (uint32_t i = 0; i < origins->n; i++) {
        struct lc_past_cause cause = {origins->list[i].key,
                                      origins->list[i].direct + origins->list[i].indirect};
        uint32_t at = entry->n < LC_PAST_CAUSES ? entry->n++ : LC_PAST_CAUSES;
        for (; at > 0 && entry->causes[at - 1].ticks < cause.ticks; at--)
            if (at < LC_PAST_CAUSES)
                entry->causes[at] = entry->causes[at - 1];
        if (at < LC_PAST_CAUSES)
            entry->causes[at] = cause;
    }
}
