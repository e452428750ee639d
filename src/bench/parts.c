#include "bench/parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum lc_err lc_part_open(struct lc_part_writer *writer, const char *directory, uint32_t rank) {
    struct lc_strbuf file = {0};
    *writer = (struct lc_part_writer){.fd = -1};
    lc_strbuf_printf(&file, "%s/rank-%u", directory, rank);
    writer->fd = open(lc_strbuf_get(&file), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum lc_err err = LC_OK;
    if (writer->fd < 0)
        err = lc_fail_errno(LC_ERR_IO, "bench: %s: all nodes must see this directory",
                            lc_strbuf_get(&file));
    lc_strbuf_free(&file);
    return err;
}

enum lc_err lc_part_put(struct lc_part_writer *writer, enum lc_part_kind kind, const void *body,
                        size_t bytes) {
    struct lc_part_head head = {kind, (uint32_t)bytes};
    LC_TRY(lc_reserve(&writer->data, &writer->room, writer->n + sizeof head + bytes, 1));
    memcpy(writer->data + writer->n, &head, sizeof head);
    if (bytes > 0)
        memcpy(writer->data + writer->n + sizeof head, body, bytes);
    writer->n += sizeof head + bytes;
    return LC_OK;
}

enum lc_err lc_part_fact(struct lc_part_writer *writer, const char *section, const char *key,
                         const char *value) {
    struct lc_strbuf text = {0};
    const char *const words[] = {section, key, value};
    for (int i = 0; i < 3; i++)
        lc_strbuf_add(&text, words[i], strlen(words[i]) + 1);
    enum lc_err err = lc_strbuf_ok(&text)
                          ? lc_part_put(writer, LC_PART_FACT, text.text, text.length)
                          : lc_fail(LC_ERR_NOMEM, "bench: not enough memory");
    lc_strbuf_free(&text);
    return err;
}

enum lc_err lc_part_flush(struct lc_part_writer *writer) {
    size_t done = 0;
    while (done < writer->n) {
        ssize_t put = write(writer->fd, writer->data + done, writer->n - done);
        if (put <= 0)
            return lc_fail_errno(LC_ERR_IO, "bench: run times cannot be written");
        done += (size_t)put;
    }
    writer->n = 0;
    return LC_OK;
}

void lc_part_close(struct lc_part_writer *writer) {
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->data);
    writer->fd = -1;
    writer->data = NULL;
}
