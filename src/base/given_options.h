/* Options of the command line travel to the program as environment variables, named in
 * LATECOMER_GIVEN (run/run_options.h). Where nothing is measured, and when measurement begins, they
 * are taken back: what the program starts sees none. */
#ifndef LC_BASE_GIVEN_OPTIONS_H
#define LC_BASE_GIVEN_OPTIONS_H

#include <stdlib.h>
#include <string.h>

static inline void lc_given_options_take_back(void) {
    const char *given = getenv("LATECOMER_GIVEN");
    char *list = given != NULL ? strdup(given) : NULL, *save = NULL;
    for (char *name = list != NULL ? strtok_r(list, ":", &save) : NULL; name != NULL;
         name = strtok_r(NULL, ":", &save))
        unsetenv(name);
    free(list);
    unsetenv("LATECOMER_GIVEN");
}

#endif
