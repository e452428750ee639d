#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static bool quiet_messages;

void lc_log_quiet(bool quiet) {
    quiet_messages = quiet;
}

bool lc_log_is_quiet(void) {
    return quiet_messages;
}

static void print_line(const char *format, va_list args) {
    char line[2048];
    vsnprintf(line, sizeof line, format, args);
    fprintf(stderr, "latecomer: %s\n", line);
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
