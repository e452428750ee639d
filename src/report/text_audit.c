/* What was measured and what was not, and the health of the result: the rest of `meta` that bears
 * on trust. */
#include <string.h>

#include "report/text_parts.h"

static void print_value(FILE *out, const json_t *value) {
    size_t i;
    json_t *item;
    const char *key;
    if (json_is_string(value)) {
        fputs(json_string_value(value), out);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item) {
            if (i == 8) {
                fprintf(out, ", .. (%zu in all)", json_array_size(value));
                break;
            }
            fputs(i > 0 ? ", " : "", out);
            print_value(out, item);
        }
    } else if (json_is_object(value)) {
        const char *separator = "";
        json_object_foreach((json_t *)value, key, item) {
            fprintf(out, "%s%s ", separator, key);
            print_value(out, item);
            separator = ", ";
        }
    } else if (json_is_real(value)) {
        fprintf(out, "%.4g", json_real_value(value));
    } else {
        json_dumpf(value, out, JSON_ENCODE_ANY);
    }
}

/* "calls_seen" is written "calls seen". */
static void print_key(FILE *out, const char *key) {
    int width = 0;
    for (; *key != '\0'; key++, width++)
        fputc(*key == '_' ? ' ' : *key, out);
    fprintf(out, "%*s ", width < 26 ? 26 - width : 1, "");
}

static bool is_empty(const json_t *value) {
    return json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_string(value) && json_string_value(value)[0] == '\0');
}

static void print_object(const struct lc_text *text, const char *title, const json_t *object) {
    const char *key;
    json_t *value;
    if (!json_is_object(object) || json_object_size(object) == 0)
        return;
    lc_text_heading(text, title, NULL);
    json_object_foreach((json_t *)object, key, value) {
        if (is_empty(value))
            continue;
        fputs("  ", text->out);
        print_key(text->out, key);
        print_value(text->out, value);
        fputc('\n', text->out);
    }
}

static void print_health(const struct lc_text *text) {
    const json_t *health = json_object_get(text->meta, "health");
    if (json_is_object(health)) {
        print_object(text, "Health", health);
        return;
    }
    if (!json_is_array(health) || json_array_size(health) == 0)
        return;
    lc_text_heading(text, "Health", NULL);
    size_t i;
    json_t *item;
    json_array_foreach(health, i, item) {
        fputs("  ", text->out);
        print_value(text->out, item);
        fputc('\n', text->out);
    }
}

void lc_text_audit(const struct lc_text *text) {
    static const char *const numbers[] = {
        "overhead_s", "messages_matched", "messages_total",         "clock_error_s",
        "transport",  "violations",       "derived_metrics_skipped"};
    print_object(text, "Coverage", json_object_get(text->meta, "coverage"));
    bool titled = false;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const json_t *value = json_object_get(text->meta, numbers[i]);
        if (value == NULL || is_empty(value))
            continue;
        if (!titled)
            lc_text_heading(text, "Measurement", NULL);
        titled = true;
        fputs("  ", text->out);
        print_key(text->out, numbers[i]);
        print_value(text->out, value);
        fputc('\n', text->out);
    }
    print_object(text, "Invariants", json_object_get(text->meta, "invariants"));
    print_health(text);
}
