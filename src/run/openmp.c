#include "run/openmp.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "format/omp_construct.h"
#include "run/libsearch.h"
#include "run/run_options.h"

enum { WHY = 256 };

/* What an object wants of OpenMP: functions of libgomp, and of the OpenMP API. */
static bool is_openmp(const char *name) {
    return strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0;
}

/* Calls `see` for each symbol of the file's table of this type (SHT_DYNSYM: what it shares with
 * others); it returns false to stop. */
static void each_symbol(const char *path, GElf_Word type,
                        bool (*see)(void *context, const char *name, bool own), void *context) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool more = elf != NULL;
    for (Elf_Scn *section = NULL; more && (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != type)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; more && data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (name != NULL && name[0] != '\0')
                more = see(context, name, symbol.st_shndx != SHN_UNDEF);
        }
    }
    elf_end(elf);
    close(fd);
}

/* LLVM's runtimes before 19 free the dependences of a `taskwait depend` while other threads use
 * them: one run in a hundred crashes, without a tool as well. A function that 19 is the first to
 * have tells which it is. */
static const char taskwait_depend[] = "GOMP_taskwait_depend", since_19[] = "__kmpc_dispatch_deinit";

struct names {
    char **names;
    size_t n, cap;
    enum lc_err err;
};

static bool add(struct names *all, const char *name) {
    all->err = lc_grow(&all->names, &all->cap, all->n + 1, sizeof all->names[0]);
    if (all->err == LC_OK)
        all->err = lc_strdup(&all->names[all->n], name);
    all->n += all->err == LC_OK;
    return all->err == LC_OK;
}

static bool collect_own(void *context, const char *name, bool own) {
    return !own || !(is_openmp(name) || strcmp(name, since_19) == 0) || add(context, name);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_name(const struct names *all, const char *name) {
    return bsearch(&name, all->names, all->n, sizeof(char *), compare) != NULL;
}

struct look {
    const struct names *has; /* LLVM's runtime, sorted */
    bool gomp, llvm, own;    /* libraries that are needed; functions that the file itself has */
    bool llvm_first;         /* its functions are found before libgomp's */
    bool tool;               /* a tool for OpenMP of the program's own */
    char missing[128];       /* a function that LLVM's runtime lacks */
    char failing[128];       /* a function with which it crashes, though it has it */
};

/* 14: ordered with depend, detached tasks, as GCC compiles them. */
static bool fails(const struct look *look, const char *name) {
    return strstr(name, "doacross") != NULL || strcmp(name, "omp_fulfill_event") == 0 ||
           (strcmp(name, taskwait_depend) == 0 && !has_name(look->has, since_19));
}

static bool check_wanted(void *context, const char *name, bool own) {
    struct look *look = context;
    look->tool = look->tool || (own && strcmp(name, "ompt_start_tool") == 0);
    if (!is_openmp(name))
        return true;
    look->own = look->own || (own && strncmp(name, "GOMP_", 5) == 0);
    if (!own && fails(look, name)) {
        snprintf(look->failing, sizeof look->failing, "%s", name);
        return false;
    }
    if (!own && !has_name(look->has, name)) {
        snprintf(look->missing, sizeof look->missing, "%s", name);
        return false;
    }
    return true;
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static enum lc_err look_at(void *context, const char *path) {
    struct look *look = context;
    const char *base = base_of(path);
    if (strncmp(base, "libgomp.so", 10) == 0) {
        look->gomp = true;
        return LC_OK;
    }
    if (strncmp(base, "libomp.so", 9) == 0 || strncmp(base, "libiomp5.so", 11) == 0) {
        look->llvm = true;
        look->llvm_first |= !look->gomp;
        return LC_OK;
    }
    if (look->has != NULL && look->missing[0] == '\0' && look->failing[0] == '\0')
        each_symbol(path, SHT_DYNSYM, check_wanted, look);
    return LC_OK;
}

static enum lc_err try_library(const struct lc_program *program, const char *library, char *why) {
    struct names has = {0};
    struct look look = {.has = &has};
    each_symbol(library, SHT_DYNSYM, collect_own, &has);
    enum lc_err err = has.err;
    if (err == LC_OK) {
        if (has.n > 0)
            qsort(has.names, has.n, sizeof has.names[0], compare);
        look_at(&look, program->path);
        err = lc_libsearch_walk(program->path, look_at, &look);
    }
    if (err == LC_OK && look.missing[0] != '\0')
        snprintf(why, WHY, "it calls %.100s, which LLVM's OpenMP runtime does not have",
                 look.missing);
    else if (err == LC_OK && look.failing[0] != '\0')
        snprintf(why, WHY, "it calls %.100s, on which LLVM's OpenMP runtime fails", look.failing);
    else if (err == LC_OK && look.own)
        snprintf(why, WHY, "libgomp is also linked into one of its files");
    else if (err == LC_OK && look.tool)
        snprintf(why, WHY, "it has a tool for OpenMP of its own (ompt_start_tool)");
    for (size_t i = 0; i < has.n; i++)
        free(has.names[i]);
    free(has.names);
    return err;
}

static bool tools_are_disabled(void) {
    const char *tool = getenv("OMP_TOOL");
    return tool != NULL && strcmp(tool, "disabled") == 0;
}

bool lc_openmp_is_native(void) {
    const char *option = lc_run_option_text("openmp");
    return (option == NULL || strcmp(option, "libomp") != 0) && !tools_are_disabled();
}

enum lc_err lc_openmp_choose(const struct lc_program *program, char **library, char *why) {
    struct look look = {0};
    *library = NULL;
    why[0] = '\0';
    if (!program->is_elf || !program->uses_openmp)
        return LC_OK;
    LC_TRY(lc_libsearch_walk(program->path, look_at, &look));
    if (tools_are_disabled()) {
        snprintf(why, WHY, "OMP_TOOL=disabled");
        return LC_OK;
    }
    if (!look.gomp || look.llvm_first || lc_openmp_is_native())
        return LC_OK;
    if (look.llvm) {
        snprintf(why, WHY, "it loads both libgomp and LLVM's OpenMP runtime");
        return LC_OK;
    }
    LC_TRY(lc_libsearch_find("libomp.so.5", library));
    if (*library == NULL) {
        snprintf(why, WHY,
                 "libgomp does not report to tools, and LLVM's runtime is not installed: install "
                 "libomp.so.5 (Debian: libomp5)");
        return LC_OK;
    }
    enum lc_err err = try_library(program, *library, why);
    if (err == LC_OK && why[0] == '\0')
        return LC_OK;
    free(*library);
    *library = NULL;
    return err;
}

/* Sorted. */
static const char *const known[] = {
#include "run/gomp_known.inc"
};

/* Calls of libgomp that a newer compiler makes: they go to it as they are. */
static bool is_newer(const char *name) {
    return strncmp(name, "GOMP_", 5) == 0 &&
           bsearch(&name, known, sizeof known / sizeof known[0], sizeof known[0], compare) == NULL;
}

/* Regions that may run on another device, as clang and GCC compile them: what they do there is not
 * seen. */
static bool is_for_devices(const char *name) {
    return strncmp(name, "__tgt_target", 12) == 0 ||
           strncmp(name, "GOMP_offload_register", 21) == 0;
}

static bool check_unknown(void *context, const char *name, bool own) {
    struct names *all = context;
    if (own || !(is_newer(name) || is_for_devices(name)))
        return true;
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->names[i], name) == 0)
            return true;
    return add(all, name);
}

static enum lc_err look_for_unknown(void *context, const char *path) {
    struct names *all = context;
    if (!lc_omp_is_runtime(path))
        each_symbol(path, SHT_DYNSYM, check_unknown, all);
    return all->err;
}

enum lc_err lc_openmp_unknown(const struct lc_program *program, char ***names, size_t *n) {
    struct names all = {0};
    enum lc_err err = LC_OK;
    if (program->is_elf && program->uses_openmp) {
        err = look_for_unknown(&all, program->path);
        if (err == LC_OK)
            err = lc_libsearch_walk(program->path, look_for_unknown, &all);
    }
    *names = all.names;
    *n = all.n;
    return err;
}

static bool check_tasks(void *context, const char *name, bool own) {
    static const char *const creates[] = {"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
                                          "__kmpc_omp_task_alloc", "__kmpc_omp_target_task_alloc"};
    bool *makes = context;
    for (size_t i = 0; i < sizeof creates / sizeof *creates; i++)
        *makes = *makes || (!own && strcmp(name, creates[i]) == 0);
    return !*makes;
}

static enum lc_err look_for_tasks(void *context, const char *path) {
    const bool *makes = context;
    if (!*makes && !lc_omp_is_runtime(path))
        each_symbol(path, SHT_DYNSYM, check_tasks, context);
    return LC_OK;
}

bool lc_openmp_makes_tasks(const struct lc_program *program) {
    bool makes = false;
    if (program->is_elf && program->uses_openmp && look_for_tasks(&makes, program->path) == LC_OK)
        lc_libsearch_walk(program->path, look_for_tasks, &makes);
    return makes;
}

static bool check_inside(void *context, const char *name, bool own) {
    bool *inside = context;
    *inside = own && strcmp(name, "GOMP_parallel") == 0;
    return !*inside;
}

bool lc_openmp_inside(const struct lc_program *program) {
    bool inside = false;
    if (program->is_elf)
        each_symbol(program->path, SHT_SYMTAB, check_inside, &inside);
    return inside;
}
