#include "bench/compare_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bench/bench_result.h"
#include "bench/compare_launches.h"
#include "bench/operation_size.h"

static enum lc_err read_side(char *const *operands, size_t n, struct lc_fingerprint ***all,
                             size_t *count) {
    size_t room = 0;
    for (size_t i = 0; i < n; i++) {
        struct lc_fingerprint **some;
        size_t more;
        LC_TRY(lc_bench_read_all(operands[i], &some, &more));
        enum lc_err err = lc_grow(all, &room, *count + more, sizeof(*all)[0]);
        for (size_t k = 0; k < more; k++)
            if (err == LC_OK)
                (*all)[(*count)++] = some[k];
            else
                lc_fingerprint_free(some[k]);
        free(some);
        LC_TRY(err);
    }
    return LC_OK;
}

static bool is_same_job(const struct lc_fingerprint *a, const struct lc_fingerprint *b) {
    return strcmp(a->operation, b->operation) == 0 && a->bytes == b->bytes;
}

/* Launches of the job `of` in a list, which gets all that are like it. */
static size_t launches_of(const struct lc_fingerprint *of, struct lc_fingerprint **list, size_t n,
                          const struct lc_fingerprint **launches) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (is_same_job(of, list[i]))
            launches[found++] = list[i];
    return found;
}

/* Of its launches in a list. */
static bool is_first(struct lc_fingerprint **list, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (is_same_job(list[k], list[i]))
            return false;
    return true;
}

static bool has_job(struct lc_fingerprint **list, size_t n, const struct lc_fingerprint *job) {
    for (size_t i = 0; i < n; i++)
        if (is_same_job(list[i], job))
            return true;
    return false;
}

/* One job on each side is a pair, whatever it is. */
static bool is_one_each(const struct lc_bench_comparison *c) {
    return c->n_a == 1 && c->n_b == 1;
}

/* Measured for the others' sake (--less-empty, --audit): nothing that the other side lacks. */
static bool is_beside(struct lc_fingerprint **list, size_t n, const struct lc_fingerprint *f) {
    bool others = false;
    for (size_t i = 0; i < n; i++)
        others |= strcmp(list[i]->operation, "empty") != 0;
    return others && strcmp(f->operation, "empty") == 0;
}

/* Of either side; how many pairs there are. */
static size_t find_alone(struct lc_bench_comparison *c) {
    size_t pairs = 0;
    for (size_t i = 0; i < c->n_a; i++) {
        bool paired = is_one_each(c) || has_job(c->b, c->n_b, c->a[i]);
        if (is_first(c->a, i) && paired)
            pairs++;
        else if (is_first(c->a, i) && !is_beside(c->a, c->n_a, c->a[i]))
            c->alone[c->n_alone++] = c->a[i];
    }
    c->n_alone_a = c->n_alone;
    for (size_t i = 0; i < c->n_b && !is_one_each(c); i++)
        if (is_first(c->b, i) && !has_job(c->a, c->n_a, c->b[i]) &&
            !is_beside(c->b, c->n_b, c->b[i]))
            c->alone[c->n_alone++] = c->b[i];
    return pairs;
}

/* A job of A, in all its launches, against those of B; `pairs` in all. */
static enum lc_err add_pair(struct lc_bench_comparison *c, size_t i, uint64_t seed, size_t pairs,
                            const struct lc_fingerprint **in_a,
                            const struct lc_fingerprint **in_b) {
    size_t n_a = launches_of(c->a[i], c->a, c->n_a, in_a);
    size_t n_b = launches_of(c->a[i], c->b, c->n_b, in_b);
    if (n_b == 0 && is_one_each(c))
        in_b[n_b++] = c->b[0];
    if (n_b == 0)
        return LC_OK;
    c->in_a[c->n] = in_a[0];
    c->in_b[c->n] = in_b[0];
    struct lc_bench_pair *pair = &c->pairs[c->n++];
    LC_TRY(lc_bench_compare_launches(in_a, n_a, in_b, n_b, seed, pairs, pair));
    if (c->n == 1 || pair->verdict > c->verdict)
        c->verdict = pair->verdict;
    return LC_OK;
}

enum lc_err lc_bench_comparison_new(struct lc_bench_comparison *c, char *const *a, size_t n_a,
                                    char *const *b, size_t n_b, uint64_t seed) {
    const struct lc_fingerprint **launches;
    *c = (struct lc_bench_comparison){.verdict = LC_BENCH_NOT_COMPARABLE};
    LC_TRY(read_side(a, n_a, &c->a, &c->n_a));
    LC_TRY(read_side(b, n_b, &c->b, &c->n_b));
    LC_TRY(lc_alloc(&c->pairs, c->n_a, sizeof c->pairs[0]));
    LC_TRY(lc_alloc(&c->in_a, c->n_a, sizeof(void *)));
    LC_TRY(lc_alloc(&c->in_b, c->n_a, sizeof(void *)));
    LC_TRY(lc_alloc(&c->alone, c->n_a + c->n_b, sizeof(void *)));
    LC_TRY(lc_alloc(&launches, c->n_a + c->n_b, sizeof(void *)));
    enum lc_err err = LC_OK;
    size_t pairs = find_alone(c);
    for (size_t i = 0; i < c->n_a && err == LC_OK; i++)
        if (is_first(c->a, i))
            err = add_pair(c, i, seed + i, pairs, launches, launches + c->n_a);
    if (c->n_alone > 0)
        c->verdict = LC_BENCH_NOT_COMPARABLE;
    free(launches);
    return err;
}

void lc_bench_comparison_free(struct lc_bench_comparison *c) {
    for (size_t i = 0; i < c->n_a && c->a != NULL; i++)
        lc_fingerprint_free(c->a[i]);
    for (size_t i = 0; i < c->n_b && c->b != NULL; i++)
        lc_fingerprint_free(c->b[i]);
    free(c->a);
    free(c->b);
    free(c->pairs);
    free(c->in_a);
    free(c->in_b);
    free(c->alone);
}

enum { MEDIAN = 4 };
/* From here on a change is told as a factor: ten times as long. */
#define LC_MANY 9
/* A band of more than this factor to either side is no number that tells anybody anything. */
#define LC_BEYOND 100

static json_t *pair_json(const struct lc_bench_comparison *c, size_t i) {
    const struct lc_bench_pair *p = &c->pairs[i];
    const struct lc_fingerprint *a = c->in_a[i];
    json_t *quantiles = json_array();
    for (int q = 0; p->why == NULL && q < LC_COMPARED; q++)
        json_array_append_new(
            quantiles,
            json_pack("{s:f, s:f, s:f, s:f, s:o, s:o}", "percent", 100 * lc_compared_quantiles[q],
                      "a_ns", p->a[q], "b_ns", p->b[q], "shift", p->shift[q], "low",
                      isfinite(p->high[q]) ? json_real(p->low[q]) : json_null(), "high",
                      isfinite(p->high[q]) ? json_real(p->high[q]) : json_null()));
    return json_pack(
        "{s:s, s:I, s:s, s:s, s:o, s:o, s:b, s:o, s:[I, I], s:b, s:b}", "operation", a->operation,
        "bytes", (json_int_t)a->bytes, "verdict", lc_bench_verdict_name(p->verdict),
        "verdict_within", lc_bench_verdict_name(p->verdict_within), "why",
        p->why != NULL ? json_string(p->why) : json_null(), "shift",
        p->why != NULL ? json_null() : json_real(p->shift[MEDIAN]), "crosses", lc_bench_crosses(p),
        "quantiles", quantiles, "launches", (json_int_t)p->launches[0], (json_int_t)p->launches[1],
        "launches_guessed", p->launches_guessed, "one_after_other", p->one_after_other);
}

/* Jobs that only one side has. */
static json_t *alone_json(const struct lc_bench_comparison *c, size_t from, size_t to) {
    json_t *list = json_array();
    for (size_t i = from; i < to; i++)
        json_array_append_new(list, json_pack("{s:s, s:I}", "operation", c->alone[i]->operation,
                                              "bytes", (json_int_t)c->alone[i]->bytes));
    return list;
}

json_t *lc_bench_comparison_json(const struct lc_bench_comparison *c) {
    json_t *pairs = json_array(), *metadata = json_array(), *shift = json_null();
    double largest = -1;
    bool guessed = false;
    for (size_t i = 0; i < c->n; i++) {
        guessed |= c->pairs[i].launches_guessed;
        json_array_append_new(pairs, pair_json(c, i));
        if (c->pairs[i].why == NULL && fabs(c->pairs[i].shift[MEDIAN]) > largest) {
            largest = fabs(c->pairs[i].shift[MEDIAN]);
            json_decref(shift);
            shift = json_real(c->pairs[i].shift[MEDIAN]);
        }
    }
    if (c->n > 0) {
        json_decref(metadata);
        metadata = lc_bench_differences(c->in_a[0], c->in_b[0]);
    }
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "verdict", lc_bench_verdict_name(c->verdict),
        "shift", shift, "pairs", pairs, "only_in_a", alone_json(c, 0, c->n_alone_a), "only_in_b",
        alone_json(c, c->n_alone_a, c->n_alone), "metadata", metadata, "launches_guessed", guessed);
}

/* "+3.1 %", of what is many times as long "12.3 times", of what is as short "1/12.3". */
static const char *change_text(double shift, char text[32]) {
    if (1 + shift < 1 / (1.0 + LC_MANY) && 1 + shift > 0)
        snprintf(text, 32, 1 + shift > 1e-3 ? "1/%.3g" : "1/%.0f", 1 / (1 + shift));
    else if (shift < LC_MANY)
        snprintf(text, 32, "%+.1f %%", 100 * shift);
    else if (shift < 1000)
        snprintf(text, 32, "%.3g times", 1 + shift);
    else
        snprintf(text, 32, "%.0f times", 1 + shift);
    return text;
}

static bool is_beyond(const struct lc_bench_pair *p, int q) {
    return p->low[q] <= 0 && p->high[q] >= 0 && p->high[q] + 1 > LC_BEYOND * (p->shift[q] + 1);
}

/* "same" is worth as much as the band is narrow. */
static void print_resolution(const struct lc_bench_pair *p, const struct lc_bench_page *page) {
    double factor = (1 + p->high[MEDIAN]) / (1 + p->shift[MEDIAN]);
    if (p->verdict != LC_BENCH_SAME)
        return;
    if (!isfinite(factor) || is_beyond(p, MEDIAN))
        fputs("  Of the median nothing can be told\n", page->out);
    else if (factor < 1 + LC_MANY)
        fprintf(page->out, "  A median that differs by less than %.1f %% would not be told\n",
                100 * (factor - 1));
    else
        fprintf(page->out,
                "  A median that differs by less than a factor of %.3g would not be told\n",
                factor);
}

static void print_quantile(const struct lc_bench_pair *p, int q, const struct lc_bench_page *page) {
    char from[32], to[32], shift[32], low[32], high[32];
    fprintf(page->out, "  %8.0f %% %10s %10s %11s   ", 100 * lc_compared_quantiles[q],
            lc_bench_time(p->a[q], from), lc_bench_time(p->b[q], to),
            change_text(p->shift[q], shift));
    if (!isfinite(p->high[q]))
        fputs("unknown: too few repetitions beyond it\n", page->out);
    else if (is_beyond(p, q))
        fputs("unknown: launches differ too much\n", page->out);
    else
        fprintf(page->out, "%s to %s%s\n", change_text(p->low[q], low),
                change_text(p->high[q], high), p->low[q] > 0 || p->high[q] < 0 ? "  *" : "");
}

/* The quantiles at which B takes longer, or less: "5 10 25 %". */
static void print_side(const struct lc_bench_pair *p, bool longer,
                       const struct lc_bench_page *page) {
    for (int q = 0; q < LC_COMPARED; q++)
        if (longer ? p->low[q] > 0 : p->high[q] < 0)
            fprintf(page->out, "%.0f ", 100 * lc_compared_quantiles[q]);
    fputc('%', page->out);
}

/* No single number says which is better. */
static void print_crossing(const struct lc_bench_pair *p, const struct lc_bench_page *page) {
    if (!lc_bench_crosses(p))
        return;
    fputs("  The distributions cross: B takes longer at ", page->out);
    print_side(p, true, page);
    fputs(", less at ", page->out);
    print_side(p, false, page);
    fputc('\n', page->out);
}

/* "MPI_Bcast  8 B", and the verdict. */
static void print_verdict(const struct lc_fingerprint *f, enum lc_bench_verdict verdict,
                          const struct lc_bench_page *page) {
    struct lc_strbuf name = {0};
    lc_put_printable(&name, f->operation);
    fprintf(page->out, "%s%s%s", page->bold, lc_strbuf_get(&name), page->plain);
    lc_strbuf_free(&name);
    if (lc_bench_is_sized(f->operation))
        fprintf(page->out, "  %llu B", (unsigned long long)f->bytes);
    fprintf(page->out, ": %s%s%s", verdict != LC_BENCH_SAME ? page->alarm : page->bold,
            lc_bench_verdict_name(verdict), page->plain);
}

static void print_pair(const struct lc_bench_comparison *c, size_t i,
                       const struct lc_bench_page *page) {
    const struct lc_bench_pair *p = &c->pairs[i];
    const struct lc_fingerprint *a = c->in_a[i];
    char to[32];
    print_verdict(a, p->verdict, page);
    if (p->why != NULL) {
        fprintf(page->out, " (%s)\n", p->why);
        return;
    }
    fprintf(page->out, "\n  %10s %10s %10s %11s   band (95 %% for all together)\n", "quantile", "A",
            "B", "shift");
    for (int q = 0; q < LC_COMPARED; q++)
        print_quantile(p, q, page);
    print_crossing(p, page);
    print_resolution(p, page);
    if (p->launches_guessed)
        fprintf(
            page->out,
            "  With %zu and %zu launches, the band allows for launches that differ by a factor "
            "of %.0f,\n  as on shared machines; three on each side show how much they really do: "
            "A.. -- B..\n",
            p->launches[0], p->launches[1], LC_LAUNCHES_DIFFER);
    if (p->launches_guessed && p->verdict_within != p->verdict)
        fprintf(page->out, "  If all launches were alike: %s\n",
                lc_bench_verdict_name(p->verdict_within));
    if (!p->launches_guessed && p->launches[0] + p->launches[1] > 2)
        fprintf(page->out, "  %zu and %zu launches; the band includes how much they differ\n",
                p->launches[0], p->launches[1]);
    if (p->one_after_other)
        fputs(
            "  All launches of one side came first: what changed on the machine since counts as a "
            "difference;\n  launch A and B in turn\n",
            page->out);
    const struct lc_modes *modes[] = {&a->modes, &c->in_b[i]->modes};
    for (int side = 0; side < 2; side++) {
        fprintf(page->out, "  modes of %c:", 'A' + side);
        for (size_t m = 0; m < modes[side]->n; m++)
            fprintf(page->out, " %s (%.0f %%)", lc_bench_time(modes[side]->mode[m].location_ns, to),
                    100 * modes[side]->mode[m].weight);
        fputc('\n', page->out);
    }
}

void lc_bench_comparison_text(const struct lc_bench_comparison *c,
                              const struct lc_bench_page *page) {
    enum { MOST = 20 };
    for (size_t i = 0; i < c->n; i++)
        print_pair(c, i, page);
    for (size_t i = 0; i < c->n_alone; i++) {
        print_verdict(c->alone[i], LC_BENCH_NOT_COMPARABLE, page);
        fprintf(page->out, " (only in %c)\n", i < c->n_alone_a ? 'A' : 'B');
    }
    if (c->n == 0) {
        fputs("no operation and size is in both\n", page->out);
        return;
    }
    json_t *list = lc_bench_differences(c->in_a[0], c->in_b[0]), *one;
    for (size_t i = 0; i < MOST && (one = json_array_get(list, i)) != NULL; i++) {
        struct lc_strbuf line = {0};
        char *a = json_dumps(json_object_get(one, "a"), JSON_ENCODE_ANY);
        char *b = json_dumps(json_object_get(one, "b"), JSON_ENCODE_ANY);
        lc_put_printable(&line, json_string_value(json_object_get(one, "key")));
        fprintf(page->out, "  %s: ", lc_strbuf_get(&line));
        lc_strbuf_clear(&line);
        lc_put_printable(&line, a != NULL ? a : "");
        lc_strbuf_puts(&line, " in A, ");
        lc_put_printable(&line, b != NULL ? b : "");
        fprintf(page->out, "%s in B\n", lc_strbuf_get(&line));
        lc_strbuf_free(&line);
        free(a);
        free(b);
    }
    if (json_array_size(list) > MOST)
        fprintf(page->out, "  .. %zu more settings differ: --json has them\n",
                json_array_size(list) - MOST);
    json_decref(list);
}
