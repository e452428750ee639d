/* Random programs whose messages carry the length of the longest chain of work behind them, so that
 * the program knows its critical path: call_chains SEED [threads|nonblocking|switch]. Work is naps;
 * what all do is drawn from the seed alike on all ranks. With `threads` a second thread of every
 * rank does the same with tags of its own; with `nonblocking` there are only nonblocking
 * collectives; with `switch` every rank stops and starts measurement when it likes, and chains
 * reach only from the k-th interval of one rank to the k-th of another. Rank 0 prints the longest
 * chains of the intervals in seconds. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "latecomer.h"

enum { MOST = 16, MESSAGES = 24, ACTIONS = 8, INTERVALS = 256 };

static int rank, size;
static bool threads, only_nonblocking, switches;
static bool measured = true;
static int interval;              /* of this rank; counted only with `switch` */
static double longest[INTERVALS]; /* chains at the ends of this rank's intervals */
static MPI_Comm ring, inter, twin, second;
static MPI_Group everybody;
static MPI_Win win;
static double box[2];
/* of each thread */
static _Thread_local double last;  /* when the last call ended */
static _Thread_local double chain; /* seconds of work on the longest chain that ends here */
static _Thread_local unsigned long long common = 1, own = 1;
static _Thread_local int base; /* of the tags of this action: ranks may be several actions apart */

static int throw(unsigned long long *dice, int n) {
    *dice = *dice * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((*dice >> 33) % (unsigned)n);
}

/* The same on all ranks: what messages there are. */
static int draw(int n) {
    return throw(&common, n);
}

/* Of this rank alone: in which order it takes them, where it works. */
static int mine(int n) {
    return throw(&own, n);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Work is all that is done outside of MPI. What is told to others: the chain, and of which interval
 * (the largest number is the longest chain of the newest one; 0 while nothing is measured). */
static const double EACH = 1000;
static double so_far(void) {
    double now = seconds();
    chain += measured ? now - last : 0;
    last = now;
    return measured ? EACH * interval + chain : 0;
}

static int back(int result) {
    last = seconds();
    return result;
}

#define OUTSIDE(call)                (so_far(), back(call))
#define MPI_Allreduce(...)           OUTSIDE(MPI_Allreduce(__VA_ARGS__))
#define MPI_Alltoallv(...)           OUTSIDE(MPI_Alltoallv(__VA_ARGS__))
#define MPI_Bcast(...)               OUTSIDE(MPI_Bcast(__VA_ARGS__))
#define MPI_Cancel(...)              OUTSIDE(MPI_Cancel(__VA_ARGS__))
#define MPI_Cart_create(...)         OUTSIDE(MPI_Cart_create(__VA_ARGS__))
#define MPI_Cart_shift(...)          OUTSIDE(MPI_Cart_shift(__VA_ARGS__))
#define MPI_Comm_dup(...)            OUTSIDE(MPI_Comm_dup(__VA_ARGS__))
#define MPI_Comm_free(...)           OUTSIDE(MPI_Comm_free(__VA_ARGS__))
#define MPI_Comm_group(...)          OUTSIDE(MPI_Comm_group(__VA_ARGS__))
#define MPI_Comm_rank(...)           OUTSIDE(MPI_Comm_rank(__VA_ARGS__))
#define MPI_Comm_remote_size(...)    OUTSIDE(MPI_Comm_remote_size(__VA_ARGS__))
#define MPI_Comm_size(...)           OUTSIDE(MPI_Comm_size(__VA_ARGS__))
#define MPI_Comm_split(...)          OUTSIDE(MPI_Comm_split(__VA_ARGS__))
#define MPI_Exscan(...)              OUTSIDE(MPI_Exscan(__VA_ARGS__))
#define MPI_Gather(...)              OUTSIDE(MPI_Gather(__VA_ARGS__))
#define MPI_Get(...)                 OUTSIDE(MPI_Get(__VA_ARGS__))
#define MPI_Group_free(...)          OUTSIDE(MPI_Group_free(__VA_ARGS__))
#define MPI_Group_incl(...)          OUTSIDE(MPI_Group_incl(__VA_ARGS__))
#define MPI_Iallreduce(...)          OUTSIDE(MPI_Iallreduce(__VA_ARGS__))
#define MPI_Ibcast(...)              OUTSIDE(MPI_Ibcast(__VA_ARGS__))
#define MPI_Imrecv(...)              OUTSIDE(MPI_Imrecv(__VA_ARGS__))
#define MPI_Ineighbor_allgather(...) OUTSIDE(MPI_Ineighbor_allgather(__VA_ARGS__))
#define MPI_Intercomm_create(...)    OUTSIDE(MPI_Intercomm_create(__VA_ARGS__))
#define MPI_Irecv(...)               OUTSIDE(MPI_Irecv(__VA_ARGS__))
#define MPI_Ireduce(...)             OUTSIDE(MPI_Ireduce(__VA_ARGS__))
#define MPI_Iscan(...)               OUTSIDE(MPI_Iscan(__VA_ARGS__))
#define MPI_Isend(...)               OUTSIDE(MPI_Isend(__VA_ARGS__))
#define MPI_Isendrecv(...)           OUTSIDE(MPI_Isendrecv(__VA_ARGS__))
#define MPI_Mprobe(...)              OUTSIDE(MPI_Mprobe(__VA_ARGS__))
#define MPI_Mrecv(...)               OUTSIDE(MPI_Mrecv(__VA_ARGS__))
#define MPI_Neighbor_allgather(...)  OUTSIDE(MPI_Neighbor_allgather(__VA_ARGS__))
#define MPI_Put(...)                 OUTSIDE(MPI_Put(__VA_ARGS__))
#define MPI_Recv(...)                OUTSIDE(MPI_Recv(__VA_ARGS__))
#define MPI_Recv_init(...)           OUTSIDE(MPI_Recv_init(__VA_ARGS__))
#define MPI_Reduce(...)              OUTSIDE(MPI_Reduce(__VA_ARGS__))
#define MPI_Request_free(...)        OUTSIDE(MPI_Request_free(__VA_ARGS__))
#define MPI_Scan(...)                OUTSIDE(MPI_Scan(__VA_ARGS__))
#define MPI_Scatter(...)             OUTSIDE(MPI_Scatter(__VA_ARGS__))
#define MPI_Send(...)                OUTSIDE(MPI_Send(__VA_ARGS__))
#define MPI_Sendrecv(...)            OUTSIDE(MPI_Sendrecv(__VA_ARGS__))
#define MPI_Sendrecv_replace(...)    OUTSIDE(MPI_Sendrecv_replace(__VA_ARGS__))
#define MPI_Start(...)               OUTSIDE(MPI_Start(__VA_ARGS__))
#define MPI_Testsome(...)            OUTSIDE(MPI_Testsome(__VA_ARGS__))
#define MPI_Wait(...)                OUTSIDE(MPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...)             OUTSIDE(MPI_Waitall(__VA_ARGS__))
#define MPI_Waitany(...)             OUTSIDE(MPI_Waitany(__VA_ARGS__))
#define MPI_Waitsome(...)            OUTSIDE(MPI_Waitsome(__VA_ARGS__))
#define MPI_Win_complete(...)        OUTSIDE(MPI_Win_complete(__VA_ARGS__))
#define MPI_Win_create(...)          OUTSIDE(MPI_Win_create(__VA_ARGS__))
#define MPI_Win_free(...)            OUTSIDE(MPI_Win_free(__VA_ARGS__))
#define MPI_Win_post(...)            OUTSIDE(MPI_Win_post(__VA_ARGS__))
#define MPI_Win_start(...)           OUTSIDE(MPI_Win_start(__VA_ARGS__))
#define MPI_Win_wait(...)            OUTSIDE(MPI_Win_wait(__VA_ARGS__))

static void nap(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* Stops or starts, one way or the other. */
static void toggle(void) {
    bool by_pcontrol = mine(2);
    so_far();
    if (measured && interval < INTERVALS)
        longest[interval] = chain;
    measured = !measured;
    interval += measured;
    chain = 0;
    if (by_pcontrol)
        MPI_Pcontrol(measured);
    else if (measured)
        latecomer_start();
    else
        latecomer_stop();
    last = seconds();
}

/* Some have much to do, some a little. */
static void work(void) {
    int what = mine(2 * size);
    if (switches && mine(3) == 0)
        toggle();
    if (what == 0)
        nap(10 + mine(20));
    else if (what == 1)
        nap(5);
}

static void take(double other) {
    other -= EACH * interval;
    if (measured && other < EACH && other > chain)
        chain = other;
}

struct plan { /* messages of one action */
    int n;
    int from[MESSAGES], to[MESSAGES], tag[MESSAGES];
};

static void shuffle(int *order, int n) {
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = mine(i + 1), x = order[i];
        order[i] = order[k];
        order[k] = x;
    }
}

static void make_plan(struct plan *p) {
    p->n = 1 + draw(MESSAGES);
    for (int i = 0; i < p->n; i++) {
        p->from[i] = draw(size);
        p->to[i] = (p->from[i] + 1 + draw(size - 1)) % size;
        p->tag[i] = base + 10 + draw(3);
    }
}

/* Completes receives one by one, as they come, or some at a time. */
static void complete(MPI_Request *r, const double *in, int n) {
    int how = mine(5), index[MESSAGES], order[MESSAGES], done = 0;
    MPI_Status s[MESSAGES];
    shuffle(order, n);
    if (how == 0) {
        MPI_Waitall(n, r, s);
        for (int i = 0; i < n; i++)
            take(in[i]);
    } else if (how == 1) {
        for (int i = 0; i < n; i++) {
            MPI_Wait(&r[order[i]], s);
            take(in[order[i]]);
            if (mine(4) == 0)
                work();
        }
    } else if (how == 2) {
        for (int i = 0; i < n; i++) {
            MPI_Waitany(n, r, index, s);
            take(in[index[0]]);
        }
    } else {
        for (int left = n; left > 0; left -= done) {
            if (how == 3)
                MPI_Waitsome(n, r, &done, index, s);
            else
                MPI_Testsome(n, r, &done, index, s);
            for (int i = 0; i < done; i++)
                take(in[index[i]]);
            if (done == 0)
                nap(1);
        }
    }
}

/* Is message k the only kind of its tag, or source, that this rank gets? Only then wild and exact
 * receives may be mixed: no wild one can take what an exact one needs. */
static bool is_alone(const struct plan *p, int k, bool by_tag) {
    for (int i = 0; i < p->n; i++)
        if (p->to[i] == rank && (by_tag ? p->tag[i] == p->tag[k] && p->from[i] != p->from[k]
                                        : p->from[i] == p->from[k] && p->tag[i] != p->tag[k]))
            return false;
    return true;
}

/* anything: all receives take whatever comes */
static int post(const struct plan *p, MPI_Comm comm, double *in, MPI_Request *r, bool anything) {
    int n = 0, wild = anything ? 3 : mine(threads ? 2 : 3), order[MESSAGES];
    bool persistent = mine(2);
    shuffle(order, p->n);
    for (int i = 0; i < p->n; i++) {
        int k = order[i], source = p->from[k], tag = p->tag[k];
        if (p->to[k] != rank)
            continue;
        if (wild == 1 && (!is_alone(p, k, true) || mine(2)))
            source = MPI_ANY_SOURCE;
        if (wild == 2 && (!is_alone(p, k, false) || mine(2)))
            tag = MPI_ANY_TAG;
        if (wild == 3) {
            source = MPI_ANY_SOURCE;
            tag = MPI_ANY_TAG;
        }
        if (persistent && mine(2)) {
            MPI_Recv_init(&in[n], 1, MPI_DOUBLE, source, tag, comm, &r[n]);
            MPI_Start(&r[n]);
        } else {
            MPI_Irecv(&in[n], 1, MPI_DOUBLE, source, tag, comm, &r[n]);
        }
        n++;
        if (mine(6) == 0)
            work();
    }
    return n;
}

static int post_sends(const struct plan *p, MPI_Comm comm, double *out, MPI_Request *s) {
    int m = 0;
    for (int i = 0; i < p->n; i++)
        if (p->from[i] == rank) {
            if (mine(6) == 0)
                work();
            out[m] = so_far();
            MPI_Isend(&out[m], 1, MPI_DOUBLE, p->to[i], p->tag[i], comm, &s[m]);
            m++;
        }
    return m;
}

/* Of few streams, by exact and wild receives, some of them persistent; senders ahead of receivers
 * or behind. */
static void messages(MPI_Comm comm, bool anything) {
    struct plan p;
    double in[MESSAGES], out[MESSAGES];
    MPI_Request r[MESSAGES], s[MESSAGES];
    MPI_Status states[MESSAGES];
    bool ahead = mine(2);
    int n = 0, m = 0;
    make_plan(&p);
    if (ahead)
        m = post_sends(&p, comm, out, s);
    n = post(&p, comm, in, r, anything);
    if (!ahead)
        m = post_sends(&p, comm, out, s);
    complete(r, in, n);
    MPI_Waitall(m, s, states);
    for (int i = 0; i < n; i++)
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&r[i]);
}

static void probes(MPI_Comm comm) { /* matched probes, received later and in another order */
    struct plan p;
    double in[MESSAGES], out[MESSAGES];
    MPI_Message message[MESSAGES];
    MPI_Request r[MESSAGES], s[MESSAGES];
    MPI_Status states[MESSAGES];
    int n = 0, m, order[MESSAGES];
    bool blocking = mine(2);
    make_plan(&p);
    m = post_sends(&p, comm, out, s);
    work();
    for (int i = 0; i < p.n; i++)
        if (p.to[i] == rank)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message[n++], states);
    work();
    shuffle(order, n);
    for (int i = 0; i < n; i++) {
        int k = order[i];
        if (blocking) {
            MPI_Mrecv(&in[k], 1, MPI_DOUBLE, &message[k], states);
            take(in[k]);
        } else {
            MPI_Imrecv(&in[k], 1, MPI_DOUBLE, &message[k], &r[k]);
        }
    }
    if (!blocking)
        complete(r, in, n);
    MPI_Waitall(m, s, states);
}

static void cancelled(void) { /* receives that are cancelled, in the streams of later messages */
    MPI_Request gone[3], r[3];
    MPI_Status s[3];
    double out = 0, in[3] = {0}, none = 0, all = 0;
    int left = (rank + size - 1) % size, right = (rank + 1) % size, wait_first = draw(2);
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&none, 1, MPI_DOUBLE, i == 2 ? MPI_ANY_SOURCE : left, 5, MPI_COMM_WORLD,
                  &gone[i]);
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&in[i], 1, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 3; i++)
        MPI_Cancel(&gone[i]);
    if (wait_first)
        MPI_Waitall(3, gone, s);
    work();
    out = so_far();
    MPI_Allreduce(&out, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* nothing is sent before */
    take(all);
    if (!wait_first)
        MPI_Waitall(3, gone, s);
    work();
    for (int i = 0; i < 3; i++) {
        out = so_far();
        MPI_Send(&out, 1, MPI_DOUBLE, right, 5, MPI_COMM_WORLD);
    }
    MPI_Waitall(3, r, s);
    for (int i = 0; i < 3; i++)
        take(in[i]);
}

static void exchanges(void) {
    int step = 1 + draw(size - 1), replace = draw(3);
    int to = (rank + step) % size, from = (rank + size - step) % size;
    double out = 0, in = 0;
    MPI_Status s;
    work();
    out = in = so_far();
    if (replace == 1) {
        MPI_Sendrecv_replace(&in, 1, MPI_DOUBLE, to, base + 6, from, base + 6, MPI_COMM_WORLD, &s);
    } else {
#if MPI_VERSION >= 4
        if (replace == 2) {
            MPI_Request r;
            MPI_Isendrecv(&out, 1, MPI_DOUBLE, to, base + 6, &in, 1, MPI_DOUBLE, from, base + 6,
                          MPI_COMM_WORLD, &r);
            work();
            MPI_Wait(&r, &s);
            take(in);
            return;
        }
#endif
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, to, base + 6, &in, 1, MPI_DOUBLE, from, base + 6,
                     MPI_COMM_WORLD, &s);
    }
    take(in);
}

static void collectives(MPI_Comm comm) {
    double out, in, all[MOST] = {0}, outs[MOST];
    int me, n, root, what = draw(8);
    if (switches) /* the others join chains of several members: of which interval? */
        what = what % 2 ? 1 : 6;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    root = draw(MOST) % n;
    work();
    out = in = so_far();
    switch (what) {
    case 0:
        MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_MAX, comm);
        take(in);
        break;
    case 1:
        MPI_Bcast(&in, 1, MPI_DOUBLE, root, comm);
        take(in);
        break;
    case 2:
        MPI_Reduce(&out, &in, 1, MPI_DOUBLE, MPI_MAX, root, comm);
        if (me == root)
            take(in);
        break;
    case 3:
        MPI_Scan(&out, &in, 1, MPI_DOUBLE, MPI_MAX, comm);
        take(in);
        break;
    case 4:
        in = 0;
        MPI_Exscan(&out, &in, 1, MPI_DOUBLE, MPI_MAX, comm);
        if (me > 0)
            take(in);
        break;
    case 5:
        MPI_Gather(&out, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, root, comm);
        for (int i = 0; me == root && i < n; i++)
            take(all[i]);
        break;
    case 6:
        for (int i = 0; i < n; i++)
            outs[i] = so_far();
        MPI_Scatter(outs, 1, MPI_DOUBLE, &in, 1, MPI_DOUBLE, root, comm);
        take(in);
        break;
    default: { /* each to the next but one only */
        int sends[MOST] = {0}, receives[MOST] = {0}, places[MOST];
        for (int i = 0; i < n; i++)
            places[i] = i;
        sends[(me + 2) % n] = receives[(me + 2 * n - 2) % n] = 1;
        for (int i = 0; i < n; i++)
            outs[i] = so_far();
        MPI_Alltoallv(outs, sends, places, MPI_DOUBLE, all, receives, places, MPI_DOUBLE, comm);
        take(all[(me + 2 * n - 2) % n]);
        break;
    }
    }
}

/* Several at a time, completed in another order. */
static void nonblocking(MPI_Comm comm) {
    double out[4], in[4];
    MPI_Request r[4];
    MPI_Status s;
    int order[4], me, n;
    bool gets[4];
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < 4; i++) {
        int root = draw(MOST) % n;
        work();
        out[i] = in[i] = so_far();
        switch (draw(4)) {
        case 0:
            gets[i] = true;
            MPI_Iallreduce(&out[i], &in[i], 1, MPI_DOUBLE, MPI_MAX, comm, &r[i]);
            break;
        case 1:
            gets[i] = true;
            MPI_Ibcast(&in[i], 1, MPI_DOUBLE, root, comm, &r[i]);
            break;
        case 2:
            gets[i] = me == root;
            MPI_Ireduce(&out[i], &in[i], 1, MPI_DOUBLE, MPI_MAX, root, comm, &r[i]);
            break;
        default:
            gets[i] = true;
            MPI_Iscan(&out[i], &in[i], 1, MPI_DOUBLE, MPI_MAX, comm, &r[i]);
            break;
        }
    }
    shuffle(order, 4);
    for (int i = 0; i < 4; i++) {
        MPI_Wait(&r[order[i]], &s);
        if (gets[order[i]])
            take(in[order[i]]);
        work();
    }
}

static void neighbours(MPI_Comm ring) {
    double out, in[2];
    int left, right;
    work();
    out = so_far();
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    in[0] = in[1] = 0;
    if (draw(2)) { /* drawn alike */
        MPI_Neighbor_allgather(&out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring);
    } else {
        MPI_Request r;
        MPI_Status s;
        MPI_Ineighbor_allgather(&out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring, &r);
        work();
        MPI_Wait(&r, &s);
    }
    take(in[0]);
    take(in[1]);
}

/* Even and odd ranks. */
static void groups(MPI_Comm inter) {
    double out, in = 0;
    MPI_Status s;
    int me, others, what = draw(3);
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &others);
    work();
    out = so_far();
    if (what == 0) {
        MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_MAX, inter);
        take(in);
    } else if (what == 1) {
        MPI_Bcast(rank % 2 ? &in : &out, 1, MPI_DOUBLE,
                  rank % 2   ? 0
                  : rank > 0 ? MPI_PROC_NULL
                             : MPI_ROOT,
                  inter);
        if (rank % 2)
            take(in);
    } else { /* even ones to odd ones of the same number */
        if (rank % 2 == 0 && me < others)
            MPI_Send(&out, 1, MPI_DOUBLE, me, 8, inter);
        if (rank % 2 && me < others) {
            MPI_Recv(&in, 1, MPI_DOUBLE, me, MPI_ANY_TAG, inter, &s);
            take(in);
        }
    }
}

/* The first rank puts its chain into windows of a group, and gets those that were there. */
static void epochs(void) {
    MPI_Group origin, targets;
    int members[MOST], n = 0, in = 0, root = draw(size);
    double got[MOST] = {0}, out;
    for (int i = 0; i < size; i++)
        if (i != root && draw(3) > 0) {
            members[n++] = i;
            in |= i == rank;
        }
    work();
    MPI_Group_incl(everybody, 1, &root, &origin);
    MPI_Group_incl(everybody, n, members, &targets);
    if (rank == root && n > 0) {
        MPI_Win_start(targets, 0, win);
        nap(5);
        out = so_far();
        for (int i = 0; i < n; i++)
            MPI_Get(&got[i], 1, MPI_DOUBLE, members[i], 0, 1, MPI_DOUBLE, win);
        for (int i = 0; i < n; i++)
            MPI_Put(&out, 1, MPI_DOUBLE, members[i], 1, 1, MPI_DOUBLE, win);
        MPI_Win_complete(win);
        for (int i = 0; i < n; i++)
            take(got[i]);
    } else if (in) {
        box[0] = so_far();
        box[1] = 0;
        MPI_Win_post(origin, 0, win);
        work();
        MPI_Win_wait(win);
        take(box[1]);
    }
    MPI_Group_free(&origin);
    MPI_Group_free(&targets);
}

/* In a communicator of its own, so that nothing is taken that belongs to another action. */
static void apart(void) {
    double out = so_far(), in = 0;
    MPI_Comm comm;
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    take(in);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* an edge from all to all */
    if (draw(2))
        probes(comm);
    else
        messages(comm, true);
    MPI_Comm_free(&comm);
}

static void act(int action, int thread) {
    int what = only_nonblocking ? 5 : draw(switches ? 5 : 11);
    base = 1000 * thread + 20 * action;
    if (what < 3)
        messages(draw(2) ? MPI_COMM_WORLD : ring, false);
    else if (what == 3)
        exchanges();
    else if (what == 4 && switches && draw(2))
        epochs();
    else if (what == 4)
        collectives(thread > 0 ? second : draw(2) ? twin : MPI_COMM_WORLD);
    else if (what == 5)
        nonblocking(thread > 0 ? second : draw(2) ? twin : MPI_COMM_WORLD);
    else if (thread > 0)
        work();
    else if (what == 6)
        cancelled();
    else if (what == 7)
        neighbours(ring);
    else if (what == 8)
        groups(inter);
    else if (what == 9)
        epochs();
    else
        apart();
    if (mine(size) == 0)
        nap(5 + mine(10));
}

static void run(const char *seed, int thread) {
    common = (strtoull(seed, NULL, 10) * 2 + (unsigned)thread) * 7919 + 17;
    own = common * 31 + (unsigned long long)rank * 104729;
    for (int i = 0; i < 4; i++) {
        draw(2);
        mine(2);
    }
    for (int i = 0; i < ACTIONS; i++)
        act(i, thread);
}

static double before; /* the chain of who made the second thread */
static sem_t there;

static void *other_thread(void *seed) {
    static double sum;
    int me;
    last = seconds();
    chain = before;
    MPI_Comm_rank(MPI_COMM_WORLD, &me); /* a thread's clock begins with its first call, */
    sem_post(&there);                   /* with what its process has done until then */
    run(seed, 1);
    sum = so_far();
    return &sum;
}

int main(int argc, char **argv) {
    int yes = 1, provided;
    char *seed = argc > 1 ? argv[1] : "1";
    MPI_Comm half;
    pthread_t thread;
    double all[INTERVALS] = {0};
    void *theirs;
    threads = argc > 2 && strcmp(argv[2], "threads") == 0;
    only_nonblocking = argc > 2 && strcmp(argv[2], "nonblocking") == 0;
    switches = argc > 2 && strcmp(argv[2], "switch") == 0;
    interval = switches;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    last = seconds();
    threads = threads && provided == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &everybody);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 0, &ring);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &inter);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &twin);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Win_create(box, sizeof box, sizeof *box, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    before = so_far();
    if (threads) {
        sem_init(&there, 0, 0);
        pthread_create(&thread, NULL, other_thread, seed);
        sem_wait(&there);
    }
    run(seed, 0);
    if (threads)
        pthread_join(thread, &theirs); /* outside of MPI, so it counts as work */
    so_far();
    if (threads)
        take(*(double *)theirs);
    if (measured && interval < INTERVALS)
        longest[interval] = chain;
    MPI_Reduce(longest, all, INTERVALS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("chain");
        for (int i = switches; i < INTERVALS && (i == 0 || all[i] > 0); i++)
            printf(" %.9f", all[i]);
        printf("\n");
    }
    MPI_Win_free(&win);
    MPI_Comm_free(&second);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
    MPI_Group_free(&everybody);
    MPI_Finalize();
    return 0;
}
