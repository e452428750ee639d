/* The rules of virtual time on 4 ranks: virtual_rules [unknown | sim]. What every rank's clock
 * shows after each kind of call must be what the rules of virtual.h say, up to the reads of the
 * clock. With `unknown`: a call that has no rule. With `sim`: on the simulated MPI, in which a
 * probe moves the clock, and what comes back takes its way, as in a network. */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { US = 1000, MS = 1000000, READS = 300, LARGE = 20000 };
static int rank, size, wrong, simulated;
static long long began;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec - began;
}

static void nap(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * MS}, NULL);
}

static void expect(const char *what, long long ns) {
    long long is = now();
    if (is < ns || is > ns + READS) {
        printf("rank %d, %s: %lld ns instead of %lld\n", rank, what, is, ns);
        wrong++;
    }
}

/* All are together at a known time; then each naps 10 ms times its rank. */
static void together(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    began = 0;
    long long mine = now(), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    began = all + US;
    nap(10 * rank);
}

static long long at(int r) { /* of rank r after together() */
    return 10ll * MS * r;
}

static long long later(long long a, long long b) {
    return a > b ? a : b;
}

static void collectives(void) {
    int x = 0, in[4] = {0}, out[4] = {0}, counts[4] = {0}, from[4] = {0}, places[4] = {0, 1, 2, 3};
    together();
    MPI_Barrier(MPI_COMM_WORLD);
    expect("barrier", at(3) + US);
    together();
    MPI_Bcast(&x, 1, MPI_INT, 1, MPI_COMM_WORLD);
    expect("broadcast", rank == 1 ? at(1) : later(at(rank), at(1) + US));
    together();
    MPI_Gather(&x, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD);
    expect("gather", rank == 1 ? at(3) + US : at(rank));
    together();
    nap(40 - 20 * rank + 20 * (rank > 2)); /* 40, 30, 20, 30 */
    MPI_Scan(&x, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("scan", rank == 0 ? 40 * MS : 40 * MS + US);
    together();
    counts[(rank + 1) % 4] = from[(rank + 3) % 4] = 1;
    MPI_Alltoallv(out, counts, places, MPI_INT, in, from, places, MPI_INT, MPI_COMM_WORLD);
    expect("alltoallv", rank == 0 ? at(3) + US : at(rank));
    MPI_Request r;
    together();
    MPI_Ibcast(&x, 1, MPI_INT, 3, MPI_COMM_WORLD, &r);
    nap(15);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("nonblocking broadcast",
           rank == 3 ? at(3) + 15 * MS : later(at(rank) + 15 * MS, at(3) + US));
}

static void messages(void) {
    static int large[LARGE];
    int x = rank, y = -1, n = 0, flag = 0, index = -1, partner = rank ^ 1;
    MPI_Status s, states[2];
    MPI_Request r[2];
    MPI_Message message;
    together();
    if (rank % 2)
        MPI_Send(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&y, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    expect("small message", rank % 2 ? at(rank) : at(partner) + US);
    if (rank % 2 == 0)
        MPI_Get_count(&s, MPI_INT, &n);
    if (rank % 2 == 0 && (n != 1 || y != partner || s.MPI_SOURCE != partner || s.MPI_TAG != 1))
        printf("rank %d: %d from %d, count %d\n", rank, y, s.MPI_SOURCE, n), wrong++;
    for (int kind = 0; kind < 3; kind++) {
        together();
        if (rank % 2) {
            MPI_Recv(large, LARGE, MPI_INT, partner, 1, MPI_COMM_WORLD, &s);
        } else if (kind == 0) {
            MPI_Ssend(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
        } else if (kind == 1) {
            MPI_Send(large, LARGE, MPI_INT, partner, 1, MPI_COMM_WORLD);
        } else {
            MPI_Isend(large, LARGE, MPI_INT, partner, 1, MPI_COMM_WORLD, r);
            MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
        }
        expect("send that waits", rank % 2 ? at(rank) : at(partner) + US);
    }
    together(); /* the receive is open while its owner waits for something else from the sender */
    if (rank % 2) {
        MPI_Irecv(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(&y, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, &s);
        MPI_Wait(r, &s);
    } else {
        MPI_Ssend(&x, 1, MPI_INT, partner, 1, MPI_COMM_WORLD);
        expect("synchronous send", at(partner) + US);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&x, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
    }
    expect("served while it waits", at(3) + 2 * US + (rank % 2 ? US : 0));
    together(); /* two of one stream, completed the other way round; one is cancelled */
    if (rank % 2) {
        MPI_Send(&x, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
        nap(5);
        MPI_Send(&x, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&y, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &r[0]);
        MPI_Cancel(&r[0]);
        MPI_Wait(&r[0], &s);
        expect("cancelled", at(rank));
        MPI_Irecv(&y, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r[1]);
        MPI_Wait(&r[1], &s);
        expect("second first", at(partner) + 5 * MS + US);
        MPI_Wait(&r[0], &s);
    }
    expect("both", at(rank % 2 ? rank : partner) + 5 * MS + (rank % 2 ? 0 : US));
    together();
    x = rank;
    MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % 4, 5, (rank + 3) % 4, 5, MPI_COMM_WORLD, &s);
    expect("exchange", rank == 0 ? at(3) + US : at(rank));
    if (x != (rank + 3) % 4)
        printf("rank %d: exchanged %d\n", rank, x), wrong++;
    together();
    MPI_Send_init(&x, 1, MPI_INT, (rank + 1) % 4, 6, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&y, 1, MPI_INT, (rank + 3) % 4, 6, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 2; i++) {
        together();
        MPI_Startall(2, r);
        MPI_Waitall(2, r, states);
        expect("persistent", rank == 0 ? at(3) + US : at(rank));
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    together();
    if (rank == 3)
        MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    for (int tests = 0; rank == 0 && !flag; tests++) { /* tests do not see what is to come */
        nap(1);
        MPI_Iprobe(3, 7, MPI_COMM_WORLD, &flag, &s);
    }
    for (flag = 0; rank == 0 && !flag;) {
        if (y != -2)
            MPI_Irecv(&y, 1, MPI_INT, 3, 7, MPI_COMM_WORLD, r);
        y = -2;
        MPI_Test(r, &flag, &s);
    }
    if (rank == 0 && now() < at(3))
        printf("a test finds what is to come at %lld\n", now()), wrong++;
    together();
    if (rank == 3)
        MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, &s);
        MPI_Get_count(&s, MPI_INT, &n);
        expect("probe", simulated ? at(3) + US : 0);
        MPI_Mrecv(&y, 1, MPI_INT, &message, &s);
        expect("probed", at(3) + US);
        if (n != 1 || y != 2)
            printf("probed: %d, count %d\n", y, n), wrong++;
    }
}

#if MPI_VERSION >= 4
static void partitioned(void) {
    int x = rank, partner = rank ^ 1;
    MPI_Request r;
    together();
    if (rank % 2) {
        MPI_Psend_init(&x, 1, 1, MPI_INT, partner, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        MPI_Start(&r);
        nap(5);
        MPI_Pready(0, r);
    } else {
        MPI_Precv_init(&x, 1, 1, MPI_INT, partner, 10, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        MPI_Start(&r);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("partitioned", rank % 2 ? at(rank) + 5 * MS : at(partner) + 5 * MS + US);
    MPI_Request_free(&r);
}
#endif

static void communicators(void) {
    MPI_Comm half, inter, ring, copy;
    MPI_Request r;
    int x = 0, in[2], yes = 1, four = 4;
    together();
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    expect("split", at(3) + US);
    together();
    MPI_Barrier(half);
    expect("barrier of a half", at(rank % 2 + 2) + US);
    together();
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &inter);
    expect("intercommunicator", at(3) + US * (simulated ? 1 : 2 - rank % 2));
    together();
    MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_MAX, inter);
    expect("between groups", later(at(rank), at(3 - rank % 2) + US));
    together();
    if (rank % 2)
        MPI_Send(&x, 1, MPI_INT, rank / 2, 1, inter);
    else
        MPI_Recv(&x, 1, MPI_INT, rank / 2, 1, inter, MPI_STATUS_IGNORE);
    expect("message between groups", rank % 2 ? at(rank) : at(rank + 1) + US);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &four, &yes, 0, &ring);
    together();
    MPI_Neighbor_allgather(&x, 1, MPI_INT, in, 1, MPI_INT, ring);
    expect("neighbours", rank == 3 ? at(3) : (rank == 1 ? at(2) : at(3)) + US);
    together();
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("nonblocking duplication", at(3) + US);
    together();
    MPI_Bcast(&x, 1, MPI_INT, 3, copy);
    expect("broadcast in it", at(3) + (rank == 3 ? 0 : US));
    MPI_Comm_free(&copy);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void windows(void) {
    int box = 0, first = 0;
    MPI_Win win;
    MPI_Group all, origin, targets;
    together();
    MPI_Win_create(&box, sizeof box, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect("window", at(3) + US);
    together();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    expect("fence after nothing", at(rank));
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % 4, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    expect("fence", at(3) + US);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &first, &origin);
    MPI_Group_excl(all, 1, &first, &targets);
    together();
    if (rank == 0) {
        MPI_Win_start(targets, 0, win);
        MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        nap(25);
        MPI_Win_complete(win);
        expect("complete", at(3) + US);
    } else {
        MPI_Win_post(origin, 0, win);
        expect("post", at(rank));
        MPI_Win_wait(win);
        expect("wait of a window",
               later(at(rank), 25 * MS + US) + (simulated && rank == 3 ? 2 * US : 0));
    }
    MPI_Group_free(&origin);
    MPI_Group_free(&targets);
    MPI_Group_free(&all);
    together(); /* epochs of a lock in the order 3, 2, 1, 0: a probe does not move the clock */
    int next = (rank + 3) % 4, last = (rank + 1) % 4,
        kind = rank < 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    if (rank < 3)
        MPI_Probe(last, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(kind, 0, 0, win);
    MPI_Win_unlock(0, win);
    expect("unlock", rank == 3   ? at(3)
                     : rank == 2 ? at(3) + US
                                 : at(3) + (simulated ? 3 - rank : 2) * US);
    if (rank > 0)
        MPI_Send(&box, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    if (rank < 3)
        MPI_Recv(&box, 1, MPI_INT, last, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
}

static void *other_thread(void *unused) {
    (void)unused;
    nap(30);
    return NULL;
}

static void clocks(void) {
    pthread_t thread;
    double seconds;
    together();
    pthread_create(&thread, NULL, other_thread, NULL);
    nap(7);
    expect("thread beside", at(rank) + 7 * MS);
    pthread_join(thread, NULL);
    expect("joined", at(rank) + 30 * MS);
    seconds = MPI_Wtime();
    usleep(2000);
    seconds = MPI_Wtime() - seconds;
    if (seconds < 0.002 || seconds > 0.002001)
        printf("rank %d: MPI_Wtime %.9f\n", rank, seconds), wrong++;
}

int main(int argc, char **argv) {
    int all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "unknown") == 0) {
        MPI_Comm comm;
        MPI_Comm_join(0, &comm);
    }
    simulated = argc > 1 && strcmp(argv[1], "sim") == 0;
    if (size != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    long long begin = now(), earliest = 0, latest = 0;
    MPI_Allreduce(&begin, &earliest, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&begin, &latest, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (latest - earliest > READS)
        printf("ranks begin %lld ns apart\n", latest - earliest), wrong++;
    collectives();
    messages();
#if MPI_VERSION >= 4
    partitioned();
#endif
    communicators();
    windows();
    clocks();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", all == 0 ? "all rules hold" : "wrong");
    MPI_Finalize();
    return wrong > 0;
}
