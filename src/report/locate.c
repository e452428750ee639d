#include "report/locate.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

static const char *const result_names[] = {"profile.cubex", "analysis.cubex"};

static enum lc_err join(char **out, const char *dir, const char *name) {
    size_t length = strlen(dir);
    bool slash = length > 0 && dir[length - 1] == '/';
    if (asprintf(out, "%s%s%s", dir, slash ? "" : "/", name) < 0)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build a file name");
    return LC_OK;
}

/* The wanted result of a directory, or the other one; LC_ERR_NOT_FOUND if it has none. */
static enum lc_err result_in(const char *dir, bool analysis, char **file, struct stat *status) {
    for (int i = 0; i < 2; i++) {
        LC_TRY(join(file, dir, result_names[(i + analysis) % 2]));
        if (stat(*file, status) == 0 && S_ISREG(status->st_mode))
            return LC_OK;
        free(*file);
    }
    *file = NULL;
    return LC_ERR_NOT_FOUND;
}

static bool newer(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static enum lc_err newest_here(bool analysis, char **newest) {
    DIR *here = opendir(".");
    if (here == NULL)
        return lc_fail_errno(LC_ERR_IO, "this directory: cannot be listed");
    struct timespec newest_time = {0};
    *newest = NULL;
    for (struct dirent *entry; (entry = readdir(here)) != NULL;) {
        char *file;
        struct stat status;
        if (entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0)
            continue;
        if (stat(entry->d_name, &status) != 0 || !S_ISDIR(status.st_mode) ||
            result_in(entry->d_name, analysis, &file, &status) != LC_OK)
            continue;
        if (*newest == NULL || newer(&status.st_mtim, &newest_time)) {
            free(*newest);
            *newest = file;
            newest_time = status.st_mtim;
        } else {
            free(file);
        }
    }
    closedir(here);
    if (*newest == NULL)
        return lc_fail(LC_ERR_NOT_FOUND, "no experiment directory here: give a FILE or DIR, or "
                                         "measure with `latecomer run ./app`");
    return LC_OK;
}

enum lc_err lc_locate(const char *operand, bool analysis, char **file) {
    struct stat status;
    *file = NULL;
    if (operand == NULL)
        return newest_here(analysis, file);
    if (stat(operand, &status) != 0)
        return lc_fail(LC_ERR_NOT_FOUND, "%s: %s: give a .cubex file or an experiment directory",
                       operand, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return lc_strdup(file, operand);
    if (result_in(operand, analysis, file, &status) != LC_OK)
        return lc_fail(LC_ERR_NOT_FOUND, "%s: holds no result: give an experiment directory",
                       operand);
    return LC_OK;
}

enum lc_err lc_locate_view(const char *operand, bool analysis, struct lc_view **view) {
    char *file;
    *view = NULL;
    enum lc_err err = lc_locate(operand, analysis, &file);
    if (err == LC_OK)
        err = lc_view_open(view, file);
    free(file);
    return err;
}

char *lc_locate_beside(const char *profile) {
    static const char own[] = "profile.cubex", other[] = "analysis.cubex";
    size_t length = strlen(profile);
    char *path;
    if (length < sizeof own - 1 || strcmp(profile + length - (sizeof own - 1), own) != 0)
        return NULL;
    length -= sizeof own - 1;
    if (length > 0 && profile[length - 1] != '/')
        return NULL;
    if (asprintf(&path, "%.*s%s", (int)length, profile, other) < 0)
        return NULL;
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

bool lc_locate_unfinished_trace(const char *directory) {
    struct lc_strbuf path = {0};
    lc_strbuf_printf(&path, "%s/traces", directory);
    DIR *dir = opendir(lc_strbuf_get(&path));
    bool found = false;
    for (const struct dirent *entry; dir && !found && (entry = readdir(dir)) != NULL;) {
        size_t n = strlen(entry->d_name);
        found = entry->d_name[0] == 'r' && n > 5 &&
                (strcmp(entry->d_name + n - 4, ".raw") == 0 ||
                 strcmp(entry->d_name + n - 5, ".defs") == 0);
    }
    if (dir)
        closedir(dir);
    lc_strbuf_free(&path);
    return found;
}
