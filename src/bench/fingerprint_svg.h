/* The fingerprint as a sheet to print, after the figures 4.16 to 4.18 of [Roth 2021]: one SVG of A4
 * size that needs nothing else; a browser makes a PDF of it. Others have details and phases. */
#ifndef LC_BENCH_FINGERPRINT_SVG_H
#define LC_BENCH_FINGERPRINT_SVG_H

#include "bench/fingerprint.h"

/* Writes the file, first under another name. LC_ERR_IO, LC_ERR_NOMEM. */
enum lc_err lc_fingerprint_svg(const struct lc_fingerprint *f, const char *file);

/* The second sheet: the run time of each rank, the four counters that go with the run time most
 * (over repetitions, against the run time, coefficients), all parameters, on as many pages as they
 * take. LC_ERR_IO, LC_ERR_NOMEM. */
enum lc_err lc_details_svg(const struct lc_fingerprint *f, const char *file);

/* The third sheet: the metrics of the warm-up and their changes, modes, patterns. LC_ERR_IO,
 * LC_ERR_NOMEM. */
enum lc_err lc_phases_svg(const struct lc_fingerprint *f, const char *file);

#endif
