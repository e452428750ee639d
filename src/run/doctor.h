/* What a machine and a program allow: `latecomer doctor`. Every finding says what is, why it
 * matters, what to do. */
#ifndef LC_RUN_DOCTOR_H
#define LC_RUN_DOCTOR_H

#include <stddef.h>

#include "base/err.h"

enum lc_verdict { LC_VERDICT_OK, LC_VERDICT_NOTE, LC_VERDICT_BAD };

struct lc_doctor_check {
    enum lc_verdict verdict;
    const char *subject; /* static */
    char text[512];      /* what is, and if it is not good: why it matters, what to do */
};

struct lc_checkup {
    struct lc_doctor_check *items;
    size_t n_items, cap_items;
};

/* Looks at the machine, and at `program` unless NULL. What is wrong with these is a finding;
 * errors: LC_ERR_NOMEM, and LC_ERR_IO, LC_ERR_NOT_FOUND where `program` cannot be read. Freed with
 * lc_checkup_free, also after a failure. */
enum lc_err lc_doctor_look(struct lc_checkup *findings, const char *program);
/* Frees what lc_doctor_look filled in, not the struct. */
void lc_checkup_free(struct lc_checkup *findings);

#endif
