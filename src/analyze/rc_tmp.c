#include "analyze/rootcause.h"
enum lc_err lc_rootcause_run(struct lc_trace *trace, const struct lc_rootcause_options *options,
                             struct lc_rootcause_output *output) {
    (void)trace, (void)options, (void)output;
    return LC_OK;
}
void lc_rootcause_output_free(struct lc_rootcause_output *output) {
    (void)output;
}
