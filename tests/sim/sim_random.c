/* A random program with structure, which says what it did and when: sim_random SEED LOG [I,J..]
 *
 * Phases (motifs) in loops, below random functions: stencils, rings, wavefronts, masters with
 * workers, collective operations of all kinds, on communicators of its own. All ranks draw the same
 * program from the seed; how long they work they draw apart. With a list of numbers only these
 * phases run: a failing program can be made smaller.
 *
 * LOG.RANK has one line for each MPI call: C FUNCTION BEGIN END PATH, times by the clock; before
 * it what the call did:
 *   S NUMBER TO MODE BYTES REQUEST   a send: its number on this rank; REQUEST -1: complete in this
 *                                    call
 *   P REQUEST [any]                  a receive is posted; REQUEST -1: complete in this call; any:
 *                                    of any source or with any tag
 *   R REQUEST FROM NUMBER            a receive is complete: of that rank, its send of that number
 *   D REQUEST                        a send is complete
 *   K COMM KIND ROOT ORDER ME        a collective operation: the ORDER-th of this communicator, in
 *                                    which this is rank ME
 *   Q REQUEST COMM KIND ROOT ORDER ME   a nonblocking one is started
 *   E REQUEST                        one is complete
 *   W NS PATH                        work (before the next call)
 *   B TIME                           MPI_Init has ended */
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_REQUESTS = 64, MOST_COMMS = 6, BUFFER = 40000, PHASES = 12 };

static int rank, size;
static FILE *out;
static uint64_t common, own; /* random states: of all ranks, of this one */
static char path[512];
static char pending[65536];
static long long begin;
static int n_sends, n_requests;

static struct comm {
    MPI_Comm comm;
    int me, n, id, order, masters;
    int world[64];
} comms[MOST_COMMS];
static int n_comms, comm_ids;

static uint32_t draw(uint64_t *state, uint32_t below) {
    uint64_t x = *state = *state * 6364136223846793005u + 1442695040888963407u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((x >> 32) % below);
}

uint64_t sim_true_clock(void) __attribute__((weak)); /* of the simulation */

/* The same time on all nodes, where their clocks differ. */
static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return sim_true_clock ? (long long)sim_true_clock() : t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...) {
    size_t n = strlen(pending);
    va_list args;
    va_start(args, format);
    vsnprintf(pending + n, sizeof pending - n, format, args);
    va_end(args);
}

static void starts(void) {
    begin = now();
}

static void ends(const char *function) {
    long long end = now();
    fprintf(out, "%sC %s %lld %lld %s\n", pending, function, begin, end, path);
    pending[0] = '\0';
}

/* Up to 200 us, sometimes ten times as long, sometimes nothing. */
static void work(void) {
    uint32_t kind = draw(&own, 8);
    long ns = kind == 0 ? 0 : (long)draw(&own, kind == 1 ? 2000000 : 200000);
    if (ns == 0)
        return;
    fprintf(out, "W %ld %s\n", ns, path);
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* ---- messages: each begins with who sent it, and its number ---- */

struct message {
    int from, number;
    char rest[BUFFER];
};

static struct open {
    MPI_Request request;
    struct message buffer;
    int id;
    enum { SENDS, RECEIVES, MEETS } kind;
} opened[MOST_REQUESTS];
static int n_open;

static const char *const modes[] = {"Send", "Ssend", "Rsend", "Bsend"};

static void send_to(const struct comm *c, int to, int tag, int bytes, bool synchronous) {
    static struct message m;
    m.from = rank;
    m.number = n_sends;
    starts();
    if (synchronous)
        MPI_Ssend(&m, bytes, MPI_BYTE, to, tag, c->comm);
    else
        MPI_Send(&m, bytes, MPI_BYTE, to, tag, c->comm);
    note("S %d %d %s %d -1\n", n_sends++, c->world[to], modes[synchronous], bytes);
    ends(synchronous ? "MPI_Ssend" : "MPI_Send");
}

static int receive_from(const struct comm *c, int from, int tag) {
    static struct message m;
    starts();
    MPI_Recv(&m, sizeof m, MPI_BYTE, from, tag, c->comm, MPI_STATUS_IGNORE);
    note("P -1%s\nR -1 %d %d\n", from == MPI_ANY_SOURCE ? " any" : "", m.from, m.number);
    ends("MPI_Recv");
    for (int i = 0; i < c->n; i++)
        if (c->world[i] == m.from)
            return i;
    return -1;
}

static void isend_to(const struct comm *c, int to, int tag, int bytes, bool synchronous) {
    struct open *o = &opened[n_open++];
    o->kind = SENDS;
    o->id = n_requests++;
    o->buffer.from = rank;
    o->buffer.number = n_sends;
    starts();
    if (synchronous)
        MPI_Issend(&o->buffer, bytes, MPI_BYTE, to, tag, c->comm, &o->request);
    else
        MPI_Isend(&o->buffer, bytes, MPI_BYTE, to, tag, c->comm, &o->request);
    note("S %d %d %s %d %d\n", n_sends++, c->world[to], modes[synchronous], bytes, o->id);
    ends(synchronous ? "MPI_Issend" : "MPI_Isend");
}

static void ireceive_from(const struct comm *c, int from, int tag) {
    struct open *o = &opened[n_open++];
    o->kind = RECEIVES;
    o->id = n_requests++;
    starts();
    MPI_Irecv(&o->buffer, sizeof o->buffer, MPI_BYTE, from, tag, c->comm, &o->request);
    note("P %d\n", o->id);
    ends("MPI_Irecv");
}

static void completed(const struct open *o) {
    if (o->kind == RECEIVES)
        note("R %d %d %d\n", o->id, o->buffer.from, o->buffer.number);
    else
        note("%c %d\n", o->kind == SENDS ? 'D' : 'E', o->id);
}

/* All that is open, in one of the ways to complete it. */
static void complete(int way) {
    MPI_Request requests[MOST_REQUESTS];
    int indices[MOST_REQUESTS], n = n_open, done = 0, index;
    for (int i = 0; i < n; i++)
        requests[i] = opened[i].request;
    if (way == 0) {
        starts();
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            completed(&opened[i]);
        ends("MPI_Waitall");
    } else if (way == 1) {
        for (int i = 0; i < n; i++) {
            starts();
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            completed(&opened[i]);
            ends("MPI_Wait");
        }
    } else if (way == 2) {
        for (int i = 0; i < n; i++) {
            starts();
            MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
            completed(&opened[index]);
            ends("MPI_Waitany");
        }
    } else {
        for (int left = n; left > 0; left -= done) {
            starts();
            MPI_Waitsome(n, requests, &done, indices, MPI_STATUSES_IGNORE);
            for (int i = 0; i < done; i++)
                completed(&opened[indices[i]]);
            ends("MPI_Waitsome");
        }
    }
    n_open = 0;
}

static int some_bytes(void) {
    static const int sizes[] = {8, 8, 64, 1000, 20000};
    return sizes[draw(&common, 5)];
}

/* ---- phases ---- */

static void ring(const struct comm *c) {
    int bytes = some_bytes(), way = (int)draw(&common, 6), to = (c->me + 1) % c->n,
        from = (c->me + c->n - 1) % c->n;
    bool synchronous = draw(&common, 3) == 0;
    if (c->n < 2)
        return;
    work();
    if (way == 4) {
        if (c->me % 2 == 0 && c->me < c->n - c->n % 2) {
            send_to(c, c->me + 1, 1, bytes, synchronous);
            receive_from(c, c->me + 1, 1);
        } else if (c->me % 2 == 1) {
            receive_from(c, c->me - 1, 1);
            work();
            send_to(c, c->me - 1, 1, bytes, synchronous);
        }
        return;
    }
    if (way == 5) {
        static struct message in, m;
        m.from = rank;
        m.number = n_sends;
        starts();
        MPI_Sendrecv(&m, bytes, MPI_BYTE, to, 2, &in, sizeof in, MPI_BYTE, from, 2, c->comm,
                     MPI_STATUS_IGNORE);
        note("S %d %d Sendrecv %d -1\nP -1\nR -1 %d %d\n", n_sends++, c->world[to], bytes, in.from,
             in.number);
        ends("MPI_Sendrecv");
        return;
    }
    ireceive_from(c, from, 1);
    work();
    isend_to(c, to, 1, bytes, synchronous);
    work();
    complete(way);
}

static void stencil(const struct comm *c) {
    int bytes = some_bytes(), way = (int)draw(&common, 4);
    for (int d = 0; d < 2 && c->n > 1; d++) {
        int step = d == 0 ? 1 : 2 % c->n;
        if (step == 0)
            continue;
        ireceive_from(c, (c->me + c->n - step) % c->n, 10 + d);
        ireceive_from(c, (c->me + step) % c->n, 20 + d);
        isend_to(c, (c->me + step) % c->n, 10 + d, bytes, false);
        isend_to(c, (c->me + c->n - step) % c->n, 20 + d, bytes, false);
    }
    work();
    if (n_open > 0)
        complete(way);
}

static void wavefront(const struct comm *c) {
    int bytes = some_bytes(), rows = 1 + (int)draw(&common, 3);
    bool synchronous = draw(&common, 3) == 0;
    for (int row = 0; row < rows; row++) {
        if (c->me > 0)
            receive_from(c, c->me - 1, 3);
        work();
        if (c->me < c->n - 1)
            send_to(c, c->me + 1, 3, bytes, synchronous);
    }
}

static void master(struct comm *c) {
    int tasks = c->n + (int)draw(&common, 4), bytes = some_bytes();
    int ask = 100 + 3 * c->masters++, task = ask + 1, end = ask + 2; /* tags, for each time */
    if (c->n < 2)
        return;
    if (c->me == 0) {
        for (int left = tasks, active = c->n - 1; active > 0; left--) {
            int from = receive_from(c, MPI_ANY_SOURCE, ask);
            send_to(c, from, left > 0 ? task : end, left > 0 ? bytes : 8, false);
            active -= left <= 0;
        }
        return;
    }
    for (;;) {
        static struct message m;
        MPI_Status s;
        work();
        send_to(c, 0, ask, 8, false);
        starts();
        MPI_Recv(&m, sizeof m, MPI_BYTE, 0, MPI_ANY_TAG, c->comm, &s);
        note("P -1 any\nR -1 %d %d\n", m.from, m.number);
        ends("MPI_Recv");
        if (s.MPI_TAG == end)
            return;
    }
}

static void collective(struct comm *c) {
    static const char *const names[] = {"Barrier",
                                        "Allreduce",
                                        "Bcast",
                                        "Reduce",
                                        "Gather",
                                        "Scatter",
                                        "Scan",
                                        "Exscan",
                                        "Alltoall",
                                        "Allgather",
                                        "Reduce_scatter_block"};
    int kind = (int)draw(&common, 11), root = (int)draw(&common, (uint32_t)c->n);
    int in[64] = {0}, result[64] = {0};
    char name[40];
    work();
    starts();
    switch (kind) {
    case 0:
        MPI_Barrier(c->comm);
        break;
    case 1:
        MPI_Allreduce(in, result, 2, MPI_INT, MPI_SUM, c->comm);
        break;
    case 2:
        MPI_Bcast(in, 3, MPI_INT, root, c->comm);
        break;
    case 3:
        MPI_Reduce(in, result, 2, MPI_INT, MPI_MAX, root, c->comm);
        break;
    case 4:
        MPI_Gather(in, 1, MPI_INT, result, 1, MPI_INT, root, c->comm);
        break;
    case 5:
        MPI_Scatter(in, 1, MPI_INT, result, 1, MPI_INT, root, c->comm);
        break;
    case 6:
        MPI_Scan(in, result, 1, MPI_INT, MPI_SUM, c->comm);
        break;
    case 7:
        MPI_Exscan(in, result, 1, MPI_INT, MPI_SUM, c->comm);
        break;
    case 8:
        MPI_Alltoall(in, 1, MPI_INT, result, 1, MPI_INT, c->comm);
        break;
    case 9:
        MPI_Allgather(in, 1, MPI_INT, result, 1, MPI_INT, c->comm);
        break;
    default:
        MPI_Reduce_scatter_block(in, result, 1, MPI_INT, MPI_SUM, c->comm);
    }
    note("K %d %s %d %d %d\n", c->id, names[kind], c->world[root], c->order++, c->me);
    snprintf(name, sizeof name, "MPI_%s", names[kind]);
    ends(name);
}

static void later(struct comm *c) {
    static const char *const names[] = {"Ibarrier", "Iallreduce", "Ibcast", "Ireduce"};
    static int in[4], result[4];
    int kind = (int)draw(&common, 4), root = (int)draw(&common, (uint32_t)c->n);
    struct open *o = &opened[n_open++];
    char name[40];
    o->kind = MEETS;
    o->id = n_requests++;
    work();
    starts();
    if (kind == 0)
        MPI_Ibarrier(c->comm, &o->request);
    else if (kind == 1)
        MPI_Iallreduce(in, result, 2, MPI_INT, MPI_SUM, c->comm, &o->request);
    else if (kind == 2)
        MPI_Ibcast(in, 3, MPI_INT, root, c->comm, &o->request);
    else
        MPI_Ireduce(in, result, 2, MPI_INT, MPI_MAX, root, c->comm, &o->request);
    note("Q %d %d %s %d %d %d\n", o->id, c->id, names[kind] + 1, c->world[root], c->order++, c->me);
    snprintf(name, sizeof name, "MPI_%s", names[kind]);
    ends(name);
    work();
    complete(1);
}

static void members(struct comm *c) {
    MPI_Group all, mine;
    int ranks[64];
    MPI_Comm_rank(c->comm, &c->me);
    MPI_Comm_size(c->comm, &c->n);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(c->comm, &mine);
    for (int i = 0; i < c->n; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(mine, c->n, ranks, all, c->world);
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
}

/* A communicator of half of the ranks, or all of them in another order. */
static void split(struct comm *c) {
    int colours = 1 + (int)draw(&common, 2), reverse = (int)draw(&common, 2), colour;
    if (n_comms == MOST_COMMS)
        return;
    struct comm *made = &comms[n_comms];
    work();
    colour = c->me % colours;
    starts();
    MPI_Comm_split(c->comm, colour, reverse ? -c->me : c->me, &made->comm);
    note("K %d Comm_split 0 %d %d\n", c->id, c->order++, c->me);
    ends("MPI_Comm_split");
    made->id = ++comm_ids * 1000 + c->world[colour]; /* of its first member, whatever the order */
    made->order = made->masters = 0;
    members(made);
    n_comms++;
}

static void phase(void) {
    int kind = (int)draw(&common, 8);
    struct comm *c = &comms[draw(&common, (uint32_t)n_comms)];
    int rounds = 1 + (int)draw(&common, 3);
    uint64_t state = common;
    for (int i = 0; i < rounds; i++) {
        common = state; /* each round is the same for all, but for the work */
        if (kind == 0)
            ring(c);
        else if (kind == 1)
            stencil(c);
        else if (kind == 2)
            wavefront(c);
        else if (kind == 3)
            master(c);
        else if (kind < 6)
            collective(c);
        else if (kind == 6)
            later(c);
        else if (i == 0)
            split(&comms[0]);
    }
}

/* Functions between main and the phases: the call path. */
static void gamma_rays(int depth);
static void beta(int depth);

static void enter(const char *name) {
    strcat(strcat(path, "/"), name);
}

static void leave(void) {
    *strrchr(path, '/') = '\0';
}

static void alpha(int depth) {
    enter("alpha");
    if (depth == 0)
        phase();
    else
        beta(depth - 1);
    leave();
}

static void beta(int depth) {
    enter("beta");
    if (depth == 0)
        phase();
    else
        gamma_rays(depth - 1);
    leave();
}

static void gamma_rays(int depth) {
    enter("gamma_rays");
    if (depth == 0)
        phase();
    else
        alpha(depth - 1);
    leave();
}

static bool wanted(const char *list, int number) {
    if (list == NULL)
        return true;
    for (const char *at = list; at != NULL; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (atoi(at) == number)
            return true;
    return false;
}

int main(int argc, char **argv) {
    char name[4096];
    if (argc < 3)
        return 2;
    uint64_t seed = strtoull(argv[1], NULL, 10);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s.%d", argv[2], rank);
    out = fopen(name, "w");
    if (out == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    setvbuf(out, NULL, _IOLBF, 1 << 16); /* whole when it is killed */
    fprintf(out, "B %lld\n", now());
    comms[0] = (struct comm){.comm = MPI_COMM_WORLD};
    members(&comms[0]);
    n_comms = 1;
    strcpy(path, "main");
    for (int i = 0; i < PHASES; i++) {
        common = seed * 1000 + (uint64_t)i;
        own = (seed * 1000 + (uint64_t)i) * 1000 + 1 + (uint64_t)rank;
        if (!wanted(argc > 3 ? argv[3] : NULL, i))
            continue;
        draw(&common, 1);
        int depth = (int)draw(&common, 4);
        void (*const first[])(int) = {alpha, beta, gamma_rays};
        first[draw(&common, 3)](depth);
    }
    starts();
    MPI_Finalize();
    ends("MPI_Finalize");
    fclose(out);
    return 0;
}
