#include "format/union.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "format/bytes.h"

static void put(struct lc_strbuf *b, const void *bytes, size_t n) {
    lc_strbuf_add(b, bytes, n);
}

static void put_text(struct lc_strbuf *b, const char *text) {
    lc_strbuf_add(b, text, strlen(text) + 1);
}

static int compare(const struct lc_union_entry *a, const struct lc_union_entry *b) {
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    uint32_t n = a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes;
    int order = memcmp(a->key, b->key, n);
    return order ? order : (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
}

static int compare_any(const void *a, const void *b) {
    return compare(a, b);
}

static enum lc_err add(struct lc_union *u, enum lc_union_type type, const struct lc_strbuf *key,
                       const struct lc_strbuf *payload) {
    LC_TRY(lc_grow(&u->entries, &u->cap_entries, u->n_entries + 1, sizeof(*u->entries)));
    unsigned char *copy = lc_arena_take(&u->arena, key->length + payload->length + 8);
    if (!copy || !lc_strbuf_ok(key) || !lc_strbuf_ok(payload))
        return lc_fail(LC_ERR_NOMEM, "definitions of the trace: not enough memory");
    if (key->length)
        memcpy(copy, key->text, key->length);
    unsigned char *place =
        copy + ((key->length + 7) & ~(size_t)7); /* payloads hold aligned arrays */
    if (payload->length)
        memcpy(place, payload->text, payload->length);
    u->entries[u->n_entries++] = (struct lc_union_entry){copy, place, (uint32_t)key->length,
                                                         (uint32_t)payload->length, type};
    return LC_OK;
}

/* Sorts, drops repetitions (the longest payload stays) and counts. */
static void sort_and_merge(struct lc_union *u) {
    if (u->n_entries)
        qsort(u->entries, u->n_entries, sizeof(*u->entries), compare_any);
    size_t n = 0;
    for (size_t i = 0; i < u->n_entries; i++) {
        if (n && compare(&u->entries[n - 1], &u->entries[i]) == 0) {
            if (u->entries[i].payload_bytes > u->entries[n - 1].payload_bytes)
                u->entries[n - 1] = u->entries[i];
        } else {
            u->entries[n++] = u->entries[i];
        }
    }
    u->n_entries = n;
    size_t at = 0;
    for (uint32_t type = 0; type < LC_UNION_TYPES; type++) {
        u->first[type] = at;
        while (at < n && u->entries[at].type == type)
            at++;
    }
    u->first[LC_UNION_TYPES] = at;
}

static void region_key(const struct lc_trace_region *r, struct lc_strbuf *key,
                       struct lc_strbuf *payload) {
    lc_strbuf_printf(key, "%u", r->kind);
    put_text(key, r->name);
    put_text(key, r->module);
    put_text(key, r->build_id);
    lc_strbuf_printf(key, "%016llx", (unsigned long long)r->offset);
    uint32_t flags = r->flags; /* main on one rank is main on all */
    put(payload, &flags, flags ? sizeof(flags) : 0);
}

/* Readers need the parent of a communicator before it: so its generation is the first part of the
 * key. The two sides of an intercommunicator know different parents, so it has none. */
enum { INTER_GENERATION = 0x4000, MAX_GENERATION = 0xffff };

static unsigned generation(const struct lc_trace_defs *d, uint32_t id) {
    unsigned steps = 0;
    while (steps < MAX_GENERATION - INTER_GENERATION) {
        const struct lc_trace_comm *c = &d->comms[id];
        if (c->head.flags & LC_COMM_INTER)
            return INTER_GENERATION + steps;
        if (c->head.parent >= id || !d->comms[c->head.parent].known)
            break;
        id = c->head.parent;
        steps++;
    }
    return steps;
}

/* The two groups of an intercommunicator, the one with the lower first member first: both sides
 * must mean the same. */
static void put_members(const struct lc_trace_comm *c, struct lc_strbuf *out) {
    uint32_t a = c->head.n_local, b = c->head.n_remote;
    bool swap = a && b && c->world[0] > c->world[a];
    put(out, c->world + (swap ? a : 0), (size_t)(swap ? b : a) * 4);
    put(out, c->world + (swap ? 0 : a), (size_t)(swap ? a : b) * 4);
}

static void put_sizes(const struct lc_trace_comm *c, struct lc_strbuf *out) {
    uint32_t a = c->head.n_local, b = c->head.n_remote;
    bool swap = a && b && c->world[0] > c->world[a];
    put(out, swap ? &b : &a, 4);
    put(out, swap ? &a : &b, 4);
}

/* World, self, then the others: by the name the members agreed on; without one, by members and
 * order of creation among such. */
static void comm_key(const struct lc_trace_defs *d, uint32_t id, struct lc_strbuf *key) {
    const struct lc_trace_comm *c = &d->comms[id];
    if (c->head.flags & LC_COMM_WORLD) {
        lc_strbuf_putc(key, '0');
    } else if (c->head.flags & LC_COMM_SELF) {
        lc_strbuf_putc(key, '1');
    } else if (c->head.uid) {
        lc_strbuf_printf(key, "2%04x%016llx", generation(d, id), (unsigned long long)c->head.uid);
    } else {
        struct lc_strbuf own = {0}, other = {0};
        unsigned ordinal = 0;
        put_sizes(c, &own);
        put_members(c, &own);
        for (uint32_t i = 0; i < id; i++) {
            const struct lc_trace_comm *o = &d->comms[i];
            if (!o->known || o->head.uid || ((o->head.flags ^ c->head.flags) & LC_COMM_INTER))
                continue;
            lc_strbuf_clear(&other);
            put_sizes(o, &other);
            put_members(o, &other);
            ordinal += other.length == own.length && memcmp(other.text, own.text, own.length) == 0;
        }
        lc_strbuf_printf(key, "2%04x%08x", generation(d, id), ordinal);
        put(key, own.text, own.length);
        lc_strbuf_free(&own);
        lc_strbuf_free(&other);
    }
}

static const char *string_of(const struct lc_trace_defs *d, uint32_t number) {
    return number < d->n_strings && d->strings[number].text ? d->strings[number].text : "";
}

static void comm_payload(const struct lc_trace_defs *d, uint32_t id, struct lc_strbuf *payload) {
    const struct lc_trace_comm *c = &d->comms[id];
    struct lc_strbuf parent = {0};
    bool inter = c->head.flags & LC_COMM_INTER;
    if (!inter && c->head.parent < d->n_comms && d->comms[c->head.parent].known)
        comm_key(d, c->head.parent, &parent);
    uint32_t parent_bytes = (uint32_t)parent.length;
    put(payload, &c->head.flags, 4);
    put_sizes(c, payload);
    if (c->head.flags & LC_COMM_SELF) {
        uint32_t none[2] = {0, 0}; /* the same on all ranks: the group COMM_SELF has no members */
        payload->length -= 8;
        put(payload, none, 8);
    } else {
        put_members(c, payload);
    }
    put(payload, &parent_bytes, 4);
    put(payload, lc_strbuf_get(&parent), parent.length);
    put_text(payload, c->name);
    put(payload, &c->grid.n_dims, 4);
    put(payload, c->grid.dims, c->grid.n_dims * sizeof *c->grid.dims);
    put(payload, c->grid.periodic, c->grid.n_dims * sizeof *c->grid.periodic);
    lc_strbuf_free(&parent);
}

/* Windows of one communicator are made collectively: the same order on all its members. */
static void win_key(const struct lc_trace_defs *d, uint32_t id, struct lc_strbuf *key,
                    struct lc_strbuf *payload) {
    const struct lc_trace_win *w = &d->wins[id];
    struct lc_strbuf comm = {0};
    if (w->comm < d->n_comms && d->comms[w->comm].known)
        comm_key(d, w->comm, &comm);
    unsigned ordinal = 0;
    for (uint32_t i = 0; i < id; i++)
        ordinal += d->wins[i].known && d->wins[i].comm == w->comm;
    uint32_t comm_bytes = (uint32_t)comm.length;
    put(key, lc_strbuf_get(&comm), comm.length);
    lc_strbuf_printf(key, "#%08x", ordinal);
    put(payload, &comm_bytes, 4);
    put(payload, lc_strbuf_get(&comm), comm.length);
    put_text(payload, w->name);
    lc_strbuf_free(&comm);
}

/* Files of one communicator are opened collectively, as windows are made. */
static void handle_key(const struct lc_trace_defs *d, uint32_t id, struct lc_strbuf *key,
                       struct lc_strbuf *payload) {
    const struct lc_def_file *f = &d->files[id].head;
    struct lc_strbuf comm = {0};
    if (f->comm < d->n_comms && d->comms[f->comm].known)
        comm_key(d, f->comm, &comm);
    uint32_t comm_bytes = (uint32_t)comm.length;
    put(key, lc_strbuf_get(&comm), comm.length);
    lc_strbuf_printf(key, "#%08x", f->ordinal);
    if (f->comm < d->n_comms && d->comms[f->comm].head.flags & LC_COMM_SELF)
        put_text(key, string_of(d, f->name)); /* one on each process */
    put(payload, &comm_bytes, 4);
    put(payload, lc_strbuf_get(&comm), comm.length);
    put_text(payload, string_of(d, f->name));
    lc_strbuf_free(&comm);
}

/* One entry per process and communicator. */
static void neighbours_key(const struct lc_trace_defs *d, uint32_t i, struct lc_strbuf *key,
                           struct lc_strbuf *payload) {
    const struct lc_trace_neighbours *n = &d->neighbours[i];
    struct lc_strbuf comm = {0};
    comm_key(d, n->comm, &comm);
    uint32_t comm_bytes = (uint32_t)comm.length;
    put(key, lc_strbuf_get(&comm), comm.length);
    lc_strbuf_printf(key, "#%08x", (unsigned)d->process.rank);
    put(payload, &comm_bytes, 4);
    put(payload, lc_strbuf_get(&comm), comm.length);
    put(payload, &d->process.rank, 4);
    put(payload, &n->n, 4);
    put(payload, n->sources, (size_t)n->n * 4);
    lc_strbuf_free(&comm);
}

static bool known_site(const struct lc_trace_defs *d, const struct lc_trace_site *site) {
    if (site->node >= d->n_nodes || site->address == 0)
        return false;
    const struct lc_trace_node *node = &d->nodes[site->node];
    return node->region != LC_NONE && node->parent != LC_NONE &&
           d->nodes[node->parent].region != LC_NONE && d->nodes[node->parent].kind == LC_RAW_FRAME;
}

/* Where in which function another one is called. */
static void site_key(const struct lc_trace_defs *d, const struct lc_trace_site *site,
                     struct lc_strbuf *key) {
    const struct lc_trace_node *node = &d->nodes[site->node];
    const struct lc_trace_region *regions[2] = {&d->regions[d->nodes[node->parent].region],
                                                &d->regions[node->region]};
    for (int i = 0; i < 2; i++) {
        struct lc_strbuf region = {0}, none = {0};
        region_key(regions[i], &region, &none);
        uint32_t bytes = (uint32_t)region.length;
        put(key, &bytes, 4);
        put(key, lc_strbuf_get(&region), region.length);
        lc_strbuf_free(&region);
        lc_strbuf_free(&none);
    }
    put_text(key, regions[0]->module);
    put_text(key, regions[0]->build_id);
    put(key, &site->address, 8);
}

/* Per node the place that it was called from if there is only one, else 0. */
static enum lc_err only_sites(const struct lc_trace_defs *d, uint64_t **only) {
    LC_TRY(lc_alloc(only, d->n_nodes + 1, sizeof(**only)));
    for (size_t i = 0; i < d->n_sites; i++) {
        const struct lc_trace_site *site = &d->sites[i];
        if (known_site(d, site))
            (*only)[site->node] = (*only)[site->node] ? UINT64_MAX : site->address;
    }
    for (size_t i = 0; i < d->n_nodes; i++)
        if ((*only)[i] == UINT64_MAX)
            (*only)[i] = 0;
    return LC_OK;
}

/* Call paths are known by 128 bits of hash over their regions and call sites: keys of a fixed size
 * however deep. */
static void mix(uint64_t h[2], const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    h[0] = lc_hash_bytes(h[0], bytes, n);
    for (size_t i = 0; i < n; i++) {
        h[1] = lc_hash_key(h[1] + p[i]);
        h[1] ^= h[1] >> 29;
    }
}

/* Calls `visit` for each entry of a rank: key, payload, local number. */
typedef enum lc_err visitor(void *what, enum lc_union_type type, uint32_t number,
                            const struct lc_strbuf *key, const struct lc_strbuf *payload);

struct walk {
    const struct lc_trace_defs *d;
    visitor *visit;
    void *what;
    bool contexts; /* of all nodes; else of those that hold samples */
    struct lc_strbuf key, payload;
    uint64_t (*hashes)[2], *only_sites;
};

static void context_entry(const struct walk *w, size_t i, struct lc_strbuf *key,
                          struct lc_strbuf *payload) {
    const struct lc_trace_defs *d = w->d;
    const struct lc_trace_node *node = &d->nodes[i];
    struct lc_strbuf region = {0}, none = {0};
    region_key(&d->regions[node->region], &region, &none);
    char depth[8]; /* readers need the callers first */
    snprintf(depth, sizeof(depth), "%04x", node->depth & 0xffffu);
    put(key, depth, 4);
    put(key, w->hashes[i], 16);
    bool has_parent = node->parent != LC_NONE && d->nodes[node->parent].region != LC_NONE;
    uint32_t parent_bytes = has_parent ? 20 : 0, region_bytes = (uint32_t)region.length;
    put(payload, &parent_bytes, 4);
    if (has_parent) {
        snprintf(depth, sizeof(depth), "%04x", (node->depth - 1) & 0xffffu);
        put(payload, depth, 4);
        put(payload, w->hashes[node->parent], 16);
    }
    put(payload, &region_bytes, 4);
    put(payload, lc_strbuf_get(&region), region.length);
    const struct lc_trace_region *caller =
        has_parent ? &d->regions[d->nodes[node->parent].region] : NULL;
    put(payload, &w->only_sites[i], 8);
    put_text(payload, caller ? caller->module : "");
    put_text(payload, caller ? caller->build_id : "");
    lc_strbuf_free(&region);
    lc_strbuf_free(&none);
}

static enum lc_err context_hashes(const struct lc_trace_defs *d, uint64_t (**hashes)[2]) {
    LC_TRY(lc_alloc(hashes, d->n_nodes ? d->n_nodes : 1, sizeof(**hashes)));
    for (size_t i = 0; i < d->n_nodes; i++) {
        const struct lc_trace_node *node = &d->nodes[i];
        uint64_t *h = (*hashes)[i];
        h[0] = LC_HASH_BEGIN;
        h[1] = 1;
        if (node->region == LC_NONE)
            continue;
        struct lc_strbuf key = {0}, none = {0};
        region_key(&d->regions[node->region], &key, &none);
        if (node->parent != LC_NONE)
            mix(h, (*hashes)[node->parent], 16);
        mix(h, lc_strbuf_get(&key), key.length);
        lc_strbuf_free(&key);
        lc_strbuf_free(&none);
    }
    return LC_OK;
}

static bool is_context(const struct walk *w, uint32_t i) {
    const struct lc_trace_node *node = &w->d->nodes[i];
    return node->region != LC_NONE && (w->contexts || node->holds_samples);
}

static bool describe(struct walk *w, enum lc_union_type type, uint32_t i) {
    const struct lc_trace_defs *d = w->d;
    lc_strbuf_clear(&w->key);
    lc_strbuf_clear(&w->payload);
    switch (type) {
    case LC_UNION_REGION:
        region_key(&d->regions[i], &w->key, &w->payload);
        return true;
    case LC_UNION_COMM:
        if (d->comms[i].known) {
            comm_key(d, i, &w->key);
            comm_payload(d, i, &w->payload);
        }
        return d->comms[i].known;
    case LC_UNION_STRING:
    case LC_UNION_FILE:
        put_text(&w->key, string_of(d, i));
        return d->strings[i].text != NULL &&
               d->strings[i].use & (type == LC_UNION_FILE ? LC_STRING_FILE : LC_STRING_PHASE);
    case LC_UNION_HANDLE:
        if (d->files[i].known)
            handle_key(d, i, &w->key, &w->payload);
        return d->files[i].known;
    case LC_UNION_NEIGHBOURS: {
        uint32_t comm = d->neighbours[i].comm;
        bool known = comm < d->n_comms && d->comms[comm].known;
        if (known)
            neighbours_key(d, i, &w->key, &w->payload);
        return known;
    }
    case LC_UNION_SITE:
        if (w->contexts || !known_site(d, &d->sites[i])) /* places are in contexts */
            return false;
        site_key(d, &d->sites[i], &w->key);
        return true;
    case LC_UNION_WIN:
        if (d->wins[i].known)
            win_key(d, i, &w->key, &w->payload);
        return d->wins[i].known;
    case LC_UNION_GROUP:
        put(&w->key, d->groups[i].world, (size_t)d->groups[i].n * 4);
        return d->groups[i].world != NULL;
    default:
        if (!is_context(w, i))
            return false;
        context_entry(w, i, &w->key, &w->payload);
        return true;
    }
}

static size_t local_count(const struct lc_trace_defs *d, enum lc_union_type type) {
    const size_t counts[LC_UNION_TYPES] = {
        [LC_UNION_REGION] = d->n_regions, [LC_UNION_COMM] = d->n_comms,
        [LC_UNION_STRING] = d->n_strings, [LC_UNION_WIN] = d->n_wins,
        [LC_UNION_GROUP] = d->n_groups,   [LC_UNION_FILE] = d->n_strings,
        [LC_UNION_HANDLE] = d->n_files,   [LC_UNION_SITE] = d->n_sites,
        [LC_UNION_CONTEXT] = d->n_nodes,  [LC_UNION_NEIGHBOURS] = d->n_neighbours,
    };
    return counts[type];
}

static enum lc_err for_each(const struct lc_trace_defs *d, bool contexts, visitor *visit,
                            void *what) {
    struct walk w = {.d = d, .visit = visit, .what = what, .contexts = contexts};
    enum lc_err err = context_hashes(d, &w.hashes);
    if (err == LC_OK)
        err = only_sites(d, &w.only_sites);
    for (uint32_t type = 0; err == LC_OK && type < LC_UNION_TYPES; type++)
        for (uint32_t i = 0; err == LC_OK && i < local_count(d, type); i++)
            if (describe(&w, type, i))
                err = visit(what, type, i, &w.key, &w.payload);
    free(w.hashes);
    free(w.only_sites);
    lc_strbuf_free(&w.key);
    lc_strbuf_free(&w.payload);
    return err;
}

static enum lc_err visit_add(void *what, enum lc_union_type type, uint32_t number,
                             const struct lc_strbuf *key, const struct lc_strbuf *payload) {
    (void)number;
    return add(what, type, key, payload);
}

enum lc_err lc_union_of_rank(struct lc_union *u, const struct lc_trace_defs *defs, bool contexts) {
    LC_TRY(for_each(defs, contexts, visit_add, u));
    sort_and_merge(u);
    return LC_OK;
}

uint32_t lc_union_find(const struct lc_union *u, enum lc_union_type type, const void *key,
                       size_t key_bytes) {
    struct lc_union_entry probe = {.key = key, .key_bytes = (uint32_t)key_bytes, .type = type};
    const struct lc_union_entry *at =
        u->n_entries ? bsearch(&probe, u->entries, u->n_entries, sizeof(probe), compare_any) : NULL;
    return at ? (uint32_t)((size_t)(at - u->entries) - u->first[type]) : LC_NONE;
}

struct mapping {
    const struct lc_union *u;
    struct lc_trace_defs *d;
};

static enum lc_err visit_map(void *what, enum lc_union_type type, uint32_t number,
                             const struct lc_strbuf *key, const struct lc_strbuf *payload) {
    struct mapping *m = what;
    (void)payload;
    if (type != LC_UNION_SITE) /* nothing refers to them */
        m->d->maps[type][number] = lc_union_find(m->u, type, lc_strbuf_get(key), key->length);
    return LC_OK;
}

enum lc_err lc_union_map(const struct lc_union *u, struct lc_trace_defs *defs, bool contexts) {
    for (uint32_t type = 0; type < LC_UNION_TYPES; type++) {
        bool none = type == LC_UNION_SITE ||
                    (type == LC_UNION_CONTEXT && lc_union_count(u, LC_UNION_CONTEXT) == 0);
        size_t n = none ? 0 : local_count(defs, type);
        defs->n_maps[type] = n;
        defs->maps[type] = lc_arena_take(&defs->arena, n * 4 + 4);
        if (!defs->maps[type])
            return LC_ERR_NOMEM;
        memset(defs->maps[type], 0xff, n * 4 + 4);
    }
    struct mapping m = {u, defs};
    return for_each(defs, contexts, visit_map, &m);
}

enum lc_err lc_union_merge(struct lc_union *u, const struct lc_union *other) {
    for (size_t i = 0; i < other->n_entries; i++) {
        const struct lc_union_entry *e = &other->entries[i];
        struct lc_strbuf key = {.text = (char *)e->key, .length = e->key_bytes};
        struct lc_strbuf payload = {.text = (char *)e->payload, .length = e->payload_bytes};
        LC_TRY(add(u, e->type, &key, &payload));
    }
    sort_and_merge(u);
    return LC_OK;
}

enum lc_err lc_union_pack(const struct lc_union *u, struct lc_strbuf *out) {
    for (size_t i = 0; i < u->n_entries; i++) {
        const struct lc_union_entry *e = &u->entries[i];
        uint32_t head[3] = {e->type, e->key_bytes, e->payload_bytes};
        put(out, head, sizeof(head));
        put(out, e->key, e->key_bytes);
        put(out, e->payload, e->payload_bytes);
    }
    return lc_strbuf_ok(out) ? LC_OK
                             : lc_fail(LC_ERR_NOMEM, "definitions of the trace: not enough memory");
}

enum lc_err lc_union_unpack(struct lc_union *u, const void *bytes, size_t n_bytes) {
    struct lc_byte_reader r = {bytes, n_bytes, false};
    while (r.left) {
        uint32_t type = lc_take_u32(&r), key_bytes = lc_take_u32(&r),
                 payload_bytes = lc_take_u32(&r);
        struct lc_strbuf key = {.length = key_bytes}, payload = {.length = payload_bytes};
        key.text = (char *)lc_take(&r, key_bytes);
        payload.text = (char *)lc_take(&r, payload_bytes);
        if (r.bad || type >= LC_UNION_TYPES)
            return lc_fail(LC_ERR_FORMAT,
                           "definitions of the trace: damaged: run `latecomer recover`");
        LC_TRY(add(u, type, &key, &payload));
    }
    sort_and_merge(u);
    return LC_OK;
}

void lc_union_free(struct lc_union *u) {
    free(u->entries);
    lc_arena_free(&u->arena);
    memset(u, 0, sizeof(*u));
}
