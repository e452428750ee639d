#include "run/start.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/inspect.h"
#include "run/run_options.h"

/* Launchers by flavour; the plain names may belong to either. */
static const char *const openmpi_launchers[] = {"mpirun.openmpi", "orterun", "mpirun", "mpiexec",
                                                NULL};
static const char *const mpich_launchers[] = {"mpirun.mpich", "mpiexec.hydra", "mpiexec.mpich",
                                              "mpirun",       "mpiexec",       NULL};
static const char *const any_launchers[] = {"mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich",
                                            NULL};

/* An MPI outside the system's folders has its launcher beside its library: PREFIX/lib/libmpi.so,
 * PREFIX/bin/mpirun. */
static char *launcher_beside(const char *library) {
    char real[PATH_MAX], file[PATH_MAX + 32];
    if (library == NULL || realpath(library, real) == NULL || strncmp(real, "/usr/lib", 8) == 0 ||
        strncmp(real, "/lib", 4) == 0)
        return NULL;
    for (int up = 0; up < 2; up++) { /* lib, or lib64/subfolder */
        char *slash = strrchr(real, '/');
        if (slash == NULL || slash == real)
            return NULL;
        *slash = '\0';
        snprintf(file, sizeof file, "%s/../bin/mpirun", real);
        if (access(file, X_OK) == 0)
            return strdup(file);
    }
    return NULL;
}

static char *find_launcher(const struct lc_program *program) {
    const char *wanted = lc_run_option_text("launcher");
    if (wanted != NULL)
        return lc_find_executable(wanted);
    char *found = launcher_beside(program->mpi_library);
    const char *const *names = program->flavour == LC_FLAVOUR_IS_OPENMPI ? openmpi_launchers
                               : program->flavour == LC_FLAVOUR_IS_MPICH ? mpich_launchers
                                                                         : any_launchers;
    for (; found == NULL && *names != NULL; names++)
        found = lc_find_executable(*names);
    return found;
}

/* Open MPI's launcher is a link to orterun or prterun; Hydra's is called mpiexec.hydra. */
static bool is_openmpi_launcher(const char *path) {
    char real[PATH_MAX];
    if (realpath(path, real) == NULL)
        return false;
    const char *base = strrchr(real, '/') + 1;
    return strcmp(base, "orterun") == 0 || strcmp(base, "prterun") == 0 ||
           strstr(base, "openmpi") != NULL;
}

struct words {
    char **items;
    size_t n_items, cap_items;
};

static enum lc_err add_word(struct words *words, const char *text) {
    LC_TRY(lc_grow(&words->items, &words->cap_items, words->n_items + 2, sizeof words->items[0]));
    LC_TRY(lc_strdup(&words->items[words->n_items], text));
    words->n_items++;
    return LC_OK;
}

/* The options travel on the command line, since launchers do not carry the environment to other
 * nodes. */
static enum lc_err add_options(struct words *words, bool quiet) {
    char text[4200];
    for (const struct lc_run_option *option = lc_run_options; option->name != NULL; option++) {
        const char *value = lc_run_option_text(option->name);
        if (value == NULL || strcmp(option->name, "ranks") == 0 ||
            strcmp(option->name, "launcher") == 0 ||
            (option->argument == NULL && !lc_run_option_on(option->name)))
            continue;
        if (option->argument == NULL)
            snprintf(text, sizeof text, "--%s", option->name);
        else
            snprintf(text, sizeof text, "--%s=%s", option->name, value);
        LC_TRY(add_word(words, text));
    }
    return quiet ? add_word(words, "-q") : LC_OK;
}

static enum lc_err make_command(struct words *words, const char *launcher, long ranks, char **argv,
                                bool quiet) {
    char number[32], self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return lc_fail_errno(LC_ERR_SYSTEM, "/proc/self/exe: cannot be read");
    self[length] = '\0';
    LC_TRY(add_word(words, launcher));
    if (is_openmpi_launcher(launcher)) {
        if (geteuid() == 0)
            LC_TRY(add_word(words, "--allow-run-as-root"));
        if (ranks > sysconf(_SC_NPROCESSORS_ONLN))
            LC_TRY(add_word(words, "--oversubscribe"));
    }
    snprintf(number, sizeof number, "%ld", ranks);
    LC_TRY(add_word(words, "-n"));
    LC_TRY(add_word(words, number));
    LC_TRY(add_word(words, self));
    LC_TRY(add_word(words, "run"));
    LC_TRY(add_options(words, quiet));
    LC_TRY(add_word(words, "--"));
    for (; *argv != NULL; argv++)
        LC_TRY(add_word(words, *argv));
    words->items[words->n_items] = NULL;
    return LC_OK;
}

enum lc_err lc_start_job(long ranks, char **argv, bool quiet) {
    struct lc_program program;
    struct words words = {0};
    LC_TRY(lc_program_inspect(&program, argv[0]));
    char *launcher = find_launcher(&program);
    enum lc_err err = LC_OK;
    if (launcher == NULL)
        err = lc_fail(LC_ERR_NOT_FOUND,
                      "launcher: no mpirun found for %s: install one, or give --launcher",
                      lc_flavour_name(program.flavour));
    if (err == LC_OK)
        err = make_command(&words, launcher, ranks, argv, quiet);
    if (err == LC_OK && launcher != NULL && words.items != NULL) {
        unsetenv("LATECOMER_RANKS");
        fflush(NULL);
        execv(launcher, words.items);
        err = lc_fail_errno(LC_ERR_SYSTEM, "%s: cannot be run", launcher);
    }
    for (size_t i = 0; words.items != NULL && i < words.n_items; i++)
        free(words.items[i]);
    free(words.items);
    free(launcher);
    lc_program_free(&program);
    return err;
}
