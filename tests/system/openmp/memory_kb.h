/* What a program's memory is, as the kernel tells it. */
#ifndef LC_TESTS_MEMORY_KB_H
#define LC_TESTS_MEMORY_KB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KB, of a line of /proc/self/status ("VmRSS:"); 0: there is no such line. */
static inline long memory_kb(const char *name) {
    char line[256];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtol(line + strlen(name), NULL, 10);
    if (file != NULL)
        fclose(file);
    return kb;
}

#endif
