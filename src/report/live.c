#include "base/plural.h"
#include "report/live.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sums.h"
#include "report/text_parts.h"

enum { BAR = 40, MOST_LATE = 5, NAME_WIDTH = 70 };
static const double LATE_SHARE = 0.1; /* of an interval; what is less is not told */

static struct lc_live_rank *rank_of(struct lc_live *live, int32_t rank) {
    for (size_t i = live->n_ranks; i > 0; i--) /* locations come rank by rank */
        if (live->ranks[i - 1].rank == rank)
            return &live->ranks[i - 1];
    live->ranks[live->n_ranks].rank = rank;
    return &live->ranks[live->n_ranks++];
}

static void add_locations(struct lc_live *live, const struct lc_view *view,
                          const struct lc_sums *sums) {
    for (uint32_t l = 0; l < view->model->n_locations; l++) {
        if (view->unknown[l])
            continue;
        struct lc_live_rank *rank = rank_of(live, lc_view_rank(view, l));
        rank->time += sums->loc_time[l];
        rank->mpi += sums->loc_mpi[l];
        rank->waiting += sums->loc_waiting[l];
        if (sums->loc_time[l] > live->elapsed)
            live->elapsed = sums->loc_time[l];
    }
}

enum lc_err lc_live_read(struct lc_live *live, struct lc_view *view) {
    struct lc_sums *sums = NULL;
    *live = (struct lc_live){.view = view, .n_unknown = view->n_unknown};
    LC_TRY(lc_alloc(&live->ranks, view->model->n_locations + 1, sizeof *live->ranks));
    LC_TRY(lc_sums_new(&sums, view));
    add_locations(live, view, sums);
    lc_sums_free(sums);
    return lc_late_read(&live->costs, view);
}

static double more(double now, double before) {
    return now > before ? now - before : 0.0;
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

/* ---- who is late: by waits that are over */

/* What this code had cost the others before; lists are of two snapshots of one run. */
static double cost_before(const struct lc_late_list *before, const struct lc_late *late) {
    for (size_t i = 0; i < before->n; i++)
        if (strcmp(before->list[i].rank, late->rank) == 0 &&
            strcmp(before->list[i].thread, late->thread) == 0 &&
            strcmp(before->list[i].path, late->path) == 0)
            return before->list[i].seconds;
    return 0.0;
}

struct blamed { /* a rank */
    int32_t rank;
    double seconds, longest;
    const char *path; /* with the longest part */
};

static int most_seconds_first(const void *a, const void *b) {
    const struct blamed *x = a, *y = b;
    return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds)
                                    : (x->rank > y->rank) - (x->rank < y->rank);
}

static size_t blame_ranks(const struct lc_late_list *now, const struct lc_late_list *before,
                          struct blamed *ranks) {
    size_t n = 0;
    for (size_t i = 0; i < now->n; i++) {
        const struct lc_late *late = &now->list[i];
        double seconds = more(late->seconds, cost_before(before, late));
        int32_t rank = (int32_t)strtol(late->rank, NULL, 10);
        size_t at = 0;
        while (at < n && ranks[at].rank != rank)
            at++;
        if (at == n)
            ranks[n++] = (struct blamed){.rank = rank, .path = ""};
        ranks[at].seconds += seconds;
        if (seconds > ranks[at].longest) {
            ranks[at].longest = seconds;
            ranks[at].path = late->path;
        }
    }
    qsort(ranks, n, sizeof ranks[0], most_seconds_first);
    return n;
}

static enum lc_err find_blamed(struct lc_live *since, const struct lc_live *now,
                               const struct lc_live *before) {
    struct blamed *ranks;
    LC_TRY(lc_alloc(&ranks, now->costs.n + 1, sizeof ranks[0]));
    size_t n = blame_ranks(&now->costs, &before->costs, ranks);
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < n && since->n_late < MOST_LATE && err == LC_OK; i++) {
        if (ranks[i].seconds < LATE_SHARE * since->elapsed)
            break;
        struct lc_live_late *late = &since->late[since->n_late];
        *late = (struct lc_live_late){ranks[i].rank, true, ranks[i].seconds, NULL};
        err = lc_strdup(&late->path, ranks[i].path);
        since->n_late += err == LC_OK;
    }
    free(ranks);
    return err;
}

/* ---- .. and while they last: by less time in MPI than the others */

/* Where outside MPI the ranks of `late` gained most time of their own: path and seconds of each. */
struct longest {
    uint32_t path;
    double seconds;
};

static enum lc_err own_time(const struct lc_live *live, uint32_t path, const struct lc_live *since,
                            double *of_rank, double *row) {
    struct lc_view *view = live->view;
    for (size_t i = 0; i < since->n_late; i++)
        of_rank[i] = 0.0;
    if (path == LC_NONE)
        return LC_OK;
    uint32_t metric = lc_model_find_metric(view->model, "time");
    if (metric == LC_NONE)
        return LC_OK;
    LC_TRY(lc_view_exclusive_row(view, metric, path, row));
    for (uint32_t l = 0; l < view->model->n_locations; l++)
        for (size_t i = 0; i < since->n_late; i++)
            if (!view->unknown[l] && lc_view_rank(view, l) == since->late[i].rank)
                of_rank[i] += row[l];
    return LC_OK;
}

static enum lc_err find_places(const struct lc_live *since, const struct lc_live *now,
                               const struct lc_live *before, struct longest *longest,
                               double *scratch) {
    double *gained = scratch, *earlier = scratch + since->n_late, *row = earlier + since->n_late;
    for (uint32_t p = 0; p < now->view->n_paths; p++) {
        if (now->view->paths[p].mpi)
            continue;
        char *name = lc_view_path(now->view, p);
        if (name == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot build a call path");
        uint32_t then = lc_view_find(before->view, name);
        free(name);
        LC_TRY(own_time(now, p, since, gained, row));
        LC_TRY(own_time(before, then, since, earlier, row));
        for (size_t i = 0; i < since->n_late; i++)
            if (gained[i] - earlier[i] > longest[i].seconds)
                longest[i] = (struct longest){p, gained[i] - earlier[i]};
    }
    return LC_OK;
}

static int least_mpi_first(const void *a, const void *b) {
    const struct lc_live_rank *x = a, *y = b;
    return x->mpi != y->mpi ? (x->mpi > y->mpi) - (x->mpi < y->mpi)
                            : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Ranks that spent at least LATE_SHARE of the interval less in MPI than the mean. */
static enum lc_err choose_late(struct lc_live *since) {
    double mean = 0.0;
    struct lc_live_rank *sorted;
    LC_TRY(lc_alloc(&sorted, since->n_ranks + 1, sizeof *sorted));
    for (size_t i = 0; i < since->n_ranks; i++) {
        sorted[i] = since->ranks[i];
        mean += since->ranks[i].mpi / (double)since->n_ranks;
    }
    qsort(sorted, since->n_ranks, sizeof *sorted, least_mpi_first);
    for (size_t i = 0; i < since->n_ranks && since->n_late < MOST_LATE; i++)
        if (mean - sorted[i].mpi > LATE_SHARE * since->elapsed)
            since->late[since->n_late++] =
                (struct lc_live_late){.rank = sorted[i].rank, .seconds = mean - sorted[i].mpi};
    free(sorted);
    return LC_OK;
}

static enum lc_err find_late(struct lc_live *since, const struct lc_live *now,
                             const struct lc_live *before) {
    struct longest longest[MOST_LATE] = {{0}};
    double *scratch;
    size_t locations = now->view->model->n_locations;
    if (before->view->model->n_locations > locations)
        locations = before->view->model->n_locations;
    LC_TRY(lc_alloc(&since->late, MOST_LATE, sizeof *since->late));
    LC_TRY(find_blamed(since, now, before));
    if (since->n_late > 0)
        return LC_OK;
    LC_TRY(choose_late(since));
    LC_TRY(lc_alloc(&scratch, 2 * MOST_LATE + locations, sizeof *scratch));
    enum lc_err err = find_places(since, now, before, longest, scratch);
    for (size_t i = 0; err == LC_OK && i < since->n_late; i++) {
        since->late[i].path =
            longest[i].seconds > 0.0 ? lc_view_path(now->view, longest[i].path) : strdup("");
        if (since->late[i].path == NULL)
            err = lc_fail(LC_ERR_NOMEM, "memory: cannot build a call path");
    }
    free(scratch);
    return err;
}

enum lc_err lc_live_since(struct lc_live *since, const struct lc_live *now,
                          const struct lc_live *before) {
    *since = (struct lc_live){.elapsed = more(now->elapsed, before->elapsed),
                              .n_unknown = now->n_unknown};
    LC_TRY(lc_alloc(&since->ranks, now->n_ranks + 1, sizeof *since->ranks));
    for (size_t i = 0; i < now->n_ranks; i++) {
        struct lc_live_rank *rank = &since->ranks[since->n_ranks++];
        *rank = now->ranks[i];
        size_t b = i < before->n_ranks && before->ranks[i].rank == rank->rank ? i : 0;
        while (b < before->n_ranks && before->ranks[b].rank != rank->rank)
            b++;
        if (b == before->n_ranks)
            continue;
        rank->time = more(rank->time, before->ranks[b].time);
        rank->mpi = lesser(more(rank->mpi, before->ranks[b].mpi), rank->time);
        rank->waiting = lesser(more(rank->waiting, before->ranks[b].waiting), rank->mpi);
    }
    return find_late(since, now, before);
}

void lc_live_free(struct lc_live *live) {
    for (size_t i = 0; i < live->n_late; i++)
        free(live->late[i].path);
    free(live->late);
    free(live->ranks);
    lc_late_free(&live->costs);
    lc_view_close(live->view);
    *live = (struct lc_live){0};
}

/* Share of the ranks' time that is not spent in MPI; 0 where there is no time. */
static double efficiency_of(const struct lc_live *live) {
    double time = 0.0, mpi = 0.0;
    for (size_t i = 0; i < live->n_ranks; i++) {
        time += live->ranks[i].time;
        mpi += live->ranks[i].mpi;
    }
    return time > mpi ? (time - mpi) / time : 0.0;
}

/* ---- text */

static void print_rank(const struct lc_text *text, const struct lc_live_rank *rank) {
    double time = rank->time > 0.0 ? rank->time : 1.0;
    const double parts[3] = {(rank->time - rank->mpi) / time, (rank->mpi - rank->waiting) / time,
                             rank->waiting / time};
    struct lc_strbuf bar = {0};
    lc_text_put_bar(text, parts, BAR, &bar);
    fprintf(text->out, "%6d  %s  %6.1f %%  %6.1f %%\n", rank->rank,
            lc_strbuf_ok(&bar) ? lc_strbuf_get(&bar) : "", lc_text_share(rank->mpi, time),
            lc_text_share(rank->waiting, time));
    lc_strbuf_free(&bar);
}

static double share_of_waiting(const struct lc_live_rank *rank) {
    return rank->time > 0.0 ? rank->waiting / rank->time : 0.0;
}

static int by_waiting(const void *a, const void *b) {
    double x = share_of_waiting(a), y = share_of_waiting(b);
    int32_t p = ((const struct lc_live_rank *)a)->rank, q = ((const struct lc_live_rank *)b)->rank;
    return x != y ? (x > y) - (x < y) : (p > q) - (p < q);
}

static void print_ranks(const struct lc_text *text, const struct lc_live *since, size_t lines) {
    if (since->n_ranks <= lines) {
        for (size_t i = 0; i < since->n_ranks; i++)
            print_rank(text, &since->ranks[i]);
        return;
    }
    struct lc_live_rank *sorted = malloc(since->n_ranks * sizeof *sorted);
    if (sorted == NULL)
        return;
    memcpy(sorted, since->ranks, since->n_ranks * sizeof *sorted);
    qsort(sorted, since->n_ranks, sizeof *sorted, by_waiting);
    size_t least = (lines - 1) / 2, most = lines - 1 - least;
    for (size_t i = 0; i < least; i++)
        print_rank(text, &sorted[i]);
    fprintf(text->out, "   ...  %zu ranks that wait more than those above, less than those below\n",
            since->n_ranks - least - most);
    for (size_t i = since->n_ranks - most; i < since->n_ranks; i++)
        print_rank(text, &sorted[i]);
    free(sorted);
}

void lc_live_print(const struct lc_live *now, const struct lc_live *since, size_t lines,
                   FILE *out) {
    enum { OTHER_LINES = 6, LEAST_RANKS = 4 };
    struct lc_text text;
    char ran[32], last[32];
    lc_text_begin(&text, out);
    fprintf(out, "%zu rank%s, %s; outside MPI %.1f %% of the time, in the last %s %.1f %%\n",
            now->n_ranks, lc_plural((double)now->n_ranks), lc_text_seconds(now->elapsed, ran),
            100.0 * efficiency_of(now), lc_text_seconds(since->elapsed, last),
            100.0 * efficiency_of(since));
    if (now->n_unknown > 0)
        fprintf(out, "nothing is known yet about %zu thread%s of other ranks\n", now->n_unknown,
                lc_plural((double)now->n_unknown));
    fprintf(out, "%6s  %-*s  %8s  %8s\n", "rank", BAR,
            text.utf8 ? "█ outside MPI ▒ in MPI ░ waiting       "
                      : "# outside MPI + in MPI - waiting",
            "in MPI", "waiting");
    size_t room = lines > OTHER_LINES + LEAST_RANKS + since->n_late
                      ? lines - OTHER_LINES - since->n_late
                      : LEAST_RANKS;
    print_ranks(&text, since, room);
    fprintf(out, since->n_late > 0 ? "late in the last %s:\n" : "nobody was late in the last %s\n",
            last);
    for (size_t i = 0; i < since->n_late; i++) {
        const struct lc_live_late *late = &since->late[i];
        char *path = lc_text_outside(late->path, NAME_WIDTH), seconds[32];
        lc_text_seconds(late->seconds, seconds);
        if (late->waited)
            fprintf(out, "  rank %d: others waited %s for it, most of that while it was in %s\n",
                    late->rank, seconds, path != NULL ? path : "");
        else
            fprintf(out, "  rank %d: %s less in MPI than the mean, longest in %s\n", late->rank,
                    seconds, path != NULL ? path : "");
        free(path);
    }
}

/* ---- JSON */

static json_t *figures(const struct lc_live *live) {
    json_t *ranks = json_array(), *late = json_array();
    for (size_t i = 0; i < live->n_ranks; i++) {
        const struct lc_live_rank *rank = &live->ranks[i];
        json_array_append_new(ranks, json_pack("{s:i, s:f, s:f, s:f}", "rank", (int)rank->rank,
                                               "time_s", rank->time, "mpi_s", rank->mpi,
                                               "waiting_s", rank->waiting));
    }
    for (size_t i = 0; i < live->n_late; i++)
        json_array_append_new(
            late, json_pack("{s:i, s:s, s:f, s:s}", "rank", (int)live->late[i].rank, "callpath",
                            live->late[i].path, "seconds", live->late[i].seconds, "by",
                            live->late[i].waited ? "waiting" : "time in MPI"));
    return json_pack("{s:f, s:f, s:o, s:o}", "elapsed_s", live->elapsed, "efficiency",
                     efficiency_of(live), "ranks", ranks, "late", late);
}

enum lc_err lc_live_json(const struct lc_live *now, const struct lc_live *since, FILE *out) {
    json_t *all = json_pack("{s:o, s:o, s:I}", "run", figures(now), "interval", figures(since),
                            "unknown_threads", (json_int_t)now->n_unknown);
    if (all == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot build the JSON text");
    int failed = json_dumpf(all, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(all);
    if (failed != 0 || fputc('\n', out) == EOF || fflush(out) != 0)
        return lc_fail_errno(LC_ERR_IO, "standard output: cannot be written");
    return LC_OK;
}
