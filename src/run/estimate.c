#include "run/estimate.h"

#include <stdlib.h>

#include <stdbool.h>

#include "base/mem.h"
#include "run/functions.h"

const char *const lc_estimate_metrics[] = {
    "mpi_latesender_estimated",
    "mpi_latereceiver_estimated",
    "mpi_wait_nxn_estimated",
    "mpi_barrier_wait_estimated",
    "mpi_latebroadcast_estimated",
    "mpi_earlyreduce_estimated",
    NULL,
};
enum { LATE_SENDER, LATE_RECEIVER, NXN, BARRIER, LATE_BROADCAST, EARLY_REDUCE };
enum {
    N_CLASSES = 66,
    WAYS = 2
}; /* ways: a wait function has a minimum as receiver and one as sender */

struct cell {
    uint64_t min_ns; /* UINT64_MAX: no call */
    uint64_t count;
};

struct lc_minima {
    struct lc_function_class *functions; /* by name of raw */
    uint32_t *slot_of; /* name -> number among the functions that were seen, or LC_NONE */
    uint32_t *names;   /* slot -> name */
    size_t n_names, n_slots;
    const struct lc_raw *defs;
    uint32_t *process_of; /* location -> process; processes are ranks in order of appearance */
    int32_t *rank_of;     /* process -> rank */
    size_t n_processes;
    struct cell *cells; /* [slot][process + all][way][class] */
    size_t n_cells, cap_cells;
};

static struct cell *cell_at(const struct lc_minima *m, uint32_t slot, size_t process, int way,
                            uint32_t size_class) {
    size_t row = (slot * (m->n_processes + 1) + process) * WAYS + (size_t)way;
    return &m->cells[row * N_CLASSES + size_class];
}

enum lc_err lc_minima_new(struct lc_minima **minima, const struct lc_raw *defs) {
    struct lc_minima *m;
    *minima = NULL;
    LC_TRY(lc_alloc(&m, 1, sizeof *m));
    m->defs = defs;
    m->n_names = defs->n_names;
    enum lc_err err = lc_alloc(&m->functions, defs->n_names + 1, sizeof m->functions[0]);
    if (err == LC_OK)
        err = lc_alloc(&m->slot_of, defs->n_names + 1, sizeof m->slot_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&m->names, defs->n_names + 1, sizeof m->names[0]);
    if (err == LC_OK)
        err = lc_alloc(&m->process_of, defs->n_locations + 1, sizeof m->process_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&m->rank_of, defs->n_locations + 1, sizeof m->rank_of[0]);
    if (err != LC_OK) {
        lc_minima_free(m);
        return err;
    }
    for (size_t i = 0; i < defs->n_names; i++) {
        m->functions[i] = lc_function_classify(defs->names[i]);
        m->slot_of[i] = LC_NONE;
    }
    for (size_t i = 0; i < defs->n_locations; i++) {
        /* Threads of a rank usually follow each other. */
        int32_t rank = defs->locations[i].rank;
        size_t p = m->n_processes;
        while (p > 0 && m->rank_of[p - 1] != rank)
            p--;
        if (p == 0) {
            m->rank_of[m->n_processes++] = rank;
            p = m->n_processes;
        }
        m->process_of[i] = (uint32_t)p - 1;
    }
    *minima = m;
    return LC_OK;
}

void lc_minima_free(struct lc_minima *m) {
    if (m == NULL)
        return;
    free(m->functions);
    free(m->slot_of);
    free(m->names);
    free(m->process_of);
    free(m->rank_of);
    free(m->cells);
    free(m);
}

int lc_estimate_of(const struct lc_minima *m, uint32_t name, const struct lc_raw_row *row) {
    bool root = (row->flags & LC_RAW_ROW_ROOT) != 0;
    if (row->size_class >= N_CLASSES || row->count == 0)
        return -1;
    switch (m->functions[name].estimate) {
    case LC_EST_LATE_SENDER:
        return LATE_SENDER;
    case LC_EST_LATE_RECEIVER:
        return LATE_RECEIVER;
    case LC_EST_WAIT: /* a call has one wait state at most: who waits for both waits for the message
                       */
        if (row->flags & LC_RAW_ROW_RECV)
            return LATE_SENDER;
        return row->flags & LC_RAW_ROW_SEND ? LATE_RECEIVER : -1;
    case LC_EST_NXN:
        return NXN;
    case LC_EST_BARRIER:
        return BARRIER;
    case LC_EST_LATE_BROADCAST:
        return root ? -1 : LATE_BROADCAST;
    case LC_EST_EARLY_REDUCE:
        return root ? EARLY_REDUCE : -1;
    default:
        return -1;
    }
}

static enum lc_err make_slot(struct lc_minima *m, uint32_t name) {
    size_t per_slot = (m->n_processes + 1) * WAYS * N_CLASSES;
    LC_TRY(lc_grow(&m->cells, &m->cap_cells, m->n_cells + per_slot, sizeof m->cells[0]));
    for (size_t i = 0; i < per_slot; i++)
        m->cells[m->n_cells + i] = (struct cell){.min_ns = UINT64_MAX};
    m->n_cells += per_slot;
    m->names[m->n_slots] = name;
    m->slot_of[name] = (uint32_t)m->n_slots++;
    return LC_OK;
}

enum lc_err lc_minima_see(struct lc_minima *m, uint32_t name, const struct lc_raw_row *row) {
    int metric = lc_estimate_of(m, name, row);
    if (metric < 0)
        return LC_OK;
    if (m->slot_of[name] == LC_NONE)
        LC_TRY(make_slot(m, name));
    int way = metric == LATE_RECEIVER;
    size_t places[2] = {m->process_of[row->location], m->n_processes};
    for (int i = 0; i < 2; i++) {
        struct cell *cell = cell_at(m, m->slot_of[name], places[i], way, row->size_class);
        if (row->min_ns < cell->min_ns)
            cell->min_ns = row->min_ns;
        cell->count += row->count;
    }
    return LC_OK;
}

double lc_minima_wait(const struct lc_minima *m, uint32_t name, const struct lc_raw_row *row) {
    int metric = lc_estimate_of(m, name, row);
    if (metric < 0)
        return 0.0;
    size_t place = metric == LATE_SENDER || metric == LATE_RECEIVER ? m->process_of[row->location]
                                                                    : m->n_processes;
    const struct cell *cell =
        cell_at(m, m->slot_of[name], place, metric == LATE_RECEIVER, row->size_class);
    double wait_ns = (double)row->sum_ns - (double)row->count * (double)cell->min_ns;
    return wait_ns > 0.0 ? wait_ns * 1e-9 : 0.0; /* rows of a running program may be half booked */
}

void lc_minima_describe(const struct lc_minima *m, struct lc_strbuf *json) {
    bool first = true;
    lc_strbuf_puts(json, "{");
    for (uint32_t slot = 0; slot < m->n_slots; slot++) {
        enum lc_estimate kind = m->functions[m->names[slot]].estimate;
        if (kind >= LC_EST_NXN)
            continue; /* the minimum is that of all processes already */
        double hidden_s = 0.0, above_s = 0.0;
        int32_t rank = -1;
        for (size_t p = 0; p < m->n_processes; p++)
            for (int way = 0; way < WAYS; way++)
                for (uint32_t s = 0; s < N_CLASSES; s++) {
                    const struct cell *own = cell_at(m, slot, p, way, s);
                    const struct cell *all = cell_at(m, slot, m->n_processes, way, s);
                    if (own->count == 0)
                        continue;
                    double above = (double)(own->min_ns - all->min_ns) * 1e-9;
                    hidden_s += above * (double)own->count;
                    if (above > above_s || rank < 0) {
                        above_s = above;
                        rank = m->rank_of[p];
                    }
                }
        lc_strbuf_printf(
            json, "%s\"%s\": {\"hidden_at_most_s\": %.17g, \"above_s\": %.17g, \"rank\": %d}",
            first ? "" : ", ", m->defs->names[m->names[slot]], hidden_s, above_s, rank);
        first = false;
    }
    lc_strbuf_puts(json, "}");
}
