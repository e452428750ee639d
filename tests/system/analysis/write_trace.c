/* Writes the OTF2 archive that lines of text describe, for tests that need records which
 * python3-otf2 cannot write. Every definition gets the next number of its kind.
 *
 *   write_trace DIR < TEXT          times in ticks of 1 ms
 *
 *   process THREADS                      its locations follow those of the processes before
 *   region PARADIGM ROLE NAME            numbers of OTF2_Paradigm and OTF2_RegionRole
 *   comm RANK..                          also a group, of the same number
 *   inter COMM COMM                      a communicator (and an unused group)
 *   team LOCATION..                      a communicator of OpenMP threads (and its group)
 *   cart COMM SIZE PERIODIC ..           topology of a communicator
 *   window COMM       file COMM
 *   LOCATION TIME RECORD ARGUMENT..      records of a location in order of time; after all
 *                                        definitions */
#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, LOCATIONS = 4096, RANKS = 1 << 20, THREADS };

static OTF2_Archive *archive;
static OTF2_GlobalDefWriter *defs;
static OTF2_EvtWriter *writers[LOCATIONS];
static uint64_t masters[LOCATIONS]; /* first location of each process */
static uint32_t n_processes, n_locations, n_regions, n_comms, n_dims, n_carts, n_windows, n_files;
static OTF2_StringRef n_strings;

static void check(OTF2_ErrorCode code, const char *what) {
    if (code == OTF2_SUCCESS)
        return;
    fprintf(stderr, "write_trace: %s: %s\n", what, OTF2_Error_GetDescription(code));
    exit(1);
}

static OTF2_StringRef string(const char *text) {
    check(OTF2_GlobalDefWriter_WriteString(defs, n_strings, text), text);
    return n_strings++;
}

static void new_process(uint32_t threads) {
    check(OTF2_GlobalDefWriter_WriteLocationGroup(defs, n_processes, string("process"),
                                                  OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                  OTF2_UNDEFINED_LOCATION_GROUP),
          "process");
    masters[n_processes] = n_locations;
    for (uint32_t i = 0; i < threads && n_locations < LOCATIONS; i++, n_locations++)
        writers[n_locations] = OTF2_Archive_GetEvtWriter(archive, n_locations);
    n_processes++;
}

static void new_comm(OTF2_Paradigm paradigm, const uint64_t *members, uint32_t n) {
    check(OTF2_GlobalDefWriter_WriteGroup(defs, n_comms, string(""), OTF2_GROUP_TYPE_COMM_GROUP,
                                          paradigm, OTF2_GROUP_FLAG_NONE, n, members),
          "group");
    check(OTF2_GlobalDefWriter_WriteComm(defs, n_comms, string("comm"), n_comms,
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
          "comm");
    n_comms++;
}

static void new_cart(const uint64_t *a, uint32_t n) {
    uint32_t dims[WORDS];
    uint8_t count = 0;
    for (uint32_t i = 1; i + 1 < n; i += 2) {
        check(OTF2_GlobalDefWriter_WriteCartDimension(defs, n_dims, string("dimension"),
                                                      (uint32_t)a[i], (uint8_t)a[i + 1]),
              "dimension");
        dims[count++] = n_dims++;
    }
    check(OTF2_GlobalDefWriter_WriteCartTopology(defs, n_carts++, string("cart"), (uint32_t)a[0],
                                                 count, dims),
          "cart");
}

static void new_file(uint32_t comm) {
    if (n_files == 0) {
        const uint8_t property = OTF2_IO_PARADIGM_PROPERTY_VERSION;
        const OTF2_Type type = OTF2_TYPE_STRING;
        const OTF2_AttributeValue value = {.stringRef = string("1")};
        check(OTF2_GlobalDefWriter_WriteIoParadigm(
                  defs, 0, string("MPI-IO"), string("MPI-IO"), OTF2_IO_PARADIGM_CLASS_PARALLEL,
                  OTF2_IO_PARADIGM_FLAG_NONE, 1, &property, &type, &value),
              "paradigm");
        check(OTF2_GlobalDefWriter_WriteIoRegularFile(defs, 0, string("file"), 0), "file");
    }
    check(OTF2_GlobalDefWriter_WriteIoHandle(defs, n_files++, string(""), 0, 0,
                                             OTF2_IO_HANDLE_FLAG_NONE, comm,
                                             OTF2_UNDEFINED_IO_HANDLE),
          "handle");
}

/* false: no definition */
static bool define(const char *word, const uint64_t *a, uint32_t n, const char *name) {
    if (strcmp(word, "region") == 0)
        check(OTF2_GlobalDefWriter_WriteRegion(defs, n_regions++, string(name), n_strings - 1,
                                               n_strings - 1, (OTF2_RegionRole)a[1],
                                               (OTF2_Paradigm)a[0], OTF2_REGION_FLAG_NONE, 0, 0, 0),
              name);
    else if (strcmp(word, "comm") == 0)
        new_comm(OTF2_PARADIGM_MPI, a, n);
    else if (strcmp(word, "team") == 0)
        new_comm(OTF2_PARADIGM_OPENMP, a, n);
    else if (strcmp(word, "inter") == 0)
        check(OTF2_GlobalDefWriter_WriteInterComm(defs, n_comms++, string("inter"), (uint32_t)a[0],
                                                  (uint32_t)a[1], OTF2_UNDEFINED_COMM,
                                                  OTF2_COMM_FLAG_NONE),
              "inter");
    else if (strcmp(word, "cart") == 0)
        new_cart(a, n);
    else if (strcmp(word, "window") == 0)
        check(OTF2_GlobalDefWriter_WriteRmaWin(defs, n_windows++, string("window"), (uint32_t)a[0],
                                               OTF2_RMA_WIN_FLAG_NONE),
              "window");
    else if (strcmp(word, "file") == 0)
        new_file((uint32_t)a[0]);
    else
        return false;
    return true;
}

#define ARG32(i) ((uint32_t)a[i])

static OTF2_ErrorCode record_mpi(OTF2_EvtWriter *w, const char *kind, uint64_t t,
                                 const uint64_t *a) {
    if (strcmp(kind, "begin") == 0)
        return OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, t);
    if (strcmp(kind, "end") == 0)
        return OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, t, (OTF2_CollectiveOp)a[0], ARG32(1),
                                               ARG32(2), a[3], a[4]);
    if (strcmp(kind, "request") == 0)
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, t, a[0]);
    if (strcmp(kind, "complete") == 0)
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, t, (OTF2_CollectiveOp)a[0],
                                                            ARG32(1), ARG32(2), a[3], a[4], a[5]);
    if (strcmp(kind, "send") == 0)
        return OTF2_EvtWriter_MpiSend(w, NULL, t, ARG32(0), ARG32(1), ARG32(2), a[3]);
    if (strcmp(kind, "recv") == 0)
        return OTF2_EvtWriter_MpiRecv(w, NULL, t, ARG32(0), ARG32(1), ARG32(2), a[3]);
    if (strcmp(kind, "rma_begin") == 0)
        return OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, t);
    if (strcmp(kind, "rma_end") == 0)
        return OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, t, (OTF2_CollectiveOp)a[0],
                                               OTF2_RMA_SYNC_LEVEL_PROCESS, ARG32(1),
                                               OTF2_UNDEFINED_UINT32, 0, 0);
    if (strcmp(kind, "rma_group") == 0)
        return OTF2_EvtWriter_RmaGroupSync(w, NULL, t, OTF2_RMA_SYNC_LEVEL_PROCESS, ARG32(0),
                                           ARG32(1));
    if (strcmp(kind, "acquire") == 0)
        return OTF2_EvtWriter_RmaAcquireLock(w, NULL, t, ARG32(0), ARG32(1), 0,
                                             (OTF2_LockType)a[2]);
    if (strcmp(kind, "release") == 0)
        return OTF2_EvtWriter_RmaReleaseLock(w, NULL, t, ARG32(0), ARG32(1), 0);
    if (strcmp(kind, "complete_remote") == 0)
        return OTF2_EvtWriter_RmaOpCompleteRemote(w, NULL, t, ARG32(0), 0);
    if (strcmp(kind, "put") == 0)
        return OTF2_EvtWriter_RmaPut(w, NULL, t, ARG32(0), ARG32(1), a[2], 0);
    if (strcmp(kind, "io") == 0 || strcmp(kind, "io_start") == 0)
        return OTF2_EvtWriter_IoOperationBegin(
            w, NULL, t, ARG32(0), OTF2_IO_OPERATION_MODE_WRITE,
            OTF2_IO_OPERATION_FLAG_COLLECTIVE |
                (kind[2] != 0 ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : 0),
            8, 0);
    if (strcmp(kind, "open") == 0)
        return OTF2_EvtWriter_IoCreateHandle(w, NULL, t, ARG32(0), OTF2_IO_ACCESS_MODE_READ_WRITE,
                                             OTF2_IO_CREATION_FLAG_NONE, OTF2_IO_STATUS_FLAG_NONE);
    return OTF2_ERROR_INVALID_ARGUMENT;
}

static OTF2_ErrorCode record(OTF2_EvtWriter *w, const char *kind, uint64_t t, const uint64_t *a) {
    if (strcmp(kind, "enter") == 0)
        return OTF2_EvtWriter_Enter(w, NULL, t, ARG32(0));
    if (strcmp(kind, "leave") == 0)
        return OTF2_EvtWriter_Leave(w, NULL, t, ARG32(0));
    if (strcmp(kind, "fork") == 0)
        return OTF2_EvtWriter_ThreadFork(w, NULL, t, OTF2_PARADIGM_OPENMP, ARG32(0));
    if (strcmp(kind, "join") == 0)
        return OTF2_EvtWriter_ThreadJoin(w, NULL, t, OTF2_PARADIGM_OPENMP);
    if (strcmp(kind, "team_begin") == 0)
        return OTF2_EvtWriter_ThreadTeamBegin(w, NULL, t, ARG32(0));
    if (strcmp(kind, "team_end") == 0)
        return OTF2_EvtWriter_ThreadTeamEnd(w, NULL, t, ARG32(0));
    if (strcmp(kind, "task_create") == 0)
        return OTF2_EvtWriter_ThreadTaskCreate(w, NULL, t, ARG32(0), ARG32(1), ARG32(2));
    if (strcmp(kind, "task_switch") == 0)
        return OTF2_EvtWriter_ThreadTaskSwitch(w, NULL, t, ARG32(0), ARG32(1), ARG32(2));
    if (strcmp(kind, "task_complete") == 0)
        return OTF2_EvtWriter_ThreadTaskComplete(w, NULL, t, ARG32(0), ARG32(1), ARG32(2));
    if (strcmp(kind, "lock") == 0)
        return OTF2_EvtWriter_ThreadAcquireLock(w, NULL, t, OTF2_PARADIGM_OPENMP, ARG32(0),
                                                ARG32(1));
    if (strcmp(kind, "unlock") == 0)
        return OTF2_EvtWriter_ThreadReleaseLock(w, NULL, t, OTF2_PARADIGM_OPENMP, ARG32(0),
                                                ARG32(1));
    return record_mpi(w, kind, t, a);
}

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool last) {
    (void)user, (void)type, (void)location, (void)caller, (void)last;
    return OTF2_FLUSH;
}

static void start(const char *directory) {
    static OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        exit(1);
    check(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL), "flush");
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "collective");
    check(OTF2_Archive_OpenEvtFiles(archive), "events");
    check(OTF2_Archive_OpenDefFiles(archive), "definitions");
    defs = OTF2_Archive_GetGlobalDefWriter(archive);
    string("");
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, string("machine"), string("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE),
          "node");
}

/* Definitions wait here for those of the locations: readers want what a definition refers to before
 * it. */
static char **waiting;
static size_t n_waiting;

static void define_later(const char *line) {
    waiting = realloc(waiting, (n_waiting + 1) * sizeof *waiting);
    if (!waiting || !(waiting[n_waiting++] = strdup(line)))
        check(OTF2_ERROR_MEM_ALLOC_FAILED, line);
}

struct words {
    const char *word[WORDS];
    uint32_t count;
    uint64_t
        number[WORDS]; /* of a definition: all words but the first; of an event: all but three */
    uint32_t n_numbers;
};

static struct words split(char *line, bool *event) {
    struct words w = {.count = 0};
    for (char *word = strtok(line, " \n"); word && w.count < WORDS; word = strtok(NULL, " \n"))
        w.word[w.count++] = word;
    *event = w.count && w.word[0][0] >= '0' && w.word[0][0] <= '9';
    for (uint32_t i = *event ? 3 : 1; i < w.count; i++)
        w.number[w.n_numbers++] = strtoull(w.word[i], NULL, 0);
    return w;
}

static void define_all(void) {
    bool event;
    for (size_t i = 0; i < n_waiting; i++) {
        struct words w = split(waiting[i], &event);
        if (!define(w.word[0], w.number, w.n_numbers, w.word[w.count - 1]))
            check(OTF2_ERROR_INVALID_ARGUMENT, w.word[0]);
        free(waiting[i]);
    }
    free(waiting);
}

static void finish(uint64_t last) {
    uint64_t threads[LOCATIONS];
    uint32_t process = 0;
    for (uint32_t l = 0; l < n_locations; l++) {
        uint64_t events = 0;
        while (process + 1 < n_processes && masters[process + 1] <= l)
            process++;
        threads[l] = l;
        check(OTF2_EvtWriter_GetNumberOfEvents(writers[l], &events), "count");
        check(OTF2_Archive_CloseEvtWriter(archive, writers[l]), "close");
        check(OTF2_GlobalDefWriter_WriteLocation(defs, l, string("thread"),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, events, process),
              "location");
        check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, l)), "close");
    }
    check(OTF2_GlobalDefWriter_WriteGroup(defs, RANKS, string(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n_processes,
                                          masters),
          "ranks");
    check(OTF2_GlobalDefWriter_WriteGroup(defs, THREADS, string(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE, n_locations,
                                          threads),
          "threads");
    define_all();
    check(OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000, 0, last + 1, 0), "clock");
    check(OTF2_Archive_CloseEvtFiles(archive), "events");
    check(OTF2_Archive_CloseDefFiles(archive), "definitions");
    check(OTF2_Archive_Close(archive), "archive");
}

int main(int argc, char **argv) {
    char line[1024];
    uint64_t last = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: write_trace DIR < TEXT\n");
        return 2;
    }
    start(argv[1]);
    while (fgets(line, sizeof line, stdin)) {
        bool event;
        char copy[sizeof line];
        memcpy(copy, line, sizeof line);
        struct words w = split(copy, &event);
        if (!w.count)
            continue;
        if (!event && strcmp(w.word[0], "process") == 0)
            new_process((uint32_t)w.number[0]);
        else if (!event)
            define_later(line);
        if (!event)
            continue;
        uint64_t location = strtoull(w.word[0], NULL, 10);
        if (location >= n_locations || w.count < 3)
            check(OTF2_ERROR_INVALID_ARGUMENT, w.word[0]);
        uint64_t time = strtoull(w.word[1], NULL, 10);
        last = time > last ? time : last;
        check(record(writers[location], w.word[2], time, w.number), w.word[2]);
    }
    finish(last);
    return 0;
}
