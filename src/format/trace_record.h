/* Raw trace streams: what the measurement library leaves behind while the program runs, in shared
 * memory and, when that is full, in files; the parent of the program (src/trace) turns them into
 * OTF2 after the program ended.
 *
 * Nouns
 *   area     one block of memory shared with the parent: header, table of streams, chunks
 *   stream   the records of one thread, in order; one more holds definitions (trace_defs.h)
 *   chunk    LC_TRACE_CHUNK_BYTES of the area, linked into one stream; full ones are written to the
 *            stream's file if no chunk is free
 *   record   1 to 4 words of 64 bits; the top byte of the first is its kind
 *   node     a node of the library's call tree (state.h): the call path of a call is the chain of
 *            nodes up to the root
 *
 * Invariants: a record never lies in two chunks; `next` moves only after complete records, so a
 * stream can be read at any time, also after kill -9; times are ticks since the area's base and
 * never decrease within a stream; no pointer of the program is followed by a reader. Records
 * without a time happen at the time of the last timed record before them. */
#ifndef LC_FORMAT_TRACE_RECORD_H
#define LC_FORMAT_TRACE_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

/* Words, and what is in them: T = ticks (56 bits), R = request (56 bits), CP = 24 bits communicator
 * or window, 32 bits rank in it. */
enum lc_rec_kind {
    /* T; node | common << 32: an MPI call begins; `common` frames of its path are those of the last
     * one */
    LC_REC_CALL = 1,
    /* T: the call is over; what it completed follows, up to the next record with a time */
    LC_REC_EXIT,
    LC_REC_REGION_IN,  /* T; node | common << 32: a region begins */
    LC_REC_REGION_OUT, /* T: the innermost region ends */
    LC_REC_SEND,       /* CP; tag; bytes */
    LC_REC_ISEND,      /* CP; tag; bytes; request */
    LC_REC_RECV,       /* CP; tag; bytes */
    /* CP; tag | number of the window that was open when it was posted << 32; bytes; request: it is
     * complete */
    LC_REC_IRECV,
    LC_REC_IRECV_POST, /* R */
    LC_REC_ISEND_DONE, /* R */
    LC_REC_TESTED,     /* R: and found incomplete */
    LC_REC_CANCELLED,  /* R */
    LC_REC_DROPPED,    /* R: a receive is complete that is left out by its size */
    LC_REC_COLL,  /* C, root; operation << 56 | bytes sent; bytes received: ends with the call */
    LC_REC_ICOLL, /* C, root; operation << 56 | bytes sent; bytes received; request: starts */
    LC_REC_ICOLL_DONE, /* R */
    LC_REC_HANDLE, /* C, 1 for destruction: the call makes or frees handles, collectively over C */
    LC_REC_COMM_MADE,  /* C */
    LC_REC_COMM_FREED, /* C */
    LC_REC_WIN_MADE,   /* C */
    LC_REC_WIN_FREED,  /* C */
    LC_REC_RMA_COLL,   /* C; operation << 56 | level: ends with the call */
    LC_REC_RMA_PUT,    /* CP; bytes; 0 */
    LC_REC_RMA_GET,    /* CP; bytes; 0 */
    LC_REC_RMA_ATOMIC, /* CP; bytes sent; 0; type << 56 | bytes received */
    LC_REC_RMA_DONE,   /* CP, all ones for any rank; 0: operations there are complete */
    LC_REC_RMA_LOCK,   /* CP; enum lc_rec_lock | shared << 8 */
    LC_REC_RMA_GROUP,  /* C, group; level */
    LC_REC_RMA_SYNC,   /* CP; type */
    LC_REC_IO_OPEN,    /* file, modes (see below) */
    LC_REC_IO_CLOSE,   /* file */
    LC_REC_IO_DELETE,  /* string */
    LC_REC_IO_BEGIN,   /* file, mode | flags << 8; bytes; number of the operation */
    LC_REC_IO_ISSUED,  /* file; number */
    LC_REC_IO_TESTED,  /* file; number */
    LC_REC_IO_DONE,    /* file; bytes; number */
    LC_REC_IO_SEEK,    /* file, whence; offset asked for; offset reached */
    LC_REC_PHASE,      /* T; string */
    LC_REC_ON,         /* T */
    LC_REC_OFF,        /* T */
    LC_REC_FLUSH,      /* T; T of its end: the library wrote chunks to a file */
    LC_REC_END,        /* T: end of the location */
    /* OpenMP; N = node; K = task: its creator's thread << 40 | number there, 0: an implicit one */
    LC_REC_OMP_WORKER,   /* T: first record of a thread that the runtime made */
    LC_REC_OMP_FORK,     /* T; threads asked for */
    LC_REC_OMP_JOIN,     /* T */
    LC_REC_OMP_TEAM,     /* T; N | team << 32; teams that this thread is in, before */
    LC_REC_OMP_TEAM_END, /* T */
    LC_REC_OMP_IN,       /* T; N: a construct begins */
    LC_REC_OMP_OUT,      /* T; N */
    LC_REC_OMP_ACQUIRE,  /* T; lock << 32 | order; N of the block that begins, 0: none */
    LC_REC_OMP_RELEASE,  /* the same; of the block that ends | N of its construct << 32 */
    LC_REC_OMP_CREATE,   /* T; K; N: a task */
    LC_REC_OMP_SWITCH,   /* T; K; N: the thread goes on with a task */
    LC_REC_OMP_DONE,     /* T; K: it is complete */
    LC_REC_WINDOW,       /* T; number, from 1: a stretch begins; it ends with LC_REC_OFF */
    /* T; N | enum lc_rec_generator << 32: a sample of the code between two events, before the
     * second of them */
    LC_REC_SAMPLE,
    LC_REC_KINDS
};

enum lc_rec_lock { LC_REC_LOCK_ACQUIRE, LC_REC_LOCK_RELEASE };

/* What took a sample: a clock of the thread's time on the processor whose period is that of the
 * run (struct lc_def_process) times 2 to the power of this number, or the scheduler: the thread has
 * left the processor, in the node that says so, or has come back, in another node. */
enum lc_rec_generator { LC_REC_CLOCK, LC_REC_CLOCK_LAST = 6, LC_REC_SCHEDULER, LC_REC_GENERATORS };

/* The second half of LC_REC_IO_OPEN: OTF2_IoAccessMode | OTF2_IoCreationFlag << 8 |
 * OTF2_IoStatusFlag << 20. */
enum { LC_REC_OPEN_CREATION = 8, LC_REC_OPEN_STATUS = 20 };

/* Roots that are no rank. */
#define LC_REC_ROOT_NONE 0xffffffffu
#define LC_REC_ROOT_SELF 0xfffffffeu /* MPI_ROOT of an intercommunicator */
#define LC_REC_ROOT_OTHERS                                                                         \
    0xfffffffdu /* MPI_PROC_NULL: a member of the root's group that takes no part */

#define LC_REC_OMP_TEAMS 65536u /* of a process: by the thread that forks them, and how deep */

#define LC_TRACE_MAGIC       0x4c43545241434531ull
#define LC_TRACE_CHUNK_BYTES 65536u
#define LC_TRACE_STREAMS     8192u
#define LC_TRACE_NO_CHUNK    0xffffffffu

enum lc_trace_stream_state {
    LC_STREAM_UNUSED,
    LC_STREAM_OPEN,
    LC_STREAM_STOPPED,
    LC_STREAM_CLOSED
};

struct lc_trace_stream {
    uint64_t *next, *limit; /* where the program writes next; end of the room of the last chunk */
    uint64_t base_ticks;    /* copy of the area's */
    uint32_t thread; /* number of the thread in its process; LC_TRACE_DEFS for the definitions */
    uint32_t first_chunk, last_chunk;
    _Atomic uint32_t state;
    uint64_t flushed_bytes; /* already in the file */
    uint64_t lost_records;
    uint64_t begin_ticks;           /* since base */
    uint64_t min_bytes, more_bytes; /* messages are recorded if bytes - min_bytes <= more_bytes */
    /* the program's own: the window that is open in it, 0: none; when the last one was closed,
     * ticks, 0: there was none; whether the thread is the runtime's of OpenMP */
    uint64_t window, closed_ticks, worker;
    uint64_t unused[2];
};
#define LC_TRACE_DEFS 0xffffffffu

struct lc_trace_chunk {
    uint32_t next;       /* chunk of the same stream, or of the list of free ones */
    uint32_t used_words; /* of a full one; the last chunk of a stream: see its `next` */
    uint64_t unused[7];
    uint64_t words[LC_TRACE_CHUNK_BYTES / 8 - 8];
};
#define LC_TRACE_CHUNK_WORDS (LC_TRACE_CHUNK_BYTES / 8 - 8)

struct lc_trace_area {
    uint64_t magic;         /* written last */
    uint64_t self;          /* address of this struct in the program */
    uint64_t bytes;         /* of the area */
    uint64_t chunks_offset; /* of the first chunk */
    uint64_t base_ticks;
    uint32_t n_chunks;
    _Atomic uint32_t n_streams;
    _Atomic uint32_t fresh_chunk; /* first chunk never used */
    _Atomic uint32_t free_chunk;  /* list of chunks given back */
    _Atomic uint32_t finalized;   /* definitions are unified */
    int32_t rank, size;
    uint32_t flush_failed; /* errno of the first failure */
    uint64_t n_flushes;
    uint32_t on_full_stop, context; /* options */
    uint32_t n_global_comms;        /* communicators of all ranks together, once finalized */
    _Atomic uint32_t lost_threads;  /* no stream was free for them */
    struct lc_trace_stream defs;
    struct lc_trace_stream streams[LC_TRACE_STREAMS];
};

static inline uint64_t lc_rec_word(enum lc_rec_kind kind, uint64_t payload) {
    return (uint64_t)kind << 56 | (payload & 0x00ffffffffffffffull);
}

static inline uint64_t lc_rec_pair(enum lc_rec_kind kind, uint32_t comm, uint32_t peer) {
    return (uint64_t)kind << 56 | (uint64_t)(comm & 0xffffffu) << 32 | peer;
}

static inline enum lc_rec_kind lc_rec_kind_of(uint64_t word) {
    return (enum lc_rec_kind)(word >> 56);
}

static inline uint64_t lc_rec_payload(uint64_t word) {
    return word & 0x00ffffffffffffffull;
}

static inline uint32_t lc_rec_comm(uint64_t word) {
    return (uint32_t)(word >> 32) & 0xffffffu;
}

static inline uint32_t lc_rec_peer(uint64_t word) {
    return (uint32_t)word;
}

/* Words of a record, 0 for an unknown kind. */
static inline unsigned lc_rec_words(enum lc_rec_kind kind) {
    static const uint8_t more[LC_REC_KINDS] = {
        /* after the first */
        [LC_REC_CALL] = 1,        [LC_REC_REGION_IN] = 1,   [LC_REC_SEND] = 2,
        [LC_REC_ISEND] = 3,       [LC_REC_RECV] = 2,        [LC_REC_IRECV] = 3,
        [LC_REC_COLL] = 2,        [LC_REC_ICOLL] = 3,       [LC_REC_RMA_COLL] = 1,
        [LC_REC_RMA_PUT] = 2,     [LC_REC_RMA_GET] = 2,     [LC_REC_RMA_ATOMIC] = 3,
        [LC_REC_RMA_DONE] = 1,    [LC_REC_RMA_LOCK] = 1,    [LC_REC_RMA_GROUP] = 1,
        [LC_REC_RMA_SYNC] = 1,    [LC_REC_PHASE] = 1,       [LC_REC_FLUSH] = 1,
        [LC_REC_IO_BEGIN] = 2,    [LC_REC_IO_ISSUED] = 1,   [LC_REC_IO_TESTED] = 1,
        [LC_REC_IO_DONE] = 2,     [LC_REC_IO_SEEK] = 2,     [LC_REC_OMP_FORK] = 1,
        [LC_REC_OMP_TEAM] = 2,    [LC_REC_OMP_IN] = 1,      [LC_REC_OMP_OUT] = 1,
        [LC_REC_OMP_ACQUIRE] = 2, [LC_REC_OMP_RELEASE] = 2, [LC_REC_OMP_CREATE] = 2,
        [LC_REC_OMP_SWITCH] = 2,  [LC_REC_OMP_DONE] = 1,    [LC_REC_WINDOW] = 1,
        [LC_REC_SAMPLE] = 1,
    };
    return (unsigned)kind > 0 && (unsigned)kind < LC_REC_KINDS ? 1u + more[kind] : 0;
}

#endif
