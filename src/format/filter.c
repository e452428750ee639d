#include "format/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

static enum lc_err parse_bytes(const char *text, uint64_t *value, const char *name, unsigned line) {
    char *end = NULL;
    errno = 0;
    unsigned long long number = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno)
        return lc_fail(LC_ERR_FORMAT, "%s:%u: not a number of bytes: %s", name, line,
                       text ? text : "nothing");
    *value = number;
    return LC_OK;
}

static enum lc_err add_rule(struct lc_filter *f, const char *pattern, bool exclude, bool comm) {
    LC_TRY(lc_grow(&f->rules, &f->cap_rules, f->n_rules + 1, sizeof(*f->rules)));
    struct lc_filter_rule *rule = &f->rules[f->n_rules];
    LC_TRY(lc_strdup(&rule->pattern, pattern));
    rule->exclude = exclude;
    rule->comm = comm;
    f->n_rules++;
    *(comm ? &f->comms : &f->functions) = true;
    return LC_OK;
}

static enum lc_err parse_line(struct lc_filter *f, char *line, const char *name, unsigned number) {
    static const char blanks[] = " \t\r";
    char *rest = NULL, *comment = strchr(line, '#');
    if (comment)
        *comment = 0;
    const char *word = strtok_r(line, blanks, &rest);
    if (!word)
        return LC_OK;
    if (strcmp(word, "min-bytes") == 0)
        return parse_bytes(strtok_r(NULL, blanks, &rest), &f->min_bytes, name, number);
    if (strcmp(word, "max-bytes") == 0)
        return parse_bytes(strtok_r(NULL, blanks, &rest), &f->max_bytes, name, number);
    bool exclude = strncmp(word, "exclude", 7) == 0, include = strncmp(word, "include", 7) == 0;
    const char *kind = exclude || include ? word + 7 : "?";
    if (*kind && strcmp(kind, "-comm") != 0)
        return lc_fail(LC_ERR_FORMAT,
                       "%s:%u: unknown rule `%s': known are exclude, include, exclude-comm, "
                       "include-comm, min-bytes, max-bytes",
                       name, number, word);
    for (const char *pattern; (pattern = strtok_r(NULL, blanks, &rest));)
        LC_TRY(add_rule(f, pattern, exclude, *kind != 0));
    return LC_OK;
}

/* `name` for messages */
static enum lc_err filter_parse(struct lc_filter **filter, const char *text, const char *name) {
    struct lc_filter *f = NULL;
    char *copy = NULL;
    LC_TRY(lc_alloc(&f, 1, sizeof(*f)));
    f->max_bytes = UINT64_MAX;
    enum lc_err err = lc_strdup(&copy, text);
    unsigned number = 0;
    for (char *line = copy, *next; err == LC_OK && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        err = parse_line(f, line, name, ++number);
    }
    free(copy);
    if (err != LC_OK) {
        lc_filter_free(f);
        return err;
    }
    *filter = f;
    return LC_OK;
}

enum lc_err lc_filter_load(struct lc_filter **filter, const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        return lc_fail_errno(LC_ERR_IO, "filter %s", path);
    struct lc_strbuf text = {0};
    char block[4096];
    size_t n;
    while ((n = fread(block, 1, sizeof(block), file)) > 0)
        lc_strbuf_add(&text, block, n);
    enum lc_err err = ferror(file) ? lc_fail_errno(LC_ERR_IO, "filter %s", path)
                                   : filter_parse(filter, lc_strbuf_get(&text), path);
    fclose(file);
    lc_strbuf_free(&text);
    return err;
}

void lc_filter_free(struct lc_filter *f) {
    for (size_t i = 0; f && i < f->n_rules; i++)
        free(f->rules[i].pattern);
    if (f)
        free(f->rules);
    free(f);
}

bool lc_filter_excludes(const struct lc_filter *f, bool comm, const char *name) {
    for (size_t i = f->n_rules; i-- > 0;)
        if (f->rules[i].comm == comm && fnmatch(f->rules[i].pattern, name, 0) == 0)
            return f->rules[i].exclude;
    return false;
}
