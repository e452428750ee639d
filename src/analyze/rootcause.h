/* Everything that tells why: delay costs in two models, classification, chains, critical path,
 * indicators, what-if. Runs after the wait states are found, on any number of analysis ranks, with
 * the same result to the last bit. Reading order: profile.h (time per call path in a window),
 * syncpoint.h (where intervals begin), delay.h (who is to blame), long_term.h (passing costs on),
 * chains.h, critical_path.h, indicators.h, what_if.h, invariants.h. */
#ifndef LC_ANALYZE_ROOTCAUSE_H
#define LC_ANALYZE_ROOTCAUSE_H

#include "analyze/critical_path.h"
#include "base/strbuf.h"

struct lc_rootcause_options {
    bool mpi_only;         /* classical bounds of the critical path */
    const char *partition; /* --partition, or NULL */
    const char *what_if;   /* --what-if, or NULL */
};

/* Filled on rank 0; zero-initialise, freed with lc_rootcause_output_free. */
struct lc_rootcause_output {
    /* JSON: the most expensive root causes with their chains (member root_causes.json) */
    struct lc_strbuf root_causes;
    /* JSON: segments, near-critical call paths, what-if, gains (member critical_path.json) */
    struct lc_strbuf critical_path;
    struct lc_strbuf samples;    /* what samples have divided (member samples.tsv); "": nothing */
    struct lc_strbuf invariants; /* JSON object for meta.health */
    struct lc_strbuf lines;      /* for people, one per line, without "latecomer: " */
};

/* Collective. Metrics go to trace->results. Errors: LC_ERR_USAGE (options), LC_ERR_NOMEM,
 * LC_ERR_RANGE. */
enum lc_err lc_rootcause_run(struct lc_trace *trace, const struct lc_rootcause_options *options,
                             struct lc_rootcause_output *output);
/* Only why the cause of each wait state came late (lc_loc.parts) and the critical path, which
 * lc_rootcause_run finds, too: for `use`, whose error is that of the whole. Collective. Errors:
 * LC_ERR_NOMEM, LC_ERR_RANGE. */
enum lc_err lc_rootcause_for(struct lc_trace *trace,
                             enum lc_err (*use)(const struct lc_critical_path *path, void *context),
                             void *context);
/* Frees what it holds, not the struct. */
void lc_rootcause_output_free(struct lc_rootcause_output *output);

#endif
