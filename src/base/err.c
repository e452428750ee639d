#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_text[1024];

enum lc_err lc_fail(enum lc_err err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(last_text, sizeof last_text, format, args);
    va_end(args);
    return err;
}

enum lc_err lc_fail_errno(enum lc_err err, const char *format, ...) {
    int saved = errno;
    va_list args;
    va_start(args, format);
    int used = vsnprintf(last_text, sizeof last_text, format, args);
    va_end(args);
    if (used > 0 && (size_t)used < sizeof last_text) {
        char reason[128];
        snprintf(last_text + used, sizeof last_text - (size_t)used, ": %s",
                 strerror_r(saved, reason, sizeof reason));
    }
    return err;
}

const char *lc_err_text(void) {
    return last_text;
}
