#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "format/facts.h"
#include "measure/core/core.h"
#include "measure/gather/audit.h"
#include "measure/unwind/modules.h"
#include "measure/stub/stub.h"

/* Which objects of the process call MPI past the wrappers? The words that their calls jump through
 * (global offset tables) are compared with the places of the MPI library: an object opened with
 * RTLD_DEEPBIND, or linked to find the library first, points straight into it. */

struct audit {
    struct lc_strbuf *facts;
    uint64_t mpi_begin, mpi_end;
};

struct object {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
};

static uint64_t absolute(const struct dl_phdr_info *info, uint64_t value) {
    /* The dynamic linker has relocated these words of most objects, not of all (vdso). */
    return value < info->dlpi_addr ? value + info->dlpi_addr : value;
}

static bool read_dynamic(const struct dl_phdr_info *info, struct object *o) {
    const ElfW(Dyn) *dynamic = NULL;
    memset(o, 0, sizeof *o);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        uint64_t place = absolute(info, dynamic->d_un.d_ptr);
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            o->symbols = (const ElfW(Sym) *)place;
            break;
        case DT_STRTAB:
            o->strings = (const char *)place;
            break;
        case DT_JMPREL:
            o->tables[0] = (const ElfW(Rela) *)place;
            break;
        case DT_PLTRELSZ:
            o->bytes[0] = dynamic->d_un.d_val;
            break;
        case DT_RELA:
            o->tables[1] = (const ElfW(Rela) *)place;
            break;
        case DT_RELASZ:
            o->bytes[1] = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    }
    return o->symbols != NULL && o->strings != NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct audit *a = data;
    struct object o;
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash != NULL ? slash + 1 : info->dlpi_name;
    if (strncmp(base, "libmpi", 6) == 0 || strncmp(base, "liblatecomer", 12) == 0 ||
        strncmp(base, "linux-vdso", 10) == 0 || strstr(info->dlpi_name, "/openmpi/") != NULL ||
        !read_dynamic(info, &o))
        return 0;
    struct lc_fact_object found = {0};
    for (int k = 0; k < 2; k++) {
        size_t n = o.tables[k] != NULL ? o.bytes[k] / sizeof(ElfW(Rela)) : 0;
        for (size_t i = 0; i < n; i++) {
            const ElfW(Sym) *symbol = &o.symbols[ELF64_R_SYM(o.tables[k][i].r_info)];
            const char *name = o.strings + symbol->st_name;
            if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "PMPI_", 5) != 0)
                continue;
            uint64_t target = *(const uint64_t *)(info->dlpi_addr + o.tables[k][i].r_offset);
            Dl_info where;
            if (target < a->mpi_begin || target >= a->mpi_end ||
                dladdr((void *)target, &where) == 0 || where.dli_sname == NULL ||
                strstr(where.dli_sname, "PI_") == NULL) /* data of the library is no call */
                continue;
            found.symbols++;
            snprintf(found.example, sizeof found.example, "%s", name);
        }
    }
    snprintf(found.name, sizeof found.name, "%s", base);
    if (found.symbols > 0)
        lc_facts_put(a->facts, LC_FACT_OBJECT, &found, sizeof found);
    return 0;
}

void lc_audit_put_facts(struct lc_strbuf *facts) {
    struct audit a = {.facts = facts};
    pthread_mutex_lock(&lc_core.lock);
    const struct lc_module *m = lc_module_find((uint64_t)lc_real.Send);
    if (m != NULL) {
        a.mpi_begin = m->begin;
        a.mpi_end = m->end;
    }
    pthread_mutex_unlock(&lc_core.lock);
    dl_iterate_phdr(visit, &a);
}
