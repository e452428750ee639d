/* Random programs with structure, which say what they did and when:
 * sim_random PHASES LOG [threads|ordered|wide|handles|cancels]
 *
 * Phases (motifs) in loops, below random functions: stencils, rings, wavefronts, masters with
 * workers, collective operations of all kinds, on communicators of its own; with "wide" also
 * windows, neighbourhoods, files and sessions (sim_random_sides.c), with "handles" what
 * sim_random_handles.c has, with "cancels" more of its cancelled receives, and cancelled sends;
 * with "threads" (and MPI_THREAD_MULTIPLE) all but these in several threads at once; with "ordered"
 * no times change who waits for whom, nor to which function they belong: no masters, no synchronous
 * sends, calls around all work. All ranks draw the same program from a seed; how long they work
 * they draw apart, times the factors of SIM_RANDOM_FACTORS (NAME=FACTOR,..) for work in these
 * functions. PHASES says what runs: 7 are all phases of seed 7, 7:2 is only one of them, 7,8,9:0
 * are several programs one after the other; ring:100 are 100 of a motif.
 *
 * LOG.RANK has one line for each MPI call: C THREAD FUNCTION BEGIN END PATH, times by the clock.
 * PATH is every function from main, or the first one of the thread, to the caller of MPI:
 * NAME:ACTIVATION, the same number for the same return address at the same place on the stack.
 * X THREAD TIME: a further thread ends. Before a call what it did:
 *   S NUMBER TO MODE BYTES REQUEST   a send: its number on this rank; REQUEST -1: complete in this
 *                                    call
 *   P REQUEST [any]                  a receive is posted; REQUEST -1: complete in this call; any:
 *                                    of any source or with any tag
 *   R REQUEST FROM NUMBER            a receive is complete: of that rank, its send of that number
 *   F FROM NUMBER                    ... and the thread's last probe had found it
 *   D REQUEST                        a send is complete
 *   G REQUEST                        it was cancelled
 *   K COMM KIND ROOT ORDER ME        a collective operation: the ORDER-th of this communicator, in
 *                                    which this is rank ME
 *   Q REQUEST COMM KIND ROOT ORDER ME   a nonblocking one is started
 *   E REQUEST                        one is complete
 *   N COMM ORDER ME FROM..           a neighbourhood collective: ranks from which it gets something
 *   O WIN EPOCH                      MPI_Win_post
 *   T WIN EPOCH TO..                 MPI_Win_start and _complete: of the epoch of these ranks
 *   V WIN EPOCH FROM..               MPI_Win_wait for these
 *   L WIN TARGET SHARED              MPI_Win_unlock of this target (-1: of all) */
#include "sim_random.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_REQUESTS = 8, MOST_COMMS = 6, BUFFER = 20000, PHASES = 12 };
enum { MOST_THREADS = 3, TAGS_OF_A_THREAD = 1000 };

static int n_comms;
static _Thread_local int first_tag;

static struct comm comms[MOST_COMMS], thread_comms[MOST_THREADS];

/* ---- messages: each begins with who sent it, and its number ---- */

struct message {
    int from, number;
    char rest[BUFFER];
};

static _Thread_local struct open {
    MPI_Request request;
    struct message buffer;
    int id;
    enum { SENDS, RECEIVES, MEETS } kind;
} opened[MOST_REQUESTS];
static _Thread_local int n_open;

static const char *const modes[] = {"Send", "Ssend", "Rsend", "Bsend"};

static void send_to(const struct comm *c, int to, int tag, int bytes, bool synchronous) {
    FRAME;
    static _Thread_local struct message m;
    m.from = rank;
    m.number = n_sends++;
    starts();
    if (synchronous)
        MPI_Ssend(&m, bytes, MPI_BYTE, to, first_tag + tag, c->comm);
    else
        MPI_Send(&m, bytes, MPI_BYTE, to, first_tag + tag, c->comm);
    note("S %d %d %s %d -1\n", m.number, c->world[to], modes[synchronous], bytes);
    ends(synchronous ? "MPI_Ssend" : "MPI_Send");
}

static int receive_from(const struct comm *c, int from, int tag) {
    FRAME;
    static _Thread_local struct message m;
    starts();
    MPI_Recv(&m, sizeof m, MPI_BYTE, from, first_tag + tag, c->comm, MPI_STATUS_IGNORE);
    note("P -1%s\nR -1 %d %d\n", from == MPI_ANY_SOURCE ? " any" : "", m.from, m.number);
    ends("MPI_Recv");
    for (int i = 0; i < c->n; i++)
        if (c->world[i] == m.from)
            return i;
    return -1;
}

static void isend_to(const struct comm *c, int to, int tag, int bytes, bool synchronous) {
    FRAME;
    struct open *o = &opened[n_open++];
    o->kind = SENDS;
    o->id = request_ids++;
    o->buffer.from = rank;
    o->buffer.number = n_sends++;
    starts();
    if (synchronous)
        MPI_Issend(&o->buffer, bytes, MPI_BYTE, to, first_tag + tag, c->comm, &o->request);
    else
        MPI_Isend(&o->buffer, bytes, MPI_BYTE, to, first_tag + tag, c->comm, &o->request);
    note("S %d %d %s %d %d\n", o->buffer.number, c->world[to], modes[synchronous], bytes, o->id);
    ends(synchronous ? "MPI_Issend" : "MPI_Isend");
}

static void ireceive_from(const struct comm *c, int from, int tag) {
    FRAME;
    struct open *o = &opened[n_open++];
    o->kind = RECEIVES;
    o->id = request_ids++;
    starts();
    MPI_Irecv(&o->buffer, sizeof o->buffer, MPI_BYTE, from, first_tag + tag, c->comm, &o->request);
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
    FRAME;
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

static void ring(struct comm *c) {
    FRAME;
    int bytes = some_bytes(), way = (int)draw(&common, 6), to = (c->me + 1) % c->n,
        from = (c->me + c->n - 1) % c->n;
    bool synchronous = draw(&common, 3) == 0 && !ordered;
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
        static _Thread_local struct message in, m;
        m.from = rank;
        m.number = n_sends++;
        starts();
        MPI_Sendrecv(&m, bytes, MPI_BYTE, to, first_tag + 2, &in, sizeof in, MPI_BYTE, from,
                     first_tag + 2, c->comm, MPI_STATUS_IGNORE);
        note("S %d %d Sendrecv %d -1\nP -1\nR -1 %d %d\n", m.number, c->world[to], bytes, in.from,
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

static void stencil(struct comm *c) {
    FRAME;
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

static void wavefront(struct comm *c) {
    FRAME;
    int bytes = some_bytes(), rows = 1 + (int)draw(&common, 3);
    bool synchronous = draw(&common, 3) == 0 && !ordered;
    for (int row = 0; row < rows; row++) {
        if (c->me > 0)
            receive_from(c, c->me - 1, 3);
        work();
        if (c->me < c->n - 1)
            send_to(c, c->me + 1, 3, bytes, synchronous);
    }
}

static void master(struct comm *c) {
    FRAME;
    int tasks = c->n + (int)draw(&common, 4), bytes = some_bytes();
    int ask = 100 + 3 * c->masters++, task = ask + 1, end = ask + 2; /* tags, for each time */
    if (c->n < 2 || ordered)
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
        static _Thread_local struct message m;
        MPI_Status s;
        work();
        send_to(c, 0, ask, 8, false);
        starts();
        MPI_Recv(&m, sizeof m, MPI_BYTE, 0, MPI_ANY_TAG, c->comm, &s);
        note("P -1 any\nR -1 %d %d\n", m.from, m.number);
        ends("MPI_Recv");
        if (s.MPI_TAG == first_tag + end)
            return;
    }
}

static void collective(struct comm *c) {
    FRAME;
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
    int in[MOST_RANKS] = {0}, result[MOST_RANKS] = {0};
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
    FRAME;
    static const char *const names[] = {"Ibarrier", "Iallreduce", "Ibcast", "Ireduce"};
    static _Thread_local int in[4], result[4];
    int kind = (int)draw(&common, 4), root = (int)draw(&common, (uint32_t)c->n);
    struct open *o = &opened[n_open++];
    char name[40];
    o->kind = MEETS;
    o->id = request_ids++;
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
    FRAME;
    MPI_Group all, mine;
    int ranks[MOST_RANKS];
    PLAIN(MPI_Comm_rank, c->comm, &c->me);
    PLAIN(MPI_Comm_size, c->comm, &c->n);
    PLAIN(MPI_Comm_group, MPI_COMM_WORLD, &all);
    PLAIN(MPI_Comm_group, c->comm, &mine);
    for (int i = 0; i < c->n; i++)
        ranks[i] = i;
    PLAIN(MPI_Group_translate_ranks, mine, c->n, ranks, all, c->world);
    PLAIN(MPI_Group_free, &mine);
    PLAIN(MPI_Group_free, &all);
}

/* A communicator of half of the ranks, or all of them in another order. */
static void split(struct comm *c) {
    FRAME;
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

static const struct motif {
    const char *name;
    void (*run)(struct comm *c);
} all_motifs[] = {{"ring", ring},     {"stencil", stencil},       {"wavefront", wavefront},
                  {"master", master}, {"collective", collective}, {"collective", collective},
                  {"later", later}};
enum { MOTIFS = sizeof all_motifs / sizeof *all_motifs };
/* What programs have besides, by the word that asks for it. */
static const struct {
    const char *word;
    uint32_t n;
    void (*run[8])(struct comm *c);
} all_further[] = {{"wide", 6, {neighbours, fences, exposures, locks, files, session}},
                   {"handles",
                    8,
                    {operations, shapes, ways_to_send, persistent, probes, cancels, attributes,
                     two_groups}},
                   {"cancels", 4, {cancels, cancelled_sends, cancelled_sends, probes}}},
  *further;

/* ---- threads ---- */

static struct crew {
    pthread_t id;
    int place;
    uint64_t common, own;
} crew[MOST_THREADS];

/* Messages on a communicator of all threads, with tags of its own, or all on one of its own. */
static void motifs(int place) {
    FRAME;
    int n = 1 + (int)draw(&common, 3);
    struct comm world = comms[0];
    first_tag = place * TAGS_OF_A_THREAD;
    for (int i = 0; i < n; i++) {
        uint32_t kind = draw(&common, MOTIFS);
        all_motifs[kind].run(kind < 3 && draw(&common, 2) == 0 ? &world : &thread_comms[place]);
    }
    first_tag = 0;
}

static void *worker(void *argument) {
    FRAME;
    const struct crew *one = argument;
    thread = -1;
    /* What it begins with is not certain where its first call comes as one of the first thread
     * ends. */
    nanosleep(&(struct timespec){.tv_nsec = 2 * one->place - 1}, NULL);
    common = one->common;
    own = one->own;
    motifs(one->place);
    if (thread > 0)
        fprintf(out, "X %d %lld\n", thread, now());
    return NULL;
}

static void threads(void) {
    FRAME;
    int n = 2 + (int)draw(&common, MOST_THREADS - 1);
    for (int i = 0; i < n; i++)
        crew[i] = (struct crew){
            .place = i, .common = common + (uint64_t)i, .own = own + 7919u * (uint64_t)i};
    for (int i = 1; i < n; i++)
        if (pthread_create(&crew[i].id, NULL, worker, &crew[i]) != 0)
            abort();
    motifs(0);
    for (int i = 1; i < n; i++)
        pthread_join(crew[i].id, NULL);
}

static void duplicate(struct comm *c) {
    FRAME;
    starts();
    MPI_Comm_dup(MPI_COMM_WORLD, &c->comm);
    note("K %d Comm_dup 0 %d %d\n", comms[0].id, comms[0].order++, comms[0].me);
    ends("MPI_Comm_dup");
    c->id = ++comm_ids * 1000;
    members(c);
}

/* ---- programs ---- */

static void phase(void) {
    FRAME;
    uint32_t kind = draw(&common, MOTIFS + 1 + (threaded ? 2 : further ? further->n : 0));
    struct comm *c = &comms[draw(&common, (uint32_t)n_comms)];
    int rounds = 1 + (int)draw(&common, 3);
    uint64_t state = common;
    for (int i = 0; i < rounds; i++) {
        common = state; /* each round is the same for all, but for the work */
        if (kind < MOTIFS)
            all_motifs[kind].run(c);
        else if (kind > MOTIFS && further)
            further->run[kind - MOTIFS - 1](c);
        else if (kind > MOTIFS)
            threads();
        else if (i == 0)
            split(&comms[0]);
    }
}

/* Functions between main and the phases: the call path. */
static void gamma_rays(int below);
static void beta(int below);

static void alpha(int below) {
    FRAME;
    if (below == 0)
        phase();
    else
        beta(below - 1);
}

static void beta(int below) {
    FRAME;
    if (below == 0)
        phase();
    else
        gamma_rays(below - 1);
}

static void gamma_rays(int below) {
    FRAME;
    if (below == 0)
        phase();
    else
        alpha(below - 1);
}

static void run_phase(uint64_t seed, uint64_t i) {
    FRAME;
    void (*const first[])(int) = {alpha, beta, gamma_rays};
    common = seed * 1000 + i;
    own = (seed * 1000 + i) * 1000 + 1 + (uint64_t)rank;
    draw(&common, 1);
    int below = (int)draw(&common, 4);
    first[draw(&common, 3)](below);
}

/* Communicators of the program before. */
static void forget(void) {
    FRAME;
    while (n_comms > 1)
        PLAIN(MPI_Comm_free, &comms[--n_comms].comm);
}

/* So many times the same, for what a call costs. */
static void run_motif(const char *name, size_t length, long times) {
    FRAME;
    common = 1;
    own = (uint64_t)rank;
    for (const struct motif *m = all_motifs; m < all_motifs + MOTIFS; m++)
        if (strlen(m->name) == length && strncmp(m->name, name, length) == 0) {
            for (long i = 0; i < times; i++)
                m->run(&comms[0]);
            return;
        }
    abort();
}

/* "7,8:2": all phases of seed 7, and one of seed 8. Or a motif, and how often: "ring:100". */
static void run_programs(const char *list) {
    FRAME;
    uint64_t before = 0;
    for (char *at = (char *)list; *at != '\0'; at += *at == ',') {
        if (*at >= 'a') {
            size_t length = strcspn(at, ":");
            const char *name = at;
            long times = strtol(at + length + 1, &at, 10);
            run_motif(name, length, times);
            continue;
        }
        uint64_t seed = strtoull(at, &at, 10);
        if (seed != before)
            forget();
        before = seed;
        if (*at == ':') {
            run_phase(seed, strtoull(at + 1, &at, 10));
        } else {
            for (uint64_t i = 0; i < PHASES; i++)
                run_phase(seed, i);
        }
        if (*at != ',' && *at != '\0')
            abort();
    }
}

int main(int argc, char **argv) {
    FRAME;
    const char *number = getenv("PMI_RANK"); /* the log begins before MPI does */
    char name[4096];
    int provided;
    if (argc < 3)
        return 2;
    threaded = argc > 3 && strcmp(argv[3], "threads") == 0;
    ordered = argc > 3 && strcmp(argv[3], "ordered") == 0;
    for (size_t i = 0; argc > 3 && i < sizeof all_further / sizeof *all_further; i++)
        if (strcmp(argv[3], all_further[i].word) == 0)
            further = &all_further[i];
    log_name = argv[2];
    snprintf(name, sizeof name, "%s.%s", log_name, number != NULL ? number : "0");
    out = fopen(name, "w");
    if (out == NULL)
        return 1;
    /* Whole when it is killed, if that is asked for. */
    setvbuf(out, NULL, getenv("SIM_RANDOM_LINES") != NULL ? _IOLBF : _IOFBF, 1 << 16);
    if (threaded)
        PLAIN(MPI_Init_thread, NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    else
        PLAIN(MPI_Init, NULL, NULL);
    comms[0] = (struct comm){.comm = MPI_COMM_WORLD};
    members(&comms[0]);
    n_comms = 1;
    rank = comms[0].me;
    size = comms[0].n;
    for (int i = 0; i < (threaded ? MOST_THREADS : 0); i++)
        duplicate(&thread_comms[i]);
    run_programs(argv[1]);
    PLAIN(MPI_Finalize);
    fclose(out);
    return 0;
}
