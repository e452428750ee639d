/* The profile of all ranks, written inside MPI_Finalize. */
#ifndef LC_MEASURE_GATHER_FINALIZE_H
#define LC_MEASURE_GATHER_FINALIZE_H

/* collective if agreed, else alone if there is one rank; inside MPI_Finalize */
void lc_write_profile(void);

#endif
