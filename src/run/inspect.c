#include "run/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/executable.h"
#include "base/mem.h"
#include "run/libsearch.h"

/* "#!/usr/bin/env python3 -u" names python3. */
static enum lc_err read_interpreter(struct lc_program *program, const char *line) {
    char word[2][256] = {"", ""};
    sscanf(line + 2, " %255s %255s", word[0], word[1]);
    const char *base = strrchr(word[0], '/');
    bool env = base != NULL && strcmp(base, "/env") == 0;
    return lc_strdup(&program->interpreter, env ? word[1] : word[0]);
}

/* The object's own machine and word size must be ours: else the library cannot go into it. */
static bool is_native(const GElf_Ehdr *header) {
    static const unsigned char native_class =
        sizeof(void *) == 8 ? (unsigned char)ELFCLASS64 : (unsigned char)ELFCLASS32;
#if defined(__x86_64__)
    bool machine = header->e_machine == EM_X86_64;
#elif defined(__aarch64__)
    bool machine = header->e_machine == EM_AARCH64;
#else
    bool machine = true;
#endif
    return machine && header->e_ident[EI_CLASS] == native_class;
}

static bool has_program_header(Elf *elf, GElf_Word type) {
    size_t count = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == type)
            return true;
    return false;
}

static void look_at_sections(struct lc_program *program, Elf *elf) {
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings) != 0)
        return;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL)
            continue;
        const char *name = elf_strptr(elf, strings, header.sh_name);
        if (header.sh_type == SHT_SYMTAB)
            program->has_symbols = true;
        if (name != NULL && strcmp(name, ".debug_info") == 0)
            program->has_debug = true;
    }
}

static enum lc_err look_at_elf(struct lc_program *program, int fd) {
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL) {
        elf_end(elf);
        return LC_OK; /* neither script nor ELF: the kernel decides */
    }
    program->is_elf = true;
    program->is_foreign = !is_native(&header);
    /* Static PIE programs have a dynamic section, but no dynamic linker. */
    program->is_static = !has_program_header(elf, PT_INTERP);
    look_at_sections(program, elf);
    elf_end(elf);
    return LC_OK;
}

/* One of the symbols that the object exports. */
static bool exports(Elf *elf, const char *wanted) {
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (symbol.st_shndx != SHN_UNDEF && name != NULL && strcmp(name, wanted) == 0)
                return true;
        }
    }
    return false;
}

/* false: no MPI library. Only those with "mpi" in their names are opened. */
static bool is_mpi_library(const char *path, enum lc_flavour *flavour) {
    const char *base = strrchr(path, '/');
    int fd = strcasestr(base != NULL ? base : path, "mpi") != NULL
                 ? open(path, O_RDONLY | O_CLOEXEC)
                 : -1;
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool mpi = elf != NULL && exports(elf, LC_MPI_SYMBOL);
    if (mpi)
        *flavour = lc_flavour_decide(path, NULL, exports(elf, LC_OPENMPI_SYMBOL));
    elf_end(elf);
    close(fd);
    return mpi;
}

static enum lc_err note_library(void *context, const char *path) {
    struct lc_program *program = context;
    const char *base = strrchr(path, '/');
    base = base == NULL ? path : base + 1;
    if (strncmp(base, "libgomp.so", 10) == 0 || strncmp(base, "libomp.so", 9) == 0 ||
        strncmp(base, "libiomp5.so", 11) == 0)
        program->uses_openmp = true;
    if (program->mpi_library == NULL && is_mpi_library(path, &program->flavour))
        LC_TRY(lc_strdup(&program->mpi_library, path));
    return LC_OK;
}

static enum lc_err inspect_file(struct lc_program *program) {
    char head[512] = "";
    int fd = open(program->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return LC_OK; /* executable, but not readable */
    ssize_t got = read(fd, head, sizeof head - 1);
    enum lc_err err = LC_OK;
    if (got >= 2 && head[0] == '#' && head[1] == '!') {
        program->script = true;
        head[strcspn(head, "\n")] = '\0';
        err = read_interpreter(program, head);
    } else if (got >= 4 && memcmp(head, "\177ELF", 4) == 0) {
        err = look_at_elf(program, fd);
    }
    close(fd);
    if (err == LC_OK && program->is_elf && !program->is_static && !program->is_foreign)
        err = lc_libsearch_walk(program->path, note_library, program);
    return err;
}

/* "/lib64/ld-linux-x86-64.so.2 --argv0 solver ./solver.bin" runs ./solver.bin. */
const char *lc_program_of(char *const *argv) {
    static const char *const with_value[] = {
        "--library-path",         "--inhibit-rpath",    "--audit", "--preload", "--argv0",
        "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"};
    const char *slash = strrchr(argv[0], '/'), *base = slash == NULL ? argv[0] : slash + 1;
    if (strncmp(base, "ld-", 3) != 0 && strncmp(base, "ld64.so", 7) != 0 &&
        strcmp(base, "ld.so") != 0)
        return argv[0];
    for (size_t i = 1; argv[i] != NULL; i++) {
        if (argv[i][0] != '-')
            return argv[i];
        for (size_t w = 0; w < sizeof with_value / sizeof *with_value; w++)
            if (strcmp(argv[i], with_value[w]) == 0 && argv[i + 1] != NULL) {
                i++;
                break;
            }
    }
    return argv[0];
}

enum lc_err lc_program_inspect(struct lc_program *program, const char *name) {
    *program = (struct lc_program){0};
    program->path = lc_find_executable(name);
    if (program->path == NULL)
        return lc_fail(LC_ERR_NOT_FOUND, "%s: no such program: check the name and PATH", name);
    struct stat status;
    enum lc_err err = LC_OK;
    if (stat(program->path, &status) != 0)
        err = lc_fail_errno(LC_ERR_IO, "%s: cannot be run", name);
    else if (!lc_is_executable_file(program->path))
        err = lc_fail(LC_ERR_IO, "%s: cannot be run: not an executable file", name);
    if (err == LC_OK) {
        program->is_privileged = (status.st_mode & S_ISUID && status.st_uid != geteuid()) ||
                                 (status.st_mode & S_ISGID && status.st_gid != getegid());
        err = inspect_file(program);
    }
    if (err != LC_OK)
        lc_program_free(program);
    return err;
}

void lc_program_free(struct lc_program *program) {
    free(program->path);
    free(program->interpreter);
    free(program->mpi_library);
    *program = (struct lc_program){0};
}
