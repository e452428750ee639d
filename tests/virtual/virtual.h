/* Virtual time for MPI programs of tests: a library with the name of the MPI that stands before
 * the real one (a copy with another name, see build.py). For the tool it is the MPI, so it sees
 * every call between the tool's two stamps; what moves data or synchronises carries clocks:
 *
 *   a nap of the program    its length; nobody sleeps
 *   a read of the clock     1 ns by the program, so that loops with a limit end; code costs nothing
 *   a message               receiver: max(own, sent + 1 us)
 *   a partitioned message   sent when the last partition is ready
 *   a send that waits       max(own, receive posted + 1 us): synchronous sends, and standard ones
 *                           of more than VT_EAGER bytes
 *   barrier, all to all, constructors, fences, collective file operations
 *                           max(of all) + 1 us
 *   one to all, all to one  as a message from the root; root: max(of all) + 1 us
 *   scans, alltoallv, neighbourhoods
 *                           as messages, from those only whose data comes here
 *   windows                 complete: posts + 1 us; wait: completions + 1 us; unlock: a
 *                           conflicting epoch has ended + 1 us
 *   probes, lock, flush, put nothing: the receive, or the end of the epoch, is what waits
 *
 * Messages carry a head in front of their data (of one derived datatype), so that clock and data
 * are matched by MPI itself; statuses show the data alone. What a test call finds has arrived by
 * the virtual clock. All ranks begin at the same time after MPI_Init. A function without a rule
 * ends the program with its name.
 *
 * Each thread has a clock, inherited from who made it, and handed over when it is joined. Only
 * the program itself naps in virtual time; program and liblatecomer.so read it by
 * CLOCK_MONOTONIC_RAW, the program alone by CLOCK_MONOTONIC; everybody else has the true time.
 * The tool's CLOCK_MONOTONIC, for its limits of patience, is the true time made VT_PATIENCE times
 * slower: with busy cores, records that it waits for take longer.
 *
 * Work takes no true time, either: where the tool has true time to note something only
 * because others work on, virtual time is no judge (constructed_waits.py: BY_TRUE_CLOCK).
 *
 *   callers.c    who calls
 *   clock.c      clocks, naps, threads
 *   channels.c   what belongs to a communicator, window or file; clocks of collective operations
 *   messages.c   point to point: heads, replies, probes
 *   requests.c   what is known of requests (ops.h), completion
 *   windows.c    windows
 *   gen_rules.py collective operations, constructors and files, and all that has no rule; from the
 *                table of MPI calls of the measurement library */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "time_rules.h"

enum { VT_PATIENCE = 10 };

/* Of this thread. */
uint64_t vt_now(void);
void vt_later(uint64_t at); /* the clock shows this time at least */
void vt_begin(void);        /* MPI_Init is over */

/* The function of the real MPI. Within it the MPI may call itself by names that end here: such
 * calls are left alone. */
extern _Thread_local int vt_inside;
/* Who ended an epoch of a lock lets others end theirs at its next call only: the tool has noted it
 * then. */
extern _Thread_local bool vt_keeps_lock;
void vt_pass_lock_on(void);
void *vt_real(const char *name);
#define REAL(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(&name) real_;                                                            \
        if (real_ == NULL)                                                                         \
            real_ = (__typeof__(&name))vt_real(#name);                                             \
        real_;                                                                                     \
    })
#define INSIDE(call)                                                                               \
    ({                                                                                             \
        if (vt_keeps_lock && vt_inside == 0)                                                       \
            vt_pass_lock_on();                                                                     \
        vt_inside++;                                                                               \
        __auto_type result_ = call;                                                                \
        vt_inside--;                                                                               \
        result_;                                                                                   \
    })
#define CALL(name, ...) INSIDE(REAL(name)(__VA_ARGS__))
/* The head of a function of both names: MPI_X is PMPI_X. */
#define BOTH(name)                                                                                 \
    __typeof__(P##name) name __attribute__((alias("P" #name)));                                    \
    int P##name

/* Ends the program: what has no rule here. */
_Noreturn void vt_unknown(const char *what);

/* A communicator, or what has the members of one (window, file). */
struct vt_channel {
    MPI_Comm shadow; /* our own, same members */
    int rank, size;  /* size: of those that messages go to */
    bool inter;
    bool tools;   /* of the measurement library: its messages carry no clocks, collectives do */
    bool file;    /* MPICH moves these on in MPI_Wait and MPI_Test only */
    MPI_Win ends; /* of a window: when epochs of locks ended, see windows.c */
};

struct vt_channel *vt_channel(MPI_Comm comm);      /* NULL: none */
struct vt_channel *vt_channel_of_win(MPI_Win win); /* the same for windows */
struct vt_channel *vt_channel_of_file(MPI_File file);
/* By the members of comm; collective. */
void vt_channel_add(MPI_Comm comm, bool tools);
void vt_channel_add_shadow(MPI_Comm comm, MPI_Comm shadow);
void vt_channel_add_win(MPI_Comm comm, MPI_Win win);
void vt_channel_add_file(MPI_Comm comm, MPI_File file);
void vt_channel_drop(const struct vt_channel *channel);

/* Whose clocks count in a collective operation. */
enum vt_rule {
    VT_ALL,
    VT_ALL_GROUPS, /* of an intercommunicator: also of the own group */
    VT_FROM_ROOT,
    VT_TO_ROOT,
    VT_BELOW,
    VT_PARTNERS, /* who sends something here, by counts of each */
    VT_NEIGHBOURS,
    VT_NONE /* nobody's */
};

struct vt_exchange {
    const struct vt_channel *channel;
    enum vt_rule rule;
    int root, n;
    uint64_t mine, *all;
    bool *partner;
    MPI_Request request;
};

void vt_exchange_start(struct vt_exchange *x, const struct vt_channel *channel, enum vt_rule rule,
                       int root, const int *counts);
bool vt_exchange_done(struct vt_exchange *x);         /* no more than a look */
uint64_t vt_exchange_at(const struct vt_exchange *x); /* what the clock has to show then */
void vt_exchange_free(struct vt_exchange *x);

/* A blocking collective operation, before it: waits until all have come. No channel: nothing. */
void vt_meet(const struct vt_channel *channel, enum vt_rule rule, int root, const int *counts);
/* A nonblocking one, after it: its request carries the clocks. */
int vt_started(int result, const struct vt_channel *channel, enum vt_rule rule, int root,
               const int *counts, const MPI_Request *request);
/* After a constructor; met: it was collective over a communicator that exists. */
int vt_made(int result, MPI_Comm local, const MPI_Comm *made, bool met, bool tools);

/* Collective operations of files in two halves. */
void vt_split_begin(MPI_File file);
void vt_split_end(MPI_File file);

/* A message of one clock on the shadow communicator. */
void vt_tell(const struct vt_channel *channel, int to, int tag, uint64_t at);
uint64_t vt_hear(const struct vt_channel *channel, int from, int tag);
void vt_told_all(void); /* before MPI_Finalize */

/* What a thread does while it waits: answers senders that wait for receives of this process. */
void vt_serve(int turn);

/* Tags of the shadow communicator: numbers of replies are smaller. */
enum { VT_TAG_POST = 30001, VT_TAG_COMPLETE, VT_TAG_PARTS = 40000, VT_REPLIES = 30000 };

#endif
