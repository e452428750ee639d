/* What a finding is (findings.h).
 *
 * Nouns
 *   severity   seconds of all locations that are lost; share: of the time of all locations
 *   gain       seconds of run time that removing the cause would save, with bounds
 *   because    the code that causes it, where that is not the place of the finding itself
 *   evidence   where to look: a metric at a call path. */
#ifndef LC_REPORT_FINDING_H
#define LC_REPORT_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lc_certainty { LC_MEASURED, LC_EXACT_FROM_TRACE, LC_ESTIMATED };

struct lc_finding_kind {
    const char *id;
    const char *text;   /* one sentence; {ranks}, {severity}, {bounds}, {share}, {it}, {detail} */
    const char *advice; /* one sentence */
    double least_share; /* of the time of all locations; smaller ones are not listed */
    /* it is about how ranks are shared out: the advice is the same whatever the late code does */
    bool of_partitions;
};

enum { LC_FINDING_RANKS = 8 };

struct lc_finding {
    const struct lc_finding_kind *kind;
    double severity_s, share;               /* NAN: cannot be told */
    double severity_low_s, severity_high_s; /* its bounds, where it is estimated; else NAN */
    double least_s;    /* smaller ones the measurement cannot tell; NAN: as of the run */
    double indirect_s; /* of it, waiting for others that were late because of this; NAN */
    double named_s;    /* of it, waiting for the one rank that is named; NAN: none, or several */
    double gain_s, gain_low_s, gain_high_s; /* NAN: not predicted */
    double order_s;      /* where it stands if its gain is not predicted; NAN: behind all others */
    const char *gain_by; /* how it was computed; NULL: not predicted */
    /* it is an estimate, since no what-if clock or replay told it, or not predicted at all: why;
     * NULL: else */
    const char *gain_estimated;
    enum lc_certainty certainty;     /* of the severity */
    uint32_t path;                   /* of the view; LC_NONE: the whole run */
    int32_t ranks[LC_FINDING_RANKS]; /* those that stand out, the first ones */
    size_t n_ranks;                  /* all of them; 0: no rank stands out */
    int32_t thread;                  /* of the one rank, not of OpenMP; -1: none stands out */
    bool one_process;                /* there is no other rank: it is about threads */
    bool one_thread;                 /* ... and of those there is one */
    uint32_t replayed_path;          /* without which a replay tells the gain; LC_NONE: none */
    char from[64], to[64];           /* call sites between which it is; "" if unknown */
    uint32_t because_path;           /* LC_NONE: the place itself, or unknown */
    int32_t because_rank;            /* -1: no single one */
    const char *metric;              /* evidence; NULL: none */
    uint32_t evidence_path;
    char detail[160];
    char *text; /* the sentence: printable */
};

struct lc_findings {
    struct lc_finding *list;
    size_t n, capacity;
    double elapsed_s; /* run time that gains refer to */
    bool from_trace;  /* an analysis took part */
    bool has_causes;  /* code is known that others wait for, listed or not */
};

#endif
