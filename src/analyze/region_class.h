/* What a region is for the analysis: classified once by paradigm, role and name, so that event code
 * compares small numbers. */
#ifndef LC_ANALYZE_REGION_CLASS_H
#define LC_ANALYZE_REGION_CLASS_H

#include <otf2/otf2.h>

#include "analyze/trace.h"

/* Fills fn, mpi, sampled, outlined, paradigm, role from the rest and the OTF2 values. */
void lc_region_classify(struct lc_an_region *region, OTF2_Paradigm paradigm, OTF2_RegionRole role);

/* Barriers, locks and waiting for tasks: time in OpenMP's runtime. fn: of a region. */
bool lc_region_omp_synchronises(uint8_t fn);

#endif
