/* Functions that the compiler has put into others, by debug information. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "symbols/symbols_private.h"

/* The unit whose code the address is in; without the table of address ranges (clang writes none)
 * libdwfl finds none: all are asked. */
static Dwarf_Die *unit_at(const struct module *module, uint64_t address, Dwarf_Addr *bias) {
    Dwarf_Die *unit = dwfl_module_addrdie(module->handle, address, bias);
    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(module->handle, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

/* The nest of the innermost function, inlined or not, at an address: itself first; its size. */
static int nest_at(Dwfl_Module *handle, Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **nest) {
    Dwarf_Die *scopes = NULL, innermost;
    Dwarf_Addr unused;
    int n = dwarf_getscopes(unit, pc, &scopes);
    *nest = NULL;
    /* beyond an inlined one these are the scopes that its source stands in */
    bool found = n > 0 && dwarf_offdie(dwfl_module_getdwarf(handle, &unused),
                                       dwarf_dieoffset(&scopes[0]), &innermost) != NULL;
    free(scopes);
    return found ? dwarf_getscopes_die(&innermost, nest) : 0;
}

/* Where the function that holds it calls an inlined one. */
static void find_call(Dwarf_Die *inlined, const char **file, int64_t *line) {
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t n;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) != 0)
        return;
    *line = (int64_t)number;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) == 0 &&
        dwarf_diecu(inlined, &unit, NULL, NULL) != NULL &&
        dwarf_getsrcfiles(&unit, &files, &n) == 0 && number < n)
        *file = dwarf_filesrc(files, number, NULL, NULL);
}

enum lc_err lc_symbols_inlined(struct lc_symbols *symbols, const char *path, const char *build_id,
                               uint64_t offset, struct lc_inlined *inlined) {
    uint32_t id;
    Dwarf_Addr bias = 0;
    Dwarf_Die *nest = NULL;
    struct lc_strbuf text = {0};
    *inlined = (struct lc_inlined){.names = "", .file = "", .line = -1};
    LC_TRY(lc_symbols_find_module(symbols, path, build_id, &id));
    const struct module *module = &symbols->modules[id];
    uint64_t address = offset + module->bias;
    Dwarf_Die *unit = lc_module_has_lines(module) ? unit_at(module, address, &bias) : NULL;
    int n = unit != NULL ? nest_at(module->handle, unit, address - bias, &nest) : 0, outermost = 0;
    while (outermost < n && dwarf_tag(&nest[outermost]) != DW_TAG_subprogram)
        outermost++;
    const char *file = NULL;
    for (int i = outermost; i-- > 0;) {
        const char *name = dwarf_diename(&nest[i]);
        if (dwarf_tag(&nest[i]) != DW_TAG_inlined_subroutine)
            continue;
        if (lc_strbuf_get(&text)[0] == '\0')
            find_call(&nest[i], &file, &inlined->line);
        else
            lc_strbuf_putc(&text, '\n');
        lc_strbuf_puts(&text, name != NULL ? name : "?");
    }
    free(nest);
    inlined->names = lc_arena_strdup(&symbols->texts, lc_strbuf_get(&text));
    if (file != NULL)
        inlined->file = lc_arena_strdup(&symbols->texts, file);
    lc_strbuf_free(&text);
    return inlined->names != NULL && inlined->file != NULL ? LC_OK : LC_ERR_NOMEM;
}
