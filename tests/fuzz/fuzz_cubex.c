/* Fuzz target: any bytes as a .cubex file. Everything that `show` does with a result is done:
 * definitions, all rows, members, text. With clang: -fsanitize=fuzzer,address and this file; else
 * with driver.c, which mutates given files from a seed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/json.h"
#include "report/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct lc_view *view;
    if (lc_view_open(&view, path) == LC_OK) {
        const struct lc_json_options json = {.by = LC_JSON_BOTH};
        FILE *nowhere = fopen("/dev/null", "w");
        if (nowhere == NULL)
            abort();
        lc_json_write(view, &json, nowhere);
        lc_text_write(view, &(struct lc_text_options){0}, nowhere);
        fclose(nowhere);
        lc_view_close(view);
    }
    close(fd);
    return 0;
}
