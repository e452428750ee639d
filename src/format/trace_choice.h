/* What `run --trace` and LATECOMER_TRACE ask for: everything, or windows of the run only. */
#ifndef LC_FORMAT_TRACE_CHOICE_H
#define LC_FORMAT_TRACE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum lc_record_what {
    LC_RECORD_NOTHING,
    LC_RECORD_EVERYTHING,
    LC_RECORD_PHASE,     /* every iteration of a phase */
    LC_RECORD_ITERATIONS /* from one iteration to another of the loops that are found in the run */
};

/* A loop is known when it has come back so often: its first iterations cannot be asked for. */
enum { LC_TRACE_FIRST_ITERATION = 10 };

struct lc_trace_choice {
    enum lc_record_what what;
    const char *phase;    /* its name; in the text */
    uint64_t from, until; /* iterations, counted from 1 */
};

/* NULL, "", "0", "off": nothing; "1", "on": everything; "iterations A-B" with
 * LC_TRACE_FIRST_ITERATION <= A <= B; else the name of a phase. false: iterations that cannot be
 * traced. */
bool lc_trace_choose(const char *text, struct lc_trace_choice *choice);

#endif
