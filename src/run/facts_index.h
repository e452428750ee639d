/* Facts (format/facts.h) that were checked, and the parts of their JSON. */
#ifndef LC_RUN_FACTS_INDEX_H
#define LC_RUN_FACTS_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "format/facts.h"

/* Those that occur once; NULL: there is none. Texts in them end. */
struct lc_facts {
    const struct lc_fact_process *process;
    const struct lc_fact_rank *ranks;
    size_t n_ranks;
    const struct lc_fact_openmp *openmp;
    const struct lc_fact_counts *counts;
    const struct lc_fact_clocks *clocks;
    const struct lc_fact_waiting *waiting;
    const struct lc_fact_intervals *intervals;
    const struct lc_fact_path *paths;
    const struct lc_fact_pairs *pairs;
    size_t n_pairs;
    const struct lc_fact_left_out *left_out;
    const struct lc_fact_counters *counters;
    struct lc_byte_reader all; /* from the first record on */
};

/* "pop" as an object; nothing where the clocks gave no efficiency. Returns the share of the
 * critical path that has no call path, or a negative number. */
double lc_facts_put_pop(const struct lc_facts *facts, struct lc_strbuf *out);
/* `, "iterations": [..]`, and where loops are missing there `, "loops_left_out": {..}`. */
void lc_facts_put_loops(const struct lc_facts *facts, struct lc_strbuf *out);
/* `"by_rank": {..}, `; field NULL: nothing. */
void lc_facts_put_field(const struct lc_fact_field *field, struct lc_strbuf *out);

/* Members of an object about the iterations of a phase or loop, numbered from 1.
 * `"name": {..}`: first, best, median, worst, drift; sorts the values. `sign` 1: large is good; -1:
 * small is good. `unit`: iterations that a value is of. */
void lc_iterations_put(struct lc_strbuf *out, const char *name, double *values, size_t n,
                       size_t unit, int sign);
/* `"each": {..}, `: the values in their order, as means of blocks of so many that 256 are enough;
 * `unit` times as many where a value is already one of several iterations. An incomplete block at
 * the end is left out. */
void lc_iterations_put_each(struct lc_strbuf *out, const double *elapsed_s, size_t n, size_t unit);

#endif
