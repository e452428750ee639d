/* lib/probed/libmpich.so.12 has probes, as any MPI library may have: inside of its functions,
 * whether they are called as MPI_X or as PMPI_X. Included by the one file that has them. */
#ifndef SIM_PROBES_H
#define SIM_PROBES_H

#ifdef SIM_PROBED
#define LATECOMER_PROBE_LAYER            mpich
#define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(meetings) TIMER(meeting)
#include "latecomer_probe.h"
LATECOMER_PROBE_TABLE;
#define PROBED(call) (call)
#else
#define PROBED(call) ((void)0)
#endif

#endif
