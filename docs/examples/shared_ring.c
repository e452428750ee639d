/* A small message layer with probes: MPI_Bcast between two ranks of a node through shared memory,
 * in the place of the MPI library's own while `latecomer bench` measures.
 *
 *   mpicc -O2 -shared -fPIC shared_ring.c -o libshared_ring.so -I PREFIX/include
 *   LD_PRELOAD=$PWD/libshared_ring.so latecomer bench MPI_Bcast --bytes 64,64k -n 2
 *
 * Two protocols: small messages are copied into a slot of the ring; large ones into a buffer of a
 * pool, and the slot says which. The pool grows lazily: as long as it is not full, each message gets
 * a new buffer, whose pages are touched here for the first time. Which of these parts makes the
 * first repetitions slow? The fingerprint tells: docs/benchmarking.md, "Which part makes it slow". */
#include <mpi.h>
#include <string.h>

#define LATECOMER_PROBES(COUNTER, TIMER)                                                           \
    COUNTER(eager) COUNTER(buffers) TIMER(grow_pool) TIMER(copy_in) TIMER(wait) TIMER(copy_out)
#include <latecomer_probe.h>
LATECOMER_PROBE_TABLE;

enum { SLOTS = 8, SMALL = 1024, POOL = 48, LARGE = 256 * 1024 };

struct ring {
    struct {
        int number; /* of the message in it: the receiver waits for its own */
        int buffer; /* of the pool, or -1: the message is here */
        char bytes[SMALL];
    } slot[SLOTS];
    int taken; /* messages that the receiver has copied out */
    char pool[POOL][LARGE];
};

static struct ring *ring;
static int sent, received, pool_size;

/* One ring for the communicator that is measured. */
static void make_ring(MPI_Comm comm) {
    MPI_Win window;
    MPI_Aint size;
    int rank, unit;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Win_allocate_shared(rank == 0 ? sizeof(struct ring) : 0, 1, MPI_INFO_NULL, comm, &ring,
                             &window);
    PMPI_Win_shared_query(window, 0, &size, &unit, &ring);
}

static int take_buffer(void) {
    if (pool_size == POOL)
        return sent % POOL;
    latecomer_probe_start(latecomer_probe_grow_pool);
    memset(ring->pool[pool_size], 0, LARGE);
    latecomer_probe_stop(latecomer_probe_grow_pool);
    latecomer_probe_count(latecomer_probe_buffers);
    return pool_size++;
}

/* Until *word is what is waited for, or larger. */
static void wait_for(const int *word, int value) {
    latecomer_probe_start(latecomer_probe_wait);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
        ;
    latecomer_probe_stop(latecomer_probe_wait);
}

static void send_message(const char *data, int bytes) {
    int slot = sent % SLOTS, buffer = -1;
    wait_for(&ring->taken, sent - SLOTS + 1);
    if (bytes > SMALL)
        buffer = take_buffer();
    else
        latecomer_probe_count(latecomer_probe_eager);
    latecomer_probe_start(latecomer_probe_copy_in);
    memcpy(buffer < 0 ? ring->slot[slot].bytes : ring->pool[buffer], data, (size_t)bytes);
    latecomer_probe_stop(latecomer_probe_copy_in);
    ring->slot[slot].buffer = buffer;
    __atomic_store_n(&ring->slot[slot].number, ++sent, __ATOMIC_RELEASE);
}

static void receive_message(char *data, int bytes) {
    int slot = received % SLOTS, buffer;
    wait_for(&ring->slot[slot].number, received + 1);
    buffer = ring->slot[slot].buffer;
    latecomer_probe_start(latecomer_probe_copy_out);
    memcpy(data, buffer < 0 ? ring->slot[slot].bytes : ring->pool[buffer], (size_t)bytes);
    latecomer_probe_stop(latecomer_probe_copy_out);
    __atomic_store_n(&ring->taken, ++received, __ATOMIC_RELEASE);
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    int rank, size;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    /* the benchmark's own calls, and what this layer cannot do */
    if (latecomer_probe_table.now < 0 || type != MPI_BYTE || n > LARGE || size != 2 || root != 0)
        return PMPI_Bcast(data, n, type, root, comm);
    if (ring == NULL)
        make_ring(comm);
    if (rank == root)
        send_message(data, n);
    else
        receive_message(data, n);
    return MPI_SUCCESS;
}
