#include "base/program_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/none.h"

void lc_program_id(char id[LC_PROGRAM_ID_BYTES], const char *path, const char *build_id) {
    size_t build = strlen(build_id), bytes = strlen(path);
    size_t room = LC_PROGRAM_ID_BYTES - 1 - (build > 0 ? build + 1 : 0);
    if (build + 2 > LC_PROGRAM_ID_BYTES / 2) { /* no build id is that long */
        build = 0;
        room = LC_PROGRAM_ID_BYTES - 1;
    }
    if (bytes > room)
        path += bytes - room;
    snprintf(id, LC_PROGRAM_ID_BYTES, "%s%s%s", path, build > 0 ? "\n" : "",
             build > 0 ? build_id : "");
}

/* An id in parts: its path, the begin of the name in it, its build id. */
struct parts {
    const char *id, *name, *build_id;
    size_t path_bytes;
};

static struct parts parts_of(const char *id) {
    struct parts p = {.id = id, .name = id, .path_bytes = strcspn(id, "\n")};
    p.build_id = id[p.path_bytes] == '\n' ? id + p.path_bytes + 1 : "";
    for (size_t i = 0; i + 1 < p.path_bytes; i++)
        if (id[i] == '/')
            p.name = id + i + 1;
    return p;
}

static bool same_end(const struct parts *a, const char *from, const struct parts *b,
                     const char *other) {
    size_t n = (size_t)(a->id + a->path_bytes - from);
    return n == (size_t)(b->id + b->path_bytes - other) && memcmp(from, other, n) == 0;
}

static bool same_program(const struct parts *a, const struct parts *b) {
    if (!same_end(a, a->name, b, b->name))
        return false;
    if (a->build_id[0] != '\0' && b->build_id[0] != '\0')
        return strcmp(a->build_id, b->build_id) == 0;
    return same_end(a, a->id, b, b->id);
}

/* The begin of the last n folders and the name. */
static const char *tail(const struct parts *p, size_t n) {
    const char *at = p->name;
    for (; n > 0 && at > p->id; n--)
        for (at--; at > p->id && at[-1] != '/';)
            at--;
    return at;
}

static enum lc_err name_them(struct lc_programs *programs, const struct parts *all) {
    enum { MOST_FOLDERS = 64 };
    for (size_t i = 0; i < programs->n; i++) {
        size_t folders = 0;
        bool alone = false;
        for (; !alone && folders < MOST_FOLDERS; folders += !alone) {
            alone = true;
            for (size_t k = 0; alone && k < programs->n; k++)
                alone = k == i ||
                        !same_end(&all[i], tail(&all[i], folders), &all[k], tail(&all[k], folders));
        }
        const char *from = alone ? tail(&all[i], folders) : all[i].name;
        int bytes = (int)(all[i].id + all[i].path_bytes - from);
        char number[32] = "";
        if (!alone) /* one path, two builds */
            snprintf(number, sizeof number, " (%zu)", i + 1);
        if (asprintf(&programs->names[i], "%.*s%s", bytes, from, number) < 0) {
            programs->names[i] = NULL;
            return lc_fail(LC_ERR_NOMEM, "memory: cannot name the programs");
        }
    }
    return LC_OK;
}

enum lc_err lc_programs_find(struct lc_programs *programs, const char *const *ids, size_t n) {
    struct parts *all = NULL;
    size_t cap = 0;
    *programs = (struct lc_programs){0};
    enum lc_err err = lc_alloc(&programs->of, n + 1, sizeof *programs->of);
    for (size_t i = 0; err == LC_OK && i < n; i++) {
        programs->of[i] = LC_NONE;
        if (ids[i] == NULL || ids[i][0] == '\0' || ids[i][0] == '\n')
            continue;
        struct parts own = parts_of(ids[i]);
        size_t k = 0;
        while (k < programs->n && !same_program(&own, &all[k]))
            k++;
        if (k == programs->n) {
            err = lc_grow(&all, &cap, k + 1, sizeof *all);
            if (err != LC_OK)
                break;
            all[programs->n++] = own;
        }
        programs->of[i] = (uint32_t)k;
    }
    if (err == LC_OK)
        err = lc_alloc(&programs->names, programs->n + 1, sizeof *programs->names);
    if (err == LC_OK)
        err = name_them(programs, all);
    free(all);
    if (err != LC_OK)
        lc_programs_free(programs);
    return err;
}

void lc_programs_free(struct lc_programs *programs) {
    for (size_t i = 0; programs->names != NULL && i < programs->n; i++)
        free(programs->names[i]);
    free(programs->names);
    free(programs->of);
    *programs = (struct lc_programs){0};
}
