#include "run/binding.h"

#include <ctype.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/strbuf.h"

enum { WHY = 256, MOST_CPUS = 8192 };

static const char *skip_blanks(const char *at) {
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* The value of a variable without blanks before it; NULL: not set, or empty. */
static const char *wish(const char *name) {
    const char *value = getenv(name);
    value = value != NULL ? skip_blanks(value) : NULL;
    return value != NULL && *value != '\0' ? value : NULL;
}

/* Is there one of these words at `*at`, in any case? Then `*at` moves behind it. */
static bool take_word(const char **at, const char *const *words) {
    size_t length = 0;
    while (isalpha((unsigned char)(*at)[length]) || (*at)[length] == '_')
        length++;
    for (; *words != NULL; words++)
        if (strlen(*words) == length && strncasecmp(*at, *words, length) == 0) {
            *at = skip_blanks(*at + length);
            return true;
        }
    return false;
}

/* true, false, or a list of kinds. */
static bool is_known_bind(const char *at) {
    static const char *const kinds[] = {"close", "spread", "master", "primary", NULL};
    static const char *const alone[] = {"true", "false", NULL};
    if (take_word(&at, alone))
        return *at == '\0';
    while (take_word(&at, kinds)) {
        if (*at == '\0')
            return true;
        if (*at != ',')
            return false;
        at = skip_blanks(at + 1);
    }
    return false;
}

static bool is_word(const char *value, const char *word) {
    const char *const words[] = {word, NULL};
    return value != NULL && take_word(&value, words) && *value == '\0';
}

/* Places that both runtimes understand alike: LLVM's knows others only with hwloc, and takes some
 * explicit lists that libgomp refuses. */
static bool is_known_places(const char *at) {
    static const char *const names[] = {"threads", "cores", "sockets", NULL};
    int n, end = -1;
    if (take_word(&at, names)) {
        if (*at == '(' && sscanf(at, "( %d ) %n", &n, &end) == 1 && end > 0 && n > 0)
            at += end;
        return *at == '\0';
    }
    char last = *at;
    if (last != '{' || at[strspn(at, "{}0123456789,:- \t")] != '\0')
        return false;
    for (; *at != '\0'; at++)
        if (!isspace((unsigned char)*at))
            last = *at;
    return last == '}' || isdigit((unsigned char)last);
}

struct cpus {
    unsigned long mask[MOST_CPUS / (8 * sizeof(long))];
};

static bool has_cpu(const struct cpus *cpus, long cpu) {
    return cpu >= 0 && cpu < MOST_CPUS && CPU_ISSET_S(cpu, sizeof *cpus, (cpu_set_t *)cpus->mask);
}

static bool take_number(const char **at, char before, long *number) {
    char *end;
    if (before != '\0' && **at != before)
        return true;
    const char *digits = *at + (before != '\0');
    if (!isdigit((unsigned char)*digits))
        return false;
    *number = strtol(digits, &end, 10);
    *at = end;
    return *number < MOST_CPUS;
}

/* GOMP_CPU_AFFINITY as a list of places: "0 3-7:2" is "{0},{3},{5},{7}". False: this is no such
 * list, or names CPUs that the process may not use: libgomp does, LLVM's runtime does not. */
static bool put_places(struct lc_strbuf *out, const char *at) {
    struct cpus cpus = {{0}};
    if (sched_getaffinity(0, sizeof cpus.mask, (cpu_set_t *)cpus.mask) != 0)
        return false;
    while (*(at = skip_blanks(at)) != '\0') {
        long from, to, step = 1;
        if (!take_number(&at, '\0', &from))
            return false;
        to = from;
        if (!take_number(&at, '-', &to) || !take_number(&at, ':', &step) || to < from || step < 1)
            return false;
        for (long cpu = from; cpu <= to; cpu += step) {
            if (!has_cpu(&cpus, cpu))
                return false;
            lc_strbuf_printf(out, "%s{%ld}", out->length > 0 ? "," : "", cpu);
        }
        if (*at != '\0' && *at != ',' && !isspace((unsigned char)*at))
            return false;
        at += *at == ',';
    }
    return out->length > 0;
}

enum lc_err lc_binding_choose(struct lc_binding *binding, char *why) {
    const char *bind = wish("OMP_PROC_BIND"), *places = wish("OMP_PLACES"),
               *affinity = wish("GOMP_CPU_AFFINITY"), *name = NULL, *value = NULL;
    struct lc_strbuf list = {0};
    *binding = (struct lc_binding){0};
    why[0] = '\0';
    if (bind == NULL && places == NULL && affinity == NULL)
        return LC_OK;
    if (bind != NULL && !is_known_bind(bind))
        name = "OMP_PROC_BIND", value = bind;
    else if (is_word(bind, "false"))
        places = ""; /* libgomp does not look at them then */
    else if (places != NULL && !is_known_places(places))
        name = "OMP_PLACES", value = places;
    else if (places == NULL && affinity != NULL && !put_places(&list, affinity))
        name = "GOMP_CPU_AFFINITY", value = affinity;
    else if (places == NULL)
        places = affinity != NULL ? lc_strbuf_get(&list) : "threads";
    if (bind == NULL || is_word(bind, "true"))
        bind = "close";
    enum lc_err err = LC_OK;
    if (name != NULL)
        snprintf(why, WHY, "%s=%.60s: LLVM's runtime would bind threads to other CPUs than libgomp",
                 name, value);
    else
        err = lc_strdup(&binding->bind, bind);
    if (err == LC_OK && name == NULL)
        err = lc_strdup(&binding->places, places);
    if (err == LC_OK && !lc_strbuf_ok(&list))
        err = lc_fail(LC_ERR_NOMEM, "memory: cannot hold a list of CPUs");
    lc_strbuf_free(&list);
    if (err != LC_OK)
        lc_binding_free(binding);
    return err;
}

void lc_binding_free(struct lc_binding *binding) {
    free(binding->bind);
    free(binding->places);
    *binding = (struct lc_binding){0};
}
