#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/executable.h"
#include "job/launcher.h"

enum { VERSION_MS = 5000 };

/* Names by flavour, those that only this one has first; the plain names may belong to any. */
static const char *const openmpi_names[] = {"mpirun.openmpi", "orterun", "mpirun", "mpiexec", NULL};
static const char *const mpich_names[] = {"mpirun.mpich", "mpiexec.hydra", "mpiexec.mpich",
                                          "mpirun",       "mpiexec",       NULL};
static const char *const any_names[] = {"mpirun",       "mpiexec",       "mpirun.openmpi",
                                        "mpirun.mpich", "mpiexec.hydra", NULL};

enum lc_start_kind lc_start_kind_of_version(const char *text) {
    const char *openmpi = strstr(text, "(Open MPI)");
    if (openmpi == NULL)
        openmpi = strstr(text, "(OpenRTE)");
    if (openmpi != NULL)
        return strtol(strchr(openmpi, ')') + 1, NULL, 10) >= 5 ? LC_START_PRTE : LC_START_ORTE;
    if (strstr(text, "PRTE") != NULL || strstr(text, "prte") != NULL ||
        strstr(text, "PRRTE") != NULL)
        return LC_START_PRTE;
    if (strstr(text, "HYDRA") != NULL || strstr(text, "Hydra") != NULL ||
        strstr(text, "Intel(R) MPI") != NULL)
        return LC_START_HYDRA;
    return LC_START_UNKNOWN;
}

static bool is_of_flavour(enum lc_start_kind kind, enum lc_flavour flavour) {
    switch (flavour) {
    case LC_FLAVOUR_IS_OPENMPI:
        return kind == LC_START_ORTE || kind == LC_START_PRTE;
    case LC_FLAVOUR_IS_MPICH:
        return kind == LC_START_HYDRA;
    default:
        return kind != LC_START_UNKNOWN;
    }
}

/* What it prints within VERSION_MS. */
static void read_answer(int fd, char *text, size_t size) {
    size_t used = 0;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (used + 1 < size && poll(&ready, 1, VERSION_MS) == 1) {
        ssize_t got = read(fd, text + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    text[used] = '\0';
}

/* Asks the launcher itself: names and links say little (Open MPI 5 has no orterun, Intel's is
 * called mpirun). */
static enum lc_start_kind ask_kind(const char *path) {
    int fds[2];
    char text[4096];
    fflush(NULL);
    if (pipe(fds) != 0)
        return LC_START_UNKNOWN;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], 1);
        dup2(fds[1], 2);
        close(fds[0]);
        close(fds[1]);
        execl(path, path, "--version", (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return LC_START_UNKNOWN;
    }
    read_answer(fds[0], text, sizeof text);
    close(fds[0]);
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return lc_start_kind_of_version(text);
}

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

static bool take(struct lc_starter *starter, char *path, enum lc_flavour flavour) {
    if (path == NULL)
        return false;
    enum lc_start_kind kind = ask_kind(path);
    if (!is_of_flavour(kind, flavour)) {
        free(path);
        return false;
    }
    *starter = (struct lc_starter){path, kind};
    return true;
}

enum lc_err lc_starter_find(struct lc_starter *starter, enum lc_flavour flavour,
                            const char *library, const char *wanted) {
    *starter = (struct lc_starter){0};
    if (wanted != NULL) {
        char *path = lc_find_executable(wanted);
        if (path == NULL)
            return lc_fail(LC_ERR_NOT_FOUND, "launcher: %s: not found: give another --launcher",
                           wanted);
        *starter = (struct lc_starter){path, ask_kind(path)};
        return LC_OK;
    }
    if (take(starter, launcher_beside(library), flavour))
        return LC_OK;
    const char *const *names = flavour == LC_FLAVOUR_IS_OPENMPI ? openmpi_names
                               : flavour == LC_FLAVOUR_IS_MPICH ? mpich_names
                                                                : any_names;
    for (; *names != NULL; names++)
        if (take(starter, lc_find_executable(*names), flavour))
            return LC_OK;
    return lc_fail(LC_ERR_NOT_FOUND,
                   "launcher: no mpirun of %s found in PATH: install one, or load its module",
                   flavour == LC_FLAVOUR_UNKNOWN ? "any MPI" : lc_flavour_name(flavour));
}

void lc_starter_free(struct lc_starter *starter) {
    free(starter->path);
    *starter = (struct lc_starter){0};
}

/* In an allocation the launcher knows how many slots there are, on all nodes. Outside it, slots are
 * cores for Open MPI, fewer than the processors of a machine with hardware threads, and a user who
 * asks for more wants them shared. */
int lc_starter_words(const struct lc_starter *starter, long ranks, bool quiet, const char **words,
                     char *number) {
    bool shared = !lc_launch_in_allocation();
    int n = 0;
    if (starter->kind == LC_START_ORTE && quiet)
        words[n++] = "-q"; /* prte's launcher knows no such option */
    if (starter->kind == LC_START_ORTE || starter->kind == LC_START_PRTE) {
        if (geteuid() == 0)
            words[n++] = "--allow-run-as-root";
        if (shared && starter->kind == LC_START_ORTE)
            words[n++] = "--oversubscribe";
        else if (shared) {
            words[n++] = "--map-by";
            words[n++] = ":OVERSUBSCRIBE";
        }
        if (shared && ranks > sysconf(_SC_NPROCESSORS_ONLN)) {
            words[n++] = "--bind-to";
            words[n++] = "none";
        }
    }
    snprintf(number, 24, "%ld", ranks);
    words[n++] = "-n";
    words[n++] = number;
    return n;
}

const char *const *lc_launcher_names(void) {
    static const char *const names[] = {"mpirun",
                                        "mpirun.openmpi",
                                        "mpirun.mpich",
                                        "mpiexec",
                                        "mpiexec.hydra",
                                        "mpiexec.mpich",
                                        "mpiexec.gforker",
                                        "orterun",
                                        "prterun",
                                        "prun",
                                        "srun",
                                        "aprun",
                                        "jsrun",
                                        "flux",
                                        "mpirun_rsh",
                                        NULL};
    return names;
}

bool lc_is_launcher_name(const char *program) {
    const char *slash = strrchr(program, '/'), *base = slash == NULL ? program : slash + 1;
    if (strncmp(base, "mpirun.", 7) == 0 || strncmp(base, "mpiexec.", 8) == 0)
        return true;
    for (const char *const *name = lc_launcher_names(); *name != NULL; name++)
        if (strcmp(base, *name) == 0)
            return true;
    return false;
}
