#include "format/state.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/timer.h"
#include "base/mem.h"

/* The reading side. Everything that comes from the mapping is checked before it is used: the writer
 * may be garbage. */

struct reader {
    const char *map;
    size_t bytes;
    const struct lc_state_header *header;
    double ns_per_tick;
    uint64_t end_ns;
    struct lc_raw *out;
    uint32_t *node_map; /* id here -> id in out */
    uint32_t *module_map;
    uint32_t *name_map;
    uint64_t *booked_ns; /* exclusive time of each thread without the root */
    uint32_t *location;  /* of each thread in out */
    uint64_t *worked_ns; /* by node: own time of the first thread, so far */
    uint32_t n_nodes, n_modules, n_names, n_threads, n_text;
};

static const void *table(const struct reader *r, const struct lc_state_table *t, size_t elem_bytes,
                         uint32_t *n) {
    /* partner: the release stores of state_write.c */
    uint32_t count = atomic_load_explicit(&t->count, memory_order_acquire);
    *n = 0;
    if (t->offset >= r->bytes || t->offset % 8 != 0)
        return NULL;
    uint64_t room = (r->bytes - t->offset) / elem_bytes;
    *n = count < room ? count : (uint32_t)room;
    if (*n > t->capacity)
        *n = t->capacity;
    return r->map + t->offset;
}

static const char *text_at(const struct reader *r, uint32_t offset) {
    const char *text = r->map + r->header->text.offset;
    if (offset >= r->n_text || memchr(text + offset, '\0', r->n_text - offset) == NULL)
        return "?";
    return text + offset;
}

/* 0 for what no time can be. */
static uint64_t whole(double ns) {
    return ns > 0 && ns < 0x1p64 ? (uint64_t)ns : 0;
}

static uint64_t to_ns(const struct reader *r, uint64_t ticks) {
    return whole((double)ticks * r->ns_per_tick + 0.5);
}

static uint64_t instant_ns(const struct reader *r, uint64_t ticks) {
    double delta = (double)(int64_t)(ticks - r->header->base_ticks) * r->ns_per_tick;
    return whole((double)r->header->base_ns + delta);
}

/* What hangs below the root here, hangs below the program in `out`. */
static enum lc_err add_root(struct reader *r, const struct lc_state_node *root) {
    struct lc_raw_node node = {.parent = LC_NONE, .kind = LC_RAW_ROOT};
    uint32_t name = root->ref;
    LC_TRY(lc_raw_add_node(r->out, &node, &r->node_map[0]));
    if (name == 0 || name > r->n_names)
        return LC_OK;
    node = (struct lc_raw_node){
        .parent = r->node_map[0], .kind = LC_RAW_PROGRAM, .ref = r->name_map[name - 1]};
    return lc_raw_add_node(r->out, &node, &r->node_map[0]);
}

static enum lc_err read_definitions(struct reader *r) {
    const struct lc_state_header *h = r->header;
    table(r, &h->text, 1, &r->n_text);
    const struct lc_state_module *modules = table(r, &h->modules, sizeof *modules, &r->n_modules);
    const struct lc_state_name *names = table(r, &h->names, sizeof *names, &r->n_names);
    const struct lc_state_node *nodes = table(r, &h->nodes, sizeof *nodes, &r->n_nodes);
    LC_TRY(lc_alloc(&r->module_map, r->n_modules + 1u, sizeof(uint32_t)));
    LC_TRY(lc_alloc(&r->name_map, r->n_names + 1u, sizeof(uint32_t)));
    LC_TRY(lc_alloc(&r->node_map, r->n_nodes + 1u, sizeof(uint32_t)));
    for (uint32_t i = 0; i < r->n_modules; i++)
        LC_TRY(lc_raw_add_module(r->out, text_at(r, modules[i].path),
                                 text_at(r, modules[i].build_id), &r->module_map[i]));
    for (uint32_t i = 0; i < r->n_names; i++)
        LC_TRY(lc_raw_add_name(r->out, text_at(r, names[i].text), &r->name_map[i]));
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        struct lc_raw_node node = {.kind = nodes[i].kind,
                                   .flags = nodes[i].flags,
                                   .offset = nodes[i].offset,
                                   .call_site = nodes[i].call_site};
        uint32_t parent = nodes[i].parent, ref = nodes[i].ref;
        if (node.kind >= LC_RAW_KINDS || node.kind == LC_RAW_PROGRAM ||
            (i == 0) != (node.kind == LC_RAW_ROOT) || (i == 0) != (parent == LC_NONE) ||
            (i > 0 && parent >= i))
            return lc_fail(LC_ERR_FORMAT, "measurement state: call tree is damaged");
        if (i == 0) {
            LC_TRY(add_root(r, &nodes[i]));
            continue;
        }
        node.parent = r->node_map[parent];
        if (node.kind == LC_RAW_SAMPLED && ref == LC_NONE) {
            node.ref = LC_NONE;
        } else if (lc_raw_is_code(node.kind)) {
            if (ref >= r->n_modules)
                return lc_fail(LC_ERR_FORMAT, "measurement state: module is damaged");
            node.ref = r->module_map[ref];
        } else if (lc_raw_is_named(node.kind)) {
            if (ref >= r->n_names)
                return lc_fail(LC_ERR_FORMAT, "measurement state: name is damaged");
            node.ref = r->name_map[ref];
        }
        LC_TRY(lc_raw_add_node(r->out, &node, &r->node_map[i]));
    }
    return LC_OK;
}

/* Is it own time of code, exact or by samples? */
static bool is_work(const struct lc_state_row *row) {
    return row->size_class == LC_RAW_CLASS_TIME || row->size_class == LC_RAW_CLASS_SAMPLES;
}

static enum lc_err read_row(struct reader *r, uint32_t thread, const struct lc_state_row *row) {
    struct lc_state_row copy = *row;
    if (copy.node >= r->n_nodes || copy.count == 0) {
        if (copy.node >= r->n_nodes || copy.size_class < LC_RAW_CLASS_COUNTERS)
            return LC_OK;
    }
    struct lc_raw_row out = {.node = r->node_map[copy.node],
                             .location = r->location[thread],
                             .size_class = copy.size_class,
                             .flags = copy.flags | (uint32_t)copy.comm_size
                                                       << LC_RAW_ROW_COMM_SHIFT,
                             .count = copy.count,
                             .bytes_sent = copy.bytes_sent,
                             .bytes_rcvd = copy.bytes_rcvd,
                             .synced = copy.synced};
    if (lc_raw_holds_numbers(copy.size_class)) {
        out.sum_ns = copy.sum;
        out.min_ns = copy.min;
        out.max_ns = copy.max;
    } else {
        out.sum_ns = to_ns(r, copy.sum);
        out.min_ns = copy.min == UINT64_MAX ? 0 : to_ns(r, copy.min);
        out.max_ns = to_ns(r, copy.max);
        r->booked_ns[thread] += out.sum_ns;
    }
    if (thread == 0 && is_work(&copy))
        r->worked_ns[copy.node] += out.sum_ns;
    return lc_raw_add_row(r->out, &out);
}

static enum lc_err read_rows(struct reader *r, uint32_t thread, uint64_t offset) {
    /* Each chunk is older than the one before it, so lies below: no endless lists. */
    for (uint64_t limit = r->bytes; offset != 0 && offset < limit;) {
        if (offset % 64 != 0 || r->bytes - offset < LC_STATE_CHUNK_BYTES)
            return LC_OK;
        const struct lc_state_chunk *chunk = (const struct lc_state_chunk *)(r->map + offset);
        uint32_t n = atomic_load_explicit(&chunk->n_rows, memory_order_acquire);
        if (n > LC_STATE_CHUNK_ROWS || chunk->thread != thread)
            return LC_OK;
        const struct lc_state_row *rows = (const struct lc_state_row *)(chunk + 1);
        for (uint32_t i = 0; i < n; i++)
            LC_TRY(read_row(r, thread, &rows[i]));
        limit = offset;
        offset = chunk->next;
    }
    return LC_OK;
}

/* A call that has not returned counts as one, with the time until now: the process hangs in it, was
 * killed in it, or is looked at while it runs. Its size is not known. */
static enum lc_err read_call(struct reader *r, uint32_t thread, const struct lc_state_thread *t,
                             uint64_t end_ns) {
    uint64_t begin = atomic_load_explicit(&t->call_begin, memory_order_acquire);
    uint32_t node = atomic_load_explicit(&t->call_node, memory_order_relaxed);
    if (begin == 0 || t->end_ticks != 0 || node >= r->n_nodes)
        return LC_OK;
    uint64_t begin_ns = instant_ns(r, begin);
    if (atomic_load_explicit(&t->call_begin, memory_order_relaxed) != begin || begin_ns >= end_ns)
        return LC_OK; /* it is over: in a row */
    uint64_t ns = end_ns - begin_ns;
    struct lc_raw_row out = {.node = r->node_map[node],
                             .location = r->location[thread],
                             .flags = LC_RAW_ROW_NULL,
                             .count = 1,
                             .sum_ns = ns,
                             .min_ns = ns,
                             .max_ns = ns};
    r->booked_ns[thread] += ns;
    LC_TRY(lc_raw_add_row(r->out, &out));
    struct lc_raw_value unfinished = {
        .node = out.node, .location = out.location, .value = (double)ns * 1e-9};
    LC_TRY(lc_raw_add_name(r->out, "mpi_unfinished", &unfinished.metric));
    return lc_raw_add_value(r->out, &unfinished);
}

static enum lc_err read_threads(struct reader *r) {
    const struct lc_state_header *h = r->header;
    const struct lc_state_thread *threads = table(r, &h->threads, sizeof *threads, &r->n_threads);
    LC_TRY(lc_alloc(&r->booked_ns, r->n_threads + 1u, sizeof(uint64_t)));
    LC_TRY(lc_alloc(&r->location, r->n_threads + 1u, sizeof(uint32_t)));
    LC_TRY(lc_alloc(&r->worked_ns, r->n_nodes + 1u, sizeof(uint64_t)));
    char host[sizeof h->host];
    memcpy(host, h->host, sizeof host);
    host[sizeof host - 1] = '\0';
    uint32_t host_name;
    LC_TRY(lc_raw_add_name(r->out, host, &host_name));
    for (uint32_t i = 0; i < r->n_threads; i++) {
        uint64_t end = threads[i].end_ticks;
        struct lc_raw_location where = {.rank = h->rank,
                                        .thread = (int32_t)i,
                                        .host = host_name,
                                        .pid = atomic_load_explicit(&h->pid, memory_order_relaxed),
                                        .begin_ns = i == 0 && h->begin_ns != 0
                                                        ? h->begin_ns
                                                        : instant_ns(r, threads[i].begin_ticks),
                                        .end_ns = end != 0         ? instant_ns(r, end)
                                                  : h->end_ns != 0 ? h->end_ns
                                                                   : r->end_ns};
        if (where.end_ns < where.begin_ns)
            where.end_ns = where.begin_ns;
        LC_TRY(lc_raw_add_location(r->out, &where, &r->location[i]));
        LC_TRY(read_rows(r, i, atomic_load_explicit(&threads[i].chunks, memory_order_acquire)));
        LC_TRY(read_call(r, i, &threads[i], where.end_ns));
        uint64_t life = where.end_ns - where.begin_ns, idle = to_ns(r, threads[i].idle_ticks);
        life -= idle < life ? idle : life;
        if (r->n_nodes == 0 || life <= r->booked_ns[i])
            continue;
        struct lc_raw_row rest = {.node = r->node_map[0],
                                  .location = r->location[i],
                                  .size_class = LC_RAW_CLASS_TIME,
                                  .sum_ns = life - r->booked_ns[i]};
        LC_TRY(lc_raw_add_row(r->out, &rest));
    }
    return LC_OK;
}

static enum lc_err add_value(struct reader *r, const struct lc_state_wait *w, const char *metric,
                             double value) {
    uint32_t name;
    LC_TRY(lc_raw_add_name(r->out, metric, &name));
    struct lc_raw_value out = {.metric = name,
                               .node = r->node_map[w->node],
                               .location = r->location[w->thread],
                               .value = value};
    return lc_raw_add_value(r->out, &out);
}

/* NAME.from and NAME.to, where `name` is cut after the dot. */
static enum lc_err add_sites(struct reader *r, const struct lc_state_wait *w, char *name,
                             size_t end) {
    if (w->sites[1] == 0)
        return LC_OK;
    memcpy(name + end, "from", sizeof "from");
    LC_TRY(add_value(r, w, name, (double)w->sites[0]));
    memcpy(name + end, "to", sizeof "to");
    return add_value(r, w, name, (double)w->sites[1]);
}

/* TABLE.<index>.late, with the thread and the call sites. */
static enum lc_err add_late(struct reader *r, const struct lc_state_wait *w, const char *table,
                            double value) {
    char name[48];
    int end = snprintf(name, sizeof name, "%s.%u.", table, (uint32_t)w->index);
    memcpy(name + end, "late", sizeof "late");
    LC_TRY(add_value(r, w, name, value));
    if (w->late_thread != 0) {
        memcpy(name + end, "thread", sizeof "thread");
        LC_TRY(add_value(r, w, name, (double)w->late_thread));
    }
    return add_sites(r, w, name, (size_t)end);
}

/* gain.<index>.<part> */
static enum lc_err add_gain(struct reader *r, const struct lc_state_wait *w) {
    static const char *const parts[] = {"saved", "least", "most", "excess"};
    char name[48];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "gain.%u.%s", (uint32_t)w->index, parts[i]);
        LC_TRY(add_value(r, w, name, (double)w->ticks[i] * r->ns_per_tick * 1e-9));
    }
    return LC_OK;
}

static enum lc_err read_wait(struct reader *r, const struct lc_state_wait *w) {
    char blame[48];
    switch (w->what) {
    case LC_STATE_WAIT_TIMES:
        for (int kind = 0; kind < LC_STATE_WAIT_KINDS; kind++)
            if (w->ticks[kind] > 0)
                LC_TRY(add_value(r, w, lc_raw_measured[kind],
                                 lc_raw_is_count((uint32_t)kind)
                                     ? (double)w->ticks[kind]
                                     : (double)w->ticks[kind] * r->ns_per_tick * 1e-9));
        strcpy(blame, "critical_path.");
        return add_sites(r, w, blame, strlen(blame));
    case LC_STATE_WAIT_BLAME:
        snprintf(blame, sizeof blame, "blame.%u.wait", (uint32_t)w->index);
        return add_value(r, w, blame, (double)w->ticks[0] * r->ns_per_tick * 1e-9);
    case LC_STATE_WAIT_MORE:
        snprintf(blame, sizeof blame, "blame.%u.more", (uint32_t)w->index);
        return add_value(r, w, blame, (double)w->ticks[0] * r->ns_per_tick * 1e-9);
    case LC_STATE_WAIT_LATE:
        return add_late(r, w, "blame", (double)w->index + 1);
    case LC_STATE_WAIT_COST:
        return add_late(r, w, "cost", (double)w->ticks[0] * r->ns_per_tick * 1e-9);
    case LC_STATE_WAIT_PASSED:
        snprintf(blame, sizeof blame, "cost.%u.passed", (uint32_t)w->index);
        return add_value(r, w, blame, (double)w->ticks[0] * r->ns_per_tick * 1e-9);
    case LC_STATE_WAIT_SPREAD:
    case LC_STATE_WAIT_BLAME_SPREAD:
        snprintf(blame, sizeof blame, "%s.%u.spread",
                 w->what == LC_STATE_WAIT_SPREAD ? "cost" : "blame", (uint32_t)w->index);
        return add_value(r, w, blame, (double)w->ticks[0] * r->ns_per_tick * 1e-9);
    case LC_STATE_WAIT_LOOP:
        snprintf(blame, sizeof blame, "loop.%u", (uint32_t)w->index);
        return add_value(r, w, blame, (double)w->index + 1);
    case LC_STATE_WAIT_SLOW:
        snprintf(blame, sizeof blame, "loop.%u.%u", (uint32_t)w->index / 8, (uint32_t)w->index % 8);
        return add_value(r, w, blame, (double)w->index + 1);
    case LC_STATE_WAIT_GAIN:
        return add_gain(r, w);
    default:
        return LC_OK;
    }
}

static enum lc_err read_waits(struct reader *r) {
    uint64_t offset = atomic_load_explicit(&r->header->waits, memory_order_acquire);
    /* Every record is at least its size away from the next; more than fit are an endless list. */
    for (uint64_t left = r->bytes / sizeof(struct lc_state_wait); offset != 0 && left > 0; left--) {
        if (offset % 64 != 0 || offset > r->bytes ||
            r->bytes - offset < sizeof(struct lc_state_wait))
            return LC_OK;
        struct lc_state_wait copy = *(const struct lc_state_wait *)(r->map + offset);
        if (copy.node >= r->n_nodes || copy.thread >= r->n_threads)
            return LC_OK;
        LC_TRY(read_wait(r, &copy));
        offset = copy.next;
    }
    return LC_OK;
}

/* Costs name code of other ranks by its node there: waited.<rank>.<node>.direct and .passed. */
static enum lc_err read_cost(struct reader *r, const struct lc_state_cost *cost) {
    static const struct lc_state_wait first = {.node = 0};
    uint64_t code = atomic_load_explicit(&cost->code, memory_order_relaxed) - 1;
    const struct {
        const char *name;
        uint64_t ticks;
    } parts[] = {{"direct", atomic_load_explicit(&cost->direct, memory_order_relaxed)},
                 {"passed", atomic_load_explicit(&cost->indirect, memory_order_relaxed)}};
    char name[64];
    for (size_t i = 0; i < sizeof parts / sizeof *parts && code != UINT64_MAX; i++) {
        if (parts[i].ticks == 0)
            continue;
        snprintf(name, sizeof name, "waited.%u.%u.%s", (uint32_t)(code >> 32), (uint32_t)code,
                 parts[i].name);
        LC_TRY(add_value(r, &first, name, (double)parts[i].ticks * r->ns_per_tick * 1e-9));
    }
    return LC_OK;
}

/* The node in which others find this process late is one in which it works: so are numbered those
 * with a thousandth of its time and more. */
static enum lc_err read_costs(struct reader *r) {
    uint64_t offset = atomic_load_explicit(&r->header->costs, memory_order_acquire);
    if (offset == 0 || offset % 64 != 0 || offset > r->bytes ||
        r->bytes - offset < sizeof(struct lc_state_costs) || r->n_nodes == 0 || r->n_threads == 0)
        return LC_OK;
    const struct lc_state_costs *costs = (const struct lc_state_costs *)(r->map + offset);
    for (size_t i = 0; i < LC_STATE_COSTS; i++)
        LC_TRY(read_cost(r, &costs->rows[i]));
    for (uint32_t i = 0; i < r->n_nodes; i++)
        if (r->worked_ns[i] > 0 && r->worked_ns[i] >= r->booked_ns[0] / 1000)
            LC_TRY(add_value(r, &(struct lc_state_wait){.node = i}, LC_RAW_NODE_NUMBER, i));
    return LC_OK;
}

enum lc_err lc_state_snapshot(const void *map, size_t bytes, uint64_t end_ns, struct lc_raw *out) {
    const struct lc_state_header *h = map;
    if (bytes < sizeof *h || h->magic != LC_STATE_MAGIC || h->version != LC_STATE_VERSION ||
        h->header_bytes != sizeof *h)
        return lc_fail(LC_ERR_FORMAT, "measurement state: not one of this version");
    atomic_thread_fence(memory_order_acquire); /* partner: lc_state_create */
    if (atomic_load_explicit(&h->pid, memory_order_relaxed) == 0)
        return lc_fail(LC_ERR_NOT_FOUND, "measurement state: no process has used it");
    struct reader r = {.map = map, .bytes = bytes, .header = h, .out = out, .ns_per_tick = 1.0};
    uint64_t now = lc_monotonic_raw_ns();
    r.end_ns = end_ns != 0 ? end_ns : now;
    uint64_t ticks = lc_counter_ticks();
    if (h->by_counter && ticks > h->base_ticks && now > h->base_ns)
        r.ns_per_tick = (double)(now - h->base_ns) / (double)(ticks - h->base_ticks);
    enum lc_err err = read_definitions(&r);
    if (err == LC_OK)
        err = read_threads(&r);
    if (err == LC_OK)
        err = read_waits(&r);
    if (err == LC_OK)
        err = read_costs(&r);
    free(r.node_map);
    free(r.module_map);
    free(r.name_map);
    free(r.booked_ns);
    free(r.location);
    free(r.worked_ns);
    return err;
}
