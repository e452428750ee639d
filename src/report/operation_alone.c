#include "report/operation_alone.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/plural.h"
#include "base/utf8.h"
#include "report/units.h"

/* What is more than this part of a call's time is worth a reason. */
#define LC_WORTH_TELLING 0.1

char *lc_beside_file(const char *result) {
    struct lc_strbuf file = {0};
    const char *slash = strrchr(result, '/');
    lc_strbuf_printf(&file, "%.*sbeside.json", slash != NULL ? (int)(slash - result) + 1 : 0,
                     result);
    return lc_strbuf_take(&file);
}

static bool is_beside(const json_t *object) {
    const char *format = json_string_value(json_object_get(object, "format"));
    return format != NULL && strcmp(format, "latecomer-beside") == 0 &&
           json_is_array(json_object_get(object, "callpaths"));
}

json_t *lc_beside_read(const struct lc_view *view) {
    char *file = lc_beside_file(view->file);
    struct stat status;
    json_t *object = NULL;
    if (file != NULL && !lc_view_is_analysis(view) && stat(file, &status) == 0) {
        object = json_load_file(file, 0, NULL);
        if (!is_beside(object)) {
            lc_say("%s: is damaged, and left out", file);
            json_decref(object);
            object = NULL;
        }
    }
    free(file);
    return object;
}

static void put_text(const json_t *o, const char *key, struct lc_strbuf *out) {
    const char *text = json_string_value(json_object_get(o, key));
    lc_put_printable(out, text != NULL ? text : "?");
}

static const char *time_of(const json_t *o, const char *key, char buffer[32]) {
    return lc_text_seconds(1e-9 * json_number_value(json_object_get(o, key)), buffer);
}

/* Why a call takes longer in the program than alone. Waiting is measured only where ranks wait for
 * others that are late; what is neither is neither. */
static void put_rest(const json_t *o, struct lc_strbuf *out) {
    double program = json_number_value(json_object_get(o, "program_ns"));
    double rest = json_number_value(json_object_get(o, "arrival_ns"));
    const json_t *waiting = json_object_get(o, "waiting_ns");
    char text[32];
    if (!(rest > LC_WORTH_TELLING * program))
        lc_strbuf_puts(out, ".");
    else if (!json_is_number(waiting))
        lc_strbuf_puts(out, ": the rest is arrival or the machine, as waiting was not measured.");
    else if (json_number_value(waiting) >= 0.5 * rest)
        lc_strbuf_puts(out, ": the rest is arrival.");
    else if (json_number_value(waiting) < 0.01 * rest)
        lc_strbuf_puts(out, ": the rest is the machine (shared cores, cold caches).");
    else
        lc_strbuf_printf(out,
                         ": of the rest %s are waiting for late ranks, more is the machine (shared "
                         "cores, cold caches).",
                         time_of(o, "waiting_ns", text));
}

void lc_beside_put(const json_t *o, long long ranks, const char *bold, const char *plain,
                   struct lc_strbuf *out) {
    char program[32], alone[32];
    long long bytes = json_integer_value(json_object_get(o, "bytes"));
    long long members = json_integer_value(json_object_get(o, "members"));
    long long own = json_integer_value(json_object_get(o, "alone_ranks"));
    bool pair = json_is_true(json_object_get(o, "pair"));
    const char *with = json_string_value(json_object_get(o, "with"));
    lc_strbuf_puts(out, bold);
    put_text(o, "operation", out);
    lc_strbuf_puts(out, plain);
    if (!json_is_false(json_object_get(o, "sized")))
        lc_strbuf_printf(out, " of %lld byte%s", bytes, lc_plural((double)bytes));
    if (members != ranks && !pair)
        lc_strbuf_printf(out, " on %lld ranks", members);
    lc_strbuf_printf(out, " takes %s%s%s in the program, ", bold, time_of(o, "program_ns", program),
                     plain);
    if (!json_is_number(json_object_get(o, "alone_median_ns"))) {
        lc_strbuf_puts(out, "and was not measured alone.");
        return;
    }
    lc_strbuf_printf(out, "%s%s%s", bold, time_of(o, "alone_median_ns", alone), plain);
    if (with != NULL) {
        lc_strbuf_puts(out, " together with ");
        put_text(o, "with", out);
    }
    lc_strbuf_puts(out, pair ? " when both ranks are ready" : " when all ranks arrive together");
    if (own != members)
        lc_strbuf_printf(out, " (%lld ranks, not %lld)", own, members);
    if (with != NULL) /* not the same, and so there is no rest */
        lc_strbuf_putc(out, '.');
    else
        put_rest(o, out);
}

void lc_beside_put_calls(const json_t *o, struct lc_strbuf *out) {
    char waiting[32];
    lc_strbuf_printf(out, ", %.0f calls", json_number_value(json_object_get(o, "calls")));
    if (json_number_value(json_object_get(o, "waiting_ns")) > 0)
        lc_strbuf_printf(out, ", of which %s each are measured waiting",
                         time_of(o, "waiting_ns", waiting));
}
