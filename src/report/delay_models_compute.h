/* Both delay-cost models as delay_models_compute.c adds them up; written by delay_models.c and
 * delay_models_text.c. */
#ifndef LC_REPORT_DELAY_MODELS_COMPUTE_H
#define LC_REPORT_DELAY_MODELS_COMPUTE_H

#include <stdio.h>

#include "base/lookup.h"
#include "report/delay_costs.h"
#include "report/view.h"

/* Costs that code causes (the first two), and what a location waits itself. */
enum lc_cost_class {
    LC_CLASS_SHORT_TERM,
    LC_CLASS_LONG_TERM,
    LC_CLASS_DIRECT,
    LC_CLASS_INDIRECT,
    LC_CLASS_PROPAGATING,
    LC_CLASS_TERMINAL,
    LC_N_CLASSES
};

struct lc_cost_metric_pair { /* one metric in both models; seconds */
    const char *name;        /* of the first view */
    enum lc_cost_class class;
    double total[LC_N_COST_MODELS];                         /* mean over the analyses */
    double least[LC_N_COST_MODELS], most[LC_N_COST_MODELS]; /* of them */
};

/* A node of the tree of cost metrics: a pair, or a sum over those below it. */
struct lc_cost_node {
    const char *display;
    uint32_t metric; /* of the first view, model proportional */
    size_t depth;
    double total[LC_N_COST_MODELS]; /* mean over the analyses */
};

struct lc_cost_run {                /* one analysis */
    double time_s;                  /* of all locations */
    double costs[LC_N_COST_MODELS]; /* all */
};

struct lc_cost_item { /* a location, a rank or a call path; means over the analyses, in seconds */
    uint32_t id;      /* location or path of the first view; LC_NONE: another one has the path */
    int32_t rank;
    char *path; /* call paths: "main/f" */
    double of[LC_N_COST_MODELS][LC_N_CLASSES];
};

struct lc_cost_items { /* sorted by the first model, largest first */
    struct lc_cost_item *list;
    size_t n, capacity;
};

struct lc_delay_models {
    struct lc_view *const *views;
    size_t n_views;
    struct lc_cost_metric_pair *pairs;
    size_t n_pairs;
    struct lc_cost_node *tree; /* parents before children */
    size_t n_nodes;
    struct lc_cost_run *runs;                     /* n_views */
    struct lc_cost_items locations, ranks, paths; /* paths: those with costs */
    struct lc_lookup path_lookup;
    double all[LC_N_COST_MODELS]; /* all costs */
    double sums[LC_N_COST_MODELS][LC_N_CLASSES];
};

static inline double lc_cost_of(const struct lc_cost_item *item, int model) {
    return item->of[model][LC_CLASS_SHORT_TERM] + item->of[model][LC_CLASS_LONG_TERM];
}

/* Fills the rest from views and n_views; lc_delay_models_free frees it, also after a failure.
 * Errors: those of lc_delay_models_write. */
enum lc_err lc_delay_models_compute(struct lc_delay_models *models);
/* Frees what it holds, not the struct and the views. */
void lc_delay_models_free(struct lc_delay_models *models);

/* (*shares)[k]: what the k + 1 most expensive items, in the order of this model, hold of all costs.
 * The caller frees it. LC_ERR_NOMEM. */
enum lc_err lc_cost_pareto(const struct lc_delay_models *models, const struct lc_cost_items *items,
                           int model, double **shares);

extern const char *const lc_cost_model_names[LC_N_COST_MODELS];

/* For people. Errors: LC_ERR_NOMEM. */
enum lc_err lc_delay_models_text(const struct lc_delay_models *models, FILE *out);

#endif
