/* The state of one measured process, in memory shared with its parent: every counter lives here, so
 * that the parent can make a profile of it at any time, also after kill -9. Written by the
 * measurement library (measure/core/state_write.h), read by lc_state_snapshot.
 *
 * Nouns
 *   header   the first page: who, when, how it ended, and where the tables are (offsets from the
 *            start of the mapping)
 *   table    array of fixed capacity; entries are complete before the count that covers them is
 *            raised (release)
 *   thread   a location: life in ticks and a list of row chunks
 *   row      the sums of one (node, thread, size class, flags), written by its own thread only; a
 *            reader sees each word whole, but may see a call half booked
 *
 * Invariants: no pointers, only offsets; the file is sparse, what is not used takes no memory;
 * nothing ever moves. */
#ifndef LC_FORMAT_STATE_H
#define LC_FORMAT_STATE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "format/raw.h"

#define LC_STATE_MAGIC   0x4c43535441544531ull
#define LC_STATE_VERSION 13u

enum lc_state_ending {
    LC_ENDING_NONE,     /* still running, or died without a word */
    LC_ENDING_FINALIZE, /* MPI_Finalize wrote the profile */
    LC_ENDING_EXIT,     /* the process ends without MPI_Finalize */
    LC_ENDING_ABORT,    /* MPI_Abort; ending_code is its argument */
    LC_ENDING_SESSIONS, /* MPI was used through sessions only, and all are finalized */
    LC_ENDING_ALONE     /* MPI_Finalize, but each rank was measured alone: nothing was gathered */
};

enum lc_state_measured {
    LC_STATE_UNUSED, /* no MPI call yet */
    LC_STATE_MEASURED,
    LC_STATE_UNMEASURED /* switched itself off; `why` says so */
};

struct lc_state_peer { /* a rank of the same node; its state is /proc/<pid>/fd/<fd> */
    int32_t rank;
    int32_t pid; /* of the parent that holds the memory; 0 if unknown */
    int32_t fd;
    int32_t unused;
};

struct lc_state_table {
    uint64_t offset;
    uint32_t capacity; /* entries (text: bytes) */
    _Atomic uint32_t count;
};

struct lc_state_header {
    uint64_t magic; /* written last, when the rest is valid */
    uint32_t version, header_bytes;
    _Atomic int32_t pid; /* the measured process; 0 until one claims the state */
    int32_t rank, size;  /* -1 before MPI_Init */
    uint64_t pid_space;  /* the name space in which pid is its number; 0: not known */
    uint32_t flavour;    /* enum lc_flavour */
    _Atomic uint32_t ending, measured;
    int32_t ending_code;
    int32_t thread_level;
    uint64_t begin_ns, init_ns, finalize_ns, end_ns; /* CLOCK_MONOTONIC_RAW; 0: not yet */
    uint64_t begin_realtime_ns;
    uint64_t start_ns;  /* what the tool took of the process until it was let out of MPI_Init */
    uint64_t finish_ns; /* and in MPI_Finalize, once all ranks had come there */
    uint64_t base_ticks, base_ns; /* the same instant on both clocks */
    uint32_t by_counter;          /* ticks are the processor's counter */
    _Atomic uint32_t has_file;    /* the parent has the program's file open */
    uint64_t capacity;            /* bytes of the mapping, without what is reserved at its end */
    _Atomic uint64_t used;        /* bytes handed out from the pool of row chunks */
    _Atomic uint64_t lost;        /* calls that could not be booked for lack of memory */
    _Atomic uint64_t waits;       /* offset of the newest struct lc_state_wait, 0: none */
    _Atomic uint64_t costs; /* offset of struct lc_state_costs; 0: none, or in waits already */
    struct lc_state_table modules, names, nodes, threads, peers, text;
    char host[64];
    char mpi[64];  /* "MPICH 4.0.2", as it says itself */
    char why[384]; /* why it is unmeasured */
    /* MPI sees this rank alone, though the launcher has started several: it has a directory of its
     * own, that of the job with `apart` added. */
    _Atomic uint32_t is_apart;
    char apart[28];
    /* Set by the parents: */
    _Atomic uint32_t saved;       /* the result of this rank is in a file */
    _Atomic uint32_t whole_saved; /* rank 0: the result of all ranks is */
    /* pid of the parent that writes, in the state of the lowest rank of the node */
    _Atomic uint32_t writer;
    _Atomic uint64_t process_end_ns; /* CLOCK_MONOTONIC_RAW */
    _Atomic int32_t wait_status;
    _Atomic uint32_t leaving;        /* its parent is ready to end as its program did */
    _Atomic int32_t passed_signal;   /* the last signal that its parent passed on to the program */
    _Atomic uint32_t taking_signals; /* its parent takes some, and may be about to pass one on */
    _Atomic uint64_t first_end_ns;   /* of the programs of this node, and when its parent leaves */
    _Atomic uint64_t first_leave_ns;
    uint64_t trace_offset, trace_bytes; /* event streams; 0: no trace */
};

struct lc_state_module {
    uint32_t path, build_id; /* offsets in text */
    uint64_t bias;           /* run-time address - ELF address */
};

struct lc_state_name {
    uint32_t text;
};

struct lc_state_node { /* as lc_raw_node; ref of node 0: 1 + name of the executable's id, 0: none */
    uint32_t parent, kind, ref, flags;
    uint64_t offset;
    uint64_t call_site;
};

struct lc_state_thread { /* a cache line of its own: two words of it are written in every call */
    int32_t tid;
    uint32_t index;
    uint64_t begin_ticks, end_ticks; /* end 0: alive */
    _Atomic uint64_t chunks;         /* offset of the newest chunk, 0: none */
    _Atomic uint64_t call_begin;     /* ticks; the MPI call in progress, 0: none */
    _Atomic uint32_t call_node;      /* where */
    uint32_t unused;
    uint64_t idle_ticks; /* between the end of a thread and the begin of the one in its place */
    uint32_t unused_too[2];
};

struct lc_state_chunk { /* 64 bytes, then rows */
    uint64_t next;      /* older chunk */
    uint32_t thread;
    _Atomic uint32_t n_rows;
    uint64_t unused[6];
};
enum { LC_STATE_CHUNK_ROWS = 63, LC_STATE_CHUNK_BYTES = 4096 };

struct lc_state_row { /* one cache line; times in ticks */
    uint32_t node;
    uint8_t size_class, flags;
    uint16_t comm_size; /* LC_RAW_ROW_COMM_SHIFT */
    uint64_t count, sum, min, max;
    uint64_t bytes_sent, bytes_rcvd;
    uint64_t synced;
};

enum lc_state_wait_what { /* of a struct lc_state_wait */
                          /* ticks, or counts: lc_raw_measured */
                          LC_STATE_WAIT_TIMES,
                          /* row `index` of the blame table: node waited ticks[0] ... */
                          LC_STATE_WAIT_BLAME,
                          LC_STATE_WAIT_LATE, /* ... for this node of this rank */
                          LC_STATE_WAIT_LOOP, /* loop `index` of pop.iterations is in this node */
                          /* row `index` of the costs: this node costs others ticks[0] directly, */
                          LC_STATE_WAIT_COST,
                          LC_STATE_WAIT_PASSED, /* and so much indirectly */
                          /* outlier `index` % 8 of loop `index` / 8: what took longer */
                          LC_STATE_WAIT_SLOW,
                          /* what the run gains without this node as a cause, of scenario `index`:
                             ticks[0], at least ticks[1], at most ticks[2], of the excess ticks[3];
                             index % 3: late rank, all ranks even, or no chain */
                          LC_STATE_WAIT_GAIN,
                          /* row `index` of the costs: root of the sum of squares of its waits */
                          LC_STATE_WAIT_SPREAD,
                          /* row `index` of the blame table: at most so much more */
                          LC_STATE_WAIT_MORE,
                          /* row `index` of the blame table: as SPREAD */
                          LC_STATE_WAIT_BLAME_SPREAD
};
enum { LC_STATE_WAIT_KINDS = LC_RAW_MEASURED };

struct lc_state_wait { /* what the logical clocks found about one call path of one thread */
    uint64_t next;     /* older one */
    uint32_t node, thread;
    uint32_t what;
    uint32_t late_thread; /* LATE: 1 + the thread that was late; 0: the rank as a whole */
    uint64_t index;
    uint64_t ticks[LC_STATE_WAIT_KINDS];
    /* LATE, COST, critical path: the call sites (ELF addresses, 0 unknown) between which most of
     * the node's time was spent */
    uint64_t sites[2];
    uint64_t unused[7]; /* a multiple of 64 bytes */
};
_Static_assert(sizeof(struct lc_state_wait) % 64 == 0, "records begin at multiples of 64 bytes");

/* What the process has waited until now, by the code that is to blame: for readers while it runs,
 * or when it has died. MPI_Finalize adds up those of all ranks (LC_STATE_WAIT_COST). */
struct lc_state_cost {
    _Atomic uint64_t code;             /* 1 + (late rank << 32 | node of its call tree); 0: free */
    _Atomic uint64_t direct, indirect; /* ticks */
};
enum { LC_STATE_COSTS = 256 };
struct lc_state_costs {
    struct lc_state_cost rows[LC_STATE_COSTS]; /* by a hash of their code, or behind it */
};

/* Adds what the state holds to `out` (made with lc_raw_new): definitions, one location per thread,
 * rows in ns. Threads that still live end at `end_ns` (CLOCK_MONOTONIC_RAW; 0: now) unless the
 * header knows the end of the process. The exclusive time of the root is the rest of each
 * location's life. The state may be written meanwhile, and may be garbage: every offset is checked.
 * LC_ERR_FORMAT: not a state; LC_ERR_NOT_FOUND: no process has claimed it. */
enum lc_err lc_state_snapshot(const void *map, size_t bytes, uint64_t end_ns, struct lc_raw *out);

#endif
