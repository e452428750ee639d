/* What symbols.c and inlined.c share. */
#ifndef LC_SYMBOLS_SYMBOLS_PRIVATE_H
#define LC_SYMBOLS_SYMBOLS_PRIVATE_H

#include <elfutils/libdwfl.h>

#include "base/arena.h"
#include "base/lookup.h"
#include "symbols/symbols.h"

struct function {
    uint64_t begin, end; /* end == begin: the symbol has no size */
    const char *name;
    unsigned char
        rank; /* of several at one address, the lowest wins: global before local, shorter names */
};

struct module {
    char *path, *build_id;
    Dwfl *dwfl;
    Dwfl_Module *handle;        /* NULL: cannot be used */
    uint64_t bias;              /* address in dwfl - address in the ELF file */
    struct function *functions; /* ascending begins */
    size_t n_functions, cap_functions;
    enum lc_module_state state;
    bool no_lines; /* whatever debug information there is */
};

struct known {
    uint32_t module;
    uint64_t offset;
    struct lc_symbol symbol;
};

struct lc_symbols {
    struct module *modules;
    size_t n_modules, cap_modules, last_module;
    struct known *known;
    size_t n_known, cap_known;
    struct lc_lookup known_at; /* by module and offset */
    struct lc_arena texts;
    char *(*demangle)(const char *, char *, size_t *, int *);
    void *cxx;
};

/* Opens the module if it is new. LC_ERR_NOMEM. */
enum lc_err lc_symbols_find_module(struct lc_symbols *symbols, const char *path,
                                   const char *build_id, uint32_t *id);

/* May lines of the module be asked for, and has it debug information? */
static inline bool lc_module_has_lines(const struct module *module) {
    return module->handle != NULL && !module->no_lines && module->state == LC_MODULE_FULL;
}

#endif
