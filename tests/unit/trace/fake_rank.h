/* A state as the measurement library would leave it: a call tree, a trace area with a few chunks,
 * written by hand. For tests without MPI. */
#ifndef LC_TESTS_FAKE_RANK_H
#define LC_TESTS_FAKE_RANK_H

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "format/state.h"
#include "format/trace_defs.h"
#include "format/trace_record.h"
#include "format/union.h"

enum { FAKE_CHUNKS = 16, FAKE_BASE = 1000000 };

struct fake_rank {
    char *state;
    size_t bytes;
    struct lc_state_header *header;
    struct lc_trace_area *area;
    struct lc_state_node *nodes;
    char *text;
    uint32_t n_text;
    uint32_t next_chunk;
};

static inline uint32_t fake_text(struct fake_rank *f, const char *text) {
    uint32_t at = f->n_text;
    strcpy(f->text + at, text);
    f->n_text += (uint32_t)strlen(text) + 1;
    f->header->text.count = f->n_text;
    return at;
}

static inline uint32_t fake_name(struct fake_rank *f, const char *text) {
    struct lc_state_name *names = (void *)(f->state + f->header->names.offset);
    uint32_t i = f->header->names.count;
    names[i].text = fake_text(f, text);
    f->header->names.count = i + 1;
    return i;
}

static inline uint32_t fake_node(struct fake_rank *f, uint32_t parent, uint32_t kind, uint32_t ref,
                                 uint64_t offset, uint32_t flags) {
    uint32_t i = f->header->nodes.count;
    f->nodes[i] = (struct lc_state_node){
        .parent = parent, .kind = kind, .ref = ref, .flags = flags, .offset = offset};
    f->header->nodes.count = i + 1;
    return i;
}

static inline void fake_grow(struct fake_rank *f, struct lc_trace_stream *s) {
    struct lc_trace_chunk *chunks = (void *)((char *)f->area + f->area->chunks_offset);
    uint32_t n = f->next_chunk++;
    if (s->last_chunk != LC_TRACE_NO_CHUNK) {
        chunks[s->last_chunk].used_words = (uint32_t)(s->next - chunks[s->last_chunk].words);
        chunks[s->last_chunk].next = n;
    } else {
        s->first_chunk = n;
    }
    chunks[n].next = LC_TRACE_NO_CHUNK;
    s->last_chunk = n;
    s->next = chunks[n].words;
    s->limit = s->next + LC_TRACE_CHUNK_WORDS;
}

static inline void fake_stream(struct fake_rank *f, struct lc_trace_stream *s, uint32_t thread) {
    s->thread = thread;
    s->first_chunk = s->last_chunk = LC_TRACE_NO_CHUNK;
    s->state = LC_STREAM_OPEN;
    fake_grow(f, s);
}

static inline void fake_put(struct fake_rank *f, struct lc_trace_stream *s, unsigned n,
                            const uint64_t *words) {
    if (s->next + n > s->limit)
        fake_grow(f, s);
    memcpy(s->next, words, n * sizeof(*words));
    s->next += n;
}

#define FAKE(f, s, ...)                                                                            \
    fake_put(f, s, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static inline void fake_define(struct fake_rank *f, enum lc_def_type type, const void *head,
                               size_t n, const void *rest, size_t m) {
    struct lc_strbuf out = {0};
    struct lc_trace_stream *s = &f->area->defs;
    lc_trace_def_put(&out, type, head, n, rest, m);
    for (size_t i = 0; i < out.length; i += 8) {
        if (s->next == s->limit)
            fake_grow(f, s);
        memcpy(s->next++, out.text + i, 8);
    }
    lc_strbuf_free(&out);
}

static inline void fake_comm(struct fake_rank *f, uint32_t id, uint32_t flags, uint32_t n,
                             const int32_t *world, const char *name) {
    struct lc_strbuf rest = {0};
    struct lc_def_comm head = {
        .id = id, .parent = id > 1 ? 0 : LC_NONE, .flags = flags, .n_local = n};
    lc_strbuf_add(&rest, (const char *)world, n * sizeof(*world));
    lc_strbuf_add(&rest, name, strlen(name) + 1);
    fake_define(f, LC_DEF_COMM, &head, sizeof(head), rest.text, rest.length);
    lc_strbuf_free(&rest);
}

static inline void fake_new(struct fake_rank *f, int rank, int size) {
    size_t area_bytes = sizeof(struct lc_trace_area) + LC_TRACE_CHUNK_BYTES;
    area_bytes &= ~(size_t)(LC_TRACE_CHUNK_BYTES - 1);
    size_t tables = 65536, total = tables + area_bytes + FAKE_CHUNKS * LC_TRACE_CHUNK_BYTES;
    *f = (struct fake_rank){.bytes = total};
    f->state = aligned_alloc(65536, total);
    memset(f->state, 0, total);
    f->header = (void *)f->state;
    *f->header = (struct lc_state_header){.magic = LC_STATE_MAGIC,
                                          .version = LC_STATE_VERSION,
                                          .rank = rank,
                                          .size = size,
                                          .base_ticks = FAKE_BASE,
                                          .base_ns = FAKE_BASE,
                                          .trace_offset = tables};
    f->header->nodes = (struct lc_state_table){4096, 256, 0};
    f->header->names = (struct lc_state_table){32768, 256, 0};
    f->header->modules = (struct lc_state_table){36864, 16, 0};
    f->header->text = (struct lc_state_table){40960, 8192, 0};
    f->nodes = (void *)(f->state + 4096);
    f->text = f->state + 40960;
    struct lc_state_module *modules = (void *)(f->state + 36864);
    modules[0].path = fake_text(f, "/opt/app");
    modules[0].build_id = fake_text(f, "abc");
    f->header->modules.count = 1;
    f->area = (void *)(f->state + tables);
    *f->area = (struct lc_trace_area){.magic = LC_TRACE_MAGIC,
                                      .self = (uint64_t)f->area,
                                      .bytes = total - tables,
                                      .chunks_offset = area_bytes,
                                      .base_ticks = FAKE_BASE,
                                      .n_chunks = FAKE_CHUNKS,
                                      .rank = rank,
                                      .size = size};
    fake_stream(f, &f->area->defs, LC_TRACE_DEFS);
    struct lc_def_process process = {.rank = rank,
                                     .size = size,
                                     .pid = 100 + rank,
                                     .base_ticks = FAKE_BASE,
                                     .ns_per_tick = 1,
                                     .sample_period_ns = 2000000};
    static const char texts[] = "node0\0/opt/app\0-x";
    fake_define(f, LC_DEF_PROCESS, &process, sizeof(process), texts, sizeof(texts));
}

static inline struct lc_trace_stream *fake_thread(struct fake_rank *f, uint32_t thread,
                                                  uint64_t begin_ticks) {
    const struct lc_trace_thread definition = {thread, 1000 + thread, begin_ticks};
    fake_define(f, LC_DEF_THREAD, &definition, sizeof(definition), NULL, 0);
    struct lc_trace_stream *s = &f->area->streams[f->area->n_streams++];
    fake_stream(f, s, thread);
    s->begin_ticks = begin_ticks;
    return s;
}

static inline uint64_t at(enum lc_rec_kind kind, uint64_t ticks) {
    return lc_rec_word(kind, ticks);
}

static inline uint64_t on(uint32_t node, uint32_t common) {
    return node | (uint64_t)common << 32;
}

#endif
