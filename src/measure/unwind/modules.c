#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <ctype.h>
#include <dlfcn.h>

#include "base/c_library.h"
#include "measure/unwind/modules.h"
#include "measure/core/state_write.h"
#include "base/hash.h"
#include "base/hot_data.h"

LC_HOT_DATA struct lc_bindings lc_bindings;

/* Answers by return address: address << 1 | own; 0: empty. Two places for each; what finds both
 * taken replaces the first. */
enum { ANSWERS = 2048 };
static _Atomic uint64_t answers[ANSWERS];

static bool is_binding(const char *path) {
    static const char *const names[] = {"libmpi_mpifh", "libmpi_usempi", "libmpichfort"};
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A library that is loaded: is it a binding? Noted then. With lc_core.lock held. */
static void lc_bindings_note(const char *path, uint64_t begin, uint64_t end) {
    if (!is_binding(path))
        return;
    uint64_t low = atomic_load_explicit(&lc_bindings.begin, memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&lc_bindings.end, memory_order_relaxed);
    if (high == 0 || begin < low)
        atomic_store_explicit(&lc_bindings.begin, begin, memory_order_relaxed);
    if (end > high)
        atomic_store_explicit(&lc_bindings.end, end, memory_order_relaxed);
}

/* A library went away: others may come to lie there. */
static void lc_bindings_forget(void) {
    for (int i = 0; i < ANSWERS; i++)
        atomic_store_explicit(&answers[i], 0, memory_order_relaxed);
}

/* Is it within a Fortran binding? dladdr looks at all symbols of the library (35 us). */
static bool in_binding(uint64_t ra) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object found;
    return _dl_find_object((void *)(ra - 1), &found) == 0 && found.dlfo_link_map != NULL &&
           is_binding(found.dlfo_link_map->l_name);
#else
    Dl_info place;
    return dladdr((void *)(ra - 1), &place) != 0 && place.dli_fname != NULL &&
           is_binding(place.dli_fname);
#endif
}

/* "_send_" in "_mpi_send__", "_ompi_send_f_", "_mpir_send_cdesc_": the binding of MPI_Send */
static bool named_after(const char *caller_name, const char *name) {
    char wanted[128], caller[256];
    snprintf(wanted, sizeof wanted, "%s_", strchr(name, '_'));
    snprintf(caller, sizeof caller, "_%s_", caller_name);
    for (char *c = wanted; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    for (char *c = caller; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return strstr(caller, wanted) != NULL;
}

static bool find_own(uint64_t ra, const char *name) {
    Dl_info place;
    if (!in_binding(ra))
        return false;
    size_t length = strlen(name);
    if (length > 4 &&
        (strcmp(name + length - 4, "_f2c") == 0 || strcmp(name + length - 4, "_c2f") == 0))
        return true;
    if (dladdr((void *)(ra - 1), &place) == 0 ||
        place.dli_sname ==
            NULL) /* MPICH's descriptor functions, not exported: types for sections */
        return strncmp(name, "MPI_Type_", 9) == 0;
    return !named_after(place.dli_sname, name);
}

bool lc_bindings_own(uint64_t ra, const char *name) {
    uint64_t at = (lc_hash_key(ra) >> 40) % ANSWERS, kept;
    for (uint64_t i = 0; i < 2; i++) {
        kept = atomic_load_explicit(&answers[at ^ i], memory_order_relaxed);
        if (kept >> 1 == ra)
            return kept & 1;
    }
    bool own = find_own(ra, name);
    uint64_t second = atomic_load_explicit(&answers[at ^ 1], memory_order_relaxed);
    kept = atomic_load_explicit(&answers[at], memory_order_relaxed);
    atomic_store_explicit(&answers[kept == 0 || second != 0 ? at : at ^ 1], ra << 1 | own,
                          memory_order_relaxed);
    return own;
}

bool lc_bindings_forwards(uint64_t ra, const char *name) {
    return in_binding(ra) && !find_own(ra, name);
}

enum { MODULES_MAX = 512 };
static struct lc_module modules[MODULES_MAX];
static int n_modules;
static int last_found;

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static enum lc_module_kind kind_of(const char *path) {
    static const char *const mpi[] = {"libmpi",  "liblatecomer", "libopen-pal", "libopen-rte",
                                      "libpmpi", "mca_",         "libmca_"};
    if (path[0] == '\0')
        return LC_MODULE_PROGRAM;
    const char *base = base_name(path);
    for (size_t i = 0; i < sizeof mpi / sizeof *mpi; i++)
        if (strncmp(base, mpi[i], strlen(mpi[i])) == 0)
            return LC_MODULE_MPI;
    return lc_c_library(base) ? LC_MODULE_LIBC : LC_MODULE_OTHER;
}

struct search {
    uint64_t address;
    struct lc_module found;
    char path[4096];
    char build_id[2 * 64 + 1];
    bool ok;
};

static void read_build_id(const char *note, size_t bytes, char *out) {
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)note;
        size_t name = ((size_t)head->n_namesz + 3) & ~(size_t)3;
        size_t desc = ((size_t)head->n_descsz + 3) & ~(size_t)3;
        if (sizeof *head + name + desc > bytes)
            return;
        const unsigned char *id = (const unsigned char *)note + sizeof *head + name;
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && head->n_descsz <= 64) {
            for (size_t i = 0; i < head->n_descsz; i++)
                sprintf(out + 2 * i, "%02x", id[i]);
            return;
        }
        note += sizeof *head + name + desc;
        bytes -= sizeof *head + name + desc;
    }
}

static void find_build_id(const struct dl_phdr_info *info, char *out) {
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            read_build_id((const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                          info->dlpi_phdr[i].p_memsz, out);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *s = data;
    (void)size;
    uint64_t begin = UINT64_MAX, end = 0;
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uint64_t from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        begin = from < begin ? from : begin;
        end = to > end ? to : end;
        inside = inside || (s->address >= from && s->address < to);
    }
    if (!inside)
        return 0;
    s->found = (struct lc_module){
        .begin = begin, .end = end, .bias = info->dlpi_addr, .kind = kind_of(info->dlpi_name)};
    snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    find_build_id(info, s->build_id);
    s->ok = true;
    return 1;
}

/* The executable comes first. */
static int visit_program(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    find_build_id(info, data);
    return 1;
}

/* The file that an address of the program is from, "" if unknown. /proc/self/exe is another one if
 * the program was started by the dynamic linker. */
static void program_file(uint64_t address, char *path, size_t bytes) {
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long long begin, end;
    int at = 0;
    path[0] = '\0';
    while (maps != NULL && path[0] == '\0' && fgets(path, (int)bytes, maps) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        if (sscanf(path, "%llx-%llx %*s %*s %*s %*s %n", &begin, &end, &at) == 2 && at > 0 &&
            address >= begin && address < end)
            memmove(path, path + at, strlen(path + at) + 1);
        else
            path[0] = '\0';
        at = 0;
    }
    if (maps != NULL)
        fclose(maps);
    if (path[0] != '/') {
        ssize_t n = readlink("/proc/self/exe", path, bytes - 1);
        path[n > 0 ? n : 0] = '\0';
    }
}

void lc_module_program(char id[LC_PROGRAM_ID_BYTES]) {
    char path[4096], build_id[2 * 64 + 1] = "";
    program_file(getauxval(AT_PHDR), path, sizeof path);
    dl_iterate_phdr(visit_program, build_id);
    lc_program_id(id, path, build_id);
}

const struct lc_module *lc_module_find(uint64_t address) {
    if (last_found < n_modules && address >= modules[last_found].begin &&
        address < modules[last_found].end)
        return &modules[last_found];
    for (int i = 0; i < n_modules; i++)
        if (address >= modules[i].begin && address < modules[i].end) {
            last_found = i;
            return &modules[i];
        }
    struct search s = {.address = address};
    dl_iterate_phdr(visit, &s);
    if (!s.ok)
        return NULL;
    if (s.found.kind == LC_MODULE_PROGRAM)
        program_file(address, s.path, sizeof s.path);
    s.found.id = lc_state_add_module(s.path, s.build_id, s.found.bias);
    if (s.found.id == LC_NONE)
        return NULL;
    lc_bindings_note(s.path, s.found.begin, s.found.end);
    if (n_modules == MODULES_MAX)
        n_modules = 0;
    last_found = n_modules;
    modules[n_modules] = s.found;
    return &modules[n_modules++];
}

void lc_modules_forget(void) {
    n_modules = 0;
    lc_bindings_forget();
}
