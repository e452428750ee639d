#include "piggyback/portions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Where the class is, or would be. */
static uint32_t place_of(const struct lc_portion_table *table, uint32_t node, uint32_t call) {
    uint32_t at = (uint32_t)(lc_hash_key((uint64_t)node << 32 | call) >> 32) % LC_PORTION_CLASSES;
    while (table->classes[at].node != 0 &&
           (table->classes[at].node != node || table->classes[at].call != call))
        at = (at + 1) % LC_PORTION_CLASSES;
    return at;
}

const struct lc_portions *lc_portions_find(const struct lc_portion_table *table, uint32_t node,
                                           uint32_t call) {
    const struct lc_portions *found = &table->classes[place_of(table, node, call)];
    return node != 0 && found->node != 0 ? found : NULL;
}

struct lc_portions *lc_portions_of(struct lc_portion_table *table, uint32_t node, uint32_t call) {
    if (node == 0)
        return NULL;
    uint32_t at = place_of(table, node, call);
    if (table->classes[at].node != 0)
        return &table->classes[at];
    if (table->n >= LC_PORTION_CLASSES / 2) {
        table->n_lost++;
        return NULL;
    }
    table->n++;
    table->classes[at] = (struct lc_portions){.node = node, .call = call};
    return &table->classes[at];
}

const struct lc_portion_sum *lc_portion_sums_find(const struct lc_portion_sums *sums,
                                                  uint64_t key) {
    for (uint32_t i = 0; i < sums->n; i++)
        if (sums->list[i].key == key)
            return &sums->list[i];
    return NULL;
}

/* The longest first, then by key: an order that is the same on all ranks. */
static int compare_sums(const void *a, const void *b) {
    const struct lc_portion_sum *x = a, *y = b;
    if (x->longest_ns != y->longest_ns)
        return x->longest_ns < y->longest_ns ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

static void join(struct lc_portion_sum *sum, const struct lc_portion_sum *other) {
    bool longer = other->longest_ns > sum->longest_ns ||
                  (other->longest_ns == sum->longest_ns && other->longest_rank < sum->longest_rank);
    sum->longest_rank = longer ? other->longest_rank : sum->longest_rank;
    sum->longest_ns = longer ? other->longest_ns : sum->longest_ns;
    sum->ns += other->ns;
    sum->n += other->n;
    sum->n_ranks += other->n_ranks;
    sum->critical_ns += other->critical_ns;
}

void lc_portion_sums_merge(struct lc_portion_sums *sums, const struct lc_portion_sums *other) {
    struct lc_portion_sum all[2 * LC_PORTION_SUMS];
    uint32_t n = sums->n;
    memcpy(all, sums->list, n * sizeof *all);
    for (uint32_t i = 0; i < other->n; i++) {
        uint32_t at = 0;
        while (at < n && all[at].key != other->list[i].key)
            at++;
        if (at < n)
            join(&all[at], &other->list[i]);
        else
            all[n++] = other->list[i];
    }
    qsort(all, n, sizeof *all, compare_sums);
    sums->n = n < LC_PORTION_SUMS ? n : LC_PORTION_SUMS;
    memcpy(sums->list, all, sums->n * sizeof *all);
    sums->unable |= other->unable;
    sums->most_ppm = other->most_ppm > sums->most_ppm ? other->most_ppm : sums->most_ppm;
    sums->least_ns = other->least_ns > sums->least_ns ? other->least_ns : sums->least_ns;
    sums->late_ns += other->late_ns;
    sums->clock_ns = other->clock_ns > sums->clock_ns ? other->clock_ns : sums->clock_ns;
    sums->n_lost += other->n_lost;
}

void lc_portion_sums_add(struct lc_portion_sums *sums, const struct lc_portion_sum *sum) {
    const struct lc_portion_sums one = {.n = 1, .list = {*sum}};
    lc_portion_sums_merge(sums, &one);
}

static uint64_t gain_of(const struct lc_portion_sums *sums, const struct lc_portion_sum *sum,
                        uint32_t n_ranks) {
    uint64_t even = sum->ns / n_ranks, others = (sum->ns - sum->longest_ns) / (n_ranks - 1);
    uint64_t critical = sum->critical_ns < sums->clock_ns ? sum->critical_ns : sums->clock_ns;
    uint64_t spread = critical > even ? critical - even : 0;
    uint64_t excess = sum->longest_ns > others ? sum->longest_ns - others : 0;
    return spread > excess ? spread : excess;
}

static int compare_paths(const void *a, const void *b) {
    const struct lc_scenario_path *x = a, *y = b;
    if (x->gain_ns != y->gain_ns)
        return x->gain_ns < y->gain_ns ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

uint32_t lc_scenario_paths(const struct lc_portion_sums *sums, uint32_t n_ranks,
                           struct lc_scenario_path paths[LC_PORTION_SUMS]) {
    uint32_t n = 0;
    for (uint32_t i = 0; n_ranks > 1 && i < sums->n; i++) {
        const struct lc_portion_sum *sum = &sums->list[i];
        uint64_t gain = gain_of(sums, sum, n_ranks);
        if (sum->key == sum->of && gain > 0 && gain >= sums->least_ns)
            paths[n++] = (struct lc_scenario_path){sum->key, sum->longest_rank, gain};
    }
    qsort(paths, n, sizeof *paths, compare_paths);
    return n;
}

bool lc_scenario_is_chain(const struct lc_portion_sums *sums, const struct lc_portion_sum *sum,
                          uint32_t n_ranks) {
    return n_ranks > 2 && sum->critical_ns <= sums->clock_ns &&
           sum->critical_ns > sum->ns / 10 * 9 && sum->longest_ns < sum->ns / 10 * 6;
}

static bool matters(const struct lc_portion_sum *sum, const struct lc_portion_sum *path) {
    return sum->of == path->key && sum->key != path->key && lc_portions_matter(sum->ns, path->ns);
}

uint32_t lc_portion_peers(const struct lc_portion_sums *sums, uint64_t key, uint64_t of,
                          uint32_t n_ranks, uint64_t keys[LC_PORTION_SUMS]) {
    const struct lc_portion_sum *own = lc_portion_sums_find(sums, key);
    const struct lc_portion_sum *path = lc_portion_sums_find(sums, of);
    bool everywhere = true;
    uint32_t n = 0;
    if (own == NULL || path == NULL || !matters(own, path))
        return 0;
    for (uint32_t i = 0; i < sums->n; i++)
        if (matters(&sums->list[i], path)) {
            everywhere &= sums->list[i].n_ranks == n_ranks;
            keys[n++] = sums->list[i].key;
        }
    if (!everywhere)
        return n;
    keys[0] = key;
    return 1;
}

uint64_t lc_portion_instead(struct lc_portion_mean all, struct lc_portion_mean own,
                            enum lc_scenario scenario) {
    if (scenario == LC_SCENARIO_CHAIN)
        return 0;
    if (scenario == LC_SCENARIO_LATE) {
        all.ns = all.ns > own.ns ? all.ns - own.ns : 0;
        all.n = all.n > own.n ? all.n - own.n : 0;
    }
    return all.n > 0 ? all.ns / all.n : 0;
}

static double between(double low, double value, double high) {
    return value < low ? low : value > high ? high : value;
}

bool lc_scenario_predict(const struct lc_scenario_seen *seen, struct lc_scenario_gain *gain) {
    if (seen->seen <= 0 || seen->unseen > seen->seen)
        return false;
    /* at the same time the work of a chain takes what one rank needs for its own */
    double without = seen->gain - seen->even, error = seen->error + seen->uneven;
    double found = without > 0 ? without : 0;
    double low = found - error + seen->rest_least, high = found + error + seen->rest_most;
    gain->low = seen->lost || low < 0 ? 0 : low;
    gain->high = high > 0 ? high : 0;
    gain->gain = found + seen->too_long + between(seen->rest_least, seen->rest, seen->rest_most);
    gain->gain = between(0, gain->gain, gain->high);
    return true;
}
