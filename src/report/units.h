/* Numbers as people read them. */
#ifndef LC_REPORT_UNITS_H
#define LC_REPORT_UNITS_H

/* "1.23 s", "45.6 ms", "7.8 us" */
const char *lc_text_seconds(double seconds, char buffer[32]);

double lc_text_share(double part, double whole); /* percent; 0 of nothing */

#endif
