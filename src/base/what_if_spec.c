#include "base/what_if_spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_numbers.h"

/* "a::b(int)" -> "1a1b" */
static void encode(const char *name, char *code, size_t room) {
    size_t used = 0;
    code[0] = '\0';
    for (const char *at = name; *at != '\0' && *at != '(' && *at != '<';) {
        size_t length = strcspn(at, ":(<");
        int put = snprintf(code + used, room - used, "%zu%.*s", length, (int)length, at);
        if (put < 0 || (size_t)put >= room - used) {
            code[0] = '\0';
            return;
        }
        used += (size_t)put;
        at += length;
        at += strspn(at, ":");
    }
}

/* A function may be called `tasks`; `mpi` and `omp` are what they are. */
static enum lc_what_if_part part_of(const char *name, const char *value) {
    return strcmp(name, "mpi") == 0                                       ? LC_WHAT_IF_MPI
           : strcmp(name, "omp") == 0                                     ? LC_WHAT_IF_OMP
           : strcmp(name, "tasks") == 0 && strcmp(value, "infinite") == 0 ? LC_WHAT_IF_TASKS
                                                                          : LC_WHAT_IF_CODE;
}

static bool parse_term(const char *text, size_t length, struct lc_what_if_term *term) {
    char copy[LC_WHAT_IF_SCENARIO], *end;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *equals = strrchr(copy, '='); /* operator== has some of its own */
    size_t name = equals != NULL ? (size_t)(equals - copy) : 0;
    if (name == 0 || name >= sizeof term->name || equals[1] == '\0')
        return false;
    memcpy(term->name, copy, name);
    term->name[name] = '\0';
    term->part = part_of(term->name, equals + 1);
    if (term->part == LC_WHAT_IF_TASKS)
        return true;
    term->factor = lc_strtod(equals + 1, &end);
    encode(term->name, term->code, sizeof term->code);
    return *end == '\0' && isfinite(term->factor) && term->factor >= 0 &&
           (term->part == LC_WHAT_IF_CODE || term->factor == 0);
}

enum lc_err lc_what_if_next(const char **at, unsigned *scenario, struct lc_what_if_term *term,
                            bool *found) {
    *found = **at != '\0';
    if (!*found)
        return LC_OK;
    size_t length = strcspn(*at, ",;");
    if (!parse_term(*at, length, term))
        return lc_fail(
            LC_ERR_USAGE,
            "--what-if: '%.*s' is not allowed: give NAME=FACTOR such as solve=0.5, mpi=0, "
            "omp=0, or tasks=infinite",
            (int)(length < 200 ? length : 200), *at);
    term->scenario = *scenario;
    *at += length;
    *scenario += **at == ';';
    *at += **at != '\0';
    return LC_OK;
}

enum lc_err lc_what_if_check(const char *text) {
    struct lc_what_if_term term = {0};
    unsigned scenario = 0, scenarios = 0, terms = 0;
    bool found = true;
    while (found) {
        LC_TRY(lc_what_if_next(&text, &scenario, &term, &found));
        terms += found;
        if (found)
            scenarios = term.scenario + 1;
    }
    if (scenarios > LC_WHAT_IF_SCENARIOS || terms > LC_WHAT_IF_TERMS)
        return lc_fail(LC_ERR_USAGE,
                       "--what-if: %u scenarios with %u factors: give at most %d and %d", scenarios,
                       terms, LC_WHAT_IF_SCENARIOS, LC_WHAT_IF_TERMS);
    return LC_OK;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool lc_what_if_means(const struct lc_what_if_term *term, const char *name, const char *symbol) {
    if (strcmp(name, term->name) == 0 || strcmp(symbol, term->name) == 0)
        return true;
    if (strncmp(symbol, "_Z", 2) != 0 || term->code[0] == '\0')
        return false;
    size_t length = strlen(term->code);
    for (const char *at = symbol + 2; (at = strstr(at, term->code)) != NULL; at++)
        if (!is_digit(at[-1]) && !is_digit(at[length]))
            return true;
    return false;
}
