/* Bringing a rank's streams together: chunks in the area, which a dying or malicious program may
 * have ruined, and files. */
#include "trace/rank.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const struct lc_trace_area *lc_trace_area_of(const void *state, size_t bytes) {
    const struct lc_state_header *header = state;
    if (!state || bytes < sizeof(*header) || header->magic != LC_STATE_MAGIC ||
        header->version != LC_STATE_VERSION)
        return NULL;
    uint64_t offset = header->trace_offset;
    if (offset == 0 || offset % 64 || offset > bytes ||
        bytes - offset < sizeof(struct lc_trace_area))
        return NULL;
    const struct lc_trace_area *area = (const struct lc_trace_area *)((const char *)state + offset);
    if (area->magic != LC_TRACE_MAGIC || area->bytes > bytes - offset ||
        area->chunks_offset > area->bytes || area->chunks_offset % 64 ||
        area->n_chunks > (area->bytes - area->chunks_offset) / LC_TRACE_CHUNK_BYTES)
        return NULL;
    return area;
}

static const struct lc_trace_chunk *chunk_at(const struct lc_trace_area *area, uint32_t number) {
    return (const struct lc_trace_chunk *)((const char *)area + area->chunks_offset) + number;
}

/* Words in use of a chunk; of the last one of a stream in use as far as the program's pointer had
 * come. */
static size_t words_of(const struct lc_trace_area *area, const struct lc_trace_stream *stream,
                       uint32_t number, bool last) {
    uint64_t used = chunk_at(area, number)->used_words;
    if (last && atomic_load_explicit(&stream->state, memory_order_acquire) == LC_STREAM_OPEN) {
        uint64_t begin = area->self + area->chunks_offset +
                         (uint64_t)number * LC_TRACE_CHUNK_BYTES +
                         offsetof(struct lc_trace_chunk, words);
        uint64_t next = (uint64_t)stream->next;
        used = next >= begin ? (next - begin) / 8 : 0;
    }
    return used <= LC_TRACE_CHUNK_WORDS ? (size_t)used : 0;
}

/* Calls visit for each chunk of the stream in order. */
static enum lc_err for_each_chunk(const struct lc_trace_area *area,
                                  const struct lc_trace_stream *stream,
                                  enum lc_err (*visit)(void *, const uint64_t *, size_t),
                                  void *what) {
    uint32_t number = stream->first_chunk;
    for (uint32_t steps = 0; number < area->n_chunks && steps < area->n_chunks; steps++) {
        bool last = number == stream->last_chunk;
        LC_TRY(visit(what, chunk_at(area, number)->words, words_of(area, stream, number, last)));
        if (last)
            break;
        number = chunk_at(area, number)->next;
    }
    return LC_OK;
}

static enum lc_err add_segment(void *what, const uint64_t *words, size_t n_words) {
    struct lc_trace_location *l = what;
    LC_TRY(lc_grow(&l->segments, &l->cap_segments, l->n_segments + 1, sizeof(*l->segments)));
    l->segments[l->n_segments++] = (struct lc_trace_segment){.words = words, .n_words = n_words};
    return LC_OK;
}

static enum lc_err add_bytes(void *what, const uint64_t *words, size_t n_words) {
    struct lc_strbuf *out = what;
    lc_strbuf_add(out, (const char *)words, n_words * 8);
    return lc_strbuf_ok(out) ? LC_OK : lc_fail(LC_ERR_NOMEM, "trace: not enough memory");
}

static struct lc_trace_location *add_location(struct lc_trace_rank *rank, uint32_t thread) {
    if (lc_grow(&rank->locations, &rank->cap_locations, rank->n_locations + 1,
                sizeof(*rank->locations)) != LC_OK)
        return NULL;
    struct lc_trace_location *l = &rank->locations[rank->n_locations++];
    *l = (struct lc_trace_location){.thread = thread};
    return l;
}

static enum lc_err add_file(struct lc_trace_location *l, const char *dir, int rank) {
    char *path = lc_trace_path(dir, "r%d.t%u.raw", rank, l->thread);
    enum lc_err err = lc_trace_map_file(&l->file, path);
    free(path);
    if (err == LC_OK && l->file.bytes >= 8)
        err = add_segment(l, l->file.at, l->file.bytes / 8);
    if (err == LC_OK && l->n_segments)
        l->segments[l->n_segments - 1].file = true;
    return err;
}

static enum lc_err definition_bytes(struct lc_strbuf *out, const struct lc_trace_area *area,
                                    const char *dir, int rank) {
    struct lc_trace_mapped file = {0};
    char *path = lc_trace_path(dir, "r%d.defs", rank);
    enum lc_err err = lc_trace_map_file(&file, path);
    free(path);
    if (err == LC_OK && file.bytes)
        lc_strbuf_add(out, file.at, file.bytes);
    lc_trace_unmap(&file);
    if (err == LC_OK && area)
        err = for_each_chunk(area, &area->defs, add_bytes, out);
    return err;
}

enum lc_err lc_trace_rank_from_state(struct lc_trace_rank *rank, const void *state, size_t bytes,
                                     const char *dir) {
    const struct lc_trace_area *area = lc_trace_area_of(state, bytes);
    if (!area)
        return lc_fail(
            LC_ERR_NOT_FOUND,
            "trace: the program left none: it did not call MPI_Init, or tracing was off");
    struct lc_strbuf defs = {0};
    enum lc_err err = definition_bytes(&defs, area, dir, area->rank);
    if (err == LC_OK)
        err = lc_trace_defs_parse(&rank->defs, lc_strbuf_get(&defs), defs.length);
    lc_strbuf_free(&defs);
    LC_TRY(err);
    LC_TRY(lc_trace_defs_tree_from_state(&rank->defs, state, bytes));
    uint32_t n = atomic_load_explicit(&area->n_streams, memory_order_acquire);
    for (uint32_t i = 0; i < n && i < LC_TRACE_STREAMS; i++) {
        const struct lc_trace_stream *stream = &area->streams[i];
        if (atomic_load_explicit(&stream->state, memory_order_acquire) == LC_STREAM_UNUSED)
            continue;
        struct lc_trace_location *l = add_location(rank, stream->thread);
        if (!l)
            return LC_ERR_NOMEM;
        l->begin_ticks = stream->begin_ticks;
        rank->lost_records += stream->lost_records;
        if (stream->flushed_bytes)
            LC_TRY(add_file(l, dir, area->rank));
        LC_TRY(for_each_chunk(area, stream, add_segment, l));
    }
    rank->lost_records += area->defs.lost_records;
    rank->n_flushes = area->n_flushes;
    rank->lost_threads = atomic_load_explicit(&area->lost_threads, memory_order_relaxed);
    return LC_OK;
}

static bool thread_file(const char *name, int rank, uint32_t *thread) {
    int r = -1, end = 0;
    return sscanf(name, "r%d.t%u.raw%n", &r, thread, &end) == 2 && r == rank && end > 0 &&
           name[end] == 0;
}

static uint64_t begin_of(const struct lc_trace_defs *defs, uint32_t thread) {
    for (size_t i = 0; i < defs->n_threads; i++)
        if (defs->threads[i].thread == thread)
            return defs->threads[i].begin_ticks;
    return 0;
}

enum lc_err lc_trace_rank_from_files(struct lc_trace_rank *rank, const char *dir, int number) {
    struct lc_strbuf defs = {0};
    enum lc_err err = definition_bytes(&defs, NULL, dir, number);
    if (err == LC_OK && defs.length == 0)
        err = lc_fail(LC_ERR_NOT_FOUND, "%s: rank %d left no definitions: run again", dir, number);
    if (err == LC_OK)
        err = lc_trace_defs_parse(&rank->defs, lc_strbuf_get(&defs), defs.length);
    lc_strbuf_free(&defs);
    LC_TRY(err);
    char *traces = lc_trace_path(dir, "%s", "");
    DIR *files = traces ? opendir(traces) : NULL;
    free(traces);
    struct dirent *entry;
    uint32_t thread;
    while (files && err == LC_OK && (entry = readdir(files))) {
        if (!thread_file(entry->d_name, number, &thread))
            continue;
        struct lc_trace_location *l = add_location(rank, thread);
        err = l ? add_file(l, dir, number) : LC_ERR_NOMEM;
        if (l)
            l->begin_ticks = begin_of(&rank->defs, thread);
    }
    if (files)
        closedir(files);
    return err;
}

void lc_trace_rank_free(struct lc_trace_rank *rank) {
    for (size_t i = 0; i < rank->n_locations; i++) {
        free(rank->locations[i].segments);
        lc_trace_unmap(&rank->locations[i].file);
    }
    free(rank->locations);
    lc_trace_defs_free(&rank->defs);
    *rank = (struct lc_trace_rank){0};
}

static enum lc_err append(void *what, const uint64_t *words, size_t n_words) {
    return fwrite(words, 8, n_words, what) == n_words ? LC_OK
                                                      : lc_fail_errno(LC_ERR_IO, "raw trace");
}

static enum lc_err append_stream(const struct lc_trace_area *area,
                                 const struct lc_trace_stream *stream, char *path,
                                 const struct lc_strbuf *more) {
    FILE *file = path ? fopen(path, "ab") : NULL;
    enum lc_err err = file ? for_each_chunk(area, stream, append, file)
                           : lc_fail_errno(LC_ERR_IO, "%s", path ? path : "");
    if (file && err == LC_OK && more &&
        fwrite(lc_strbuf_get(more), 1, more->length, file) != more->length)
        err = lc_fail_errno(LC_ERR_IO, "%s", path);
    if (file && fclose(file) != 0 && err == LC_OK)
        err = lc_fail_errno(LC_ERR_IO, "%s", path);
    free(path);
    return err;
}

enum lc_err lc_trace_salvage_streams(const void *state, size_t bytes, const char *dir,
                                     const struct lc_strbuf *more) {
    const struct lc_trace_area *area = lc_trace_area_of(state, bytes);
    if (!area)
        return LC_OK;
    LC_TRY(append_stream(area, &area->defs, lc_trace_path(dir, "r%d.defs", area->rank), more));
    uint32_t n = atomic_load_explicit(&area->n_streams, memory_order_acquire);
    for (uint32_t i = 0; i < n && i < LC_TRACE_STREAMS; i++) {
        const struct lc_trace_stream *stream = &area->streams[i];
        if (atomic_load_explicit(&stream->state, memory_order_acquire) != LC_STREAM_UNUSED)
            LC_TRY(append_stream(
                area, stream, lc_trace_path(dir, "r%d.t%u.raw", area->rank, stream->thread), NULL));
    }
    return LC_OK;
}
