/* Numbers of options have a point. The library lives in programs that may have chosen a locale with
 * a comma (setlocale(LC_ALL, "") in Germany or France), which strtod follows. */
#ifndef LC_BASE_C_NUMBERS_H
#define LC_BASE_C_NUMBERS_H

#include <locale.h>
#include <stdlib.h>

/* As strtod in the locale "C", whose object is constant and nobody's to free. */
static inline double lc_strtod(const char *text, char **end) {
    locale_t given = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    double value = strtod(text, end);
    uselocale(given);
    return value;
}

#endif
