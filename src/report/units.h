/* Numbers as people read them. */
#ifndef LC_REPORT_UNITS_H
#define LC_REPORT_UNITS_H

/* A time as "1.23 s", "45.6 ms" or "7.8 us", in `buffer`, which is returned. */
const char *lc_text_seconds(double seconds, char buffer[32]);

/* A positive number with three digits, with all of them before the decimal point: "0.00123",
 * "1.8", "1310". In `buffer`, which is returned. */
const char *lc_text_three_digits(double number, char buffer[32]);

double lc_text_share(double part, double whole); /* percent; 0 of nothing */

#endif
