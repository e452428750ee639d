#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "format/trace_defs.h"
#include "measure/mpi/handles.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/trace/trace_area.h"
#include "base/lookup.h"
#include "measure/callpath/entry.h"
#include "base/binomial.h"
#include "format/union.h"

enum { DEFINITIONS_BYTES = 64 << 20 };

/* Bytes, not records, are what may straddle chunks here: readers join the chunks first. */
static void append(struct lc_trace_stream *s, const char *bytes, size_t n) {
    while (n > 0) {
        if (s->next == s->limit) {
            uint64_t *room = lc_trace_refill(s, 1);
            if (room != s->next)
                return; /* stopped */
            if (atomic_load_explicit(&s->state, memory_order_relaxed) != LC_STREAM_OPEN)
                return;
        }
        size_t part = (size_t)(s->limit - s->next) * 8;
        if (part > n)
            part = n;
        memcpy(s->next, bytes, part);
        lc_trace_commit(s, s->next + part / 8);
        bytes += part;
        n -= part;
    }
}

static void define_locked(enum lc_def_type type, const void *head, size_t head_bytes,
                          const void *rest, size_t rest_bytes) {
    size_t before = lc_tracing.defs.length;
    if (before + head_bytes + rest_bytes > DEFINITIONS_BYTES && type != LC_DEF_MAP) {
        /* bounded: what refers to it is left out of the trace; messages would meet others */
        lc_tracing.area->defs.lost_records += type == LC_DEF_LEFT_OUT;
        return;
    }
    lc_trace_def_put(&lc_tracing.defs, type, head, head_bytes, rest, rest_bytes);
    if (lc_strbuf_ok(&lc_tracing.defs))
        append(&lc_tracing.area->defs, lc_tracing.defs.text + before,
               lc_tracing.defs.length - before);
}

void lc_trace_define(enum lc_def_type type, const void *head, size_t head_bytes, const void *rest,
                     size_t rest_bytes) {
    pthread_mutex_lock(&lc_tracing.defs_lock);
    define_locked(type, head, head_bytes, rest, rest_bytes);
    pthread_mutex_unlock(&lc_tracing.defs_lock);
}

static void put_file(struct lc_strbuf *out, const char *path, char separator) {
    char block[4096];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(block, 1, sizeof(block), file) : 0;
    if (file)
        fclose(file);
    size_t begin = n ? strnlen(block, n) + 1 : 0; /* after argv[0] */
    for (size_t i = begin; i < n; i++)
        lc_strbuf_putc(out, block[i] ? block[i] : i + 1 < n ? separator : 0);
    if (begin >= n || block[n - 1])
        lc_strbuf_putc(out, 0);
}

void lc_trace_define_process(void) {
    struct lc_trace_area *area = lc_tracing.area;
    const struct lc_state_header *state = lc_core.state;
    if (!area || lc_tracing.defined)
        return;
    lc_tracing.defined = true;
    area->rank = lc_core.rank;
    area->size = lc_core.size;
    struct lc_def_process process = {
        .rank = lc_core.rank,
        .size = lc_core.size,
        .pid = getpid(),
        .flavour = state->flavour,
        .base_ticks = state->base_ticks,
        .base_ns = state->base_ns,
        .ns_per_tick = lc_timer.ns_per_tick,
        .begin_realtime_ns = state->begin_realtime_ns,
        .thread_level = (uint32_t)state->thread_level,
        .sized = lc_tracing.min_bytes > 0 || lc_tracing.max_bytes < UINT64_MAX,
        .contexts = area->context,
        .sample_period_ns = lc_tracing.samples ? lc_core.sample_period_ns : 0};
    struct lc_strbuf texts = {0};
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    lc_strbuf_add(&texts, state->host, strnlen(state->host, sizeof(state->host)));
    lc_strbuf_putc(&texts, 0);
    lc_strbuf_add(&texts, program, length > 0 ? (size_t)length : 0);
    lc_strbuf_putc(&texts, 0);
    put_file(&texts, "/proc/self/cmdline", ' ');
    const char *build_id = strchr(lc_state_program(), '\n');
    lc_strbuf_puts(&texts, build_id != NULL ? build_id + 1 : "");
    lc_strbuf_putc(&texts, 0);
    lc_trace_define(LC_DEF_PROCESS, &process, sizeof(process), lc_strbuf_get(&texts), texts.length);
    const char *windows = lc_tracing.windows ? lc_option("LATECOMER_TRACE") : NULL;
    if (windows != NULL)
        lc_trace_define(LC_DEF_WINDOWS, windows, strlen(windows) + 1, NULL, 0);
    lc_strbuf_free(&texts);
}

void lc_trace_define_thread(uint32_t index, uint64_t begin_ticks) {
    struct {
        uint32_t thread, tid;
        uint64_t begin_ticks;
    } definition = {index, (uint32_t)gettid(), begin_ticks};
    lc_trace_define(LC_DEF_THREAD, &definition, sizeof(definition), NULL, 0);
}

/* Names: as set so far; MPI_Comm_set_name comes later and is a record of its own. */
void lc_trace_define_comm(struct lc_comm *comm, struct lc_comm *parent) {
    uint32_t n_local = (uint32_t)(comm->size > 0 ? comm->size : 0),
             n_remote = (uint32_t)(comm->inter ? comm->remote_size : 0);
    struct lc_def_comm head = {.id = comm->id,
                               .parent = parent ? parent->id : LC_NONE,
                               .flags = (comm->inter ? LC_COMM_INTER : 0) |
                                        (comm->id == 0 ? LC_COMM_WORLD : 0) |
                                        (comm->id == 1 ? LC_COMM_SELF : 0),
                               .n_local = n_local,
                               .n_remote = n_remote,
                               .uid = 0};
    struct lc_strbuf rest = {0};
    const int32_t *local = comm->inter ? comm->local_world : comm->world;
    for (uint32_t i = 0; i < n_local; i++) {
        int32_t rank = local ? local[i] : comm->id == 1 ? lc_core.rank : -1;
        lc_strbuf_add(&rest, (const char *)&rank, sizeof(rank));
    }
    for (uint32_t i = 0; i < n_remote; i++) {
        int32_t rank = comm->world ? comm->world[i] : -1;
        lc_strbuf_add(&rest, (const char *)&rank, sizeof(rank));
    }
    lc_strbuf_puts(&rest, comm->id == 0 ? "MPI_COMM_WORLD" : comm->id == 1 ? "MPI_COMM_SELF" : "");
    lc_strbuf_putc(&rest, 0);
    lc_trace_define(LC_DEF_COMM, &head, sizeof(head), lc_strbuf_get(&rest), rest.length);
    lc_strbuf_free(&rest);
}

void lc_trace_define_clock(uint64_t ticks, int64_t offset_ticks, uint64_t deviation_ticks) {
    if (lc_tracing.area == NULL)
        return;
    const struct lc_trace_clock clock = {ticks - lc_tracing.area->base_ticks, offset_ticks,
                                         deviation_ticks};
    lc_trace_define(LC_DEF_CLOCK, &clock, sizeof(clock), NULL, 0);
}

void lc_trace_define_name(bool window, uint32_t id, const char *name) {
    uint32_t head[2] = {window, id};
    lc_trace_define(LC_DEF_NAME, head, sizeof(head), name, strlen(name) + 1);
}

void lc_trace_define_bend(uint64_t base_ticks, double ns_per_tick,
                          const struct lc_timer_bend *bend) {
    const struct lc_def_bend definition = {base_ticks, ns_per_tick, *bend};
    bool bent = bend->offset_ns != 0 || bend->drift != 0 || bend->curve_per_ns != 0;
    if (lc_tracing.area != NULL && bent)
        lc_trace_define(LC_DEF_BEND, &definition, sizeof(definition), NULL, 0);
}

uint32_t lc_trace_define_string(const char *text, enum lc_def_string use) {
    const uint64_t hash = lc_hash_text(LC_HASH_BEGIN, text);
    pthread_mutex_lock(&lc_tracing.defs_lock);
    uint32_t number = 0;
    while (number < lc_tracing.n_strings && (lc_tracing.strings[number].hash != hash ||
                                             strcmp(lc_tracing.strings[number].text, text) != 0))
        number++;
    bool have = number < lc_tracing.n_strings;
    if (!have && lc_grow(&lc_tracing.strings, &lc_tracing.cap_strings, number + 1,
                         sizeof(*lc_tracing.strings)) == LC_OK) {
        lc_tracing.strings[number] = (struct lc_trace_text){hash, strdup(text), 0};
        have = lc_tracing.strings[number].text != NULL;
        lc_tracing.n_strings += have;
    }
    if (have && !(lc_tracing.strings[number].use & use)) {
        uint32_t head[2] = {number, use};
        lc_tracing.strings[number].use |= use;
        define_locked(LC_DEF_STRING, head, sizeof(head), text, strlen(text) + 1);
    }
    pthread_mutex_unlock(&lc_tracing.defs_lock);
    return number;
}

/* Call sites in the trace: the addresses from which one function of a call path called the next. A
 * node of the call tree can have several; each pair (node, site) is defined once, when a call with
 * it is first seen. The table is behind lc_core.lock. */

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
        uint32_t site = lc_item_place(&entry->items[i]);
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

/* Definitions of all ranks, brought together in MPI_Finalize along a binomial tree: ceil(log2 P)
 * messages at most up, a broadcast down. Each rank then numbers its own by those of all. Rank 0
 * leaves the union in DIR/traces/union for its parent. A rank that fails (memory) sends an empty
 * union, and all know by the length 0 that there is none: nobody waits for anything. */

enum { TAG_UNION = 0x4c54 };

struct blob {
    char *bytes;
    uint64_t n_bytes; /* 0: failed */
};

static enum lc_err own_union(struct lc_trace_defs *defs, struct lc_union *u) {
    pthread_mutex_lock(&lc_tracing.defs_lock);
    enum lc_err err =
        lc_trace_defs_parse(defs, lc_strbuf_get(&lc_tracing.defs), lc_tracing.defs.length);
    pthread_mutex_unlock(&lc_tracing.defs_lock);
    LC_TRY(err);
    LC_TRY(lc_trace_defs_tree_from_state(defs, lc_core.state, lc_core.bytes));
    return lc_union_of_rank(u, defs, lc_tracing.area->context);
}

static void receive(struct blob *b, int source) {
    b->bytes = NULL;
    lc_real.Recv(&b->n_bytes, sizeof(b->n_bytes), MPI_BYTE, source, TAG_UNION, lc_core.comm,
                 MPI_STATUS_IGNORE);
    if (b->n_bytes == 0)
        return;
    b->bytes = malloc(b->n_bytes);
    if (b->bytes) {
        lc_real.Recv(b->bytes, (int)b->n_bytes, MPI_BYTE, source, TAG_UNION, lc_core.comm,
                     MPI_STATUS_IGNORE);
        return;
    }
    char rest[4096]; /* no memory: truncated on purpose, so that the sender gets rid of it */
    lc_real.Recv(rest, sizeof(rest), MPI_BYTE, source, TAG_UNION, lc_core.comm, MPI_STATUS_IGNORE);
    b->n_bytes = 0;
}

static void send(const struct blob *b, int target) {
    lc_real.Send(&b->n_bytes, sizeof(b->n_bytes), MPI_BYTE, target, TAG_UNION, lc_core.comm);
    if (b->n_bytes)
        lc_real.Send(b->bytes, (int)b->n_bytes, MPI_BYTE, target, TAG_UNION, lc_core.comm);
}

static void pack(const struct lc_union *u, bool good, struct blob *out) {
    struct lc_strbuf text = {0};
    *out = (struct blob){0};
    if (!good || lc_union_pack(u, &text) != LC_OK || text.length > INT_MAX)
        return;
    out->n_bytes = text.length;
    out->bytes = lc_strbuf_take(&text);
    if (!out->bytes)
        out->n_bytes = 0;
}

/* On rank 0, `u` becomes that of all ranks; false if some rank failed (then everywhere above it).
 */
static bool gather(struct lc_union *u, bool good) {
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    enum lc_binomial_step step;
    struct blob b;
    int peer;
    while ((step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD) {
        receive(&b, peer);
        struct lc_union other = {0};
        good = good && b.n_bytes && lc_union_unpack(&other, b.bytes, b.n_bytes) == LC_OK &&
               lc_union_merge(u, &other) == LC_OK;
        lc_union_free(&other);
        free(b.bytes);
    }
    if (step == LC_BINOMIAL_PARENT) {
        pack(u, good, &b);
        send(&b, peer);
        free(b.bytes);
    }
    return good;
}

static bool broadcast(struct lc_union *u, bool good, struct blob *b) {
    *b = (struct blob){0};
    if (lc_core.rank == 0)
        pack(u, good, b);
    lc_real.Bcast(&b->n_bytes, sizeof(b->n_bytes), MPI_BYTE, 0, lc_core.comm);
    if (b->n_bytes == 0)
        return false;
    if (lc_core.rank != 0)
        b->bytes = malloc(b->n_bytes);
    if (!lc_on_all(b->bytes != NULL, lc_core.comm))
        return false;
    lc_real.Bcast(b->bytes, (int)b->n_bytes, MPI_BYTE, 0, lc_core.comm);
    if (lc_core.rank != 0) {
        lc_union_free(u);
        return lc_union_unpack(u, b->bytes, b->n_bytes) == LC_OK;
    }
    return true;
}

static bool save(const struct blob *b) {
    char path[4200];
    if (!lc_core.dir)
        return false;
    snprintf(path, sizeof(path), "%s/traces", lc_core.dir);
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/traces/union", lc_core.dir);
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(b->bytes, 1, b->n_bytes, file) == b->n_bytes;
    if (file && fclose(file) != 0)
        good = false;
    return good;
}

static void unify(void) {
    struct lc_trace_defs defs = {0};
    struct lc_union u = {0};
    struct blob b;
    bool good = own_union(&defs, &u) == LC_OK;
    good = gather(&u, good);
    good = broadcast(&u, good, &b);
    if (good && lc_core.rank == 0)
        good = save(&b);
    if (good && lc_union_map(&u, &defs, lc_tracing.area->context) == LC_OK) {
        for (uint32_t type = 0; type < LC_UNION_TYPES; type++) {
            uint32_t head[2] = {type, (uint32_t)defs.n_maps[type]};
            lc_trace_define(LC_DEF_MAP, head, sizeof(head), defs.maps[type], defs.n_maps[type] * 4);
        }
        lc_tracing.area->n_global_comms = (uint32_t)lc_union_count(&u, LC_UNION_COMM);
        atomic_store_explicit(&lc_tracing.area->finalized, 1, memory_order_release);
    }
    free(b.bytes);
    lc_union_free(&u);
    lc_trace_defs_free(&defs);
}

void lc_trace_close(void) {
    lc_trace_window_finish();
    if (lc_tracing.area != NULL && lc_core.agreed && lc_tracing.defined)
        unify();
}
