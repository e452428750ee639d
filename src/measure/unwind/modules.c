#include "base/c_library.h"
#include "measure/unwind/bindings.h"
#include "measure/unwind/modules.h"
#include "measure/core/state_write.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

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
