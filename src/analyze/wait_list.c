#include "analyze/wait_list.h"

#include "base/mem.h"

enum lc_err lc_wait_add(struct lc_loc *loc, const struct lc_wait *wait) {
    if (loc->n_waits == loc->cap_waits)
        LC_TRY(lc_reserve(&loc->waits, &loc->cap_waits, loc->n_waits + 1, sizeof *loc->waits));
    loc->waits[loc->n_waits++] = *wait;
    return LC_OK;
}

enum lc_err lc_wait_arrived(struct lc_loc *loc, const struct lc_arrival *arrival) {
    if (loc->n_arrivals == loc->cap_arrivals)
        LC_TRY(lc_reserve(&loc->arrivals, &loc->cap_arrivals, loc->n_arrivals + 1,
                          sizeof *loc->arrivals));
    loc->arrivals[loc->n_arrivals++] = *arrival;
    return LC_OK;
}
