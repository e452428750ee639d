#include "analyze/near_critical.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/place.h"
#include "analyze/radix.h"
#include "analyze/what_if.h"
#include "base/mem.h"

enum { MOST_SEGMENTS = 5000 };

/* Slack per call path over all ranks. */
static enum lc_err sum_slack(const struct lc_critical_path *path, int64_t **slack) {
    const struct lc_trace *trace = path->lines->trace;
    LC_TRY(lc_transport_agree(trace->comm, lc_alloc(slack, trace->n_cnodes + 1, sizeof **slack)));
    for (size_t l = 0; l < trace->n_locs; l++)
        for (uint32_t k = 0; k < path->lines->lines[l].n_cnodes; k++)
            (*slack)[path->lines->lines[l].cnodes[k]] += path->slack[l][k];
    lc_transport_allreduce_i64(trace->comm, *slack, trace->n_cnodes, LC_OP_SUM);
    return LC_OK;
}

static json_t *callpaths_json(const struct lc_critical_path *path, const int64_t *slack) {
    const struct lc_trace *trace = path->lines->trace;
    json_t *list = json_array();
    for (uint32_t c = 0; c < trace->n_cnodes; c++) {
        if (path->total[c] <= 0)
            continue;
        struct lc_strbuf text = {0};
        lc_place_callpath(&text, trace, c);
        json_t *entry = json_object();
        json_object_set_new(entry, "callpath", json_string(lc_strbuf_get(&text)));
        json_object_set_new(entry, "on_path_s", lc_place_seconds(trace, (double)path->total[c]));
        json_object_set_new(entry, "slack_s", lc_place_seconds(trace, (double)slack[c]));
        json_array_append_new(list, entry);
        lc_strbuf_free(&text);
    }
    return list;
}

/* Longest first; of equals the earliest. */
static uint64_t length_key(const void *segments, uint32_t index, int level) {
    const struct lc_segment *s = (const struct lc_segment *)segments + index;
    return level == 0 ? ~(uint64_t)s->number : ~lc_key_signed(s->to - s->from);
}

static uint64_t time_key(const void *segments, uint32_t index, int level) {
    (void)level;
    return ~(uint64_t)((const struct lc_segment *)segments)[index].number;
}

/* The longest MOST_SEGMENTS of a list, longest first. */
static enum lc_err longest_of(const struct lc_segment *segments, size_t n,
                              struct lc_segment **longest, size_t *n_longest) {
    uint32_t *order = NULL;
    *n_longest = n < MOST_SEGMENTS ? n : MOST_SEGMENTS;
    LC_TRY(lc_alloc(longest, *n_longest + 1, sizeof **longest));
    LC_TRY(lc_order_by(&order, segments, n, length_key, 2));
    for (size_t i = 0; i < *n_longest; i++)
        (*longest)[i] = segments[order[i]];
    free(order);
    return LC_OK;
}

/* Rank 0: the longest ones of the path, in order of time. */
static enum lc_err gather_segments(const struct lc_critical_path *path,
                                   struct lc_segment **segments, size_t *n) {
    const struct lc_transport *comm = path->lines->trace->comm;
    struct lc_segment *own = NULL, *all = NULL;
    size_t n_own = 0, bytes = 0;
    enum lc_err err =
        lc_transport_agree(comm, longest_of(path->segments, path->n_own_segments, &own, &n_own));
    if (err == LC_OK)
        err = lc_transport_gather(comm, own, n_own * sizeof *own, (void **)&all, &bytes, NULL);
    if (err == LC_OK && comm->rank == 0)
        err = longest_of(all, bytes / sizeof *all, segments, n);
    if (err == LC_OK)
        err = lc_sort_by(*segments, *n, sizeof **segments, time_key, 1);
    free(own);
    free(all);
    return lc_transport_agree(comm, err);
}

static json_t *segments_json(const struct lc_trace *trace, const struct lc_segment *segments,
                             size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct lc_segment *s = &segments[i];
        if (s->to == s->from)
            continue;
        json_t *entry = json_object();
        lc_place_set(entry, trace, s->location, LC_NONE);
        json_object_set_new(entry, "from_s", lc_place_time(trace, s->from));
        json_object_set_new(entry, "to_s", lc_place_time(trace, s->to));
        json_object_set_new(entry, "slack_s", lc_place_seconds(trace, (double)s->slack));
        json_array_append_new(list, entry);
    }
    return list;
}

enum lc_err lc_near_critical_run(const struct lc_critical_path *path, const char *what_if,
                                 const struct lc_gain_causes *causes, struct lc_strbuf *json,
                                 struct lc_strbuf *lines) {
    const struct lc_trace *trace = path->lines->trace;
    int64_t *slack = NULL;
    struct lc_segment *segments = NULL;
    size_t n = 0;
    json_t *root = NULL;
    LC_TRY(sum_slack(path, &slack));
    enum lc_err err = gather_segments(path, &segments, &n);
    if (err == LC_OK) {
        root = json_object();
        json_object_set_new(root, "from_s", lc_place_time(trace, path->lower));
        json_object_set_new(root, "to_s", lc_place_time(trace, path->upper));
        json_object_set_new(root, "n_segments", json_integer((json_int_t)path->n_segments));
        json_object_set_new(root, "segments", segments_json(trace, segments, n));
        json_object_set_new(root, "callpaths", callpaths_json(path, slack));
        if (what_if != NULL)
            err = lc_what_if_run(path->lines, what_if, root, lines);
        if (err == LC_OK)
            err = lc_gains_run(path->lines, causes, root);
    }
    if (err == LC_OK && trace->comm->rank == 0)
        err = lc_place_dump(json, root);
    else
        json_decref(root);
    free(slack);
    free(segments);
    return lc_transport_agree(trace->comm, err);
}
