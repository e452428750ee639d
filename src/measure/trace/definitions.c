/* The definition stream: what is said once. Cold; one lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "format/trace_defs.h"
#include "measure/mpi/handles.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/trace/definitions.h"
#include "measure/trace/trace_area.h"

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
