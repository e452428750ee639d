/* MPI_Pcontrol(0/1) and the programming interface, any number of times, differently on each rank,
 * with messages in flight and requests pending. Other levels are ignored. Calls made while stopped
 * are counted under their own name here, so that "calls made" has only the measured ones: the
 * macros count, `unmeasured` takes back. */
#include "program.h"

#include "latecomer.h"

static long before[TALLY_CALLS];

static void stopped(void) {
    memcpy(before, tally_count, sizeof before);
}

static void started(void) {
    memcpy(tally_count, before, sizeof before);
}

int main(int argc, char **argv) {
    int start_stopped = argc > 1 && strcmp(argv[1], "start-stopped") == 0, in = -1, index;
    long sum = 0;
    MPI_Request r[4];
    if (start_stopped)
        stopped();
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (start_stopped) {
        OK(MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        MPI_Pcontrol(7);
        MPI_Pcontrol(1);
        started();
    }
    for (int i = 0; i < 60; i++) {
        int off = i % (rank + 2) == 1, out = i * 10 + rank, got[2] = {-1, -1};
        OK(MPI_Irecv(&got[0], 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Irecv(&got[1], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : from, 2, MPI_COMM_WORLD, &r[1]));
        if (off) { /* requests are pending; the messages are sent and completed while stopped */
            if (i % 2) {
                MPI_Pcontrol(0);
                stopped();
            } else {
                stopped();
                latecomer_stop();
            }
        }
        OK(MPI_Isend(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &r[2]));
        OK(MPI_Isend(&out, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &r[3]));
        OK(MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE));
        if (i % 7 == 3)
            OK(MPI_Allreduce(&i, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        if (off && i % 2) {
            MPI_Pcontrol(1);
            started();
        } else if (off) {
            started();
            latecomer_start();
        }
        OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
        if (i % 11 == 0)
            MPI_Pcontrol(2);
        if (i % 13 == 0)
            latecomer_start(); /* already on: nothing happens */
        sum = (sum * 7 + got[0] + got[1] + in) % 1000003;
    }
    say("control %ld", sum);
    return end_program();
}
