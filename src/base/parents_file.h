/* What `latecomer run` holds open for its program, named in the environment as <pid>:<fd>: memory
 * for the state, and the pipe of notifications. A process of another user, or in another name space
 * of processes, cannot reach it; there the numbers may even be somebody else's, so the kind of file
 * counts. */
#ifndef LC_BASE_PARENTS_FILE_H
#define LC_BASE_PARENTS_FILE_H

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LC_PARENTS_MEMORY      "latecomer-state"
#define LC_PARENTS_MEMORY_LINK "/memfd:" LC_PARENTS_MEMORY
#define LC_PARENTS_PIPE_LINK   "pipe:["

/* Opened with `flags`; -1: there is none, or it cannot be reached. */
static inline int lc_open_parents(const char *text, const char *link, int flags) {
    char path[64], target[64];
    int pid, fd;
    if (text == NULL || sscanf(text, "%d:%d", &pid, &fd) != 2)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    ssize_t length = readlink(path, target, sizeof target);
    if (length < (ssize_t)strlen(link) || strncmp(target, link, strlen(link)) != 0)
        return -1;
    return open(path, flags | O_CLOEXEC);
}

#endif
