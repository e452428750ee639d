/* Writes large traces of a simulated iterative program, for benchmarks of the trace analysis.
 *
 *   make_trace [-r RANKS] [-e EVENTS] [-i INNER] [-s SEED] DIR      -> DIR/traces.otf2
 *
 * Every iteration of every rank: `solve` with INNER short functions and work of random length; a
 * halo exchange on a ring (Irecv, Isend, Waitall); a blocking message between neighbours (Ssend and
 * Recv, late on either side); every 4th iteration a collective of the world (Allreduce, Bcast,
 * Reduce, Scan in turn), every 8th a barrier of the row (sub-communicators of about sqrt(RANKS)
 * members). Times obey what blocks what, so that waiting travels along chains; 1 tick = 1 ns. The
 * same arguments give the same archive. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum region {
    R_MAIN,
    R_INIT,
    R_FINALIZE,
    R_STEP,
    R_SOLVE,
    R_KERNEL,
    R_EXCHANGE,
    R_CHECK,
    R_IRECV,
    R_ISEND,
    R_WAITALL,
    R_SSEND,
    R_RECV,
    R_ALLREDUCE,
    R_BCAST,
    R_REDUCE,
    R_SCAN,
    R_BARRIER,
    N_REGIONS
};

static const struct {
    const char *name;
    OTF2_RegionRole role;
    bool mpi;
} regions[N_REGIONS] = {
    [R_MAIN] = {"main", OTF2_REGION_ROLE_FUNCTION, false},
    [R_INIT] = {"MPI_Init", OTF2_REGION_ROLE_FUNCTION, true},
    [R_FINALIZE] = {"MPI_Finalize", OTF2_REGION_ROLE_FUNCTION, true},
    [R_STEP] = {"step", OTF2_REGION_ROLE_FUNCTION, false},
    [R_SOLVE] = {"solve", OTF2_REGION_ROLE_FUNCTION, false},
    [R_KERNEL] = {"kernel", OTF2_REGION_ROLE_FUNCTION, false},
    [R_EXCHANGE] = {"exchange", OTF2_REGION_ROLE_FUNCTION, false},
    [R_CHECK] = {"check", OTF2_REGION_ROLE_FUNCTION, false},
    [R_IRECV] = {"MPI_Irecv", OTF2_REGION_ROLE_POINT2POINT, true},
    [R_ISEND] = {"MPI_Isend", OTF2_REGION_ROLE_POINT2POINT, true},
    [R_WAITALL] = {"MPI_Waitall", OTF2_REGION_ROLE_FUNCTION, true},
    [R_SSEND] = {"MPI_Ssend", OTF2_REGION_ROLE_POINT2POINT, true},
    [R_RECV] = {"MPI_Recv", OTF2_REGION_ROLE_POINT2POINT, true},
    [R_ALLREDUCE] = {"MPI_Allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL, true},
    [R_BCAST] = {"MPI_Bcast", OTF2_REGION_ROLE_COLL_ONE2ALL, true},
    [R_REDUCE] = {"MPI_Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE, true},
    [R_SCAN] = {"MPI_Scan", OTF2_REGION_ROLE_COLL_OTHER, true},
    [R_BARRIER] = {"MPI_Barrier", OTF2_REGION_ROLE_BARRIER, true},
};

enum { COMM_WORLD, COMM_SELF, COMM_ROWS, LATENCY = 500, OVERHEAD = 120, BYTES = 8192 };
static const uint64_t begin_ticks = UINT64_C(7000000000000);

struct rank {
    OTF2_EvtWriter *events;
    uint64_t now, count, request, random;
    uint64_t enter,
        other; /* times other ranks look at: start of the current call, of the second one */
};

static struct {
    uint32_t n_ranks, row;
    uint64_t n_events, inner, seed;
    struct rank *ranks;
    OTF2_Archive *archive;
} sim;

static void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS) {
        fprintf(stderr, "make_trace: %s\n", OTF2_Error_GetDescription(code));
        exit(1);
    }
}

static uint64_t max64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t next_random(struct rank *r) {
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return r->random >> 11;
}

static void enter(struct rank *r, enum region region) {
    r->count++;
    check(OTF2_EvtWriter_Enter(r->events, NULL, r->now, region));
}

static void leave(struct rank *r, enum region region) {
    r->count++;
    check(OTF2_EvtWriter_Leave(r->events, NULL, r->now, region));
}

/* `solve`: short functions and work between 20 and 40 us; each rank is slow in some iterations. */
static void compute(struct rank *r, uint64_t iteration, uint32_t rank) {
    enter(r, R_SOLVE);
    uint64_t work = 20000 + next_random(r) % 20000;
    if ((iteration + rank) % 17 == 0)
        work += 40000;
    for (uint64_t i = 0; i < sim.inner; i++) {
        r->now += work / (2 * sim.inner);
        enter(r, R_KERNEL);
        r->now += work / (2 * sim.inner);
        leave(r, R_KERNEL);
    }
    r->now += work % 64;
    leave(r, R_SOLVE);
}

static void post_halo(struct rank *r, uint32_t rank) {
    uint32_t n = sim.n_ranks, neighbours[2] = {(rank + n - 1) % n, (rank + 1) % n};
    enter(r, R_STEP);
    enter(r, R_EXCHANGE);
    for (int i = 0; i < 2; i++) {
        enter(r, R_IRECV);
        r->count++;
        check(OTF2_EvtWriter_MpiIrecvRequest(r->events, NULL, r->now, r->request + (uint64_t)i));
        r->now += OVERHEAD;
        leave(r, R_IRECV);
    }
    r->enter = r->now; /* the first Isend; the second starts OVERHEAD later */
    for (int i = 0; i < 2; i++) {
        enter(r, R_ISEND);
        r->count++;
        check(OTF2_EvtWriter_MpiIsend(r->events, NULL, r->now, neighbours[i], COMM_WORLD,
                                      (uint32_t)i, BYTES, r->request + 2 + (uint64_t)i));
        r->now += OVERHEAD;
        leave(r, R_ISEND);
    }
    r->other = r->now;
}

static void finish_halo(struct rank *r, uint32_t rank) {
    uint32_t n = sim.n_ranks, left = (rank + n - 1) % n, right = (rank + 1) % n;
    enter(r, R_WAITALL);
    /* From the left comes the message with tag 1, which it sent second. */
    uint64_t from_left = sim.ranks[left].enter + OVERHEAD + LATENCY;
    uint64_t from_right = sim.ranks[right].enter + LATENCY;
    r->now = max64(r->now, max64(from_left, from_right)) + OVERHEAD;
    uint32_t sources[2] = {left, right};
    for (int i = 0; i < 2; i++) {
        r->count += 2;
        check(OTF2_EvtWriter_MpiIrecv(r->events, NULL, r->now, sources[i], COMM_WORLD,
                                      1 - (uint32_t)i, BYTES, r->request + (uint64_t)i));
        check(
            OTF2_EvtWriter_MpiIsendComplete(r->events, NULL, r->now, r->request + 2 + (uint64_t)i));
    }
    leave(r, R_WAITALL);
    leave(r, R_EXCHANGE);
    r->request += 4;
}

/* A synchronous message from even to odd ranks; partners change with the iteration. */
static void blocking_pair(struct rank *even, struct rank *odd, uint32_t source, uint32_t dest) {
    enter(even, R_SSEND);
    even->count++;
    check(OTF2_EvtWriter_MpiSend(even->events, NULL, even->now, dest, COMM_WORLD, 7, BYTES));
    enter(odd, R_RECV);
    uint64_t met = max64(even->now, odd->now);
    even->now = met + LATENCY;
    leave(even, R_SSEND);
    odd->now = met + LATENCY + OVERHEAD;
    odd->count++;
    check(OTF2_EvtWriter_MpiRecv(odd->events, NULL, odd->now, source, COMM_WORLD, 7, BYTES));
    leave(odd, R_RECV);
}

/* A collective of the ranks [first, last): all start, then all end when those they need have
 * started. */
static void collective(uint32_t first, uint32_t last, uint32_t comm, enum region region,
                       OTF2_CollectiveOp op, uint32_t root) {
    uint32_t n = last - first;
    uint64_t latest = 0, before = 0;
    for (uint32_t i = first; i < last; i++) {
        struct rank *r = &sim.ranks[i];
        enter(r, R_CHECK);
        enter(r, region);
        r->count++;
        check(OTF2_EvtWriter_MpiCollectiveBegin(r->events, NULL, r->now));
        latest = max64(latest, r->now);
    }
    uint64_t root_begin = sim.ranks[first + root].now;
    for (uint32_t i = first; i < last; i++) {
        struct rank *r = &sim.ranks[i];
        bool rooted = op == OTF2_COLLECTIVE_OP_BCAST || op == OTF2_COLLECTIVE_OP_REDUCE,
             is_root = i - first == root;
        before = max64(before, r->now);
        uint64_t until = latest;
        if (op == OTF2_COLLECTIVE_OP_BCAST)
            until = max64(r->now, root_begin);
        else if (op == OTF2_COLLECTIVE_OP_REDUCE)
            until = is_root ? latest : r->now;
        else if (op == OTF2_COLLECTIVE_OP_SCAN)
            until = before;
        bool data = op != OTF2_COLLECTIVE_OP_BARRIER;
        uint64_t sent = !data || (op == OTF2_COLLECTIVE_OP_BCAST && !is_root) ? 0 : 8;
        uint64_t received =
            !data || (op == OTF2_COLLECTIVE_OP_REDUCE && !is_root) ? 0 : 8 * (uint64_t)n;
        r->now = until + LATENCY + next_random(r) % 64;
        r->count++;
        check(OTF2_EvtWriter_MpiCollectiveEnd(r->events, NULL, r->now, op, comm,
                                              rooted ? root : OTF2_UNDEFINED_UINT32, sent,
                                              received));
        leave(r, region);
        leave(r, R_CHECK);
    }
}

static void iterate(uint64_t iteration) {
    static const enum region region[] = {R_ALLREDUCE, R_BCAST, R_REDUCE, R_SCAN};
    static const OTF2_CollectiveOp op[] = {OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_COLLECTIVE_OP_BCAST,
                                           OTF2_COLLECTIVE_OP_REDUCE, OTF2_COLLECTIVE_OP_SCAN};
    uint32_t n = sim.n_ranks;
    for (uint32_t i = 0; i < n; i++)
        post_halo(&sim.ranks[i], i);
    for (uint32_t i = 0; i < n; i++)
        finish_halo(&sim.ranks[i], i);
    for (uint32_t i = 0; i < n; i++)
        compute(&sim.ranks[i], iteration, i);
    uint32_t shift = iteration % 2;
    for (uint32_t i = shift; i + 1 < n; i += 2)
        blocking_pair(&sim.ranks[i], &sim.ranks[i + 1], i, i + 1);
    if (iteration % 4 == 3) {
        uint64_t k = iteration / 4;
        collective(0, n, COMM_WORLD, region[k % 4], op[k % 4], (uint32_t)(k % n));
    }
    if (iteration % 8 == 5)
        for (uint32_t i = 0; i * sim.row < n; i++) {
            uint32_t last = (i + 1) * sim.row < n ? (i + 1) * sim.row : n;
            collective(i * sim.row, last, COMM_ROWS + i, R_BARRIER, OTF2_COLLECTIVE_OP_BARRIER, 0);
        }
    for (uint32_t i = 0; i < n; i++)
        leave(&sim.ranks[i], R_STEP);
}

static void simulate(void) {
    for (uint32_t i = 0; i < sim.n_ranks; i++) {
        struct rank *r = &sim.ranks[i];
        r->now = begin_ticks + next_random(r) % 100000;
        enter(r, R_MAIN);
        enter(r, R_INIT);
        r->now = begin_ticks + 1000000;
        leave(r, R_INIT);
    }
    uint64_t total = 0;
    for (uint64_t iteration = 0; total < sim.n_events; iteration++) {
        iterate(iteration);
        total = 0;
        for (uint32_t i = 0; i < sim.n_ranks; i++)
            total += sim.ranks[i].count;
    }
    uint64_t latest = 0;
    for (uint32_t i = 0; i < sim.n_ranks; i++) {
        enter(&sim.ranks[i], R_FINALIZE);
        latest = max64(latest, sim.ranks[i].now);
    }
    for (uint32_t i = 0; i < sim.n_ranks; i++) {
        struct rank *r = &sim.ranks[i];
        r->now = latest + 10000;
        leave(r, R_FINALIZE);
        leave(r, R_MAIN);
    }
}

static uint32_t define(OTF2_GlobalDefWriter *defs, const char *text) {
    static uint32_t next = 0;
    check(OTF2_GlobalDefWriter_WriteString(defs, next, text));
    return next++;
}

static void define_groups(OTF2_GlobalDefWriter *defs, uint32_t empty, uint64_t *members) {
    uint32_t n = sim.n_ranks;
    for (uint32_t i = 0; i < n; i++)
        members[i] = i;
    check(OTF2_GlobalDefWriter_WriteGroup(defs, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, members));
    check(OTF2_GlobalDefWriter_WriteGroup(defs, 1, empty, OTF2_GROUP_TYPE_COMM_SELF,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0, members));
    check(OTF2_GlobalDefWriter_WriteGroup(defs, 2, empty, OTF2_GROUP_TYPE_COMM_GROUP,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, members));
    check(OTF2_GlobalDefWriter_WriteComm(defs, COMM_WORLD, define(defs, "MPI_COMM_WORLD"), 2,
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    check(OTF2_GlobalDefWriter_WriteComm(defs, COMM_SELF, define(defs, "MPI_COMM_SELF"), 1,
                                         OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    uint32_t name = define(defs, "row");
    for (uint32_t i = 0; i * sim.row < n; i++) {
        uint32_t size = (i + 1) * sim.row < n ? sim.row : n - i * sim.row;
        check(OTF2_GlobalDefWriter_WriteGroup(defs, 3 + i, empty, OTF2_GROUP_TYPE_COMM_GROUP,
                                              OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, size,
                                              members + i * sim.row));
        check(OTF2_GlobalDefWriter_WriteComm(defs, COMM_ROWS + i, name, 3 + i, COMM_WORLD,
                                             OTF2_COMM_FLAG_NONE));
    }
}

static void define_all(OTF2_GlobalDefWriter *defs) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < sim.n_ranks; i++)
        end = max64(end, sim.ranks[i].now);
    check(OTF2_GlobalDefWriter_WriteClockProperties(
        defs, 1000000000, begin_ticks, end - begin_ticks + 1, UINT64_C(1000000000000000000)));
    uint32_t empty = define(defs, ""), mpi = define(defs, "MPI");
    check(OTF2_GlobalDefWriter_WriteParadigm(defs, OTF2_PARADIGM_MPI, mpi,
                                             OTF2_PARADIGM_CLASS_PROCESS));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, define(defs, "simulated"),
                                                   define(defs, "machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 1, define(defs, "node0"),
                                                   define(defs, "node"), 0));
    uint32_t thread = define(defs, "Master thread");
    for (uint32_t i = 0; i < sim.n_ranks; i++) {
        char name[32];
        snprintf(name, sizeof name, "MPI Rank %" PRIu32, i);
        check(OTF2_GlobalDefWriter_WriteLocationGroup(defs, i, define(defs, name),
                                                      OTF2_LOCATION_GROUP_TYPE_PROCESS, 1,
                                                      OTF2_UNDEFINED_LOCATION_GROUP));
        check(OTF2_GlobalDefWriter_WriteLocation(defs, i, thread, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                 sim.ranks[i].count, i));
    }
    uint32_t file = define(defs, "make_trace.c");
    for (uint32_t i = 0; i < N_REGIONS; i++) {
        uint32_t name = define(defs, regions[i].name);
        check(OTF2_GlobalDefWriter_WriteRegion(
            defs, i, name, name, empty, regions[i].role,
            regions[i].mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE,
            regions[i].mpi ? mpi : file, 0, 0));
    }
    uint64_t *members = calloc(sim.n_ranks, sizeof *members);
    if (members == NULL)
        abort();
    define_groups(defs, empty, members);
    free(members);
}

static OTF2_FlushType on_flush(void *user, OTF2_FileType type, OTF2_LocationRef location,
                               void *caller, bool final) {
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static void write_archive(const char *dir) {
    static OTF2_FlushCallbacks flush = {.otf2_pre_flush = on_flush, .otf2_post_flush = NULL};
    uint64_t chunk_bytes = sim.n_ranks > 256 ? 256 * 1024 : 1024 * 1024;
    sim.archive = OTF2_Archive_Open(dir, "traces", OTF2_FILEMODE_WRITE, chunk_bytes,
                                    4 * 1024 * 1024, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (sim.archive == NULL) {
        fprintf(stderr, "make_trace: %s: cannot be created\n", dir);
        exit(1);
    }
    check(OTF2_Archive_SetFlushCallbacks(sim.archive, &flush, NULL));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(sim.archive));
    check(OTF2_Archive_SetCreator(sim.archive, "make_trace"));
    check(OTF2_Archive_OpenEvtFiles(sim.archive));
    for (uint32_t i = 0; i < sim.n_ranks; i++) {
        struct rank *r = &sim.ranks[i];
        r->events = OTF2_Archive_GetEvtWriter(sim.archive, i);
        r->request = 1;
        r->random =
            (sim.seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (i + 1) * UINT64_C(0xd1342543de82ef95);
    }
    simulate();
    for (uint32_t i = 0; i < sim.n_ranks; i++)
        check(OTF2_Archive_CloseEvtWriter(sim.archive, sim.ranks[i].events));
    check(OTF2_Archive_CloseEvtFiles(sim.archive));
    check(OTF2_Archive_OpenDefFiles(sim.archive));
    for (uint32_t i = 0; i < sim.n_ranks; i++)
        check(OTF2_Archive_CloseDefWriter(sim.archive, OTF2_Archive_GetDefWriter(sim.archive, i)));
    check(OTF2_Archive_CloseDefFiles(sim.archive));
    OTF2_GlobalDefWriter *defs = OTF2_Archive_GetGlobalDefWriter(sim.archive);
    define_all(defs);
    check(OTF2_Archive_CloseGlobalDefWriter(sim.archive, defs));
    check(OTF2_Archive_Close(sim.archive));
}

static uint64_t number(const char *text, uint64_t least, uint64_t most) {
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end); /* so that 1e8 is a number */
    if (errno != 0 || *end != '\0' || !(value >= (double)least && value <= (double)most)) {
        fprintf(stderr, "make_trace: %s: not a number from %" PRIu64 " to %" PRIu64 "\n", text,
                least, most);
        exit(2);
    }
    return (uint64_t)value;
}

int main(int argc, char **argv) {
    sim.n_ranks = 4;
    sim.n_events = 100000;
    sim.inner = 6;
    int option;
    while ((option = getopt(argc, argv, "r:e:i:s:")) != -1)
        switch (option) {
        case 'r':
            sim.n_ranks = (uint32_t)number(optarg, 2, 65536);
            break;
        case 'e':
            sim.n_events = number(optarg, 1, UINT64_C(10000000000));
            break;
        case 'i':
            sim.inner = number(optarg, 1, 1000);
            break;
        case 's':
            sim.seed = number(optarg, 0, UINT32_MAX);
            break;
        default:
            return 2;
        }
    if (optind + 1 != argc) {
        fprintf(stderr, "usage: make_trace [-r RANKS] [-e EVENTS] [-i INNER] [-s SEED] DIR\n");
        return 2;
    }
    sim.row = (uint32_t)ceil(sqrt(sim.n_ranks));
    sim.ranks = calloc(sim.n_ranks, sizeof *sim.ranks);
    if (sim.ranks == NULL)
        abort();
    write_archive(argv[optind]);
    uint64_t total = 0;
    for (uint32_t i = 0; i < sim.n_ranks; i++)
        total += sim.ranks[i].count;
    printf("%" PRIu64 " events\n", total);
    free(sim.ranks);
    return 0;
}
