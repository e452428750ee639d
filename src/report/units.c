#include "report/units.h"

#include <math.h>
#include <stdio.h>

const char *lc_text_seconds(double seconds, char buffer[32]) {
    double size = fabs(seconds); /* limits: what three digits round up to the next unit */
    if (size >= 999.5)
        snprintf(buffer, 32, "%.0f s", seconds);
    else if (size >= 0.9995)
        snprintf(buffer, 32, "%.3g s", seconds);
    else if (size >= 0.9995e-3)
        snprintf(buffer, 32, "%.3g ms", seconds * 1e3);
    else if (size >= 0.9995e-8)
        snprintf(buffer, 32, "%.3g us", seconds * 1e6);
    else if (size > 0.0)
        snprintf(buffer, 32, "%.3g ns", seconds * 1e9);
    else
        snprintf(buffer, 32, "0");
    return buffer;
}

const char *lc_text_three_digits(double number, char buffer[32]) {
    snprintf(buffer, 32, number >= 999.5 ? "%.0f" : "%.3g", number);
    return buffer;
}

double lc_text_share(double part, double whole) {
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}
