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
    /* per exact call path, with what samples found inside: the path, L of all locations, the sum of
     * what is more on the path inside than in the mean, and of one location L and two sums */
    struct whole {
        int64_t path, life_total;
        double above;
        int64_t life, passed, headroom;
    } * whole;
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

static struct whole *whole_of(const struct indicators *in, uint32_t cnode) {
    return &in->whole[in->trace->cnodes[cnode].exact];
}

/* `all` ticks cut in proportion to parts that add up to `sum`: what those up to `passed` get. */
static int64_t passed_of(int64_t all, int64_t passed, int64_t sum) {
    return passed == sum ? all : (int64_t)((double)all * ((double)passed / (double)sum));
}

static bool is_elsewhere(const struct indicators *in, uint32_t location, uint32_t cnode) {
    if (in->partition == NULL)
        return !in->visited[cnode];
    return in->present[(size_t)cnode * in->n_partitions + in->partition[location]] == 0;
}

/* x_p[c] = max(G[c] - L_p[c], 0), scaled so that all of it together is the waiting of the location.
 * Of a call path that samples have divided, what is inside gets it in proportion to its own. */
static void add_headroom(struct indicators *in, uint32_t location, int64_t waiting,
                         int64_t headroom) {
    if (headroom <= 0)
        return;
    double factor = (double)waiting / (double)headroom;
    for (uint32_t c = 0; c < in->trace->n_cnodes; c++) {
        int64_t x = in->path->total[c] - in->life.ticks[c];
        whole_of(in, c)->headroom += in->path->total[c] > 0 && x > 0 ? x : 0;
    }
    for (uint32_t c = 0; c < in->trace->n_cnodes; c++) {
        const struct whole *whole = whole_of(in, c);
        int64_t x = in->path->total[c] - in->life.ticks[c], all = whole->path - whole->life;
        double part = x == whole->headroom ? 1 : (double)x / (double)whole->headroom;
        if (in->path->total[c] > 0 && x > 0 && all > 0)
            add_impact(in, c,
                       is_elsewhere(in, location, in->trace->cnodes[c].exact) ? INTER : INTRA,
                       factor * ((double)all * part));
    }
    for (uint32_t c = 0; c < in->trace->n_cnodes; c++)
        whole_of(in, c)->headroom = 0;
}

static enum lc_err compare_life(struct indicators *in, struct lc_timeline *line) {
    int64_t lived = 0, common = 0;
    profile_life(in, line);
    for (uint32_t i = 0; i < in->life.n_touched; i++)
        whole_of(in, in->life.touched[i])->life += in->life.ticks[in->life.touched[i]];
    for (uint32_t i = 0; i < in->life.n_touched; i++) {
        uint32_t c = in->life.touched[i];
        struct whole *whole = whole_of(in, c);
        int64_t life = in->life.ticks[c];
        int64_t both = whole->life < whole->path ? whole->life : whole->path;
        int64_t on_path = -passed_of(both, whole->passed, whole->life);
        whole->passed += life;
        on_path += passed_of(both, whole->passed, whole->life);
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
    for (uint32_t i = 0; i < in->life.n_touched; i++)
        whole_of(in, in->life.touched[i])->life = whole_of(in, in->life.touched[i])->passed = 0;
    lc_profile_clear(&in->life);
    return LC_OK;
}

/* What the critical path has more than the mean of all locations. */
static double above_mean(const struct indicators *in, int64_t path, int64_t life_total) {
    return (double)path - (double)life_total / (double)in->trace->n_locations;
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
        double above = above_mean(in, path->total[c], in->life_total[c]);
        const struct whole *whole = whole_of(in, c);
        double imbalance = above_mean(in, whole->path, whole->life_total);
        if (above != whole->above) /* samples have divided it */
            imbalance *= above > 0 ? above / whole->above : 0;
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
    LC_TRY(lc_alloc(&in->whole, n + 1, sizeof *in->whole));
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
            in->present[(size_t)in->trace->cnodes[line->cnodes[k]].exact * in->n_partitions +
                        in->partition[line->loc->id]] += path->on_path[l][k];
    }
    lc_transport_allreduce_i64(in->trace->comm, in->present, in->trace->n_cnodes * in->n_partitions,
                               LC_OP_SUM);
}

static enum lc_err run(struct indicators *in) {
    const struct lc_transport *comm = in->trace->comm;
    size_t n = in->trace->n_cnodes;
    enum lc_err err = LC_OK;
    for (uint32_t c = 0; c < n; c++) {
        in->length += in->path->total[c];
        whole_of(in, c)->path += in->path->total[c];
    }
    if (in->partition != NULL)
        find_present(in);
    for (size_t l = 0; l < in->trace->n_locs && err == LC_OK; l++)
        err = compare_life(in, &in->path->lines->lines[l]);
    LC_TRY(lc_transport_agree(comm, err));
    lc_transport_allreduce_i64(comm, in->life_total, n, LC_OP_SUM);
    lc_transport_allreduce_i64(comm, in->impact, n * N_PARTS * 2, LC_OP_SUM);
    for (uint32_t c = 0; c < n; c++)
        whole_of(in, c)->life_total += in->life_total[c];
    for (uint32_t c = 0; c < n; c++) {
        double above = above_mean(in, in->path->total[c], in->life_total[c]);
        whole_of(in, c)->above += in->path->total[c] > 0 && above > 0 ? above : 0;
    }
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
    free(in.whole);
    free(in.impact);
    free(in.present);
    free(in.visited);
    lc_profile_free(&in.life);
    return err;
}
