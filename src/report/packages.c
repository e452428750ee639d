#include "report/packages.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/mem.h"

/* A path that may stand in a list. */
struct wanted {
    const char *path; /* without /usr */
    char *real;       /* of a link: what it leads to, where that is another path; else NULL */
    size_t file;      /* whose it is */
    char package[LC_PACKAGE_NAME];
};

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* "/usr/lib/x" and "/lib/x" are one file where /lib is a link to /usr/lib. */
static const char *without_usr(const char *path) {
    return path + (strncmp(path, "/usr/", 5) == 0 ? 4 : 0);
}

static int compare_paths(const void *a, const void *b) {
    const struct wanted *x = a, *y = b;
    return strcmp(x->path, y->path);
}

/* The files themselves, and what links that no package brought lead to. */
static size_t list_wanted(const char *const *files, size_t n, struct wanted *wanted) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (files[i][0] != '/')
            continue;
        wanted[count++] = (struct wanted){.path = without_usr(files[i]), .file = i};
        char *real = realpath(files[i], NULL);
        if (real != NULL && strcmp(real, files[i]) != 0)
            wanted[count++] = (struct wanted){.path = without_usr(real), .real = real, .file = i};
        else
            free(real);
    }
    qsort(wanted, count, sizeof wanted[0], compare_paths);
    return count;
}

/* `name`: of the list, "name:amd64.list" or "name.list". */
static void read_list(FILE *in, const char *name, struct wanted *wanted, size_t n) {
    char *line = NULL;
    size_t capacity = 0, colon = strcspn(name, ":"), end = strlen(name) - 5;
    while (getline(&line, &capacity, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *path = without_usr(line);
        size_t i = LC_FIRST_WHERE(k, 0, n, strcmp(wanted[k].path, path) >= 0);
        for (; i < n && strcmp(wanted[i].path, path) == 0; i++)
            if (wanted[i].package[0] == '\0')
                snprintf(wanted[i].package, sizeof wanted[i].package, "%.*s",
                         (int)(colon < end ? colon : end), name);
    }
    free(line);
}

static void read_lists(const char *lists, struct wanted *wanted, size_t n) {
    static char buffer[1 << 16]; /* most lists are shorter: one system call reads them */
    DIR *dir = n > 0 ? opendir(lists) : NULL;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char path[4096];
        if (!ends_with(entry->d_name, ".list") ||
            snprintf(path, sizeof path, "%s/%s", lists, entry->d_name) >= (int)sizeof path)
            continue;
        FILE *in = fopen(path, "re");
        if (in == NULL)
            continue;
        setvbuf(in, buffer, _IOFBF, sizeof buffer);
        read_list(in, entry->d_name, wanted, n);
        fclose(in);
    }
    if (dir != NULL)
        closedir(dir);
}

enum lc_err lc_packages_of(const char *lists, const char *const *files, size_t n,
                           char (*packages)[LC_PACKAGE_NAME]) {
    struct wanted *wanted;
    LC_TRY(lc_alloc(&wanted, 2 * n, sizeof wanted[0]));
    size_t count = list_wanted(files, n, wanted);
    read_lists(lists, wanted, count);
    for (size_t i = 0; i < n; i++)
        packages[i][0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char *package = packages[wanted[i].file];
        bool own = wanted[i].real == NULL; /* the link itself goes before what it leads to */
        if (wanted[i].package[0] != '\0' && (own || package[0] == '\0'))
            memcpy(package, wanted[i].package, LC_PACKAGE_NAME);
        free(wanted[i].real);
    }
    free(wanted);
    return LC_OK;
}
