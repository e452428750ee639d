#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum { MOST_LINKS = 40, MOST_NAMES = 100, NAME_KEPT = 200, COPY_BYTES = 1 << 16 };

static enum lc_err fails(const char *path) {
    return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", path);
}

/* A name from a folder (the first bytes of a path), the first bytes of another name, and an end.
 * (asprintf() takes memory from the program's heap, when this is part of the measurement library:
 * measure/core/own_heap.c.) */
static enum lc_err join(char **out, const char *path, size_t folder, const char *name,
                        size_t length, const char *end) {
    struct lc_strbuf text = {0};
    lc_strbuf_add(&text, path, folder);
    lc_strbuf_add(&text, name, length);
    lc_strbuf_puts(&text, end);
    *out = lc_strbuf_take(&text);
    return *out != NULL ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot build a file name");
}

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* A name below /proc: what it stands for is never replaced. *fd: the descriptor of this process
 * that it names, else -1. */
static bool in_proc(const char *path, int *fd) {
    char folder[PATH_MAX], real[PATH_MAX], end;
    size_t length = folder_length(path);
    int pid;
    *fd = -1;
    if (length == 0 || length >= sizeof folder)
        return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (realpath(folder, real) == NULL || strncmp(real, "/proc/", 6) != 0)
        return false;
    const char *last = strrchr(real, '/');
    if (sscanf(real, "/proc/%d/", &pid) == 1 && pid == getpid() && strcmp(last, "/fd") == 0 &&
        sscanf(path + length, "%d%c", fd, &end) != 1)
        *fd = -1;
    return true;
}

/* Follows the links at the end of a name, one by one (realpath() wants the last one to exist). Ends
 * at a name that is no link, or lies below /proc. */
static enum lc_err follow(const char *path, char **target) {
    char link[PATH_MAX], *next;
    int fd;
    LC_TRY(lc_strdup(target, path));
    for (int hops = 0; *target != NULL && !in_proc(*target, &fd); hops++) {
        ssize_t length = readlink(*target, link, sizeof link - 1);
        if (length < 0)
            return LC_OK;
        link[length] = '\0';
        size_t folder = link[0] == '/' ? 0 : folder_length(*target);
        if (hops == MOST_LINKS) {
            errno = ELOOP;
            return fails(path);
        }
        LC_TRY(join(&next, *target, folder, link, (size_t)length, ""));
        free(*target);
        *target = next;
    }
    return LC_OK;
}

/* What the name stands for: a file to replace, or something to write through. */
static enum lc_err find_target(struct lc_outfile *file) {
    struct stat status;
    int fd = -1;
    /* The kernel follows the links first: it refuses those that others left in a folder like /tmp
     * (fs.protected_symlinks). */
    bool there = stat(file->path, &status) == 0;
    if (!there && errno != ENOENT)
        return fails(file->path);
    if (there && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return fails(file->path);
    }
    LC_TRY(follow(file->path, &file->target));
    bool proc = file->target != NULL && in_proc(file->target, &fd);
    if (!proc && (!there || S_ISREG(status.st_mode))) {
        file->existed = there;
        if (there) {
            file->owner = status.st_uid;
            file->group = status.st_gid;
            file->mode = status.st_mode & 07777;
        }
        return LC_OK;
    }
    /* A descriptor is not opened anew: what was written to it before stays, and sockets cannot be
     * opened. */
    file->through =
        fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : open(file->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    free(file->target);
    file->target = NULL;
    return file->through >= 0 ? LC_OK : fails(file->path);
}

/* Names of several processes, also on several machines, and of those that were killed differ. */
static enum lc_err make_beside(struct lc_outfile *file) {
    mode_t mode = file->existed ? (file->mode & 0777) | 0600 : 0666;
    size_t folder = folder_length(file->target);
    const char *name = file->target + folder;
    char end[64];
    for (int i = 0; i < MOST_NAMES; i++) {
        snprintf(end, sizeof end, ".%ld-%d.partial", (long)getpid(), i);
        LC_TRY(join(&file->partial, file->target, folder, name, strnlen(name, NAME_KEPT), end));
        file->fd = open(file->partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (file->fd >= 0)
            return LC_OK;
        enum lc_err err = fails(file->path);
        free(file->partial);
        file->partial = NULL;
        if (errno != EEXIST)
            return err;
    }
    return LC_ERR_IO;
}

bool lc_outfile_is_unfinished(const char *name, const char *of) {
    static const char digits[] = "0123456789";
    size_t length = strlen(of);
    if (strncmp(name, of, length) != 0 || name[length] != '.')
        return false;
    const char *at = name + length + 1;
    size_t pid = strspn(at, digits), i = at[pid] == '-' ? strspn(at + pid + 1, digits) : 0;
    return pid > 0 && i > 0 && strcmp(at + pid + 1 + i, ".partial") == 0;
}

const char *lc_temporary_folder(void) {
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

static enum lc_err make_temporary(struct lc_outfile *file) {
    const char *folder = lc_temporary_folder();
    LC_TRY(join(&file->partial, folder, strlen(folder), "", 0, "/latecomer-XXXXXX"));
    file->fd = mkostemp(file->partial, O_CLOEXEC);
    if (file->fd >= 0)
        return LC_OK;
    enum lc_err err = lc_fail_errno(LC_ERR_IO, "%s: no temporary file can be written", folder);
    free(file->partial);
    file->partial = NULL;
    return err;
}

/* Keeps errno. */
static void release(struct lc_outfile *file) {
    int error = errno;
    if (file->stream != NULL)
        fclose(file->stream);
    else if (file->fd >= 0)
        close(file->fd);
    if (file->through >= 0)
        close(file->through);
    if (file->partial != NULL)
        unlink(file->partial);
    free(file->path);
    free(file->target);
    free(file->partial);
    *file = (struct lc_outfile){.fd = -1, .through = -1};
    errno = error;
}

enum lc_err lc_outfile_open(struct lc_outfile *file, const char *path) {
    *file = (struct lc_outfile){.fd = -1, .through = -1};
    enum lc_err err = lc_strdup(&file->path, path);
    if (err == LC_OK)
        err = find_target(file);
    if (err == LC_OK)
        err = file->target != NULL ? make_beside(file) : make_temporary(file);
    if (err != LC_OK)
        release(file);
    return err;
}

FILE *lc_outfile_stream(struct lc_outfile *file) {
    if (file->stream == NULL)
        file->stream = fdopen(file->fd, "r+b");
    return file->stream;
}

static bool write_all(int fd, const char *bytes, size_t n_bytes) {
    while (n_bytes > 0) {
        ssize_t put = write(fd, bytes, n_bytes);
        if (put < 0 && errno == EAGAIN) { /* a descriptor that does not block */
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            poll(&ready, 1, -1);
        } else if (put < 0 && errno != EINTR) {
            return false;
        } else if (put > 0) {
            bytes += put;
            n_bytes -= (size_t)put;
        }
    }
    return true;
}

static bool copy_through(struct lc_outfile *file) {
    char *bytes = malloc(COPY_BYTES);
    ssize_t n = 0;
    bool ok = bytes != NULL && lseek(file->fd, 0, SEEK_SET) == 0;
    while (ok && (n = read(file->fd, bytes, COPY_BYTES)) > 0)
        ok = write_all(file->through, bytes, (size_t)n);
    int error = errno;
    free(bytes);
    int through = file->through;
    file->through = -1;
    if (close(through) != 0 && ok && n == 0)
        return false;
    errno = error;
    return ok && n == 0;
}

/* Owner and group stay where that is allowed (to root), and bits like setuid only with them. */
static void keep_mode(const struct lc_outfile *file) {
    struct stat now;
    if (!file->existed || fstat(file->fd, &now) != 0)
        return;
    bool same = now.st_uid == file->owner && now.st_gid == file->group;
    if (!same)
        same = fchown(file->fd, file->owner, file->group) == 0;
    fchmod(file->fd, same ? file->mode : file->mode & 0777);
}

static bool put_in_place(struct lc_outfile *file) {
    keep_mode(file);
    FILE *stream = file->stream;
    int fd = file->fd;
    file->stream = NULL;
    file->fd = -1;
    if ((stream != NULL ? fclose(stream) : close(fd)) != 0 ||
        rename(file->partial, file->target) != 0)
        return false;
    free(file->partial);
    file->partial = NULL;
    return true;
}

/* What the stream still holds, and whether it has failed before. */
static bool flush(struct lc_outfile *file) {
    if (file->stream == NULL)
        return true;
    bool failed = ferror(file->stream) != 0;
    errno = 0;
    if (fflush(file->stream) != 0)
        return false;
    if (failed)
        errno = EIO;
    return !failed;
}

enum lc_err lc_outfile_commit(struct lc_outfile *file) {
    bool ok = flush(file) && (file->target != NULL ? put_in_place(file) : copy_through(file));
    enum lc_err err = ok ? LC_OK : fails(file->path);
    release(file);
    return err;
}

void lc_outfile_abandon(struct lc_outfile *file) {
    release(file);
}

enum lc_err lc_outfile_put(const char *path, const void *bytes, size_t n_bytes) {
    struct lc_outfile file;
    LC_TRY(lc_outfile_open(&file, path));
    if (write_all(file.fd, bytes, n_bytes))
        return lc_outfile_commit(&file);
    enum lc_err err = fails(path);
    lc_outfile_abandon(&file);
    return err;
}

/* Keeps errno. */
static bool is_folder(const char *path) {
    struct stat status;
    int error = errno;
    bool is = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    errno = error;
    return is;
}

/* Of a link that leads nowhere, the folder that it names. */
static bool make_folder(const char *path) {
    char *target = NULL;
    bool made = mkdir(path, 0777) == 0 || is_folder(path); /* other processes make it, too */
    if (!made && errno == EEXIST && access(path, F_OK) != 0 && errno == ENOENT &&
        follow(path, &target) == LC_OK)
        made = mkdir(target, 0777) == 0 || is_folder(target);
    int error = errno;
    free(target);
    errno = error;
    return made;
}

enum lc_err lc_make_folders(const char *path) {
    char *part;
    LC_TRY(lc_strdup(&part, path));
    enum lc_err err = LC_OK;
    for (size_t i = 1; err == LC_OK && part[0] != '\0' && part[i - 1] != '\0'; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (!make_folder(part))
            err = lc_fail_errno(LC_ERR_IO, "%s: cannot create the folder", part);
        part[i] = path[i];
    }
    free(part);
    return err;
}
