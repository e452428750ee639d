/* The core of programs without MPI is the same code as that of MPI programs, above an MPI of one
 * process: what the core itself calls through lc_real, and nothing else. Collective operations
 * copy, messages do not exist. */
#ifndef LC_MEASURE_ALONE_ONE_PROCESS_H
#define LC_MEASURE_ALONE_ONE_PROCESS_H

/* Fills lc_real with functions that act as MPI does in a job of one process. */
void lc_one_process(void);

#endif
