#include "measure/core/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

bool lc_limits_file(uint64_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

/* Bytes of address space in use; 0: unknown. */
static uint64_t used_bytes(void) {
    char text[64];
    unsigned long long pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%llu", &pages) != 1)
        return 0;
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t lc_limits_room(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t used = used_bytes();
    return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

bool lc_limits_memory(size_t bytes) {
    uint64_t room = lc_limits_room();
    return room == UINT64_MAX || bytes <= room / 64;
}

bool lc_write_all(int fd, const void *bytes, size_t n_bytes) {
    const char *at = bytes;
    struct stat file;
    if (fstat(fd, &file) == 0 && !lc_limits_file((uint64_t)file.st_size + n_bytes)) {
        errno = EFBIG;
        return false;
    }
    while (n_bytes > 0) {
        ssize_t n = write(fd, at, n_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            return false;
        }
        at += n;
        n_bytes -= (size_t)n;
    }
    return true;
}
