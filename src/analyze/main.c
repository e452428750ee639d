/* latecomer-analyze-<flavour>: the analysis program. Started by `latecomer analyze` (cli/cmd_analyze.c), by a launcher or alone; every rank runs this. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/options.h"
#include "analyze/pipeline.h"
#include "base/log.h"

/* Ends all ranks. Rank 0 speaks first; others only if it does not have the error as well. */
static _Noreturn void fail(const struct lc_comm *comm, enum lc_err err)
{
    if (comm->rank != 0)
        usleep(500000);
    lc_complain("%s", lc_err_text());
    lc_comm_abort(err == LC_ERR_USAGE ? 2 : 1);
}

int main(int argc, char **argv)
{
    struct lc_comm comm;
    struct lc_analyze_options options;
    lc_comm_init(&comm, &argc, &argv);
    enum lc_err err = lc_analyze_options_parse(&options, argc, argv);
    if (err == LC_OK) {
        lc_log_quiet(options.quiet);
        err = lc_analyze_run(&comm, &options);
    }
    if (err != LC_OK)
        fail(&comm, err);
    lc_comm_finalize(&comm);
    return 0;
}
