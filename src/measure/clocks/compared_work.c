#include "measure/clocks/compared_work.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/binomial.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/timer.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/intervals.h"
#include "measure/clocks/records.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"

enum { TAG = 0x4c34 };
#define PATIENCE_NS UINT64_C(2000000000) /* for a rank that has just been at the same point */

struct lc_compared lc_compared;
static uint64_t *calls; /* by node of an MPI function: hash of its path */
static size_t n_calls, cap_calls;

void lc_clk_compared_init(void) {
    if (lc_compared.n > 0)
        return;
    lc_compared.table = calloc(1, sizeof *lc_compared.table);
    lc_compared.keys = calloc(LC_PORTION_CLASSES, sizeof *lc_compared.keys);
    if (lc_compared.table != NULL && lc_compared.keys != NULL)
        lc_compared.n = LC_PORTION_CLASSES;
}

/* Functions found by samples belong to the call path that is exact. */
static uint32_t exact_node(uint32_t node) {
    const struct lc_state_node *nodes = lc_state_nodes();
    while (node != LC_NONE && lc_raw_is_sampled(nodes[node].kind))
        node = nodes[node].parent;
    return node;
}

static void know_keys(void) {
    for (uint32_t i = 0; i < lc_compared.n; i++) {
        const struct lc_portions *p = &lc_compared.table->classes[i];
        if (p->node == 0 || lc_compared.keys[i].of != 0)
            continue;
        lc_compared.keys[i].of = lc_clk_path_hash(p->node);
        lc_compared.keys[i].call = p->call != 0 ? lc_clk_path_hash(p->call) : 0;
        lc_compared.keys[i].key = lc_hash_word(lc_compared.keys[i].of, lc_compared.keys[i].call);
    }
    const struct lc_state_node *nodes = lc_state_nodes();
    uint32_t n = atomic_load_explicit(&lc_core.state->nodes.count, memory_order_acquire);
    if (lc_grow(&calls, &cap_calls, n, sizeof *calls) != LC_OK)
        return;
    for (; n_calls < n; n_calls++)
        calls[n_calls] =
            nodes[n_calls].kind == LC_RAW_MPI ? lc_clk_path_hash((uint32_t)n_calls) : 0;
}

/* Has this rank been there, if only for portions that are too short to be counted? */
static bool has_called(uint64_t call) {
    for (size_t i = 0; i < n_calls; i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* The keys first: they lie close together. */
static bool has_key(uint32_t i, uint64_t key) {
    return (lc_compared.keys[i].of == key || lc_compared.keys[i].key == key) &&
           lc_compared.table->classes[i].node != 0;
}

static uint64_t own_ticks(uint64_t key) {
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < lc_compared.n; i++)
        if (has_key(i, key))
            ticks += lc_compared.table->classes[i].ticks;
    return ticks;
}

uint64_t lc_clk_own_sum(uint64_t key, uint64_t *n) {
    uint64_t ticks = own_ticks(key);
    *n = 0;
    for (uint32_t i = 0; i < lc_compared.n; i++)
        if (has_key(i, key) && lc_portions_matter(lc_compared.table->classes[i].ticks, ticks))
            *n += lc_compared.table->classes[i].n;
    return lc_clk_ns_of(ticks);
}

/* Of this rank's work, what is on the critical path in this call path. */
static uint64_t critical_ns(struct lc_clk_thread *k, uint64_t of) {
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < k->l.vec.n; i++) {
        const struct lc_cp_item *item = &k->l.vec.items[i];
        if (item->key >> 32 == lc_clk.rank &&
            lc_clk_path_hash(exact_node((uint32_t)item->key)) == of)
            ticks += item->ticks;
    }
    return lc_clk_ns_of(ticks);
}

/* ids: key, of, call */
static void add_own(struct lc_portion_sums *sums, const struct lc_portion_sum *ids,
                    uint64_t critical) {
    struct lc_portion_sum sum = {
        .key = ids->key, .of = ids->of, .call = ids->call, .critical_ns = critical};
    sum.ns = sum.longest_ns = lc_clk_own_sum(ids->key, &sum.n);
    sum.longest_rank = lc_clk.rank;
    sum.n_ranks = sum.n > 0 || (ids->call != 0 && has_called(ids->call));
    lc_portion_sums_add(sums, &sum);
}

/* Has an instant passed? Lets others run now and then. */
static bool is_over(uint64_t until_ns, uint32_t *looks) {
    if (++*looks % 64 == 0)
        sched_yield();
    return lc_patience_ns() > until_ns;
}

/* False: nothing came in time. */
static bool receive(void *data, int bytes, int from) {
    uint64_t until_ns = lc_patience_ns() + PATIENCE_NS;
    uint32_t looks = 0;
    int there = 0;
    while (!there)
        if (lc_real.Iprobe(from, TAG, lc_core.comm, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            (!there && is_over(until_ns, &looks)))
            return false;
    return lc_real.Recv(data, bytes, MPI_BYTE, from, TAG, lc_core.comm, MPI_STATUS_IGNORE) ==
           MPI_SUCCESS;
}

/* False: it is not sent yet, and this is the last time that a rank sends. */
static bool send(const void *data, int bytes, int to) {
    static struct lc_portion_sums kept;
    uint64_t until_ns = lc_patience_ns() + PATIENCE_NS;
    uint32_t looks = 0;
    MPI_Request request;
    int done = 0;
    memcpy(&kept, data, (size_t)bytes);
    if (lc_real.Isend(&kept, bytes, MPI_BYTE, to, TAG, lc_core.comm, &request) != MPI_SUCCESS)
        return false;
    while (!done)
        if (lc_real.Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            (!done && is_over(until_ns, &looks)))
            return false;
    return true;
}

bool lc_clk_tell_all(void *data, int bytes) {
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    int peer;
    bool whole = lc_core.rank == 0 || receive(data, bytes, lc_binomial_parent(lc_core.rank));
    while (whole && lc_binomial_next(&tree, &peer) == LC_BINOMIAL_CHILD)
        whole = send(data, bytes, peer);
    return whole;
}

bool lc_clk_share_sums(struct lc_portion_sums *sums) {
    struct lc_portion_sums other;
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    enum lc_binomial_step step;
    int peer;
    while ((step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD) {
        if (!receive(&other, (int)sizeof other, peer))
            return false;
        lc_portion_sums_merge(sums, &other);
    }
    return (step != LC_BINOMIAL_PARENT || send(sums, (int)sizeof *sums, peer)) &&
           lc_clk_tell_all(sums, (int)sizeof *sums);
}

void lc_clk_longest_work(const struct lc_clk_thread *k, struct lc_portion_sums *longest) {
    const uint32_t n = k == lc_clk.threads ? lc_compared.n : 0; /* another one has none */
    if (n > 0)
        know_keys();
    for (uint32_t i = 0; i < n; i++) {
        const struct lc_class_keys *keys = &lc_compared.keys[i];
        if (keys->of == 0 || lc_clk_ns_of(own_ticks(keys->of)) * 2 < longest->least_ns)
            continue;
        struct lc_portion_sum ids = {.key = keys->of, .of = keys->of};
        if (lc_portion_sums_find(longest, ids.key) == NULL)
            add_own(longest, &ids, 0);
        ids.key = keys->key;
        ids.call = keys->call;
        add_own(longest, &ids, 0);
    }
}

void lc_clk_work_in(struct lc_clk_thread *k, const struct lc_portion_sums *longest,
                    struct lc_portion_sums *all) {
    lc_clk_own_lock(k);
    lc_cpvec_fold(&k->l.vec);
    for (uint32_t i = 0; i < longest->n && k == lc_clk.threads && lc_compared.n > 0; i++) {
        const struct lc_portion_sum *ids = &longest->list[i];
        add_own(all, ids, ids->key == ids->of ? critical_ns(k, ids->of) : 0);
    }
    lc_clk_own_unlock(k);
}

/* First the longest of each rank, then what all ranks worked in these. */
bool lc_clk_compare_work(struct lc_clk_thread *k, struct lc_portion_sums *head) {
    struct lc_portion_sums longest = {.least_ns = head->least_ns};
    lc_clk_longest_work(k, &longest);
    if (!lc_clk_share_sums(&longest))
        return false;
    lc_clk_work_in(k, &longest, head);
    return lc_clk_share_sums(head);
}

/* ---- where clocks lag behind the program */

#define SUMS_MARK (0x73756d73ull << 32) /* | number << 1 | 1 on the way down */
enum {
    SUMS_HEAD = offsetof(struct lc_portion_sums, list) / sizeof(uint64_t),
    SUM_WORDS = sizeof(struct lc_portion_sum) / sizeof(uint64_t)
};
_Static_assert(1 + SUMS_HEAD + LC_PORTION_SUMS * SUM_WORDS <= LC_PART_WORDS, "a part of a packet");

/* By number; made when this rank or one of its children adds the first sums. */
static struct shared {
    struct lc_portion_sums sums; /* so far; `come`: of all ranks */
    uint32_t children;           /* bits, in the order of the tree: theirs are added */
    bool own, sent, come, dropped;
} * shared[LC_SUMS_SHARED];

static struct shared *shared_of(uint32_t number) {
    if (number < LC_SUMS_SHARED && shared[number] == NULL)
        shared[number] = calloc(1, sizeof **shared);
    return number < LC_SUMS_SHARED ? shared[number] : NULL;
}

static void send_sums(uint32_t number, const struct shared *s, bool down, int rank) {
    uint64_t words[LC_PART_WORDS];
    uint32_t n = SUMS_HEAD + s->sums.n * SUM_WORDS;
    words[0] = SUMS_MARK | number << 1 | down;
    memcpy(words + 1, &s->sums, n * sizeof *words);
    if (!lc_clk_packet_add((uint32_t)rank, LC_PART_SHADOW, words, 1 + n))
        lc_clk.counts.skipped++;
}

/* Sends what can be sent. */
static void share_on(uint32_t number) {
    struct shared *s = shared[number];
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    enum lc_binomial_step step;
    int peer;
    uint32_t all = 0;
    for (uint32_t bit = 1; (step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD; bit *= 2)
        all |= bit;
    if (s->own && s->children == all && !s->sent) {
        s->sent = true;
        if (step == LC_BINOMIAL_PARENT)
            send_sums(number, s, false, peer);
        else
            s->come = true;
    }
    if (!s->come)
        return;
    tree = lc_binomial_of(lc_core.rank, lc_core.size);
    while (s->sent && lc_binomial_next(&tree, &peer) == LC_BINOMIAL_CHILD)
        send_sums(number, s, true, peer);
    s->sent = false; /* that was all */
    if (s->dropped)
        lc_clk_sums_drop(number);
}

void lc_clk_sums_give(uint32_t number, const struct lc_portion_sums *sums) {
    struct shared *s = shared_of(number);
    if (s == NULL || s->own)
        return;
    s->own = true;
    lc_portion_sums_merge(&s->sums, sums);
    share_on(number);
}

const struct lc_portion_sums *lc_clk_sums_get(uint32_t number) {
    const struct shared *s = number < LC_SUMS_SHARED ? shared[number] : NULL;
    return s != NULL && s->come ? &s->sums : NULL;
}

void lc_clk_sums_drop(uint32_t number) {
    struct shared *s = number < LC_SUMS_SHARED ? shared[number] : NULL;
    if (s == NULL)
        return;
    s->dropped = true;
    if (!s->come)
        return;
    free(s);
    shared[number] = NULL;
}

bool lc_clk_sums_is(const uint64_t *words, uint32_t n) {
    return n >= 1 + SUMS_HEAD && words[0] >> 32 == SUMS_MARK >> 32;
}

void lc_clk_sums_part(uint32_t source, const uint64_t *words, uint32_t n) {
    uint32_t number = (uint32_t)words[0] >> 1;
    struct lc_portion_sums sums = {0};
    struct shared *s = shared_of(number);
    memcpy(&sums, words + 1, SUMS_HEAD * sizeof *words);
    if (s == NULL || s->come || sums.n > LC_PORTION_SUMS || n != 1 + SUMS_HEAD + sums.n * SUM_WORDS)
        return;
    memcpy(sums.list, words + 1 + SUMS_HEAD, sums.n * sizeof *sums.list);
    if (words[0] & 1) {
        s->sums = sums;
        s->come = s->sent = true;
    } else {
        struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
        uint32_t bit = 1;
        int peer;
        while (lc_binomial_next(&tree, &peer) == LC_BINOMIAL_CHILD && peer != (int)source)
            bit *= 2;
        s->children |= bit;
        lc_portion_sums_merge(&s->sums, &sums);
    }
    share_on(number);
}

struct lc_work lc_clk_work_of_all(const struct lc_portion_sums *sums, uint64_t key) {
    const struct lc_portion_sum *sum = lc_portion_sums_find(sums, key);
    struct lc_work all = {0};
    if (sum != NULL) {
        all.ns = sum->ns;
        all.n = sum->n;
        all.critical_ns = sum->critical_ns < sums->clock_ns ? sum->critical_ns : sums->clock_ns;
    }
    return all;
}

struct lc_work lc_clk_work_of_rank(struct lc_clk_thread *k, uint64_t key) {
    struct lc_work own = {.critical_ns = critical_ns(k, key)};
    own.ns = lc_clk_own_sum(key, &own.n);
    return own;
}
