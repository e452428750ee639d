/* The wrappers, in the order of mpi_functions.tsv. */
#ifndef LC_MEASURE_WRAPPERS_WRAPPERS_H
#define LC_MEASURE_WRAPPERS_WRAPPERS_H

struct lc_wrapper {
    void *function;
    void **real;
};
extern const struct lc_wrapper lc_wrappers[];

#endif
