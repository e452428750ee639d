/* Findings in words: two lines each on the first screen, at length with evidence and advice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/advice.h"
#include "report/finding_kinds.h"
#include "report/findings.h"
#include "report/text_parts.h"

enum { MOST_LISTED = 64, NUMBERS = 16 };
static const double much_waiting = 0.05; /* share of the time */

/* "1.23 s (12 %)" of the run time. */
static const char *gain_of(const struct lc_findings *findings, const struct lc_finding *finding,
                           char buffer[48]) {
    char seconds[32];
    if (isnan(finding->gain_s))
        snprintf(buffer, 48, "gain unknown");
    else
        snprintf(buffer, 48, "%s (%.0f %%)", lc_text_seconds(finding->gain_s, seconds),
                 lc_text_share(finding->gain_s, findings->elapsed_s));
    return buffer;
}

/* The call sites, where they are known: ", solve.c:10 to solve.c:20". */
static void put_sites(const struct lc_finding *finding, size_t width, struct lc_strbuf *out) {
    if (finding->from[0] == '\0' && finding->to[0] == '\0')
        return;
    char *from = lc_text_outside(finding->from[0] != '\0' ? finding->from : "?", width);
    char *to = lc_text_outside(finding->to[0] != '\0' ? finding->to : "?", width);
    if (from != NULL && to != NULL && strcmp(from, to) == 0)
        lc_strbuf_printf(out, ", %s", from);
    else if (from != NULL && to != NULL)
        lc_strbuf_printf(out, ", %s to %s", from, to);
    free(from);
    free(to);
}

/* First line: the gain and the sentence; second: the place, with its lines where there is room,
 * else they follow. */
static void print_finding(const struct lc_text *text, const struct lc_findings *findings,
                          const struct lc_finding *finding, const char *where) {
    char gain[48];
    struct lc_strbuf sites = {0};
    put_sites(finding, 30, &sites);
    fprintf(text->out, "  %s%-*s%s", lc_text_alarm(text), NUMBERS, gain_of(findings, finding, gain),
            lc_text_plain(text));
    lc_text_wrapped(text, NUMBERS + 2, NUMBERS + 2, finding->text);
    bool fits = lc_utf8_count(where) + sites.length + NUMBERS + 2 <= text->width;
    fprintf(text->out, "  %*s%s%s%s%s\n", NUMBERS, "", lc_text_bold(text), where,
            lc_text_plain(text), fits ? lc_strbuf_get(&sites) : "");
    if (!fits && sites.length > 2)
        lc_text_wrapped(text, 0, NUMBERS + 2, lc_strbuf_get(&sites) + 2);
    lc_strbuf_free(&sites);
}

static void print_at_length(const struct lc_text *text, const struct lc_findings *findings,
                            const struct lc_finding *finding, const char *where,
                            const char *evidence) {
    char gain[48], low[32], high[32];
    struct lc_strbuf line = {0}, sites = {0};
    fprintf(text->out, "  %s%s%s  %s\n", lc_text_alarm(text), gain_of(findings, finding, gain),
            lc_text_plain(text), finding->kind->id);
    lc_text_wrapped(text, 0, 4, finding->text);
    put_sites(finding, 60, &sites);
    if (where[0] != '\0')
        fprintf(text->out, "    at    %s%s%s%s\n", lc_text_bold(text), where, lc_text_plain(text),
                lc_strbuf_get(&sites));
    if (evidence[0] != '\0' && finding->metric != NULL)
        fprintf(text->out, "    see   %s in %s\n", finding->metric, evidence);
    lc_strbuf_printf(&line, "severity %s", lc_certainty_name(finding->certainty));
    if (finding->gain_by != NULL)
        lc_strbuf_printf(&line, "; gain between %s and %s: %s",
                         lc_text_seconds(finding->gain_low_s, low),
                         lc_text_seconds(finding->gain_high_s, high), finding->gain_by);
    if (finding->gain_by == NULL && finding->gain_estimated != NULL)
        lc_strbuf_printf(&line, "; gain unknown: %s", finding->gain_estimated);
    if (finding->gain_by != NULL && finding->gain_estimated != NULL)
        lc_strbuf_printf(&line, "; an estimate: %s", finding->gain_estimated);
    fputs("    basis ", text->out);
    lc_text_wrapped(text, 10, 10, lc_strbuf_get(&line));
    fputs("    do    ", text->out);
    lc_text_wrapped(text, 10, 10, lc_advice_for(text->view, finding));
    lc_strbuf_free(&line);
    lc_strbuf_free(&sites);
}

static enum lc_err print_list(const struct lc_text *text, const struct lc_findings *findings,
                              size_t n, bool at_length) {
    uint32_t at[MOST_LISTED], evidence[MOST_LISTED];
    char **places = NULL, **proofs = NULL;
    for (size_t i = 0; i < n; i++) {
        at[i] = findings->list[i].path;
        evidence[i] = findings->list[i].evidence_path;
    }
    enum lc_err err =
        lc_text_paths(text, at, n, text->width - (at_length ? 10 : NUMBERS + 2), &places);
    if (err == LC_OK)
        err = lc_text_paths(text, evidence, n, text->width - 40, &proofs);
    for (size_t i = 0; err == LC_OK && i < n; i++) {
        const struct lc_finding *finding = &findings->list[i];
        if (at_length)
            print_at_length(text, findings, finding, places[i], proofs[i]);
        else
            print_finding(text, findings, finding,
                          places[i][0] != '\0' ? places[i] : "the whole run");
    }
    lc_text_paths_free(places, n);
    lc_text_paths_free(proofs, n);
    return err;
}

static void say_nothing_found(const struct lc_text *text, bool has_causes) {
    const struct lc_sums *sums = text->sums;
    if (lc_text_only_time(text))
        fprintf(text->out, "  only the run time was measured: nothing is known of waiting\n");
    else if (lc_text_uninitialised(text))
        fprintf(text->out, "  none: MPI was not initialised, so waiting was not measured\n");
    else if (sums->estimated)
        fprintf(text->out, "  waits are estimated only: who was late was not measured\n");
    else if (has_causes && sums->total_waiting > much_waiting * sums->total_time)
        fprintf(
            text->out,
            "  no single cause: %.1f %% of the time is waiting, but of none of its causes is it\n"
            "  known that the run would be shorter without it; who is late: --only %s\n",
            lc_text_share(sums->total_waiting, sums->total_time),
            lc_view_is_analysis(text->view) ? "causes" : "late");
    else
        fprintf(text->out, "  nothing exceeds the accuracy of this measurement\n");
}

static enum lc_err print_findings(const struct lc_text *text, size_t most, bool at_length) {
    struct lc_findings *findings;
    LC_TRY(lc_findings_of(&findings, text->view, text->sums));
    size_t n = findings->n < most ? findings->n : most;
    lc_text_heading(text, "Findings", "what the run would save without each, largest first");
    if (findings->n == 0)
        say_nothing_found(text, findings->has_causes);
    enum lc_err err = print_list(text, findings, n, at_length);
    if (err == LC_OK && findings->n > n)
        fprintf(text->out, "  .. and %zu more: --only findings\n", findings->n - n);
    lc_findings_free(findings);
    return err;
}

enum lc_err lc_text_findings(const struct lc_text *text, size_t most) {
    return print_findings(text, most, false);
}

enum lc_err lc_text_all_findings(const struct lc_text *text) {
    return print_findings(text, MOST_LISTED, true);
}
