/* Which metrics of an analysis are delay costs of the model `proportional`. */
#ifndef LC_REPORT_DELAY_COSTS_H
#define LC_REPORT_DELAY_COSTS_H

#include <stdbool.h>

/* "delay_<kind>" or "delay_<kind>_longterm"; not the sums of several kinds. */
bool lc_is_delay_cost(const char *metric, bool *longterm);

#endif
