#include "format/trace_defs.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "format/bytes.h"
#include "format/omp_construct.h"

static enum lc_err damaged(const char *what) {
    return lc_fail(LC_ERR_FORMAT,
                   "trace definitions: %s is damaged: the run may have died while writing it",
                   what);
}

/* Copies: streams are not aligned for what they hold, and may go away. */
static void *keep(struct lc_trace_defs *d, const void *bytes, size_t n) {
    void *copy = lc_arena_take(&d->arena, n ? n : 1);
    if (copy)
        memcpy(copy, bytes, n);
    return copy;
}

static const char *keep_text(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    const char *text = lc_take_text(c);
    return !c->bad ? lc_arena_strdup(&d->arena, text) : NULL;
}

static enum lc_err parse_process(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    if (!lc_take_copy(c, &d->process, sizeof(d->process)))
        return damaged("the process");
    d->host = keep_text(d, c);
    d->program = keep_text(d, c);
    d->arguments = keep_text(d, c);
    d->build_id = c->left > 0 ? keep_text(d, c) : "";
    return d->host && d->program && d->arguments && d->build_id ? LC_OK : damaged("the process");
}

static enum lc_err parse_thread(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    struct lc_trace_thread thread;
    if (!lc_take_copy(c, &thread, sizeof(thread)))
        return damaged("a thread");
    LC_TRY(lc_grow(&d->threads, &d->cap_threads, d->n_threads + 1, sizeof(*d->threads)));
    d->threads[d->n_threads++] = thread;
    return LC_OK;
}

/* Numbers come from a counter of the library: not far ahead of what the stream has room to define,
 * unless it is damaged. */
enum { LC_NUMBERS_AHEAD = 1 << 16, LC_LEAST_RECORD = 16 };
static bool sane_number(const struct lc_trace_defs *d, uint32_t id) {
    return id < LC_NUMBERS_AHEAD + d->n_bytes / LC_LEAST_RECORD;
}

/* Room for the entry of that number. */
static enum lc_err make_room(void *array, size_t *n, size_t *capacity, uint32_t id,
                             size_t elem_bytes) {
    LC_TRY(lc_grow(array, capacity, (size_t)id + 1, elem_bytes));
    if (*n <= id)
        *n = (size_t)id + 1;
    return LC_OK;
}

static enum lc_err parse_comm(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    struct lc_trace_comm comm = {.known = true};
    if (!lc_take_copy(c, &comm.head, sizeof(comm.head)))
        return damaged("a communicator");
    size_t n = (size_t)comm.head.n_local + comm.head.n_remote;
    const void *ranks = n <= c->left / 4 ? lc_take(c, n * 4) : NULL;
    if (!ranks || !sane_number(d, comm.head.id))
        return damaged("a communicator");
    comm.world = keep(d, ranks, n * 4);
    comm.name = keep_text(d, c);
    if (!comm.world || !comm.name)
        return damaged("a communicator");
    LC_TRY(make_room(&d->comms, &d->n_comms, &d->cap_comms, comm.head.id, sizeof(*d->comms)));
    d->comms[comm.head.id] = comm;
    return LC_OK;
}

/* Comes after its communicator. */
static enum lc_err parse_grid(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    struct lc_def_grid grid;
    if (!lc_take_copy(c, &grid, sizeof grid) || grid.n_dims > LC_GRID_DIMS)
        return damaged("a grid");
    if (grid.comm < d->n_comms)
        d->comms[grid.comm].grid = grid;
    return LC_OK;
}

static enum lc_err parse_win(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    uint32_t head[2] = {0, 0};
    if (!lc_take_copy(c, head, sizeof(head)) || !sane_number(d, head[0]))
        return damaged("a window");
    LC_TRY(make_room(&d->wins, &d->n_wins, &d->cap_wins, head[0], sizeof(*d->wins)));
    d->wins[head[0]] = (struct lc_trace_win){.comm = head[1], .name = "", .known = true};
    return LC_OK;
}

static enum lc_err parse_name(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    uint32_t head[2] = {0, 0};
    const char *name = lc_take_copy(c, head, sizeof(head)) ? keep_text(d, c) : NULL;
    if (!name)
        return damaged("a name");
    if (head[0] == 1 && head[1] < d->n_wins)
        d->wins[head[1]].name = name;
    else if (head[0] == 0 && head[1] < d->n_comms)
        d->comms[head[1]].name = name;
    return LC_OK;
}

static enum lc_err parse_group(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    uint32_t head[2] = {0, 0};
    bool whole = lc_take_copy(c, head, sizeof(head)) && head[1] <= c->left / 4;
    const void *ranks = whole ? lc_take(c, (size_t)head[1] * 4) : NULL;
    if (!ranks || !sane_number(d, head[0]))
        return damaged("a group");
    LC_TRY(make_room(&d->groups, &d->n_groups, &d->cap_groups, head[0], sizeof(*d->groups)));
    d->groups[head[0]] =
        (struct lc_trace_group){.world = keep(d, ranks, (size_t)head[1] * 4), .n = head[1]};
    return d->groups[head[0]].world ? LC_OK : LC_ERR_NOMEM;
}

static enum lc_err parse_neighbours(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    uint32_t head[2] = {0, 0};
    bool whole = lc_take_copy(c, head, sizeof(head)) && head[1] <= c->left / 4;
    const void *ranks = whole ? lc_take(c, (size_t)head[1] * 4) : NULL;
    if (!whole || (!ranks && head[1]))
        return damaged("neighbours");
    LC_TRY(
        lc_grow(&d->neighbours, &d->cap_neighbours, d->n_neighbours + 1, sizeof(*d->neighbours)));
    const int32_t *kept = head[1] ? keep(d, ranks, (size_t)head[1] * 4) : NULL;
    if (head[1] && !kept)
        return LC_ERR_NOMEM;
    d->neighbours[d->n_neighbours++] =
        (struct lc_trace_neighbours){.comm = head[0], .n = head[1], .sources = kept};
    return LC_OK;
}

static enum lc_err parse_string(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    uint32_t head[2] = {0, 0};
    const char *text = lc_take_copy(c, head, sizeof(head)) ? keep_text(d, c) : NULL;
    if (!text || !sane_number(d, head[0]))
        return damaged("a string");
    LC_TRY(make_room(&d->strings, &d->n_strings, &d->cap_strings, head[0], sizeof(*d->strings)));
    d->strings[head[0]].text = text;
    d->strings[head[0]].use |= head[1];
    return LC_OK;
}

static enum lc_err parse_file(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    struct lc_trace_file file = {.known = true};
    if (!lc_take_copy(c, &file.head, sizeof(file.head)) || !sane_number(d, file.head.id))
        return damaged("an open file");
    LC_TRY(make_room(&d->files, &d->n_files, &d->cap_files, file.head.id, sizeof(*d->files)));
    d->files[file.head.id] = file;
    return LC_OK;
}

static enum lc_err parse_site(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    LC_TRY(lc_grow(&d->sites, &d->cap_sites, d->n_sites + 1, sizeof(*d->sites)));
    if (!lc_take_copy(c, &d->sites[d->n_sites], sizeof(*d->sites)))
        return damaged("a call site");
    d->n_sites++;
    return LC_OK;
}

static enum lc_err parse_bend(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    return lc_take_copy(c, &d->bend, sizeof(d->bend)) ? LC_OK : damaged("the clock of a test");
}

static enum lc_err parse_clock(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    LC_TRY(lc_grow(&d->clocks, &d->cap_clocks, d->n_clocks + 1, sizeof(*d->clocks)));
    if (!lc_take_copy(c, &d->clocks[d->n_clocks], sizeof(*d->clocks)))
        return damaged("a clock offset");
    d->n_clocks++;
    return LC_OK;
}

static enum lc_err parse_rate(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    uint64_t pair[2];
    if (!lc_take_copy(c, pair, sizeof(pair)))
        return damaged("the clock rate");
    d->end_ticks = pair[0];
    d->end_ns = pair[1];
    return LC_OK;
}

static enum lc_err parse_map(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    uint32_t head[2] = {0, 0};
    bool whole =
        lc_take_copy(c, head, sizeof(head)) && head[0] < LC_UNION_TYPES && head[1] <= c->left / 4;
    const void *ids = whole ? lc_take(c, (size_t)head[1] * 4) : NULL;
    if (!ids)
        return damaged("a table of global numbers");
    d->maps[head[0]] = keep(d, ids, (size_t)head[1] * 4);
    d->n_maps[head[0]] = head[1];
    return d->maps[head[0]] ? LC_OK : LC_ERR_NOMEM;
}

static enum lc_err parse_windows(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    d->windows = keep_text(d, c);
    return d->windows ? LC_OK : damaged("the windows of the trace");
}

static enum lc_err parse_left_out(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    size_t n = c->left / sizeof(d->left_out->of);
    if (c->left % sizeof(d->left_out->of) != 0)
        return damaged("messages outside of windows");
    LC_TRY(lc_grow(&d->left_out, &d->cap_left_out, d->n_left_out + n, sizeof(*d->left_out)));
    for (size_t i = 0; i < n; i++)
        lc_take_copy(c, &d->left_out[d->n_left_out++].of, sizeof(d->left_out->of));
    return LC_OK;
}

static int by_channel(const struct lc_def_left_out *x, const struct lc_def_left_out *y) {
    const uint32_t a[] = {x->half, x->comm, x->peer, x->tag},
                   b[] = {y->half, y->comm, y->peer, y->tag};
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int by_gap(const void *a, const void *b) {
    const struct lc_trace_left_out *x = a, *y = b;
    int order = by_channel(&x->of, &y->of);
    return order != 0 ? order : (x->of.gap > y->of.gap) - (x->of.gap < y->of.gap);
}

static void add_up_left_out(struct lc_trace_defs *d) {
    if (d->n_left_out)
        qsort(d->left_out, d->n_left_out, sizeof(*d->left_out), by_gap);
    for (size_t i = 0; i < d->n_left_out; i++) {
        struct lc_trace_left_out *one = &d->left_out[i];
        bool goes_on = i > 0 && by_channel(&one[-1].of, &one->of) == 0;
        one->until = one->of.count + (goes_on ? one[-1].until : 0);
    }
}

uint64_t lc_trace_left_out_before(const struct lc_trace_defs *d,
                                  const struct lc_def_left_out *channel, uint32_t window) {
    struct lc_trace_left_out key = {.of = *channel};
    key.of.gap = window;
    size_t before = LC_FIRST_WHERE(i, 0, d->n_left_out, by_gap(&d->left_out[i], &key) >= 0);
    const struct lc_trace_left_out *last = before > 0 ? &d->left_out[before - 1] : NULL;
    bool any = last != NULL && by_channel(&last->of, channel) == 0 && last->until > 0;
    return any ? (uint64_t)last->until : 0;
}

/* Regions are the distinct functions of the nodes. */
static uint64_t region_hash(const struct lc_trace_region *r) {
    uint64_t h = LC_HASH_BEGIN ^ r->kind;
    const char *const texts[] = {r->name, r->module, r->build_id};
    for (size_t i = 0; i < 3; i++)
        h = lc_hash_text(h, texts[i]);
    return lc_hash_word(h, r->offset);
}

static bool region_equal(const struct lc_trace_region *a, const struct lc_trace_region *b) {
    return a->kind == b->kind && a->offset == b->offset && strcmp(a->name, b->name) == 0 &&
           strcmp(a->module, b->module) == 0 && strcmp(a->build_id, b->build_id) == 0;
}

static enum lc_err region_number(struct lc_trace_defs *d, struct lc_lookup *table,
                                 const struct lc_trace_region *r, uint32_t *number) {
    uint64_t hash = region_hash(r);
    *number = LC_LOOKUP(table, hash, i, region_equal(&d->regions[i], r));
    if (*number != LC_NONE) {
        d->regions[*number].flags |= r->flags;
        return LC_OK;
    }
    LC_TRY(lc_grow(&d->regions, &d->cap_regions, d->n_regions + 1, sizeof(*d->regions)));
    d->regions[d->n_regions] = *r;
    *number = (uint32_t)d->n_regions++;
    return lc_lookup_add(table, hash, *number);
}

struct tree_source {
    const struct lc_state_node *nodes;
    size_t n_nodes, n_modules, n_names;
    const char **modules, **build_ids, **names;
};

static enum lc_err add_node(struct lc_trace_defs *d, struct lc_lookup *table,
                            const struct tree_source *t, size_t i) {
    struct lc_state_node raw;
    memcpy(&raw, &t->nodes[i], sizeof(raw));
    if (raw.parent != LC_NONE && raw.parent >= i)
        return damaged("the call tree");
    struct lc_trace_node *node = &d->nodes[i];
    bool root = raw.parent == LC_NONE, inside = !root && d->nodes[raw.parent].in_region;
    uint32_t above = root ? 0 : d->nodes[raw.parent].depth;
    bool named = raw.kind == LC_RAW_REGION &&
                 (raw.ref >= t->n_names || (!lc_omp_is_construct(t->names[raw.ref]) &&
                                            strcmp(t->names[raw.ref], LC_NOT_TRACED) != 0));
    *node = (struct lc_trace_node){.parent = raw.parent,
                                   .region = LC_NONE,
                                   .depth = above,
                                   .kind = raw.kind,
                                   .in_region = inside || named};
    struct lc_trace_region r = {
        .kind = raw.kind, .flags = raw.flags, .name = "", .module = "", .build_id = ""};
    if (raw.kind == LC_RAW_ROOT)
        return LC_OK;
    node->sampled = lc_raw_is_sampled(raw.kind);
    if (raw.kind == LC_RAW_SAMPLED && !root && raw.ref == LC_NONE && raw.offset == LC_RAW_SELF) {
        *node = d->nodes[raw.parent]; /* samples there are those of the node around it */
        return LC_OK;
    }
    if (named && !inside)
        r.flags |= LC_TRACE_PHASE;
    if (lc_raw_is_code(raw.kind) && raw.ref < t->n_modules) {
        r.module = t->modules[raw.ref];
        r.build_id = t->build_ids[raw.ref];
        r.offset = raw.offset;
    } else if (lc_raw_is_named(raw.kind) && raw.ref < t->n_names) {
        r.name = t->names[raw.ref];
    } else if (raw.kind == LC_RAW_CUT) {
        r.name = "...";
    } else if (raw.kind == LC_RAW_SAMPLED && raw.ref == LC_NONE) {
        r.name = lc_raw_sampled_name(raw.offset);
    } else {
        return damaged("the call tree");
    }
    node->depth = above + 1;
    return region_number(d, table, &r, &node->region);
}

static enum lc_err add_tree(struct lc_trace_defs *d, const struct tree_source *t) {
    struct lc_lookup table = {0};
    enum lc_err err = lc_grow(&d->nodes, &d->cap_nodes, t->n_nodes, sizeof(*d->nodes));
    for (size_t i = 0; err == LC_OK && i < t->n_nodes; i++)
        err = add_node(d, &table, t, i);
    if (err == LC_OK)
        d->n_nodes = t->n_nodes;
    for (size_t i = d->n_nodes; i-- > 0;) { /* parents come before their children */
        struct lc_state_node raw;
        memcpy(&raw, &t->nodes[i], sizeof(raw));
        if (lc_raw_is_sampled(raw.kind))
            d->nodes[i].holds_samples = true;
        if (raw.parent != LC_NONE && d->nodes[i].holds_samples)
            d->nodes[raw.parent].holds_samples = true;
    }
    lc_lookup_free(&table);
    return err;
}

static enum lc_err parse_tree(struct lc_trace_defs *d, struct lc_byte_reader *c) {
    struct lc_def_tree head;
    const void *bytes = lc_take(c, sizeof(head));
    if (!bytes)
        return damaged("the call tree");
    memcpy(&head, bytes, sizeof(head));
    if (head.n_nodes > c->left / sizeof(struct lc_state_node) || head.n_modules > c->left ||
        head.n_names > c->left)
        return damaged("the call tree");
    struct tree_source t = {
        .n_nodes = head.n_nodes, .n_modules = head.n_modules, .n_names = head.n_names};
    t.nodes = lc_take(c, t.n_nodes * sizeof(struct lc_state_node));
    t.modules = lc_arena_take(&d->arena, (t.n_modules + 1) * sizeof(char *));
    t.build_ids = lc_arena_take(&d->arena, (t.n_modules + 1) * sizeof(char *));
    t.names = lc_arena_take(&d->arena, (t.n_names + 1) * sizeof(char *));
    if (!t.nodes || !t.modules || !t.build_ids || !t.names)
        return damaged("the call tree");
    for (size_t i = 0; i < t.n_modules; i++) {
        t.modules[i] = keep_text(d, c);
        t.build_ids[i] = keep_text(d, c);
        if (!t.modules[i] || !t.build_ids[i])
            return damaged("a module");
    }
    for (size_t i = 0; i < t.n_names; i++)
        if (!(t.names[i] = keep_text(d, c)))
            return damaged("a name");
    d->n_nodes = 0; /* a later one is longer */
    d->n_regions = 0;
    return add_tree(d, &t);
}

enum lc_err lc_trace_defs_parse(struct lc_trace_defs *d, const void *bytes, size_t n_bytes) {
    static enum lc_err (*const parsers[LC_DEF_TYPES])(struct lc_trace_defs *,
                                                      struct lc_byte_reader *) = {
        [LC_DEF_PROCESS] = parse_process,
        [LC_DEF_THREAD] = parse_thread,
        [LC_DEF_COMM] = parse_comm,
        [LC_DEF_NAME] = parse_name,
        [LC_DEF_WIN] = parse_win,
        [LC_DEF_GROUP] = parse_group,
        [LC_DEF_STRING] = parse_string,
        [LC_DEF_CLOCK] = parse_clock,
        [LC_DEF_RATE] = parse_rate,
        [LC_DEF_TREE] = parse_tree,
        [LC_DEF_MAP] = parse_map,
        [LC_DEF_FILE] = parse_file,
        [LC_DEF_BEND] = parse_bend,
        [LC_DEF_SITE] = parse_site,
        [LC_DEF_NEIGHBOURS] = parse_neighbours,
        [LC_DEF_GRID] = parse_grid,
        [LC_DEF_WINDOWS] = parse_windows,
        [LC_DEF_LEFT_OUT] = parse_left_out,
    };
    struct lc_byte_reader all = {bytes, n_bytes, false};
    uint64_t word;
    d->n_bytes = n_bytes;
    while (lc_take_copy(&all, &word, sizeof(word))) {
        size_t length = (size_t)(word & 0x00ffffffffffffffu), type = (size_t)(word >> 56);
        if (length > all.left) {
            d->cut_off = true; /* what came before is good */
            break;
        }
        struct lc_byte_reader one = {lc_take(&all, length), length, false};
        lc_take(&all, all.left < 7 ? all.left : -length & 7);
        if (type == 0 || type >= LC_DEF_TYPES)
            return damaged("a record");
        enum lc_err err = parsers[type](d, &one);
        if (err != LC_OK)
            return err;
    }
    if (!d->host)
        return damaged("the beginning");
    add_up_left_out(d);
    return LC_OK;
}

void lc_trace_defs_free(struct lc_trace_defs *d) {
    free(d->nodes);
    free(d->regions);
    free(d->comms);
    free(d->wins);
    free(d->groups);
    free(d->neighbours);
    free(d->strings);
    free(d->files);
    free(d->sites);
    free(d->threads);
    free(d->clocks);
    free(d->left_out);
    lc_arena_free(&d->arena);
    memset(d, 0, sizeof(*d));
}

void lc_trace_def_put(struct lc_strbuf *out, enum lc_def_type type, const void *head,
                      size_t head_bytes, const void *rest, size_t rest_bytes) {
    static const char zeros[8];
    uint64_t word = (uint64_t)type << 56 | (head_bytes + rest_bytes);
    lc_strbuf_add(out, (const char *)&word, sizeof(word));
    lc_strbuf_add(out, head, head_bytes);
    lc_strbuf_add(out, rest, rest_bytes);
    lc_strbuf_add(out, zeros, -(head_bytes + rest_bytes) & 7);
}
