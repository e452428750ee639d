#include "bench/job_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* PATHS_MOST: call paths that the JSON has; SHARE: less of the time is in none of its lists. */
enum { PATHS_MOST = 200, FUNCTIONS_MOST = 60 };
#define LC_SHARE_LEAST 0.002

struct function {
    char *name;
    const char *file; /* without directories; in the memory of a rank's part */
    double self, total, of[LC_CATEGORIES];
    size_t seen; /* number of the last sample that it was in: recursion counts once */
};

/* A function in a call path. */
struct node {
    size_t parent; /* SIZE_MAX: none */
    size_t function;
    double self, total, of[LC_CATEGORIES];
    size_t first, next; /* first called function, next one of the same caller; SIZE_MAX */
};

struct code { /* an address that has been looked up */
    const char *file;
    uint64_t address;
    size_t function;
};

struct tree {
    const struct lc_code_names *names;
    struct function *functions;
    struct node *nodes;
    struct code *codes;
    size_t n_functions, functions_room, n_nodes, nodes_room, n_codes, codes_room;
    struct lc_lookup code_at;              /* codes, by file and address */
    const char *module[LC_SAMPLE_MODULES]; /* of the rank whose samples are taken; or NULL */
    size_t n, lost;                        /* samples */
    double weight, squares, of[LC_CATEGORIES];
};

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

static enum lc_err find_function(struct tree *t, const char *file, const char *name, size_t *at) {
    for (*at = 0; *at < t->n_functions; (*at)++)
        if (strcmp(t->functions[*at].name, name) == 0 && strcmp(t->functions[*at].file, file) == 0)
            return LC_OK;
    LC_TRY(lc_grow(&t->functions, &t->functions_room, t->n_functions + 1, sizeof t->functions[0]));
    t->functions[t->n_functions] = (struct function){.file = file};
    LC_TRY(lc_strdup(&t->functions[t->n_functions].name, name));
    t->n_functions++;
    return LC_OK;
}

/* The function at an address; each is asked for once. */
static enum lc_err look_up(struct tree *t, const char *file, uint64_t address, size_t *function) {
    uint64_t hash = lc_hash_word(lc_hash_text(LC_HASH_BEGIN, file), address);
    const struct code *codes = t->codes;
    uint32_t at = codes == NULL
                      ? LC_NONE
                      : LC_LOOKUP(&t->code_at, hash, i,
                                  codes[i].address == address && strcmp(codes[i].file, file) == 0);
    if (at != LC_NONE) {
        *function = t->codes[at].function;
        return LC_OK;
    }
    struct lc_strbuf name = {0};
    if (t->names == NULL || !t->names->function(t->names->context, file, address, &name)) {
        lc_strbuf_clear(&name); /* all of a file together: where one begins is not known either */
        lc_strbuf_puts(&name, "(unnamed)");
    }
    enum lc_err err = find_function(t, base_name(file), lc_strbuf_get(&name), function);
    lc_strbuf_free(&name);
    LC_TRY(err);
    LC_TRY(lc_grow(&t->codes, &t->codes_room, t->n_codes + 1, sizeof t->codes[0]));
    t->codes[t->n_codes++] = (struct code){file, address, *function};
    return lc_lookup_add(&t->code_at, hash, (uint32_t)t->n_codes - 1);
}

/* The files that a rank has announced. */
static void take_modules(struct tree *t, const struct lc_rank_part *rank) {
    memset(t->module, 0, sizeof t->module);
    for (size_t i = 0; i < rank->n_facts; i++) {
        const struct lc_fact *f = &rank->facts[i];
        if (strcmp(f->section, "module") == 0 && strtoull(f->key, NULL, 10) < LC_SAMPLE_MODULES)
            t->module[strtoull(f->key, NULL, 10)] = f->value;
    }
}

static bool is_harness(const char *file) {
    return strncmp(base_name(file), "latecomer-bench-", 16) == 0;
}

/* The node of a function below another one (SIZE_MAX: at the top). */
static enum lc_err child_of(struct tree *t, size_t parent, size_t function, size_t *node) {
    size_t i = parent != SIZE_MAX ? t->nodes[parent].first : t->n_nodes > 0 ? 0 : SIZE_MAX;
    for (; i != SIZE_MAX; i = t->nodes[i].next)
        if (t->nodes[i].function == function) {
            *node = i;
            return LC_OK;
        }
    LC_TRY(lc_grow(&t->nodes, &t->nodes_room, t->n_nodes + 1, sizeof t->nodes[0]));
    *node = t->n_nodes++;
    t->nodes[*node] =
        (struct node){.parent = parent, .function = function, .first = SIZE_MAX, .next = SIZE_MAX};
    if (parent != SIZE_MAX) {
        t->nodes[*node].next = t->nodes[parent].first;
        t->nodes[parent].first = *node;
    } else if (*node > 0) { /* behind the first at the top */
        t->nodes[*node].next = t->nodes[0].next;
        t->nodes[0].next = *node;
    }
    return LC_OK;
}

static enum lc_err add_sample(struct tree *t, const struct lc_part_sample *s,
                              enum lc_category category) {
    size_t functions[LC_SAMPLE_FRAMES], n = 0, node = SIZE_MAX;
    for (int i = 0; i < s->n; i++) { /* up to who called the operation */
        uint64_t module = s->frames[i] >> LC_SAMPLE_SHIFT;
        const char *file = module < LC_SAMPLE_MODULES ? t->module[module] : NULL;
        if (file == NULL) /* LC_SAMPLE_UNKNOWN, too */
            continue;
        if (is_harness(file))
            break;
        uint64_t address = s->frames[i] & ((UINT64_C(1) << LC_SAMPLE_SHIFT) - 1);
        LC_TRY(look_up(t, file, address, &functions[n]));
        n++;
    }
    if (n == 0) /* in the benchmark itself, or nowhere known */
        return LC_OK;
    t->n++;
    t->weight += s->weight_ns;
    t->squares += s->weight_ns * s->weight_ns;
    t->of[category] += s->weight_ns;
    t->functions[functions[0]].self += s->weight_ns;
    for (size_t i = n; i-- > 0;) {
        struct function *f = &t->functions[functions[i]];
        LC_TRY(child_of(t, node, functions[i], &node));
        t->nodes[node].total += s->weight_ns;
        t->nodes[node].of[category] += s->weight_ns;
        if (f->seen == t->n)
            continue;
        f->seen = t->n;
        f->total += s->weight_ns;
        f->of[category] += s->weight_ns;
    }
    t->nodes[node].self += s->weight_ns;
    return LC_OK;
}

/* The category of each repetition of the job that has counters. */
static enum lc_err add_all(struct tree *t, const struct lc_measured_job *job,
                           const struct lc_rank_part *ranks, const uint8_t *category) {
    for (uint32_t r = 0; r < job->ranks; r++) {
        take_modules(t, &ranks[r]);
        for (size_t i = 0; i < job->part[r]->n_samples; i++) {
            const struct lc_part_sample *s = &job->part[r]->samples[i];
            size_t rep = s->rep >= 0 ? (size_t)s->rep : SIZE_MAX;
            size_t k = LC_FIRST_WHERE(m, 0, job->series.n, job->counted[m] >= rep);
            t->lost += (size_t)s->lost;
            if (k < job->series.n && job->counted[k] == rep && s->weight_ns > 0)
                LC_TRY(add_sample(t, s, (enum lc_category)category[k]));
        }
    }
    return LC_OK;
}

/* Of a function or a call path: shares of all time, and of that in each category. */
static json_t *shares_json(const struct tree *t, const struct function *f, double self,
                           double total, const double *of) {
    json_t *categories = json_object();
    double share = total / t->weight, effective = t->weight * t->weight / t->squares;
    for (int c = 0; c < LC_CATEGORIES; c++)
        if (t->of[c] > 0)
            json_object_set_new(categories, lc_category_name((enum lc_category)c),
                                json_real(of[c] / t->of[c]));
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:o}", "function", f->name, "file", f->file,
                     "share", share, "self_share", self / t->weight, "error",
                     sqrt(share * (1 - share) / effective), "of_category", categories);
}

static const struct tree *sorted; /* what qsort() does not pass on */

static int by_self(const void *a, const void *b) {
    const struct function *x = &sorted->functions[*(const size_t *)a],
                          *y = &sorted->functions[*(const size_t *)b];
    return (x->self < y->self) - (x->self > y->self);
}

static int by_total(const void *a, const void *b) {
    const struct node *x = &sorted->nodes[*(const size_t *)a],
                      *y = &sorted->nodes[*(const size_t *)b];
    return (x->total < y->total) - (x->total > y->total);
}

static json_t *functions_json(const struct tree *t, size_t *order) {
    json_t *list = json_array();
    for (size_t i = 0; i < t->n_functions; i++)
        order[i] = i;
    sorted = t;
    qsort(order, t->n_functions, sizeof order[0], by_self);
    for (size_t i = 0; i < t->n_functions && i < FUNCTIONS_MOST; i++) {
        const struct function *f = &t->functions[order[i]];
        if (f->self >= LC_SHARE_LEAST * t->weight)
            json_array_append_new(list, shares_json(t, f, f->self, f->total, f->of));
    }
    return list;
}

/* Those below a node, the heaviest first, each with what it calls; order: room for all nodes. */
static void put_paths(const struct tree *t, size_t first, int depth, size_t *order, json_t *list) {
    size_t n = 0;
    for (size_t i = first; i != SIZE_MAX; i = t->nodes[i].next)
        order[n++] = i;
    sorted = t;
    qsort(order, n, sizeof order[0], by_total);
    for (size_t i = 0; i < n && json_array_size(list) < PATHS_MOST; i++) {
        const struct node *node = &t->nodes[order[i]];
        if (node->total < LC_SHARE_LEAST * t->weight)
            break;
        json_t *one =
            shares_json(t, &t->functions[node->function], node->self, node->total, node->of);
        json_object_set_new(one, "depth", json_integer(depth));
        json_array_append_new(list, one);
        put_paths(t, node->first, depth + 1, order + n, list);
    }
}

static enum lc_err put_tree(const struct tree *t, const struct lc_measured_job *job,
                            json_t *about) {
    size_t *order, most = t->n_nodes > t->n_functions ? t->n_nodes : t->n_functions;
    LC_TRY(lc_alloc(&order, most, sizeof order[0]));
    json_t *paths = json_array();
    put_paths(t, 0, 0, order, paths);
    json_object_set_new(about, "samples",
                        json_pack("{s:I, s:I, s:I, s:o, s:o}", "n", (json_int_t)t->n, "lost",
                                  (json_int_t)t->lost, "repetitions", (json_int_t)job->series.n,
                                  "functions", functions_json(t, order), "callpaths", paths));
    free(order);
    return LC_OK;
}

static void free_tree(struct tree *t) {
    for (size_t i = 0; i < t->n_functions; i++)
        free(t->functions[i].name);
    free(t->functions);
    free(t->nodes);
    free(t->codes);
    lc_lookup_free(&t->code_at);
}

enum lc_err lc_job_samples_add(const struct lc_measured_job *job, const struct lc_rank_part *ranks,
                               const struct lc_code_names *names, json_t *about) {
    struct tree t = {.names = names};
    uint8_t *category;
    const json_t *list = json_object_get(json_object_get(about, "counted"), "category");
    LC_TRY(lc_alloc(&category, job->series.n, sizeof category[0]));
    for (size_t k = 0; k < job->series.n; k++) {
        const char *name = json_string_value(json_array_get(list, k));
        category[k] = LC_CATEGORY_GOOD;
        for (int c = 0; name != NULL && c < LC_CATEGORIES; c++)
            if (strcmp(name, lc_category_name((enum lc_category)c)) == 0)
                category[k] = (uint8_t)c;
    }
    enum lc_err err = add_all(&t, job, ranks, category);
    if (err == LC_OK && t.n > 0)
        err = put_tree(&t, job, about);
    free(category);
    free_tree(&t);
    return err;
}
