/* random FIRST LAST: runs the random programs with these seeds in one process; prints a checksum
 * per rank and seed. */
#include "random_program.h"

#include <pthread.h>

enum { STEPS = 25, THREADS = 3, THREAD_STEPS = 6 };

uint64_t hash64(uint64_t value) {
    value += 0x9e3779b97f4a7c15ull;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((hash64(*state) >> 32) % below);
}

void maybe_nap(struct context *c) {
    if (draw(&c->own, 6) == 0)
        usleep(100 + draw(&c->own, 900));
}

static struct context *context_new(MPI_Comm comm, uint64_t seed, int threaded) {
    struct context *c = calloc(1, sizeof *c);
    c->comms[0] = comm;
    c->n_comms = 1;
    MPI_Comm_rank(comm, &c->me);
    MPI_Comm_size(comm, &c->n);
    c->common = hash64(seed);
    c->own = hash64(seed * 1000 + (uint64_t)c->me + 1);
    c->threaded = threaded;
    return c;
}

/* Adds a communicator made from comms[0], or replaces an old one. */
static void communicator(struct context *c) {
    int slot = c->n_comms < MAX_COMMS ? c->n_comms : 1 + (int)draw(&c->common, MAX_COMMS - 1);
    int kind = (int)draw(&c->common, 4), colours = 1 + (int)draw(&c->common, 2),
        reverse = (int)draw(&c->common, 2);
    MPI_Comm made = MPI_COMM_NULL;
    if (slot < c->n_comms && c->comms[slot] != MPI_COMM_NULL)
        OK(MPI_Comm_free(&c->comms[slot]));
    if (kind == 0) {
        OK(MPI_Comm_dup(c->comms[0], &made));
    } else if (kind == 1) {
        MPI_Request request;
        OK(MPI_Comm_idup(c->comms[0], &made, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (kind ==
               2) { /* several groups, each an instance of this slot, or ranks that are not in */
        int colour = c->me % (colours + 1);
        OK(MPI_Comm_split(c->comms[0], colour == colours && colours == 1 ? MPI_UNDEFINED : colour,
                          reverse ? -c->me : c->me, &made));
    } else {
        MPI_Group all, part;
        int first[1] = {(int)draw(&c->common, (uint32_t)c->n)};
        OK(MPI_Comm_group(c->comms[0], &all));
        OK(MPI_Group_excl(all, c->n > 1, first, &part));
        OK(MPI_Comm_create(c->comms[0], part, &made));
        OK(MPI_Group_free(&part));
        OK(MPI_Group_free(&all));
    }
    c->comms[slot] = made;
    if (slot == c->n_comms)
        c->n_comms++;
}

static void *thread_main(void *arg) {
    struct context *c = arg;
    for (c->motif = 0; c->motif < THREAD_STEPS; c->motif++) {
        if (draw(&c->common, 3))
            exchange(c);
        else
            collective(c, 0);
    }
    complete_pending(c);
    return NULL;
}

static void threads(struct context *c) {
    pthread_t ids[THREADS];
    struct context *contexts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm comm;
        OK(MPI_Comm_dup(c->comms[0], &comm));
        contexts[i] = context_new(comm, c->common + (uint64_t)i, 1);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&ids[i], NULL, thread_main, contexts[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        c->checksum += contexts[i]->checksum * (uint64_t)(i + 1);
        OK(MPI_Comm_free(&contexts[i]->comms[0]));
        free(contexts[i]);
    }
}

static void program(uint64_t seed, int multiple) {
    struct context *c = context_new(MPI_COMM_WORLD, seed, 0);
    char *back;
    int bytes;
    OK(MPI_Buffer_attach(c->space, sizeof c->space));
    for (c->motif = 0; c->motif < STEPS; c->motif++) {
        int kind = (int)draw(&c->common, 12), comm = (int)draw(&c->common, (uint32_t)c->n_comms);
        if (kind < 5)
            exchange(c);
        else if (kind < 8)
            collective(c, comm);
        else if (kind == 8)
            persistent_ring(c, comm);
        else if (kind == 9)
            communicator(c);
        else if (kind == 10)
            complete_pending(c);
        else if (multiple && draw(&c->common, 2) == 0)
            threads(c);
    }
    complete_pending(c);
    OK(MPI_Buffer_detach(&back, &bytes));
    for (int i = 1; i < c->n_comms; i++)
        if (c->comms[i] != MPI_COMM_NULL)
            OK(MPI_Comm_free(&c->comms[i]));
    say("seed %llu checksum %016llx", (unsigned long long)seed, (unsigned long long)c->checksum);
    free(c);
}

int main(int argc, char **argv) {
    int level = start_program_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (long seed = atol(argv[1]); seed <= atol(argv[2]); seed++)
        program((uint64_t)seed, level == MPI_THREAD_MULTIPLE);
    return end_program();
}
