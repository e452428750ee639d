#include "format/pop.h"

#include <math.h>

static double ratio(double above, double below) {
    return below > 0 ? above / below : 1;
}

static struct lc_pop_factors multiplied(double lb, double sere, double te) {
    struct lc_pop_factors f = {
        .load_balance = lb, .serialisation_efficiency = sere, .transfer_efficiency = te};
    f.communication_efficiency = sere * te;
    f.parallel_efficiency = lb * f.communication_efficiency;
    return f;
}

static void deviate(double *worst, double a, double b) {
    double scale = fmax(fabs(a), fabs(b));
    double error = scale > 0 ? fabs(a - b) / scale : 0;
    if (error > *worst)
        *worst = error;
}

/* LB = avg U / max U, SerE = max U / CP, TE = CP / T; the MPI half of each is formed on its own,
 * the OpenMP half is the quotient: MPI LB = (sum n_p m_p / N) / max U     MPI SerE = max CP_p / CP
 * OMP TE = X / T With one thread per process the OpenMP half is 1 by definition. */
static void clocks_dialect(const struct lc_pop_sums *s, struct lc_pop *pop) {
    double average = s->useful_sum / s->n_threads;
    double lb = ratio(average, s->useful_max), sere = ratio(s->useful_max, s->critical_path);
    double te = ratio(s->critical_path, s->elapsed);
    pop->all = multiplied(lb, sere, te);
    if (!s->threads) {
        pop->mpi = pop->all;
        pop->omp = multiplied(1, 1, 1);
        return;
    }
    double mpi_lb = ratio(s->process_max_sum / s->n_threads, s->useful_max);
    double mpi_sere = ratio(s->process_chain_max, s->critical_path);
    double omp_te = ratio(s->outside_omp_max, s->elapsed);
    pop->mpi = multiplied(mpi_lb, mpi_sere, ratio(te, omp_te));
    pop->omp = multiplied(ratio(lb, mpi_lb), ratio(sere, mpi_sere), omp_te);
}

/* Inefficiencies in units of T that add up: 1 - PE = (1 - LB) + (1 - SerE) + (1 - TE). */
static void additive_dialect(const struct lc_pop_sums *s, struct lc_pop_factors *f) {
    double average = s->useful_sum / s->n_threads, t = s->elapsed;
    f->load_balance = 1 - (s->useful_max - average) / t;
    f->serialisation_efficiency = 1 - (s->critical_path - s->useful_max) / t;
    f->transfer_efficiency = s->critical_path / t;
    f->communication_efficiency = f->serialisation_efficiency + f->transfer_efficiency - 1;
    f->parallel_efficiency = f->load_balance + f->communication_efficiency - 1;
}

static void talp_dialect(const struct lc_pop_sums *s, struct lc_pop_talp *f) {
    double t = s->elapsed;
    f->communication_efficiency = (t - s->mpi_min) / t;
    f->load_balance_in = ratio(t - s->mpi_node_min, t - s->mpi_min);
    f->load_balance_out = ratio(t - s->mpi_mean, t - s->mpi_node_min);
    f->parallel_efficiency = f->load_balance_in * f->load_balance_out * f->communication_efficiency;
}

static double identities(const struct lc_pop_sums *s, const struct lc_pop *pop) {
    double worst = 0, pe = s->useful_sum / s->n_threads / s->elapsed;
    const struct lc_pop_factors *a = &pop->all, *m = &pop->mpi, *o = &pop->omp;
    deviate(&worst, a->parallel_efficiency, pe);
    if (s->outside_mpi_sum > 0)
        deviate(&worst, s->outside_mpi_sum / s->n_threads / s->elapsed, pe);
    deviate(&worst, m->parallel_efficiency * o->parallel_efficiency, pe);
    deviate(&worst, m->load_balance * o->load_balance, a->load_balance);
    deviate(&worst, m->communication_efficiency * o->communication_efficiency,
            a->communication_efficiency);
    deviate(&worst, m->serialisation_efficiency * o->serialisation_efficiency,
            a->serialisation_efficiency);
    deviate(&worst, m->transfer_efficiency * o->transfer_efficiency, a->transfer_efficiency);
    deviate(&worst, a->communication_efficiency, ratio(s->useful_max, s->elapsed));
    deviate(&worst, pop->additive.parallel_efficiency, pe);
    deviate(&worst, pop->talp.parallel_efficiency, (s->elapsed - s->mpi_mean) / s->elapsed);
    return worst;
}

bool lc_pop_compute(const struct lc_pop_sums *sums, struct lc_pop *pop) {
    *pop = (struct lc_pop){.all = multiplied(1, 1, 1),
                           .mpi = multiplied(1, 1, 1),
                           .omp = multiplied(1, 1, 1),
                           .additive = multiplied(1, 1, 1),
                           .talp = {1, 1, 1, 1}};
    if (!(sums->elapsed > 0) || !(sums->n_threads > 0) || !(sums->useful_max > 0))
        return false;
    clocks_dialect(sums, pop);
    additive_dialect(sums, &pop->additive);
    talp_dialect(sums, &pop->talp);
    pop->critical_path_s = sums->critical_path;
    pop->task_critical_path_s = sums->task_critical_path;
    pop->task_work_s = sums->tasks ? sums->useful_sum : 0;
    pop->identity_error = identities(sums, pop);
    return true;
}

static void members(const struct lc_pop_factors *f, struct lc_strbuf *out) {
    lc_strbuf_printf(out,
                     "\"parallel_efficiency\": %.17g, \"load_balance\": %.17g, "
                     "\"communication_efficiency\": %.17g, \"serialisation_efficiency\": %.17g, "
                     "\"transfer_efficiency\": %.17g",
                     f->parallel_efficiency, f->load_balance, f->communication_efficiency,
                     f->serialisation_efficiency, f->transfer_efficiency);
}

void lc_pop_factors_json(const char *name, const struct lc_pop_factors *factors,
                         struct lc_strbuf *out) {
    lc_strbuf_printf(out, "\"%s\": {", name);
    members(factors, out);
    lc_strbuf_putc(out, '}');
}

void lc_pop_curve_add(const struct lc_pop *pop, double at_least_s[LC_POP_CURVE]) {
    for (int i = 0; i < LC_POP_CURVE; i++)
        at_least_s[i] += pop->task_work_s > 0
                             ? fmax(pop->task_critical_path_s, pop->task_work_s / (1 << i))
                             : pop->critical_path_s;
}

void lc_pop_curve_json(double work_s, const double at_least_s[LC_POP_CURVE],
                       struct lc_strbuf *out) {
    lc_strbuf_printf(out, ", \"task_work_s\": %.17g, \"task_curve\": [", work_s);
    for (int i = 0; i < LC_POP_CURVE; i++)
        lc_strbuf_printf(out, "%s{\"threads\": %d, \"at_least_s\": %.17g}", i > 0 ? ", " : "",
                         1 << i, at_least_s[i]);
    lc_strbuf_putc(out, ']');
}

void lc_pop_json(const struct lc_pop *pop, struct lc_strbuf *out) {
    lc_strbuf_puts(out, "\"dialect\": \"clocks\", ");
    members(&pop->all, out);
    lc_strbuf_puts(out, ", ");
    lc_pop_factors_json("mpi", &pop->mpi, out);
    lc_strbuf_puts(out, ", ");
    lc_pop_factors_json("omp", &pop->omp, out);
    lc_strbuf_puts(out, ", \"dialects\": {");
    lc_pop_factors_json("additive", &pop->additive, out);
    lc_strbuf_printf(out,
                     ", \"talp\": {\"parallel_efficiency\": %.17g, \"load_balance_in\": %.17g, "
                     "\"load_balance_out\": %.17g, \"communication_efficiency\": %.17g}}",
                     pop->talp.parallel_efficiency, pop->talp.load_balance_in,
                     pop->talp.load_balance_out, pop->talp.communication_efficiency);
    lc_strbuf_printf(out,
                     ", \"critical_path_s\": %.17g, \"task_critical_path_s\": %.17g, "
                     "\"identity_error\": %.17g",
                     pop->critical_path_s, pop->task_critical_path_s, pop->identity_error);
    if (pop->task_work_s > 0) {
        double at_least_s[LC_POP_CURVE] = {0};
        lc_pop_curve_add(pop, at_least_s);
        lc_pop_curve_json(pop->task_work_s, at_least_s, out);
    }
}
