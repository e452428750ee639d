/* Patterns whose waits are known by construction: constructed_waits PATTERN [WORK_FACTOR [ROUNDS]].
 * Work is naps, so that ranks need no cores. Rank 0 prints the naps of each rank as its own clock
 * saw them. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "latecomer.h"

static int rank, size, rounds = 20;
static double napped, factor = 1;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void nap(double ms) {
    struct timespec t = {.tv_nsec = (long)(ms * 1e6)};
    double begin = seconds();
    nanosleep(&t, NULL);
    napped += seconds() - begin;
}

/* With -DFUNCTIONS the function itself is the region (-finstrument-functions), with the symbol of
 * test::work(double) in C++. */
#ifdef FUNCTIONS
void work(double ms) __asm__("_ZN4test4workEd");
#endif
__attribute__((noinline)) void work(double ms) {
#ifndef FUNCTIONS
    latecomer_begin("work");
#endif
    nap(ms * factor);
#ifndef FUNCTIONS
    latecomer_end("work");
#endif
}

static void chain(void) /* one after the other: SerE = 1 / n */
{
    int token = 0;
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(40);
    if (rank + 1 < size)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void imbalance(void) /* always the same rank: LB = mean / max */
{
    for (int i = 0; i < 3; i++) {
        work(rank == size - 1 ? 60 : 20);
        MPI_Allreduce(MPI_IN_PLACE, &i, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

static void rotating(void) /* another rank each time: LB = 1, SerE = mean / max */
{
    for (int i = 0; i < size; i++) {
        work(rank == i ? 60 : 20);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void sleepy(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)in;
    (void)inout;
    (void)n;
    (void)type;
    nanosleep(&(struct timespec){.tv_nsec = (long)(30e6 * factor)}, NULL);
}

static void transfer(void) /* time inside MPI: TE < 1 */
{
    MPI_Op op;
    int x = rank, y = 0;
    MPI_Op_create(sleepy, 1, &op);
    for (int i = 0; i < 2; i++) {
        work(30);
        MPI_Reduce(&x, &y, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Op_free(&op);
}

static void farm(void) /* wild receives */
{
    int job = 0, last = 2 * (size - 1), done = 0;
    MPI_Status status;
    if (rank == 0) {
        while (done < size - 1) {
            MPI_Recv(&job, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            int next = last-- > 0;
            done += !next;
            nap(5);
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, 5, MPI_COMM_WORLD);
        }
        return;
    }
    for (;;) {
        MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
        MPI_Recv(&job, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
        if (!job)
            return;
        work(20 + 5 * rank);
    }
}

static void probes(void) /* a message is found before it is received */
{
    int in[3] = {-1, -1, -1};
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    if (rank == 0) {
        for (int n = 0; n < 3; n++)
            for (int to = 1; to < size; to++) {
                work(5);
                MPI_Send(&n, 1, MPI_INT, to, n < 2 ? 6 : 7, MPI_COMM_WORLD);
            }
        return;
    }
    MPI_Irecv(&in[0], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status); /* not the first one: that has a receive */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&in[1], 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in[2], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    if (in[0] != 0 || in[1] != 1 || in[2] != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void mixture(void) /* every kind of wait */
{
    int a[2] = {rank, 0}, sum[2] = {0, 0}, big[20000] = {0};
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request r[4];
    MPI_Status s[4];
    for (int i = 0; i < 3; i++) {
        work(10 + 10 * ((rank + i) % size));
        MPI_Irecv(&a[1], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&sum[0], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[1]);
        nap(2);
        MPI_Isend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(&rank, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, s);
        if (rank == i % size)
            nap(15);
        MPI_Bcast(a, 2, MPI_INT, i % size, MPI_COMM_WORLD);
        nap(rank == 1 ? 10 : 2);
        MPI_Reduce(a, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        nap(3 * (size - rank));
        MPI_Scan(a, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        nap(3 * rank);
        if (rank == 0)
            MPI_Ssend(a, 2, MPI_INT, 1, 9, MPI_COMM_WORLD);
        if (rank == 1) {
            nap(10);
            MPI_Recv(a, 2, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (size > 2 && rank == 2)
            MPI_Send(big, 20000, MPI_INT, 0, 10, MPI_COMM_WORLD);
        if (size > 2 && rank == 0) {
            nap(8);
            MPI_Recv(big, 20000, MPI_INT, 2, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Iallreduce(&rank, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r);
        nap(4);
        MPI_Wait(r, s);
        MPI_Sendrecv(a, 1, MPI_INT, right, 4, sum, 1, MPI_INT, left, 4, MPI_COMM_WORLD, s);
    }
}

static void others(void) /* calls that `mixture` does not have */
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, in[64], out[64], done, index[2];
    int counts[64], places[64];
    MPI_Request r[2], s[2];
    MPI_Message message;
    MPI_Status states[2];
    for (int i = 0; i < 64; i++) {
        counts[i] = 1;
        places[i] = i;
        out[i] = rank;
    }
    for (int i = 0; i < 2; i++) {
        for (int any = 0; any < 2; any++) {
            MPI_Irecv(&in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r[0]);
            MPI_Irecv(&in[1], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[1]);
            work(10 + 10 * ((rank + i) % size));
            MPI_Isend(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &s[0]);
            nap(5);
            MPI_Isend(out, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &s[1]);
            for (int left_over = 2; left_over > 0; left_over -= done)
                if (any) {
                    MPI_Waitany(2, r, index, MPI_STATUS_IGNORE);
                    done = 1;
                } else {
                    MPI_Waitsome(2, r, &done, index, states);
                }
            MPI_Waitall(2, s, states);
        }
        MPI_Isend(out, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &s[0]);
        MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Waitall(1, s, states);
        nap(rank == i ? 10 : 2);
        MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, i, MPI_COMM_WORLD);
        nap(rank == 1 ? 10 : 2);
        MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD);
        nap(3 * rank);
        MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
        nap(3 * (size - rank));
        MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Issend(out, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &r[0]);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            nap(12);
            MPI_Recv(in, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void stopped(void) /* two intervals, and work between them that does not count */
{
    work(30);
    MPI_Barrier(MPI_COMM_WORLD);
    nap(25); /* up to the switch, no MPI call there */
    latecomer_stop();
    nap(30);
    MPI_Barrier(MPI_COMM_WORLD);
    latecomer_start();
    work(rank == 0 ? 60 : 20);
    MPI_Barrier(MPI_COMM_WORLD);
    latecomer_stop();
}

static void drift(void) /* work in turn */
{
    for (int i = 0; i < rounds; i++) {
        work(i % size == rank ? 60 : 30);
        MPI_Allreduce(MPI_IN_PLACE, &i, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

/* Work in turn, whose sum is as asked: what the nap of one was too long, that of the next one on
 * the critical path leaves out. */
static void exactly(void) {
    int late_us = 0;
    for (int i = 0; i < 5; i++) {
        bool turn = i % size == rank;
        double before = napped, ms = turn ? 240 - late_us * 1e-3 / factor : 100;
        work(ms);
        late_us = turn ? (int)((napped - before) * 1e6 - ms * factor * 1e3) : 0;
        MPI_Allreduce(MPI_IN_PLACE, &late_us, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

/* A fence that nothing precedes: nobody needs to wait for anybody. */
__attribute__((noinline)) static void unordered(MPI_Win win) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    __asm__ volatile(""); /* no tail call */
}

/* Construction of communicators and windows, fences, collective files. */
static void made(void) {
    MPI_Comm twin, half;
    MPI_Win win;
    MPI_File file;
    char name[256];
    int box = 0;
    snprintf(name, sizeof name, "%s/waits-made.%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             size);
    for (int i = 0; i < 2; i++) {
        work(20 + 10 * ((rank + i) % size));
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        work(20 + 10 * (rank == i));
        MPI_Comm_split(twin, rank % 2, rank, &half);
        work(20 + 10 * (rank == size - 1));
        MPI_Win_create(&box, sizeof box, sizeof box, MPI_INFO_NULL, twin, &win);
        MPI_Comm_free(&twin); /* the window lives on */
        unordered(win);
        work(20 + 10 * (rank == 1));
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        work(20 + 10 * (rank == 0));
        MPI_Win_free(&win);
        MPI_Comm_free(&half);
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        work(20 + 10 * ((rank + i + 1) % size));
        MPI_File_write_at_all(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
        work(20 + 10 * ((rank + i + 2) % size));
        MPI_File_close(&file);
    }
}

/* Constructors over groups, duplication and collective file operations in two halves. */
static void halves(void) {
    MPI_Group all, mine;
    MPI_Comm half, inter, merged, twin;
    MPI_File file;
    MPI_Request request;
    int every_other[1][3] = {{rank % 2, size - 2 + rank % 2, 2}};
    char name[256];
    snprintf(name, sizeof name, "%s/waits-halves.%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             size);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, every_other, &mine);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (int i = 0; i < 2; i++) {
        work(20 + 30 * (rank == i));
        MPI_Comm_create_group(MPI_COMM_WORLD, mine, 7, &half);
        work(20 + 30 * (rank == size - 1));
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &inter);
        work(20 + 10 * ((rank + i) % size));
        MPI_Intercomm_merge(inter, rank % 2, &merged);
        work(20 + 30 * (rank == 1));
        MPI_Comm_idup(merged, &twin, &request);
        work(10 + 10 * ((rank + i) % size));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        work(20 + 30 * (rank == i));
        MPI_File_iwrite_at_all(file, rank * 4, &rank, 1, MPI_INT, &request);
        work(10 + 10 * ((rank + 2) % size));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        work(20 + 30 * (rank == 1 - i));
        MPI_File_write_at_all_begin(file, rank * 4, &rank, 1, MPI_INT);
        work(10 + 10 * ((rank + 3) % size));
        MPI_File_write_at_all_end(file, &rank, MPI_STATUS_IGNORE);
        work(20 + 30 * (rank == 0));
        MPI_Barrier(twin);
        MPI_Comm_free(&twin);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    MPI_File_close(&file);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
}

/* Receives that were posted before synchronous and large sends began, by a rank that has more work
 * behind it than the sender, which slept in MPI: edges back. None for small sends. */
static void posted(void) {
    enum { LARGE = 1 << 18 };
    static int big[LARGE];
    MPI_Op op;
    MPI_Request r[4], s;
    int x = rank, y = 0, partner = rank ^ 1, in[4] = {0};
    MPI_Status states[3];
    MPI_Op_create(sleepy, 1, &op);
    for (int kind = 0; kind < 6 && partner < size; kind++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank % 2 == 0) {
            work(10);
            for (int i = 0; i < 3; i++) /* 90 ms in MPI */
                MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
            if (kind == 0) {
                MPI_Ssend(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
            } else if (kind == 1) {
                MPI_Issend(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &s);
                MPI_Wait(&s, MPI_STATUS_IGNORE);
            } else if (kind == 2) {
                MPI_Send(big, LARGE, MPI_INT, partner, 1, MPI_COMM_WORLD);
            } else if (kind == 3) {
                MPI_Send(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
            } else if (kind == 4) { /* third of four of one stream, one of another between */
                MPI_Send(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
                MPI_Send(&x, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
                MPI_Send(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
                MPI_Ssend(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
            } else {
                MPI_Ssend(&x, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
            }
            work(40);
        } else {
            work(50);
            for (int i = 0; i < (kind == 4 ? 3 : 1) && kind < 5; i++) {
                MPI_Irecv(kind == 2 ? big : &in[i], kind == 2 ? LARGE : 1, MPI_INT, partner, 1,
                          MPI_COMM_WORLD, &r[i]);
                if (kind == 4)
                    work(5);
            }
            if (kind == 4) {
                MPI_Recv(&in[3], 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Waitall(3, r, states);
            } else if (kind == 5) {
                MPI_Recv(&in[3], 1, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            }
        }
    }
    MPI_Op_free(&op);
}

/* Persistent requests, MPI_Testsome, wild receives among exact ones, on a part of the ranks. */
static void streams(void) {
    MPI_Comm half;
    MPI_Request r[4], tested[3];
    MPI_Status s[4];
    int me, n, in[4], done = 0, total = 0, index[3];
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &n);
    int left = (me + n - 1) % n, right = (me + 1) % n;
    MPI_Send_init(&rank, 1, MPI_INT, right, 1, half, &r[0]);
    MPI_Recv_init(&in[0], 1, MPI_INT, left, 1, half, &r[1]);
    MPI_Ssend_init(&rank, 1, MPI_INT, left, 2, half, &r[2]);
    MPI_Recv_init(&in[1], 1, MPI_INT, right, 2, half, &r[3]);
    for (int i = 0; i < 3; i++) {
        work(10 + 20 * ((rank + i) % size));
        MPI_Startall(4, r);
        work(10 + 10 * (rank == i));
        MPI_Waitall(4, r, s);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
    for (int i = 0; i < 3; i++) { /* exact, any source, any tag; taken as they come */
        MPI_Irecv(&in[0], 1, MPI_INT, left, 5, half, &tested[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 6, half, &tested[1]);
        MPI_Irecv(&in[2], 1, MPI_INT, left, MPI_ANY_TAG, half, &tested[2]);
        work(20 + 20 * ((rank + i) % size));
        for (int tag = 5; tag < 8; tag++) {
            MPI_Send(&rank, 1, MPI_INT, right, tag, half);
            work(5);
        }
        for (total = 0; total < 3; total += done) {
            MPI_Testsome(3, tested, &done, index, s);
            nap(1);
        }
        MPI_Barrier(half);
    }
    MPI_Comm_free(&half);
}

/* Collectives between two groups. */
static void remote(void) {
    MPI_Comm half, inter;
    int sum = 0, all[64] = {0};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &inter);
    for (int i = 0; i < 2; i++) {
        work(20 + 30 * (rank == 1));
        MPI_Barrier(inter);
        work(20 + 30 * (rank == 2 * i));
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
        work(20 + 30 * (rank == 0));
        MPI_Bcast(&sum, 1, MPI_INT, rank % 2 ? 0 : rank > 0 ? MPI_PROC_NULL : MPI_ROOT, inter);
        work(20 + 30 * (rank == size - 1));
        MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT,
                   rank % 2   ? 0
                   : rank > 0 ? MPI_PROC_NULL
                              : MPI_ROOT,
                   inter);
        work(20 + 30 * (rank == 1 - i));
        MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Constructors from an intercommunicator: who was late in the own group counts too. Collectives of
 * what MPI_Comm_idup made. */
static void between(void) {
    MPI_Comm half, inter, twin, parts, copy;
    MPI_Request r;
    int sum = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &inter);
    for (int i = 0; i < 2; i++) {
        work(20 + 30 * (rank == 1));
        MPI_Comm_dup(inter, &twin);
        work(20 + 30 * (rank == 3));
        MPI_Comm_split(twin, 0, rank, &parts);
        work(20 + 30 * (rank == 1));
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        work(20 + 30 * (rank == 2));
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy, &r);
        work(10 * (rank == 0));
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        work(20 + 30 * (rank == 0));
        MPI_Bcast(&sum, 1, MPI_INT, 0, copy);
        work(20 + 30 * (rank == 3));
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&parts);
        MPI_Comm_free(&twin);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Edges back to a sender while its receiver has many receives open, and wild ones: late ones, and
 * one posted long before. */
static void crowd(void) {
    enum { MANY = 60, LARGE = 20000 };
    static int in[MANY], big[LARGE];
    MPI_Op op;
    MPI_Request r[MANY + 2];
    MPI_Status s[MANY + 2];
    int x = rank, y = 0, partner = rank ^ 1, last = 0, wild = 0;
    MPI_Op_create(sleepy, 1, &op);
    if (rank % 2 == 0) {
        work(10);
        MPI_Ssend(&x, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
        work(20);
        MPI_Send(big, LARGE, MPI_INT, partner, 3, MPI_COMM_WORLD);
        work(20);
        for (int i = 0; i < 3; i++) /* 90 ms in MPI */
            MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
        MPI_Ssend(&x, 1, MPI_INT, partner, 5, MPI_COMM_WORLD);
        work(40);
        for (int i = 0; i < MANY; i++)
            MPI_Send(&x, 1, MPI_INT, partner, 4, MPI_COMM_WORLD);
        MPI_Send(&x, 1, MPI_INT, partner, 9, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&wild, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &r[MANY]);
        for (int i = 0; i < MANY / 2; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &r[i]);
        work(30);
        MPI_Recv(&last, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, s);
        work(40);
        MPI_Recv(big, LARGE, MPI_INT, partner, 3, MPI_COMM_WORLD, s);
        work(50);
        MPI_Irecv(&last, 1, MPI_INT, partner, 5, MPI_COMM_WORLD, &r[MANY + 1]);
        for (int i = MANY / 2; i < MANY; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &r[i]);
        MPI_Wait(&r[MANY + 1], s);
        MPI_Waitall(MANY + 1, r, s);
    }
    MPI_Op_free(&op);
}

/* Partitioned messages of two requests with one tag (MPI 4; others: whole ones), sent when the last
 * partition is ready: the second request first. */
static void parts(void) {
    double box[2][4] = {{0}};
    MPI_Request r[2];
    MPI_Status s[2];
    int partner = rank ^ 1;
    for (int k = 0; k < 2 && partner < size; k++) {
#if MPI_VERSION >= 4
        if (rank % 2 == 0)
            MPI_Psend_init(box[k], 2, 2, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &r[k]);
        else
            MPI_Precv_init(box[k], 2, 2, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &r[k]);
#else
        if (rank % 2 == 0)
            MPI_Send_init(box[k], 4, MPI_DOUBLE, partner, k, MPI_COMM_WORLD, &r[k]);
        else
            MPI_Recv_init(box[k], 4, MPI_DOUBLE, partner, k, MPI_COMM_WORLD, &r[k]);
#endif
    }
    for (int i = 0; i < 2 && partner < size; i++) {
        if (rank % 2 == 0) {
#if MPI_VERSION >= 4
            MPI_Startall(2, r);
            work(20);
            MPI_Pready(0, r[0]);
            MPI_Pready_range(0, 1, r[1]);
            work(60);
            MPI_Pready_list(1, (int[]){1}, r[0]);
#else
            work(20);
            MPI_Start(&r[1]);
            work(60);
            MPI_Start(&r[0]);
#endif
            MPI_Waitall(2, r, s);
        } else {
            MPI_Startall(2, r);
            work(10);
            MPI_Wait(&r[1], s);
            work(30);
            MPI_Wait(&r[0], s);
            work(20);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int k = 0; k < 2 && partner < size; k++)
        MPI_Request_free(&r[k]);
}

/* Only neighbours on a ring send something; MPI_Alltoallv: only the left one. */
static void neighbours(void) {
    MPI_Comm ring;
    int in[64], out[64], counts[64] = {0}, from[64] = {0}, places[64], yes = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 0, &ring);
    for (int i = 0; i < 64; i++) {
        out[i] = rank;
        places[i] = i;
    }
    counts[(rank + 1) % size] = 1;
    from[(rank + size - 1) % size] = 1;
    for (int i = 0; i < 3; i++) {
        work(20 + 60 * (rank == i % size));
        MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, ring);
        work(20 + 60 * (rank == (i + 2) % size));
        MPI_Alltoallv(out, counts, places, MPI_INT, in, from, places, MPI_INT, MPI_COMM_WORLD);
        work(10 + 30 * (rank == (i + 1) % size));
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    }
    MPI_Comm_free(&ring);
}

/* Posts and starts with the first rank as origin. */
static void epochs(void) {
    MPI_Group all, origin, targets;
    MPI_Win win;
    int box = 0, first = 0;
    MPI_Win_create(&box, sizeof box, sizeof box, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &first, &origin);
    MPI_Group_excl(all, 1, &first, &targets);
    for (int i = 0; i < 2; i++) {
        if (rank == 0) {
            work(20);
            MPI_Win_start(targets, 0, win);
            for (int r = 1; r < size; r++)
                MPI_Put(&rank, 1, MPI_INT, r, 0, 1, MPI_INT, win);
            work(20 + 40 * i);
            MPI_Win_complete(win);
        } else {
            work(20 + 20 * rank * (1 - i));
            MPI_Win_post(origin, 0, win);
            work(10);
            MPI_Win_wait(win);
        }
    }
    MPI_Win_free(&win);
    MPI_Group_free(&all);
    MPI_Group_free(&origin);
    MPI_Group_free(&targets);
}

static void locks(void) /* of the first rank's window, in turn */
{
    MPI_Win win;
    int box = 0, mine = 1;
    MPI_Win_create(&box, sizeof box, sizeof box, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    work(10 * (size - rank));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    work(20);
    MPI_Accumulate(&mine, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    work(10 * rank);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && box != size)
        printf("wrong sum %d\n", box);
    MPI_Win_free(&win);
}

/* Ranks whose first lock of a window begins when the epochs of others are over. The target is in
 * MPI then: Open MPI grants locks when it is, else several epochs end at once. */
static void lockers(void) {
    MPI_Win win;
    MPI_Op op;
    int box = 0, mine = 1, x = rank, y = 0, last = size - 1;
    MPI_Op_create(sleepy, 1, &op);
    MPI_Win_create(&box, sizeof box, sizeof box, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == last)
        work(40);
    else
        for (int i = 0; i < 2 + (rank == 0); i++) /* 60, 90 ms in MPI */
            MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win);
    MPI_Accumulate(&mine, 1, MPI_INT, last, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(last, win);
    work(rank == 0 ? 60 : 20);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last && box != size)
        printf("wrong sum %d\n", box);
    MPI_Win_free(&win);
    MPI_Op_free(&op);
}

/* Messages in turn, of two streams, with work of both sides; a message that waits while others
 * overtake it; something else in between. */
static void turns(void) {
    MPI_Request r;
    int x = rank, y = 0, sum = 0, half = size / 2, partner = (rank + half) % size;
    bool serves = rank < half;
    for (int part = 0; part < 3; part++) {
        if (serves)
            MPI_Isend(&x, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, &r);
        for (int i = 0; i < 40; i++) {
            int tag = i % 8 == 7 ? 6 : 5;
            if (i % 3 == 0 || (serves && i % 5 == 0))
                part == 2 ? work(0.3) : nap(0.3);
            if (serves)
                MPI_Send(&x, 1, MPI_INT, partner, tag, MPI_COMM_WORLD);
            else if (i % 4 == 1)
                nap(0.2);
            MPI_Recv(&y, 1, MPI_INT, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (i % 4 == 2)
                nap(rank % 2 ? 0.4 : 0.1);
            if (!serves)
                MPI_Send(&x, 1, MPI_INT, partner, tag, MPI_COMM_WORLD);
        }
        if (serves)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        else
            MPI_Recv(&y, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 20; i++) {
            nap(i % 2 == serves ? 0.5 : 0.1);
            MPI_Sendrecv(&x, 1, MPI_INT, partner, 5, &y, 1, MPI_INT, partner, 5, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void ring(void) /* for counting: two messages and two collectives a round */
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, in[2], sum;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        work(rank % 4 == i % 4 ? 60 : 40);
        MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&rank, 1, MPI_INT, left, 2, &in[1], 1, MPI_INT, right, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(in, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    }
}

/* Two named phases in turn; in the second one the last rank works longer each time. */
static void phased(void) {
    static const char *const names[2] = {"assemble", "solve"};
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++)
        for (int p = 0; p < 2; p++) {
            latecomer_begin(names[p]);
            latecomer_begin("inner");
            nap(p == 1 && rank == size - 1 ? 20 + 15 * i : 20);
            latecomer_end("inner");
            MPI_Barrier(MPI_COMM_WORLD);
            latecomer_end(names[p]);
        }
}

static const struct {
    const char *name;
    void (*run)(void);
} patterns[] = {{"chain", chain},       {"imbalance", imbalance},
                {"rotating", rotating}, {"transfer", transfer},
                {"farm", farm},         {"mixture", mixture},
                {"others", others},     {"stopped", stopped},
                {"drift", drift},       {"phased", phased},
                {"exactly", exactly},   {"made", made},
                {"halves", halves},     {"posted", posted},
                {"streams", streams},   {"remote", remote},
                {"between", between},   {"parts", parts},
                {"crowd", crowd},       {"neighbours", neighbours},
                {"epochs", epochs},     {"locks", locks},
                {"lockers", lockers},   {"turns", turns},
                {"ring", ring},         {"probes", probes}};

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2)
        factor = atof(argv[2]);
    if (argc > 3)
        rounds = atoi(argv[3]);
    double all[64] = {0};
    for (size_t i = 0; argc > 1 && i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(patterns[i].name, argv[1]) == 0)
            patterns[i].run();
    MPI_Gather(&napped, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < size; i++)
            printf("napped %d %.9f\n", i, all[i]);
    MPI_Finalize();
    return 0;
}
