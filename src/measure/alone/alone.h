/* Begin and end of a measurement without MPI: the whole life of the process is one measured
 * interval of one rank. */
#ifndef LC_MEASURE_ALONE_ALONE_H
#define LC_MEASURE_ALONE_ALONE_H

#include <stdint.h>

/* What MPI_Init is for MPI programs; with the calling thread as the first location. begin: ticks of
 * the start of the process. */
void lc_alone_begin(uint64_t begin);
/* What MPI_Finalize is: writes the profile. At the end of the process; nothing if it is a child. */
void lc_alone_end(void);

/* The core of programs without MPI is the same code as that of MPI programs, above an MPI of one
 * process: what the core itself calls through lc_real, and nothing else. Collective operations
 * copy, messages do not exist. */

/* Fills lc_real with functions that act as MPI does in a job of one process. */
void lc_one_process(void);

#endif
