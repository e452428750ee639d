#include "base/hash.h"
#include "measure/core/core.h"
#include "measure/callpath/call_sites.h"
#include "measure/callpath/entry.h"
#include "measure/core/thread.h"

#include <stdlib.h>
#include <string.h>

/* Open hashing of fixed size; what finds no room within a few steps is left out: the pairs that
 * matter come often, so they were there early. */
enum { LC_SITES = 4096, LC_SITE_STEPS = 16 };

struct lc_site_pair {
    uint64_t ticks;
    uint32_t from, to, node; /* to 0: empty */
};

struct lc_sites {
    struct lc_site_pair pairs[LC_SITES];
};

static void add(struct lc_sites *sites, uint32_t node, uint32_t from, uint32_t to, uint64_t ticks) {
    uint64_t hash = lc_hash_key(node ^ (uint64_t)from << 20 ^ (uint64_t)to << 32) >> 40;
    for (uint32_t i = 0; i < LC_SITE_STEPS; i++) {
        struct lc_site_pair *p = &sites->pairs[(hash + i) % LC_SITES];
        if (p->to == 0)
            *p = (struct lc_site_pair){.from = from, .to = to, .node = node};
        if (p->node == node && p->from == from && p->to == to) {
            p->ticks += ticks;
            return;
        }
    }
}

void lc_sites_take(struct lc_thread *t, struct lc_entry *e, int slot) {
    const struct lc_entry *last = e->previous[slot];
    uint64_t ticks = e->gap_ticks[slot];
    uint32_t at = e->gap_common[slot];
    e->gap_ticks[slot] = 0;
    if (ticks == 0 || last == NULL || e->cut || last->cut)
        return;
    while (at > 0 && e->items[at - 1].site == 0) /* a region: the function around it */
        at--;
    if (at == 0)
        return;
    uint32_t from = last->items[at - 1].site, to = e->items[at - 1].site;
    if (from == LC_SITE_UNKNOWN || to == LC_SITE_UNKNOWN)
        return;
    if (t->sites == NULL)
        t->sites = calloc(1, sizeof *t->sites);
    if (t->sites != NULL)
        add(t->sites, e->gap_node[slot], from, to, ticks);
}

void lc_sites_take_all(struct lc_thread *t) {
    for (int i = 0; i < LC_BUCKETS; i++)
        for (struct lc_entry *e = t->buckets[i]; e != NULL; e = e->next)
            for (int slot = 0; slot < 2; slot++)
                lc_sites_take(t, e, slot);
}

bool lc_sites_most(uint32_t node, uint64_t *from, uint64_t *to) {
    uint64_t most = 0;
    for (struct lc_thread *t = lc_core.threads; t != NULL; t = t->next)
        for (uint32_t i = 0; t->sites != NULL && i < LC_SITES; i++) {
            const struct lc_site_pair *p = &t->sites->pairs[i];
            if (p->to != 0 && p->node == node && p->ticks > most) {
                most = p->ticks;
                *from = p->from;
                *to = p->to;
            }
        }
    return most > 0;
}
