/* The MPI library's own functions, for programs that are to call some past the tool: from the
 * library's table of symbols, since dlsym gives the tool's. (What users have that goes past the
 * tool is opened with RTLD_DEEPBIND.) */
#ifndef PAST_THE_TOOL_H
#define PAST_THE_TOOL_H

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

static void *past_the_tool(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    struct link_map *map = NULL;
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL; /* stand behind the symbols */
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    for (; symbols != NULL && (const char *)(symbols + 1) <= strings; symbols++)
        if (symbols->st_value != 0 && strcmp(strings + symbols->st_name, name) == 0)
            return (char *)map->l_addr + symbols->st_value;
    return NULL;
}

#endif
