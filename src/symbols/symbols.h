/* Names of code: (module, address in its ELF file) -> function, file, line; by symbol tables and
 * debug information, also separate one (debug link, build id). Works on the files, after the
 * program ended. Used for profiles and traces.
 *
 * Invariant: texts that come back live as long as the lc_symbols; an address is looked up once. */
#ifndef LC_SYMBOLS_SYMBOLS_H
#define LC_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lc_symbols;

struct lc_symbol {
    const char *name;    /* demangled; `module+0x1a2b` if unknown; "[vdso]" there; never NULL */
    const char *mangled; /* as in the symbol table, or the same as name */
    const char *file;    /* source file; "" if unknown, or of the C library */
    int64_t line;        /* -1 if unknown */
    bool known;          /* by a symbol, not made up */
};

/* No modules yet; lc_symbols_free frees it. LC_ERR_NOMEM. */
enum lc_err lc_symbols_new(struct lc_symbols **symbols);
/* NULL is allowed. */
void lc_symbols_free(struct lc_symbols *symbols);

/* A file that a program runs from, open for reading: its names are found there when its path does
 * not lead to the same build any more. For all lc_symbols of this process, which keeps it open;
 * false: not taken (the same file is there already, there are too many, or it is -1). */
bool lc_symbols_keep_file(int fd);

/* The function that begins at `offset` or holds it; what is unknown gets a made-up name. Errors:
 * LC_ERR_NOMEM; LC_ERR_RANGE: more addresses than a look-up table holds. */
enum lc_err lc_symbols_function(struct lc_symbols *symbols, const char *module,
                                const char *build_id, uint64_t offset, struct lc_symbol *symbol);
/* Where the function begins that holds `offset`, by the table of unwinding, which also a file
 * without symbols has; false: there is none, or none before it. */
bool lc_symbols_begin(struct lc_symbols *symbols, const char *module, const char *build_id,
                      uint64_t offset, uint64_t *begin);
/* The source line of one address; *file is "" and *line -1 if unknown, or of the C library.
 * Errors: LC_ERR_NOMEM. */
enum lc_err lc_symbols_line(struct lc_symbols *symbols, const char *module, const char *build_id,
                            uint64_t offset, const char **file, int64_t *line);

/* Functions that the compiler has put into another one at an address. */
struct lc_inlined {
    const char *names; /* outermost first, a line each, without an end of line; "": none */
    const char *file;  /* where the function that holds them calls the outermost one; "" unknown */
    int64_t line;      /* -1 if unknown */
};
/* By debug information; without it there are none. Errors: LC_ERR_NOMEM. */
enum lc_err lc_symbols_inlined(struct lc_symbols *symbols, const char *module, const char *build_id,
                               uint64_t offset, struct lc_inlined *inlined);

/* Modules that were asked about: what is missing there. */
enum lc_module_state {
    LC_MODULE_FULL,
    LC_MODULE_NO_DEBUG,
    LC_MODULE_NO_SYMBOLS,
    LC_MODULE_CHANGED,
    LC_MODULE_GONE
};
/* How many modules were asked about. */
size_t lc_symbols_modules(const struct lc_symbols *symbols);
/* The path of one of them, as long as `symbols` lives; what is missing there to *state. */
const char *lc_symbols_module(const struct lc_symbols *symbols, size_t index,
                              enum lc_module_state *state);

#endif
