#include "run/what_if_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/what_if_spec.h"
#include "format/omp_construct.h"
#include "symbols/lines.h"

static void add_range(void *context, uint64_t begin, uint64_t end) {
    struct lc_strbuf *out = context;
    lc_strbuf_printf(out, "%s0x%llx-0x%llx", out->text[out->length - 1] == '=' ? "" : ",",
                     (unsigned long long)begin, (unsigned long long)end);
}

static void add_place(struct lc_strbuf *out, const char *program, const char *place) {
    const char *colon = strrchr(place, ':');
    char file[LC_WHAT_IF_NAME];
    if (colon == NULL || (size_t)(colon - place) >= sizeof file)
        return;
    memcpy(file, place, (size_t)(colon - place));
    file[colon - place] = '\0';
    lc_strbuf_printf(out, "%s%s=", out->length > 0 ? ";" : "", place);
    if (lc_strbuf_ok(out))
        lc_lines_each(program, file, atoi(colon + 1), add_range, out);
}

void lc_run_set_places(const char *program, const char *spec) {
    struct lc_strbuf out = {0};
    struct lc_what_if_term term;
    unsigned scenario = 0;
    bool found = true;
    while (spec != NULL && lc_what_if_next(&spec, &scenario, &term, &found) == LC_OK && found) {
        const char *at = lc_omp_is_construct(term.name) ? strstr(term.name, " @") : NULL;
        if (at != NULL)
            add_place(&out, program, at + 2);
    }
    if (out.length > 0 && lc_strbuf_ok(&out))
        setenv("LATECOMER_WHAT_IF_PLACES", lc_strbuf_get(&out), 1);
    else
        unsetenv("LATECOMER_WHAT_IF_PLACES");
    lc_strbuf_free(&out);
}
