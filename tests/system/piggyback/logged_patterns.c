/* Usual patterns of parallel programs that keep a log of their own: logged_patterns PATTERN. Each
 * rank writes what it did, by its own clock, to PATTERN_LOG.RANK, in the format of the tool's log
 * (see constructed_waits.py), so that logged_patterns.py computes clocks, factors, waits, who was
 * late and the critical path without the tool. Work is naps in named regions. */
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "latecomer.h"

enum { WORLD = 10, LARGE = 16384, HUGE_ = 1 << 18, MOST = 64 };
static int rank, size;
static FILE *out;
static const char *pattern_name;
static uint64_t begin_ns;
static double factor = 1;

uint64_t sim_true_clock(void) __attribute__((weak)); /* of the simulated MPI: takes no time */

static uint64_t now(void) {
    struct timespec t;
    if (sim_true_clock != NULL)
        return sim_true_clock();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) void busy(const char *name, double ms) {
    uint64_t begin = now();
    latecomer_begin(name);
    struct timespec t = {.tv_nsec = (long)(ms * factor * 1e6)};
    nanosleep(&t, NULL);
    latecomer_end(name);
    fprintf(out, "W %s %llu\n", name, (unsigned long long)(now() - begin));
}

static void mark(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    fputc('\n', out);
}

static int parent = 2; /* of the call paths of calls */

/* Call paths get numbers in the order in which they come. */
static int node_of(const char *function) {
    static char names[MOST][64];
    static int n;
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], function) == 0)
            return i + 3;
    snprintf(names[n], sizeof names[n], "%s", function);
    mark("N %d %d %s", n + 3, parent, function);
    return n++ + 3;
}

static void called(const char *function, uint64_t begin, uint64_t end) {
    mark("C %s %llu %llu 1 %d", function, (unsigned long long)begin, (unsigned long long)end,
         node_of(function));
}

/* The call between two looks at the clock; marks that are known only then come before CALLED. */
#define TIMED(function, ...)                                                                       \
    uint64_t begin_##function = now();                                                             \
    function(__VA_ARGS__);                                                                         \
    uint64_t end_##function = now()
#define CALLED(function) called(#function, begin_##function, end_##function)

/* Macros, not functions: the MPI calls are those of the pattern. */
#define SEND(data, n, to, tag)                                                                     \
    do {                                                                                           \
        mark("S %d %d %d %d", to, WORLD, tag, (n)*4 >= HUGE_);                                     \
        TIMED(MPI_Send, data, n, MPI_INT, to, tag, MPI_COMM_WORLD);                                \
        CALLED(MPI_Send);                                                                          \
    } while (0)
#define SSEND(data, n, to, tag)                                                                    \
    do {                                                                                           \
        mark("S %d %d %d 1", to, WORLD, tag);                                                      \
        TIMED(MPI_Ssend, data, n, MPI_INT, to, tag, MPI_COMM_WORLD);                               \
        CALLED(MPI_Ssend);                                                                         \
    } while (0)
#define RECV(data, n, from, tag, status)                                                           \
    do {                                                                                           \
        TIMED(MPI_Recv, data, n, MPI_INT, from, tag, MPI_COMM_WORLD, status);                      \
        mark("P %d %d %d", (status)->MPI_SOURCE, WORLD, (status)->MPI_TAG);                        \
        mark("R %d %d %d", (status)->MPI_SOURCE, WORLD, (status)->MPI_TAG);                        \
        CALLED(MPI_Recv);                                                                          \
    } while (0)
#define ISEND(data, n, to, tag, request)                                                           \
    do {                                                                                           \
        mark("S %d %d %d %d", to, WORLD, tag, (n)*4 >= HUGE_);                                     \
        TIMED(MPI_Isend, data, n, MPI_INT, to, tag, MPI_COMM_WORLD, request);                      \
        CALLED(MPI_Isend);                                                                         \
    } while (0)
#define IRECV(data, n, from, tag, request)                                                         \
    do {                                                                                           \
        mark("P %d %d %d", from, WORLD, tag);                                                      \
        TIMED(MPI_Irecv, data, n, MPI_INT, from, tag, MPI_COMM_WORLD, request);                    \
        CALLED(MPI_Irecv);                                                                         \
    } while (0)
/* kind as in constructed_waits.py; everybody sends and receives */
#define COLLECTIVE(context, kind, root, function, ...)                                             \
    do {                                                                                           \
        int number = collectives[context]++;                                                       \
        mark("X %d %d %d %d 1 1", context, number, kind, root);                                    \
        TIMED(function, __VA_ARGS__);                                                              \
        mark("Y %d %d", context, number);                                                          \
        CALLED(function);                                                                          \
    } while (0)
enum { BARRIER, N2N, V2V, ONE2N, N2ONE, SCAN, EXSCAN };
static int collectives[MOST];

/* Items go through all ranks, each stage takes longer than the one before, and the last item of
 * the second stage is slow. */
static void pipeline(void) {
    int item[4] = {0};
    MPI_Status s;
    for (int i = 0; i < 4; i++) {
        if (rank > 0)
            RECV(item, 4, rank - 1, 1, &s);
        busy("stage", rank == 1 && i == 3 ? 60 : 20 + 3 * rank);
        if (rank + 1 < size)
            SEND(item, 4, rank + 1, 1);
    }
}

/* A front over a grid of two rows: from above and from the left. */
static void wavefront(void) {
    int row = rank % 2, column = rank / 2, columns = size / 2, in[2], tag = 0;
    MPI_Request r[2], s[2];
    MPI_Status states[2];
    if (rank >= 2 * columns)
        return;
    for (int step = 0; step < 3; step++, tag += 2) {
        int n = 0, m = 0;
        int sources[2], tags[2];
        if (row > 0) {
            sources[n] = rank - 1;
            tags[n] = tag;
            IRECV(&in[n], 1, rank - 1, tag, &r[n]);
            n++;
        }
        if (column > 0) {
            sources[n] = rank - 2;
            tags[n] = tag + 1;
            IRECV(&in[n], 1, rank - 2, tag + 1, &r[n]);
            n++;
        }
        if (n > 0) {
            TIMED(MPI_Waitall, n, r, states);
            for (int i = 0; i < n; i++)
                mark("R %d %d %d", sources[i], WORLD, tags[i]);
            CALLED(MPI_Waitall);
        }
        busy("cell", 20 + 7 * ((rank + step) % 3));
        if (row == 0 && rank + 1 < size) {
            ISEND(&rank, 1, rank + 1, tag, &s[m]);
            m++;
        }
        if (column + 1 < columns) {
            ISEND(&rank, 1, rank + 2, tag + 1, &s[m]);
            m++;
        }
        if (m > 0) {
            TIMED(MPI_Waitall, m, s, states);
            CALLED(MPI_Waitall);
        }
    }
}

static void shift(void) /* around a ring, one rank is slower in turn */
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, in = 0;
    for (int i = 0; i < 4; i++) {
        busy(rank == (3 * i) % size ? "slow" : "fast", rank == (3 * i) % size ? 55 : 20);
        mark("S %d %d 3 0", right, WORLD);
        mark("P %d %d 3", left, WORLD);
        if (i % 2) {
            TIMED(MPI_Sendrecv, &rank, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3,
                  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mark("R %d %d 3", left, WORLD);
            CALLED(MPI_Sendrecv);
        } else {
            TIMED(MPI_Sendrecv_replace, &in, 1, MPI_INT, right, 3, left, 3, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE);
            mark("R %d %d 3", left, WORLD);
            CALLED(MPI_Sendrecv_replace);
        }
    }
}

static void tree(void) /* reduction and broadcast by hand along a binomial tree */
{
    int x = 0;
    MPI_Status s;
    for (int i = 0; i < 2; i++) {
        busy("leaf", 20 + 5 * ((5 * rank + 3 * i) % size));
        int span = 1;
        for (; span < size; span *= 2) {
            if (rank & span) {
                SEND(&rank, 1, rank - span, 4);
                break;
            }
            if (rank + span < size) {
                RECV(&x, 1, rank + span, 4, &s);
                busy("combine", 20);
            }
        }
        if (rank > 0)
            RECV(&x, 1, rank - span, 5, &s);
        for (int down = (rank > 0 ? span : span) / 2; down > 0; down /= 2)
            if (rank + down < size && !(rank & down) && rank % (2 * down) == 0)
                SEND(&x, 1, rank + down, 5);
    }
}

/* Jobs of several kinds on demand; large results wait until the first rank has time for them, in
 * receives from anybody. */
static void master(void) {
    static int data[LARGE];
    enum { ASK = 1, RESULT, JOB, STOP };
    MPI_Status s;
    int jobs = 2 * (size - 1), kind = 0, at_work = size - 1;
    if (rank == 0) {
        while (at_work > 0) {
            RECV(data, LARGE, MPI_ANY_SOURCE, MPI_ANY_TAG, &s);
            if (s.MPI_TAG == RESULT) {
                busy("book", 25);
                continue;
            }
            if (jobs > 0) {
                SEND(&kind, 1, s.MPI_SOURCE, JOB);
                kind = (kind + 1) % 3;
                jobs--;
            } else {
                SEND(&kind, 1, s.MPI_SOURCE, STOP);
                at_work--;
            }
        }
        return;
    }
    for (;;) {
        SEND(&rank, 1, 0, ASK);
        RECV(&kind, 1, 0, MPI_ANY_TAG, &s);
        if (s.MPI_TAG == STOP)
            return;
        busy("job", 20 + 11 * kind);
        SEND(data, LARGE, 0, RESULT);
        busy("tidy", 20);
    }
}

/* Halo exchange with both neighbours, taken as it comes: in MPI_Waitsome, and in MPI_Testsome
 * between pieces of work. */
static void stencil(void) {
    int left = (rank + size - 1) % size, right = (rank + 1) % size, in[2], done, index[4];
    MPI_Request r[2], s[2];
    MPI_Status states[4];
    for (int i = 0; i < 4; i++) {
        int tag = 20 + 2 * i, from[2] = {left, right}, tags[2] = {tag, tag + 1};
        IRECV(&in[0], 1, left, tag, &r[0]);
        IRECV(&in[1], 1, right, tag + 1, &r[1]);
        busy("border", rank == i % size ? 45 : 20);
        ISEND(&rank, 1, right, tag, &s[0]);
        ISEND(&rank, 1, left, tag + 1, &s[1]);
        if (i % 2 == 0)
            busy("inner", 20 + 6 * ((rank + i) % 3));
        for (int taken = 0; taken<2; taken += done> 0 ? done : 0) {
            if (i % 2) {
                TIMED(MPI_Waitsome, 2, r, &done, index, states);
                for (int k = 0; k < done; k++)
                    mark("R %d %d %d", from[index[k]], WORLD, tags[index[k]]);
                CALLED(MPI_Waitsome);
            } else {
                TIMED(MPI_Testsome, 2, r, &done, index, states);
                for (int k = 0; k < done; k++)
                    mark("R %d %d %d", from[index[k]], WORLD, tags[index[k]]);
                CALLED(MPI_Testsome);
                if (done == 0)
                    busy("meanwhile", 4);
            }
        }
        TIMED(MPI_Waitall, 2, s, states);
        CALLED(MPI_Waitall);
    }
}

static void overlap(void) /* nonblocking collectives with work between begin and end */
{
    int x = rank, y = 0;
    MPI_Request r[2];
    MPI_Status s[2];
    for (int i = 0; i < 3; i++) {
        int first = collectives[WORLD]++, second = collectives[WORLD]++;
        busy(rank == i % size ? "late" : "early", rank == i % size ? 50 : 20);
        mark("X %d %d %d %d %d %d", WORLD, first, ONE2N, i % size, rank == i % size,
             rank != i % size);
        TIMED(MPI_Ibcast, &x, 1, MPI_INT, i % size, MPI_COMM_WORLD, &r[0]);
        CALLED(MPI_Ibcast);
        busy("between", 20 + 9 * ((rank + i) % 3));
        mark("X %d %d %d 0 1 1", WORLD, second, N2N);
        TIMED(MPI_Iallreduce, &rank, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
        CALLED(MPI_Iallreduce);
        busy("behind", 20);
        TIMED(MPI_Waitall, 2, r, s);
        mark("Y %d %d", WORLD, first);
        mark("Y %d %d", WORLD, second);
        CALLED(MPI_Waitall);
    }
}

static void grid(void) /* sums along rows, broadcasts along columns of a grid of two columns */
{
    MPI_Comm row, column;
    int sum = 0, two = 2;
    int ids[2] = {WORLD + 1 + rank / two, WORLD + 32 + rank % two};
    busy("split", 20);
    /* the constructors are collective operations of all */
    COLLECTIVE(WORLD, N2N + 7, 0, MPI_Comm_split, MPI_COMM_WORLD, rank / two, rank, &row);
    busy("split", 20 + 3 * rank);
    COLLECTIVE(WORLD, N2N + 7, 0, MPI_Comm_split, MPI_COMM_WORLD, rank % two, rank, &column);
    for (int i = 0; i < 3; i++) {
        int rows = (size + 1) / two, root = i % rows;
        if (rank % two + two * root >= size)
            root = 0;
        busy("row", 20 + 8 * ((rank + i) % 4));
        COLLECTIVE(ids[0], N2N, 0, MPI_Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, row);
        busy("column", 20 + 8 * ((rank + 2 * i) % 3));
        int number = collectives[ids[1]]++, world_root = rank % two + two * root;
        mark("X %d %d %d %d %d %d", ids[1], number, ONE2N, world_root, rank == world_root,
             rank != world_root);
        TIMED(MPI_Bcast, &sum, 1, MPI_INT, root, column);
        mark("Y %d %d", ids[1], number);
        CALLED(MPI_Bcast);
    }
}

/* Collectives of all with nothing but work between them, in short steps (inside of a region: not
 * a phase each); one rank is slower in turn. */
static void steps(void) {
    int sum = 0;
    latecomer_begin("round");
    mark("N %d 2 round", MOST + 3);
    parent = MOST + 3;
    for (int i = 0; i < 40; i++) {
        bool slow = (i / 3) % size == rank;
        busy(slow ? "most" : "least", slow ? 3 : 0.6);
        if (i % 3 == 2)
            COLLECTIVE(WORLD, BARRIER, 0, MPI_Barrier, MPI_COMM_WORLD);
        else
            COLLECTIVE(WORLD, N2N, 0, MPI_Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM,
                       MPI_COMM_WORLD);
    }
    latecomer_end("round");
}

static void fences(void) /* epochs of a window; one rank has more to do in turn */
{
    MPI_Win win;
    int box[2] = {0};
    busy("before", 20 + 4 * rank);
    COLLECTIVE(WORLD, N2N + 7, 0, MPI_Win_create, box, sizeof box, 4, MPI_INFO_NULL, MPI_COMM_WORLD,
               &win);
    TIMED(MPI_Win_fence, MPI_MODE_NOPRECEDE, win);
    CALLED(MPI_Win_fence);
    for (int i = 0; i < 3; i++) {
        busy("epoch", rank == (i + 1) % size ? 60 : 25);
        TIMED(MPI_Put, &rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
        CALLED(MPI_Put);
        busy("epoch", 20);
        COLLECTIVE(WORLD + 1, N2N + 7, 0, MPI_Win_fence, 0, win);
    }
    busy("after", 20);
    COLLECTIVE(WORLD + 1, N2N + 7, 0, MPI_Win_free, &win);
}

static void prefix(void) /* scans: only lower ranks hold up higher ones */
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        busy("part", 20 + 6 * ((rank * 3 + i) % size));
        COLLECTIVE(WORLD, SCAN, 0, MPI_Scan, &rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        busy("part", 20 + 6 * ((size - rank + i) % size));
        COLLECTIVE(WORLD, EXSCAN, 0, MPI_Exscan, &rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void rooted(void) /* v forms with a late root, or with late members */
{
    int counts[MOST], places[MOST], all[MOST] = {0}, x = rank;
    for (int i = 0; i < MOST; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    for (int i = 0; i < 3; i++) {
        int root = (i + 1) % size, number;
        busy("root", rank == root ? 55 : 20);
        number = collectives[WORLD]++;
        mark("X %d %d %d %d %d %d", WORLD, number, ONE2N, root, rank == root, rank != root);
        TIMED(MPI_Scatterv, all, counts, places, MPI_INT, &x, 1, MPI_INT, root, MPI_COMM_WORLD);
        mark("Y %d %d", WORLD, number);
        CALLED(MPI_Scatterv);
        busy("member", rank == root ? 20 : 30 + 6 * rank);
        number = collectives[WORLD]++;
        mark("X %d %d %d %d %d %d", WORLD, number, N2ONE, root, rank != root, rank == root);
        TIMED(MPI_Gatherv, &x, 1, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
        mark("Y %d %d", WORLD, number);
        CALLED(MPI_Gatherv);
        busy("all", 20 + 5 * ((rank + i) % size));
        COLLECTIVE(WORLD, N2N, 0, MPI_Allgatherv, &x, 1, MPI_INT, all, counts, places, MPI_INT,
                   MPI_COMM_WORLD);
    }
}

/* Synchronous and very large sends, to a receiver that is late, or that posted before and has the
 * longer chain behind it. */
static void handshake(void) {
    static int data[HUGE_];
    MPI_Request r;
    MPI_Status s;
    int partner = rank ^ 1;
    if (partner >= size)
        return;
    for (int i = 0; i < 4; i++) {
        if (rank % 2 == 0) {
            busy("short", 20);
            if (i % 2)
                SEND(data, HUGE_, partner, 6);
            else
                SSEND(data, 1, partner, 6);
            busy("then", 25);
        } else if (i < 2) {
            busy("long", 50);
            RECV(data, HUGE_, partner, 6, &s);
        } else {
            IRECV(data, HUGE_, partner, 6, &r);
            busy("long", 40);
            TIMED(MPI_Wait, &r, &s);
            mark("R %d %d 6", partner, WORLD);
            CALLED(MPI_Wait);
        }
    }
}

static void large(void) /* exchanges that no MPI buffers, with each neighbour in turn */
{
    static int out_data[HUGE_], in_data[HUGE_];
    MPI_Request r[2];
    MPI_Status s[2];
    for (int i = 0; i < 4; i++) {
        int partner = i % 2 ? (rank % 2 ? rank + 1 : rank - 1) : rank ^ 1;
        busy(rank == i % size ? "slow" : "fast", rank == i % size ? 60 : 20 + 3 * (rank % 3));
        if (partner < 0 || partner >= size)
            continue;
        if (i < 2) {
            mark("S %d %d 8 1", partner, WORLD);
            mark("P %d %d 8", partner, WORLD);
            TIMED(MPI_Sendrecv, out_data, HUGE_, MPI_INT, partner, 8, in_data, HUGE_, MPI_INT,
                  partner, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            mark("R %d %d 8", partner, WORLD);
            CALLED(MPI_Sendrecv);
        } else {
            IRECV(in_data, HUGE_, partner, 9, &r[0]);
            ISEND(out_data, HUGE_, partner, 9, &r[1]);
            busy("between", 20);
            TIMED(MPI_Waitall, 2, r, s);
            mark("R %d %d 9", partner, WORLD);
            CALLED(MPI_Waitall);
        }
    }
}

#define BEGUN(kind, root, is_source, is_sink, function, ...)                                       \
    do {                                                                                           \
        mark("X %d %d %d %d %d %d", WORLD, collectives[WORLD], kind, root, is_source, is_sink);    \
        TIMED(function, __VA_ARGS__);                                                              \
        CALLED(function);                                                                          \
        busy("behind", 20);                                                                        \
        TIMED(MPI_Wait, &r, MPI_STATUS_IGNORE);                                                    \
        mark("Y %d %d", WORLD, collectives[WORLD]++);                                              \
        CALLED(MPI_Wait);                                                                          \
    } while (0)

static void others(void) /* more collectives, blocking and not */
{
    int in[MOST], all[MOST] = {0}, one = 0, counts[MOST];
    MPI_Request r;
    for (int i = 0; i < MOST; i++) {
        in[i] = rank;
        counts[i] = 1;
    }
    for (int i = 0; i < 2; i++) {
        int late = (2 * i + 1) % size;
        busy("piece", rank == late ? 50 : 20 + 4 * (rank % 2));
        COLLECTIVE(WORLD, N2N, 0, MPI_Alltoall, in, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        busy("piece", rank == 0 ? 45 : 20);
        COLLECTIVE(WORLD, N2N, 0, MPI_Reduce_scatter, in, &one, counts, MPI_INT, MPI_SUM,
                   MPI_COMM_WORLD);
        busy("piece", 20 + 5 * ((rank + i) % 3));
        BEGUN(N2ONE, late, rank != late, rank == late, MPI_Igather, &rank, 1, MPI_INT, all, 1,
              MPI_INT, late, MPI_COMM_WORLD, &r);
        busy("piece", 20 + 9 * ((rank + 1) % 3));
        BEGUN(SCAN, 0, 1, 1, MPI_Iscan, &rank, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
        busy("piece", rank == late ? 60 : 20);
        BEGUN(N2N, 0, 1, 1, MPI_Iallgather, &rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &r);
        busy("piece", rank == (late + 1) % size ? 70 : 20);
        BEGUN(BARRIER, 0, 1, 1, MPI_Ibarrier, MPI_COMM_WORLD, &r);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} patterns[] = {{"pipeline", pipeline}, {"wavefront", wavefront}, {"shift", shift},
                {"tree", tree},         {"master", master},       {"stencil", stencil},
                {"overlap", overlap},   {"grid", grid},           {"fences", fences},
                {"prefix", prefix},     {"rooted", rooted},       {"handshake", handshake},
                {"large", large},       {"others", others},       {"steps", steps}};

int main(int argc, char **argv) {
    char name[512];
    MPI_Init(&argc, &argv);
    begin_ns = now();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s.%d", getenv("PATTERN_LOG"), rank);
    out = fopen(name, "w");
    if (out == NULL || argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    static char buffer[1 << 20];
    setvbuf(out, buffer, _IOFBF, sizeof buffer);
    pattern_name = argv[1];
    if (argc > 2)
        factor = atof(argv[2]);
    mark("B %llu 1", (unsigned long long)begin_ns);
    mark("N 1 99 main\nN 2 1 %s", pattern_name);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(patterns[i].name, pattern_name) == 0)
            patterns[i].run();
    mark("E %llu", (unsigned long long)now());
    fclose(out);
    MPI_Finalize();
    return 0;
}
