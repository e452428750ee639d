/* What `show` prints first: one screen of at most 40 lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "format/omp_construct.h"
#include "report/text_parts.h"

enum { MOST_LINES = 40, MOST_PATHS = 5, MOST_FINDINGS = 5, MOST_NODES = 256 };

/* A subtree of the call tree, or what of it is in nothing below it worth a line. */
struct subtree {
    uint32_t path;
    bool own;
    double time, mpi, waiting;
    char *where; /* as it is printed */
};

struct split {
    const struct lc_text *text;
    struct subtree list[MOST_NODES];
    size_t n;
};

/* Of what is apart only the waiting counts, which is that of the whole call. */
static bool worth_a_line(const struct lc_text *text, uint32_t path) {
    uint32_t parent = text->view->paths[path].parent;
    bool below = parent != LC_NONE && text->sums->apart[parent];
    return !below && text->sums->time[path] > 0.01 * text->sums->total_time;
}

/* The heaviest part below a subtree: a function, or a call of MPI; 0: nothing is worth a line. */
static double heaviest_below(const struct split *split, const struct subtree *tree) {
    const struct lc_merged_path *paths = split->text->view->paths;
    double most = 0.0;
    if (tree->own || paths[tree->path].mpi)
        return 0.0;
    for (uint32_t c = paths[tree->path].first_child; c != LC_NONE; c = paths[c].next_sibling)
        if (worth_a_line(split->text, c))
            most = fmax(most, split->text->sums->time[c]);
    return most;
}

/* Somewhere below there are two parts or more, of which one may be what no part has. A chain of
 * functions that each have nearly all of it says no more at its end, unless that is a call of MPI
 * or a construct of OpenMP.
 */
static bool divides(const struct lc_text *text, uint32_t path) {
    const struct lc_merged_path *paths = text->view->paths;
    while (!paths[path].mpi) {
        double rest = text->sums->time[path];
        size_t n = 0;
        uint32_t only = path;
        for (uint32_t c = paths[path].first_child; c != LC_NONE; c = paths[c].next_sibling) {
            if (!worth_a_line(text, c))
                continue;
            rest -= text->sums->time[c];
            only = c;
            n++;
        }
        n += rest > 0.01 * text->sums->total_time;
        if (n > 1 || only == path)
            return n > 1 || lc_omp_is_construct(paths[path].name);
        path = only;
    }
    return true;
}

/* As long as there are fewer than wanted; beyond that what holds more than its share of the lines,
 * and what does not divide there: one part has most of it. */
static bool is_opened(const struct split *split, const struct subtree *tree, size_t most) {
    double below = heaviest_below(split, tree);
    if (below <= 0.0 || !divides(split->text, tree->path))
        return false;
    return split->n < most || below > 0.5 * tree->time ||
           tree->time * (double)most > split->text->sums->total_time;
}

static void add(struct split *split, uint32_t path) {
    const struct lc_sums *sums = split->text->sums;
    if (split->n < MOST_NODES)
        split->list[split->n++] = (struct subtree){.path = path,
                                                   .time = sums->time[path],
                                                   .mpi = sums->mpi[path],
                                                   .waiting = sums->waiting[path]};
}

/* Puts what is below a subtree in its place; the rest of it stays, where it is worth a line. */
static void split_one(struct split *split, size_t at) {
    const struct lc_merged_path *paths = split->text->view->paths;
    struct subtree rest = split->list[at];
    split->list[at] = split->list[--split->n];
    for (uint32_t c = paths[rest.path].first_child; c != LC_NONE; c = paths[c].next_sibling) {
        if (!worth_a_line(split->text, c))
            continue;
        size_t before = split->n;
        add(split, c);
        if (split->n > before) {
            rest.time -= split->list[before].time;
            rest.mpi -= split->list[before].mpi;
            rest.waiting -= split->list[before].waiting;
        }
    }
    rest.own = true;
    if (rest.time > 0.01 * split->text->sums->total_time && split->n < MOST_NODES)
        split->list[split->n++] = rest;
}

static int compare(const void *a, const void *b) {
    const struct subtree *p = a, *q = b;
    if (p->time != q->time)
        return p->time < q->time ? 1 : -1;
    return (p->path > q->path) - (p->path < q->path);
}

static void find_heaviest(struct split *split, size_t most) {
    const struct lc_view *view = split->text->view;
    for (uint32_t p = 0; p < view->n_paths; p++)
        if (view->paths[p].parent == LC_NONE && worth_a_line(split->text, p))
            add(split, p);
    for (;;) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < split->n; i++)
            if (is_opened(split, &split->list[i], most) &&
                (best == SIZE_MAX || split->list[i].time > split->list[best].time))
                best = i;
        if (best == SIZE_MAX)
            break;
        split_one(split, best);
    }
    qsort(split->list, split->n, sizeof split->list[0], compare);
}

/* Divided by samples: itself, or by what others got of it. */
static bool is_estimate(const struct lc_text *text, const struct subtree *tree) {
    const struct lc_merged_path *paths = text->view->paths;
    bool any = text->error_s[tree->path] > 0.0;
    for (uint32_t c = paths[tree->path].first_child; tree->own && c != LC_NONE && !any;
         c = paths[c].next_sibling)
        any = text->error_s[c] > 0.0;
    return any;
}

static void print_subtree(const struct lc_text *text, const struct subtree *tree, size_t width,
                          size_t bar) {
    char seconds[32], time[40], mpi[16] = "";
    double all = text->sums->total_time;
    snprintf(time, sizeof time, "%s%s", is_estimate(text, tree) ? "~" : "",
             lc_text_seconds(tree->time, seconds));
    struct lc_strbuf name = {0}, drawn = {0};
    if (!lc_text_without_mpi(text))
        snprintf(mpi, sizeof mpi, "%.1f", lc_text_share(fmax(tree->mpi, 0.0), all));
    lc_strbuf_printf(&name, "%s%s", tree->where, tree->own ? " itself" : "");
    const double parts[3] = {(tree->time - tree->mpi) / all, (tree->mpi - tree->waiting) / all,
                             tree->waiting / all};
    lc_text_put_bar(text, parts, bar, &drawn);
    size_t shown = lc_utf8_count(lc_strbuf_get(&name));
    fprintf(text->out, "  %s%*s %8s %6.1f %6s %6.1f  %s\n", lc_strbuf_get(&name),
            (int)(width > shown ? width - shown : 0), "", time, lc_text_share(tree->time, all), mpi,
            lc_text_share(fmax(tree->waiting, 0.0), all), lc_strbuf_get(&drawn));
    lc_strbuf_free(&name);
    lc_strbuf_free(&drawn);
}

/* What reads the same is one line. */
static void merge_alike(struct split *split) {
    size_t kept = 0;
    for (size_t i = 0; i < split->n; i++) {
        struct subtree *own = &split->list[i];
        size_t k = 0;
        while (k < kept &&
               (split->list[k].own != own->own || strcmp(split->list[k].where, own->where) != 0))
            k++;
        if (k == kept) {
            split->list[kept++] = *own;
            continue;
        }
        split->list[k].time += own->time;
        split->list[k].mpi += own->mpi;
        split->list[k].waiting += own->waiting;
        free(own->where);
    }
    split->n = kept;
    qsort(split->list, split->n, sizeof split->list[0], compare);
}

static enum lc_err put_heaviest(const struct lc_text *text, size_t most) {
    enum { NUMBERS = 32, ITSELF = 7 };
    struct split split = {.text = text};
    uint32_t ids[MOST_NODES];
    char **where;
    if (text->sums->total_time <= 0.0 || lc_text_only_time(text))
        return LC_OK;
    find_heaviest(&split, most);
    split.n = split.n < most ? split.n : most;
    size_t bar = text->width >= 100 ? 20 : 0, width = text->width - NUMBERS - 2 - bar;
    for (size_t i = 0; i < split.n; i++)
        ids[i] = split.list[i].path;
    LC_TRY(lc_text_paths(text, ids, split.n, width - ITSELF, &where));
    for (size_t i = 0; i < split.n; i++)
        split.list[i].where = where[i];
    free(where);
    merge_alike(&split);
    fprintf(text->out, "\n%s%-*s%s %8s %6s %6s %6s  %s\n", lc_text_bold(text), (int)width + 2,
            "Heaviest call paths", lc_text_plain(text), "TIME", "TIME %",
            lc_text_without_mpi(text) ? "" : "MPI %", "WAIT %",
            bar == 0                    ? ""
            : lc_text_without_mpi(text) ? text->utf8 ? "█ work ░ wait" : "# work - wait"
            : text->utf8                ? "█ work ▒ MPI ░ wait"
                                        : "# work + MPI - wait");
    bool estimates = false;
    for (size_t i = 0; i < split.n; i++) {
        print_subtree(text, &split.list[i], width, bar);
        estimates = estimates || is_estimate(text, &split.list[i]);
        free(split.list[i].where);
    }
    if (estimates)
        fputs("  ~ divided by samples; with standard errors: show --full\n", text->out);
    return LC_OK;
}

/* A profile is named by its directory. */
static void say_more(const struct lc_text *text) {
    static const char profile[] = "/profile.cubex",
                      parts[] = "in parts: --only findings,waits,tree,..";
    const char *file = text->view->file;
    size_t length = strlen(file), name = sizeof profile - 1;
    if (length > name && strcmp(file + length - name, profile) == 0)
        length -= name;
    struct lc_strbuf line = {0};
    lc_strbuf_printf(&line, "More: `latecomer show --full %.*s`;", (int)length, file);
    bool fits = lc_utf8_count(lc_strbuf_get(&line)) + sizeof parts <= text->width;
    fprintf(text->out, "\n%s%s%s\n", lc_strbuf_get(&line), fits ? " " : "\n      ", parts);
    lc_strbuf_free(&line);
}

static enum lc_err draw(const struct lc_text *text, size_t findings, size_t paths) {
    lc_text_short_header(text);
    LC_TRY(lc_text_findings(text, findings));
    lc_text_pop_bars(text);
    LC_TRY(put_heaviest(text, paths));
    lc_text_short_beside(text);
    say_more(text);
    lc_text_next(text);
    return LC_OK;
}

static size_t count_lines(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* Drawn into memory first: where warnings need many lines, fewer findings and call paths are
 * shown. */
enum lc_err lc_text_screen(const struct lc_text *text) {
    enum lc_err err = LC_OK;
    for (size_t findings = MOST_FINDINGS, paths = MOST_PATHS;; findings--, paths--) {
        struct lc_text again = *text;
        char *drawn = NULL;
        size_t bytes = 0;
        again.out = open_memstream(&drawn, &bytes);
        if (again.out == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot print a screen");
        err = draw(&again, findings, paths);
        bool whole = fclose(again.out) == 0;
        if (err == LC_OK && !whole)
            err = lc_fail(LC_ERR_NOMEM, "memory: cannot print a screen");
        bool done = err != LC_OK || findings == 1 || count_lines(drawn) <= MOST_LINES;
        if (err == LC_OK && done)
            fwrite(drawn, 1, bytes, text->out);
        free(drawn);
        if (done)
            return err;
    }
}
