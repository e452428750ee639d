/* Constructs of OpenMP in what-if scenarios (`!$omp task @solve.c:12=0.5`): the library inside the
 * program knows addresses only, and gets those of the lines with the environment. */
#ifndef LC_RUN_WHAT_IF_PLACES_H
#define LC_RUN_WHAT_IF_PLACES_H

/* Sets LATECOMER_WHAT_IF_PLACES (`solve.c:12=0x1200-0x1234,0x1300-0x1310;..`) for the scenarios of
 * `spec` and the program's own file; NULL: there are none. */
void lc_run_set_places(const char *program, const char *spec);

#endif
