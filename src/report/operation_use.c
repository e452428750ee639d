#include "report/operation_use.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/metrics.h"
#include "report/run_info.h"
#include "report/tsv.h"

/* Bytes that are booked for a call of blocks of b bytes. Collectives: what one of p members sends
 * and receives on average, 2 b, 2 p b, (p + 1) b, (p - 1) b (measure/wrappers/coll.h). */
enum traffic {
    OF_ONE,
    OF_ALL,
    OF_LOWER_AND_ITSELF,
    OF_LOWER,
    MESSAGE,   /* b */
    BOTH_WAYS, /* 2 b */
    COMPLETED, /* b received; sends that are completed are not booked */
    NO_TRAFFIC
};

#define COLLECTIVE(name, twin, traffic, uneven)                                                    \
    {"MPI_" #name, NULL, traffic, uneven, false}, {                                                \
        "MPI_" #twin, "MPI_Wait", traffic, uneven, false                                           \
    }
static const struct kind {
    const char *name, *with;
    enum traffic traffic;
    bool uneven; /* blocks may differ, and so do the size classes of the ranks: one mean of all */
    bool pair;
} kinds[] = {COLLECTIVE(Barrier, Ibarrier, OF_ONE, false),
             COLLECTIVE(Bcast, Ibcast, OF_ONE, false),
             COLLECTIVE(Gather, Igather, OF_ONE, false),
             COLLECTIVE(Gatherv, Igatherv, OF_ONE, true),
             COLLECTIVE(Scatter, Iscatter, OF_ONE, false),
             COLLECTIVE(Scatterv, Iscatterv, OF_ONE, true),
             COLLECTIVE(Reduce, Ireduce, OF_ONE, false),
             COLLECTIVE(Allgather, Iallgather, OF_ALL, false),
             COLLECTIVE(Allgatherv, Iallgatherv, OF_ALL, true),
             COLLECTIVE(Alltoall, Ialltoall, OF_ALL, false),
             COLLECTIVE(Alltoallv, Ialltoallv, OF_ALL, true),
             COLLECTIVE(Alltoallw, Ialltoallw, OF_ALL, true),
             COLLECTIVE(Allreduce, Iallreduce, OF_ALL, false),
             COLLECTIVE(Reduce_scatter, Ireduce_scatter, OF_ALL, true),
             COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, OF_ALL, false),
             COLLECTIVE(Scan, Iscan, OF_LOWER_AND_ITSELF, false),
             COLLECTIVE(Exscan, Iexscan, OF_LOWER, false),
             {"MPI_Send", NULL, MESSAGE, false, true},
             {"MPI_Ssend", NULL, MESSAGE, false, true},
             {"MPI_Recv", NULL, MESSAGE, false, true},
             {"MPI_Isend", "MPI_Wait", MESSAGE, false, true},
             {"MPI_Wait", NULL, COMPLETED, false, true},
             {"MPI_Waitall", NULL, COMPLETED, false, false},
             {"MPI_Sendrecv", NULL, BOTH_WAYS, false, false},
             {"MPI_Put", "MPI_Win_flush", MESSAGE, false, true},
             {"MPI_Get", "MPI_Win_flush", MESSAGE, false, true},
             {"MPI_Accumulate", "MPI_Win_flush", MESSAGE, false, true},
             {"MPI_Get_accumulate", "MPI_Win_flush", BOTH_WAYS, false, true},
             {"MPI_Win_fence", NULL, NO_TRAFFIC, false, false},
             {"MPI_Win_lock", "MPI_Win_unlock", NO_TRAFFIC, false, true},
             {"MPI_Win_unlock", "MPI_Win_lock", NO_TRAFFIC, false, true}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int find_kind(const char *name) {
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return k;
    return -1;
}

static bool is_collective(const struct kind *kind) {
    return kind->traffic <= OF_LOWER;
}

static double blocks_of(enum traffic traffic, double members) {
    return traffic == OF_ONE || traffic == BOTH_WAYS ? 2
           : traffic == OF_ALL                       ? 2 * members
           : traffic == OF_LOWER_AND_ITSELF          ? members + 1
           : traffic == OF_LOWER                     ? fmax(members - 1, 1)
                                                     : 1;
}

/* From the bytes that a member sends and receives in a call. With MPI_IN_PLACE it is no partner of
 * its own, and there are fewer: where the mean is below its class without, and in it with, it was
 * in place. */
static void set_bytes(struct lc_operation_use *use, enum traffic traffic, double bytes,
                      int size_class) {
    double p = use->members, block = bytes / blocks_of(traffic, p);
    double least = size_class > 0 ? ldexp(1, size_class - 1) : 0, in_place = block;
    if (p > 1 && (traffic == OF_ALL || traffic == OF_ONE))
        in_place = block * p / (p - 1);
    else if (p > 1 && traffic == OF_LOWER_AND_ITSELF)
        in_place = bytes / (p - 1);
    use->in_place = traffic <= OF_LOWER && llround(block) < least && in_place < 2 * least;
    use->bytes = (uint64_t)llround(use->in_place ? in_place : block);
}

enum { CALLED_MOST = 1 << 20 }; /* more than the library writes */

/* A communicator as the result has it, and what a rank calls it there. */
struct communicator {
    uint32_t *rank, size;
};
struct called {
    uint32_t rank, members, number;
    size_t communicator;
};

/* Behind struct lc_operation_use: what is not for others. */
struct more {
    const struct kind *kind;
    int size_class;
    double bytes;         /* over all calls */
    size_t *communicator; /* [n_groups], where they are known */
    size_t room, group_room;
    bool *taken; /* [n_ranks]: in one of them */
};

struct uses {
    struct lc_view *view;
    uint32_t n_ranks; /* of the program */
    struct lc_operation_use *list;
    size_t n, room;
    struct more *more; /* [n] */
    size_t more_room;
    struct communicator *communicators;
    size_t n_communicators, communicators_room;
    struct called *called; /* ascending */
    size_t n_called, called_room;
};

static int by_caller(const void *a, const void *b) {
    const struct called *x = a, *y = b;
    return x->rank != y->rank         ? (x->rank > y->rank ? 1 : -1)
           : x->members != y->members ? (x->members > y->members ? 1 : -1)
                                      : (x->number > y->number) - (x->number < y->number);
}

/* "0-1,3" -> *rank, in this order; none where one is no rank of the program. */
static enum lc_err parse_ranks(const char *text, uint32_t n_ranks, struct communicator *c) {
    size_t room = 0;
    *c = (struct communicator){0};
    for (const char *at = text; at != NULL && *at != '\0';) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (end != at && *end == '-')
            last = strtoul(end + 1, &end, 10);
        if (end == at || last < first || last >= n_ranks || c->size + (last - first) >= n_ranks ||
            (*end != ',' && *end != '\0')) {
            c->size = 0;
            return LC_OK;
        }
        LC_TRY(lc_grow(&c->rank, &room, c->size + (last - first) + 1, sizeof c->rank[0]));
        for (unsigned long r = first; r <= last; r++)
            c->rank[c->size++] = (uint32_t)r;
        at = *end == ',' ? end + 1 : end;
    }
    return LC_OK;
}

static enum lc_err add_communicator(struct uses *u, const json_t *one) {
    const json_t *numbers = json_object_get(one, "numbers");
    struct communicator c;
    LC_TRY(lc_grow(&u->communicators, &u->communicators_room, u->n_communicators + 1,
                   sizeof u->communicators[0]));
    enum lc_err err = parse_ranks(json_string_value(json_object_get(one, "ranks")), u->n_ranks, &c);
    u->communicators[u->n_communicators++] = c; /* freed with the others */
    LC_TRY(err);
    LC_TRY(lc_grow(&u->called, &u->called_room, u->n_called + c.size, sizeof u->called[0]));
    for (uint32_t i = 0; i < c.size; i++) {
        json_int_t number =
            json_integer_value(json_is_array(numbers) ? json_array_get(numbers, i) : numbers);
        u->called[u->n_called++] = (struct called){.rank = c.rank[i],
                                                   .members = c.size,
                                                   .number = (uint32_t)number,
                                                   .communicator = u->n_communicators - 1};
    }
    return LC_OK;
}

/* Who is in which communicator; a result of an earlier version does not say it. */
static enum lc_err read_communicators(struct uses *u) {
    json_t *meta;
    enum lc_err err = LC_OK;
    LC_TRY(lc_json_meta(u->view, &meta));
    const json_t *list = json_object_get(meta, "communicators");
    for (size_t i = 0; i < json_array_size(list) && u->n_called < CALLED_MOST && err == LC_OK; i++)
        err = add_communicator(u, json_array_get(list, i));
    json_decref(meta);
    if (u->n_called > 1)
        qsort(u->called, u->n_called, sizeof u->called[0], by_caller);
    return err;
}

static size_t find_communicator(const struct uses *u, int32_t rank, uint32_t members,
                                double number) {
    const struct called key = {
        .rank = (uint32_t)rank, .members = members, .number = (uint32_t)number};
    const struct called *found = u->n_called > 0 && rank >= 0 && number > 0 && number < 1e6
                                     ? bsearch(&key, u->called, u->n_called, sizeof key, by_caller)
                                     : NULL;
    return found != NULL ? found->communicator : SIZE_MAX;
}

/* Does the use have this communicator (SIZE_MAX: of unknown ranks), or room for it beside those
 * that it has? Once more is tried where it has not. */
static bool takes(const struct uses *u, size_t use, size_t communicator, bool new_one) {
    const struct more *m = &u->more[use];
    if (communicator == SIZE_MAX)
        return !u->list[use].groups_known;
    if (!u->list[use].groups_known)
        return false;
    for (uint32_t g = 0; g < u->list[use].n_groups && !new_one; g++)
        if (m->communicator[g] == communicator)
            return true;
    const struct communicator *c = &u->communicators[communicator];
    for (uint32_t i = 0; i < c->size && new_one; i++)
        if (m->taken[c->rank[i]])
            return false;
    return new_one;
}

static enum lc_err add_group(struct uses *u, size_t use, size_t communicator) {
    struct lc_operation_use *to = &u->list[use];
    struct more *m = &u->more[use];
    const struct communicator *c = &u->communicators[communicator];
    if (takes(u, use, communicator, false))
        return LC_OK;
    LC_TRY(lc_grow(&m->communicator, &m->room, to->n_groups + 1u, sizeof m->communicator[0]));
    LC_TRY(lc_grow(&to->group, &m->group_room, (to->n_groups + (size_t)1) * c->size,
                   sizeof to->group[0]));
    memcpy(to->group + (size_t)to->n_groups * c->size, c->rank, c->size * sizeof c->rank[0]);
    m->communicator[to->n_groups++] = communicator;
    for (uint32_t i = 0; i < c->size; i++)
        m->taken[c->rank[i]] = true;
    return LC_OK;
}

static enum lc_err new_use(struct uses *u, const char *path, const struct kind *kind,
                           int size_class, uint32_t members, bool known) {
    LC_TRY(lc_grow(&u->list, &u->room, u->n + 1, sizeof u->list[0]));
    LC_TRY(lc_grow(&u->more, &u->more_room, u->n + 1, sizeof u->more[0]));
    u->list[u->n] = (struct lc_operation_use){.operation = kind->name,
                                              .with = kind->with,
                                              .pair = kind->pair,
                                              .members = members,
                                              .group_size = members,
                                              .groups_known = known};
    u->more[u->n] = (struct more){.kind = kind, .size_class = size_class};
    LC_TRY(lc_strdup(&u->list[u->n].path, path));
    u->n++;
    LC_TRY(lc_alloc(&u->more[u->n - 1].taken, u->n_ranks, sizeof(bool)));
    return lc_alloc(&u->list[u->n - 1].rank, u->n_ranks, sizeof(uint32_t));
}

/* That of a call path, class and communicator; made if it is new. */
static enum lc_err find(struct uses *u, const char *path, const struct kind *kind, int size_class,
                        uint32_t members, size_t communicator, size_t *found) {
    bool known = communicator != SIZE_MAX;
    for (int new_one = 0; new_one <= (int)known; new_one++)
        for (*found = u->n; (*found)-- > 0;) { /* a call path has its rows side by side */
            const struct lc_operation_use *use = &u->list[*found];
            if (u->more[*found].size_class == size_class && use->members == members &&
                strcmp(use->path, path) == 0 && takes(u, *found, communicator, new_one != 0))
                return known ? add_group(u, *found, communicator) : LC_OK;
        }
    LC_TRY(new_use(u, path, kind, size_class, members, known));
    *found = u->n - 1;
    return known ? add_group(u, *found, communicator) : LC_OK;
}

static void add_rank(struct lc_operation_use *use, int32_t rank) {
    uint32_t at = use->ranks;
    if (rank < 0)
        return;
    while (at > 0 && use->rank[at - 1] > (uint32_t)rank)
        at--;
    if (at > 0 && use->rank[at - 1] == (uint32_t)rank)
        return;
    memmove(&use->rank[at + 1], &use->rank[at], (use->ranks - at) * sizeof use->rank[0]);
    use->rank[at] = (uint32_t)rank;
    use->ranks++;
}

static uint32_t count_ranks(const struct lc_view *view) {
    int32_t most = 0;
    for (uint32_t l = 0; l < view->model->n_locations; l++)
        most = lc_view_rank(view, l) > most ? lc_view_rank(view, l) : most;
    return (uint32_t)most + 1;
}

static const char *function_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

enum { PATH, LOCATION, CLASS, COUNT, SUM, BYTES, MEMBERS, GROUP, COLUMNS };

/* Is it one that can be measured, and not damaged? Of what completes messages: is a size known? */
static bool is_use(const struct uses *u, const struct lc_tsv *tsv, size_t row,
                   const int columns[COLUMNS], const struct kind *kind) {
    double location = lc_tsv_number(tsv, row, columns[LOCATION]);
    double size_class = lc_tsv_number(tsv, row, columns[CLASS]);
    double members = lc_tsv_number(tsv, row, columns[MEMBERS]);
    bool ours = location >= 0 && location < (double)u->view->model->n_locations &&
                size_class >= 0 && size_class <= 64 && lc_tsv_number(tsv, row, columns[COUNT]) > 0;
    return ours && (is_collective(kind)          ? members >= 1 && members <= 1e6
                    : kind->traffic == COMPLETED ? lc_tsv_number(tsv, row, columns[BYTES]) > 0
                                                 : true);
}

static enum lc_err add_row(struct uses *u, const struct lc_tsv *tsv, size_t row,
                           const int columns[COLUMNS]) {
    const char *path = lc_tsv_cell(tsv, row, columns[PATH]);
    int k = find_kind(function_of(path));
    size_t found;
    if (k < 0 || !is_use(u, tsv, row, columns, &kinds[k]))
        return LC_OK;
    int32_t rank = lc_view_rank(u->view, (uint32_t)lc_tsv_number(tsv, row, columns[LOCATION]));
    int class = kinds[k].uneven ? 0 : (int)lc_tsv_number(tsv, row, columns[CLASS]);
    uint32_t members =
        is_collective(&kinds[k]) ? (uint32_t)lc_tsv_number(tsv, row, columns[MEMBERS]) : 0;
    size_t communicator =
        find_communicator(u, rank, members, lc_tsv_number(tsv, row, columns[GROUP]));
    LC_TRY(find(u, path, &kinds[k], class, members, communicator, &found));
    struct lc_operation_use *use = &u->list[found];
    use->calls += lc_tsv_number(tsv, row, columns[COUNT]);
    use->seconds += lc_tsv_number(tsv, row, columns[SUM]);
    u->more[found].bytes += lc_tsv_number(tsv, row, columns[BYTES]);
    add_rank(use, rank);
    return LC_OK;
}

/* *known: the result has the table, with sizes of communicators. */
static enum lc_err read_classes(struct uses *u, bool *known) {
    static const char *const names[COLUMNS] = {"callpath", "location", "class",   "count",
                                               "sum_s",    "bytes",    "members", "group"};
    const char *data;
    size_t bytes;
    struct lc_tsv tsv;
    int columns[COLUMNS];
    *known = false;
    if (lc_cubex_misc(u->view->cube, "size_classes.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    LC_TRY(lc_tsv_parse(&tsv, data, bytes));
    *known = true;
    for (int c = 0; c < COLUMNS; c++) {
        columns[c] = lc_tsv_column(&tsv, names[c]);
        *known = *known && (columns[c] >= 0 || c == GROUP); /* an earlier version has no groups */
    }
    enum lc_err err = LC_OK;
    for (size_t r = 0; r < tsv.n_rows && *known && err == LC_OK; r++)
        err = add_row(u, &tsv, r, columns);
    lc_tsv_free(&tsv);
    return err;
}

static enum lc_err total_of(struct lc_view *view, const char *metric, uint32_t path,
                            double *total) {
    uint32_t id = lc_model_find_metric(view->model, metric);
    size_t n = view->model->n_locations;
    double *row;
    *total = 0;
    if (id == LC_NONE)
        return LC_OK;
    LC_TRY(lc_alloc(&row, n, sizeof row[0]));
    enum lc_err err = lc_view_row(view, id, path, row);
    for (size_t l = 0; l < n && err == LC_OK; l++)
        *total += row[l];
    free(row);
    return err;
}

/* Without the table: one use for each call path of a collective. */
static enum lc_err read_metrics(struct uses *u) {
    for (uint32_t p = 0; p < u->view->n_paths; p++) {
        int k = find_kind(u->view->paths[p].name);
        double calls, in, out;
        size_t found = 0;
        if (k < 0 || !is_collective(&kinds[k]))
            continue;
        LC_TRY(total_of(u->view, "visits", p, &calls));
        if (!(calls > 0))
            continue;
        char *path = lc_view_path(u->view, p);
        if (path == NULL)
            return lc_fail(LC_ERR_NOMEM, "memory: cannot make a call path");
        enum lc_err err = find(u, path, &kinds[k], 0, u->n_ranks, SIZE_MAX, &found);
        free(path);
        LC_TRY(err);
        LC_TRY(total_of(u->view, "time", p, &u->list[found].seconds));
        LC_TRY(total_of(u->view, "bytes_cin", p, &in));
        LC_TRY(total_of(u->view, "bytes_cout", p, &out));
        u->list[found].calls = calls;
        u->more[found].bytes = in + out;
        for (uint32_t l = 0; l < u->view->model->n_locations; l++)
            add_rank(&u->list[found], lc_view_rank(u->view, l));
    }
    return LC_OK;
}

/* Of the call path, whose time has parts that are no use, too. */
static enum lc_err add_waiting(struct uses *u) {
    for (size_t i = 0; i < u->n; i++) {
        struct lc_operation_use *use = &u->list[i];
        uint32_t path = lc_view_find(u->view, use->path);
        double waiting = 0, seconds = 0, of_uses = 0, more;
        for (const struct lc_waiting_metric *wait = lc_waiting_metrics;
             path != LC_NONE && wait->name != NULL; wait++) {
            LC_TRY(total_of(u->view, wait->name, path, &more));
            waiting += more;
        }
        if (path != LC_NONE)
            LC_TRY(total_of(u->view, "time", path, &seconds));
        for (size_t k = 0; k < u->n; k++)
            if (strcmp(u->list[k].path, use->path) == 0)
                of_uses += u->list[k].seconds;
        seconds = fmax(seconds, of_uses);
        use->waiting = seconds > 0 ? waiting * use->seconds / seconds : 0;
    }
    return LC_OK;
}

/* Of the pairs that one of the callers is in, the one with most messages; without a table the first
 * caller and a rank beside it. */
static void find_pair(const struct uses *u, const struct lc_operation_use *use, const json_t *rows,
                      uint32_t pair[2]) {
    double most = -1;
    pair[0] = use->ranks > 0 ? use->rank[0] : 0;
    pair[1] = use->ranks > 1 ? use->rank[1] : pair[0] + 1;
    if (pair[1] == u->n_ranks) {
        pair[1] = pair[0];
        pair[0] = pair[0] > 0 ? pair[0] - 1 : 0;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        json_int_t rank = json_integer_value(json_array_get(row, 0));
        json_int_t other = json_integer_value(json_array_get(row, 1));
        double messages = json_number_value(json_array_get(row, 3));
        bool calls = false;
        for (uint32_t r = 0; r < use->ranks && !calls; r++)
            calls = use->rank[r] == (uint32_t)rank || use->rank[r] == (uint32_t)other;
        if (!calls || messages <= most || rank == other || rank < 0 || other < 0 ||
            rank >= (json_int_t)u->n_ranks || other >= (json_int_t)u->n_ranks)
            continue;
        most = messages;
        pair[0] = (uint32_t)(rank < other ? rank : other);
        pair[1] = (uint32_t)(rank < other ? other : rank);
    }
}

/* Where it is not known who is in which communicator: such of ranks that follow each other. Where
 * ranks are in several, and their numbers say nothing of how, the first members stand for all. */
static enum lc_err guess_groups(const struct uses *u, struct lc_operation_use *use,
                                const json_t *pairs) {
    uint32_t pair[2];
    if (use->groups_known)
        return LC_OK;
    const uint32_t *rank = use->rank;
    if (use->pair) {
        find_pair(u, use, pairs, pair);
        rank = pair;
        use->members = 2;
    }
    uint32_t n = use->pair ? 2 : use->ranks;
    if (use->members == 0) /* all that call it take part */
        use->members = use->ranks;
    use->n_groups = use->members > 0 && n % use->members == 0 ? n / use->members : 1;
    use->group_size = n < use->members ? n : use->members;
    size_t all = (size_t)use->n_groups * use->group_size;
    LC_TRY(lc_alloc(&use->group, all + 1, sizeof use->group[0]));
    memcpy(use->group, rank, all * sizeof rank[0]);
    return LC_OK;
}

static enum lc_err finish(struct uses *u) {
    const char *data;
    size_t bytes;
    enum lc_err err = LC_OK;
    json_t *pairs = lc_cubex_misc(u->view->cube, "pairs.json", &data, &bytes) == LC_OK
                        ? json_loadb(data, bytes, 0, NULL)
                        : NULL;
    for (size_t i = 0; i < u->n && err == LC_OK; i++) {
        struct lc_operation_use *use = &u->list[i];
        const struct more *m = &u->more[i];
        err = guess_groups(u, use, json_object_get(pairs, "rows"));
        use->sized = m->kind->traffic != NO_TRAFFIC && strstr(use->operation, "arrier") == NULL;
        if (use->calls > 0)
            set_bytes(use, m->kind->traffic, m->bytes / use->calls, m->size_class);
    }
    json_decref(pairs);
    return err;
}

static int by_seconds(const void *a, const void *b) {
    double x = ((const struct lc_operation_use *)a)->seconds,
           y = ((const struct lc_operation_use *)b)->seconds;
    return (x < y) - (x > y);
}

static void free_more(struct uses *u) {
    for (size_t i = 0; i < u->n; i++) {
        free(u->more[i].communicator);
        free(u->more[i].taken);
    }
    free(u->more);
    for (size_t i = 0; i < u->n_communicators; i++)
        free(u->communicators[i].rank);
    free(u->communicators);
    free(u->called);
}

enum lc_err lc_operation_uses(struct lc_view *view, struct lc_operation_use **uses, size_t *n) {
    struct uses u = {.view = view, .n_ranks = count_ranks(view)};
    bool known;
    enum lc_err err = read_communicators(&u);
    if (err == LC_OK)
        err = read_classes(&u, &known);
    if (err == LC_OK && !known)
        err = read_metrics(&u);
    if (err == LC_OK)
        err = add_waiting(&u);
    if (err == LC_OK)
        err = finish(&u);
    if (u.n > 1 && err == LC_OK)
        qsort(u.list, u.n, sizeof u.list[0], by_seconds);
    free_more(&u);
    *uses = u.list;
    *n = u.n;
    return err;
}

void lc_operation_uses_free(struct lc_operation_use *uses, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(uses[i].path);
        free(uses[i].rank);
        free(uses[i].group);
    }
    free(uses);
}
