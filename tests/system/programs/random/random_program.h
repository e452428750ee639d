/* A random MPI program: a seed gives the same schedule on every rank, correct by construction,
 * whose checksum does not depend on timing or on which of several permitted matches MPI makes.
 *
 * Nouns
 *   context    what one thread works with: its communicators, its two random streams, its checksum
 *   common     the random stream that all members of a context's first communicator share: what is
 * done own        the random stream of this rank: in which order, with which calls, after which nap
 *   motif      a step that is free of deadlocks whatever the other ranks' own streams say
 *   message    (id, source, destination, tag, bytes): its content follows from its id
 * Who calls: main() of random.c runs motifs of each seed; threads run exchange() and collective()
 * on communicators of their own. */
#ifndef RANDOM_H
#define RANDOM_H

#include "program.h"

#include <stdint.h>

enum { MAX_COMMS = 6, MAX_MESSAGES = 24, MAX_PENDING = 3 };

struct context {
    MPI_Comm
        comms[MAX_COMMS]; /* [0] has all members; the others may be MPI_COMM_NULL on some ranks */
    int n_comms;
    uint64_t common, own, checksum;
    int motif;                        /* number of the step: part of every tag and id */
    int me, n;                        /* in comms[0] */
    MPI_Request pending[MAX_PENDING]; /* nonblocking collectives that run across motifs */
    int pending_in[MAX_PENDING], pending_out[MAX_PENDING], n_pending;
    char space[65536]; /* for MPI_Bsend; used by the main thread only */
    int threaded;
};

uint32_t draw(uint64_t *state, uint32_t below); /* uniform in [0, below) */
uint64_t hash64(uint64_t value);

void exchange(struct context *c);
void collective(struct context *c, int comm);
void complete_pending(struct context *c);
void persistent_ring(struct context *c, int comm);
void maybe_nap(struct context *c);

#endif
