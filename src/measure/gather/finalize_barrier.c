/* The last of our own messages, before MPI's own MPI_Finalize.
 *
 * MPICH (4.0) over UCX and TCP ends with a flush of each connection that this process has sent
 * through, which the other end must acknowledge, and then with a barrier of the launcher (PMI), in
 * which nobody acknowledges anything. A rank that enters the barrier before another one has asked
 * for its acknowledgement leaves that one waiting for good. Programs do so on their own (about half
 * of the runs of "MPI_Barrier, MPI_Finalize" of 4 ranks on 3 hosts hang), but one that sent nothing
 * must not because of us. So the last exchange is made such that it hardly happens:
 *   1. every pair has sent in both directions, so that nobody is through before it has received
 *      from everybody;
 *   2. nobody answers between the last message and the begin of MPI_Finalize (all are asleep, for
 *      longer than it takes to leave the last operation), so that whoever is answered
 *      knows that the other one has entered, too;
 *   3. a rank that enters asks on all connections before it answers. Its question precedes its
 *      answer on the same connection, so it is read, and answered, before the other one is through.
 */
#include <string.h>
#include <time.h>

#include "measure/core/core.h"
#include "measure/gather/finalize_barrier.h"

enum { PART_TAG = 0x4c34, PART_RANKS_MAX = 1024, PART_QUIET_MS = 20 };

static bool needs_it(void) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (!lc_core.agreed || !lc_core.several_nodes || lc_core.size > PART_RANKS_MAX)
        return false;
    lc_real.Get_library_version(library, &length);
    return strstr(library, "MPICH") != NULL && strstr(library, "ucx") != NULL;
}

static void each_with_each(void) {
    int n = lc_core.size, me = lc_core.rank;
    for (int k = 1; k < n; k++) {
        char out = 0, in = 0;
        lc_real.Sendrecv(&out, 1, MPI_BYTE, (me + k) % n, PART_TAG, &in, 1, MPI_BYTE,
                         (me - k + n) % n, PART_TAG, lc_core.comm, MPI_STATUS_IGNORE);
    }
}

void lc_finalize_barrier(void) {
    if (!needs_it())
        return;
    each_with_each();
    lc_real.Barrier(lc_core.comm);
    nanosleep(&(struct timespec){.tv_nsec = PART_QUIET_MS * 1000000L}, NULL);
}
