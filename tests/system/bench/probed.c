/* A library that is preloaded: probes around MPI_Allreduce by the profiling interface. Every
 * seventh call wastes 50 us in "grow". */
#include <mpi.h>

#define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(calls) TIMER(grow) TIMER(inner)
#include "latecomer_probe.h"

LATECOMER_PROBE_TABLE;

int MPI_Allreduce(const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    static int number;
    latecomer_probe_count(latecomer_probe_calls);
    if (latecomer_probe_table.now >= 0 && number++ % 7 == 0) {
        latecomer_probe_start(latecomer_probe_grow);
        for (double end = MPI_Wtime() + 50e-6; MPI_Wtime() < end;)
            ;
        latecomer_probe_stop(latecomer_probe_grow);
    }
    latecomer_probe_start(latecomer_probe_inner);
    int error = PMPI_Allreduce(send, receive, n, type, op, comm);
    latecomer_probe_stop(latecomer_probe_inner);
    return error;
}
