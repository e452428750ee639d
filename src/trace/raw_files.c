#include "trace/raw_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"

char *lc_trace_path(const char *dir, const char *format, ...) {
    struct lc_strbuf path = {0};
    char name[256];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    lc_strbuf_printf(&path, "%s/traces/%s", dir, name);
    return lc_strbuf_take(&path);
}

enum lc_err lc_trace_map_file(struct lc_trace_mapped *m, const char *path) {
    struct stat status;
    *m = (struct lc_trace_mapped){0};
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return path && errno == ENOENT ? LC_OK
                                       : lc_fail_errno(LC_ERR_IO, "%s", path ? path : "raw trace");
    enum lc_err err = LC_OK;
    if (fstat(fd, &status) != 0) {
        err = lc_fail_errno(LC_ERR_IO, "%s", path);
    } else if (status.st_size > 0) {
        m->bytes = (size_t)status.st_size;
        m->at = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (m->at == MAP_FAILED) {
            *m = (struct lc_trace_mapped){0};
            err = lc_fail_errno(LC_ERR_IO, "%s", path);
        }
    }
    close(fd);
    return err;
}

void lc_trace_unmap(struct lc_trace_mapped *m) {
    if (m->at)
        munmap(m->at, m->bytes);
    *m = (struct lc_trace_mapped){0};
}
