/* The motifs of collective operations and of persistent messages. */
#include "random_program.h"

enum { MAX = 64 };

static void mix(struct context *c, const int *values, int n) {
    for (int i = 0; i < n; i++)
        c->checksum = c->checksum * 1099511628211ull + (uint64_t)(unsigned)values[i];
}

void complete_pending(struct context *c) {
    MPI_Status s[MAX_PENDING];
    OK(MPI_Waitall(c->n_pending, c->pending, s));
    mix(c, c->pending_out, c->n_pending);
    c->n_pending = 0;
}

/* Starts an operation that runs while others do; all members of comms[0] do so in the same order.
 */
static void start_pending(struct context *c, MPI_Comm comm, int root) {
    int k = c->n_pending++;
    c->pending_in[k] = c->me + c->motif;
    c->pending_out[k] = c->me == root ? c->motif : 0;
    if (c->motif % 3 == 0)
        OK(MPI_Iallreduce(&c->pending_in[k], &c->pending_out[k], 1, MPI_INT, MPI_SUM, comm,
                          &c->pending[k]));
    else if (c->motif % 3 == 1)
        OK(MPI_Ibcast(&c->pending_out[k], 1, MPI_INT, root, comm, &c->pending[k]));
    else
        OK(MPI_Ibarrier(comm, &c->pending[k]));
}

void collective(struct context *c, int comm_index) {
    MPI_Comm comm = c->comms[comm_index];
    int kind = (int)draw(&c->common, 14), n = 1 + (int)draw(&c->common, 8),
        root_draw = (int)draw(&c->common, 1000);
    int me, size_, a[MAX * 8], b[MAX * 8] = {0}, counts[MAX], displs[MAX];
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size_);
    int root = root_draw % size_, zero = n == 8;
    for (int i = 0; i < MAX * 8; i++)
        a[i] = (int)(hash64((uint64_t)me * 1000 + (uint64_t)i + (uint64_t)c->motif * 31) % 1000);
    for (int i = 0; i < size_; i++) {
        counts[i] = zero ? 0 : i;
        displs[i] = 8 * i;
    }
    int mine = zero ? 0 : me;
    maybe_nap(c);
    switch (kind) {
    case 0:
        OK(MPI_Barrier(comm));
        break;
    case 1:
        OK(MPI_Bcast(me == root ? a : b, n, MPI_INT, root, comm));
        break;
    case 2:
        OK(MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, root, comm));
        break;
    case 3:
        OK(MPI_Allreduce(a, b, n, MPI_INT, MPI_MAX, comm));
        break;
    case 4:
        OK(MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, root, comm));
        break;
    case 5:
        OK(MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, root, comm));
        break;
    case 6:
        OK(MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, comm));
        break;
    case 7:
        OK(MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, comm));
        break;
    case 8:
        OK(MPI_Gatherv(a, mine, MPI_INT, b, counts, displs, MPI_INT, root, comm));
        break;
    case 9:
        OK(MPI_Allgatherv(a, mine, MPI_INT, b, counts, displs, MPI_INT, comm));
        break;
    case 10:
        OK(MPI_Scan(a, b, n, MPI_INT, MPI_SUM, comm));
        break;
    case 11:
        OK(MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, comm));
        break;
    case 12:
        if (c->n_pending == MAX_PENDING || comm_index != 0)
            OK(MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_INT, MPI_MIN, comm));
        else
            start_pending(c, comm, root);
        break;
    default: {
        MPI_Request request;
        MPI_Status s;
        OK(MPI_Ialltoall(a, n, MPI_INT, b, n, MPI_INT, comm, &request));
        if (draw(&c->own, 2)) {
            for (int flag = 0; !flag; nap_ms(!flag))
                OK(MPI_Test(&request, &flag, &s));
        } else {
            OK(MPI_Wait(&request, &s));
        }
        break;
    }
    }
    mix(c, b, MAX);
}

/* Persistent requests around a ring, started several times, with either way to start and to
 * complete. */
void persistent_ring(struct context *c, int comm_index) {
    MPI_Comm comm = c->comms[comm_index];
    int rounds = 1 + (int)draw(&c->common, 5), synchronous = (int)draw(&c->common, 2), me, n,
        in = -1, out = 0, index, count, done[2];
    MPI_Request r[2];
    MPI_Status s[2];
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    int to = (me + 1) % n, from = (me + n - 1) % n, tag = (c->motif % 500) * 8 + 6;
    OK(MPI_Recv_init(&in, 1, MPI_INT, from, tag, comm, &r[0]));
    if (synchronous)
        OK(MPI_Ssend_init(&out, 1, MPI_INT, to, tag, comm, &r[1]));
    else
        OK(MPI_Send_init(&out, 1, MPI_INT, to, tag, comm, &r[1]));
    for (int i = 0; i < rounds; i++) {
        out = me * 100 + i;
        if (draw(&c->own, 2)) {
            OK(MPI_Startall(2, r));
        } else {
            OK(MPI_Start(&r[1]));
            OK(MPI_Start(&r[0]));
        }
        maybe_nap(c);
        switch (draw(&c->own, 3)) {
        case 0:
            OK(MPI_Waitall(2, r, s));
            break;
        case 1:
            OK(MPI_Waitany(2, r, &index, s));
            OK(MPI_Waitany(2, r, &index, s));
            break;
        default:
            for (int left = 2; left > 0; left -= count)
                OK(MPI_Waitsome(2, r, &count, done, s));
            break;
        }
        CHECK(in == from * 100 + i);
        c->checksum += (uint64_t)in;
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}
