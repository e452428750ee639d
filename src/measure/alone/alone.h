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

#endif
