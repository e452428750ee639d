/* Raw streams of two made-up ranks become an archive; libotf2 reads it back. */
#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "../first_seed.h"
#include "fake_rank.h"
#include "trace/archive.h"

/* Global events as text, one line each: "location time what". */
static struct lc_strbuf seen;

static void line(OTF2_LocationRef location, OTF2_TimeStamp time, const char *format, ...) {
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    lc_strbuf_printf(&seen, "%llu:%llu@%llu %s\n", (unsigned long long)(location >> 32),
                     (unsigned long long)(location & 0xffffffff),
                     (unsigned long long)time - FAKE_BASE, text);
}

static char *region_names[64], *region_files[64], *strings[256];
static uint32_t comm_group[16];
static char context_names[16][64], generator_names[16][64];

static OTF2_CallbackCode def_string(void *d, OTF2_StringRef self, const char *text) {
    (void)d;
    free(strings[self]);
    strings[self] = strdup(text);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode def_region(void *d, OTF2_RegionRef self, OTF2_StringRef name,
                                    OTF2_StringRef canonical, OTF2_StringRef text,
                                    OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                    OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                    uint32_t end) {
    (void)d, (void)canonical, (void)text, (void)role, (void)paradigm, (void)flags, (void)begin,
        (void)end;
    region_names[self] = strings[name];
    region_files[self] = file != OTF2_UNDEFINED_STRING ? strings[file] : NULL;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode def_comm(void *d, OTF2_CommRef self, OTF2_StringRef name,
                                  OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags) {
    (void)d, (void)name, (void)parent, (void)flags;
    comm_group[self] = group;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode def_context(void *d, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                     OTF2_SourceCodeLocationRef place,
                                     OTF2_CallingContextRef parent) {
    (void)d, (void)place;
    bool outer = parent == OTF2_UNDEFINED_CALLING_CONTEXT;
    assert_true(self < 16 && (outer || parent < self));
    snprintf(context_names[self], sizeof context_names[self], "%s%s%s",
             outer ? "" : context_names[parent], outer ? "" : "/", region_names[region]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode def_generator(void *d, OTF2_InterruptGeneratorRef self,
                                       OTF2_StringRef name, OTF2_InterruptGeneratorMode mode,
                                       OTF2_Base base, int64_t exponent, uint64_t period) {
    (void)d;
    assert_true(self < 16 && base == OTF2_BASE_DECIMAL);
    snprintf(generator_names[self], sizeof generator_names[self], "%s, %llu%s", strings[name],
             (unsigned long long)period, mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME ? " ns" : "");
    assert_int_equal(exponent, mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME ? -9 : 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_sample(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                    OTF2_AttributeList *a, OTF2_CallingContextRef context,
                                    uint32_t distance, OTF2_InterruptGeneratorRef generator) {
    (void)d, (void)a;
    line(l, t, "sample %s, distance %u, %s", context_names[context], distance,
         generator_names[generator]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_enter(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                   OTF2_AttributeList *a, OTF2_RegionRef region) {
    (void)d, (void)a;
    line(l, t, "enter %s", region_names[region]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_leave(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                   OTF2_AttributeList *a, OTF2_RegionRef region) {
    (void)d, (void)a;
    line(l, t, "leave %s", region_names[region]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_send(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                  OTF2_AttributeList *a, uint32_t receiver, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t length) {
    (void)d, (void)a;
    line(l, t, "send to %u comm %u tag %u bytes %llu", receiver, comm, tag,
         (unsigned long long)length);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_irecv(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                   OTF2_AttributeList *a, uint32_t sender, OTF2_CommRef comm,
                                   uint32_t tag, uint64_t length, uint64_t request) {
    (void)d, (void)a;
    line(l, t, "irecv from %u comm %u tag %u bytes %llu request %llu", sender, comm, tag,
         (unsigned long long)length, (unsigned long long)request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_request(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                     OTF2_AttributeList *a, uint64_t request) {
    (void)d, (void)a;
    line(l, t, "irecv request %llu", (unsigned long long)request);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_coll(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                  OTF2_AttributeList *a, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                  uint32_t root, uint64_t sent, uint64_t received) {
    (void)d, (void)a;
    line(l, t, "collective %u comm %u root %d %llu %llu", op, comm, (int)root,
         (unsigned long long)sent, (unsigned long long)received);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_flush(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                   OTF2_AttributeList *a, OTF2_TimeStamp stop) {
    (void)d, (void)a;
    line(l, t, "flush until %llu", (unsigned long long)stop - FAKE_BASE);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_parameter(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                       OTF2_AttributeList *a, OTF2_ParameterRef p,
                                       OTF2_StringRef text) {
    (void)d, (void)a, (void)p;
    line(l, t, "phase %s", strings[text]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode evt_thread(OTF2_LocationRef l, OTF2_TimeStamp t, void *d,
                                    OTF2_AttributeList *a, OTF2_CommRef comm, uint64_t n) {
    (void)d, (void)a, (void)comm;
    line(l, t, "thread %llu", (unsigned long long)n);
    return OTF2_CALLBACK_SUCCESS;
}

static uint64_t locations[8];
static size_t n_locations;

static OTF2_CallbackCode def_location(void *d, OTF2_LocationRef self, OTF2_StringRef name,
                                      OTF2_LocationType type, uint64_t n_events,
                                      OTF2_LocationGroupRef group) {
    (void)name, (void)type, (void)n_events, (void)group;
    locations[n_locations++] = self;
    OTF2_Reader_SelectLocation(d, self);
    return OTF2_CALLBACK_SUCCESS;
}

static void read_events(OTF2_Reader *reader) {
    OTF2_GlobalEvtReader *events = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, evt_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, evt_leave);
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, evt_send);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(callbacks, evt_irecv);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, evt_request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, evt_coll);
    OTF2_GlobalEvtReaderCallbacks_SetBufferFlushCallback(callbacks, evt_flush);
    OTF2_GlobalEvtReaderCallbacks_SetParameterStringCallback(callbacks, evt_parameter);
    OTF2_GlobalEvtReaderCallbacks_SetThreadCreateCallback(callbacks, evt_thread);
    OTF2_GlobalEvtReaderCallbacks_SetThreadBeginCallback(callbacks, evt_thread);
    OTF2_GlobalEvtReaderCallbacks_SetCallingContextSampleCallback(callbacks, evt_sample);
    OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, NULL);
    uint64_t n = 0;
    assert_int_equal(OTF2_Reader_ReadAllGlobalEvents(reader, events, &n), OTF2_SUCCESS);
    OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
    OTF2_Reader_CloseGlobalEvtReader(reader, events);
}

static void read_archive(const char *dir) {
    char path[256];
    snprintf(path, sizeof(path), "%s/traces.otf2", dir);
    OTF2_Reader *reader = OTF2_Reader_Open(path);
    assert_non_null(reader);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, def_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, def_region);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, def_comm);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, def_location);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(callbacks, def_context);
    OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(callbacks, def_generator);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, callbacks, reader);
    uint64_t n = 0;
    n_locations = 0;
    assert_int_equal(OTF2_Reader_ReadAllGlobalDefinitions(reader, defs, &n), OTF2_SUCCESS);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);
    for (size_t i = 0; i < n_locations; i++) {
        OTF2_DefReader *local = OTF2_Reader_GetDefReader(reader, locations[i]);
        if (local) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n);
            OTF2_Reader_CloseDefReader(reader, local);
        }
        OTF2_Reader_GetEvtReader(reader, locations[i]);
    }
    OTF2_Reader_CloseDefFiles(reader);
    read_events(reader);
    OTF2_Reader_CloseEvtFiles(reader);
    OTF2_Reader_Close(reader);
}

static void name_of(void *context, const char *module, const char *build_id, uint64_t offset,
                    bool is_main, struct lc_trace_symbol *out) {
    (void)context, (void)module, (void)build_id, (void)is_main;
    out->name = offset == 0x100   ? "main"
                : offset == 0x200 ? "solve"
                : offset == 0x300 ? "kernel"
                                  : NULL;
    out->file = offset == 0x300 ? NULL : "app.c"; /* nothing for a debugger */
    out->line = (uint32_t)offset;
}

static void line_of(void *context, const char *module, const char *build_id, uint64_t offset,
                    struct lc_trace_symbol *out) {
    name_of(context, module, build_id, offset, false, out);
}

static const struct lc_trace_names names = {NULL, name_of, line_of};
static const struct lc_trace_options options = {.patience_s = 5, .names = &names};

/* main -> MPI_Init; main -> solve -> MPI_Send (rank 0) or MPI_Wait (rank 1); main -> MPI_Allreduce.
 * Nodes are numbered differently on the ranks, as are the two communicators made during the run. */
struct nodes {
    uint32_t main, solve, init, message, wait, allreduce;
    uint32_t kernel, asleep; /* found by samples, below main */
};

static struct nodes make_nodes(struct fake_rank *f, int rank) {
    struct nodes n;
    uint32_t root = fake_node(f, LC_NONE, LC_RAW_ROOT, 0, 0, 0);
    n.main = fake_node(f, root, LC_RAW_FRAME, 0, 0x100, LC_RAW_NODE_MAIN);
    if (rank == 1)
        fake_node(f, n.main, LC_RAW_MPI, fake_name(f, "MPI_Comm_rank"), 0, 0);
    n.init = fake_node(f, n.main, LC_RAW_MPI, fake_name(f, "MPI_Init"), 0, 0);
    n.solve = fake_node(f, n.main, LC_RAW_FRAME, 0, 0x200, 0);
    n.message =
        fake_node(f, n.solve, LC_RAW_MPI, fake_name(f, rank == 0 ? "MPI_Send" : "MPI_Irecv"), 0, 0);
    n.wait = fake_node(f, n.solve, LC_RAW_MPI, fake_name(f, "MPI_Wait"), 0, 0);
    fake_node(f, n.main, LC_RAW_SAMPLED, LC_NONE, LC_RAW_SELF, 0);
    n.kernel = fake_node(f, n.main, LC_RAW_SAMPLED, 0, 0x300, 0);
    n.asleep = fake_node(f, n.kernel, LC_RAW_SAMPLED, LC_NONE, LC_RAW_OFF_CPU, 0);
    n.allreduce = fake_node(f, n.main, LC_RAW_MPI, fake_name(f, "MPI_Allreduce"), 0, 0);
    return n;
}

static void make_comms(struct fake_rank *f, int rank) {
    static const int32_t both[] = {0, 1};
    const int32_t self[] = {rank};
    fake_comm(f, 0, LC_COMM_WORLD, 2, both, "MPI_COMM_WORLD");
    fake_comm(f, 1, LC_COMM_SELF, 1, self, "MPI_COMM_SELF");
    if (rank == 1)
        fake_comm(f, 2, 0, 1, self, "mine");
    fake_comm(f, 2 + (uint32_t)rank, 0, 2, both, "twin");
}

static void make_rank(struct fake_rank *f, int rank) {
    fake_new(f, rank, 2);
    make_comms(f, rank);
    struct nodes n = make_nodes(f, rank);
    struct lc_trace_stream *s = fake_thread(f, 0, 0);
    uint32_t twin = 2 + (uint32_t)rank, text[2] = {0, LC_STRING_PHASE};
    fake_define(f, LC_DEF_STRING, text, sizeof(text), "warm up", 8);
    FAKE(f, s, at(LC_REC_CALL, 10), on(n.init, 0));
    FAKE(f, s, at(LC_REC_EXIT, 20));
    FAKE(f, s, at(LC_REC_PHASE, 25), 0);
    if (rank == 0) {
        FAKE(f, s, at(LC_REC_SAMPLE, 30), on(n.kernel, LC_REC_CLOCK));
        FAKE(f, s, at(LC_REC_SAMPLE, 40), on(n.main, LC_REC_CLOCK + 1));
        FAKE(f, s, at(LC_REC_CALL, 50), on(n.message, 1));
        FAKE(f, s, lc_rec_pair(LC_REC_SEND, twin, 1), 7, 4096);
        FAKE(f, s, at(LC_REC_EXIT, 60)); /* the end of solve, too */
        FAKE(f, s, at(LC_REC_SAMPLE, 62), on(n.asleep, LC_REC_SCHEDULER));
        FAKE(f, s, at(LC_REC_SAMPLE, 66), on(n.main, LC_REC_SCHEDULER));
    } else {
        FAKE(f, s, at(LC_REC_CALL, 30), on(n.message, 1));
        FAKE(f, s, lc_rec_word(LC_REC_IRECV_POST, 1));
        FAKE(f, s, at(LC_REC_EXIT, 32));
        FAKE(f, s, at(LC_REC_CALL, 40), on(n.wait, 2)); /* the same activation of solve */
        FAKE(f, s, lc_rec_pair(LC_REC_IRECV, twin, 0), 7, 4096, 1);
        FAKE(f, s, at(LC_REC_EXIT, 62));
        FAKE(f, s, at(LC_REC_FLUSH, 63), 65);
    }
    FAKE(f, s, at(LC_REC_CALL, 70), on(n.allreduce, 1));
    FAKE(f, s, lc_rec_pair(LC_REC_COLL, 0, LC_REC_ROOT_NONE),
         (uint64_t)OTF2_COLLECTIVE_OP_ALLREDUCE << 56 | 16, 16);
    FAKE(f, s, at(LC_REC_EXIT, 80));
    if (rank == 0) {
        struct lc_trace_stream *t = fake_thread(f, 1, 55);
        FAKE(f, t, at(LC_REC_CALL, 57), on(n.message, 0));
        FAKE(f, t, at(LC_REC_EXIT, 58));
        FAKE(f, t, at(LC_REC_END, 59));
    }
}

enum {
    EVENTS = 45
}; /* one more than lines of some kinds: begins of collectives, ends of threads */
static const char expected[] =
    "0:0@0 enter main\n0:1@0 enter main\n0:0@10 enter MPI_Init\n0:1@10 enter MPI_Init\n"
    "0:0@20 leave MPI_Init\n0:0@30 sample main/kernel, distance 2, time on the processor, 2000000 "
    "ns\n"
    "0:0@40 sample main, distance 1, time on the processor, 4000000 ns\n"
    "0:0@62 sample main/kernel/(off CPU), distance 3, scheduler, 1\n"
    "0:0@66 sample main, distance 1, scheduler, 1\n0:1@20 leave MPI_Init\n0:0@25 phase warm "
    "up\n0:1@25 phase warm up\n"
    "0:1@30 enter solve\n0:1@30 enter MPI_Irecv\n0:1@30 irecv request 1\n0:1@32 leave MPI_Irecv\n"
    "0:1@40 enter MPI_Wait\n0:0@50 enter solve\n0:0@50 enter MPI_Send\n"
    "0:0@50 send to 1 comm 3 tag 7 bytes 4096\n0:0@55 thread 1\n1:0@55 thread 1\n1:0@55 enter "
    "main\n"
    "1:0@57 enter solve\n1:0@57 enter MPI_Send\n1:0@58 leave MPI_Send\n1:0@58 leave solve\n"
    "1:0@59 leave main\n0:0@60 leave MPI_Send\n0:0@60 leave solve\n"
    "0:1@62 irecv from 0 comm 3 tag 7 bytes 4096 request 1\n0:1@62 leave MPI_Wait\n0:1@63 flush "
    "until 65\n"
    "0:1@65 leave solve\n0:0@70 enter MPI_Allreduce\n0:1@70 enter MPI_Allreduce\n"
    "0:0@80 collective 11 comm 0 root -1 16 16\n0:0@80 leave MPI_Allreduce\n0:0@80 leave main\n"
    "0:1@80 collective 11 comm 0 root -1 16 16\n0:1@80 leave MPI_Allreduce\n0:1@80 leave main\n";

/* Lines may come in another order only among those of one time on different locations: compare as
 * sorted sets by time. */
static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(const char *text) {
    char *lines[256], *copy = strdup(text), *rest = NULL;
    size_t n = 0;
    for (char *l = strtok_r(copy, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
        lines[n++] = l;
    qsort(lines, n, sizeof(*lines), compare_lines);
    struct lc_strbuf out = {0};
    for (size_t i = 0; i < n; i++)
        lc_strbuf_printf(&out, "%s\n", lines[i]);
    free(copy);
    return lc_strbuf_take(&out);
}

/* Without a source file: the library or program that holds the function. */
static void check_files(void) {
    for (size_t i = 0; i < sizeof region_names / sizeof region_names[0]; i++) {
        if (region_names[i] != NULL && strcmp(region_names[i], "kernel") == 0)
            assert_string_equal(region_files[i], "/opt/app");
        if (region_names[i] != NULL && strcmp(region_names[i], "solve") == 0)
            assert_string_equal(region_files[i], "app.c");
    }
}

static void check_archive(const char *dir) {
    lc_strbuf_clear(&seen);
    read_archive(dir);
    char *a = sorted(lc_strbuf_get(&seen)), *b = sorted(expected);
    assert_string_equal(a, b);
    free(a);
    free(b);
    check_files();
}

static void remove_dir(const char *dir) {
    char command[300];
    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

/* What MPI_Finalize does, without MPI. */
static void unify(struct fake_rank ranks[2], const char *dir) {
    struct lc_union u = {0};
    struct lc_trace_defs defs[2];
    memset(defs, 0, sizeof(defs));
    for (int i = 1; i >= 0; i--) {
        struct lc_union one = {0}, received = {0};
        struct lc_strbuf stream = {0}, packed = {0};
        struct lc_trace_chunk *chunks =
            (void *)((char *)ranks[i].area + ranks[i].area->chunks_offset);
        struct lc_trace_stream *s = &ranks[i].area->defs;
        lc_strbuf_add(&stream, (char *)chunks[s->first_chunk].words,
                      (size_t)((char *)s->next - (char *)chunks[s->first_chunk].words));
        assert_int_equal(lc_trace_defs_parse(&defs[i], stream.text, stream.length), LC_OK);
        assert_int_equal(lc_trace_defs_tree_from_state(&defs[i], ranks[i].state, ranks[i].bytes),
                         LC_OK);
        assert_int_equal(lc_union_of_rank(&one, &defs[i], false), LC_OK);
        assert_int_equal(lc_union_pack(&one, &packed), LC_OK);
        assert_int_equal(lc_union_unpack(&received, packed.text, packed.length), LC_OK);
        assert_int_equal(lc_union_merge(&u, &received), LC_OK);
        lc_union_free(&one);
        lc_union_free(&received);
        lc_strbuf_free(&stream);
        lc_strbuf_free(&packed);
    }
    struct lc_strbuf packed = {0};
    char path[256];
    assert_int_equal(lc_union_pack(&u, &packed), LC_OK);
    snprintf(path, sizeof(path), "mkdir -p '%s/traces'", dir);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof(path), "%s/traces/union", dir);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(packed.text, 1, packed.length, file);
    fclose(file);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lc_union_map(&u, &defs[i], false), LC_OK);
        for (uint32_t type = 0; type < LC_UNION_TYPES; type++) {
            uint32_t head[2] = {type, (uint32_t)defs[i].n_maps[type]};
            fake_define(&ranks[i], LC_DEF_MAP, head, sizeof(head), defs[i].maps[type],
                        defs[i].n_maps[type] * 4);
        }
        ranks[i].area->n_global_comms = (uint32_t)lc_union_count(&u, LC_UNION_COMM);
        ranks[i].area->finalized = 1;
        lc_trace_defs_free(&defs[i]);
    }
    lc_union_free(&u);
    lc_strbuf_free(&packed);
}

static char *new_dir(void) {
    char *dir = strdup("/tmp/latecomer-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
    return dir;
}

static void test_good_end(void **unused) {
    (void)unused;
    struct fake_rank ranks[2];
    char *dir = new_dir();
    make_rank(&ranks[0], 0);
    make_rank(&ranks[1], 1);
    unify(ranks, dir);
    struct lc_trace_summary summary;
    assert_int_equal(lc_trace_finish(ranks[1].state, ranks[1].bytes, dir, &options, &summary),
                     LC_OK);
    assert_int_equal(lc_trace_finish(ranks[0].state, ranks[0].bytes, dir, &options, &summary),
                     LC_OK);
    assert_int_equal(summary.events, EVENTS);
    check_archive(dir);
    remove_dir(dir);
    free(dir);
    free(ranks[0].state);
    free(ranks[1].state);
}

static void test_recovered(void **unused) {
    (void)unused;
    struct fake_rank ranks[2];
    struct lc_trace_recovered result;
    char *dir = new_dir();
    for (int i = 0; i < 2; i++) {
        make_rank(&ranks[i], i);
        assert_int_equal(lc_trace_salvage(ranks[i].state, ranks[i].bytes, dir), LC_OK);
        free(ranks[i].state);
    }
    assert_int_equal(lc_trace_recover(dir, &options, &result), LC_OK);
    assert_int_equal(result.ranks_found, 2);
    check_archive(dir);
    assert_int_equal(lc_trace_recover(dir, &options, &result), LC_OK);
    assert_true(result.complete_already);
    remove_dir(dir);
    free(dir);
}

/* A stream cut off anywhere, and one whose words are noise, still gives an archive with balanced
 * regions. */
static void test_cut_off(void **unused) {
    (void)unused;
    for (unsigned cut = 1; cut < 24; cut++) {
        struct fake_rank rank;
        struct lc_trace_recovered result;
        char *dir = new_dir();
        make_rank(&rank, 0);
        struct lc_trace_stream *s = &rank.area->streams[0];
        s->next -= cut;
        for (unsigned i = 0; i < cut % 5; i++)
            *s->next++ = 0x9e3779b97f4a7c15u * (i + cut);
        if (s->next > s->limit)
            s->next = s->limit;
        assert_int_equal(lc_trace_salvage(rank.state, rank.bytes, dir), LC_OK);
        assert_int_equal(lc_trace_recover(dir, &options, &result), LC_OK);
        lc_strbuf_clear(&seen);
        read_archive(dir);
        int enters = 0, leaves = 0;
        for (const char *p = lc_strbuf_get(&seen); (p = strstr(p, " enter ")); p++)
            enters++;
        for (const char *p = lc_strbuf_get(&seen); (p = strstr(p, " leave ")); p++)
            leaves++;
        assert_int_equal(enters, leaves);
        assert_true(enters > 0);
        remove_dir(dir);
        free(dir);
        free(rank.state);
    }
}

/* A pointer that has left its chunk: nothing is read beyond the chunk. */
static void test_ruined_pointer(void **unused) {
    (void)unused;
    struct fake_rank rank;
    struct lc_trace_recovered result;
    char *dir = new_dir();
    make_rank(&rank, 0);
    rank.area->streams[0].next += UINT64_C(1) << 36;
    assert_int_equal(lc_trace_salvage(rank.state, rank.bytes, dir), LC_OK);
    assert_int_equal(lc_trace_recover(dir, &options, &result), LC_OK);
    remove_dir(dir);
    free(dir);
    free(rank.state);
}

static void test_ruined_state(void **unused) {
    (void)unused;
    struct fake_rank rank;
    make_rank(&rank, 0);
    uint64_t seed = first_seed(1);
    for (int round = 0; round < 60; round++) {
        char *copy = malloc(rank.bytes);
        memcpy(copy, rank.state, rank.bytes);
        for (int i = 0; i < 20; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            copy[(seed >> 33) % (i % 2 ? rank.bytes : sizeof(struct lc_state_header) + 4096)] ^=
                (char)(seed >> 20);
        }
        char *dir = new_dir();
        struct lc_trace_recovered result;
        if (lc_trace_salvage(copy, rank.bytes, dir) == LC_OK)
            (void)lc_trace_recover(dir, &options, &result);
        remove_dir(dir);
        free(dir);
        free(copy);
    }
    free(rank.state);
}

static void test_filter(void **unused) {
    (void)unused;
    struct fake_rank rank;
    struct lc_trace_recovered result;
    char *dir = new_dir(), path[256];
    make_rank(&rank, 0);
    snprintf(path, sizeof(path), "%s/filter", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("exclude sol*  # callers\nmin-bytes 5000\n", file);
    fclose(file);
    struct lc_trace_options filtered = options;
    filtered.filter = path;
    assert_int_equal(lc_trace_salvage(rank.state, rank.bytes, dir), LC_OK);
    assert_int_equal(lc_trace_recover(dir, &filtered, &result), LC_OK);
    lc_strbuf_clear(&seen);
    read_archive(dir);
    assert_null(strstr(lc_strbuf_get(&seen), "solve"));
    assert_null(strstr(lc_strbuf_get(&seen), "send to"));
    assert_non_null(strstr(lc_strbuf_get(&seen), "enter MPI_Send"));
    remove_dir(dir);
    free(dir);
    free(rank.state);
}

static int free_texts(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        free(strings[i]);
    lc_strbuf_free(&seen);
    return 0;
}

/* A damaged number must not reserve room for all below it. */
static void test_high_number(void **state) {
    struct {
        uint64_t word;
        uint32_t id, n;
    } group = {(uint64_t)LC_DEF_GROUP << 56 | 8, 1u << 23, 0};
    struct lc_trace_defs defs;
    (void)state;
    memset(&defs, 0, sizeof(defs));
    assert_int_equal(lc_trace_defs_parse(&defs, &group, sizeof(group)), LC_ERR_FORMAT);
    assert_int_equal(defs.cap_groups, 0);
    lc_trace_defs_free(&defs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_end),     cmocka_unit_test(test_recovered),
        cmocka_unit_test(test_cut_off),      cmocka_unit_test(test_ruined_pointer),
        cmocka_unit_test(test_ruined_state), cmocka_unit_test(test_filter),
        cmocka_unit_test(test_high_number)};
    return cmocka_run_group_tests(tests, NULL, free_texts);
}
