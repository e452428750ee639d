/* What the C library did below a function of the program, in a word: reports show
 * "uneven (off CPU: sleeping)" instead of "uneven/__nanosleep/clock_nanosleep/(off CPU)". */
#ifndef LC_REPORT_VIEW_FOLD_H
#define LC_REPORT_VIEW_FOLD_H

#include "model/model.h"

/* Per cnode of the model the name of what it is part of, NULL where it stands for itself. Folded
 * are the frames of the C library that call nothing else, with what samples found below them; a
 * root is not. `*names` and `*texts` are freed by the caller: the names point into the latter.
 * Errors: LC_ERR_NOMEM. */
enum lc_err lc_fold_names(const struct lc_model *model, const char ***names, char (**texts)[64]);

/* What a function of the C library is called for; NULL: nothing that is known. */
const char *lc_purpose_of(const char *function);

#endif
