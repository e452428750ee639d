#include "analyze/archive_file.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/strbuf.h"

int64_t lc_archive_file_bytes(const char *archive, uint64_t location, const char *suffix) {
    struct lc_strbuf path = {0};
    struct stat info;
    size_t stem = strlen(archive);
    stem -= stem > 5 && strcmp(archive + stem - 5, ".otf2") == 0 ? 5 : 0;
    lc_strbuf_printf(&path, "%.*s/%" PRIu64 ".%s", (int)stem, archive, location, suffix);
    int64_t bytes = stat(lc_strbuf_get(&path), &info) == 0 ? (int64_t)info.st_size : -1;
    lc_strbuf_free(&path);
    return bytes;
}
