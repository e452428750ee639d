#include "bench/harness/clock_fit.h"

#include <math.h>
#include <string.h>

#include "base/student.h"

/* LEAST_PINGS: also where they take longer than ASK_NS together, because ranks share cores. */
enum {
    TAG = 0x6c63,
    POINTS = 24,
    PINGS = 12,
    CHECK_PINGS = 100,
    LEAST_PINGS = 6,
    ASK_NS = 20000000,
    PAUSE_NS = 2000000
};

struct point {
    double local, offset, trip;
};

static double now_local(const struct lc_harness_clock *c) {
    return lc_clock_local(c, lc_ticks());
}

/* The fastest of n ping-pongs, as the child sees it; no number ends them. */
static struct point ask(const struct lc_harness_clock *c, int parent, int n) {
    struct point best = {.trip = INFINITY};
    double begin = now_local(c), end = NAN;
    for (int i = 0; i < n && (i < LEAST_PINGS || now_local(c) - begin < ASK_NS); i++) {
        double theirs, before = now_local(c);
        MPI_Send(&before, 1, MPI_DOUBLE, parent, TAG, c->leaders);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, parent, TAG, c->leaders, MPI_STATUS_IGNORE);
        double after = now_local(c), middle = (before + after) / 2;
        if (after - before < best.trip)
            best = (struct point){middle, theirs - middle, after - before};
    }
    MPI_Send(&end, 1, MPI_DOUBLE, parent, TAG, c->leaders);
    return best;
}

static void answer(const struct lc_harness_clock *c, int child) {
    for (;;) {
        double theirs;
        MPI_Recv(&theirs, 1, MPI_DOUBLE, child, TAG, c->leaders, MPI_STATUS_IGNORE);
        if (isnan(theirs))
            break;
        double mine = lc_clock_global(c, lc_ticks());
        MPI_Send(&mine, 1, MPI_DOUBLE, child, TAG, c->leaders);
    }
}

/* Least squares over the points with short trips. */
static struct lc_clock_model fit_line(const struct point *points) {
    double best = INFINITY, n = 0, time = 0, offset = 0, tt = 0, to = 0, rest = 0;
    struct lc_clock_model m = {0};
    for (int i = 0; i < POINTS; i++)
        best = fmin(best, points[i].trip);
    for (int i = 0; i < POINTS; i++)
        if (points[i].trip <= 2 * best) {
            n++;
            time += points[i].local;
            offset += points[i].offset;
            m.half_trip = fmax(m.half_trip, points[i].trip / 2);
        }
    m.at = time / n;
    m.offset = offset / n;
    for (int i = 0; i < POINTS; i++)
        if (points[i].trip <= 2 * best) {
            tt += pow(points[i].local - m.at, 2);
            to += (points[i].local - m.at) * (points[i].offset - m.offset);
        }
    if (n < 3) { /* no line through so few */
        m.var_drift = 1e-8;
        return m;
    }
    m.drift = to / tt;
    for (int i = 0; i < POINTS; i++)
        if (points[i].trip <= 2 * best)
            rest += pow(points[i].offset - m.offset - m.drift * (points[i].local - m.at), 2);
    /* few points tell little of their own scatter: Student's t takes the place of three sigma */
    double wider = lc_student_quantile(0.9973, n - 2) / 3;
    m.var_offset = wider * wider * rest / (n - 2) / n;
    m.var_drift = wider * wider * rest / (n - 2) / tt;
    return m;
}

static void fit_child(struct lc_harness_clock *c, int parent) {
    struct point points[POINTS];
    double theirs[4];
    for (int i = 0; i < POINTS; i++) {
        points[i] = ask(c, parent, PINGS);
        for (double until = now_local(c) + PAUSE_NS; now_local(c) < until;)
            ;
    }
    MPI_Recv(theirs, 4, MPI_DOUBLE, parent, TAG, c->leaders, MPI_STATUS_IGNORE);
    c->model = fit_line(points);
    c->model.half_trip += theirs[0];
    c->model.var_offset += theirs[1];
    c->model.var_drift += theirs[2];
    c->model.oldest = theirs[3];
}

static void fit_parent(const struct lc_harness_clock *c, int child) {
    double mine[4] = {c->model.half_trip, c->model.var_offset, c->model.var_drift, c->model.oldest};
    for (int i = 0; i < POINTS; i++)
        answer(c, child);
    MPI_Send(mine, 4, MPI_DOUBLE, child, TAG, c->leaders);
}

static void fit(struct lc_harness_clock *c) {
    double shared[7] = {0};
    c->model.oldest = lc_clock_global(c, lc_ticks());
    if (c->leaders != MPI_COMM_NULL && c->n_leaders > 1) {
        int me;
        MPI_Comm_rank(c->leaders, &me);
        for (int step = 1; step < c->n_leaders; step *= 2) {
            if (me >= step && me < 2 * step)
                fit_child(c, me - step);
            else if (me < step && me + step < c->n_leaders)
                fit_parent(c, me + step);
        }
    }
    memcpy(shared, &c->model, sizeof shared);
    MPI_Bcast(shared, 7, MPI_DOUBLE, 0, c->node);
    memcpy(&c->model, shared, sizeof shared);
}

void lc_clock_check(const struct lc_harness_clock *c, struct lc_clock_checked *checked) {
    double shared[3] = {0, 0, now_local(c)}; /* residual, error, local time of the measurement */
    if (c->leaders != MPI_COMM_NULL && c->n_leaders > 1) {
        int me;
        MPI_Comm_rank(c->leaders, &me);
        if (me > 0) /* all against the root, one after the other: errors do not add up */
            MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, c->leaders, MPI_STATUS_IGNORE);
        for (int child = 1; me == 0 && child < c->n_leaders; child++) {
            MPI_Send(NULL, 0, MPI_BYTE, child, TAG, c->leaders);
            answer(c, child);
        }
        if (me > 0) {
            struct point p = ask(c, 0, CHECK_PINGS);
            shared[0] = p.local + p.offset - lc_clock_global_of(c, p.local);
            shared[1] = p.trip / 2;
            shared[2] = p.local;
        }
    }
    MPI_Bcast(shared, 3, MPI_DOUBLE, 0, c->node);
    double at_ns = lc_clock_global_of(c, shared[2]);
    double truth = lc_timer_bent(&c->bend_of_root, lc_timer_straight(&c->bend, shared[2]));
    *checked = (struct lc_clock_checked){.at_ns = at_ns,
                                         .residual_ns = shared[0],
                                         .error_ns = shared[1],
                                         .truth_ns = at_ns + shared[0] - truth};
}

double lc_clock_error(const struct lc_harness_clock *c, double global_ns) {
    double since = global_ns - c->model.oldest;
    return c->model.half_trip + 3 * sqrt(c->model.var_offset + c->model.var_drift * since * since);
}

uint64_t lc_clock_ticks_at(const struct lc_harness_clock *c, double global_ns) {
    const struct lc_clock_model *m = &c->model;
    double local = (global_ns - m->offset + m->drift * m->at) / (1 + m->drift);
    double raw = lc_timer_straight(&c->bend, local);
    return c->base_ticks + (uint64_t)(int64_t)llround(raw / c->ns_per_tick);
}

/* Counter and rate of the lowest rank of the node hold for all of it. */
static void share_counter(struct lc_harness_clock *c) {
    struct {
        uint64_t ticks;
        double rate;
    } counter = {lc_timer.base_ticks, lc_timer.ns_per_tick};
    MPI_Comm machine;
    MPI_Comm_split_type(c->own->comm, MPI_COMM_TYPE_SHARED, c->own->rank, MPI_INFO_NULL, &machine);
    MPI_Bcast(&counter, (int)sizeof counter, MPI_BYTE, 0, machine);
    c->base_ticks = counter.ticks;
    c->ns_per_tick = counter.rate;
    int bent = c->bend.offset_ns != 0 || c->bend.drift != 0 || c->bend.curve_per_ns != 0;
    MPI_Allreduce(MPI_IN_PLACE, &bent, 1, MPI_INT, MPI_MAX, c->own->comm);
    if (bent)
        MPI_Comm_split(machine, c->own->rank, 0, &c->node);
    else
        MPI_Comm_dup(machine, &c->node);
    MPI_Comm_free(&machine);
}

void lc_clock_begin(struct lc_harness_clock *c, const struct lc_own *own) {
    int place;
    *c = (struct lc_harness_clock){.own = own};
    lc_timer_calibrate();
    lc_timer_bend_get(&c->bend);
    c->bend_of_root = c->bend;
    MPI_Bcast(&c->bend_of_root, (int)sizeof c->bend_of_root, MPI_BYTE, 0, own->comm);
    share_counter(c);
    MPI_Comm_rank(c->node, &place);
    MPI_Comm_split(own->comm, place == 0 ? 0 : MPI_UNDEFINED, own->rank, &c->leaders);
    if (c->leaders != MPI_COMM_NULL)
        MPI_Comm_size(c->leaders, &c->n_leaders);
    MPI_Bcast(&c->n_leaders, 1, MPI_INT, 0, c->node);
    fit(c);
}

void lc_clock_end(struct lc_harness_clock *c) {
    if (c->leaders != MPI_COMM_NULL)
        MPI_Comm_free(&c->leaders);
    MPI_Comm_free(&c->node);
}
