/* Fuzz target: any bytes as a program's records. They become an OTF2 archive that libotf2 reads
 * without complaint, with everything in it that a damaged or hostile trace may have: calls without
 * end, unknown ids, requests started twice, time running backwards, teams inside each other. The
 * whole analysis has to end with a result. With clang: -fsanitize=fuzzer,address and this file;
 * else with driver.c. */
#include <ftw.h>
#include <otf2/otf2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/pipeline.h"
#include "base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum {
    PROCESSES = 3,
    THREADS = 3,
    LOCATIONS = PROCESSES * THREADS,
    RANKS = 100, /* numbers of groups apart from those of communicators */
    ALL_THREADS,
    MAX_RECORDS = 20000
};

static const struct {
    const char *name;
    OTF2_Paradigm paradigm;
    OTF2_RegionRole role;
    OTF2_RegionFlag flags;
} regions[] = {
    {"main", OTF2_PARADIGM_COMPILER, OTF2_REGION_ROLE_FUNCTION, OTF2_REGION_FLAG_NONE},
    {"step", OTF2_PARADIGM_USER, OTF2_REGION_ROLE_CODE, OTF2_REGION_FLAG_PHASE},
    {"a/b", OTF2_PARADIGM_COMPILER, OTF2_REGION_ROLE_FUNCTION, OTF2_REGION_FLAG_NONE},
    {"MPI_Init", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, OTF2_REGION_FLAG_NONE},
    {"MPI_Finalize", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, OTF2_REGION_FLAG_NONE},
    {"MPI_Send", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT, OTF2_REGION_FLAG_NONE},
    {"mpi_recv_", OTF2_PARADIGM_USER, OTF2_REGION_ROLE_POINT2POINT, OTF2_REGION_FLAG_NONE},
    {"MPI_Isend", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT, OTF2_REGION_FLAG_NONE},
    {"MPI_Irecv", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT, OTF2_REGION_FLAG_NONE},
    {"MPI_Waitall", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT, OTF2_REGION_FLAG_NONE},
    {"MPI_Waitsome", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT, OTF2_REGION_FLAG_NONE},
    {"MPI_Allreduce", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_REGION_FLAG_NONE},
    {"MPI_Neighbor_allgather", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_COLL_OTHER,
     OTF2_REGION_FLAG_NONE},
    {"MPI_Win_post", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_RMA, OTF2_REGION_FLAG_NONE},
    {"MPI_Win_start", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_RMA, OTF2_REGION_FLAG_NONE},
    {"MPI_Win_complete", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_RMA, OTF2_REGION_FLAG_NONE},
    {"MPI_Win_wait", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_RMA, OTF2_REGION_FLAG_NONE},
    {"MPI_File_open", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FILE_IO, OTF2_REGION_FLAG_NONE},
    {"parallel", OTF2_PARADIGM_OPENMP, OTF2_REGION_ROLE_PARALLEL, OTF2_REGION_FLAG_NONE},
    {"barrier", OTF2_PARADIGM_OPENMP, OTF2_REGION_ROLE_BARRIER, OTF2_REGION_FLAG_NONE},
    {"critical", OTF2_PARADIGM_OPENMP, OTF2_REGION_ROLE_CRITICAL, OTF2_REGION_FLAG_NONE},
    {"task", OTF2_PARADIGM_OPENMP, OTF2_REGION_ROLE_TASK, OTF2_REGION_FLAG_NONE},
    {"taskwait", OTF2_PARADIGM_OPENMP, OTF2_REGION_ROLE_TASK_WAIT, OTF2_REGION_FLAG_NONE}};
enum { REGIONS = sizeof regions / sizeof *regions };

struct input {
    const uint8_t *data;
    size_t left;
};

struct program {
    OTF2_Archive *archive;
    OTF2_EvtWriter *writers[LOCATIONS];
    uint64_t now[LOCATIONS];
    uint8_t stack[LOCATIONS][64]; /* regions open, so that most calls end */
    uint32_t depth[LOCATIONS];
};

static uint32_t next(struct input *in) {
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->data++;
}

/* Mostly one of the small numbers that are defined, now and then one that is not. */
static uint32_t id(struct input *in, uint32_t n) {
    uint32_t byte = next(in);
    return byte == 255 ? OTF2_UNDEFINED_UINT32 : byte == 254 ? n : byte % n;
}

static void write_message(struct input *in, OTF2_EvtWriter *w, uint64_t t) {
    uint32_t what = next(in) % 8, peer = id(in, PROCESSES), comm = id(in, 4), tag = next(in) % 2;
    uint64_t request = next(in) % 8, bytes = next(in) % 3 * 1000;
    switch (what) {
    case 0:
        OTF2_EvtWriter_MpiSend(w, NULL, t, peer, comm, tag, bytes);
        break;
    case 1:
        OTF2_EvtWriter_MpiRecv(w, NULL, t, peer, comm, tag, bytes);
        break;
    case 2:
        OTF2_EvtWriter_MpiIsend(w, NULL, t, peer, comm, tag, bytes, request);
        break;
    case 3:
        OTF2_EvtWriter_MpiIsendComplete(w, NULL, t, request);
        break;
    case 4:
        OTF2_EvtWriter_MpiIrecvRequest(w, NULL, t, request);
        break;
    case 5:
        OTF2_EvtWriter_MpiIrecv(w, NULL, t, peer, comm, tag, bytes, request);
        break;
    case 6:
        OTF2_EvtWriter_MpiRequestCancelled(w, NULL, t, request);
        break;
    default:
        OTF2_EvtWriter_MpiRequestTest(w, NULL, t, request);
    }
}

static void write_collective(struct input *in, OTF2_EvtWriter *w, uint64_t t) {
    uint32_t what = next(in) % 4, comm = id(in, 4), op = next(in) % 26, root = id(in, PROCESSES);
    uint64_t request = next(in) % 4, sizes = next(in);
    switch (what) {
    case 0:
        OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, t);
        break;
    case 1:
        OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, t, (OTF2_CollectiveOp)op, comm, root, sizes & 1,
                                        sizes >> 1 & 1);
        break;
    case 2:
        OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, t, request);
        break;
    default:
        OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, t, (OTF2_CollectiveOp)op, comm, root,
                                                     sizes & 1, sizes >> 1 & 1, request);
    }
}

static void write_threads(struct input *in, OTF2_EvtWriter *w, uint64_t t) {
    uint32_t what = next(in) % 7, team = 4 + next(in) % 3, lock = next(in) % 3,
             order = next(in) % 8;
    switch (what) {
    case 0:
        OTF2_EvtWriter_ThreadFork(w, NULL, t, OTF2_PARADIGM_OPENMP, THREADS);
        break;
    case 1:
        OTF2_EvtWriter_ThreadJoin(w, NULL, t, OTF2_PARADIGM_OPENMP);
        break;
    case 2:
        OTF2_EvtWriter_ThreadTeamBegin(w, NULL, t, team);
        break;
    case 3:
        OTF2_EvtWriter_ThreadTeamEnd(w, NULL, t, team);
        break;
    case 4:
        OTF2_EvtWriter_ThreadAcquireLock(w, NULL, t, OTF2_PARADIGM_OPENMP, lock, order);
        break;
    case 5:
        OTF2_EvtWriter_ThreadReleaseLock(w, NULL, t, OTF2_PARADIGM_OPENMP, lock, order);
        break;
    default:
        OTF2_EvtWriter_MeasurementOnOff(w, NULL, t, OTF2_MEASUREMENT_ON);
    }
}

static void write_window(struct input *in, OTF2_EvtWriter *w, uint64_t t) {
    uint32_t what = next(in) % 8, window = id(in, 2), peer = id(in, PROCESSES);
    uint32_t group = id(in, 4), op = next(in) % 26;
    switch (what) {
    case 0:
        OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, t);
        break;
    case 1:
        OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, t, (OTF2_CollectiveOp)op,
                                        OTF2_RMA_SYNC_LEVEL_PROCESS, window, peer, 0, 0);
        break;
    case 2:
        OTF2_EvtWriter_RmaGroupSync(w, NULL, t, OTF2_RMA_SYNC_LEVEL_PROCESS, window, group);
        break;
    case 3:
        OTF2_EvtWriter_RmaAcquireLock(w, NULL, t, window, peer, op % 2, (OTF2_LockType)(op % 3));
        break;
    case 4:
        OTF2_EvtWriter_RmaReleaseLock(w, NULL, t, window, peer, op % 2);
        break;
    case 5:
        OTF2_EvtWriter_RmaPut(w, NULL, t, window, peer, 8, 0);
        break;
    case 6:
        OTF2_EvtWriter_IoCreateHandle(w, NULL, t, id(in, 1), OTF2_IO_ACCESS_MODE_READ_WRITE,
                                      OTF2_IO_CREATION_FLAG_NONE, OTF2_IO_STATUS_FLAG_NONE);
        break;
    default:
        OTF2_EvtWriter_IoOperationBegin(w, NULL, t, id(in, 1), OTF2_IO_OPERATION_MODE_WRITE,
                                        OTF2_IO_OPERATION_FLAG_COLLECTIVE, 8, 0);
    }
}

static void write_region(struct input *in, struct program *p, uint32_t l, uint64_t t) {
    uint32_t byte = next(in), region = id(in, REGIONS);
    if (byte % 2 && p->depth[l]) { /* mostly the region on top */
        uint32_t top = p->stack[l][--p->depth[l]];
        OTF2_EvtWriter_Leave(p->writers[l], NULL, t, byte < 250 ? top : region);
        return;
    }
    OTF2_EvtWriter_Enter(p->writers[l], NULL, t, region);
    if (p->depth[l] < sizeof p->stack[l])
        p->stack[l][p->depth[l]++] = (uint8_t)region;
}

static void write_record(struct input *in, struct program *p) {
    uint32_t l = next(in) % LOCATIONS, step = next(in);
    uint64_t t = p->now[l];
    if (step == 255)
        t -= t < 50 ? t : 50;
    else if (step == 254)
        t += (uint64_t)next(in) << 52;
    else
        t += step % 16;
    p->now[l] = step >= 254 ? p->now[l] : t;
    OTF2_EvtWriter *w = p->writers[l];
    switch (next(in) % 8) {
    case 0:
        write_message(in, w, t);
        break;
    case 1:
        write_collective(in, w, t);
        break;
    case 2:
        write_threads(in, w, t);
        break;
    case 3:
        write_window(in, w, t);
        break;
    default:
        write_region(in, p, l, t);
    }
}

static OTF2_StringRef n_strings;

static OTF2_StringRef string(OTF2_GlobalDefWriter *defs, const char *text) {
    OTF2_GlobalDefWriter_WriteString(defs, n_strings, text);
    return n_strings++;
}

static void define_comms(OTF2_GlobalDefWriter *defs) {
    static const uint64_t members[4][PROCESSES] = {{0, 1, 2}, {0}, {1, 2}, {2, 0}};
    static const uint32_t counts[4] = {3, 1, 2, 2};
    for (uint32_t c = 0; c < 4; c++) {
        OTF2_GlobalDefWriter_WriteGroup(defs, c, string(defs, ""), OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, counts[c],
                                        members[c]);
        if (c < 3)
            OTF2_GlobalDefWriter_WriteComm(defs, c, string(defs, "comm"), c, OTF2_UNDEFINED_COMM,
                                           OTF2_COMM_FLAG_NONE);
    }
    OTF2_GlobalDefWriter_WriteInterComm(defs, 3, string(defs, "inter"), 1, 2, 0,
                                        OTF2_COMM_FLAG_NONE);
    const uint32_t dimensions[1] = {0};
    OTF2_GlobalDefWriter_WriteCartDimension(defs, 0, string(defs, "x"), PROCESSES, true);
    OTF2_GlobalDefWriter_WriteCartTopology(defs, 0, string(defs, "ring"), 0, 1, dimensions);
    for (uint32_t w = 0; w < 2; w++)
        OTF2_GlobalDefWriter_WriteRmaWin(defs, w, string(defs, "window"), w * 2,
                                         OTF2_RMA_WIN_FLAG_NONE);
    for (uint32_t team = 0; team < PROCESSES; team++) {
        const uint64_t threads[THREADS] = {team * THREADS, team * THREADS + 1, team * THREADS + 2};
        OTF2_GlobalDefWriter_WriteGroup(defs, 4 + team, string(defs, ""),
                                        OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP,
                                        OTF2_GROUP_FLAG_NONE, THREADS, threads);
        OTF2_GlobalDefWriter_WriteComm(defs, 4 + team, string(defs, "team"), 4 + team,
                                       OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    }
}

static void define(struct program *p) {
    OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(p->archive);
    uint64_t masters[PROCESSES], threads[LOCATIONS];
    n_strings = 0;
    OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, string(defs, "node"), string(defs, "node"),
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(defs, i, string(defs, "process"),
                                                OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        masters[i] = (uint64_t)i * THREADS;
    }
    for (uint32_t l = 0; l < LOCATIONS; l++) {
        uint64_t events = 0;
        OTF2_EvtWriter_GetNumberOfEvents(p->writers[l], &events);
        OTF2_Archive_CloseEvtWriter(p->archive, p->writers[l]);
        OTF2_GlobalDefWriter_WriteLocation(defs, l, string(defs, "thread"),
                                           OTF2_LOCATION_TYPE_CPU_THREAD, events, l / THREADS);
        OTF2_Archive_CloseDefWriter(p->archive, OTF2_Archive_GetDefWriter(p->archive, l));
        threads[l] = l;
    }
    for (uint32_t r = 0; r < REGIONS; r++)
        OTF2_GlobalDefWriter_WriteRegion(defs, r, string(defs, regions[r].name), n_strings - 1,
                                         n_strings - 1, regions[r].role, regions[r].paradigm,
                                         regions[r].flags, 0, 0, 0);
    OTF2_GlobalDefWriter_WriteGroup(defs, RANKS, string(defs, ""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, PROCESSES, masters);
    OTF2_GlobalDefWriter_WriteGroup(defs, ALL_THREADS, string(defs, ""),
                                    OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP,
                                    OTF2_GROUP_FLAG_NONE, LOCATIONS, threads);
    define_comms(defs);
    OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000, 0, 1000000, 0);
}

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool last) {
    (void)user, (void)type, (void)location, (void)caller, (void)last;
    return OTF2_FLUSH;
}

static OTF2_ErrorCode silent(void *user, const char *file, uint64_t line, const char *function,
                             OTF2_ErrorCode code, const char *format, va_list arguments) {
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

static void write_archive(const char *directory, struct input *in) {
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    struct program p = {.depth = {0}};
    OTF2_Error_RegisterCallback(silent, NULL); /* time that runs backwards is meant */
    p.archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 18,
                                  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (p.archive == NULL)
        abort();
    OTF2_Archive_SetFlushCallbacks(p.archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(p.archive);
    OTF2_Archive_OpenEvtFiles(p.archive);
    OTF2_Archive_OpenDefFiles(p.archive);
    for (uint32_t l = 0; l < LOCATIONS; l++)
        p.writers[l] = OTF2_Archive_GetEvtWriter(p.archive, l);
    for (uint32_t n = 0; in->left && n < MAX_RECORDS; n++)
        write_record(in, &p);
    define(&p);
    OTF2_Archive_CloseEvtFiles(p.archive);
    OTF2_Archive_CloseDefFiles(p.archive);
    OTF2_Archive_Close(p.archive);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw) {
    (void)info, (void)type, (void)ftw;
    return remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char directory[] = "/tmp/fuzz_records_XXXXXX", trace[64], archive[64], output[64];
    struct input in = {data, bytes};
    if (bytes < 2 || mkdtemp(directory) == NULL)
        return 0;
    snprintf(trace, sizeof trace, "%s/t", directory);
    snprintf(archive, sizeof archive, "%s/t/traces.otf2", directory);
    snprintf(output, sizeof output, "%s/a.cubex", directory);
    uint32_t mode = next(&in);
    write_archive(trace, &in);
    const struct lc_transport alone = {0, 1};
    const struct lc_analyze_options options = {.archive = archive,
                                               .output = output,
                                               .quiet = true,
                                               .mpi_only = mode & 1,
                                               .time_correct = mode & 2 ? LC_TIME_CORRECT_ON
                                                                        : LC_TIME_CORRECT_OFF,
                                               .partition = mode & 4 ? "executable" : NULL,
                                               .what_if = mode & 8 ? "main=0.5" : NULL};
    lc_log_quiet(true);
    enum lc_err err = lc_analyze_run(&alone, &options);
    bool no_such_region = err == LC_ERR_USAGE && options.what_if != NULL; /* main never called */
    if (!no_such_region && (err != LC_OK || access(output, R_OK) != 0)) {
        fprintf(stderr, "%s\n", err != LC_OK ? lc_err_text() : "no result");
        abort();
    }
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
