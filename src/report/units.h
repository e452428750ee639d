/* Numbers as people read them. */
#ifndef LC_REPORT_UNITS_H
#define LC_REPORT_UNITS_H

/* A time as "1.23 s", "45.6 ms" or "7.8 us", in `buffer`, which is returned. */
const char *lc_text_seconds(double seconds, char buffer[32]);

double lc_text_share(double part, double whole); /* percent; 0 of nothing */

#endif
