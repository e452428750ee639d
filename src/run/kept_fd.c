#include "run/kept_fd.h"

#include <fcntl.h>
#include <unistd.h>

void lc_keep_only(int fd) {
    if (fd != LC_KEPT_FD)
        dup2(fd, LC_KEPT_FD);
    close_range(LC_KEPT_FD + 1, ~0u, 0);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
    if (null > 3)
        close(null);
}
