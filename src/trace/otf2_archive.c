#include "trace/otf2_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "trace/raw_files.h"

enum { EVENT_CHUNK_BYTES = 1024 * 1024, DEFINITION_CHUNK_BYTES = 4 * 1024 * 1024 };

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final) {
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

/* libotf2 prints errors line by line on its way, and some of them (a full disk in the last write)
 * it does not return: the first is kept here. */
static OTF2_ErrorCode trouble;

static OTF2_ErrorCode keep_error(void *user, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list arguments) {
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    if (trouble == OTF2_SUCCESS)
        trouble = code;
    return code;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = before_flush,
                                                    .otf2_post_flush = NULL};

enum lc_err lc_trace_archive_open(struct lc_trace_archive *a, const char *dir, const char *name) {
    *a = (struct lc_trace_archive){0};
    char *traces = lc_trace_path(dir, "%s", "");
    a->temporary = lc_trace_path(dir, "tmp-%s", name);
    LC_TRY(lc_strdup(&a->dir, dir));
    if (!traces || !a->temporary)
        return lc_fail(LC_ERR_NOMEM, "trace: not enough memory");
    trouble = OTF2_SUCCESS;
    OTF2_Error_RegisterCallback(keep_error, NULL);
    mkdir(traces, 0777); /* exists mostly; else OTF2 complains */
    free(traces);
    a->otf2 =
        OTF2_Archive_Open(a->temporary, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK_BYTES,
                          DEFINITION_CHUNK_BYTES, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!a->otf2) {
        lc_trace_archive_drop(a);
        return lc_fail(LC_ERR_IO,
                       "%s/traces: cannot be written: check the directory and the free space", dir);
    }
    OTF2_Archive_SetSerialCollectiveCallbacks(a->otf2);
    OTF2_Archive_SetFlushCallbacks(a->otf2, &flush_callbacks, NULL);
    OTF2_Archive_SetCreator(a->otf2, "Latecomer " LC_VERSION);
    return LC_OK;
}

static enum lc_err move_files(const char *from, const char *to) {
    DIR *files = opendir(from);
    struct dirent *entry;
    enum lc_err err = LC_OK;
    while (files && err == LC_OK && (entry = readdir(files))) {
        if (entry->d_name[0] == '.')
            continue;
        char *source = NULL, *target = NULL;
        if (asprintf(&source, "%s/%s", from, entry->d_name) < 0 ||
            asprintf(&target, "%s/%s", to, entry->d_name) < 0)
            err = lc_fail(LC_ERR_NOMEM, "trace: not enough memory");
        else if (rename(source, target) != 0)
            err = lc_fail_errno(LC_ERR_IO, "%s", target);
        free(source);
        free(target);
    }
    if (files)
        closedir(files);
    return err;
}

static enum lc_err move_file(const char *from_dir, const char *to_dir, const char *name) {
    char *source = NULL, *target = NULL;
    enum lc_err err = LC_OK;
    if (asprintf(&source, "%s/%s", from_dir, name) < 0 ||
        asprintf(&target, "%s/%s", to_dir, name) < 0)
        err = lc_fail(LC_ERR_NOMEM, "trace: not enough memory");
    else if (rename(source, target) != 0)
        err = lc_fail_errno(LC_ERR_IO, "%s", target);
    free(source);
    free(target);
    return err;
}

static void remove_tree(const char *path) {
    DIR *files = opendir(path);
    struct dirent *entry;
    while (files && (entry = readdir(files))) {
        char *name = NULL;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            asprintf(&name, "%s/%s", path, entry->d_name) < 0)
            continue;
        if (unlink(name) != 0)
            remove_tree(name);
        free(name);
    }
    if (files)
        closedir(files);
    rmdir(path);
}

enum lc_err lc_trace_archive_close(struct lc_trace_archive *a, bool anchor) {
    OTF2_ErrorCode code = OTF2_Archive_Close(a->otf2);
    a->otf2 = NULL;
    if (trouble != OTF2_SUCCESS)
        code = trouble;
    enum lc_err err = LC_OK;
    if (code != OTF2_SUCCESS) {
        err = lc_fail(LC_ERR_IO, "%s/traces: %s: check the free space", a->dir,
                      OTF2_Error_GetDescription(code));
    } else if (anchor) { /* the anchor last: it says that the archive is there */
        err = move_file(a->temporary, a->dir, "traces.def");
        if (err == LC_OK)
            err = move_file(a->temporary, a->dir, "traces.otf2");
    } else {
        char *from = NULL, *to = lc_trace_path(a->dir, "%s", "");
        if (to && asprintf(&from, "%s/traces", a->temporary) >= 0)
            err = move_files(from, to);
        else
            err = lc_fail(LC_ERR_NOMEM, "trace: not enough memory");
        free(from);
        free(to);
    }
    lc_trace_archive_drop(a);
    return err;
}

void lc_trace_archive_drop(struct lc_trace_archive *a) {
    if (a->otf2)
        OTF2_Archive_Close(a->otf2);
    if (a->temporary)
        remove_tree(a->temporary);
    free(a->temporary);
    free(a->dir);
    *a = (struct lc_trace_archive){0};
}
