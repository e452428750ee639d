/* The result as one page of HTML that needs nothing else: the run, findings, efficiency, heaviest
 * waits, ranks. Names come from programs: they are text, whatever is in them, and the page may load
 * and run nothing. */
#include "report/advice.h"
#include "report/export_html.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plural.h"
#include "base/utf8.h"
#include "report/findings.h"
#include "report/run_info.h"
#include "report/sums.h"
#include "report/text_parts.h"

enum { MOST_FINDINGS = 20, MOST_WAITS = 20, MOST_RANKS = 256 };

/* The policy names the hash of the style: nothing else is applied. A test computes it. */
#define STYLE                                                                                      \
    ":root{color-scheme:light dark}"                                                               \
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"    \
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}"                                     \
    "table{border-collapse:collapse;width:100%}"                                                   \
    "td,th{padding:.25rem .6rem .25rem 0;text-align:left;vertical-align:top}"                      \
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"                    \
    "code{font-size:.9em;overflow-wrap:anywhere}p.q{opacity:.75;margin:.2rem 0}"                   \
    "svg{width:12rem;height:.8rem}.k "                                                             \
    "svg{width:.8rem}.u{fill:#4477aa}.m{fill:#ddaa33}.w{fill:#bb5566}"
#define STYLE_HASH "sha256-mskc5caFiMCzsK9KSKLXaEFfK57A+VS2aC+7J4c8a4g="

struct page {
    struct lc_strbuf out;
    struct lc_view *view;
    struct lc_sums *sums;
    json_t *meta, *pop;
};

static void put_text(struct page *page, const char *text) {
    struct lc_strbuf printable = {0};
    lc_put_printable(&printable, text);
    for (const char *c = lc_strbuf_get(&printable); *c != '\0'; c++) {
        const char *entity = *c == '&'    ? "&amp;"
                             : *c == '<'  ? "&lt;"
                             : *c == '>'  ? "&gt;"
                             : *c == '"'  ? "&quot;"
                             : *c == '\'' ? "&#39;"
                                          : NULL;
        if (entity != NULL)
            lc_strbuf_puts(&page->out, entity);
        else
            lc_strbuf_putc(&page->out, *c);
    }
    lc_strbuf_free(&printable);
}

static void put_seconds(struct page *page, double seconds) {
    char text[32];
    if (isnan(seconds))
        lc_strbuf_puts(&page->out, "unknown");
    else
        lc_strbuf_puts(&page->out, lc_text_seconds(seconds, text));
}

static void put_path(struct page *page, uint32_t path) {
    char *name = path != LC_NONE ? lc_view_path(page->view, path) : NULL;
    lc_strbuf_puts(&page->out, "<code>");
    put_text(page, name != NULL ? name : "the whole run");
    lc_strbuf_puts(&page->out, "</code>");
    free(name);
}

static void put_head(struct page *page) {
    lc_strbuf_puts(
        &page->out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'" STYLE_HASH "'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    put_text(page, page->view->file);
    lc_strbuf_puts(&page->out, "</title>\n<style>" STYLE "</style></head>\n<body>\n<h1>");
    const json_t *command = json_object_get(page->meta, "command");
    size_t i;
    json_t *word;
    json_array_foreach((json_t *)command, i, word) {
        lc_strbuf_puts(&page->out, i > 0 ? " " : "");
        put_text(page, json_is_string(word) ? json_string_value(word) : "");
    }
    if (json_array_size(command) == 0)
        put_text(page, page->view->file);
    lc_strbuf_puts(&page->out, "</h1>\n");
}

static void put_run(struct page *page) {
    const struct lc_model *model = page->view->model;
    const char *mpi = json_string_value(json_object_get(page->meta, "mpi"));
    double wall = json_number_value(json_object_get(page->meta, "wall_time_s"));
    lc_strbuf_printf(&page->out, "<p>%zu rank%s, %zu thread%s, wall time ", model->n_processes,
                     lc_plural((double)model->n_processes), model->n_locations,
                     lc_plural((double)model->n_locations));
    put_seconds(page, wall);
    if (mpi != NULL) {
        lc_strbuf_puts(&page->out, ", ");
        put_text(page, mpi);
    }
    lc_strbuf_puts(&page->out, "; ");
    if (mpi != NULL || page->sums->total_mpi > 0)
        lc_strbuf_printf(&page->out, "in MPI %.1f %% of the time, ",
                         lc_text_share(page->sums->total_mpi, page->sums->total_time));
    lc_strbuf_printf(&page->out, "waiting %.1f %%%s.</p>\n",
                     lc_text_share(page->sums->total_waiting, page->sums->total_time),
                     page->sums->estimated ? " (estimated, without MPI_Waitall and the like)" : "");
    if (page->view->n_unknown > 0)
        lc_strbuf_printf(&page->out, "<p>Nothing is known about %zu thread%s.</p>\n",
                         page->view->n_unknown, lc_plural((double)page->view->n_unknown));
    if (json_is_false(json_object_get(page->meta, "complete")))
        lc_strbuf_puts(&page->out, "<p>The run was not measured to its end.</p>\n");
}

static void put_finding(struct page *page, const struct lc_findings *findings,
                        const struct lc_finding *finding) {
    lc_strbuf_puts(&page->out, "<tr><td class=\"n\">");
    put_seconds(page, finding->gain_s);
    if (!isnan(finding->gain_s))
        lc_strbuf_printf(&page->out, " (%.0f %%)",
                         lc_text_share(finding->gain_s, findings->elapsed_s));
    lc_strbuf_puts(&page->out, "</td><td>");
    put_text(page, finding->text);
    lc_strbuf_puts(&page->out, "<br>");
    put_path(page, finding->path);
    if (finding->from[0] != '\0' || finding->to[0] != '\0') {
        lc_strbuf_puts(&page->out, " between <code>");
        put_text(page, finding->from);
        lc_strbuf_puts(&page->out, "</code> and <code>");
        put_text(page, finding->to);
        lc_strbuf_puts(&page->out, "</code>");
    }
    lc_strbuf_puts(&page->out, "<p class=\"q\">");
    put_text(page, lc_advice_for(page->view, finding));
    lc_strbuf_puts(&page->out, "</p></td></tr>\n");
}

static enum lc_err put_findings(struct page *page) {
    struct lc_findings *findings;
    LC_TRY(lc_findings_of(&findings, page->view, page->sums));
    lc_strbuf_puts(&page->out, "<h2>Findings</h2>\n");
    if (findings->n == 0)
        lc_strbuf_puts(&page->out, "<p>Nothing exceeds the accuracy of this measurement.</p>\n");
    else
        lc_strbuf_puts(&page->out, "<table><tr><th class=\"n\">gain</th><th>what</th></tr>\n");
    for (size_t i = 0; i < findings->n && i < MOST_FINDINGS; i++)
        put_finding(page, findings, &findings->list[i]);
    if (findings->n > 0)
        lc_strbuf_puts(&page->out, "</table>\n");
    lc_findings_free(findings);
    return LC_OK;
}

static void put_bar(struct page *page, const double parts[3]) {
    static const char *const classes[] = {"u", "m", "w"};
    double x = 0.0;
    lc_strbuf_puts(&page->out, "<svg viewBox=\"0 0 100 5\" preserveAspectRatio=\"none\">");
    for (int i = 0; i < 3; i++) {
        double width = fmax(0.0, fmin(100.0 * parts[i], 100.0 - x));
        lc_strbuf_printf(&page->out, "<rect class=\"%s\" x=\"%.2f\" width=\"%.2f\" height=\"5\"/>",
                         classes[i], x, width);
        x += width;
    }
    lc_strbuf_puts(&page->out, "</svg>");
}

static void put_factor(void *context, const struct lc_text_factor *factor) {
    struct page *page = context;
    const json_t *value = json_object_get(page->pop, factor->key);
    if (!json_is_number(value))
        return;
    double share = json_number_value(value);
    const double parts[3] = {share, 0.0, 0.0};
    lc_strbuf_puts(&page->out, "<tr><td>");
    for (int i = 0; i < factor->depth; i++)
        lc_strbuf_puts(&page->out, "&emsp;");
    put_text(page, factor->name);
    lc_strbuf_printf(&page->out, "</td><td class=\"n\">%.1f %%</td><td>", 100.0 * share);
    put_bar(page, parts);
    lc_strbuf_puts(&page->out, "</td><td>");
    put_text(page, factor->formula);
    lc_strbuf_puts(&page->out, "</td></tr>\n");
}

static void put_efficiency(struct page *page) {
    if (page->pop == NULL)
        return;
    lc_strbuf_puts(&page->out,
                   "<h2>Efficiency</h2>\n<p class=\"q\">U: useful time of a thread, CP: critical "
                   "path, T: run time; the factors multiply.</p>\n<table>\n");
    lc_text_each_factor(put_factor, page);
    lc_strbuf_puts(&page->out, "</table>\n");
}

static void put_waits(struct page *page) {
    const struct lc_sums *sums = page->sums;
    if (sums->n_places == 0)
        return;
    lc_strbuf_puts(&page->out, "<h2>Largest wait states</h2>\n<table>\n");
    for (size_t i = 0; i < sums->n_places && i < MOST_WAITS; i++) {
        const struct lc_wait_place *place = &sums->places[i];
        lc_strbuf_puts(&page->out, "<tr><td class=\"n\">");
        put_seconds(page, place->seconds);
        lc_strbuf_printf(&page->out, "</td><td class=\"n\">%.1f %%</td><td>",
                         lc_text_share(place->seconds, sums->total_time));
        put_text(page, sums->waits[place->wait].kind->label);
        lc_strbuf_puts(&page->out, "</td><td>");
        put_path(page, place->path);
        lc_strbuf_puts(&page->out, "</td></tr>\n");
    }
    lc_strbuf_puts(&page->out, "</table>\n");
}

static void put_legend(struct page *page) {
    static const char *const words[] = {" outside MPI ", " in MPI ", " waiting"};
    lc_strbuf_puts(&page->out, "<p class=\"q\">");
    for (int i = 0; i < 3; i++) {
        const double parts[3] = {i == 0, i == 1, i == 2};
        lc_strbuf_puts(&page->out, "<span class=\"k\">");
        put_bar(page, parts);
        lc_strbuf_printf(&page->out, "</span>%s", words[i]);
    }
    lc_strbuf_puts(&page->out, "</p>\n");
}

static void put_ranks(struct page *page) {
    const struct lc_sums *sums = page->sums;
    const struct lc_text text = {.view = page->view};
    size_t n = page->view->model->n_locations;
    lc_strbuf_puts(&page->out, "<h2>Ranks</h2>\n");
    put_legend(page);
    lc_strbuf_puts(&page->out,
                   "<table>"
                   "<tr><th></th><th></th><th class=\"n\">time</th><th class=\"n\">in MPI</th>"
                   "<th class=\"n\">waiting</th></tr>\n");
    for (uint32_t l = 0; l < n && l < MOST_RANKS; l++) {
        char who[48];
        double time = sums->loc_time[l] > 0.0 ? sums->loc_time[l] : 1.0;
        const double parts[3] = {(sums->loc_time[l] - sums->loc_mpi[l]) / time,
                                 (sums->loc_mpi[l] - sums->loc_waiting[l]) / time,
                                 sums->loc_waiting[l] / time};
        lc_text_location(&text, l, who, sizeof who);
        lc_strbuf_printf(&page->out, "<tr><td>%s</td><td>", who);
        put_bar(page, parts);
        const double values[3] = {sums->loc_time[l], sums->loc_mpi[l], sums->loc_waiting[l]};
        for (int i = 0; i < 3; i++) {
            lc_strbuf_puts(&page->out, "</td><td class=\"n\">");
            put_seconds(page, page->view->unknown[l] ? NAN : values[i]);
        }
        lc_strbuf_puts(&page->out, "</td></tr>\n");
    }
    lc_strbuf_puts(&page->out, "</table>\n");
    if (n > MOST_RANKS)
        lc_strbuf_printf(&page->out, "<p>.. and %zu more.</p>\n", n - MOST_RANKS);
}

enum lc_err lc_export_html(struct lc_view *view, struct lc_strbuf *out) {
    struct page page = {.view = view};
    enum lc_err err = lc_json_meta(view, &page.meta);
    if (err == LC_OK)
        err = lc_json_pop(view, &page.pop);
    if (err == LC_OK)
        err = lc_sums_new(&page.sums, view);
    if (err == LC_OK) {
        put_head(&page);
        put_run(&page);
        err = put_findings(&page);
    }
    if (err == LC_OK) {
        put_efficiency(&page);
        put_waits(&page);
        put_ranks(&page);
        lc_strbuf_puts(&page.out, "</body></html>\n");
        if (!lc_strbuf_ok(&page.out))
            err = lc_fail(LC_ERR_NOMEM, "memory: cannot write the page");
    }
    lc_sums_free(page.sums);
    json_decref(page.meta);
    json_decref(page.pop);
    *out = page.out;
    return err;
}
