/* Call sites of MPI that are measured with less detail, so that the tool stays within its budget
 * (budget.h). Per thread; empty for programs within it.
 *
 * Nouns
 *   site     a return address and a function of MPI
 *   merged   its call paths are shown as one where they differ: what all begin with (the prefix), a
 *            node "...", what all end with. Known again by the two innermost return addresses of
 *            the prefix alone: stale ones, where no function has written since, are taken for it
 *   caller   "...", and the function that calls MPI
 *   counted  calls are counted and not timed: their time belongs to the code around them. Only for
 *            calls that neither the clocks nor requests need to know of (LC_MPI_LOCAL)
 * Invariant: entries of merged sites live as long as the thread, outside of its pool, so that
 * nothing that points to them need follow when others move. */
#ifndef LC_MEASURE_CALLPATH_REDUCED_H
#define LC_MEASURE_CALLPATH_REDUCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "format/state.h"
#include "measure/core/core.h"

struct lc_draft;
struct lc_entry;
struct lc_item;
struct lc_path;
struct lc_thread;

enum lc_detail { LC_DETAIL_FULL, LC_DETAIL_MERGED, LC_DETAIL_CALLER, LC_DETAIL_COUNTED };

enum { LC_SITES_MOST = 256 }; /* a power of two; of one thread */

struct lc_merged;

struct lc_site {
    uint64_t ra; /* 0: empty */
    uint32_t fn;
    uint8_t detail;              /* enum lc_detail */
    uint8_t n_merged;            /* its entries */
    bool tried, due;             /* a step in vain; one at its next call: by budget.c */
    struct lc_state_row *row;    /* where calls are counted; NULL: they are measured */
    uint64_t n_counted;          /* calls */
    struct lc_merged *merged;    /* entries */
    uint64_t cost_ticks;         /* of late, by budget.c */
    uint64_t rare_ticks;         /* of which unwinding */
    uint32_t n_prefix, n_suffix; /* items that all paths begin and end with */
    struct lc_item *prefix;      /* the first ones */
};

struct lc_sites_reduced {
    struct lc_site sites[LC_SITES_MOST];
    struct lc_merged *retired; /* of libraries that went away */
    uint32_t n_sites;
    uint32_t passes; /* over all entries */
};

/* NULL: not known. */
static inline struct lc_site *lc_site_find(struct lc_sites_reduced *all, uint32_t fn, uint64_t ra) {
    uint32_t i = (uint32_t)(lc_hash_key(ra) >> 56) % LC_SITES_MOST;
    for (; all->sites[i].ra != 0; i = (i + 1) % LC_SITES_MOST)
        if (all->sites[i].ra == ra && all->sites[i].fn == fn)
            return &all->sites[i];
    return NULL;
}

/* The site of a call, if sites are measured with less detail at all. */
static inline struct lc_site *lc_site_of(struct lc_sites_reduced *all, uint32_t fn, uint64_t ra) {
    return lc_likely(all == NULL) ? NULL : lc_site_find(all, fn, ra);
}

/* Is a call to be counted only? Then it is. */
static inline bool lc_site_counts(struct lc_site *site) {
    if (lc_likely(site == NULL || site->row == NULL))
        return false;
    site->n_counted++;
    site->row->count++;
    site->row->synced++; /* as other calls without bytes */
    return true;
}

/* A site that is noted; NULL: there is no room for more. */
struct lc_site *lc_site_get(struct lc_sites_reduced *all, uint32_t fn, uint64_t ra);

/* The entry of a call at a site with less detail; unwinds where it is a path that was not seen. */
struct lc_entry *lc_site_entry(struct lc_thread *t, struct lc_site *site, uint64_t frame);

/* Less detail from the next call on. *n_paths: call paths that have come together. false: that does
 * not make it cheaper, or there is no memory. */
bool lc_site_reduce(struct lc_thread *t, struct lc_site *site, const struct lc_entry *e,
                    enum lc_detail detail, uint32_t *n_paths);

/* The items of a path become those of its site. With lc_core.lock held. */
void lc_site_merge(const struct lc_site *site, struct lc_draft *d);
/* Room for the entry of such a path, with its items; NULL: no memory. */
struct lc_entry *lc_site_entry_new(struct lc_thread *t, struct lc_site *site,
                                   const struct lc_draft *d, uint64_t fn_ctx, uint64_t frame);

/* Entries move: nothing here may point to where they were. */
void lc_sites_reduced_forget_others(struct lc_thread *t);
/* A library went away: return addresses may come to mean something else. */
void lc_sites_reduced_forget(struct lc_thread *t);
/* Frees what the thread keeps of sites with less detail. */
void lc_sites_reduced_free(struct lc_thread *t);
/* Calls that were only counted. */
uint64_t lc_sites_counted(const struct lc_thread *t);

#endif
