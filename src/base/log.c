#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

static bool quiet_messages;

void lc_log_quiet(bool quiet) {
    quiet_messages = quiet;
}

bool lc_log_is_quiet(void) {
    return quiet_messages;
}

static void print_line(const char *format, va_list args) {
    char line[2048];
    struct lc_strbuf printable = {0}; /* file names and arguments may hold anything */
    vsnprintf(line, sizeof line, format, args);
    lc_put_printable(&printable, line);
    fprintf(stderr, "latecomer: %s\n", lc_strbuf_get(&printable));
    lc_strbuf_free(&printable);
}

void lc_say(const char *format, ...) {
    if (quiet_messages)
        return;
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}

void lc_complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}
