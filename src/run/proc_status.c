#include "run/proc_status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What stands behind "\nKEY:\t"; empty if it is not there. */
static const char *value_of(const char *text, const char *key) {
    const char *line = strstr(text, key);
    return line == NULL ? "" : line + strlen(key);
}

static uint64_t set_of(const char *text, const char *key) {
    return strtoull(value_of(text, key), NULL, 16);
}

bool lc_proc_status_get(pid_t pid, struct lc_proc_status *status) {
    char path[32], text[32768]; /* before the sets stand the groups of the user */
    *status = (struct lc_proc_status){0};
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    status->state = *value_of(text, "\nState:\t");
    status->pending = set_of(text, "\nShdPnd:\t");
    status->blocked = set_of(text, "\nSigBlk:\t");
    status->ignored = set_of(text, "\nSigIgn:\t");
    status->caught = set_of(text, "\nSigCgt:\t");
    return true;
}
