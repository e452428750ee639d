/* Call sites in the trace: the addresses from which one function of a call path called the next. A
 * node of the call tree can have several; each pair (node, site) is defined once, when a call with
 * it is first seen. The table is behind lc_core.lock. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "measure/core/core.h"
#include "measure/callpath/entry.h"
#include "measure/trace/definitions.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_sites.h"

enum { SITES_MAX = 1 << 20 };

struct pair {
    uint32_t site, node;
};

static struct pair *pairs;
static size_t n_pairs, cap_pairs;
static struct lc_lookup pair_of;

/* true: seen for the first time. */
static bool add(uint32_t node, uint32_t site) {
    uint64_t hash = site ^ (uint64_t)node << 32;
    if (LC_LOOKUP(&pair_of, hash, i, pairs[i].site == site && pairs[i].node == node) != LC_NONE)
        return false;
    if (n_pairs >= SITES_MAX || lc_grow(&pairs, &cap_pairs, n_pairs + 1, sizeof *pairs) != LC_OK ||
        lc_lookup_add(&pair_of, hash, (uint32_t)n_pairs) != LC_OK)
        return false;
    pairs[n_pairs++] = (struct pair){site, node};
    return true;
}

void lc_trace_sites(const struct lc_entry *entry) {
    if (lc_tracing.area == NULL || entry->path == NULL)
        return;
    for (uint32_t i = 0; i < entry->n_items; i++) {
        uint32_t site = entry->items[i].site;
        uint32_t node = i + 1 < entry->n_items ? entry->items[i + 1].node : entry->path->node;
        if (site == 0 || site == LC_SITE_UNKNOWN || node == 0 || node == entry->items[i].node)
            continue;
        const struct lc_trace_site definition = {node, 0, site};
        pthread_mutex_lock(&lc_core.lock);
        bool first = add(node, site);
        pthread_mutex_unlock(&lc_core.lock);
        if (first)
            lc_trace_define(LC_DEF_SITE, &definition, sizeof(definition), NULL, 0);
    }
}
