/* What a program is, from its file: ELF or script, statically linked, which MPI library it needs
 * (through all libraries it needs, found as the dynamic linker would). Nothing is executed. Called
 * by `latecomer run` and `latecomer doctor`. */
#ifndef LC_RUN_INSPECT_H
#define LC_RUN_INSPECT_H

#include <stdbool.h>

#include "base/err.h"
#include "job/mpi_flavour.h"

struct lc_program {
    char *path;         /* as execvp would find it */
    bool script;        /* begins with #! */
    char *interpreter;  /* of a script; "" if none */
    bool is_elf;        /* false for scripts and unknown kinds */
    bool is_static;     /* no dynamic linker: nothing can be preloaded */
    bool is_foreign;    /* ELF of another word size or machine */
    bool is_privileged; /* set-user-id or set-group-id: the dynamic linker ignores LD_PRELOAD */
    bool has_symbols;   /* .symtab */
    bool has_debug;     /* .debug_info, or separate debug information is installed */
    bool uses_openmp;   /* needs libgomp, libomp or libiomp5 */
    enum lc_flavour flavour; /* of that library, as far as its file tells: it may say otherwise */
    char *mpi_library;       /* path; NULL if none is needed */
};

/* The program of a command (its words, then NULL): the first word, or what the dynamic linker is
 * told to run if that is the first word. */
const char *lc_program_of(char *const *argv);
/* LC_ERR_NOT_FOUND if there is no such program, LC_ERR_IO if it cannot be executed. */
enum lc_err lc_program_inspect(struct lc_program *program, const char *name);
/* Frees what lc_program_inspect filled in, not the struct. */
void lc_program_free(struct lc_program *program);

#endif
