#include "report/finding_partitions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/finding_kinds.h"
#include "report/late.h"
#include "report/short_name.h"

static const double works_share = 0.05; /* of a rank's work: it works there */
static const double least_work = 0.01;  /* of the run time: less is no work */
static const double most_work = 0.9;    /* of a master's work: no need to say that it is not all */

enum { NAME_WIDTH = 40, NAME_BYTES = 61 };
enum { MOST_PARTITIONS = 16 }; /* more: nearly every rank does something else */

struct groups {
    uint32_t *parent; /* per process, union-find */
    uint32_t *first;  /* per path: a process that works in it; LC_NONE: none */
    double *own;      /* per process: own time in the path that is looked at */
};

static uint32_t root_of(const struct groups *g, uint32_t p) {
    while (g->parent[p] != p)
        p = g->parent[p];
    return p;
}

/* The lowest rank stands for its group. */
static void unite(struct groups *g, uint32_t a, uint32_t b) {
    a = root_of(g, a);
    b = root_of(g, b);
    if (a < b)
        g->parent[b] = a;
    else
        g->parent[a] = b;
}

static bool is_code(const struct lc_search *search, uint32_t path) {
    return !search->view->paths[path].mpi && !search->sums->apart[path];
}

static json_int_t program_of(const struct lc_search *search, uint32_t process) {
    const json_t *program =
        json_array_get(json_object_get(search->meta, "program_of_rank"), process);
    return json_is_integer(program) ? json_integer_value(program) : -1;
}

/* Own time of each process in a path; nothing in what is no code. */
static enum lc_err read_own(struct lc_search *search, struct groups *g, uint32_t path) {
    struct lc_view *view = search->view;
    uint32_t time = lc_model_find_metric(view->model, "time");
    memset(g->own, 0, view->model->n_processes * sizeof g->own[0]);
    if (time == LC_NONE || !is_code(search, path))
        return LC_OK;
    LC_TRY(lc_view_exclusive_row(view, time, path, search->row));
    lc_per_process(view, search->row, true, g->own);
    return LC_OK;
}

static bool has_work(const struct lc_search *search, const struct lc_partitions *p, uint32_t r) {
    return p->work_s[r] > 0.0 && p->work_s[r] >= least_work * search->elapsed_s;
}

static enum lc_err group(struct lc_search *search, struct groups *g, struct lc_partitions *p) {
    const struct lc_view *view = search->view;
    uint32_t n = (uint32_t)view->model->n_processes, *first = NULL;
    size_t n_programs = json_array_size(json_object_get(search->meta, "programs"));
    for (uint32_t path = 0; path < view->n_paths; path++) {
        LC_TRY(read_own(search, g, path));
        for (uint32_t r = 0; r < n; r++)
            p->work_s[r] += g->own[r];
    }
    for (uint32_t r = 0; r < n; r++)
        g->parent[r] = r;
    for (uint32_t path = 0; path < view->n_paths; path++) {
        g->first[path] = LC_NONE;
        LC_TRY(read_own(search, g, path));
        for (uint32_t r = 0; r < n; r++) {
            if (!has_work(search, p, r) || g->own[r] < works_share * p->work_s[r])
                continue;
            if (g->first[path] == LC_NONE)
                g->first[path] = r;
            unite(g, g->first[path], r);
        }
    }
    LC_TRY(lc_alloc(&first, n_programs + 1, sizeof first[0]));
    for (size_t i = 0; i < n_programs; i++)
        first[i] = LC_NONE;
    for (uint32_t r = 0; r < n; r++) {
        json_int_t program = program_of(search, r);
        if (program < 0 || (size_t)program >= n_programs || !has_work(search, p, r))
            continue;
        if (first[program] == LC_NONE)
            first[program] = r;
        unite(g, first[program], r);
    }
    free(first);
    return LC_OK;
}

static enum lc_err add_partitions(const struct lc_search *search, const struct groups *g,
                                  struct lc_partitions *p) {
    const struct lc_view *view = search->view;
    uint32_t n = (uint32_t)view->model->n_processes;
    size_t capacity = 0;
    for (uint32_t r = 0; r < n; r++) {
        uint32_t root = root_of(g, r);
        p->of[r] = LC_NONE;
        if (!has_work(search, p, r))
            continue;
        if (root == r) {
            LC_TRY(lc_grow(&p->list, &capacity, p->n + 1, sizeof p->list[0]));
            p->list[p->n] = (struct lc_partition){.path = LC_NONE, .name = ""};
            p->of[r] = (uint32_t)p->n++;
        } else {
            p->of[r] = p->of[root];
        }
        struct lc_partition *one = &p->list[p->of[r]];
        one->n_ranks++;
        one->work_s += p->work_s[r];
        one->longest_s = fmax(one->longest_s, p->work_s[r]);
    }
    return LC_OK;
}

/* Where it waits for the kernel, "(off CPU)", the function that does so. */
static const char *function_of(const struct lc_view *view, uint32_t path) {
    while (view->paths[path].name[0] == '(' && view->paths[path].parent != LC_NONE)
        path = view->paths[path].parent;
    return view->paths[path].name;
}

/* Call paths to partitions; the name of each, and its part of the critical path. */
static enum lc_err add_paths(struct lc_search *search, struct groups *g, struct lc_partitions *p) {
    struct lc_view *view = search->view;
    uint32_t n = (uint32_t)view->model->n_processes;
    uint32_t critical = lc_model_find_metric(
        view->model, search->is_analysis ? "critical_path" : "critical_path_useful");
    double *most = NULL, *row = NULL;
    LC_TRY(lc_alloc(&most, p->n + 1, sizeof most[0]));
    enum lc_err err = lc_alloc(&row, n, sizeof row[0]);
    for (uint32_t path = 0; err == LC_OK && path < view->n_paths; path++) {
        p->of_path[path] = g->first[path] != LC_NONE ? p->of[g->first[path]] : LC_NONE;
        if (p->of_path[path] != LC_NONE) {
            struct lc_partition *one = &p->list[p->of_path[path]];
            double all = 0.0;
            err = read_own(search, g, path);
            for (uint32_t r = 0; r < n; r++)
                all += g->own[r];
            if (all > most[p->of_path[path]]) {
                most[p->of_path[path]] = all;
                one->path = path;
                one->name = function_of(view, path);
                one->in_path_s = all;
            }
        }
        if (critical == LC_NONE || !is_code(search, path) || err != LC_OK)
            continue;
        err = lc_view_exclusive_row(view, critical, path, search->row);
        if (err != LC_OK)
            break;
        lc_per_process(view, search->row, false, row);
        for (uint32_t r = 0; r < n; r++)
            if (p->of[r] != LC_NONE && p->of[r] == p->of_path[path])
                p->list[p->of[r]].critical_s += row[r];
    }
    for (uint32_t r = n; r-- > 0;) {
        const json_t *programs = json_object_get(search->meta, "programs");
        const char *name =
            program_of(search, r) >= 0
                ? json_string_value(json_array_get(programs, (size_t)program_of(search, r)))
                : NULL;
        if (name != NULL && p->of[r] != LC_NONE) {
            p->list[p->of[r]].name = name;
            p->list[p->of[r]].in_path_s = p->list[p->of[r]].work_s;
        }
    }
    free(most);
    free(row);
    return err;
}

/* In a run of one program: each rank that works does so in code of its own, as where one rank does
 * what another one did before. They are compared with each other. */
static bool every_rank_for_itself(const struct lc_search *search, const struct lc_partitions *p) {
    if (json_array_size(json_object_get(search->meta, "programs")) > 1)
        return false;
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].n_ranks > 1)
            return false;
    return true;
}

enum lc_err lc_partitions_of(struct lc_search *search, struct lc_partitions *partitions) {
    const struct lc_view *view = search->view;
    size_t n = view->model->n_processes;
    struct groups g = {0};
    *partitions = (struct lc_partitions){0};
    enum lc_err err = lc_alloc(&partitions->of, n + 1, sizeof(uint32_t));
    if (err == LC_OK)
        err = lc_alloc(&partitions->of_path, view->n_paths + 1, sizeof(uint32_t));
    if (err == LC_OK)
        err = lc_alloc(&partitions->work_s, n + 1, sizeof(double));
    if (err == LC_OK)
        err = lc_alloc(&g.parent, n + 1, sizeof(uint32_t));
    if (err == LC_OK)
        err = lc_alloc(&g.first, view->n_paths + 1, sizeof(uint32_t));
    if (err == LC_OK)
        err = lc_alloc(&g.own, n + 1, sizeof(double));
    if (err == LC_OK)
        err = group(search, &g, partitions);
    if (err == LC_OK)
        err = add_partitions(search, &g, partitions);
    if (err == LC_OK)
        err = add_paths(search, &g, partitions);
    if (partitions->n > MOST_PARTITIONS || every_rank_for_itself(search, partitions))
        partitions->n = 0;
    free(g.parent);
    free(g.first);
    free(g.own);
    if (err != LC_OK)
        lc_partitions_free(partitions);
    return err;
}

void lc_partitions_free(struct lc_partitions *partitions) {
    free(partitions->list);
    free(partitions->of);
    free(partitions->of_path);
    free(partitions->work_s);
    *partitions = (struct lc_partitions){0};
}

/* ---- what limits */

double lc_partitions_time(const struct lc_partition *list, size_t n, const size_t *sizes) {
    double longest = 0.0, path = 0.0;
    for (size_t i = 0; i < n; i++) {
        double scale = (double)list[i].n_ranks / (double)sizes[i];
        longest = fmax(longest, list[i].longest_s * scale);
        path += list[i].critical_s * scale;
    }
    return fmax(longest, path);
}

/* Where two partitions limit at once, moving one rank helps only one of them, and the time stays.
 * Of sizes that take the same time those are nearer to better ones of which fewer partitions limit,
 * or nearly do: a high power counts these. */
static double count_limiting(const struct lc_partition *list, size_t n, const size_t *sizes,
                             double time) {
    double count = 0.0;
    for (size_t i = 0; i < n && time > 0.0; i++)
        count += pow(list[i].longest_s * (double)list[i].n_ranks / (double)sizes[i] / time, 64.0);
    return count;
}

struct move {
    size_t from, to;
    double time, limiting;
};

static bool is_better(const struct move *a, const struct move *b) {
    const double less = 1 - 1e-9;
    return a->time < b->time * less ||
           (a->time * less <= b->time && a->limiting < b->limiting * less);
}

/* The best move of one rank, if one is better than `found`, the sizes as they are. */
static void find_move(const struct lc_partition *list, size_t n, size_t *sizes,
                      struct move *found) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            if (i == k || sizes[i] < 2)
                continue;
            sizes[i]--;
            sizes[k]++;
            double then = lc_partitions_time(list, n, sizes);
            struct move move = {i, k, then, count_limiting(list, n, sizes, then)};
            if (is_better(&move, found))
                *found = move;
            sizes[i]++;
            sizes[k]--;
        }
}

enum lc_err lc_partitions_best(const struct lc_partition *list, size_t n, size_t *sizes,
                               double *time) {
    size_t *tried, most = 0; /* moves: no more than ranks */
    LC_TRY(lc_alloc(&tried, n, sizeof tried[0]));
    for (size_t i = 0; i < n; i++)
        most += tried[i] = sizes[i];
    *time = lc_partitions_time(list, n, sizes);
    for (size_t moves = 0; moves < most; moves++) {
        double now = lc_partitions_time(list, n, tried);
        struct move found = {0, 0, now, count_limiting(list, n, tried, now)};
        find_move(list, n, tried, &found);
        if (found.from == found.to)
            break;
        tried[found.from]--;
        tried[found.to]++;
        if (found.time < *time * (1 - 1e-9)) {
            *time = found.time;
            memcpy(sizes, tried, n * sizeof sizes[0]);
        }
    }
    free(tried);
    return LC_OK;
}

/* Imbalance costs across partitions on the ranks of this one; finds the call path with most. */
static enum lc_err costs_across(struct lc_search *search, const struct lc_partitions *p,
                                uint32_t which, uint32_t metric, struct lc_finding *finding) {
    struct lc_view *view = search->view;
    double most = 0.0;
    for (uint32_t path = 0; path < view->n_paths; path++) {
        double here = 0.0;
        LC_TRY(lc_view_exclusive_row(view, metric, path, search->row));
        for (size_t l = 0; l < view->model->n_locations; l++)
            if (p->of[view->model->locations[l].process] == which)
                here += search->row[l];
        finding->severity_s += here;
        if (here > most && is_code(search, path)) {
            most = here;
            finding->path = path;
        }
    }
    finding->certainty = LC_EXACT_FROM_TRACE;
    finding->metric = "inter_partition_imbalance";
    finding->evidence_path = finding->path;
    return LC_OK;
}

/* What ranks cost others. Threads that wait for each other are not in it. */
static enum lc_err costs_of_ranks(struct lc_search *search, const struct lc_partitions *p,
                                  uint32_t which, struct lc_finding *finding) {
    const struct lc_model *model = search->view->model;
    struct lc_late_list late = {0};
    LC_TRY(lc_late_read(&late, search->view));
    for (size_t i = 0; i < late.n; i++)
        for (uint32_t r = 0; late.list[i].thread[0] == '\0' && r < model->n_processes; r++)
            if (p->of[r] == which && atol(late.list[i].rank) == model->processes[r].rank)
                finding->severity_s += late.list[i].seconds;
    lc_late_free(&late);
    finding->certainty = LC_MEASURED;
    return LC_OK;
}

/* Seconds that ranks of other partitions wait for this one: not more than they wait at all. */
static enum lc_err waiting_for(struct lc_search *search, const struct lc_partitions *p,
                               uint32_t which, struct lc_finding *finding) {
    const struct lc_model *model = search->view->model;
    uint32_t inter = lc_model_find_metric(model, "inter_partition_imbalance");
    double others = 0.0;
    finding->path = p->list[which].path;
    finding->severity_s = 0.0;
    if (search->is_analysis && inter != LC_NONE)
        LC_TRY(costs_across(search, p, which, inter, finding));
    else
        LC_TRY(costs_of_ranks(search, p, which, finding));
    for (uint32_t r = 0; r < model->n_processes; r++)
        if (p->of[r] != which)
            others += search->waiting_s[r];
    finding->severity_s = fmin(finding->severity_s, others);
    return LC_OK;
}

/* What the partition is called in a sentence: from outside, so made printable, and not long. */
static void put_name(const struct lc_partition *one, char name[NAME_BYTES]) {
    struct lc_strbuf shorter = {0}, clean = {0}, cut = {0};
    lc_put_short_name(&shorter, one->name);
    lc_put_printable(&clean, lc_strbuf_get(&shorter));
    for (size_t width = NAME_WIDTH; width > 0; width--) {
        lc_strbuf_clear(&cut);
        lc_put_cut(&cut, lc_strbuf_get(&clean), width);
        if (strlen(lc_strbuf_get(&cut)) < NAME_BYTES)
            break;
    }
    snprintf(name, NAME_BYTES, "%s", lc_strbuf_get(&cut));
    lc_strbuf_free(&shorter);
    lc_strbuf_free(&clean);
    lc_strbuf_free(&cut);
}

static void name_members(const struct lc_search *search, const struct lc_partitions *p,
                         uint32_t which, struct lc_finding *finding) {
    for (uint32_t r = 0; r < search->view->model->n_processes; r++) {
        if (p->of[r] != which)
            continue;
        if (finding->n_ranks < LC_FINDING_RANKS)
            finding->ranks[finding->n_ranks] = search->view->model->processes[r].rank;
        finding->n_ranks++;
    }
}

/* One rank that does something else than all others: without its work, the run takes as long as the
 * longest of the others, and as the critical path less its part. */
static void predict_master(const struct lc_partitions *p, uint32_t which,
                           struct lc_finding *finding) {
    double longest = 0.0, path = 0.0, now = p->list[which].longest_s;
    char name[NAME_BYTES];
    for (size_t i = 0; i < p->n; i++) {
        path += p->list[i].critical_s;
        if (i != which)
            longest = fmax(longest, p->list[i].longest_s);
    }
    now = fmax(fmax(now, longest), path);
    finding->gain_s = now - fmax(longest, path - p->list[which].critical_s);
    finding->gain_by = "without the work of this rank: the longest work of the others, and the "
                       "critical path less its part";
    put_name(&p->list[which], name);
    double share = p->list[which].in_path_s / p->list[which].work_s;
    if (share < most_work)
        snprintf(finding->detail, sizeof finding->detail, "works, %.0f %% of it in %s",
                 100.0 * share, name);
    else
        snprintf(finding->detail, sizeof finding->detail, "works in %s", name);
}

static enum lc_err predict_sizes(const struct lc_search *search, const struct lc_partitions *p,
                                 uint32_t which, struct lc_finding *finding) {
    const struct lc_partition *one = &p->list[which];
    size_t *sizes, n_all = 0;
    double work = 0.0;
    char name[NAME_BYTES];
    LC_TRY(lc_alloc(&sizes, p->n, sizeof sizes[0]));
    for (size_t i = 0; i < p->n; i++) {
        sizes[i] = p->list[i].n_ranks;
        n_all += sizes[i];
        work += p->list[i].work_s;
    }
    double now = lc_partitions_time(p->list, p->n, sizes), then = now;
    enum lc_err err = lc_partitions_best(p->list, p->n, sizes, &then);
    double even = fmax(now - work / (double)n_all, 0.0);
    put_name(one, name);
    bool resized = now - then >= 0.005 * search->elapsed_s;
    finding->gain_s = even;
    finding->gain_by = "work shifted between the partitions until all ranks have the same";
    if (resized && sizes[which] > one->n_ranks) {
        finding->gain_s = now - then;
        finding->gain_by = "best number of ranks for each partition, work in each divided as now";
        snprintf(finding->detail, sizeof finding->detail,
                 "%s is too small with %zu of %zu ranks: %zu would be best", name, one->n_ranks,
                 n_all, sizes[which]);
    } else if (resized) {
        snprintf(finding->detail, sizeof finding->detail,
                 "%s limits the run at times with %zu of %zu ranks", name, one->n_ranks, n_all);
    } else {
        snprintf(finding->detail, sizeof finding->detail,
                 "%s limits the run with %zu of %zu ranks, and no other number would be better",
                 name, one->n_ranks, n_all);
    }
    finding->gain_high_s = fmax(finding->gain_s, even);
    free(sizes);
    return err;
}

/* A partition with a part of the critical path. */
static enum lc_err add_partition(struct lc_search *search, const struct lc_partitions *p,
                                 uint32_t which) {
    bool master = p->list[which].n_ranks == 1 && search->n_ranks > 2;
    struct lc_finding finding = lc_finding_begin(master ? LC_MASTER_LIMITS : LC_PARTITION_LIMITS);
    LC_TRY(waiting_for(search, p, which, &finding));
    name_members(search, p, which, &finding);
    if (master)
        predict_master(p, which, &finding);
    else
        LC_TRY(predict_sizes(search, p, which, &finding));
    double others = (double)(search->n_ranks - p->list[which].n_ranks);
    finding.gain_low_s = 0.0;
    if (isnan(finding.gain_high_s))
        finding.gain_high_s = finding.gain_s;
    finding.gain_high_s = fmin(finding.gain_high_s, p->list[which].critical_s);
    finding.gain_s = fmin(finding.gain_s, finding.gain_high_s);
    if (others > 0.0) /* nobody gains more than it waits for this */
        finding.gain_s = fmin(finding.gain_s, finding.severity_s / others);
    return lc_finding_add(search, &finding);
}

/* Ranks that only wait. If the work were spread over them, too, the mean would sink. */
static enum lc_err find_no_work(struct lc_search *search, const struct lc_partitions *p) {
    struct lc_finding finding = lc_finding_begin(LC_NO_WORK);
    const struct lc_view *view = search->view;
    double work = 0.0, waiting = 0.0;
    size_t n_known = 0, n_without = 0;
    for (size_t l = 0; l < view->model->n_locations; l++) {
        uint32_t r = view->model->locations[l].process;
        if (view->unknown[l] || (l > 0 && view->model->locations[l - 1].process == r))
            continue;
        n_known++;
        work += p->work_s[r];
        if (p->of[r] != LC_NONE)
            continue;
        if (n_without < LC_FINDING_RANKS)
            finding.ranks[n_without] = view->model->processes[r].rank;
        n_without++;
        waiting += search->waiting_s[r];
    }
    if (n_without == 0 || n_without == n_known)
        return LC_OK;
    finding.n_ranks = n_without;
    finding.severity_s = waiting;
    finding.certainty = search->is_analysis       ? LC_EXACT_FROM_TRACE
                        : search->sums->estimated ? LC_ESTIMATED
                                                  : LC_MEASURED;
    finding.gain_s = work / (double)(n_known - n_without) - work / (double)n_known;
    finding.gain_low_s = 0.0;
    finding.gain_high_s = finding.gain_s;
    finding.gain_by = "the same work, spread over these ranks, too";
    return lc_finding_add(search, &finding);
}

enum lc_err lc_find_partitions(struct lc_search *search) {
    const struct lc_partitions *p = search->partitions;
    for (uint32_t i = 0; p->n > 1 && i < p->n; i++)
        if (p->list[i].critical_s > 0.0)
            LC_TRY(add_partition(search, p, i));
    return find_no_work(search, search->partitions);
}
