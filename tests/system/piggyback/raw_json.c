/* Prints a raw profile as JSON: pop, meta, locations, values and times per path. Functions are
 * module+offset (no symbols are needed here). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/raw_pack.h"
#include "run/facts_text.h"

static void put_path(const struct lc_raw *raw, uint32_t node) {
    const struct lc_raw_node *n = &raw->nodes[node];
    if (n->parent != LC_NONE && !lc_raw_is_above(raw, n->parent)) {
        put_path(raw, n->parent);
        putchar('/');
    }
    if (n->kind == LC_RAW_MPI || n->kind == LC_RAW_REGION) {
        fputs(raw->names[n->ref], stdout);
    } else if (n->kind == LC_RAW_FRAME) {
        const char *slash = strrchr(raw->modules[n->ref].path, '/');
        printf("%s+0x%llx", slash != NULL ? slash + 1 : raw->modules[n->ref].path,
               (unsigned long long)n->offset);
    } else {
        fputs(n->kind == LC_RAW_CUT ? "..." : "", stdout);
    }
}

int main(int argc, char **argv) {
    struct lc_raw *raw;
    if (argc != 2 || lc_raw_read_file(&raw, argv[1]) != LC_OK ||
        lc_facts_make_texts(raw) != LC_OK) {
        fprintf(stderr, "raw_json: %s\n", argc != 2 ? "FILE?" : lc_err_text());
        return 1;
    }
    printf("{\"pop\": %s, \"meta\": %s, \"locations\": [", raw->pop ? raw->pop : "null",
           raw->meta ? raw->meta : "null");
    for (size_t i = 0; i < raw->n_locations; i++)
        printf("%s[%d, %d]", i ? ", " : "", raw->locations[i].rank, raw->locations[i].thread);
    printf("], \"values\": [");
    for (size_t i = 0; i < raw->n_values; i++) {
        const struct lc_raw_value *v = &raw->values[i];
        printf("%s\n[\"%s\", %d, \"", i ? "," : "", raw->names[v->metric],
               raw->locations[v->location].rank);
        put_path(raw, v->node);
        printf("\", %.17g]", v->value);
    }
    printf("], \"calls\": [");
    for (size_t i = 0, n = 0; i < raw->n_rows; i++) {
        const struct lc_raw_row *r = &raw->rows[i];
        if (r->size_class >= 254)
            continue;
        printf("%s\n[%d, \"", n++ ? "," : "", raw->locations[r->location].rank);
        put_path(raw, r->node);
        printf("\", %u, %llu, %.9f]", r->size_class, (unsigned long long)r->count,
               (double)r->sum_ns * 1e-9);
    }
    printf("]}\n");
    lc_raw_free(raw);
    return 0;
}
