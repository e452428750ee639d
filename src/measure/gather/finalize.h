/* The profile of all ranks, written inside MPI_Finalize. */
#ifndef LC_MEASURE_GATHER_FINALIZE_H
#define LC_MEASURE_GATHER_FINALIZE_H

struct lc_part;

/* Gathers and writes the profile, and makes the library's last messages: after all other parts. */
extern const struct lc_part lc_profile_part;

#endif
