/* The fingerprint on a terminal. */
#ifndef LC_BENCH_FINGERPRINT_TEXT_H
#define LC_BENCH_FINGERPRINT_TEXT_H

#include <stdio.h>

#include "bench/fingerprint.h"

struct lc_bench_page {
    FILE *out;
    size_t width;
    bool utf8;
    const char *bold, *alarm, *plain;    /* escape sequences, or "" */
    const char *category[LC_CATEGORIES]; /* its colour; the same */
};

/* The colours of categories on a terminal that has some. */
extern const char *const lc_bench_terminal_colours[LC_CATEGORIES];

/* A time as people read it, four digits ("12.34 us"), in `buffer`, which is returned. */
const char *lc_bench_time(double ns, char buffer[32]);

/* All of it, about 50 lines. LC_ERR_NOMEM. */
enum lc_err lc_fingerprint_text(const struct lc_fingerprint *f, const struct lc_bench_page *page);

/* The part of it about phases, modes and patterns, as text that the caller frees; page->out is not
 * used. NULL: no memory. */
char *lc_fingerprint_phases(const struct lc_fingerprint *f, const struct lc_bench_page *page);

/* One line, for lists of several. */
void lc_fingerprint_line(const struct lc_fingerprint *f, const struct lc_bench_page *page);

#endif
