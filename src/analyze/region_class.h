/* What a region is for the analysis: classified once by paradigm, role and name, so that event code
 * compares small numbers. */
#ifndef LC_ANALYZE_REGION_CLASS_H
#define LC_ANALYZE_REGION_CLASS_H

#include <otf2/otf2.h>

#include "analyze/trace.h"

/* Fills fn, mpi, paradigm, role from the rest and the OTF2 values. */
void lc_region_classify(struct lc_an_region *region, OTF2_Paradigm paradigm, OTF2_RegionRole role);

/* The part of a name "MPI_Xyz", any case, without trailing "_"s, in lower case ("xyz"); false if it
 * is no such name. */
bool lc_region_mpi_name(const char *name, char *out, size_t size);

/* Barriers, locks and waiting for tasks: time in OpenMP's runtime. fn: of a region. */
bool lc_region_omp_synchronises(uint8_t fn);

/* '*' at the begin or the end of the pattern stands for anything. */
bool lc_region_matches(const char *pattern, const char *name);

#endif
