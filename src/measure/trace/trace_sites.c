/* Call sites in the trace: the addresses from which one function of a call path called the next. A
 * node of the call tree can have several; each pair (node, site) is defined once, when a call with
 * it is first seen. The table is behind lc_core.lock. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "measure/core.h"
#include "measure/paths/entry.h"
#include "measure/paths/modules.h"
#include "measure/trace/definitions.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_sites.h"

enum { SITES_MAX = 1 << 20 };

struct pair {
    uint64_t site; /* 0: free */
    uint32_t node;
};

static struct pair *pairs;
static size_t n_pairs, mask;

static size_t slot_of(const struct pair *table, size_t table_mask, uint32_t node, uint64_t site) {
    size_t i = (size_t)(lc_hash_key(site ^ (uint64_t)node << 32) >> 20) & table_mask;
    while (table[i].site != 0 && (table[i].site != site || table[i].node != node))
        i = (i + 1) & table_mask;
    return i;
}

static bool grow(void) {
    size_t wider = mask ? 2 * mask + 1 : 1023;
    struct pair *table = calloc(wider + 1, sizeof(*table));
    if (table == NULL)
        return false;
    for (size_t i = 0; pairs != NULL && i <= mask; i++)
        if (pairs[i].site != 0)
            table[slot_of(table, wider, pairs[i].node, pairs[i].site)] = pairs[i];
    free(pairs);
    pairs = table;
    mask = wider;
    return true;
}

/* true: seen for the first time. */
static bool add(uint32_t node, uint64_t site) {
    if (n_pairs >= SITES_MAX || (2 * n_pairs >= mask && !grow()))
        return false;
    struct pair *at = &pairs[slot_of(pairs, mask, node, site)];
    if (at->site != 0)
        return false;
    *at = (struct pair){site, node};
    n_pairs++;
    return true;
}

void lc_trace_sites(const struct lc_entry *entry) {
    if (lc_tracing.area == NULL || entry->path == NULL)
        return;
    for (uint32_t i = 0; i < entry->n_items; i++) {
        uint64_t site = entry->items[i].site;
        uint32_t node = i + 1 < entry->n_items ? entry->items[i + 1].node : entry->path->node;
        if (site == 0 || node == 0 || node == entry->items[i].node)
            continue;
        pthread_mutex_lock(&lc_core.lock);
        const struct lc_module *m = add(node, site) ? lc_module_find(site) : NULL;
        const struct lc_trace_site definition = {node, 0, m != NULL ? site - m->bias : 0};
        pthread_mutex_unlock(&lc_core.lock);
        if (m != NULL)
            lc_trace_define(LC_DEF_SITE, &definition, sizeof(definition), NULL, 0);
    }
}
