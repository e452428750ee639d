#include "run/doctor.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/perf_sampler.h"
#include "base/timer.h"
#include "base/mem.h"
#include "job/executable.h"
#include "run/inspect.h"
#include "run/run.h"

static enum lc_err add(struct lc_checkup *findings, enum lc_verdict verdict, const char *subject,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

static enum lc_err add(struct lc_checkup *findings, enum lc_verdict verdict, const char *subject,
                       const char *format, ...) {
    LC_TRY(lc_grow(&findings->items, &findings->cap_items, findings->n_items + 1,
                   sizeof findings->items[0]));
    struct lc_doctor_check *finding = &findings->items[findings->n_items++];
    finding->verdict = verdict;
    finding->subject = subject;
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof finding->text, format, // NOLINT(clang-analyzer-valist.*)
              args);
    va_end(args);
    return LC_OK;
}

void lc_checkup_free(struct lc_checkup *findings) {
    free(findings->items);
    *findings = (struct lc_checkup){0};
}

static bool has_core(const char *stub, enum lc_flavour flavour) {
    char core[PATH_MAX];
    const char *slash = strrchr(stub, '/');
    snprintf(core, sizeof core, "%.*s/liblatecomer-core-%s.so", (int)(slash - stub), stub,
             lc_flavour_word(flavour));
    return access(core, R_OK) == 0;
}

static enum lc_err look_at_library(struct lc_checkup *f) {
    static const enum lc_flavour flavours[] = {LC_FLAVOUR_IS_OPENMPI, LC_FLAVOUR_IS_MPICH};
    char *stub;
    if (lc_run_find_library(&stub) != LC_OK)
        return add(f, LC_VERDICT_BAD, "library", "%s", lc_err_text());
    enum lc_err err = LC_OK;
    for (size_t i = 0; err == LC_OK && i < 2; i++)
        err = has_core(stub, flavours[i]) ? add(f, LC_VERDICT_OK, "library", "measures %s programs",
                                                lc_flavour_name(flavours[i]))
                                          : add(f, LC_VERDICT_NOTE, "library",
                                                "built without %s: programs that use it run "
                                                "unmeasured: build Latecomer with that "
                                                "MPI installed",
                                                lc_flavour_name(flavours[i]));
    free(stub);
    return err;
}

/* Each once, though it may have several names. */
static enum lc_err look_at_launchers(struct lc_checkup *f) {
    enum { MOST = 8 };
    char list[512] = "", *seen[MOST];
    size_t n = 0;
    for (const char *const *name = lc_launcher_names(); *name != NULL && n < MOST; name++) {
        char *path = lc_find_executable(*name);
        char *file = path != NULL ? realpath(path, NULL) : NULL;
        bool known = file == NULL;
        for (size_t i = 0; i < n; i++)
            known |= file != NULL && strcmp(file, seen[i]) == 0;
        if (known) {
            free(file);
        } else {
            seen[n++] = file;
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n > 1 ? ", " : "",
                     path);
        }
        free(path);
    }
    while (n > 0)
        free(seen[--n]);
    if (list[0] == '\0')
        return add(f, LC_VERDICT_BAD, "launcher",
                   "none found: MPI programs run as a single process: install an MPI (Debian: "
                   "openmpi-bin or mpich)");
    return add(f, LC_VERDICT_OK, "launcher", "%s", list);
}

static enum lc_err look_at_clock(struct lc_checkup *f) {
    enum { READS = 20000 };
    lc_timer_init();
    uint64_t begin = lc_monotonic_raw_ns();
    for (int i = 0; i < READS; i++)
        (void)lc_ticks();
    double ns = (double)(lc_monotonic_raw_ns() - begin) / READS;
    if (lc_timer.by_counter)
        return add(f, LC_VERDICT_OK, "clock",
                   "constant-rate counter of the processor, %.0f ns per read", ns);
    return add(f, LC_VERDICT_NOTE, "clock",
               "no invariant counter; the system clock is used instead, %.0f ns per read: "
               "measuring costs a "
               "little more per MPI call",
               ns);
}

static enum lc_err look_at_cores(struct lc_checkup *f) {
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)online;
    if (usable < online)
        return add(f, LC_VERDICT_NOTE, "cores",
                   "%d of %ld usable here: with more processes or threads than that, waiting "
                   "includes waiting for a core: start fewer",
                   usable, online);
    return add(f, LC_VERDICT_OK, "cores",
               "%d: with more processes or threads than that, waiting includes waiting for a core",
               usable);
}

static enum lc_err look_at_memory(struct lc_checkup *f) {
    char path[64];
    int fd = memfd_create("latecomer-doctor", MFD_CLOEXEC), again = -1;
    if (fd >= 0) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
        again = open(path, O_RDWR | O_CLOEXEC);
    }
    enum lc_err err =
        again >= 0 ? add(f, LC_VERDICT_OK, "shared memory", "results survive when programs die")
                   : add(f, LC_VERDICT_BAD, "shared memory",
                         "cannot be shared through /proc, so programs run unmeasured: mount /proc, "
                         "allow memfd_create");
    if (again >= 0)
        close(again);
    if (fd >= 0)
        close(fd);
    return err;
}

static enum lc_err look_at_counters(struct lc_checkup *f) {
    int level = 99;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file == NULL)
        return add(f, LC_VERDICT_NOTE, "counters",
                   "the kernel has no performance events; no result needs them");
    if (fscanf(file, "%d", &level) != 1)
        level = 99;
    fclose(file);
    if (level <= 2 || geteuid() == 0)
        return add(f, LC_VERDICT_OK, "counters", "performance events are allowed (level %d)",
                   level);
    return add(f, LC_VERDICT_NOTE, "counters",
               "performance events are forbidden (perf_event_paranoid %d); no result needs them",
               level);
}

static enum lc_err look_at_sampling(struct lc_checkup *f) {
    int error = lc_perf_sampler_try();
    if (error == 0)
        return add(f, LC_VERDICT_OK, "sampling",
                   "the code between MPI calls is sampled, so that functions that call no MPI "
                   "have names (--sample=off turns this off)%s",
                   lc_perf_sees_switches() ? ""
                                           : "; functions that sleep are not named (needs "
                                             "kernel.perf_event_paranoid of 1 or less)");
    return add(f, LC_VERDICT_NOTE, "sampling",
               "functions without MPI calls cannot be seen: %s; or --sample=timer, by signals: "
               "these may interrupt system calls",
               lc_perf_why(error));
}

static enum lc_err look_at_place(struct lc_checkup *f) {
    if (access(".", W_OK | X_OK) == 0)
        return LC_OK;
    return add(f, LC_VERDICT_NOTE, "directory",
               "the working directory is not writable: choose another place with -o DIR");
}

/* What the ELF file itself tells: tables for unwinding, and an MPI of its own inside. */
struct elf_facts {
    bool unwindable, has_own_mpi, calls_pmpi;
};

static void look_at_symbols(Elf *elf, struct elf_facts *facts) {
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (gelf_getshdr(section, &header) == NULL || header.sh_entsize == 0 ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (name == NULL)
                continue;
            if (symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
                (strcmp(name, "MPI_Init") == 0 || strcmp(name, "PMPI_Init") == 0))
                facts->has_own_mpi = true;
            if (symbol.st_shndx == SHN_UNDEF && strncmp(name, "PMPI_", 5) == 0)
                facts->calls_pmpi = true;
        }
    }
}

static struct elf_facts look_into(const char *path) {
    struct elf_facts facts = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return facts;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    size_t count = 0;
    if (elf != NULL && elf_getphdrnum(elf, &count) == 0) {
        GElf_Phdr header;
        for (size_t i = 0; i < count; i++)
            if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == PT_GNU_EH_FRAME)
                facts.unwindable = true;
        look_at_symbols(elf, &facts);
    }
    elf_end(elf);
    close(fd);
    return facts;
}

static enum lc_err check_names(struct lc_checkup *f, const struct lc_program *program) {
    if (program->has_debug)
        return add(f, LC_VERDICT_OK, "names", "functions, files and lines");
    if (program->has_symbols)
        return add(f, LC_VERDICT_NOTE, "names",
                   "functions only: compile with -g for files and lines");
    return add(
        f, LC_VERDICT_NOTE, "names",
        "the program is stripped: only exported functions have names, the "
        "others are shown as name+0x1a2b: do not strip it, or install its debug symbols (-dbgsym)");
}

static enum lc_err check_mpi(struct lc_checkup *f, const struct lc_program *program) {
    const char *name = lc_flavour_name(program->flavour);
    char *stub;
    if (program->flavour == LC_FLAVOUR_UNKNOWN)
        return add(f, LC_VERDICT_NOTE, "MPI",
                   "%s is not a known name: whether it can be measured is decided when it runs",
                   program->mpi_library);
    if (lc_run_find_library(&stub) != LC_OK) /* told already */
        return LC_OK;
    bool measured = has_core(stub, program->flavour);
    free(stub);
    if (measured)
        return add(f, LC_VERDICT_OK, "MPI", "%s (%s)", name, program->mpi_library);
    return add(f, LC_VERDICT_BAD, "MPI",
               "%s (%s): Latecomer was built without that kind of MPI: it runs unmeasured: build "
               "Latecomer with it installed",
               name, program->mpi_library);
}

static enum lc_err check_elf(struct lc_checkup *f, const struct lc_program *program) {
    struct elf_facts facts = look_into(program->path);
    if (program->is_static)
        return add(f, LC_VERDICT_BAD, "program",
                   "linked statically: nothing can be preloaded, it runs unmeasured: link it "
                   "dynamically");
    if (program->is_foreign)
        return add(f, LC_VERDICT_BAD, "program", "built for another processor: it runs unmeasured");
    if (program->is_privileged)
        LC_TRY(add(f, LC_VERDICT_BAD, "program",
                   "set-user-id programs ignore preloading and run unmeasured: measure a copy "
                   "without that bit"));
    if (facts.has_own_mpi)
        LC_TRY(add(f, LC_VERDICT_BAD, "MPI",
                   "MPI is linked statically, so its calls cannot be intercepted: link MPI "
                   "dynamically"));
    else if (program->mpi_library != NULL)
        LC_TRY(check_mpi(f, program));
    else
        LC_TRY(add(f, LC_VERDICT_NOTE, "MPI",
                   "the program is not linked to an MPI library found here; if it "
                   "loads one itself, it is measured all the same"));
    if (facts.calls_pmpi)
        LC_TRY(add(f, LC_VERDICT_NOTE, "coverage",
                   "it calls PMPI functions directly; they are measured like MPI functions"));
    LC_TRY(check_names(f, program));
    if (facts.unwindable)
        LC_TRY(add(f, LC_VERDICT_OK, "call paths", "the program has unwind tables"));
    else
        LC_TRY(add(f, LC_VERDICT_NOTE, "call paths",
                   "no unwind tables, so call paths end early: compile with "
                   "-fasynchronous-unwind-tables, or use --callpath=caller"));
    if (program->uses_openmp)
        LC_TRY(add(f, LC_VERDICT_NOTE, "OpenMP",
                   "used: measured on the runtime that the program brings, GCC's or LLVM's (run "
                   "--openmp=libomp puts LLVM's in place of GCC's)"));
    return LC_OK;
}

static enum lc_err look_at_program(struct lc_checkup *f, const char *name) {
    struct lc_program program;
    LC_TRY(lc_program_inspect(&program, name));
    enum lc_err err;
    if (program.script)
        err = add(f, LC_VERDICT_NOTE, "program",
                  "a script for %s: the MPI programs it starts are measured; with -n, also give "
                  "--launcher if several MPIs are installed",
                  program.interpreter);
    else if (!program.is_elf)
        err = add(f, LC_VERDICT_NOTE, "program", "of an unknown kind");
    else
        err = check_elf(f, &program);
    lc_program_free(&program);
    return err;
}

enum lc_err lc_doctor_look(struct lc_checkup *findings, const char *program) {
    *findings = (struct lc_checkup){0};
    enum lc_err err = look_at_library(findings);
    if (err == LC_OK)
        err = look_at_launchers(findings);
    if (err == LC_OK)
        err = look_at_clock(findings);
    if (err == LC_OK)
        err = look_at_cores(findings);
    if (err == LC_OK)
        err = look_at_memory(findings);
    if (err == LC_OK)
        err = look_at_counters(findings);
    if (err == LC_OK)
        err = look_at_sampling(findings);
    if (err == LC_OK)
        err = look_at_place(findings);
    if (err == LC_OK && program != NULL)
        err = look_at_program(findings, program);
    if (err != LC_OK)
        lc_checkup_free(findings);
    return err;
}
