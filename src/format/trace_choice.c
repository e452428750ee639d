#include "format/trace_choice.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A number without a sign; NULL: there is none. */
static const char *number(const char *text, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)*text))
        return NULL;
    *value = strtoull(text, &end, 10); /* too large ones become the largest */
    return end;
}

bool lc_trace_choose(const char *text, struct lc_trace_choice *choice) {
    static const char iterations[] = "iterations ";
    *choice = (struct lc_trace_choice){.what = LC_RECORD_NOTHING};
    if (text == NULL || *text == '\0' || strcmp(text, "0") == 0 || strcmp(text, "off") == 0)
        return true;
    choice->what = LC_RECORD_EVERYTHING;
    if (strcmp(text, "1") == 0 || strcmp(text, "on") == 0)
        return true;
    if (strncmp(text, iterations, sizeof iterations - 1) != 0) {
        choice->what = LC_RECORD_PHASE;
        choice->phase = text;
        return true;
    }
    choice->what = LC_RECORD_ITERATIONS;
    const char *at = number(text + sizeof iterations - 1, &choice->from);
    if (at == NULL || *at != '-' || (at = number(at + 1, &choice->until)) == NULL || *at != '\0')
        return false;
    return choice->from >= LC_TRACE_FIRST_ITERATION && choice->until >= choice->from &&
           choice->until < UINT64_MAX;
}
