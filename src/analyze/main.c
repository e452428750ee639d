/* latecomer-analyze-<flavour>: the analysis program. Started by `latecomer analyze`
 * (cli/cmd_analyze.c), by a launcher or alone; every rank runs this. */
#include <stdio.h>

#include "analyze/options.h"
#include "analyze/pipeline.h"
#include "base/log.h"

/* The exit code for `latecomer analyze`, where a launcher stands between; the program itself then
 * ends with 0. */
static int tell(const char *status, int code) {
    FILE *file = status ? fopen(status, "w") : NULL;
    if (!file)
        return code;
    fputc(code, file);
    fclose(file);
    return 0;
}

int main(int argc, char **argv) {
    struct lc_comm comm;
    struct lc_analyze_options options;
    lc_comm_init(&comm, &argc, &argv);
    enum lc_err err = lc_analyze_options_parse(&options, argc, argv);
    if (err == LC_OK) {
        lc_log_quiet(options.quiet);
        err = lc_analyze_run(&comm, &options);
    }
    int code = err == LC_OK ? 0 : err == LC_ERR_USAGE ? 2 : 1;
    if (comm.rank == 0) {
        if (err != LC_OK)
            lc_complain("%s", lc_err_text());
        code = tell(options.status, code);
    } else if (options.status) {
        code = 0;
    }
    lc_comm_finalize(&comm);
    return code;
}
