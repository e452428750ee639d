/* Fuzz target: what a program that died has left in the memory it shares with its parent: a call
 * tree, records of a thread in any order with any contents, and then bytes of all that overwritten,
 * as stray stores do. The profile so far and the archive of the trace are made of it, or refused.
 * With clang and libFuzzer (preset fuzz), else with driver.c. */
#include <ftw.h>
#include <otf2/otf2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/trace/fake_rank.h"
#include "base/timer.h"
#include "trace/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { MAX_RECORDS = 4000, NODES = 10, THREADS = 2 };

struct input {
    const uint8_t *at;
    size_t left;
};

static uint32_t next(struct input *in) {
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

/* Mostly small, so that ids are known; sometimes anything. */
static uint64_t number(struct input *in) {
    uint32_t low = next(in);
    if (low < 0xf0)
        return low % 16;
    if (low < 0xf8)
        return UINT64_MAX >> (low & 7) * 8;
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | next(in);
    return value;
}

static OTF2_ErrorCode silent(void *user, const char *file, uint64_t line, const char *function,
                             OTF2_ErrorCode code, const char *format, va_list arguments) {
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

static void name_of(void *context, const char *module, const char *build_id, uint64_t offset,
                    bool is_main, struct lc_trace_symbol *out) {
    (void)context, (void)module, (void)build_id, (void)offset, (void)is_main;
    *out = (struct lc_trace_symbol){0};
}

static void line_of(void *context, const char *module, const char *build_id, uint64_t offset,
                    struct lc_trace_symbol *out) {
    name_of(context, module, build_id, offset, false, out);
}

static void make_definitions(struct fake_rank *f) {
    static const char *const calls[] = {"MPI_Init", "MPI_Send", "MPI_Irecv", "MPI_Allreduce",
                                        "MPI_Win_lock"};
    static const int32_t world[] = {0};
    static const uint32_t window[] = {0, 0}, group[] = {0, 1, 0}, string[] = {0, LC_STRING_PHASE};
    uint32_t root = fake_node(f, LC_NONE, LC_RAW_ROOT, 0, 0, 0);
    uint32_t in_main = fake_node(f, root, LC_RAW_FRAME, 0, 0x100, LC_RAW_NODE_MAIN);
    uint32_t solve = fake_node(f, in_main, LC_RAW_FRAME, 0, 0x200, 0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        fake_node(f, i % 2 ? solve : in_main, LC_RAW_MPI, fake_name(f, calls[i]), 0, 0);
    uint32_t step = fake_node(f, in_main, LC_RAW_REGION, fake_name(f, "step"), 0, 0);
    fake_node(f, step, LC_RAW_CUT, 0, 0, 0);
    fake_comm(f, 0, LC_COMM_WORLD, 1, world, "MPI_COMM_WORLD");
    fake_comm(f, 1, LC_COMM_SELF, 1, world, "MPI_COMM_SELF");
    fake_define(f, LC_DEF_WIN, window, sizeof window, NULL, 0);
    fake_define(f, LC_DEF_GROUP, group, sizeof group, NULL, 0);
    fake_define(f, LC_DEF_STRING, string, sizeof string, "warm up", 8);
    const struct lc_def_file file = {.id = 0};
    fake_define(f, LC_DEF_FILE, &file, sizeof file, NULL, 0);
}

/* Rows and measured waits of the profile, behind the tables. */
static void make_rows(struct fake_rank *f, bool late) {
    enum { CHUNK = 49152, WAIT = CHUNK + LC_STATE_CHUNK_BYTES };
    struct lc_state_thread *threads = (void *)(f->state + 45056);
    struct lc_state_chunk *chunk = (void *)(f->state + CHUNK);
    struct lc_state_row *rows = (void *)(chunk + 1);
    struct lc_state_wait *wait = (void *)(f->state + WAIT);
    f->header->header_bytes = sizeof *f->header;
    f->header->pid = 1;
    f->header->by_counter = 1;
    if (late) /* a tick is very long */
        f->header->base_ticks = lc_ticks() - 1;
    f->header->threads = (struct lc_state_table){45056, 4, THREADS};
    threads[0] = (struct lc_state_thread){.chunks = CHUNK, .end_ticks = FAKE_BASE + 1000};
    threads[1] = (struct lc_state_thread){.index = 1};
    chunk->n_rows = NODES;
    for (uint32_t i = 0; i < NODES; i++)
        rows[i] = (struct lc_state_row){
            .node = i, .size_class = (uint8_t)i, .count = 1, .sum = i, .max = UINT64_MAX};
    *wait = (struct lc_state_wait){.node = 3, .what = LC_STATE_WAIT_TIMES, .ticks = {5}};
    f->header->waits = WAIT;
}

/* A definition of any kind with any contents. */
static void make_definition(struct fake_rank *f, struct input *in) {
    unsigned char text[64] = {0};
    enum lc_def_type type = (enum lc_def_type)(next(in) % LC_DEF_TYPES);
    size_t length = next(in) % sizeof text;
    for (size_t i = 0; i < length; i++)
        text[i] = (unsigned char)next(in);
    fake_define(f, type, text, length, NULL, 0);
}

static void make_records(struct fake_rank *f, struct input *in) {
    struct lc_trace_stream *streams[THREADS] = {fake_thread(f, 0, 0), fake_thread(f, 1, 5)};
    uint64_t ticks = 0;
    for (uint32_t n = 0; in->left && n < MAX_RECORDS; n++) {
        uint32_t what = next(in);
        if (what == 255) {
            make_definition(f, in);
            continue;
        }
        enum lc_rec_kind kind = (enum lc_rec_kind)(1 + what % (LC_REC_KINDS - 1));
        unsigned words = lc_rec_words(kind);
        uint64_t record[4] = {lc_rec_word(kind, number(in))};
        bool timed = kind <= LC_REC_REGION_OUT || kind >= LC_REC_PHASE;
        if (timed && what < 240)
            record[0] = lc_rec_word(kind, ticks += next(in) % 8);
        else if (!timed && what < 240)
            record[0] = lc_rec_pair(kind, next(in) % 3, next(in) % 2);
        for (unsigned i = 1; i < words; i++)
            record[i] = number(in);
        fake_put(f, streams[what >> 6 & 1], words, record);
    }
}

/* Four bytes somewhere in the tables, the head of the trace area or its chunks. */
static void scribble(struct fake_rank *f, struct input *in, uint32_t times) {
    const uint64_t trace = f->header->trace_offset;
    const uint64_t places[] = {0, trace, trace + f->area->chunks_offset};
    for (; times > 0 && in->left > 0; times--) {
        uint64_t place = places[next(in) % 3], high = next(in);
        uint64_t where = place + (high << 8 | next(in)) / 4 * 4;
        uint32_t value = (uint32_t)number(in);
        memcpy(f->state + where, &value, sizeof value);
    }
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw) {
    (void)info, (void)type, (void)ftw;
    return remove(path);
}

static void read_profile(const struct fake_rank *f) {
    struct lc_raw *raw;
    if (lc_raw_new(&raw) != LC_OK)
        abort();
    if (lc_state_snapshot(f->state, f->bytes, 0, raw) == LC_OK && lc_raw_check(raw) != LC_OK)
        abort();
    lc_raw_free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const struct lc_trace_names names = {NULL, name_of, line_of};
    char directory[] = "/tmp/fuzz_left_XXXXXX";
    struct input in = {data, bytes};
    struct fake_rank f;
    struct lc_trace_recovered out = {0};
    if (bytes < 2 || mkdtemp(directory) == NULL)
        return 0;
    OTF2_Error_RegisterCallback(silent, NULL);
    lc_timer_init();
    uint32_t mode = next(&in);
    const struct lc_trace_options options = {
        .names = &names, .callpath = (int)(mode % 3), .handles = mode & 4};
    fake_new(&f, 0, 1);
    make_definitions(&f);
    make_rows(&f, mode & 128);
    struct input stray = {in.at, in.left < 64 ? in.left : 64};
    if (mode & 8) {
        in.at += stray.left;
        in.left -= stray.left;
    }
    make_records(&f, &in);
    if (mode & 8)
        scribble(&f, &stray, mode >> 4);
    read_profile(&f);
    if (lc_trace_salvage(f.state, f.bytes, directory) == LC_OK)
        lc_trace_recover(directory, &options, &out);
    free(f.state);
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
