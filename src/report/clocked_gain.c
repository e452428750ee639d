#include "report/clocked_gain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/chosen_clocks.h"

enum lc_err lc_clocked_gains_read(const struct lc_view *view, struct lc_tsv *gains) {
    const char *data;
    size_t bytes;
    *gains = (struct lc_tsv){0};
    if (lc_cubex_misc(view->cube, "gains.tsv", &data, &bytes) != LC_OK)
        return LC_OK;
    return lc_tsv_parse(gains, data, bytes);
}

static bool is_meant(const struct lc_tsv *gains, size_t row, const char *kind,
                     const struct lc_finding *finding) {
    const char *rank = lc_tsv_cell(gains, row, lc_tsv_column(gains, "late_rank"));
    if (strcmp(lc_tsv_cell(gains, row, lc_tsv_column(gains, "without")), kind) != 0)
        return false;
    return strcmp(kind, "late_rank") != 0 ||
           (finding->n_ranks == 1 && strtol(rank, NULL, 10) == finding->ranks[0]);
}

/* The row of this call path; -1: none. */
static long row_of(const struct lc_search *search, const struct lc_tsv *gains, const char *kind,
                   uint32_t path, const struct lc_finding *finding) {
    int column = lc_tsv_column(gains, "callpath");
    for (size_t row = 0; row < gains->n_rows; row++)
        if (is_meant(gains, row, kind, finding) &&
            lc_view_find(search->view, lc_tsv_cell(gains, row, column)) == path)
            return (long)row;
    return -1;
}

/* Which part of the excess of the code around it a function has; all of it within a tenth, 0: it
 * cannot be told. To remove a part gains at least that part of the gain: what is removed first is
 * on the longest chain. */
static double share_of(double excess_s, double around_s) {
    double part = around_s > 0.0 ? excess_s / around_s : 0.0;
    return part < 0.25 || part > 1.1 ? 0.0 : part < 0.9 ? part : 1.0;
}

bool lc_clocked_gain(const struct lc_search *search, const struct lc_tsv *gains, const char *kind,
                     double excess_s, struct lc_finding *finding) {
    uint32_t path = finding->path;
    long row = -1;
    while (gains->n_rows > 0 && path != LC_NONE &&
           (row = row_of(search, gains, kind, path, finding)) < 0)
        path = search->view->paths[path].parent;
    if (row < 0)
        return false;
    double its = lc_tsv_number(gains, (size_t)row, lc_tsv_column(gains, "excess_seconds"));
    double part = path == finding->path ? 1.0 : share_of(excess_s, its);
    if (part == 0.0)
        return false;
    /* samples miss some of what it worked: where all is taken for its own, so is the rest */
    double whole = part == 1.0 && path != finding->path ? fmax(its / excess_s, 1.0) : 1.0;
    double high = lc_tsv_number(gains, (size_t)row, lc_tsv_column(gains, "most_seconds"));
    double gain = lc_tsv_number(gains, (size_t)row, lc_tsv_column(gains, "seconds"));
    double low = lc_tsv_number(gains, (size_t)row, lc_tsv_column(gains, "least_seconds"));
    if (finding->gain_high_s * whole < high) /* also false where it is not known */
        high = finding->gain_high_s * whole;
    finding->gain_high_s = high;
    finding->gain_s = fmin(gain * part, high);
    finding->gain_low_s = fmin(low * part, finding->gain_s);
    finding->gain_by = "what-if clock of the run without this cause";
    return true;
}

const char *lc_clocked_why_not(const struct lc_search *search) {
    static const char *const whys[LC_CHOSEN_WHYS] = {
        [LC_CHOSEN_CARRIED] = "no what-if clock was carried for most of it",
        [LC_CHOSEN_NONE_WANTED] =
            "no what-if clock was carried, as nothing made others wait for 1 % of the run when "
            "ranks last compared",
        [LC_CHOSEN_FEW_POINTS] = "no what-if clock was carried, as all ranks met in fewer than 4 "
                                 "barriers, allreduces or the like",
        [LC_CHOSEN_NAMED] = "--what-if names the what-if clocks",
        [LC_CHOSEN_THREADS] = "no what-if clock was carried, as a rank has several threads",
        [LC_CHOSEN_APART] = "no what-if clock was carried, as clocks did not travel between nodes",
        [LC_CHOSEN_COSTLY] = "no what-if clock was carried to the end, as that would have taken "
                             "more than 0.5 % of the run",
        [LC_CHOSEN_SWITCHED] =
            "no what-if clock was carried, as measurement was switched on and off",
        [LC_CHOSEN_LOST] = "a rank did not hear in time which what-if clocks the others carried",
        [LC_CHOSEN_NO_ROOM] = "no what-if clock was carried, for want of memory or as nothing was "
                              "measured where ranks compared",
    };
    const char *name = json_string_value(json_object_get(search->pop, "chosen_clocks"));
    enum lc_chosen_clocks why = name != NULL ? lc_chosen_clocks_named(name) : LC_CHOSEN_WHYS;
    return why < LC_CHOSEN_WHYS ? whys[why] : NULL;
}
