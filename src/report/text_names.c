/* Call paths as people read them: short names, nothing that terminals obey, cut at their begin, and
 * told apart where they would look alike. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "report/frames.h"
#include "report/short_name.h"
#include "report/text_parts.h"

enum { LONGEST_NAME = 60, SHORTEST_NAME = 12 };

/* How much of a frame is shown. */
enum shown_as { IF_ROOM, ALWAYS, WITH_PARAMETERS, WHOLE };

struct shown {
    uint32_t *frames; /* from the root */
    unsigned char *how;
    size_t *differs; /* the character where a name differs from one that looks alike; 0: none */
    bool *visible;
    size_t n;
    bool named; /* some function besides the root and MPI has a name */
};

/* `differs`: a character that is not cut out; 0: any may be. */
static void put_label(const struct lc_text *text, uint32_t path, enum shown_as how, size_t width,
                      size_t differs, struct lc_strbuf *out) {
    const struct lc_merged_path *own = &text->view->paths[path];
    const struct lc_model *model = text->view->model;
    const struct lc_region *region = &model->regions[model->cnodes[own->first_cnode].region];
    bool function =
        !own->folded && (strcmp(region->paradigm, "compiler") == 0 ||
                         (strcmp(region->paradigm, LC_MODEL_SAMPLED) == 0 && own->name[0] != '('));
    bool code = function && !text->full && how != WHOLE;
    struct lc_strbuf name = {0}, printable = {0};
    if (code && how == WITH_PARAMETERS)
        lc_put_short_signature(&name, own->name);
    else if (code)
        lc_put_short_name(&name, own->name);
    else
        lc_strbuf_puts(&name, own->name);
    lc_put_printable(&printable, lc_strbuf_get(&name));
    if (text->full)
        lc_strbuf_puts(out, lc_strbuf_get(&printable));
    else if (differs > 0)
        lc_put_cut_around(out, lc_strbuf_get(&printable), width, differs);
    else
        lc_put_cut(out, lc_strbuf_get(&printable), width);
    lc_strbuf_free(&name);
    lc_strbuf_free(&printable);
}

/* Does a sibling read the same? */
static bool has_double(const struct lc_text *text, uint32_t path, enum shown_as how, size_t width) {
    const struct lc_merged_path *paths = text->view->paths;
    uint32_t parent = paths[path].parent;
    struct lc_strbuf own = {0}, other = {0};
    bool found = false;
    put_label(text, path, how, width, 0, &own);
    for (uint32_t s = parent != LC_NONE ? paths[parent].first_child : LC_NONE;
         s != LC_NONE && !found; s = paths[s].next_sibling) {
        lc_strbuf_clear(&other);
        put_label(text, s, how, width, 0, &other);
        found = s != path && strcmp(lc_strbuf_get(&own), lc_strbuf_get(&other)) == 0;
    }
    lc_strbuf_free(&own);
    lc_strbuf_free(&other);
    return found;
}

void lc_text_put_name(const struct lc_text *text, uint32_t path, size_t width,
                      struct lc_strbuf *out) {
    enum shown_as how = IF_ROOM;
    width = width < LONGEST_NAME ? width : LONGEST_NAME;
    while (how < WHOLE && has_double(text, path, how, width))
        how = how == IF_ROOM ? WITH_PARAMETERS : WHOLE;
    put_label(text, path, how, width, 0, out);
}

/* The kind of a frame that may be folded (report/frames.h); NULL: it is shown. The frame that calls
 * MPI stays where no function of the path says more. */
static const char *fold_kind(const struct lc_text *text, const struct shown *s, size_t i) {
    const struct lc_merged_path *paths = text->view->paths;
    if (text->full || s->how[i] != IF_ROOM)
        return NULL;
    bool calls_mpi = i + 1 == s->n || paths[s->frames[i + 1]].mpi;
    return s->named || !calls_mpi ? lc_frame_kind(paths[s->frames[i]].name) : NULL;
}

/* The number of frames from i on that fold into one: visible ones of one kind. 0: none. */
static size_t run_of(const struct lc_text *text, const struct shown *s, size_t i) {
    const char *kind = fold_kind(text, s, i);
    size_t n = 0;
    while (kind != NULL && i + n < s->n && s->visible[i + n]) {
        const char *other = fold_kind(text, s, i + n);
        if (other == NULL || strcmp(other, kind) != 0)
            break;
        n++;
    }
    return kind != NULL && lc_frames_fold(kind, n) ? n : 0;
}

static void render(const struct lc_text *text, const struct shown *s, size_t width,
                   struct lc_strbuf *out) {
    lc_strbuf_clear(out);
    for (size_t i = 0; i < s->n; i++) {
        if (!s->visible[i]) {
            if (i == 0 || s->visible[i - 1])
                lc_strbuf_puts(out, i == 0 ? "..." : "/...");
            continue;
        }
        if (i > 0)
            lc_strbuf_putc(out, text->view->paths[s->frames[i]].folded ? ' ' : '/');
        size_t folded = run_of(text, s, i);
        if (folded > 0) {
            lc_put_frames(out, fold_kind(text, s, i), folded);
            i += folded - 1;
        } else {
            put_label(text, s->frames[i], (enum shown_as)s->how[i], width, s->differs[i], out);
        }
    }
}

/* What must be shown, and from the end as many frames as fit. */
static void fit(const struct lc_text *text, struct shown *s, size_t width, struct lc_strbuf *out) {
    size_t name_width = width < LONGEST_NAME ? width : LONGEST_NAME;
    for (size_t i = 0; i < s->n; i++)
        s->visible[i] = text->full || s->how[i] != IF_ROOM || i + 1 == s->n;
    render(text, s, name_width, out);
    while (!text->full && lc_utf8_count(lc_strbuf_get(out)) > width && name_width > SHORTEST_NAME) {
        name_width = name_width * 3 / 4;
        render(text, s, name_width, out);
    }
    bool fits = true;
    for (size_t i = s->n; fits && i-- > 0;) {
        if (s->visible[i])
            continue;
        s->visible[i] = true;
        render(text, s, name_width, out);
        fits = lc_utf8_count(lc_strbuf_get(out)) <= width;
        s->visible[i] = fits;
    }
    render(text, s, name_width, out);
}

static enum lc_err collect(const struct lc_text *text, uint32_t path, struct shown *s) {
    const struct lc_merged_path *paths = text->view->paths;
    for (uint32_t up = path; up != LC_NONE; up = paths[up].parent)
        s->n++;
    LC_TRY(lc_alloc(&s->frames, s->n + 1, sizeof s->frames[0]));
    LC_TRY(lc_alloc(&s->how, s->n + 1, sizeof s->how[0]));
    LC_TRY(lc_alloc(&s->differs, s->n + 1, sizeof s->differs[0]));
    LC_TRY(lc_alloc(&s->visible, s->n + 1, sizeof s->visible[0]));
    size_t i = s->n;
    for (uint32_t up = path; up != LC_NONE; up = paths[up].parent) {
        s->frames[--i] = up;
        s->named = s->named || (i > 0 && !paths[up].mpi && lc_frame_kind(paths[up].name) == NULL);
    }
    return LC_OK;
}

/* The first character in which two names differ. */
static size_t first_difference(const char *a, const char *b) {
    size_t i = 0, n = 0;
    while (a[i] != '\0' && a[i] == b[i])
        n += ((unsigned char)a[i++] & 0xc0) != 0x80;
    return n > 0 && ((unsigned char)a[i] & 0xc0) == 0x80 ? n - 1 : n;
}

/* Keeps the place where the names of two frames differ from being cut out; false: it is kept
 * already. */
static bool keep_difference(const struct lc_text *text, struct shown *a, struct shown *b,
                            size_t i) {
    const struct lc_merged_path *paths = text->view->paths;
    struct lc_strbuf one = {0}, two = {0};
    if (i >= a->n || i >= b->n)
        return false;
    lc_put_printable(&one, paths[a->frames[i]].name);
    lc_put_printable(&two, paths[b->frames[i]].name);
    size_t at = first_difference(lc_strbuf_get(&one), lc_strbuf_get(&two));
    bool more = a->differs[i] == 0 || b->differs[i] == 0;
    a->differs[i] = a->differs[i] == 0 ? at : a->differs[i];
    b->differs[i] = b->differs[i] == 0 ? at : b->differs[i];
    lc_strbuf_free(&one);
    lc_strbuf_free(&two);
    return more && at > 0;
}

/* Shows more of the first frame that differs; false: there is no more. */
static bool tell_apart(const struct lc_text *text, struct shown *a, struct shown *b) {
    size_t i = 0;
    while (i < a->n && i < b->n && a->frames[i] == b->frames[i])
        i++;
    bool more = false;
    for (int k = 0; k < 2; k++) {
        struct shown *s = k == 0 ? a : b;
        if (i < s->n && s->how[i] < WHOLE) {
            s->how[i]++;
            more = true;
        }
    }
    return more || keep_difference(text, a, b, i);
}

enum lc_err lc_text_paths(const struct lc_text *text, const uint32_t *list, size_t n, size_t width,
                          char ***printed) {
    struct shown *all = NULL;
    enum lc_err err = lc_alloc(&all, n + 1, sizeof all[0]);
    *printed = NULL;
    if (err == LC_OK)
        err = lc_alloc(printed, n + 1, sizeof **printed);
    for (size_t i = 0; err == LC_OK && i < n; i++)
        err = list[i] != LC_NONE ? collect(text, list[i], &all[i]) : LC_OK;
    for (bool again = true; err == LC_OK && again;) {
        again = false;
        for (size_t i = 0; i < n; i++) {
            struct lc_strbuf out = {0};
            fit(text, &all[i], width, &out);
            free((*printed)[i]);
            (*printed)[i] = lc_strbuf_take(&out);
            if ((*printed)[i] == NULL) {
                lc_fail(LC_ERR_NOMEM, "memory: cannot print a call path");
                err = LC_ERR_NOMEM; /* also for analysers to see */
            }
        }
        for (size_t i = 0; err == LC_OK && i < n; i++)
            for (size_t k = 0; k < i; k++)
                if (list[i] != list[k] && strcmp((*printed)[i], (*printed)[k]) == 0)
                    again |= tell_apart(text, &all[i], &all[k]);
    }
    for (size_t i = 0; all != NULL && i < n; i++) {
        free(all[i].frames);
        free(all[i].how);
        free(all[i].differs);
        free(all[i].visible);
    }
    free(all);
    if (err != LC_OK) {
        lc_text_paths_free(*printed, n);
        *printed = NULL;
    }
    return err;
}

void lc_text_paths_free(char **printed, size_t n) {
    for (size_t i = 0; printed != NULL && i < n; i++)
        free(printed[i]);
    free(printed);
}

char *lc_text_outside(const char *from_outside, size_t width) {
    struct lc_strbuf printable = {0}, cut = {0};
    lc_put_printable(&printable, from_outside);
    lc_put_cut(&cut, lc_strbuf_get(&printable), width);
    lc_strbuf_free(&printable);
    return lc_strbuf_take(&cut);
}
