/* The operations of the program beside the same alone. */
#include <stdlib.h>

#include "report/operation_alone.h"
#include "report/text_parts.h"

enum { MOST = 20 };

static void print_one(const struct lc_text *text, const json_t *callpath, long long ranks) {
    struct lc_strbuf sentence = {0}, where = {0};
    const char *path = json_string_value(json_object_get(callpath, "callpath"));
    char *shown =
        lc_text_outside(path != NULL ? path : "?", text->full ? SIZE_MAX : text->width - 5);
    lc_beside_put(callpath, ranks, "", "", &sentence);
    lc_strbuf_puts(&where, shown != NULL ? shown : "?");
    lc_beside_put_calls(callpath, &where);
    fputs("  ", text->out);
    lc_text_wrapped(text, 2, 4, lc_strbuf_get(&sentence));
    fputs("    ", text->out);
    lc_text_wrapped(text, 4, 6, lc_strbuf_get(&where));
    free(shown);
    lc_strbuf_free(&sentence);
    lc_strbuf_free(&where);
}

static const char title[] = "MPI beside the same operations alone";

void lc_text_beside(const struct lc_text *text) {
    json_t *beside = lc_beside_read(text->view);
    const json_t *list = json_object_get(beside, "callpaths"), *one;
    if (json_array_size(list) > 0)
        lc_text_heading(text, title,
                        "as `latecomer bench --of` measured them: medians with all ranks starting "
                        "together; of the program means over all ranks and calls");
    for (size_t i = 0; i < MOST && (one = json_array_get(list, i)) != NULL; i++)
        print_one(text, one, json_integer_value(json_object_get(beside, "ranks")));
    json_decref(beside);
}

void lc_text_short_beside(const struct lc_text *text) {
    json_t *beside = lc_beside_read(text->view);
    const json_t *list = json_object_get(beside, "callpaths"), *one;
    for (size_t i = 0; (one = json_array_get(list, i)) != NULL; i++)
        if (json_is_number(json_object_get(one, "alone_median_ns"))) {
            lc_text_heading(text, title, "all: --only beside");
            print_one(text, one, json_integer_value(json_object_get(beside, "ranks")));
            break;
        }
    json_decref(beside);
}
