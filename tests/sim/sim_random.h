/* Of random programs (sim_random.c): call paths, the log, draws, work. What stands here, all motifs
 * use, in whatever file they are. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_RANKS = 256 };

struct comm {
    MPI_Comm comm;
    int me, n, id, order, masters;
    int world[MOST_RANKS];
};

extern int rank, size, comm_ids, request_ids, n_sends;
extern const char *log_name;
extern bool threaded, ordered;
extern FILE *out;
extern _Thread_local int thread;           /* 0: the first one, then by their first calls */
extern _Thread_local uint64_t common, own; /* random states: of all ranks, of this one */

int enter(const char *function, const void *called_from, const void *at);
void leave(const int *unused);

/* First in each function that stands in call paths. */
#define FRAME                                                                                      \
    __attribute__((cleanup(leave), unused)) int frame_ =                                           \
        enter(__func__, __builtin_return_address(0), __builtin_frame_address(0))

uint32_t draw(uint64_t *state, uint32_t below);
/* The same time on all nodes, where their clocks differ. */
long long now(void);

/* A line about the call that comes next. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Around each call of MPI. */
void starts(void);
void ends(const char *function);

/* A call of which nothing has to be said. */
#define PLAIN(function, ...) (starts(), function(__VA_ARGS__), ends(#function))

/* Up to 200 us, sometimes ten times as long, sometimes nothing. */
void work(void);

/* Motifs of sim_random_sides.c. */
void neighbours(struct comm *c);
void fences(struct comm *c);
void exposures(struct comm *c);
void locks(struct comm *c);
void files(struct comm *c);
void session(struct comm *c);

/* Motifs of sim_random_handles.c. */
void operations(struct comm *c);
void shapes(struct comm *c);
void ways_to_send(struct comm *c);
void persistent(struct comm *c);
void probes(struct comm *c);
void cancels(struct comm *c);
void cancelled_sends(struct comm *c);
void attributes(struct comm *c);
void two_groups(struct comm *c);

#endif
