/* The processes of one analysis: a thin layer over MPI (transport.c, compiled once per flavour)
 * so that the engine is compiled once and knows no MPI handles. Without a launcher there is one
 * rank and MPI is never touched.
 *
 * All functions are collective: every rank calls them in the same order. Failures inside MPI end
 * the program (MPI_ERRORS_ARE_FATAL); lc_transport_agree is how an error of one rank becomes the
 * error of all. */
#ifndef LC_ANALYZE_TRANSPORT_H
#define LC_ANALYZE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lc_transport {
    uint32_t rank, size;
};

/* False: the launcher started several processes that do not find each other, and another one of
 * them does the work; this one is to end well. */
bool lc_transport_init(struct lc_transport *comm, int *argc, char ***argv);
/* Ends the transport. Collective. */
void lc_transport_finalize(struct lc_transport *comm);
/* Ends all processes with this exit status. */
_Noreturn void lc_transport_abort(int code);

/* The first rank's error (by rank) is everybody's: returns it on all ranks, with its text.
 * Collective. Errors: none of its own. */
enum lc_err lc_transport_first_error(const struct lc_transport *comm, enum lc_err err);
static inline enum lc_err lc_transport_agree(const struct lc_transport *comm, enum lc_err err) {
    enum lc_err first = comm->size == 1 ? err : lc_transport_first_error(comm, err);
    return first != LC_OK ? first : err; /* LC_OK only if err is: also for analysers to see */
}

enum lc_op { LC_OP_SUM, LC_OP_MIN, LC_OP_MAX };
/* values[i] becomes the sum, the least or the largest over all ranks. Collective. */
void lc_transport_allreduce_i64(const struct lc_transport *comm, int64_t *values, size_t count,
                                enum lc_op op);
/* Arrays of any length go in pieces, so that no count exceeds an int. */
void lc_transport_bcast(const struct lc_transport *comm, void *data, size_t bytes, uint32_t root);

/* Bulk exchange of fixed-size records: records[i] goes to rank dest[i]. *in (malloc'ed, the caller
 * frees it) holds what arrived, ordered by source rank and then by the order at the source.
 * `records` may be any order of destinations and stays unchanged. Collective; errors are the same
 * on all ranks: LC_ERR_NOMEM, with nothing to free. */
enum lc_err lc_transport_exchange(const struct lc_transport *comm, const void *records,
                                  const uint32_t *dest, size_t count, size_t record_bytes,
                                  void **in, size_t *n_in);
/* As lc_transport_exchange; in_counts (size entries, may be NULL) tells how many came from each
 * rank. Errors: those of lc_transport_exchange. */
enum lc_err lc_transport_exchange_from(const struct lc_transport *comm, const void *records,
                                       const uint32_t *dest, size_t count, size_t record_bytes,
                                       void **in, size_t *n_in, uint64_t *in_counts);
/* Sends records that already lie grouped by destination: counts[rank] records for each;
 * in_counts (size entries, may be NULL) tells how many came from each. Errors: those of
 * lc_transport_exchange. */
enum lc_err lc_transport_exchange_grouped(const struct lc_transport *comm, const void *records,
                                          const uint64_t *counts, size_t record_bytes, void **in,
                                          size_t *n_in, uint64_t *in_counts);
/* Everybody's bytes on rank 0, in rank order (elsewhere *in = NULL, *n_in = 0). Errors: those of
 * lc_transport_exchange. */
enum lc_err lc_transport_gather(const struct lc_transport *comm, const void *data, size_t bytes,
                                void **in, size_t *n_in, uint64_t *in_bytes);

/* Messages in rounds, for ranks that each go on by themselves as far as they get: records gather in
 * buffers of a fixed size, one for each other rank; a round hands all of them over, and everybody
 * learns some numbers of everybody. */
struct lc_rounds;
/* Room for at least `least` records to each rank, `n_values` numbers; lc_rounds_free frees it.
 * Collective; errors are the same on all ranks: LC_ERR_NOMEM. */
enum lc_err lc_rounds_new(struct lc_rounds **rounds, const struct lc_transport *comm,
                          size_t record_bytes, size_t least, size_t n_values);
/* Not collective. NULL: nothing. */
void lc_rounds_free(struct lc_rounds *rounds);
/* How many more records to another rank fit into this round. Not collective. */
size_t lc_rounds_room(const struct lc_rounds *rounds, uint32_t rank);
/* Where the next of them is to be written. Not collective. */
void *lc_rounds_put(struct lc_rounds *rounds, uint32_t rank);
/* Hands everything over. values[]: numbers of this rank. */
void lc_rounds_turn(struct lc_rounds *rounds, const int64_t *values);
/* The n_values numbers that a rank gave in the last round. Not collective. */
const int64_t *lc_rounds_values(const struct lc_rounds *rounds, uint32_t rank);
/* The n records that came from it; they stay until the next round. Not collective. */
const void *lc_rounds_from(const struct lc_rounds *rounds, uint32_t rank, size_t *n);

/* A message to one rank while all others wait for theirs. Not collective. */
void lc_transport_send(uint32_t rank, const void *data, size_t bytes);
/* Waits for the next message of any rank: *data is malloc'ed, the caller frees it. Not collective.
 * Without memory for it all processes end, since the others wait for what this one does with it. */
void lc_transport_receive(void **data, size_t *bytes);

#endif
