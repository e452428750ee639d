/* Rows of the timeline: shares of bins of equal width, by what a location does. A share is kept as
 * n / 255, rounded; every zoom level of the page is a sum of these bins. */
#include "analyze/page_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_store.h"
#include "analyze/page_matrices.h"
#include "analyze/page_parts.h"
#include "analyze/page_windows.h"
#include "analyze/region_class.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "format/mpi_function.h"

/* What a location does; the rest of a bin is outside of its life. */
enum activity { USEFUL, P2P, COLLECTIVE, OTHER_MPI, OPENMP, WAITING, ACTIVITIES };
static const char activity_names[] = "[\"useful\",\"mpi_p2p\",\"mpi_collective\",\"mpi_other\","
                                     "\"openmp\",\"waiting\"]";

/* Cells (row x bin) of the whole timeline, and rows of it. */
enum { MOST_CELLS = 1 << 20, MOST_BINS = 8192, LEAST_BINS = 256, MOST_ROWS = 512 };

/* Of the rows of single locations where those of the timeline are groups of them. */
enum { MEMBER_CELLS = 1 << 19, LEAST_MEMBER_BINS = 16 };

/* Of these so many are in memory at once. */
enum { CELLS_AT_ONCE = 1 << 18 };

/* Times within a bin are whole numbers, so that sums do not depend on how ranks share locations. */
enum { BIN_PARTS = 1 << 30 };

struct rows {
    const struct lc_trace *trace;
    size_t n_bins, n_rows;
    double bin_ticks;
    size_t at_once;    /* rows */
    int64_t *parts;    /* [at_once][n_bins][ACTIVITIES], in BIN_PARTS of a bin */
    uint8_t *activity; /* per call path */
    uint32_t *row_of;  /* per location */
    uint32_t *members; /* per row: locations */
};

/* Code that MPI calls back belongs to the MPI call. */
static uint8_t activity_of(const struct lc_an_region *region, uint8_t parent) {
    if (parent != USEFUL && parent != OPENMP)
        return parent;
    if (lc_region_omp_synchronises(region->fn))
        return OPENMP;
    if (!region->mpi)
        return USEFUL;
    switch (lc_mpi_find_region(region->name)->time) {
    case LC_MPI_TIME_POINT2POINT:
        return P2P;
    case LC_MPI_TIME_COLLECTIVE:
    case LC_MPI_TIME_SYNC_COLLECTIVE:
        return COLLECTIVE;
    default:
        return OTHER_MPI;
    }
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

static void add_span(const struct rows *rows, int64_t *parts, int64_t begin, int64_t end,
                     int activity, int sign) {
    double from = (double)(begin - rows->trace->t0) / rows->bin_ticks;
    double to = (double)(end - rows->trace->t0) / rows->bin_ticks;
    size_t last = rows->n_bins - 1, bin = from > 0.0 ? (size_t)from : 0;
    for (; bin < last && to > (double)(bin + 1); bin++) {
        parts[bin * ACTIVITIES + activity] +=
            sign * (int64_t)(((double)(bin + 1) - from) * BIN_PARTS);
        from = (double)(bin + 1);
    }
    parts[(bin < last ? bin : last) * ACTIVITIES + activity] +=
        sign * (int64_t)((to - from) * BIN_PARTS);
}

static void add_location(const struct rows *rows, int64_t *parts, const struct lc_loc *loc) {
    for (uint32_t i = 0; i + 1 < loc->n_transitions; i++)
        if (loc->cnode[i] != LC_NONE && loc->time[i + 1] > loc->time[i])
            add_span(rows, parts, loc->time[i], loc->time[i + 1], rows->activity[loc->cnode[i]], 1);
    int64_t free_from = INT64_MIN;
    for (size_t i = 0; i < loc->n_waits; i++) {
        int64_t begin, end;
        if (!lc_page_wait(&loc->waits[i], &begin, &end) || loc->waits[i].cnode == LC_NONE)
            continue;
        begin = begin > free_from ? begin : free_from;
        if (end <= begin)
            continue;
        add_span(rows, parts, begin, end, rows->activity[loc->waits[i].cnode], -1);
        add_span(rows, parts, begin, end, WAITING, 1);
        free_from = end;
    }
}

/* Where there are too many locations, those that wait for about the same time share a row:
 * neighbours in the order of their waiting. */
struct likeness {
    int64_t waiting; /* ticks */
    uint32_t location;
};

static int compare_likeness(const void *a, const void *b) {
    const struct likeness *x = a, *y = b;
    if (x->waiting != y->waiting)
        return x->waiting < y->waiting ? 1 : -1;
    return x->location < y->location ? -1 : x->location > y->location;
}

/* Collective: ticks[] of all locations. */
static void sum_waiting(const struct lc_trace *trace, int64_t *ticks) {
    for (size_t l = 0; l < trace->n_locs; l++) {
        const struct lc_loc *loc = &trace->locs[l];
        for (size_t i = 0; i < loc->n_waits; i++)
            if (loc->waits[i].flags & LC_WAIT_STATE)
                ticks[loc->id] += lc_wait_ticks(&loc->waits[i]);
    }
    lc_transport_allreduce_i64(trace->comm, ticks, trace->n_locations, LC_OP_SUM);
}

static enum lc_err group(struct rows *rows) {
    const struct lc_trace *trace = rows->trace;
    size_t n = trace->n_locations;
    struct likeness *order = NULL;
    int64_t *ticks = NULL;
    rows->n_rows = n < MOST_ROWS ? n : MOST_ROWS;
    enum lc_err err = lc_alloc(&rows->row_of, n + 1, sizeof *rows->row_of);
    if (err == LC_OK)
        err = lc_alloc(&rows->members, rows->n_rows + 1, sizeof *rows->members);
    if (err == LC_OK)
        err = lc_alloc(&order, n + 1, sizeof *order);
    if (err == LC_OK)
        err = lc_alloc(&ticks, n + 1, sizeof *ticks);
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK && n > MOST_ROWS)
        sum_waiting(trace, ticks);
    for (size_t l = 0; err == LC_OK && l < n; l++)
        order[l] = (struct likeness){ticks[l], (uint32_t)l};
    if (err == LC_OK && n > MOST_ROWS)
        qsort(order, n, sizeof *order, compare_likeness);
    for (size_t i = 0; err == LC_OK && i < n; i++) {
        uint32_t row = (uint32_t)(i * rows->n_rows / n);
        rows->row_of[order[i].location] = row;
        rows->members[row]++;
    }
    free(order);
    free(ticks);
    return err;
}

/* Shares of one row, of its members' time. */
static void put_row(const struct rows *rows, size_t row, const int64_t *parts,
                    struct lc_strbuf *data) {
    for (size_t i = 0; i < rows->n_bins * ACTIVITIES; i++) {
        double share = (double)parts[i] / BIN_PARTS / (double)rows->members[row];
        share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
        lc_strbuf_putc(data, (char)(unsigned char)(share * 255.0 + 0.5));
    }
}

/* Collective: rows of [first, end), which are summed over the ranks at once. */
static void put_some(struct rows *rows, size_t first, size_t end, struct lc_page_file *page) {
    const struct lc_trace *trace = rows->trace;
    size_t n = rows->n_bins * ACTIVITIES;
    memset(rows->parts, 0, (end - first) * n * sizeof *rows->parts);
    for (size_t l = 0; l < trace->n_locs; l++) {
        size_t row = rows->row_of[trace->locs[l].id];
        if (row < first || row >= end)
            continue;
        add_location(rows, rows->parts + (row - first) * n, &trace->locs[l]);
        lc_event_store_rest(trace->store);
    }
    lc_transport_allreduce_i64(trace->comm, rows->parts, (end - first) * n, LC_OP_SUM);
    for (size_t r = first; trace->comm->rank == 0 && r < end; r++)
        put_row(rows, r, rows->parts + (r - first) * n, &page->data);
}

/* Collective: all rows of at most n_bins bins, as the member `name`, whose object stays open. */
static enum lc_err put_rows(struct rows *rows, const char *name, struct lc_page_file *page) {
    const struct lc_trace *trace = rows->trace;
    int64_t length = trace->t1 - trace->t0;
    rows->bin_ticks = length > 0 ? (double)length / (double)rows->n_bins : 1.0;
    rows->at_once = CELLS_AT_ONCE / rows->n_bins;
    enum lc_err err =
        lc_alloc(&rows->parts, rows->at_once * rows->n_bins * ACTIVITIES, sizeof *rows->parts);
    err = lc_transport_agree(trace->comm, err);
    lc_strbuf_printf(&page->json, ",\"%s\":{\"at\":%zu,\"rows\":%zu,\"bins\":%zu", name,
                     page->data.length, rows->n_rows, rows->n_bins);
    for (size_t r = 0; err == LC_OK && r < rows->n_rows; r += rows->at_once)
        put_some(rows, r, r + rows->at_once < rows->n_rows ? r + rows->at_once : rows->n_rows,
                 page);
    free(rows->parts);
    rows->parts = NULL;
    return err;
}

static void put_pyramid_members(const struct rows *rows, struct lc_page_file *page) {
    const struct lc_trace *trace = rows->trace;
    lc_strbuf_printf(&page->json, ",\"activities\":%s,\"row_of\":[", activity_names);
    for (size_t l = 0; l < trace->n_locations; l++)
        lc_strbuf_printf(&page->json, l > 0 ? ",%u" : "%u", rows->row_of[l]);
    lc_strbuf_puts(&page->json, "],\"activity_of\":[");
    for (size_t c = 0; c < trace->n_cnodes; c++)
        lc_strbuf_printf(&page->json, c > 0 ? ",%u" : "%u", rows->activity[c]);
    lc_strbuf_puts(&page->json, "]}");
}

/* Collective: where rows are groups, coarser rows of the locations themselves, by number; of more
 * locations than there is room for: none. */
static enum lc_err put_locations(struct rows *rows, struct lc_page_file *page) {
    size_t n = rows->trace->n_locations;
    if (n <= MOST_ROWS || n > MEMBER_CELLS / LEAST_MEMBER_BINS)
        return LC_OK;
    enum lc_err err = LC_OK;
    uint32_t *members = realloc(rows->members, n * sizeof *members);
    if (members != NULL)
        rows->members = members;
    else
        err = lc_fail(LC_ERR_NOMEM, "memory: cannot hold rows");
    err = lc_transport_agree(rows->trace->comm, err);
    if (err != LC_OK)
        return err;
    for (size_t l = 0; l < n; l++) {
        rows->row_of[l] = (uint32_t)l;
        rows->members[l] = 1;
    }
    rows->n_rows = n;
    rows->n_bins = MEMBER_CELLS / n;
    err = put_rows(rows, "single", page);
    lc_strbuf_putc(&page->json, '}');
    return err;
}

static enum lc_err put_pyramid(struct lc_page_file *page) {
    struct rows rows = {.trace = page->trace};
    enum lc_err err = lc_transport_agree(page->trace->comm, classify(&rows));
    if (err == LC_OK)
        err = group(&rows);
    size_t n = rows.n_rows > 0 ? MOST_CELLS / rows.n_rows : LEAST_BINS;
    rows.n_bins = n > MOST_BINS ? MOST_BINS : n < LEAST_BINS ? LEAST_BINS : n;
    if (err == LC_OK)
        err = put_rows(&rows, "pyramid", page);
    if (err == LC_OK) {
        put_pyramid_members(&rows, page);
        err = put_locations(&rows, page);
    }
    free(rows.activity);
    free(rows.row_of);
    free(rows.members);
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
        err = lc_transport_agree(trace->comm, trace->comm->rank == 0 ? save(&page, file) : LC_OK);
    lc_strbuf_free(&page.json);
    lc_strbuf_free(&page.data);
    return err;
}
