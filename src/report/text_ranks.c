/* Time, time in MPI and waiting per location: smallest, mean, largest, and who. */
#include "report/text_parts.h"

static void print_line(const struct lc_text *text, const char *what, const double *values) {
    size_t n = text->view->model->n_locations;
    uint32_t least = LC_NONE, most = LC_NONE;
    double sum = 0.0;
    for (uint32_t l = 0; l < n; l++) {
        if (text->view->unknown[l])
            continue;
        sum += values[l];
        if (least == LC_NONE || values[l] < values[least])
            least = l;
        if (most == LC_NONE || values[l] > values[most])
            most = l;
    }
    if (sum <= 0.0)
        return;
    n -= text->view->n_unknown;
    char low[32], mean[32], high[32], low_who[48], high_who[48];
    lc_text_location(text, least, low_who, sizeof low_who);
    lc_text_location(text, most, high_who, sizeof high_who);
    fprintf(text->out, "  %-14s %9s  %-18s %9s   %9s  %-18s\n", what,
            lc_text_seconds(values[least], low), low_who, lc_text_seconds(sum / (double)n, mean),
            lc_text_seconds(values[most], high), high_who);
}

void lc_text_ranks(const struct lc_text *text) {
    const struct lc_sums *sums = text->sums;
    if (text->view->model->n_locations < 2 || sums->total_time <= 0.0)
        return;
    lc_text_heading(text, lc_text_without_mpi(text) ? "Threads" : "Ranks", NULL);
    fprintf(text->out, "  %-14s %9s  %-18s %9s   %9s\n", "", "least", "", "mean", "most");
    print_line(text, "time", sums->loc_time);
    print_line(text, "in MPI", sums->loc_mpi);
    print_line(text, sums->estimated ? "waiting (est.)" : "waiting", sums->loc_waiting);
}
