#include "trace/names.h"

#include <string.h>

static void function_of(void *context, const char *module, const char *build_id, uint64_t offset,
                        bool is_main, struct lc_trace_symbol *out) {
    struct lc_symbol symbol;
    if (lc_symbols_function(context, module, build_id, offset, &symbol) != LC_OK)
        return;
    if (is_main && !symbol.known) { /* known by its place on the stack, also in stripped programs */
        out->name = "main";
        return;
    }
    out->name = symbol.name;
    out->linkage_name = symbol.mangled;
    out->file = *symbol.file ? symbol.file : NULL;
    out->line = symbol.line > 0 ? (uint32_t)symbol.line : 0;
}

static void line_of(void *context, const char *module, const char *build_id, uint64_t offset,
                    struct lc_trace_symbol *out) {
    const char *file = "";
    int64_t line = -1;
    if (lc_symbols_line(context, module, build_id, offset, &file, &line) != LC_OK || !*file)
        return;
    out->file = file;
    out->line = line > 0 ? (uint32_t)line : 0;
}

struct lc_trace_names lc_trace_names_of(struct lc_symbols *symbols) {
    return (struct lc_trace_names){symbols, function_of, line_of};
}
