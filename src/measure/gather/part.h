/* The last of our own messages, before MPI ends. */
#ifndef LC_MEASURE_GATHER_PART_H
#define LC_MEASURE_GATHER_PART_H

/* the last of our own messages, after which all enter MPI_Finalize; collective if agreed */
void lc_part(void);

#endif
