/* Which file of the process holds an address, and what that file is. */
#ifndef LC_MEASURE_UNWIND_MODULES_H
#define LC_MEASURE_UNWIND_MODULES_H

#include <stdint.h>

#include "base/program_names.h"

enum lc_module_kind { LC_MODULE_OTHER, LC_MODULE_PROGRAM, LC_MODULE_LIBC, LC_MODULE_MPI };

struct lc_module {
    uint64_t begin, end; /* mapped */
    uint64_t bias;
    uint32_t id; /* in the state */
    enum lc_module_kind kind;
};

/* The module that holds an address; NULL: none (generated code). With lc_core.lock held. The
 * pointer holds until the next call. */
const struct lc_module *lc_module_find(uint64_t address);
/* The id (base/program_names.h) of the executable of this process. */
void lc_module_program(char id[LC_PROGRAM_ID_BYTES]);
/* A library came or went: the list is read again when it is next asked for. */
void lc_modules_forget(void);

#endif
