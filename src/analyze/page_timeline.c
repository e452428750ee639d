/* Rows of the timeline: shares of bins of equal width, by what a location does. A share is kept as
 * n / 255, rounded; every zoom level of the page is a sum of these bins. */
#include "analyze/page_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/page_matrices.h"
#include "analyze/page_parts.h"
#include "analyze/page_windows.h"
#include "base/json_text.h"
#include "base/mem.h"

/* What a location does; the rest of a bin is outside of its life. */
enum activity { USEFUL, P2P, COLLECTIVE, OTHER_MPI, OPENMP, WAITING, ACTIVITIES };
static const char activity_names[] = "[\"useful\",\"mpi_p2p\",\"mpi_collective\",\"mpi_other\","
                                     "\"openmp\",\"waiting\"]";

/* Cells (row x bin) of the whole timeline, and rows of it. */
enum { MOST_CELLS = 1 << 20, MOST_BINS = 8192, LEAST_BINS = 256, MOST_ROWS = 512 };

struct rows {
    const struct lc_trace *trace;
    size_t n_bins, n_rows;
    double bin_ticks;
    double *ticks;     /* [n_bins][ACTIVITIES] of the row at hand */
    uint8_t *activity; /* per call path */
    uint32_t *row_of;  /* per location */
    uint32_t *members; /* per row: locations */
};

static bool is_synchronisation(uint8_t fn) {
    return fn == LC_FN_OMP_BARRIER || fn == LC_FN_OMP_IBARRIER || fn == LC_FN_OMP_CRITICAL ||
           fn == LC_FN_OMP_LOCK_API || fn == LC_FN_OMP_TASKWAIT;
}

/* Code that MPI calls back belongs to the MPI call. */
static uint8_t activity_of(const struct lc_an_region *region, uint8_t parent) {
    if (parent != USEFUL && parent != OPENMP)
        return parent;
    if (is_synchronisation(region->fn))
        return OPENMP;
    if (!region->mpi)
        return USEFUL;
    if (strcmp(region->role, "point2point") == 0)
        return P2P;
    if (strncmp(region->role, "coll_", 5) == 0 || strcmp(region->role, "barrier") == 0)
        return COLLECTIVE;
    return region->fn == LC_FN_MPI_WAIT || region->fn == LC_FN_MPI_WAITSOME ||
                   region->fn == LC_FN_MPI_TEST
               ? P2P
               : OTHER_MPI;
}

static enum lc_err classify(struct rows *rows) {
    const struct lc_trace *trace = rows->trace;
    LC_TRY(lc_alloc(&rows->activity, trace->n_cnodes + 1, 1));
    for (size_t c = 0; c < trace->n_cnodes; c++) {
        uint32_t parent = trace->cnodes[c].parent;
        rows->activity[c] = activity_of(&trace->regions[trace->cnodes[c].region],
                                        parent != LC_NONE ? rows->activity[parent] : USEFUL);
    }
    return LC_OK;
}

static void add_span(struct rows *rows, int64_t begin, int64_t end, int activity, double sign) {
    double from = (double)(begin - rows->trace->t0) / rows->bin_ticks;
    double to = (double)(end - rows->trace->t0) / rows->bin_ticks;
    size_t last = rows->n_bins - 1, bin = from > 0.0 ? (size_t)from : 0;
    for (; bin < last && to > (double)(bin + 1); bin++) {
        rows->ticks[bin * ACTIVITIES + activity] += sign * ((double)(bin + 1) - from);
        from = (double)(bin + 1);
    }
    rows->ticks[(bin < last ? bin : last) * ACTIVITIES + activity] += sign * (to - from);
}

static void add_location(struct rows *rows, const struct lc_loc *loc) {
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        if (loc->cnode[i] != LC_NONE && loc->time[i + 1] > loc->time[i])
            add_span(rows, loc->time[i], loc->time[i + 1], rows->activity[loc->cnode[i]], 1.0);
    int64_t free_from = INT64_MIN;
    for (size_t i = 0; i < loc->n_waits; i++) {
        int64_t begin, end;
        if (!lc_page_wait(&loc->waits[i], &begin, &end) || loc->waits[i].cnode == LC_NONE)
            continue;
        begin = begin > free_from ? begin : free_from;
        if (end <= begin)
            continue;
        add_span(rows, begin, end, rows->activity[loc->waits[i].cnode], -1.0);
        add_span(rows, begin, end, WAITING, 1.0);
        free_from = end;
    }
}

/* Locations that do alike in like shares are a row where there are too many: sorted by the share of
 * their waiting, then of their time outside of MPI, neighbours in that order. */
struct likeness {
    double waiting;
    uint32_t location;
};

static int compare_likeness(const void *a, const void *b) {
    const struct likeness *x = a, *y = b;
    if (x->waiting != y->waiting)
        return x->waiting < y->waiting ? 1 : -1;
    return x->location < y->location ? -1 : x->location > y->location;
}

static enum lc_err group(struct rows *rows) {
    const struct lc_trace *trace = rows->trace;
    size_t n = trace->n_locs;
    rows->n_rows = n < MOST_ROWS ? n : MOST_ROWS;
    LC_TRY(lc_alloc(&rows->row_of, n + 1, sizeof *rows->row_of));
    LC_TRY(lc_alloc(&rows->members, rows->n_rows + 1, sizeof *rows->members));
    struct likeness *order;
    LC_TRY(lc_alloc(&order, n + 1, sizeof *order));
    for (size_t l = 0; l < n; l++) {
        order[l] = (struct likeness){0.0, (uint32_t)l};
        for (size_t i = 0; n > MOST_ROWS && i < trace->locs[l].n_waits; i++)
            if (trace->locs[l].waits[i].flags & LC_WAIT_STATE)
                order[l].waiting += (double)lc_wait_ticks(&trace->locs[l].waits[i]);
    }
    if (n > MOST_ROWS)
        qsort(order, n, sizeof *order, compare_likeness);
    for (size_t i = 0; i < n; i++) {
        uint32_t row = (uint32_t)(i * rows->n_rows / n);
        rows->row_of[order[i].location] = row;
        rows->members[row]++;
    }
    free(order);
    return LC_OK;
}

/* Shares of one row, of its members' time. */
static void put_row(struct rows *rows, uint32_t members, struct lc_strbuf *data) {
    for (size_t i = 0; i < rows->n_bins * ACTIVITIES; i++) {
        double share = rows->ticks[i] / (double)members;
        share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
        lc_strbuf_putc(data, (char)(unsigned char)(share * 255.0 + 0.5));
    }
}

static void put_rows(struct rows *rows, struct lc_page_file *page) {
    const struct lc_trace *trace = rows->trace;
    for (size_t r = 0; r < rows->n_rows; r++) {
        memset(rows->ticks, 0, rows->n_bins * ACTIVITIES * sizeof *rows->ticks);
        for (size_t l = 0; l < trace->n_locs; l++)
            if (rows->row_of[l] == r)
                add_location(rows, &trace->locs[l]);
        put_row(rows, rows->members[r], &page->data);
    }
    lc_strbuf_printf(&page->json,
                     ",\"pyramid\":{\"at\":0,\"rows\":%zu,\"bins\":%zu,\"activities\":%s,"
                     "\"row_of\":[",
                     rows->n_rows, rows->n_bins, activity_names);
    for (size_t l = 0; l < trace->n_locs; l++)
        lc_strbuf_printf(&page->json, l > 0 ? ",%u" : "%u", rows->row_of[l]);
    lc_strbuf_puts(&page->json, "],\"activity_of\":[");
    for (size_t c = 0; c < trace->n_cnodes; c++)
        lc_strbuf_printf(&page->json, c > 0 ? ",%u" : "%u", rows->activity[c]);
    lc_strbuf_puts(&page->json, "]}");
}

static enum lc_err put_pyramid(struct lc_page_file *page) {
    struct rows rows = {.trace = page->trace};
    LC_TRY(classify(&rows));
    enum lc_err err = group(&rows);
    size_t n = rows.n_rows > 0 ? MOST_CELLS / rows.n_rows : LEAST_BINS;
    rows.n_bins = n > MOST_BINS ? MOST_BINS : n < LEAST_BINS ? LEAST_BINS : n;
    int64_t length = page->trace->t1 - page->trace->t0;
    rows.bin_ticks = length > 0 ? (double)length / (double)rows.n_bins : 1.0;
    if (err == LC_OK)
        err = lc_alloc(&rows.ticks, rows.n_bins * ACTIVITIES, sizeof *rows.ticks);
    if (err == LC_OK)
        put_rows(&rows, page);
    free(rows.activity);
    free(rows.row_of);
    free(rows.members);
    free(rows.ticks);
    return err;
}

/* Names of everything that has a number in the tables. */
static void put_names(struct lc_page_file *page) {
    const struct lc_trace *trace = page->trace;
    struct lc_strbuf *json = &page->json;
    lc_strbuf_printf(json, "{\"duration_s\":%.17g,\"events\":%llu,\"regions\":[",
                     lc_page_seconds(trace, trace->t1), (unsigned long long)trace->n_events);
    for (size_t r = 0; r < trace->n_regions; r++) {
        lc_strbuf_puts(json, r > 0 ? "," : "");
        lc_json_put(json, trace->regions[r].name);
    }
    lc_strbuf_puts(json, "],\"cnodes\":[");
    for (size_t c = 0; c < trace->n_cnodes; c++)
        lc_strbuf_printf(json, "%s[%d,%u]", c > 0 ? "," : "",
                         trace->cnodes[c].parent != LC_NONE ? (int)trace->cnodes[c].parent : -1,
                         trace->cnodes[c].region);
    lc_strbuf_puts(json, "],\"locations\":[");
    for (size_t l = 0; l < trace->n_locations; l++)
        lc_strbuf_printf(json, "%s[%d,%d]", l > 0 ? "," : "",
                         trace->processes[trace->locations[l].process].rank,
                         trace->locations[l].thread);
    lc_strbuf_puts(json, "]");
}

static enum lc_err save(struct lc_page_file *page, const char *file) {
    if (!lc_strbuf_ok(&page->json) || !lc_strbuf_ok(&page->data))
        return lc_fail(LC_ERR_NOMEM, "memory: cannot hold the timeline of the page");
    FILE *out = fopen(file, "wb");
    if (out == NULL)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", file);
    uint64_t length = page->json.length;
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> (8 * i));
    bool written =
        fwrite(bytes, 1, 8, out) == 8 &&
        fwrite(lc_strbuf_get(&page->json), 1, length, out) == length &&
        fwrite(lc_strbuf_get(&page->data), 1, page->data.length, out) == page->data.length;
    if (fclose(out) != 0 || !written)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", file);
    return LC_OK;
}

enum lc_err lc_page_timeline_write(const struct lc_trace *trace, const char *windows,
                                   const char *file) {
    struct lc_page_file page = {.trace = trace};
    put_names(&page);
    enum lc_err err = put_pyramid(&page);
    if (err == LC_OK)
        err = lc_page_windows(&page, windows);
    if (err == LC_OK)
        err = lc_page_matrices(&page);
    lc_strbuf_putc(&page.json, '}');
    if (err == LC_OK)
        err = save(&page, file);
    lc_strbuf_free(&page.json);
    lc_strbuf_free(&page.data);
    return err;
}
