/* Makes a .cubex from JSON of the form of `show --json` (or of the golden spec.json): for tests of
 * reports. Its "modules" names libraries of functions that samples found.
 * Usage: make_cubex IN.json OUT.cubex [MEMBER=FILE..] */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/cubex_write.h"
#include "model/metrics.h"

struct tree {
    struct lc_model *model;
    char **names; /* of the cnodes while they are collected, sorted as paths: then in pre-order */
    size_t n_names, cap_names;
};

static void need(enum lc_err err) {
    if (err != LC_OK) {
        fprintf(stderr, "make_cubex: %s\n", lc_err_text());
        exit(1);
    }
}

/* '/' sorts before all other bytes, so that a path is followed by what is below it. */
static int compare_paths(const void *a, const void *b) {
    const unsigned char *x = *(unsigned char *const *)a, *y = *(unsigned char *const *)b;
    for (; *x != '\0' && *x == *y; x++, y++)
        ;
    int left = *x == '/'    ? 1
               : *x == '\0' ? 0
                            : *x + 1,
        right = *y == '/'    ? 1
                : *y == '\0' ? 0
                             : *y + 1;
    return left - right;
}

static void add_name(struct tree *tree, const char *path, size_t length) {
    if (tree->n_names == tree->cap_names) {
        tree->cap_names = 2 * tree->cap_names + 64;
        tree->names = realloc(tree->names, tree->cap_names * sizeof tree->names[0]);
        if (tree->names == NULL)
            exit(1);
    }
    tree->names[tree->n_names++] = strndup(path, length);
}

/* All call paths and their ancestors, each once, in pre-order. */
static void collect_paths(struct tree *tree, json_t *metrics) {
    const char *name, *path;
    json_t *metric, *row;
    json_object_foreach(metrics, name, metric) {
        json_object_foreach(json_object_get(metric, "callpaths"), path, row) {
            for (const char *end = path; end != NULL; end = strchr(end + 1, '/'))
                if (end != path)
                    add_name(tree, path, (size_t)(end - path));
            add_name(tree, path, strlen(path));
        }
    }
    if (tree->n_names == 0)
        add_name(tree, "main", 4);
    qsort(tree->names, tree->n_names, sizeof tree->names[0], compare_paths);
    size_t kept = 0;
    for (size_t i = 1; i < tree->n_names; i++) {
        if (strcmp(tree->names[kept], tree->names[i]) == 0)
            free(tree->names[i]);
        else
            tree->names[++kept] = tree->names[i];
    }
    tree->n_names = kept + 1;
}

static uint32_t find(const struct tree *tree, const char *path) {
    char **found = bsearch(&path, tree->names, tree->n_names, sizeof tree->names[0], compare_paths);
    return found != NULL ? (uint32_t)(found - tree->names) : LC_NONE;
}

/* modules: library of each function that samples found. */
static void make_cnodes(struct tree *tree, const json_t *modules) {
    for (size_t i = 0; i < tree->n_names; i++) {
        const char *path = tree->names[i], *slash = strrchr(path, '/');
        char name[1024];
        size_t used = 0;
        for (const char *p = slash != NULL ? slash + 1 : path; *p != '\0' && used < 1023; p++) {
            bool escaped = strncmp(p, "%2F", 3) == 0;
            name[used++] = escaped ? '/' : *p;
            p += escaped ? 2 : 0;
        }
        name[used] = '\0';
        char *parent = slash != NULL ? strndup(path, (size_t)(slash - path)) : NULL;
        const char *module = json_string_value(json_object_get(modules, name));
        const char *paradigm = strncmp(name, "MPI_", 4) == 0                 ? "mpi"
                               : strncmp(name, "user ", 5) == 0              ? "user"
                               : module != NULL || strchr(name, '(') == name ? "sampling"
                                                                             : "compiler";
        const struct lc_region region = {.name = name,
                                         .module = (char *)(uintptr_t)module,
                                         .paradigm = (char *)(uintptr_t)paradigm,
                                         .begin_line = -1,
                                         .end_line = -1};
        uint32_t id;
        need(lc_model_add_region(tree->model, &region, &id));
        need(lc_model_add_cnode(tree->model, parent != NULL ? find(tree, parent) : LC_NONE, id,
                                NULL));
        free(parent);
    }
}

static void make_system(struct lc_model *model, json_t *locations) {
    size_t i;
    json_t *location;
    uint32_t node, process = 0;
    json_int_t last = -1;
    need(lc_model_add_system_node(model, LC_NONE, "machine", "machine", &node));
    need(lc_model_add_system_node(model, node, "node1", "node", &node));
    json_array_foreach(locations, i, location) {
        json_int_t rank = json_integer_value(json_object_get(location, "rank"));
        json_int_t thread = json_integer_value(json_object_get(location, "thread"));
        if (rank != last)
            need(lc_model_add_process(model, node, (int32_t)rank, "process", &process));
        last = rank;
        need(lc_model_add_location(model, process, (int32_t)thread, "thread", NULL));
    }
}

static void write_metric(struct lc_cubex_writer *writer, const struct tree *tree, uint32_t id,
                         json_t *metric) {
    size_t l, n = tree->model->n_locations;
    double *values = calloc(n, sizeof values[0]);
    need(lc_cubex_writer_metric(writer, id));
    for (uint32_t c = 0; values != NULL && c < tree->n_names; c++) {
        json_t *row = json_object_get(json_object_get(metric, "callpaths"), tree->names[c]), *value;
        memset(values, 0, n * sizeof values[0]);
        json_array_foreach(row, l, value) if (l < n) values[l] = json_number_value(value);
        need(lc_cubex_writer_row(writer, c, values));
    }
    free(values);
}

static void write_member(struct lc_cubex_writer *writer, char *member) {
    char *equals = strchr(member, '='), text[65536];
    if (equals == NULL)
        exit(2);
    *equals = '\0';
    FILE *file = fopen(equals + 1, "rb");
    if (file == NULL) {
        perror(equals + 1);
        exit(1);
    }
    size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    need(lc_cubex_writer_misc(writer, member, text, bytes));
}

int main(int argc, char **argv) {
    json_error_t error;
    struct tree tree = {0};
    json_t *in = argc >= 3 ? json_load_file(argv[1], 0, &error) : NULL, *metric;
    const char *name;
    if (in == NULL) {
        fprintf(stderr, "usage: make_cubex IN.json OUT.cubex [MEMBER=FILE..]: %s\n",
                argc >= 3 ? error.text : "");
        return 2;
    }
    need(lc_model_new(&tree.model));
    json_t *metrics = json_object_get(in, "metrics");
    json_object_foreach(metrics, name, metric) need(lc_metrics_add(tree.model, name, NULL));
    collect_paths(&tree, metrics);
    make_cnodes(&tree, json_object_get(in, "modules"));
    make_system(tree.model, json_object_get(in, "locations"));
    static const char *const attributes[] = {"meta", "pop"};
    for (int i = 0; i < 2; i++) {
        json_t *object = json_object_get(in, attributes[i]);
        char key[32], *text = object != NULL ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
        snprintf(key, sizeof key, "latecomer.%s", attributes[i]);
        if (text != NULL)
            need(lc_model_set_attr(tree.model, key, text));
        free(text);
    }
    struct lc_cubex_writer *writer;
    need(lc_cubex_writer_open(&writer, argv[2], tree.model));
    json_object_foreach(metrics, name, metric)
        write_metric(writer, &tree, lc_model_find_metric(tree.model, name), metric);
    for (int i = 3; i < argc; i++)
        write_member(writer, argv[i]);
    need(lc_cubex_writer_close(writer));
    for (size_t i = 0; i < tree.n_names; i++)
        free(tree.names[i]);
    free(tree.names);
    lc_model_free(tree.model);
    json_decref(in);
    return 0;
}
