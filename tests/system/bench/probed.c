/* A library that is preloaded: probes around MPI_Allreduce by the profiling interface, calls with
 * MPI_IN_PLACE counted by themselves. Every third call, or the first PROBED_GROW_FIRST, wastes
 * PROBED_GROW_US in "grow"; every call wastes PROBED_SLOW_US (asleep with PROBED_ASLEEP). With
 * PROBED_UNBALANCED a timer stops that does not run. With PROBED_LACKS there is no MPI_Exscan;
 * with PROBED_FAILS its 71st call fails, with PROBED_DIES that of rank 1 is the end of it, and
 * each call wastes PROBED_SCAN_US. A library PROBED_LAYER (tests/unit/bench/probe_layer.c), which
 * no other one sees, counts three in every call; with PROBED_LATE it is opened by the first that
 * is measured. */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(calls) COUNTER(in_place) TIMER(grow) TIMER(inner)
#include "latecomer_probe.h"

LATECOMER_PROBE_TABLE;

static void (*layer_work)(int);

static void open_layer(void) {
    const char *file = getenv("PROBED_LAYER");
    void *layer = file != NULL ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (layer != NULL)
        layer_work = (void (*)(int))dlsym(layer, "layer_work");
}

__attribute__((constructor)) static void open_layer_early(void) {
    if (getenv("PROBED_LATE") == NULL)
        open_layer();
}

/* As many microseconds as the variable says, by the clock: nothing without it. */
static void waste(const char *variable) {
    const char *us = getenv(variable);
    if (us != NULL && getenv("PROBED_ASLEEP") != NULL)
        nanosleep(&(struct timespec){.tv_nsec = atol(us) * 1000}, NULL);
    else
        for (double end = MPI_Wtime() + (us != NULL ? atof(us) * 1e-6 : 0); MPI_Wtime() < end;)
            ;
}

static bool grows(int call) {
    const char *first = getenv("PROBED_GROW_FIRST");
    return first != NULL ? call < atoi(first) : call % 3 == 0;
}

int MPI_Allreduce(const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    static int number;
    latecomer_probe_count(latecomer_probe_calls);
    if (send == MPI_IN_PLACE)
        latecomer_probe_count(latecomer_probe_in_place);
    if (latecomer_probe_table.now >= 0 && grows(number++)) {
        latecomer_probe_start(latecomer_probe_grow);
        waste("PROBED_GROW_US");
        latecomer_probe_stop(latecomer_probe_grow);
    }
    waste("PROBED_SLOW_US");
    if (getenv("PROBED_UNBALANCED") != NULL)
        latecomer_probe_stop(latecomer_probe_grow);
    if (layer_work == NULL && latecomer_probe_table.now >= 0)
        open_layer();
    if (layer_work != NULL)
        layer_work(3);
    latecomer_probe_start(latecomer_probe_inner);
    int error = PMPI_Allreduce(send, receive, n, type, op, comm);
    latecomer_probe_stop(latecomer_probe_inner);
    return error;
}

int MPI_Exscan(const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
    static int number;
    int rank;
    if (getenv("PROBED_LACKS") != NULL)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    PMPI_Comm_rank(comm, &rank);
    waste("PROBED_SCAN_US");
    if (++number > 70 && getenv("PROBED_FAILS") != NULL)
        return MPI_ERR_OTHER;
    if (number > 70 && rank == 1 && getenv("PROBED_DIES") != NULL)
        raise(SIGKILL);
    return PMPI_Exscan(send, receive, n, type, op, comm);
}
