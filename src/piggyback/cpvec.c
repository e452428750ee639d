#include "piggyback/cpvec.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void make_whatif(struct lc_cpvec *vec, struct lc_area *mine) {
    uint32_t n = vec->thread == 0 ? LC_WHATIF_VERSIONS : LC_WHATIF_VERSIONS_FEW;
    uint64_t at = mine ? lc_area_take(mine, n * sizeof *vec->published) : 0;
    vec->published = at ? lc_area_at(mine, at) : mine ? NULL : calloc(n, sizeof *vec->published);
    if (!vec->published)
        return;
    vec->circle->n_whatif = n;
    vec->circle->whatif = at;
}

void lc_cpvec_init(struct lc_cpvec *vec, struct lc_area *mine, uint32_t thread, uint32_t n_whatif) {
    memset(vec, 0, sizeof *vec);
    vec->thread = thread;
    vec->mine = mine;
    vec->n_whatif = n_whatif;
    if (thread >= LC_AREA_THREADS || (!mine && n_whatif == 0))
        return;
    uint64_t at = mine ? lc_area_take(mine, sizeof(struct lc_cp_circle)) : 0;
    vec->circle = at ? lc_area_at(mine, at) : mine ? NULL : calloc(1, sizeof *vec->circle);
    if (!vec->circle)
        return;
    if (n_whatif > 0)
        make_whatif(vec, mine);
    if (mine)
        atomic_store_explicit(&mine->head->vectors[thread], at, memory_order_release);
}

void lc_cpvec_init_after(struct lc_cpvec *vec, struct lc_cpvec *ended, uint32_t n_whatif) {
    memset(vec, 0, sizeof *vec);
    vec->thread = ended->thread;
    vec->mine = ended->mine;
    vec->n_whatif = n_whatif;
    vec->circle = ended->circle;
    vec->published = ended->published;
    vec->next = ended->next;
    vec->next_delta = ended->next_delta;
    ended->circle = NULL;
    ended->published = NULL;
}

/* relaxed: who waited for this rank since then sees it; others see that or the one before. */
static void set_since(struct lc_cpvec *vec, uint32_t number) {
    atomic_store_explicit(&vec->circle->whatif_since,
                          (uint64_t)vec->generation << 32 | (number & 0x7fffff),
                          memory_order_relaxed);
}

bool lc_cpvec_whatif_room(struct lc_cpvec *vec, struct lc_area *mine) {
    if (vec->circle == NULL && mine == NULL)
        vec->circle = calloc(1, sizeof *vec->circle);
    if (vec->circle != NULL && vec->published == NULL)
        make_whatif(vec, mine);
    return vec->published != NULL;
}

void lc_cpvec_whatif_begin(struct lc_cpvec *vec, uint32_t n) {
    vec->n_whatif = n;
    vec->generation++;
    set_since(vec, vec->next);
}

void lc_cpvec_forget(struct lc_cpvec *vec) {
    vec->n = vec->n_recent = 0;
    vec->tagged = false;
    vec->base = 0;
    vec->other = 0;
    memset(vec->counts, 0, sizeof vec->counts);
}

void lc_cpvec_clear(struct lc_cpvec *vec) {
    lc_cpvec_forget(vec);
    for (uint32_t i = 0; i < LC_WHATIF_MAX; i++)
        LC_SHOW(vec->whatif[i], 0);
}

void lc_cpvec_know(struct lc_cpvec *vec, const struct lc_area *areas, uint32_t n_areas) {
    vec->areas = areas;
    vec->n_areas = n_areas;
}

/* The item that takes the ticks of one that has to leave; 0: none. */
static uint64_t outer_of(const struct lc_cpvec *vec, uint64_t key) {
    uint64_t rank = (key & ~LC_CP_OUTER) >> 32;
    uint32_t outer = rank < vec->n_areas ? lc_area_outer(&vec->areas[rank], (uint32_t)key) : 0;
    return outer != 0 ? LC_CP_OUTER | rank << 32 | outer : 0;
}

/* A byte per item that says which key it cannot be: eight are compared at a time. */
static uint64_t tag_of(uint64_t key) {
    return lc_hash_key(key) >> 56;
}

static void set_key(struct lc_cpvec *vec, uint32_t i, uint64_t key) {
    uint32_t shift = i % 8 * 8;
    vec->items[i].key = key;
    vec->tags[i / 8] = (vec->tags[i / 8] & ~(0xffull << shift)) | tag_of(key) << shift;
}

static void make_tags(struct lc_cpvec *vec) {
    memset(vec->tags, 0, sizeof vec->tags);
    for (uint32_t i = 0; i < vec->n; i++)
        vec->tags[i / 8] |= tag_of(vec->items[i].key) << (i % 8 * 8);
    vec->tagged = true;
}

/* Its index; LC_CP_ITEMS: it is not there. */
static uint32_t find_item(const struct lc_cpvec *vec, uint64_t key) {
    const uint64_t ones = 0x0101010101010101ull, tops = 0x8080808080808080ull;
    uint64_t tag = tag_of(key) * ones;
    for (uint32_t word = 0; word * 8 < vec->n; word++) {
        uint64_t differ = vec->tags[word] ^ tag;
        /* the top bits of bytes that are 0, and sometimes of one above these */
        uint64_t equal = (differ - ones) & ~differ & tops;
        for (; equal != 0; equal &= equal - 1) {
            uint32_t i = word * 8 + (uint32_t)__builtin_ctzll(equal) / 8;
            if (i < vec->n && vec->items[i].key == key)
                return i;
        }
    }
    return LC_CP_ITEMS;
}

/* Of a full vector; the first of several. Four minima: no comparison waits for the one before. */
static uint32_t smallest_item(const struct lc_cpvec *vec) {
    uint64_t least[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (uint32_t i = 0; i < LC_CP_ITEMS; i += 4)
        for (uint32_t lane = 0; lane < 4; lane++) {
            /* ticks stay below 2^58 */
            uint64_t place = vec->items[i + lane].ticks * LC_CP_ITEMS + i + lane;
            least[lane] = place < least[lane] ? place : least[lane];
        }
    for (uint32_t lane = 1; lane < 4; lane++)
        least[0] = least[lane] < least[0] ? least[lane] : least[0];
    return least[0] % LC_CP_ITEMS;
}

/* The smallest item that has an outer one; LC_CP_ITEMS: none. */
static uint32_t smallest_inner(const struct lc_cpvec *vec, uint64_t *outer) {
    uint32_t found = smallest_item(vec);
    *outer = outer_of(vec, vec->items[found].key);
    if (*outer != 0)
        return found;
    found = LC_CP_ITEMS;
    for (uint32_t i = 0; i < vec->n; i++) {
        uint64_t its = found == LC_CP_ITEMS || vec->items[i].ticks < vec->items[found].ticks
                           ? outer_of(vec, vec->items[i].key)
                           : 0;
        if (its == 0)
            continue;
        found = i;
        *outer = its;
    }
    return found;
}

/* Frees a place of a full vector. Each turn moves the smallest item that can be moved further out,
 * until one meets an item that is there. What was moved stays the smallest one as long as it can be
 * moved again. */
static uint32_t free_place(struct lc_cpvec *vec) {
    uint64_t outer = 0;
    for (uint32_t victim; (victim = smallest_inner(vec, &outer)) < LC_CP_ITEMS;) {
        for (; outer != 0; outer = outer_of(vec, outer)) {
            uint32_t at = find_item(vec, outer);
            if (at < LC_CP_ITEMS) {
                vec->items[at].ticks += vec->items[victim].ticks;
                return victim;
            }
            set_key(vec, victim, outer);
        }
    }
    uint32_t smallest = smallest_item(vec);
    vec->other += vec->items[smallest].ticks;
    return smallest;
}

static void add_item(struct lc_cpvec *vec, uint64_t key, uint64_t ticks) {
    uint32_t i = vec->hints[key % LC_CP_HINTS];
    if (i < vec->n && vec->items[i].key == key) {
        vec->items[i].ticks += ticks;
        return;
    }
    if (!vec->tagged)
        make_tags(vec);
    i = find_item(vec, key);
    if (i < LC_CP_ITEMS) {
        vec->items[i].ticks += ticks;
    } else {
        i = vec->n < LC_CP_ITEMS ? vec->n++ : free_place(vec);
        set_key(vec, i, key);
        vec->items[i].ticks = ticks;
    }
    vec->hints[key % LC_CP_HINTS] = (uint8_t)i;
}

void lc_cpvec_fold(struct lc_cpvec *vec) {
    for (uint32_t i = 0; i < vec->n_recent; i++)
        add_item(vec, vec->recent[i].key, vec->recent[i].ticks);
    if (vec->n_recent > 0)
        vec->base = 0;
    vec->n_recent = 0;
}

void lc_cpvec_add_slow(struct lc_cpvec *vec, uint64_t key, uint64_t ticks) {
    if (vec->n_recent == LC_CP_RECENT)
        lc_cpvec_fold(vec);
    vec->recent[vec->n_recent++] = (struct lc_cp_item){key, ticks};
}

static uint64_t sum_of(const struct lc_cp_item *items, uint32_t n) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += items[i].ticks;
    return sum;
}

/* What a number is one of: thread << 24, and one of these. */
enum { WHOLE = 0x800000, DELTA = 0x40000000, NUMBER = 0x7fffff };

static bool is_delta(uint32_t version) {
    return (version & DELTA) != 0;
}

/* Numbers are compared as those of a circle: half of it is before a number. */
static bool is_before(uint32_t number, uint32_t since) {
    return ((number - since) & 0x7fffff) >= 0x400000;
}

static void publish_whatif(struct lc_cpvec *vec, uint32_t number, uint32_t version) {
    uint32_t since =
        (uint32_t)atomic_load_explicit(&vec->circle->whatif_since, memory_order_relaxed);
    if (((number - since) & 0x7fffff) > 0x200000) /* stays within half of the circle */
        set_since(vec, number - 0x100000);
    struct lc_whatif_version *v = &vec->published[number % vec->circle->n_whatif];
    atomic_store_explicit(&v->version, 0, memory_order_relaxed);
    /* as below: who reads new clocks reads version 0 or the new one after them */
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&v->generation, vec->generation, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < vec->n_whatif; i++)
        __atomic_store_n(&v->clocks[i], vec->whatif[i], __ATOMIC_RELAXED);
    /* release: who sees the version sees the clocks (lc_cpvec_whatif) */
    atomic_store_explicit(&v->version, version, memory_order_release);
}

static uint32_t publish_delta(struct lc_cpvec *vec) {
    uint32_t number = vec->next_delta++ & NUMBER;
    struct lc_cp_delta *d = &vec->circle->deltas[number % LC_CP_DELTAS];
    uint32_t version = vec->thread << 24 | number | WHOLE | DELTA;
    atomic_store_explicit(&d->version, 0, memory_order_relaxed);
    /* readers that see new items see version 0 or the new one */
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&d->base, vec->base, __ATOMIC_RELAXED);
    __atomic_store_n(&d->base_rank, vec->base_of->head->rank, __ATOMIC_RELAXED);
    __atomic_store_n(&d->n, vec->n_recent, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < vec->n_recent; i++) {
        __atomic_store_n(&d->items[i].key, vec->recent[i].key, __ATOMIC_RELAXED);
        __atomic_store_n(&d->items[i].ticks, vec->recent[i].ticks, __ATOMIC_RELAXED);
    }
    /* release: who sees the version sees the items (adopt_delta) */
    atomic_store_explicit(&d->version, version, memory_order_release);
    vec->borrows--;
    return version;
}

uint32_t lc_cpvec_publish(struct lc_cpvec *vec) {
    struct lc_cp_circle *circle = vec->circle;
    if (!circle)
        return 0;
    if (vec->base != 0 && vec->n_recent <= LC_CP_DELTA && vec->borrows > 0 && vec->n_whatif == 0 &&
        !vec->counting)
        return publish_delta(vec);
    lc_cpvec_fold(vec);
    uint32_t number = vec->next++ & NUMBER;
    struct lc_cp_version *v = &circle->versions[number % LC_CP_VERSIONS];
    uint32_t version = vec->thread << 24 | number | WHOLE;
    if (vec->published && vec->n_whatif > 0)
        publish_whatif(vec, number, version);
    atomic_store_explicit(&v->version, 0, memory_order_relaxed);
    /* readers that see new items see version 0 or the new one */
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&v->n, vec->n, __ATOMIC_RELAXED);
    __atomic_store_n(&v->other, vec->other, __ATOMIC_RELAXED);
    for (int i = 0; vec->counting && i < LC_CP_COUNTS; i++)
        __atomic_store_n(&v->counts[i], vec->counts[i], __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < vec->n; i++) {
        __atomic_store_n(&v->items[i].key, vec->items[i].key, __ATOMIC_RELAXED);
        __atomic_store_n(&v->items[i].ticks, vec->items[i].ticks, __ATOMIC_RELAXED);
    }
    /* release: who sees the version sees the items (lc_cpvec_adopt_slow) */
    atomic_store_explicit(&v->version, version, memory_order_release);
    atomic_store_explicit(&circle->latest, number, memory_order_relaxed);
    if (vec->mine != NULL && !vec->counting) {
        vec->base = version;
        vec->base_of = vec->mine;
        vec->base_sum = sum_of(vec->items, vec->n) + vec->other;
        vec->borrows = UINT32_MAX; /* it stays until the next whole one */
    }
    return version;
}

/* NULL: the thread that published this version has none. */
static struct lc_cp_circle *circle_of(const struct lc_area *theirs, uint32_t version) {
    uint64_t at =
        theirs && version
            ? atomic_load_explicit(&theirs->head->vectors[version >> 24 & 63], memory_order_acquire)
            : 0;
    return at ? lc_area_at(theirs, at) : NULL;
}

/* A consistent copy of a version; `expected` 0: whatever is there. */
static bool copy(struct lc_cp_version *v, uint32_t expected, struct lc_cp_item *items, uint32_t *n,
                 uint64_t *other, uint64_t counts[LC_CP_COUNTS]) {
    uint32_t is = atomic_load_explicit(&v->version, memory_order_acquire);
    if (!is || (expected && is != expected))
        return false;
    uint32_t count = __atomic_load_n(&v->n, __ATOMIC_RELAXED);
    if (count > LC_CP_ITEMS)
        return false;
    *other = __atomic_load_n(&v->other, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
        items[i].key = __atomic_load_n(&v->items[i].key, __ATOMIC_RELAXED);
        items[i].ticks = __atomic_load_n(&v->items[i].ticks, __ATOMIC_RELAXED);
    }
    for (int i = 0; i < LC_CP_COUNTS; i++)
        counts[i] = __atomic_load_n(&v->counts[i], __ATOMIC_RELAXED);
    /* the items are read before the version is read again */
    atomic_thread_fence(memory_order_acquire);
    *n = count;
    return atomic_load_explicit(&v->version, memory_order_relaxed) == is;
}

void lc_cpvec_adopt_items(struct lc_cpvec *vec, const struct lc_cp_item *items, uint32_t n,
                          uint64_t useful) {
    if (n > LC_CP_ITEMS)
        n = LC_CP_ITEMS;
    if (items != vec->items && n > 0)
        memcpy(vec->items, items, n * sizeof *items);
    vec->n = n;
    vec->tagged = false;
    vec->n_recent = 0;
    vec->base = 0;
    uint64_t sum = sum_of(vec->items, n);
    if (sum > useful && sum > 0) /* a later version of the same thread: scaled to this clock */
        for (uint32_t i = 0; i < n; i++)
            vec->items[i].ticks =
                (uint64_t)((double)vec->items[i].ticks * (double)useful / (double)sum);
    sum = sum_of(vec->items, n);
    vec->other = useful > sum ? useful - sum : 0;
}

/* The items become this whole version, and `base` with it; false: it is not there any more, and
 * nothing is as it was. */
static bool take_whole(struct lc_cpvec *vec, const struct lc_area *of, uint32_t version) {
    struct lc_cp_circle *circle = circle_of(of, version);
    if (circle == NULL || is_delta(version))
        return false;
    struct lc_cp_version *v = &circle->versions[version % LC_CP_VERSIONS];
    vec->base = 0;
    vec->tagged = false;
    if (!copy(v, version, vec->items, &vec->n, &vec->other, vec->counts))
        return false;
    vec->n_recent = 0;
    vec->base = version;
    vec->base_of = of;
    vec->base_sum = sum_of(vec->items, vec->n) + vec->other;
    vec->borrows = LC_CP_BORROWED;
    return true;
}

/* A consistent copy of a delta; false: it is not there any more. */
static bool copy_delta(const struct lc_area *theirs, uint32_t version, struct lc_cp_delta *to) {
    struct lc_cp_circle *circle = circle_of(theirs, version);
    if (circle == NULL)
        return false;
    struct lc_cp_delta *d = &circle->deltas[version % LC_CP_DELTAS];
    uint32_t is = atomic_load_explicit(&d->version, memory_order_acquire);
    if (is != version)
        return false;
    to->base = __atomic_load_n(&d->base, __ATOMIC_RELAXED);
    to->base_rank = __atomic_load_n(&d->base_rank, __ATOMIC_RELAXED);
    to->n = __atomic_load_n(&d->n, __ATOMIC_RELAXED);
    if (to->n > LC_CP_DELTA)
        return false;
    for (uint32_t i = 0; i < to->n; i++) {
        to->items[i].key = __atomic_load_n(&d->items[i].key, __ATOMIC_RELAXED);
        to->items[i].ticks = __atomic_load_n(&d->items[i].ticks, __ATOMIC_RELAXED);
    }
    /* the items are read before the version is read again */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&d->version, memory_order_relaxed) == version;
}

/* The area of a rank of this node. NULL: not known. */
static const struct lc_area *area_of(const struct lc_cpvec *vec, const struct lc_area *theirs,
                                     uint32_t rank) {
    if (rank == theirs->head->rank)
        return theirs;
    return rank < vec->n_areas && vec->areas[rank].head != NULL ? &vec->areas[rank] : NULL;
}

/* False: it is not there any more; *of and *base: where there may be another whole one. */
static bool take_delta(struct lc_cpvec *vec, const struct lc_area *theirs, uint32_t version,
                       const struct lc_area **of, uint32_t *base) {
    struct lc_cp_delta d;
    if (!copy_delta(theirs, version, &d))
        return false;
    const struct lc_area *whole = area_of(vec, theirs, d.base_rank);
    if (whole == NULL)
        return false;
    *of = whole;
    *base = d.base;
    bool has_it = vec->base != 0 && vec->base == d.base && vec->base_of->head->rank == d.base_rank;
    if (!has_it && !take_whole(vec, whole, d.base))
        return false;
    memcpy(vec->recent, d.items, d.n * sizeof *d.items);
    vec->n_recent = d.n;
    return true;
}

void lc_cpvec_adopt_slow(struct lc_cpvec *vec, const struct lc_area *theirs,
                         const struct lc_stamp *stamp) {
    const struct lc_area *of = theirs;
    uint32_t version = stamp->vector;
    bool exact = is_delta(version) ? take_delta(vec, theirs, version, &of, &version)
                                   : take_whole(vec, theirs, version);
    struct lc_cp_circle *circle = exact ? NULL : circle_of(of, version);
    if (!exact) {
        vec->n = vec->n_recent = 0;
        vec->other = 0;
    }
    if (circle != NULL) {
        vec->n_overwritten++;
        uint32_t latest = atomic_load_explicit(&circle->latest, memory_order_relaxed);
        if (!copy(&circle->versions[latest % LC_CP_VERSIONS], 0, vec->items, &vec->n, &vec->other,
                  vec->counts))
            vec->n = 0;
    }
    uint64_t sum = sum_of(vec->items, vec->n) + sum_of(vec->recent, vec->n_recent) + vec->other;
    double part = sum > stamp->useful ? (double)stamp->useful / (double)sum : 1;
    for (int i = 0; i < LC_CP_COUNTS; i++)
        vec->counts[i] = vec->n > 0 || exact ? (uint64_t)((double)vec->counts[i] * part) : 0;
    if (!exact || sum > stamp->useful) {
        lc_cpvec_fold(vec);
        lc_cpvec_adopt_items(vec, vec->items, vec->n, stamp->useful);
        return;
    }
    if (vec->counting)
        vec->base = 0;
    if (stamp->useful > sum)
        lc_cpvec_add(vec, (uint64_t)theirs->head->rank << 32 | stamp->node, stamp->useful - sum);
}

void lc_cpvec_keep(struct lc_cpvec *vec, struct lc_cp_kept *kept) {
    lc_cpvec_fold(vec);
    kept->n = vec->n;
    memcpy(kept->items, vec->items, vec->n * sizeof *kept->items);
}

/* What the item has more than it had. */
static uint64_t more_than(const struct lc_cp_kept *kept, const struct lc_cp_item *item) {
    for (uint32_t i = 0; i < kept->n; i++)
        if (kept->items[i].key == item->key)
            return item->ticks > kept->items[i].ticks ? item->ticks - kept->items[i].ticks : 0;
    return item->ticks;
}

uint64_t lc_cpvec_spread(struct lc_cpvec *vec, const struct lc_cp_kept *kept) {
    uint64_t more[LC_CP_ITEMS], all = 0, unknown = 0, left;
    uint32_t at = 0;
    lc_cpvec_fold(vec);
    for (uint32_t i = 0; i < vec->n; i++) {
        bool is_known = vec->items[i].key != LC_CP_UNKNOWN;
        more[i] = is_known ? more_than(kept, &vec->items[i]) : 0;
        all += more[i];
        if (!is_known) {
            unknown = vec->items[i].ticks;
            at = i;
        }
    }
    left = unknown;
    for (uint32_t i = 0; i < vec->n && all > 0; i++) {
        uint64_t its = (uint64_t)((double)unknown * (double)more[i] / (double)all);
        its = its < left ? its : left;
        vec->items[i].ticks += its;
        left -= its;
    }
    if (unknown > 0) {
        vec->items[at] = vec->items[--vec->n];
        vec->other += left;
        vec->tagged = false;
        vec->base = 0;
    }
    return all;
}

static bool copy_whatif(struct lc_whatif_version *all, uint32_t n_all, uint32_t version,
                        uint64_t *clocks, uint32_t n, uint32_t *generation) {
    struct lc_whatif_version *v = &all[(version & 0x7fffff) % n_all];
    if (!version || atomic_load_explicit(&v->version, memory_order_acquire) != version)
        return false;
    *generation = __atomic_load_n(&v->generation, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n; i++)
        clocks[i] = __atomic_load_n(&v->clocks[i], __ATOMIC_RELAXED);
    /* the clocks are read before the version is read again */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&v->version, memory_order_relaxed) == version;
}

bool lc_cpvec_whatif_then(const struct lc_cpvec *vec, uint32_t version, uint64_t *clocks,
                          uint32_t *generation) {
    if (!vec->published)
        return false;
    bool had_none = is_delta(version);
    if (!had_none && copy_whatif(vec->published, vec->circle->n_whatif, version, clocks,
                                 vec->n_whatif, generation))
        return true;
    uint32_t since =
        (uint32_t)atomic_load_explicit(&vec->circle->whatif_since, memory_order_relaxed);
    if (vec->generation == 0 || (!had_none && !is_before(version, since)))
        return false;
    memset(clocks, 0, vec->n_whatif * sizeof *clocks); /* it had none, or those of long ago */
    *generation = 0;
    return true;
}

bool lc_cpvec_whatif_read(const struct lc_area *theirs, uint32_t version, uint32_t n,
                          uint64_t *clocks, uint32_t *generation) {
    const struct lc_cp_circle *circle = is_delta(version) ? NULL : circle_of(theirs, version);
    return circle != NULL && circle->whatif != 0 &&
           copy_whatif(lc_area_at(theirs, circle->whatif), circle->n_whatif, version, clocks, n,
                       generation);
}

void lc_cpvec_whatif(struct lc_cpvec *vec, const struct lc_area *theirs, uint32_t version) {
    uint64_t clocks[LC_WHATIF_MAX] = {0};
    uint32_t generation = 0;
    if (is_delta(version)) /* of before its what-if clocks began, or when they had ended */
        return;
    const struct lc_cp_circle *circle = circle_of(theirs, version);
    if (circle) {
        uint64_t since = atomic_load_explicit(&circle->whatif_since, memory_order_relaxed);
        uint32_t theirs_is = (uint32_t)(since >> 32);
        if (theirs_is < vec->generation ||
            (theirs_is == vec->generation && is_before(version, (uint32_t)since)))
            return;
    }
    if (!lc_cpvec_whatif_read(theirs, version, vec->n_whatif, clocks, &generation) ||
        generation > vec->generation) {
        vec->n_whatif_lost++;
        return;
    }
    if (generation == vec->generation)
        lc_cpvec_whatif_take(vec, clocks);
}

static int by_ticks(const void *a, const void *b) {
    uint64_t x = ((const struct lc_cp_item *)a)->ticks, y = ((const struct lc_cp_item *)b)->ticks;
    return (x < y) - (x > y);
}

uint32_t lc_cpvec_pack(struct lc_cpvec *vec, struct lc_cp_item *items, uint32_t room) {
    lc_cpvec_fold(vec);
    if (vec->n <= room) {
        memcpy(items, vec->items, vec->n * sizeof *items);
        return vec->n;
    }
    struct lc_cp_item sorted[LC_CP_ITEMS];
    memcpy(sorted, vec->items, vec->n * sizeof *sorted);
    qsort(sorted, vec->n, sizeof *sorted, by_ticks);
    memcpy(items, sorted, room * sizeof *items);
    return room;
}
