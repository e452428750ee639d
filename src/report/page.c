/* Blocks of a page: "page.json" lists the results; of the k-th are "k/profile.json" and
 * "k/profile.rows", the same of its analysis with the members of that file which hold JSON, and
 * "k/timeline" and "k/beside.json"; of all together "scaling.json", "compare.json", and of their
 * analyses "delay_models.json" (means); of the i-th fingerprint "fingerprint/i.json", and so on of
 * sweeps and guidelines, of several results of the micro-benchmark "fingerprint/compare.json". */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "report/operation_alone.h"
#include "report/compare.h"
#include "report/delay_models.h"
#include "report/page_data.h"
#include "report/page_pack.h"
#include "report/page_rows.h"
#include "report/scaling.h"

extern const char lc_page_template[], lc_page_template_end[];

/* Where the data goes: web/build.mjs puts it once into the template. */
static const char data_mark[] = "<!--data-->";

struct named_block {
    char name[64];
    struct lc_page_block *block;
    FILE *stream;
};

/* A block of text; what is written to b->stream becomes its content. */
static enum lc_err begin_text(struct named_block *b, FILE *out) {
    LC_TRY(lc_page_block_begin(&b->block, b->name, out));
    b->stream = lc_page_block_stream(b->block);
    return b->stream != NULL ? LC_OK : lc_fail(LC_ERR_NOMEM, "memory: cannot write the page");
}

static enum lc_err end_text(struct named_block *b, enum lc_err err) {
    if (b->stream != NULL)
        fclose(b->stream);
    enum lc_err ended = lc_page_block_end(b->block);
    return err != LC_OK ? err : ended;
}

static enum lc_err put_bytes(const char *name, const char *data, size_t bytes, FILE *out) {
    struct lc_page_block *block;
    LC_TRY(lc_page_block_begin(&block, name, out));
    lc_page_block_put(block, data, bytes);
    return lc_page_block_end(block);
}

static enum lc_err put_rows(struct lc_view *view, const char *name, FILE *out) {
    struct lc_page_block *block;
    LC_TRY(lc_page_block_begin(&block, name, out));
    enum lc_err err = lc_page_rows(view, block), ended = lc_page_block_end(block);
    return err != LC_OK ? err : ended;
}

static enum lc_err put_result(struct lc_view *view, size_t k, const char *role, FILE *out) {
    struct named_block b = {.stream = NULL};
    snprintf(b.name, sizeof b.name, "%zu/%s.rows", k, role);
    LC_TRY(put_rows(view, b.name, out)); /* first: it leaves sums that the other needs */
    snprintf(b.name, sizeof b.name, "%zu/%s.json", k, role);
    enum lc_err err = begin_text(&b, out);
    if (err == LC_OK)
        err = lc_page_data(view, b.stream);
    return end_text(&b, err);
}

/* Members of the file that hold JSON or a table, as they are. */
static enum lc_err put_members(struct lc_view *view, size_t k, const char *role, FILE *out) {
    static const char *const members[] = {
        "root_causes.json", "critical_path.json", "wait_statistics.json",
        "timeline.json",    "size_classes.tsv",   "blame.tsv",
        "lines.tsv",        "pairs.json"};
    char name[64];
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *data;
        size_t bytes;
        if (lc_cubex_misc(view->cube, members[i], &data, &bytes) != LC_OK)
            continue;
        snprintf(name, sizeof name, "%zu/%s/%s", k, role, members[i]);
        LC_TRY(put_bytes(name, data, bytes, out));
    }
    return LC_OK;
}

/* Only analyses have both models, and only runs of one size have a mean. */
static enum lc_err put_models(struct lc_view *const *views, size_t n, const char *name, FILE *out) {
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (memory == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot write the page");
    enum lc_err err = lc_delay_models_write(views, n, true, memory);
    fclose(memory);
    err = err == LC_OK ? put_bytes(name, text, bytes, out) : LC_OK;
    free(text);
    return err;
}

/* The models of all analyses together. */
static enum lc_err put_mean_models(const struct lc_page_result *results, size_t n, FILE *out) {
    struct lc_view **views;
    size_t opened = 0;
    LC_TRY(lc_alloc(&views, n, sizeof views[0]));
    enum lc_err err = LC_OK;
    while (err == LC_OK && opened < n) {
        const struct lc_page_result *result = &results[opened];
        const char *file = result->analysis != NULL ? result->analysis : result->file;
        err = lc_view_open(&views[opened], file);
        opened += err == LC_OK;
    }
    if (err == LC_OK)
        err = put_models(views, n, "delay_models.json", out);
    while (opened > 0)
        lc_view_close(views[--opened]);
    free(views);
    return err;
}

/* What `latecomer bench --of` measured of a profile, where it has. */
static enum lc_err put_beside(const struct lc_view *view, size_t k, FILE *out) {
    char name[64];
    json_t *beside = lc_beside_read(view);
    if (beside == NULL)
        return LC_OK;
    char *text = json_dumps(beside, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(beside);
    snprintf(name, sizeof name, "%zu/beside.json", k);
    enum lc_err err = text != NULL ? put_bytes(name, text, strlen(text), out)
                                   : lc_fail(LC_ERR_NOMEM, "memory: cannot write the page");
    free(text);
    return err;
}

static enum lc_err put_file(const char *file, size_t k, const char *role, FILE *out) {
    struct lc_view *view;
    char name[64];
    LC_TRY(lc_view_open(&view, file));
    enum lc_err err = lc_view_fold(view, true);
    if (err == LC_OK)
        err = put_result(view, k, role, out);
    if (err == LC_OK)
        err = put_members(view, k, role, out);
    snprintf(name, sizeof name, "%zu/%s/delay_models.json", k, role);
    if (err == LC_OK)
        err = put_models(&view, 1, name, out);
    if (err == LC_OK)
        err = put_beside(view, k, out);
    lc_view_close(view);
    return err;
}

static enum lc_err put_timeline(const char *file, size_t k, FILE *out) {
    char name[64], bytes[1 << 16];
    struct lc_page_block *block;
    FILE *in = fopen(file, "rb");
    if (in == NULL)
        return lc_fail_errno(LC_ERR_IO, "%s", file);
    snprintf(name, sizeof name, "%zu/timeline", k);
    enum lc_err err = lc_page_block_begin(&block, name, out);
    for (size_t n; err == LC_OK && (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        lc_page_block_put(block, bytes, n);
    if (err == LC_OK)
        err = lc_page_block_end(block);
    fclose(in);
    return err;
}

static void put_quoted(FILE *out, const char *key, const char *text) {
    fprintf(out, "\"%s\": ", key);
    lc_json_write_string(out, text);
}

static const struct {
    const char *key, *block;
} bench_kinds[LC_PAGE_KINDS] = {
    {"fingerprints", "fingerprint"}, {"sweeps", "sweep"}, {"guidelines", "guidelines"}};

static enum lc_err put_list(const struct lc_page_content *content, FILE *out) {
    const struct lc_page_result *results = content->results;
    struct named_block b = {.name = "page.json"};
    LC_TRY(begin_text(&b, out));
    fputs("{\"format\": \"latecomer-page\", \"version\": 1, ", b.stream);
    put_quoted(b.stream, "creator", "latecomer " LC_VERSION);
    for (int kind = 0; kind < LC_PAGE_KINDS; kind++)
        fprintf(b.stream, ", \"%s\": %zu", bench_kinds[kind].key, content->bench[kind].n);
    fputs(", \"results\": [", b.stream);
    for (size_t k = 0; k < content->n_results; k++) {
        fputs(k > 0 ? ",\n{" : "\n{", b.stream);
        put_quoted(b.stream, "name", results[k].name);
        fputs(", ", b.stream);
        put_quoted(b.stream, "why_no_timeline", results[k].why);
        fprintf(b.stream, ", \"analysis\": %s, \"timeline\": %s}",
                results[k].analysis != NULL ? "true" : "false",
                results[k].timeline != NULL ? "true" : "false");
    }
    fputs("]}\n", b.stream);
    return end_text(&b, LC_OK);
}

static enum lc_err put_why(FILE *out) {
    fputs("{", out);
    put_quoted(out, "why", lc_err_text());
    fputs("}\n", out);
    return LC_OK;
}

static enum lc_err put_scaling(const struct lc_page_result *results, size_t n, FILE *out) {
    struct named_block b = {.name = "scaling.json"};
    struct lc_scaling *scaling;
    LC_TRY(lc_scaling_new(&scaling));
    enum lc_err err = LC_OK, made = LC_OK;
    for (size_t k = 0; made == LC_OK && k < n; k++)
        made = lc_scaling_add(scaling, results[k].file);
    err = begin_text(&b, out);
    if (err == LC_OK)
        err = made == LC_OK ? lc_scaling_write(scaling, false, true, b.stream) : put_why(b.stream);
    err = end_text(&b, err);
    lc_scaling_free(scaling);
    return err;
}

/* The first result with the last one; 5 % is what counts where no significance can be given. */
static enum lc_err put_comparison(const struct lc_page_result *results, size_t n, FILE *out) {
    struct named_block b = {.name = "compare.json"};
    struct lc_comparison *comparison;
    LC_TRY(lc_comparison_new(&comparison));
    enum lc_err err, made = lc_comparison_add(comparison, 0, results[0].file);
    if (made == LC_OK)
        made = lc_comparison_add(comparison, 1, results[n - 1].file);
    if (made == LC_OK)
        made = lc_comparison_make(comparison, 0.05);
    err = begin_text(&b, out);
    if (err == LC_OK)
        err = made == LC_OK ? lc_comparison_write(comparison, LC_COMPARE_JSON, b.stream)
                            : put_why(b.stream);
    err = end_text(&b, err);
    lc_comparison_free(comparison);
    return err;
}

static enum lc_err put_one(const struct lc_page_result *result, size_t k, FILE *out) {
    LC_TRY(put_file(result->file, k, "profile", out));
    if (result->analysis != NULL)
        LC_TRY(put_file(result->analysis, k, "analysis", out));
    return result->timeline != NULL ? put_timeline(result->timeline, k, out) : LC_OK;
}

static enum lc_err put_bench(const struct lc_page_content *content, enum lc_page_kind kind,
                             FILE *out) {
    char name[64];
    for (size_t i = 0; i < content->bench[kind].n; i++) {
        const char *text = content->bench[kind].texts[i];
        snprintf(name, sizeof name, "%s/%zu.json", bench_kinds[kind].block, i);
        LC_TRY(put_bytes(name, text, strlen(text), out));
    }
    const char *text = content->bench_comparison;
    return text != NULL ? put_bytes("fingerprint/compare.json", text, strlen(text), out) : LC_OK;
}

enum lc_err lc_page_write(const struct lc_page_content *content, FILE *out) {
    const struct lc_page_result *results = content->results;
    size_t n = content->n_results;
    const char *mark = strstr(lc_page_template, data_mark);
    if (mark == NULL)
        return lc_fail(LC_ERR_FORMAT, "the page: its template is damaged: build it again");
    fwrite(lc_page_template, 1, (size_t)(mark - lc_page_template), out);
    LC_TRY(put_list(content, out));
    for (size_t k = 0; k < n; k++)
        LC_TRY(put_one(&results[k], k, out));
    if (n > 1) {
        LC_TRY(put_scaling(results, n, out));
        LC_TRY(put_comparison(results, n, out));
        LC_TRY(put_mean_models(results, n, out));
    }
    for (int kind = 0; kind < LC_PAGE_KINDS; kind++)
        LC_TRY(put_bench(content, (enum lc_page_kind)kind, out));
    mark += sizeof data_mark - 1;
    fwrite(mark, 1, (size_t)(lc_page_template_end - mark), out);
    return ferror(out) ? lc_fail_errno(LC_ERR_IO, "the page: cannot be written") : LC_OK;
}
