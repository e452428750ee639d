#include "analyze/rootcause.h"

#include <stdlib.h>

#include "analyze/chains.h"
#include "analyze/classification.h"
#include "analyze/critical_path.h"
#include "analyze/gains.h"
#include "analyze/indicators.h"
#include "analyze/invariants.h"
#include "analyze/long_term.h"
#include "analyze/near_critical.h"
#include "analyze/partition.h"
#include "analyze/sample_sums.h"
#include "base/mem.h"

void lc_rootcause_output_free(struct lc_rootcause_output *output) {
    lc_strbuf_free(&output->root_causes);
    lc_strbuf_free(&output->critical_path);
    lc_strbuf_free(&output->samples);
    lc_strbuf_free(&output->invariants);
    lc_strbuf_free(&output->lines);
}

/* Costs and chains; the intervals and the graph are gone when this returns. */
static enum lc_err run_delays(struct lc_costs *costs, const struct lc_timelines *lines,
                              struct lc_gain_causes *causes, struct lc_sample_sums *sampled,
                              struct lc_rootcause_output *output) {
    struct lc_delay delay;
    struct lc_long_term long_term;
    LC_TRY(lc_delay_run(&delay, lines, costs));
    enum lc_err err = lc_long_term_run(&long_term, &delay);
    if (err == LC_OK)
        err = lc_transport_agree(lines->trace->comm, lc_costs_settle(costs));
    if (err == LC_OK) {
        err = lc_chains_run(&output->root_causes, &delay, &long_term);
        lc_long_term_free(&long_term);
    }
    if (err == LC_OK)
        err = lc_gains_choose(costs, causes);
    if (err == LC_OK)
        lc_sample_sums_costs(sampled, costs);
    lc_delay_free_intervals(&delay);
    if (err == LC_OK)
        err = lc_transport_agree(lines->trace->comm,
                                 lc_classify_and_publish(&delay, lines->trace->results));
    if (err == LC_OK)
        err = lc_transport_agree(lines->trace->comm, lc_delay_keep_parts(&delay));
    lc_delay_free(&delay);
    return err;
}

static enum lc_err run_path(const struct lc_costs *costs, const struct lc_timelines *lines,
                            const struct lc_gain_causes *causes, struct lc_sample_sums *sampled,
                            const struct lc_rootcause_options *options,
                            struct lc_rootcause_output *output) {
    struct lc_trace *trace = lines->trace;
    struct lc_indicator_sums sums;
    uint32_t *partition = NULL;
    const char *how = options->partition;
    if (how == NULL && lc_partition_has_programs(trace))
        how = "executable";
    if (how != NULL) {
        LC_TRY(lc_transport_agree(trace->comm,
                                  lc_alloc(&partition, trace->n_locations + 1, sizeof *partition)));
        enum lc_err err = lc_partition_find(trace, how, partition);
        if (err != LC_OK) {
            free(partition);
            return err;
        }
    }
    struct lc_critical_path path;
    enum lc_err err = lc_path_find(&path, lines, options->mpi_only);
    if (err == LC_OK) {
        lc_sample_sums_path(sampled, &path);
        err = lc_sample_sums_write(sampled, &output->samples);
        if (err == LC_OK)
            err = lc_indicators_run(&path, partition, trace->results, &sums);
        if (err == LC_OK)
            err = lc_near_critical_run(&path, options->what_if, causes, &output->critical_path,
                                       &output->lines);
        if (err == LC_OK)
            err = lc_transport_agree(
                trace->comm,
                lc_invariants_check(costs, &path, &sums, &output->invariants, &output->lines));
        lc_path_free(&path);
    }
    free(partition);
    return err;
}

enum lc_err lc_rootcause_run(struct lc_trace *trace, const struct lc_rootcause_options *options,
                             struct lc_rootcause_output *output) {
    struct lc_timelines *lines = NULL;
    struct lc_costs costs;
    struct lc_gain_causes causes;
    struct lc_sample_sums sampled;
    LC_TRY(lc_timelines_new(&lines, trace));
    enum lc_err err = lc_transport_agree(trace->comm, lc_costs_new(&costs, lines));
    enum lc_err sampled_err = lc_transport_agree(trace->comm, lc_sample_sums_new(&sampled, lines));
    err = err == LC_OK ? sampled_err : err;
    if (err == LC_OK)
        err = run_delays(&costs, lines, &causes, &sampled, output);
    if (err == LC_OK)
        err = run_path(&costs, lines, &causes, &sampled, options, output);
    lc_sample_sums_free(&sampled);
    lc_costs_free(&costs);
    lc_timelines_free(lines);
    return err;
}

static enum lc_err find_parts(const struct lc_timelines *lines) {
    struct lc_trace *trace = lines->trace;
    struct lc_costs costs;
    struct lc_delay delay;
    enum lc_err err = lc_transport_agree(trace->comm, lc_costs_new(&costs, lines));
    if (err == LC_OK)
        err = lc_delay_run(&delay, lines, &costs);
    if (err == LC_OK) {
        err = lc_transport_agree(trace->comm, lc_delay_keep_parts(&delay));
        lc_delay_free_intervals(&delay);
        lc_delay_free(&delay);
    }
    lc_costs_free(&costs);
    return err;
}

enum lc_err lc_rootcause_for(struct lc_trace *trace,
                             enum lc_err (*use)(const struct lc_critical_path *path, void *context),
                             void *context) {
    struct lc_timelines *lines = NULL;
    struct lc_critical_path path;
    LC_TRY(lc_timelines_new(&lines, trace));
    enum lc_err err = find_parts(lines);
    if (err == LC_OK)
        err = lc_path_find(&path, lines, false);
    if (err == LC_OK) {
        err = use(&path, context);
        lc_path_free(&path);
    }
    lc_timelines_free(lines);
    return err;
}
