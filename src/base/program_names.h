/* The programs of a run: several of them may take part in one MPI_COMM_WORLD (MPMD).
 *
 * Nouns
 *   id     what tells executables apart: the path, and after a new-line the build id in hex, where
 *          there is one. Copies of one file on the disks of several nodes have one name and one
 *          build id: they are one program.
 *   name   what people read: the end of the path, as long as needed to tell the programs apart. */
#ifndef LC_BASE_PROGRAM_NAMES_H
#define LC_BASE_PROGRAM_NAMES_H

#include <stdint.h>
#include <stddef.h>

#include "base/err.h"

enum { LC_PROGRAM_ID_BYTES = 512 };

/* Writes the id of an executable to `id`; of a path that is too long its end. */
void lc_program_id(char id[LC_PROGRAM_ID_BYTES], const char *path, const char *build_id);

struct lc_programs {
    char **names; /* in the order in which they occur in `ids` */
    size_t n;
    uint32_t *of; /* per id: which program; LC_NONE: the id is NULL or empty */
};

/* Finds the different programs among n ids; lc_programs_free frees what it makes. Errors:
 * LC_ERR_NOMEM. */
enum lc_err lc_programs_find(struct lc_programs *programs, const char *const *ids, size_t n);
/* Frees what it holds, not the struct. */
void lc_programs_free(struct lc_programs *programs);

#endif
