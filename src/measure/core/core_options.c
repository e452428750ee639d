#include "measure/core/core_options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stub takes the options out of the program's environment, so that what it starts sees none. */
static char **options;

void lc_options_keep(void) {
    size_t n = 0, kept = 0;
    while (environ[n] != NULL)
        n++;
    options = calloc(n + 1, sizeof *options);
    for (size_t i = 0; i < n && options != NULL; i++)
        if (strncmp(environ[i], "LATECOMER_", 10) == 0 &&
            (options[kept] = strdup(environ[i])) != NULL)
            kept++;
}

const char *lc_option(const char *name) {
    size_t length = strlen(name);
    for (char **at = options; at != NULL && *at != NULL; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return NULL;
}

void lc_say_once(const char *format, ...) {
    static _Atomic int said;
    char line[512] = "latecomer: ";
    int saved = errno;
    if (lc_option("LATECOMER_QUIET") != NULL || atomic_exchange(&said, 1))
        return;
    size_t n = strlen(line);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + n, sizeof line - n - 1, format, // NOLINT(clang-analyzer-valist.*)
                         args);
    va_end(args);
    n += more < 0 ? 0 : (size_t)more < sizeof line - n - 1 ? (size_t)more : sizeof line - n - 2;
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        errno = 0; /* a closed standard error is the program's business */
    errno = saved;
}
