#include "report/sample_errors.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/tsv.h"

enum lc_err lc_sample_errors(const struct lc_view *view, double **errors) {
    const char *data;
    size_t bytes;
    struct lc_tsv tsv;
    LC_TRY(lc_alloc(errors, view->n_paths + 1, sizeof(*errors)[0]));
    if (lc_cubex_misc(view->cube, "samples.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    enum lc_err err = lc_tsv_parse(&tsv, data, bytes);
    if (err != LC_OK) {
        free(*errors);
        *errors = NULL;
        return err;
    }
    const int path = lc_tsv_column(&tsv, "callpath"), error = lc_tsv_column(&tsv, "error");
    for (size_t r = 0; path >= 0 && error >= 0 && r < tsv.n_rows; r++) {
        uint32_t p = lc_view_find(view, lc_tsv_cell(&tsv, r, path));
        double one = lc_tsv_number(&tsv, r, error);
        if (p != LC_NONE && one > (*errors)[p]) /* of what is folded the outermost */
            (*errors)[p] = one;
    }
    lc_tsv_free(&tsv);
    return LC_OK;
}
