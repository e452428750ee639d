#include "analyze/transport.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "job/launcher.h"
#include "base/log.h"
#include "base/mem.h"

/* Pieces of at most this many bytes, so that MPI's int counts hold for any array. */
enum { PIECE_BYTES = 1 << 28 };

/* Open MPI ends a program that srun has started without PMIx; MPICH makes it a job of one. */
static bool can_reach_others(const struct lc_launch *launch) {
#if defined(OPEN_MPI)
    return launch->wire != LC_WIRE_NONE;
#else
    (void)launch;
    return true;
#endif
}

bool lc_transport_init(struct lc_transport *comm, int *argc, char ***argv) {
#if defined(OPEN_MPI)
    const enum lc_flavour flavour = LC_FLAVOUR_IS_OPENMPI;
#else
    const enum lc_flavour flavour = LC_FLAVOUR_IS_MPICH;
#endif
    struct lc_launch launch;
    int rank = 0, size = 1;
    *comm = (struct lc_transport){0, 1};
    lc_launch_detect_place(&launch);
    if (launch.kind == LC_LAUNCHER_NONE)
        return true;
    if (can_reach_others(&launch)) {
        MPI_Init(argc, argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    bool alone = size == 1 && launch.size > 1;
    *comm = (struct lc_transport){(uint32_t)rank, (uint32_t)size};
    if (alone && launch.rank == 0)
        lc_complain("analyze: MPI sees 1 rank, but the launcher (%s) has started %d: only one of "
                    "them works: %s",
                    launch.launcher, launch.size, lc_launch_advice(&launch, flavour));
    return !alone || launch.rank == 0;
}

static bool is_mpi(void) {
    int yes;
    MPI_Initialized(&yes);
    return yes != 0;
}

void lc_transport_finalize(struct lc_transport *comm) {
    (void)comm;
    if (is_mpi())
        MPI_Finalize();
}

void lc_transport_abort(int code) {
    if (is_mpi())
        MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

enum lc_err lc_transport_first_error(const struct lc_transport *comm, enum lc_err err) {
    int64_t first = err == LC_OK ? INT64_MAX : (int64_t)comm->rank;
    lc_transport_allreduce_i64(comm, &first, 1, LC_OP_MIN);
    if (first == INT64_MAX)
        return LC_OK;
    struct {
        int code;
        char text[1024];
    } message = {(int)err, ""};
    if (comm->rank == (uint32_t)first)
        strncpy(message.text, lc_err_text(), sizeof message.text - 1);
    lc_transport_bcast(comm, &message, sizeof message, (uint32_t)first);
    return lc_fail((enum lc_err)message.code, "%s", message.text);
}

void lc_transport_allreduce_i64(const struct lc_transport *comm, int64_t *values, size_t count,
                                enum lc_op op) {
    if (comm->size == 1)
        return;
    MPI_Op mpi_op = op == LC_OP_SUM ? MPI_SUM : op == LC_OP_MIN ? MPI_MIN : MPI_MAX;
    for (size_t at = 0; at < count;) {
        size_t n = count - at < PIECE_BYTES / 8 ? count - at : PIECE_BYTES / 8;
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)n, MPI_INT64_T, mpi_op, MPI_COMM_WORLD);
        at += n;
    }
}

void lc_transport_bcast(const struct lc_transport *comm, void *data, size_t bytes, uint32_t root) {
    if (comm->size == 1)
        return;
    for (size_t at = 0; at < bytes;) {
        size_t n = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        MPI_Bcast((char *)data + at, (int)n, MPI_BYTE, (int)root, MPI_COMM_WORLD);
        at += n;
    }
}

enum lc_err lc_transport_exchange(const struct lc_transport *comm, const void *records,
                                  const uint32_t *dest, size_t count, size_t record_bytes,
                                  void **in, size_t *n_in) {
    return lc_transport_exchange_from(comm, records, dest, count, record_bytes, in, n_in, NULL);
}

/* Sorts records by destination; at[rank]: where those of a rank begin. */
static void group(char *grouped, const char *records, const uint32_t *dest, size_t count,
                  size_t record_bytes, uint64_t *at) {
    for (size_t i = 0; i < count; i++) {
        char *to = grouped + at[dest[i]]++ * record_bytes;
        const char *from = records + i * record_bytes;
        if (record_bytes % 8 != 0)
            memcpy(to, from, record_bytes);
        else
            for (size_t k = 0; k < record_bytes; k += 8) /* short: no call */
                memcpy(to + k, from + k, 8);
    }
}

enum lc_err lc_transport_exchange_from(const struct lc_transport *comm, const void *records,
                                       const uint32_t *dest, size_t count, size_t record_bytes,
                                       void **in, size_t *n_in, uint64_t *in_counts) {
    if (comm->size == 1)
        return lc_transport_exchange_grouped(comm, records, &(uint64_t){count}, record_bytes, in,
                                             n_in, in_counts);
    uint64_t *counts = NULL, *at = NULL;
    char *grouped = NULL;
    enum lc_err err = lc_alloc(&counts, comm->size, sizeof *counts);
    if (err == LC_OK)
        err = lc_alloc(&at, comm->size, sizeof *at);
    if (err == LC_OK)
        err = lc_alloc(&grouped, count, record_bytes);
    err = lc_transport_agree(comm, err);
    for (size_t i = 0; i < count && err == LC_OK && counts != NULL; i++)
        counts[dest[i]]++;
    for (uint32_t r = 1; r < comm->size && err == LC_OK && at != NULL && counts != NULL; r++)
        at[r] = at[r - 1] + counts[r - 1];
    if (err == LC_OK && at != NULL && (grouped != NULL || count == 0)) {
        group(grouped, records, dest, count, record_bytes, at);
        err =
            lc_transport_exchange_grouped(comm, grouped, counts, record_bytes, in, n_in, in_counts);
    }
    free(counts);
    free(at);
    free(grouped);
    return err;
}

/* Pairwise exchange, one partner per step: the memory is that of the data, whatever the number of
 * ranks. */
static void exchange_pairs(const struct lc_transport *comm, const char *out,
                           const uint64_t *out_bytes, const uint64_t *out_at, char *in,
                           const uint64_t *in_bytes, const uint64_t *in_at) {
    for (uint32_t step = 0; step < comm->size; step++) {
        uint32_t to = (comm->rank + step) % comm->size;
        uint32_t from = (comm->rank + comm->size - step) % comm->size;
        if (step == 0) {
            if (out_bytes[to])
                memcpy(in + in_at[from], out + out_at[to], out_bytes[to]);
            continue;
        }
        for (uint64_t at = 0; at < out_bytes[to] || at < in_bytes[from]; at += PIECE_BYTES) {
            uint64_t n_out = at < out_bytes[to] ? out_bytes[to] - at : 0;
            uint64_t n_in = at < in_bytes[from] ? in_bytes[from] - at : 0;
            n_out = n_out < PIECE_BYTES ? n_out : PIECE_BYTES;
            n_in = n_in < PIECE_BYTES ? n_in : PIECE_BYTES;
            MPI_Request requests[2];
            MPI_Status statuses[2];
            int n = 0;
            if (n_in)
                MPI_Irecv(in + in_at[from] + at, (int)n_in, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD,
                          &requests[n++]);
            if (n_out)
                MPI_Isend(out + out_at[to] + at, (int)n_out, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD,
                          &requests[n++]);
            MPI_Waitall(n, requests, statuses);
        }
    }
}

enum lc_err lc_transport_exchange_grouped(const struct lc_transport *comm, const void *records,
                                          const uint64_t *counts, size_t record_bytes, void **in,
                                          size_t *n_in, uint64_t *in_counts) {
    uint64_t *table;
    size_t p = comm->size;
    LC_TRY(lc_transport_agree(comm, lc_alloc(&table, 4 * p, sizeof *table)));
    uint64_t *out_bytes = table, *out_at = table + p, *in_bytes = table + 2 * p,
             *in_at = table + 3 * p;
    for (size_t r = 0; r < p; r++)
        out_bytes[r] = counts[r] * record_bytes;
    if (p > 1)
        MPI_Alltoall(out_bytes, 1, MPI_UINT64_T, in_bytes, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    else
        in_bytes[0] = out_bytes[0];
    uint64_t total = 0;
    for (size_t r = 0; r < p; r++) {
        out_at[r] = r ? out_at[r - 1] + out_bytes[r - 1] : 0;
        in_at[r] = total;
        total += in_bytes[r];
        if (in_counts)
            in_counts[r] = in_bytes[r] / record_bytes;
    }
    *n_in = total / record_bytes;
    *in = malloc(total ? total : 1);
    enum lc_err err = LC_OK;
    if (*in == NULL) {
        lc_fail(LC_ERR_NOMEM, "exchange: no memory for %llu bytes: use more ranks or nodes",
                (unsigned long long)total);
        err = LC_ERR_NOMEM;
    }
    err = lc_transport_agree(comm, err);
    if (err == LC_OK) {
        exchange_pairs(comm, records, out_bytes, out_at, *in, in_bytes, in_at);
    } else {
        free(*in);
        *in = NULL;
    }
    free(table);
    return err;
}

enum lc_err lc_transport_gather(const struct lc_transport *comm, const void *data, size_t bytes,
                                void **in, size_t *n_in, uint64_t *in_bytes) {
    uint64_t *counts;
    LC_TRY(lc_transport_agree(comm, lc_alloc(&counts, comm->size, sizeof *counts)));
    counts[0] = bytes;
    enum lc_err err = lc_transport_exchange_grouped(comm, data, counts, 1, in, n_in, in_bytes);
    free(counts);
    if (err == LC_OK && comm->rank != 0) {
        free(*in);
        *in = NULL;
        *n_in = 0;
    }
    return err;
}

enum { ROUND_TAG = 1, PASSED_TAG = 2, ROUND_RECORDS = 1 << 14, LEAST_RECORDS = 64 };

struct lc_rounds {
    const struct lc_transport *comm;
    size_t record_bytes, room, n_values;
    int64_t *out_values, *in_values; /* per rank: number of records, then values */
    char *out, *in;                  /* per rank: room */
    MPI_Request *requests;           /* two per rank */
    MPI_Status *statuses;
};

void lc_rounds_free(struct lc_rounds *rounds) {
    if (rounds == NULL)
        return;
    free(rounds->out_values);
    free(rounds->in_values);
    free(rounds->out);
    free(rounds->in);
    free(rounds->requests);
    free(rounds->statuses);
    free(rounds);
}

enum lc_err lc_rounds_new(struct lc_rounds **rounds, const struct lc_transport *comm,
                          size_t record_bytes, size_t least, size_t n_values) {
    struct lc_rounds *r = NULL;
    size_t p = comm->size, room = ROUND_RECORDS / p;
    room = room > LEAST_RECORDS ? room : LEAST_RECORDS;
    room = p == 1 ? 0 : room > least ? room : least;
    enum lc_err err = lc_alloc(&r, 1, sizeof *r);
    if (err == LC_OK) {
        *r = (struct lc_rounds){
            .comm = comm, .record_bytes = record_bytes, .room = room, .n_values = n_values + 1};
        err = lc_alloc(&r->out_values, p * r->n_values, sizeof *r->out_values);
    }
    if (err == LC_OK)
        err = lc_alloc(&r->in_values, p * r->n_values, sizeof *r->in_values);
    if (err == LC_OK)
        err = lc_alloc(&r->out, p * room, record_bytes);
    if (err == LC_OK)
        err = lc_alloc(&r->in, p * room, record_bytes);
    if (err == LC_OK)
        err = lc_alloc(&r->requests, 2 * p, sizeof *r->requests);
    if (err == LC_OK)
        err = lc_alloc(&r->statuses, 2 * p, sizeof *r->statuses);
    err = lc_transport_agree(comm, err);
    if (err != LC_OK) {
        lc_rounds_free(r);
        r = NULL;
    }
    *rounds = r;
    return err;
}

size_t lc_rounds_room(const struct lc_rounds *rounds, uint32_t rank) {
    return rounds->room - (size_t)rounds->out_values[rank * rounds->n_values];
}

void *lc_rounds_put(struct lc_rounds *rounds, uint32_t rank) {
    size_t at = rank * rounds->room + (size_t)rounds->out_values[rank * rounds->n_values]++;
    return rounds->out + at * rounds->record_bytes;
}

void lc_rounds_turn(struct lc_rounds *rounds, const int64_t *values) {
    size_t n_values = rounds->n_values, bytes = rounds->record_bytes;
    int n = 0;
    for (uint32_t r = 0; r < rounds->comm->size; r++)
        memcpy(&rounds->out_values[r * n_values + 1], values, (n_values - 1) * sizeof *values);
    if (rounds->comm->size == 1) {
        memcpy(rounds->in_values, rounds->out_values, n_values * sizeof *values);
        return;
    }
    MPI_Alltoall(rounds->out_values, (int)n_values, MPI_INT64_T, rounds->in_values, (int)n_values,
                 MPI_INT64_T, MPI_COMM_WORLD);
    for (uint32_t r = 0; r < rounds->comm->size; r++)
        if (rounds->in_values[r * n_values] > 0)
            MPI_Irecv(rounds->in + r * rounds->room * bytes,
                      (int)((size_t)rounds->in_values[r * n_values] * bytes), MPI_BYTE, (int)r,
                      ROUND_TAG, MPI_COMM_WORLD, &rounds->requests[n++]);
    for (uint32_t r = 0; r < rounds->comm->size; r++) {
        if (rounds->out_values[r * n_values] > 0)
            MPI_Isend(rounds->out + r * rounds->room * bytes,
                      (int)((size_t)rounds->out_values[r * n_values] * bytes), MPI_BYTE, (int)r,
                      ROUND_TAG, MPI_COMM_WORLD, &rounds->requests[n++]);
        rounds->out_values[r * n_values] = 0;
    }
    MPI_Waitall(n, rounds->requests, rounds->statuses);
}

const int64_t *lc_rounds_values(const struct lc_rounds *rounds, uint32_t rank) {
    return &rounds->in_values[rank * rounds->n_values + 1];
}

const void *lc_rounds_from(const struct lc_rounds *rounds, uint32_t rank, size_t *n) {
    *n = (size_t)rounds->in_values[rank * rounds->n_values];
    return rounds->in + rank * rounds->room * rounds->record_bytes;
}

void lc_transport_send(uint32_t rank, const void *data, size_t bytes) {
    MPI_Send(data, (int)bytes, MPI_BYTE, (int)rank, PASSED_TAG, MPI_COMM_WORLD);
}

void lc_transport_receive(void **data, size_t *bytes) {
    MPI_Message message;
    MPI_Status status;
    int n = 0;
    MPI_Mprobe(MPI_ANY_SOURCE, PASSED_TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &n);
    *bytes = (size_t)n;
    enum lc_err err = lc_alloc(data, (size_t)n + 1, 1);
    if (err != LC_OK)
        lc_transport_abort(1);
    MPI_Mrecv(*data, n, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}
