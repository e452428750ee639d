/* latecomer-analyze-<flavour>: the analysis program. Started by `latecomer analyze`
 * (cli/cmd_analyze.c), by a launcher or alone; every rank runs this. */
#include "analyze/crash.h"
#include "analyze/analysis_options.h"
#include "analyze/pipeline.h"
#include "base/log.h"

int main(int argc, char **argv) {
    struct lc_transport comm;
    struct lc_analyze_options options;
    if (!lc_transport_init(&comm, &argc, &argv)) {
        lc_transport_finalize(&comm);
        return 0;
    }
    enum lc_err err = lc_analyze_options_parse(&options, argc, argv);
    if (err == LC_OK) {
        lc_log_quiet(options.quiet);
        lc_crash_guard(options.archive, options.status, options.page != NULL && comm.size > 1);
        err = lc_analyze_run(&comm, &options);
    }
    int code = err == LC_OK ? 0 : err == LC_ERR_USAGE ? 2 : 1;
    if (comm.rank == 0) {
        if (err != LC_OK)
            lc_complain("%s", lc_err_text());
        code = lc_crash_tell(code);
    } else if (options.status) {
        code = 0;
    }
    lc_transport_finalize(&comm);
    return code;
}
