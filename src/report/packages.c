#include "report/packages.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* "/usr/lib/x" and "/lib/x" are one file where /lib is a link to /usr/lib. */
static bool same_file(const char *a, const char *b) {
    a += strncmp(a, "/usr/", 5) == 0 ? 4 : 0;
    b += strncmp(b, "/usr/", 5) == 0 ? 4 : 0;
    return strcmp(a, b) == 0;
}

static bool lists_file(const char *list, const char *file) {
    FILE *in = fopen(list, "re");
    char *line = NULL;
    size_t capacity = 0;
    bool found = false;
    while (in != NULL && !found && getline(&line, &capacity, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        found = same_file(line, file);
    }
    free(line);
    if (in != NULL)
        fclose(in);
    return found;
}

static bool package_of(const char *lists, const char *file, char *package, size_t room) {
    DIR *dir = file[0] == '/' ? opendir(lists) : NULL;
    bool found = false;
    for (struct dirent *entry; dir != NULL && !found && (entry = readdir(dir)) != NULL;) {
        char path[4096];
        if (!ends_with(entry->d_name, ".list") ||
            snprintf(path, sizeof path, "%s/%s", lists, entry->d_name) >= (int)sizeof path)
            continue;
        found = lists_file(path, file);
        size_t colon = strcspn(entry->d_name, ":"), end = strlen(entry->d_name) - 5;
        if (found) /* "name:amd64.list", "name.list" */
            snprintf(package, room, "%.*s", (int)(colon < end ? colon : end), entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

bool lc_package_of(const char *lists, const char *file, char *package, size_t room) {
    if (package_of(lists, file, package, room))
        return true;
    char *real = realpath(file, NULL); /* reached by a link that the package did not bring */
    bool found = real != NULL && strcmp(real, file) != 0 && package_of(lists, real, package, room);
    free(real);
    return found;
}
