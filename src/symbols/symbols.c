#include "symbols/symbols_private.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/c_library.h"
#include "base/hash.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "symbols/debug_server.h"

static char *debuginfo_path; /* NULL: the standard places */

/* Is there a separate file with debug information where its name says: beside the file, in .debug,
 * or below /usr/lib/debug? */
static bool is_beside(const char *file, const char *debug_file) {
    static const struct {
        const char *above, *below;
    } places[] = {{"", ""}, {"", ".debug/"}, {"/usr/lib/debug", ""}};
    const char *slash = strrchr(file, '/');
    int directory = slash != NULL ? (int)(slash + 1 - file) : 0;
    char *own = NULL;
    bool found = false;
    if (debug_file == NULL && asprintf(&own, "%s.debug", file + directory) < 0)
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s%.*s%s%s", places[i].above, directory, file, places[i].below,
                     debug_file != NULL ? debug_file : own) < 0)
            break;
        found = access(path, R_OK) == 0;
        free(path);
    }
    free(own);
    return found;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Of the C library nobody asks for lines, and its functions are those that it exports. */
static int ask_server(Dwfl_Module *handle, const char *name, char **found) {
    const unsigned char *build_id;
    GElf_Addr address;
    int length = dwfl_module_build_id(handle, &build_id, &address);
    return lc_c_library(base_name(name)) ? -1 : lc_debug_server_find(build_id, length, found);
}

/* As dwfl_standard_find_debuginfo, which for a file without debug information loads a client of the
 * network and all that it needs (10 ms), though nobody has named a server. */
static int find_debuginfo(Dwfl_Module *handle, void **user, const char *name, Dwarf_Addr base,
                          const char *file, const char *debug_file, GElf_Word checksum,
                          char **found) {
    int fd =
        dwfl_build_id_find_debuginfo(handle, user, name, base, file, debug_file, checksum, found);
    if (fd >= 0 || file == NULL)
        return fd;
    if (!is_beside(file, debug_file))
        return ask_server(handle, name, found);
    return dwfl_standard_find_debuginfo(handle, user, name, base, file, debug_file, checksum,
                                        found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

enum lc_err lc_symbols_new(struct lc_symbols **symbols) {
    *symbols = NULL;
    lc_debug_server_init();
    LC_TRY(lc_alloc(symbols, 1, sizeof **symbols));
    (*symbols)->cxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if ((*symbols)->cxx != NULL)
        *(void **)&(*symbols)->demangle = dlsym((*symbols)->cxx, "__cxa_demangle");
    return LC_OK;
}

void lc_symbols_free(struct lc_symbols *symbols) {
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->n_modules; i++) {
        free(symbols->modules[i].path);
        free(symbols->modules[i].build_id);
        free(symbols->modules[i].functions);
        if (symbols->modules[i].dwfl != NULL)
            dwfl_end(symbols->modules[i].dwfl);
    }
    free(symbols->modules);
    free(symbols->known);
    lc_lookup_free(&symbols->known_at);
    lc_arena_free(&symbols->texts);
    if (symbols->cxx != NULL)
        dlclose(symbols->cxx);
    free(symbols);
}

static int compare_functions(const void *a, const void *b) {
    const struct function *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    size_t x_length = strlen(x->name), y_length = strlen(y->name);
    if (x_length != y_length)
        return x_length < y_length ? -1 : 1;
    return strcmp(x->name, y->name);
}

static enum lc_err read_functions(struct module *module) {
    int count = dwfl_module_getsymtab(module->handle);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name =
            dwfl_module_getsym_info(module->handle, i, &symbol, &address, NULL, NULL, NULL);
        unsigned char type = GELF_ST_TYPE(symbol.st_info);
        if (name == NULL || *name == '\0' || symbol.st_shndx == SHN_UNDEF ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
            (type == STT_NOTYPE && (symbol.st_size == 0 || *name == '$')))
            continue;
        LC_TRY(lc_grow(&module->functions, &module->cap_functions, module->n_functions + 1,
                       sizeof module->functions[0]));
        unsigned char binding = GELF_ST_BIND(symbol.st_info);
        module->functions[module->n_functions++] = (struct function){
            .begin = address - module->bias,
            .end = address - module->bias + symbol.st_size,
            .name = name,
            .rank = (unsigned char)(binding == STB_GLOBAL ? 0
                                    : binding == STB_WEAK ? 1
                                                          : 2),
        };
    }
    if (module->n_functions != 0)
        qsort(module->functions, module->n_functions, sizeof module->functions[0],
              compare_functions);
    return LC_OK;
}

/* The file may have been replaced since it ran: then its names would be wrong. */
static bool same_build(Dwfl_Module *handle, const char *build_id) {
    const unsigned char *bits;
    GElf_Addr address;
    int length = dwfl_module_build_id(handle, &bits, &address);
    if (*build_id == '\0' || length <= 0)
        return true;
    char hex[3];
    if (strlen(build_id) != 2 * (size_t)length)
        return false;
    for (int i = 0; i < length; i++) {
        snprintf(hex, sizeof hex, "%02x", bits[i]);
        if (strncmp(hex, build_id + (ptrdiff_t)2 * i, 2) != 0)
            return false;
    }
    return true;
}

/* Found when symbols were looked for. */
static bool has_debug_file(Dwfl_Module *handle) {
    const char *file = NULL;
    dwfl_module_info(handle, NULL, NULL, NULL, NULL, NULL, NULL, &file);
    return file != NULL;
}

static int kept_files[64];
static size_t n_kept_files;

bool lc_symbols_keep_file(int fd) {
    struct stat file, other;
    if (fstat(fd, &file) != 0 || n_kept_files == sizeof kept_files / sizeof *kept_files)
        return false;
    for (size_t i = 0; i < n_kept_files; i++)
        if (fstat(kept_files[i], &other) == 0 && other.st_dev == file.st_dev &&
            other.st_ino == file.st_ino)
            return false;
    kept_files[n_kept_files++] = fd;
    return true;
}

/* The file at `path`, if it is the build that ran; NULL: module->state says why not. */
static Dwfl_Module *open_file(struct module *module, const char *path) {
    if (access(path, R_OK) != 0)
        return NULL;
    dwfl_report_begin(module->dwfl);
    Dwfl_Module *handle = dwfl_report_offline(module->dwfl, path, path, -1);
    dwfl_report_end(module->dwfl, NULL, NULL);
    if (handle == NULL || dwfl_module_getelf(handle, &module->bias) == NULL)
        return NULL;
    if (same_build(handle, module->build_id))
        return handle;
    module->state = LC_MODULE_CHANGED;
    return NULL;
}

static Dwfl_Module *open_kept_file(struct module *module) {
    Dwfl_Module *handle = NULL;
    enum lc_module_state state = module->state;
    for (size_t i = 0; i < n_kept_files && handle == NULL && *module->build_id != '\0'; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", kept_files[i]);
        handle = open_file(module, path);
    }
    module->state = state;
    return handle;
}

/* Code that the kernel puts into each process: it is in no file. */
static bool is_vdso(const struct module *module) {
    return strncmp(base_name(module->path), "linux-vdso.so", 13) == 0;
}

static enum lc_err open_module(struct module *module) {
    module->state = is_vdso(module) ? LC_MODULE_FULL : LC_MODULE_GONE;
    if (is_vdso(module))
        return LC_OK;
    module->dwfl = dwfl_begin(&callbacks);
    if (module->dwfl == NULL)
        return LC_OK;
    Dwfl_Module *handle = open_file(module, module->path);
    if (handle == NULL)
        handle = open_kept_file(module);
    if (handle == NULL)
        return LC_OK;
    module->handle = handle;
    GElf_Addr unused;
    /* Nobody asks where in the C library he is, and its debug information, where it is installed,
     * takes 0.1 s to unpack: more than all other names of a run. */
    module->no_lines = lc_c_library(base_name(module->path));
    module->state = module->no_lines || dwfl_module_getdwarf(handle, &unused) != NULL
                        ? LC_MODULE_FULL
                        : LC_MODULE_NO_DEBUG;
    LC_TRY(read_functions(module));
    if (module->no_lines && !has_debug_file(handle))
        module->state = LC_MODULE_NO_DEBUG;
    Elf *elf = dwfl_module_getelf(handle, &unused);
    bool symtab = module->state == LC_MODULE_FULL;
    for (Elf_Scn *section = NULL; !symtab && (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        symtab = gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_SYMTAB;
    }
    if (!symtab)
        module->state = LC_MODULE_NO_SYMBOLS; /* exported functions may be known all the same */
    return LC_OK;
}

enum lc_err lc_symbols_find_module(struct lc_symbols *symbols, const char *path,
                                   const char *build_id, uint32_t *id) {
    for (size_t i = 0; i <= symbols->n_modules; i++) { /* the last one first */
        size_t at = i == 0 ? symbols->last_module : i - 1;
        if (at < symbols->n_modules && strcmp(symbols->modules[at].path, path) == 0 &&
            strcmp(symbols->modules[at].build_id, build_id) == 0) {
            symbols->last_module = at;
            *id = (uint32_t)at;
            return LC_OK;
        }
    }
    LC_TRY(lc_grow(&symbols->modules, &symbols->cap_modules, symbols->n_modules + 1,
                   sizeof symbols->modules[0]));
    struct module *module = &symbols->modules[symbols->n_modules];
    *module = (struct module){0};
    LC_TRY(lc_strdup(&module->path, path));
    enum lc_err err = lc_strdup(&module->build_id, build_id);
    if (err != LC_OK) {
        free(module->path);
        return err;
    }
    *id = (uint32_t)symbols->n_modules++;
    return open_module(module);
}

static const struct function *function_at(const struct module *module, uint64_t offset) {
    size_t low = LC_FIRST_WHERE(i, 0, module->n_functions, module->functions[i].begin > offset);
    if (low == 0)
        return NULL;
    uint64_t begin = module->functions[low - 1].begin;
    while (low > 1 && module->functions[low - 2].begin == begin)
        low--; /* the best of several names */
    for (; low - 1 < module->n_functions && module->functions[low - 1].begin == begin; low++) {
        const struct function *function = &module->functions[low - 1];
        if (offset == function->begin || offset < function->end)
            return function;
    }
    return NULL;
}

/* Parts and clones that the compiler makes of a function are the function to its readers, and so
 * are its versions in a library. */
static size_t length_without_suffix(const char *name) {
    static const char *const suffixes[] = {".cold", ".isra.", ".constprop.", ".lto_priv.", "@"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const char *at = strstr(name, suffixes[i]);
        if (at != NULL && at != name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

static enum lc_err name_function(struct lc_symbols *symbols, const struct function *function,
                                 struct lc_symbol *symbol) {
    size_t length = length_without_suffix(function->name);
    char *mangled = lc_arena_take(&symbols->texts, length + 1);
    if (mangled == NULL)
        return LC_ERR_NOMEM;
    memcpy(mangled, function->name, length);
    symbol->mangled = symbol->name = mangled;
    symbol->known = true;
    if (symbols->demangle != NULL && strncmp(mangled, "_Z", 2) == 0) {
        int status;
        char *plain = symbols->demangle(mangled, NULL, NULL, &status);
        if (plain != NULL && status == 0) {
            symbol->name = lc_arena_strdup(&symbols->texts, plain);
            free(plain);
            if (symbol->name == NULL)
                return LC_ERR_NOMEM;
        }
    }
    return LC_OK;
}

static enum lc_err make_up_name(struct lc_symbols *symbols, const char *path, uint64_t offset,
                                struct lc_symbol *symbol) {
    const char *base = base_name(path);
    size_t size = strlen(base) + 24;
    char *text = lc_arena_take(&symbols->texts, size);
    if (text == NULL)
        return LC_ERR_NOMEM;
    snprintf(text, size, "%s%s0x%llx", base, *base == '\0' ? "" : "+", (unsigned long long)offset);
    symbol->name = symbol->mangled = text;
    symbol->known = false;
    return LC_OK;
}

/* Without the table of address ranges (clang writes none) libdwfl finds no unit: all are asked. */
static const char *source_in_units(const struct module *module, uint64_t address, int *line) {
    Dwarf_Addr bias = 0;
    for (Dwarf_Die *unit = NULL;
         (unit = dwfl_module_nextcu(module->handle, unit, &bias)) != NULL;) {
        if (dwarf_haspc(unit, address - bias) <= 0)
            continue;
        Dwarf_Line *found = dwarf_getsrc_die(unit, address - bias);
        if (found != NULL && dwarf_lineno(found, line) == 0)
            return dwarf_linesrc(found, NULL, NULL);
    }
    return NULL;
}

static enum lc_err source_of(struct lc_symbols *symbols, const struct module *module,
                             uint64_t offset, const char **file, int64_t *line) {
    *file = "";
    *line = -1;
    if (!lc_module_has_lines(module))
        return LC_OK;
    Dwfl_Line *found = dwfl_module_getsrc(module->handle, offset + module->bias);
    int number = 0;
    const char *name = found == NULL ? source_in_units(module, offset + module->bias, &number)
                                     : dwfl_lineinfo(found, NULL, &number, NULL, NULL, NULL);
    if (name == NULL)
        return LC_OK;
    *file = lc_arena_strdup(&symbols->texts, name);
    *line = number;
    return *file == NULL ? LC_ERR_NOMEM : LC_OK;
}

static uint64_t hash_place(uint32_t module, uint64_t offset) {
    return offset ^ (uint64_t)module << 48;
}

static struct known *look_up(const struct lc_symbols *symbols, uint32_t module, uint64_t offset) {
    const struct known *known = symbols->known;
    uint32_t at = LC_LOOKUP(&symbols->known_at, hash_place(module, offset), i,
                            known[i].module == module && known[i].offset == offset);
    return at != LC_NONE ? &symbols->known[at] : NULL;
}

static enum lc_err remember(struct lc_symbols *symbols, const struct known *fresh) {
    LC_TRY(lc_grow(&symbols->known, &symbols->cap_known, symbols->n_known + 1,
                   sizeof symbols->known[0]));
    symbols->known[symbols->n_known++] = *fresh;
    return lc_lookup_add(&symbols->known_at, hash_place(fresh->module, fresh->offset),
                         (uint32_t)symbols->n_known - 1);
}

enum lc_err lc_symbols_function(struct lc_symbols *symbols, const char *path, const char *build_id,
                                uint64_t offset, struct lc_symbol *symbol) {
    uint32_t id;
    LC_TRY(lc_symbols_find_module(symbols, path, build_id, &id));
    const struct known *before = look_up(symbols, id, offset);
    if (before != NULL) {
        *symbol = before->symbol;
        return LC_OK;
    }
    struct module *module = &symbols->modules[id];
    const struct function *function = function_at(module, offset);
    struct known fresh = {.module = id, .offset = offset};
    if (is_vdso(module))
        fresh.symbol = (struct lc_symbol){.name = "[vdso]", .mangled = "[vdso]", .known = true};
    else if (function != NULL)
        LC_TRY(name_function(symbols, function, &fresh.symbol));
    else
        LC_TRY(make_up_name(symbols, path, offset, &fresh.symbol));
    LC_TRY(source_of(symbols, module, function != NULL ? function->begin : offset,
                     &fresh.symbol.file, &fresh.symbol.line));
    LC_TRY(remember(symbols, &fresh));
    *symbol = fresh.symbol;
    return LC_OK;
}

/* .eh_frame_hdr: 4 bytes of encodings (here those that linkers write), where .eh_frame is, how many
 * functions there are, and of each, ascending, where it begins, from the section on, and where its
 * rules are: 4 bytes each. */
enum { HEADER_BYTES = 12, ENTRY_BYTES = 8 };
static const unsigned char header_begin[4] = {1, 0x1b, 0x03, 0x3b};

static int64_t begin_in(const Elf_Data *data, uint64_t address, size_t i) {
    int32_t from_section;
    memcpy(&from_section, (const char *)data->d_buf + HEADER_BYTES + i * ENTRY_BYTES,
           sizeof from_section);
    return (int64_t)address + from_section;
}

/* The table of where functions begin, and its address; NULL: none that is understood. */
static Elf_Data *find_begins(const struct module *module, uint64_t *address, uint32_t *n) {
    GElf_Addr unused;
    size_t names;
    Elf *elf = dwfl_module_getelf(module->handle, &unused);
    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name == NULL || strcmp(name, ".eh_frame_hdr") != 0)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        if (data == NULL || data->d_buf == NULL || data->d_size < HEADER_BYTES ||
            memcmp(data->d_buf, header_begin, sizeof header_begin) != 0)
            return NULL;
        memcpy(n, (const char *)data->d_buf + HEADER_BYTES - sizeof *n, sizeof *n);
        *address = header.sh_addr;
        return (data->d_size - HEADER_BYTES) / ENTRY_BYTES >= *n ? data : NULL;
    }
    return NULL;
}

bool lc_symbols_begin(struct lc_symbols *symbols, const char *path, const char *build_id,
                      uint64_t offset, uint64_t *begin) {
    uint32_t id, n;
    uint64_t address;
    if (lc_symbols_find_module(symbols, path, build_id, &id) != LC_OK ||
        symbols->modules[id].handle == NULL)
        return false;
    const Elf_Data *data = find_begins(&symbols->modules[id], &address, &n);
    size_t behind =
        data != NULL ? LC_FIRST_WHERE(i, 0, n, begin_in(data, address, i) > (int64_t)offset) : 0;
    if (behind == 0)
        return false;
    *begin = (uint64_t)begin_in(data, address, behind - 1);
    return true;
}

enum lc_err lc_symbols_line(struct lc_symbols *symbols, const char *path, const char *build_id,
                            uint64_t offset, const char **file, int64_t *line) {
    uint32_t id;
    LC_TRY(lc_symbols_find_module(symbols, path, build_id, &id));
    return source_of(symbols, &symbols->modules[id], offset, file, line);
}

size_t lc_symbols_modules(const struct lc_symbols *symbols) {
    return symbols->n_modules;
}

const char *lc_symbols_module(const struct lc_symbols *symbols, size_t index,
                              enum lc_module_state *state) {
    *state = symbols->modules[index].state;
    return symbols->modules[index].path;
}
