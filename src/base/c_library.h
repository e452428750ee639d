/* Files of the C library, by their names. */
#ifndef LC_BASE_C_LIBRARY_H
#define LC_BASE_C_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Is the file the C library, its threads or its loader, or what the kernel puts into each process
 * for it to read the clock ("linux-vdso.so.1")? `name`: without folders. */
static inline bool lc_c_library(const char *name) {
    static const char *const begins[] = {"libc.so", "libc-",      "ld-linux",
                                         "ld-2",    "libpthread", "linux-vdso"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

#endif
