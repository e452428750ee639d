#include "run/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/outfile.h"

#define JOB_FORMAT "%016llx"

enum {
    JOB_BYTES = 32,
    WAIT_FOR_RANK0_MS = 300,
    MAX_SUFFIX = 10000,
    STALE_S = 900 /* the ranks of a job start within this; an older link is of a job that was killed
                     before MPI_Init and had the same name */
};

static void sleep_ms(long ms) {
    struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&nap, NULL);
}

static enum lc_err format_path(char **out, const char *format, const char *a, const char *b) {
    char text[PATH_MAX];
    if (snprintf(text, sizeof text, format, a, b) >= (int)sizeof text)
        return lc_fail(LC_ERR_RANGE, "%s: the path is too long", a);
    return lc_strdup(out, text);
}

static bool is_empty_directory(const char *path) {
    DIR *dir = opendir(path);
    if (dir == NULL)
        return false;
    int entries = 0;
    while (readdir(dir) != NULL)
        entries++;
    closedir(dir);
    return entries <= 2;
}

/* Jobs that start in the same instant may want the same directory: whoever makes this file in it
 * has it. It names the job, and goes with the other temporary files. */
static enum lc_err claim(const char *path, const struct lc_launch *launch) {
    char *file = NULL;
    LC_TRY(format_path(&file, "%s/%s", path, LC_RUNDIR_CLAIM));
    int fd = file == NULL ? -1 : open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum lc_err err = LC_OK;
    if (fd >= 0) {
        dprintf(fd, JOB_FORMAT, (unsigned long long)launch->job);
        close(fd);
    } else if (errno == EEXIST)
        err = LC_ERR_EXISTS;
    else
        err = lc_fail_errno(LC_ERR_IO, "%s: cannot be written", path);
    free(file);
    return err;
}

/* The link is gone when the first process of a job has ended, and a slow one may begin after that:
 * the directory that holds what the others left is its directory, too. Not where its own part is
 * there: then it is the second program that the job runs. */
static bool is_of_this_job(const char *path, const struct lc_launch *launch) {
    char file[PATH_MAX], text[JOB_BYTES] = "", own[JOB_BYTES];
    if (snprintf(file, sizeof file, "%s/" LC_PARTIAL_FORMAT, path, launch->rank) >=
            (int)sizeof file ||
        access(file, F_OK) == 0)
        return false;
    if (launch->launcher == NULL || launch->size < 2 ||
        snprintf(file, sizeof file, "%s/" LC_RUNDIR_CLAIM, path) >= (int)sizeof file)
        return false;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    snprintf(own, sizeof own, JOB_FORMAT, (unsigned long long)launch->job);
    return length > 0 && strcmp(text, own) == 0;
}

static void unmake(const char *path) {
    char file[PATH_MAX];
    if (snprintf(file, sizeof file, "%s/" LC_RUNDIR_CLAIM, path) < (int)sizeof file)
        unlink(file);
    rmdir(path);
}

/* Makes `path` or takes it if it is an empty directory. LC_ERR_EXISTS: something is there. */
static enum lc_err make_directory(const char *path, const struct lc_launch *launch) {
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && is_empty_directory(path)))
        return claim(path, launch);
    if (errno == ENOENT && lc_make_folders(path) == LC_OK) /* a link that leads nowhere yet */
        return claim(path, launch);
    if (errno == EEXIST || errno == ENOTDIR)
        return LC_ERR_EXISTS;
    return lc_fail_errno(LC_ERR_IO, "%s: cannot create the experiment directory", path);
}

static bool is_plain_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* What another process of the job chose; false if nobody has yet. */
static bool read_choice(struct lc_rundir *dir, const char *base) {
    char target[NAME_MAX + 1];
    /* Network file systems remember for a while that a name was not there; opening the directory
     * makes them ask. */
    int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    struct stat link;
    ssize_t length = readlink(dir->link, target, sizeof target - 1);
    if (length <= 0 || lstat(dir->link, &link) != 0 || time(NULL) - link.st_mtime > STALE_S)
        return false;
    target[length] = '\0';
    char *path = NULL;
    if (format_path(&path, "%s/%s", base, target) != LC_OK || path == NULL)
        return false;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        free(path);
        return false;
    }
    free(dir->path);
    dir->path = path;
    return true;
}

/* The first of NAME, NAME-2, .. that can be made, or that processes of this job left. */
static enum lc_err make_first_free(struct lc_rundir *dir, const struct lc_launch *launch,
                                   const char *base, const char *name) {
    char numbered[NAME_MAX + 1];
    for (int i = 1; i < MAX_SUFFIX; i++) {
        int length = i == 1 ? snprintf(numbered, sizeof numbered, "%s", name)
                            : snprintf(numbered, sizeof numbered, "%s-%d", name, i);
        if (length >= (int)sizeof numbered)
            return lc_fail(LC_ERR_RANGE, "%s: the name is too long", name);
        LC_TRY(format_path(&dir->path, "%s/%s", base, numbered));
        enum lc_err err = dir->path == NULL ? LC_ERR_NOMEM : make_directory(dir->path, launch);
        if (err == LC_OK)
            return i == 1 ? LC_OK : lc_strdup(&dir->wanted, name);
        dir->is_late =
            err == LC_ERR_EXISTS && dir->path != NULL && is_of_this_job(dir->path, launch);
        if (dir->is_late)
            return LC_OK;
        if (i == 1 && err == LC_ERR_EXISTS)
            dir->wanted_is_file = is_plain_file(dir->path);
        free(dir->path);
        dir->path = NULL;
        if (err != LC_ERR_EXISTS)
            return err;
    }
    return lc_fail(LC_ERR_EXISTS, "%s: %d results exist already: remove some", name, MAX_SUFFIX);
}

static enum lc_err choose(struct lc_rundir *dir, const struct lc_launch *launch, const char *base,
                          const char *name) {
    if (dir->link != NULL) {
        for (int waited = 0; !read_choice(dir, base); waited += 3) {
            if (launch->rank == 0 || waited >= WAIT_FOR_RANK0_MS)
                break;
            sleep_ms(3);
        }
        if (dir->path != NULL)
            return LC_OK;
    }
    LC_TRY(make_first_free(dir, launch, base, name));
    dir->founder = !dir->is_late;
    if (dir->link == NULL || dir->path == NULL || dir->is_late)
        return LC_OK;
    const char *mine = strrchr(dir->path, '/') + 1;
    if (symlink(mine, dir->link) == 0)
        return LC_OK;
    if (errno != EEXIST)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot create the link", dir->link);
    char *own = dir->path;
    dir->path = NULL;
    if (read_choice(dir, base)) {
        if (strcmp(own, dir->path) != 0) {
            unmake(own);
            free(dir->wanted);
            dir->wanted = NULL;
        }
        dir->founder = false;
        free(own);
        return LC_OK;
    }
    dir->path = own; /* a stale link: its directory is gone */
    unlink(dir->link);
    if (symlink(mine, dir->link) != 0)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot create the link", dir->link);
    return LC_OK;
}

static void default_name(char *name, size_t size, const struct lc_launch *launch,
                         const char *program, int threads) {
    const char *base = strrchr(program, '/');
    base = base == NULL ? program : base + 1;
    char stamp[32];
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &parts);
    snprintf(name, size, "latecomer-%.100s-%dx%d-%s", base, launch->size, threads, stamp);
}

enum lc_err lc_rundir_agree(struct lc_rundir *dir, const struct lc_launch *launch,
                            const char *wanted, const char *program, int threads) {
    *dir = (struct lc_rundir){0};
    char *copy = NULL, *base = NULL;
    char name[NAME_MAX + 1], parent[PATH_MAX] = ".";
    default_name(name, sizeof name, launch, program, threads);
    enum lc_err err = LC_OK;
    if (wanted != NULL && *wanted != '\0') {
        LC_TRY(lc_strdup(&copy, wanted));
        for (size_t end = strlen(copy); end > 1 && copy[end - 1] == '/'; end--)
            copy[end - 1] = '\0';
        const char *slash = strrchr(copy, '/');
        snprintf(name, sizeof name, "%.200s", slash == NULL ? copy : slash + 1);
        if (slash != NULL)
            snprintf(parent, sizeof parent, "%.*s/", (int)(slash - copy), copy);
    }
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || name[0] == '\0')
        err = lc_fail(LC_ERR_USAGE,
                      "%s: not a name for an experiment directory: give another with -o", wanted);
    if (err == LC_OK)
        err = lc_make_folders(parent);
    if (err == LC_OK && (base = realpath(parent, NULL)) == NULL)
        err = lc_fail_errno(LC_ERR_IO, "%s: no such directory for the result", parent);
    if (err == LC_OK && launch->launcher != NULL && launch->size > 1) {
        char link[64];
        snprintf(link, sizeof link, ".latecomer-%016llx", (unsigned long long)launch->job);
        err = format_path(&dir->link, "%s/%s", base, link);
    }
    if (err == LC_OK && base != NULL)
        err = choose(dir, launch, base, name);
    if (wanted == NULL || *wanted == '\0') { /* nobody asked for the name that was taken */
        free(dir->wanted);
        dir->wanted = NULL;
    }
    free(base);
    free(copy);
    if (err != LC_OK)
        lc_rundir_free(dir);
    return err;
}

void lc_rundir_unlink(struct lc_rundir *dir) {
    if (dir->link != NULL)
        unlink(dir->link);
}

void lc_rundir_free(struct lc_rundir *dir) {
    free(dir->path);
    free(dir->link);
    free(dir->wanted);
    *dir = (struct lc_rundir){0};
}
