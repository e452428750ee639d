#include "job/executable.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool lc_is_executable_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *lc_find_executable(const char *name) {
    if (strchr(name, '/') != NULL)
        return access(name, F_OK) == 0 ? strdup(name) : NULL;
    const char *path = getenv("PATH");
    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (const char *at = path; *name != '\0'; at++) {
        size_t length = strcspn(at, ":");
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%.*s%s%s", (int)length, at, length == 0 ? "" : "/", name);
        if (lc_is_executable_file(file))
            return strdup(file);
        at += length;
        if (*at == '\0')
            break;
    }
    return NULL;
}
