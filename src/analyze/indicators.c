#include "analyze/indicators.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/results.h"
#include "base/mem.h"

/* Sums over the locations of several ranks must not depend on who owns them: fractions of ticks are
 * added as integers. */
static const double parts_per_tick = 1099511627776.0; /* 2^40 */

struct indicators {
    const struct lc_critical_path *path;
    const struct lc_trace *trace;
    struct lc_results *results;
    struct lc_indicator_sums *sums;
    const uint32_t *partition; /* per location, or NULL */
    uint32_t n_partitions;
    int64_t length;      /* |G| */
    int64_t *life_total; /* per call path: L of all locations */
    int64_t *
        impact; /* per call path: ticks and parts of the intra- and of the inter-partition impact */
    int64_t *present;       /* per call path and partition: time on the path */
    uint8_t *visited;       /* per call path, of one location */
    struct lc_profile life; /* L of one location */
    uint32_t h_path, h_imbalance, h_activities, h_other, h_impact, h_intra, h_inter;
};

enum { INTRA, INTER, N_PARTS };

static void add_impact(struct indicators *in, uint32_t cnode, int part, double ticks) {
    int64_t *sum = &in->impact[((size_t)cnode * N_PARTS + (size_t)part) * 2];
    int64_t whole = (int64_t)ticks;
    sum[0] += whole;
    sum[1] += (int64_t)((ticks - (double)whole) * parts_per_tick);
}

static double impact_of(const struct indicators *in, uint32_t cnode, int part) {
    const int64_t *sum = &in->impact[((size_t)cnode * N_PARTS + (size_t)part) * 2];
    return (double)sum[0] + (double)sum[1] / parts_per_tick;
}

static enum lc_err declare(struct indicators *in) {
    LC_TRY(lc_results_metric(in->results, "critical_path", &in->h_path));
    LC_TRY(lc_results_metric(in->results, "critical_path_imbalance", &in->h_imbalance));
    LC_TRY(lc_results_metric(in->results, "critical_path_activities", &in->h_activities));
    LC_TRY(lc_results_metric(in->results, "non_critical_path_activities", &in->h_other));
    LC_TRY(lc_results_metric(in->results, "critical_imbalance_impact", &in->h_impact));
    LC_TRY(lc_results_metric(in->results, "intra_partition_imbalance", &in->h_intra));
    return lc_results_metric(in->results, "inter_partition_imbalance", &in->h_inter);
}

/* L_p: the life of the location within the bounds. That of a worker thread begins with its first
 * event. */
static void profile_life(struct indicators *in, struct lc_timeline *line) {
    int64_t from = in->path->lower, to = in->path->last_event[line->loc->id];
    if (to == INT64_MIN)
        return;
    if (in->trace->locations[line->loc->id].thread > 0 && line->loc->time[0] > from)
        from = line->loc->time[0];
    lc_profile_window(&in->life, line, from, to < in->path->upper ? to : in->path->upper, true);
}

static bool is_elsewhere(const struct indicators *in, uint32_t location, uint32_t cnode) {
    if (in->partition == NULL)
        return !in->visited[cnode];
    return in->present[(size_t)cnode * in->n_partitions + in->partition[location]] == 0;
}

/* x_p[c] = max(G[c] - L_p[c], 0), scaled so that all of it together is the waiting of the location.
 */
static void add_headroom(struct indicators *in, uint32_t location, int64_t waiting,
                         int64_t headroom) {
    if (headroom <= 0)
        return;
    double factor = (double)waiting / (double)headroom;
    for (uint32_t c = 0; c < in->trace->n_cnodes; c++) {
        int64_t x = in->path->total[c] - in->life.ticks[c];
        if (in->path->total[c] > 0 && x > 0)
            add_impact(in, c, is_elsewhere(in, location, c) ? INTER : INTRA, factor * (double)x);
    }
}

static enum lc_err compare_life(struct indicators *in, struct lc_timeline *line) {
    const int64_t *total = in->path->total;
    int64_t lived = 0, common = 0;
    profile_life(in, line);
    for (uint32_t i = 0; i < in->life.n_touched; i++) {
        uint32_t c = in->life.touched[i];
        int64_t life = in->life.ticks[c], on_path = life < total[c] ? life : total[c];
        lived += life;
        common += on_path;
        in->life_total[c] += life;
        if (on_path > 0)
            LC_TRY(lc_results_add_int(in->results, in->h_activities, c, line->loc->id, on_path));
        if (life > on_path)
            LC_TRY(lc_results_add_int(in->results, in->h_other, c, line->loc->id, life - on_path));
    }
    in->sums->activities_ticks += lived;
    bool worker = in->trace->locations[line->loc->id].thread > 0;
    const uint32_t *visited = worker ? line->loc->visited : line->cnodes;
    size_t n_visited = worker ? line->loc->n_visited : line->n_cnodes;
    for (size_t k = 0; k < n_visited; k++)
        in->visited[visited[k]] = 1;
    add_headroom(in, line->loc->id, in->length - lived, in->length - common);
    for (size_t k = 0; k < n_visited; k++)
        in->visited[visited[k]] = 0;
    lc_profile_clear(&in->life);
    return LC_OK;
}

/* Values per call path go to the locations in proportion to their parts of the path. */
static enum lc_err spread(struct indicators *in, size_t l) {
    const struct lc_critical_path *path = in->path;
    const struct lc_timeline *line = &path->lines->lines[l];
    for (uint32_t k = 0; k < line->n_cnodes; k++) {
        int64_t ticks = path->on_path[l][k];
        uint32_t c = line->cnodes[k], id = line->loc->id;
        if (ticks <= 0)
            continue;
        double share = (double)ticks / (double)path->total[c];
        double imbalance =
            (double)path->total[c] - (double)in->life_total[c] / (double)in->trace->n_locations;
        double intra = impact_of(in, c, INTRA), inter = impact_of(in, c, INTER);
        LC_TRY(lc_results_add_int(in->results, in->h_path, c, id, ticks));
        if (imbalance > 0)
            LC_TRY(
                lc_results_add_ticks_real(in->results, in->h_imbalance, c, id, imbalance * share));
        if (intra + inter > 0)
            LC_TRY(lc_results_add_ticks_real(in->results, in->h_impact, c, id,
                                             (intra + inter) * share));
        if (intra > 0)
            LC_TRY(lc_results_add_ticks_real(in->results, in->h_intra, c, id, intra * share));
        if (inter > 0)
            LC_TRY(lc_results_add_ticks_real(in->results, in->h_inter, c, id, inter * share));
    }
    return LC_OK;
}

static enum lc_err allocate(struct indicators *in) {
    size_t n = in->trace->n_cnodes;
    for (size_t i = 0; in->partition != NULL && i < in->trace->n_locations; i++)
        if (in->partition[i] >= in->n_partitions)
            in->n_partitions = in->partition[i] + 1;
    LC_TRY(lc_alloc(&in->life_total, n + 1, sizeof *in->life_total));
    LC_TRY(lc_alloc(&in->impact, (n + 1) * N_PARTS * 2, sizeof *in->impact));
    LC_TRY(lc_alloc(&in->present, (n + 1) * (in->n_partitions + 1), sizeof *in->present));
    LC_TRY(lc_alloc(&in->visited, n + 1, sizeof *in->visited));
    LC_TRY(lc_profile_new(&in->life, n + 1));
    return declare(in);
}

static void find_present(struct indicators *in) {
    const struct lc_critical_path *path = in->path;
    for (size_t l = 0; l < in->trace->n_locs; l++) {
        const struct lc_timeline *line = &path->lines->lines[l];
        for (uint32_t k = 0; k < line->n_cnodes; k++)
            in->present[(size_t)line->cnodes[k] * in->n_partitions +
                        in->partition[line->loc->id]] += path->on_path[l][k];
    }
    lc_transport_allreduce_i64(in->trace->comm, in->present, in->trace->n_cnodes * in->n_partitions,
                               LC_OP_SUM);
}

static enum lc_err run(struct indicators *in) {
    const struct lc_transport *comm = in->trace->comm;
    size_t n = in->trace->n_cnodes;
    enum lc_err err = LC_OK;
    for (size_t c = 0; c < n; c++)
        in->length += in->path->total[c];
    if (in->partition != NULL)
        find_present(in);
    for (size_t l = 0; l < in->trace->n_locs && err == LC_OK; l++)
        err = compare_life(in, &in->path->lines->lines[l]);
    LC_TRY(lc_transport_agree(comm, err));
    lc_transport_allreduce_i64(comm, in->life_total, n, LC_OP_SUM);
    lc_transport_allreduce_i64(comm, in->impact, n * N_PARTS * 2, LC_OP_SUM);
    for (uint32_t c = 0; c < n; c++) {
        in->sums->intra += impact_of(in, c, INTRA);
        in->sums->inter += impact_of(in, c, INTER);
    }
    for (size_t l = 0; l < in->trace->n_locs && err == LC_OK; l++)
        err = spread(in, l);
    return lc_transport_agree(comm, err);
}

enum lc_err lc_indicators_run(const struct lc_critical_path *path, const uint32_t *partition,
                              struct lc_results *results, struct lc_indicator_sums *sums) {
    const struct lc_trace *trace = path->lines->trace;
    struct indicators in = {
        .path = path, .trace = trace, .results = results, .sums = sums, .partition = partition};
    *sums = (struct lc_indicator_sums){0};
    enum lc_err err = lc_transport_agree(trace->comm, allocate(&in));
    if (err == LC_OK)
        err = run(&in);
    free(in.life_total);
    free(in.impact);
    free(in.present);
    free(in.visited);
    lc_profile_free(&in.life);
    return err;
}
