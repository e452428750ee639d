#include "run/estimate.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "format/mpi_function.h"

const char *const lc_estimate_metrics[] = {
    "mpi_latesender_estimated",    "mpi_latereceiver_estimated",
    "mpi_wait_nxn_estimated",      "mpi_barrier_wait_estimated",
    "mpi_latebroadcast_estimated", "mpi_earlyreduce_estimated",
    "mpi_waitall_estimated",       NULL,
};
enum { LATE_SENDER, LATE_RECEIVER, NXN, BARRIER, LATE_BROADCAST, EARLY_REDUCE, WAIT_SEVERAL };
/* Ways: a wait function has a minimum as receiver and one as sender. Minima are kept per process in
 * blocks of neighbouring ones, and only where a call was seen: memory grows with the number of
 * (function, size of communicator, way, size class, process) that occur. */
enum { N_CLASSES = 66, WAYS = 2, BLOCK = 64 };

struct cell {
    uint64_t min_ns; /* UINT64_MAX: no call */
    uint64_t count;
};

/* One function, way and size class. */
struct column {
    struct cell all;      /* over all processes */
    struct cell **blocks; /* [process / BLOCK][process % BLOCK]; NULL: no call */
};

/* Of calls on communicators of one size (collectives; else 0). */
struct function {
    uint32_t name, members;
    uint32_t next; /* the same function with other communicators; LC_NONE: no more */
    struct column *columns[WAYS][N_CLASSES]; /* NULL: no call */
};

struct lc_minima {
    struct lc_mpi_function *facts; /* by name of raw */
    uint32_t *slot_of; /* name -> the last one among the functions that were seen, or LC_NONE */
    struct function *functions;
    size_t n_names, n_functions, cap_functions;
    const struct lc_raw *defs;
    uint32_t *process_of; /* location -> process; processes are ranks in order of appearance */
    int32_t *rank_of;     /* process -> rank */
    size_t n_processes;
};

static size_t n_blocks(const struct lc_minima *m) {
    return (m->n_processes + BLOCK - 1) / BLOCK;
}

/* NULL: no call. */
static const struct cell *cell_at(const struct lc_minima *m, const struct column *column,
                                  size_t process) {
    if (process == m->n_processes)
        return &column->all;
    const struct cell *block = column->blocks[process / BLOCK];
    return block != NULL && block[process % BLOCK].count > 0 ? &block[process % BLOCK] : NULL;
}

static enum lc_err number_processes(struct lc_minima *m) {
    struct lc_idmap known = {0};
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < m->defs->n_locations && err == LC_OK; i++) {
        int32_t rank = m->defs->locations[i].rank;
        uint32_t p = lc_idmap_get(&known, (uint32_t)rank);
        if (p == LC_NONE) {
            p = (uint32_t)m->n_processes++;
            m->rank_of[p] = rank;
            err = lc_idmap_put(&known, (uint32_t)rank, p);
        }
        m->process_of[i] = p;
    }
    lc_idmap_free(&known);
    return err;
}

enum lc_err lc_minima_new(struct lc_minima **minima, const struct lc_raw *defs) {
    struct lc_minima *m;
    *minima = NULL;
    LC_TRY(lc_alloc(&m, 1, sizeof *m));
    m->defs = defs;
    m->n_names = defs->n_names;
    enum lc_err err = lc_alloc(&m->facts, defs->n_names + 1, sizeof m->facts[0]);
    if (err == LC_OK)
        err = lc_alloc(&m->slot_of, defs->n_names + 1, sizeof m->slot_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&m->process_of, defs->n_locations + 1, sizeof m->process_of[0]);
    if (err == LC_OK)
        err = lc_alloc(&m->rank_of, defs->n_locations + 1, sizeof m->rank_of[0]);
    if (err == LC_OK)
        err = number_processes(m);
    if (err != LC_OK) {
        lc_minima_free(m);
        return err;
    }
    for (size_t i = 0; i < defs->n_names; i++) {
        m->facts[i] = *lc_mpi_find(defs->names[i]);
        m->slot_of[i] = LC_NONE;
    }
    *minima = m;
    return LC_OK;
}

static void free_column(const struct lc_minima *m, struct column *column) {
    if (column == NULL)
        return;
    for (size_t b = 0; column->blocks != NULL && b < n_blocks(m); b++)
        free(column->blocks[b]);
    free(column->blocks);
    free(column);
}

void lc_minima_free(struct lc_minima *m) {
    if (m == NULL)
        return;
    for (size_t f = 0; f < m->n_functions; f++)
        for (int way = 0; way < WAYS; way++)
            for (int s = 0; s < N_CLASSES; s++)
                free_column(m, m->functions[f].columns[way][s]);
    free(m->functions);
    free(m->facts);
    free(m->slot_of);
    free(m->process_of);
    free(m->rank_of);
    free(m);
}

static uint32_t members_of(const struct lc_raw_row *row) {
    return row->flags >> LC_RAW_ROW_COMM_SHIFT & LC_RAW_COMM_MOST;
}

int lc_estimate_of(const struct lc_minima *m, uint32_t name, const struct lc_raw_row *row) {
    bool root = (row->flags & LC_RAW_ROW_ROOT) != 0;
    if (row->size_class >= N_CLASSES || row->count == 0)
        return -1;
    if (members_of(row) == 1) /* nobody waits for oneself */
        return -1;
    switch (m->facts[name].wait) {
    case LC_MPI_WAIT_LATE_SENDER:
        return LATE_SENDER;
    case LC_MPI_WAIT_LATE_RECEIVER:
        return LATE_RECEIVER;
    /* a call has one wait state at most: who waits for both waits for the message */
    case LC_MPI_WAIT_COMPLETION:
        if (row->flags & LC_RAW_ROW_RECV)
            return LATE_SENDER;
        return row->flags & LC_RAW_ROW_SEND ? LATE_RECEIVER : -1;
    case LC_MPI_WAIT_COMPLETIONS:
        return row->flags & (LC_RAW_ROW_RECV | LC_RAW_ROW_SEND) ? WAIT_SEVERAL : -1;
    case LC_MPI_WAIT_NXN:
        return NXN;
    case LC_MPI_WAIT_BARRIER:
        return BARRIER;
    case LC_MPI_WAIT_LATE_BROADCAST:
        return root ? -1 : LATE_BROADCAST;
    case LC_MPI_WAIT_EARLY_REDUCE:
        return root ? EARLY_REDUCE : -1;
    default:
        return -1;
    }
}

static void see(struct cell *cell, const struct lc_raw_row *row) {
    if (row->min_ns < cell->min_ns)
        cell->min_ns = row->min_ns;
    cell->count += row->count;
}

/* NULL: not seen. */
static struct function *known_function(const struct lc_minima *m, uint32_t name, uint32_t members) {
    uint32_t slot = m->slot_of[name];
    while (slot != LC_NONE && m->functions[slot].members != members)
        slot = m->functions[slot].next;
    return slot != LC_NONE ? &m->functions[slot] : NULL;
}

static enum lc_err find_function(struct lc_minima *m, uint32_t name, uint32_t members,
                                 struct function **function) {
    *function = known_function(m, name, members);
    if (*function != NULL)
        return LC_OK;
    LC_TRY(lc_grow(&m->functions, &m->cap_functions, m->n_functions + 1, sizeof m->functions[0]));
    *function = &m->functions[m->n_functions];
    **function = (struct function){.name = name, .members = members, .next = m->slot_of[name]};
    m->slot_of[name] = (uint32_t)m->n_functions++;
    return LC_OK;
}

/* Sending waits have a minimum of their own. */
static int way_of(int metric, const struct lc_raw_row *row) {
    return metric == LATE_RECEIVER || (metric == WAIT_SEVERAL && !(row->flags & LC_RAW_ROW_RECV));
}

static enum lc_err make_column(const struct lc_minima *m, struct column **column) {
    LC_TRY(lc_alloc(column, 1, sizeof **column));
    (*column)->all.min_ns = UINT64_MAX;
    return lc_alloc(&(*column)->blocks, n_blocks(m), sizeof(*column)->blocks[0]);
}

static enum lc_err make_block(struct cell **block) {
    LC_TRY(lc_alloc(block, BLOCK, sizeof **block));
    for (size_t i = 0; i < BLOCK; i++)
        (*block)[i].min_ns = UINT64_MAX;
    return LC_OK;
}

enum lc_err lc_minima_see(struct lc_minima *m, uint32_t name, const struct lc_raw_row *row) {
    int metric = lc_estimate_of(m, name, row);
    struct function *function;
    if (metric < 0)
        return LC_OK;
    LC_TRY(find_function(m, name, members_of(row), &function));
    struct column **column = &function->columns[way_of(metric, row)][row->size_class];
    if (*column == NULL)
        LC_TRY(make_column(m, column));
    see(&(*column)->all, row);
    uint32_t process = m->process_of[row->location];
    struct cell **block = &(*column)->blocks[process / BLOCK];
    if (*block == NULL)
        LC_TRY(make_block(block));
    see(&(*block)[process % BLOCK], row);
    return LC_OK;
}

double lc_minima_wait(const struct lc_minima *m, uint32_t name, const struct lc_raw_row *row) {
    int metric = lc_estimate_of(m, name, row);
    if (metric < 0)
        return 0.0;
    bool local = metric == LATE_SENDER || metric == LATE_RECEIVER || metric == WAIT_SEVERAL;
    size_t place = local ? m->process_of[row->location] : m->n_processes;
    const struct function *function = known_function(m, name, members_of(row));
    const struct cell *cell =
        cell_at(m, function->columns[way_of(metric, row)][row->size_class], place);
    double wait_ns = (double)row->sum_ns - (double)row->count * (double)cell->min_ns;
    return wait_ns > 0.0 ? wait_ns * 1e-9 : 0.0; /* rows of a running program may be half booked */
}

/* The largest distance of a process's minimum to that of all, and what all of them sum up to. */
struct hidden {
    double hidden_s, above_s;
    int32_t rank;
};

static void add_hidden(const struct lc_minima *m, const struct column *column, size_t process,
                       struct hidden *h) {
    const struct cell *own = cell_at(m, column, process);
    if (own == NULL)
        return;
    double above = (double)(own->min_ns - column->all.min_ns) * 1e-9;
    h->hidden_s += above * (double)own->count;
    if (above > h->above_s || h->rank < 0) {
        h->above_s = above;
        h->rank = m->rank_of[process];
    }
}

void lc_minima_describe(const struct lc_minima *m, struct lc_strbuf *json) {
    bool first = true;
    lc_strbuf_puts(json, "{");
    for (size_t f = 0; f < m->n_functions; f++) {
        const struct function *function = &m->functions[f];
        if (!lc_mpi_estimated_locally(&m->facts[function->name]))
            continue; /* the minimum is that of all processes already, or no measure */
        const struct column *used[WAYS * N_CLASSES];
        size_t n_used = 0;
        for (int way = 0; way < WAYS; way++)
            for (int s = 0; s < N_CLASSES; s++)
                if (function->columns[way][s] != NULL)
                    used[n_used++] = function->columns[way][s];
        struct hidden h = {.rank = -1};
        for (size_t p = 0; p < m->n_processes; p++)
            for (size_t i = 0; i < n_used; i++)
                add_hidden(m, used[i], p, &h);
        lc_strbuf_printf(
            json, "%s\"%s\": {\"hidden_at_most_s\": %.17g, \"above_s\": %.17g, \"rank\": %d}",
            first ? "" : ", ", m->defs->names[function->name], h.hidden_s, h.above_s, h.rank);
        first = false;
    }
    lc_strbuf_puts(json, "}");
}
