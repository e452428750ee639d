/* Windows of full detail: every region, message and wait state between two instants. The page has
 * one around the severest wait state of every kind at every call path, largest sums first, and
 * those that were asked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_store.h"
#include "analyze/page_windows.h"
#include "analyze/severest.h"
#include "analyze/waits.h"
#include "base/json_text.h"
#include "base/lookup.h"
#include "base/mem.h"

/* Slices of a window at most; one that would have more is made narrower around its middle. */
enum { MOST_ASKED = 8, MOST_SLICES = 12000, MOST_DEPTH = 64 };

struct window {
    int64_t from, to;
    const struct lc_severest *place; /* NULL: asked for */
};

/* The first transition at or after `time`. */
static uint32_t transition_at(const struct lc_loc *loc, int64_t time) {
    return (uint32_t)LC_FIRST_WHERE(i, 0, loc->n_transitions, loc->time[i] >= time);
}

/* Collective. */
static int64_t transitions_within(const struct lc_trace *trace, int64_t from, int64_t to) {
    int64_t n = 0;
    for (size_t l = 0; l < trace->n_locs; l++)
        n += transition_at(&trace->locs[l], to) - transition_at(&trace->locs[l], from);
    lc_transport_allreduce_i64(trace->comm, &n, 1, LC_OP_SUM);
    return n;
}

static void narrow(const struct lc_trace *trace, struct window *window) {
    while (window->to - window->from > 2 &&
           transitions_within(trace, window->from, window->to) > MOST_SLICES) {
        int64_t quarter = (window->to - window->from) / 4;
        window->from += quarter > 0 ? quarter : 1;
        window->to -= quarter > 0 ? quarter : 1;
    }
}

static bool is_inside(const struct lc_trace *trace, uint32_t cnode, uint32_t outer) {
    return cnode != LC_NONE && cnode >= outer && cnode <= trace->cnodes[outer].last;
}

struct open { /* a region that is on the stack */
    uint32_t cnode;
    int64_t since;
};

struct stack {
    struct open open[MOST_DEPTH];
    size_t depth; /* regions beyond MOST_DEPTH are not shown */
};

/* Regions from the outermost one to `cnode` that are not open yet. */
static void enter_down(const struct lc_trace *trace, struct stack *stack, uint32_t cnode,
                       int64_t time) {
    uint32_t path[MOST_DEPTH],
        outer = stack->depth > 0 ? stack->open[stack->depth - 1].cnode : LC_NONE;
    size_t n = 0;
    for (uint32_t at = cnode; at != outer && at != LC_NONE; at = trace->cnodes[at].parent) {
        if (n == MOST_DEPTH)
            memmove(path, path + 1, --n * sizeof *path);
        path[n++] = at;
    }
    while (n-- > 0 && stack->depth < MOST_DEPTH)
        stack->open[stack->depth++] = (struct open){path[n], time};
}

static void put_slices(const struct lc_trace *trace, struct lc_strbuf *rows,
                       const struct lc_loc *loc, const struct window *window) {
    struct stack stack = {.depth = 0};
    uint32_t first = transition_at(loc, window->from);
    first -= first > 0;
    for (uint32_t i = first; i < loc->n_transitions; i++) {
        int64_t time = loc->time[i] < window->to ? loc->time[i] : window->to;
        bool past = loc->time[i] >= window->to;
        uint32_t next = past ? LC_NONE : loc->cnode[i];
        while (stack.depth > 0 && !is_inside(trace, next, stack.open[stack.depth - 1].cnode)) {
            const struct open *top = &stack.open[--stack.depth];
            int64_t begin = top->since > window->from ? top->since : window->from;
            const double row[] = {loc->id, lc_page_seconds(trace, begin),
                                  lc_page_seconds(trace, time), top->cnode, (double)stack.depth};
            if (time > begin) {
                lc_page_put(rows, row, 5);
            }
        }
        if (past)
            break;
        if (next != LC_NONE)
            enter_down(trace, &stack, next, time);
    }
}

static void put_messages(const struct lc_trace *trace, struct lc_strbuf *rows,
                         const struct lc_loc *loc, const struct window *window) {
    for (size_t i = 0; i < loc->n_p2p; i++) {
        const struct lc_p2p *p2p = &loc->p2p[i];
        if (!(p2p->flags & LC_P2P_RECV) || !(p2p->flags & LC_P2P_MATCHED) || p2p->done == LC_NONE)
            continue;
        const struct lc_match *send = &loc->matches[p2p->link];
        int64_t end = loc->time[loc->calls[p2p->done].leave];
        if (end < window->from || send->enter > window->to || end < send->enter)
            continue;
        const double row[] = {send->location, lc_page_seconds(trace, send->enter), loc->id,
                              lc_page_seconds(trace, end), (double)p2p->bytes};
        lc_page_put(rows, row, 5);
    }
}

static double or_none(uint32_t id) {
    return id == LC_NONE ? -1.0 : (double)id;
}

static void put_waits(const struct lc_trace *trace, struct lc_strbuf *rows,
                      const struct lc_loc *loc, const struct window *window) {
    for (size_t i = 0; i < loc->n_waits; i++) {
        const struct lc_wait *wait = &loc->waits[i];
        int64_t begin, end;
        if (!lc_page_wait(wait, &begin, &end) || end <= window->from || begin >= window->to ||
            lc_wait_metric(wait->kind) == NULL)
            continue;
        const double row[] = {loc->id,
                              lc_page_seconds(trace, begin),
                              lc_page_seconds(trace, end),
                              wait->kind,
                              or_none(wait->cause),
                              or_none(wait->cause_cnode),
                              or_none(wait->cnode)};
        lc_page_put(rows, row, 7);
    }
}

typedef void put_rows(const struct lc_trace *trace, struct lc_strbuf *rows,
                      const struct lc_loc *loc, const struct window *window);

/* Rows of so many numbers, of which that of the location is number `by`. */
static enum lc_err put_table(struct lc_page_file *page, const char *name, put_rows *put,
                             const struct window *window, size_t columns, size_t by) {
    struct lc_strbuf rows = {0};
    for (size_t l = 0; l < page->trace->n_locs; l++) {
        put(page->trace, &rows, &page->trace->locs[l], window);
        lc_event_store_rest(page->trace->store);
    }
    return lc_page_table(page, name, &rows, columns, by);
}

static enum lc_err put_window(struct lc_page_file *page, const struct window *window) {
    const struct lc_trace *trace = page->trace;
    lc_strbuf_printf(&page->json, "{\"from_s\":%.17g,\"to_s\":%.17g",
                     lc_page_seconds(trace, window->from), lc_page_seconds(trace, window->to));
    if (window->place != NULL) {
        const struct lc_severest *place = window->place;
        lc_strbuf_printf(&page->json,
                         ",\"metric\":\"%s\",\"cnode\":%u,\"location\":%u,\"cause\":%.0f,"
                         "\"cause_cnode\":%.0f,\"begin_s\":%.17g,\"end_s\":%.17g,\"sum_s\":%.17g",
                         lc_wait_metric(place->kind), place->cnode, place->location,
                         or_none(place->cause), or_none(place->cause_cnode),
                         lc_page_seconds(trace, place->begin), lc_page_seconds(trace, place->end),
                         (double)place->sum / (double)trace->ticks_per_second);
    }
    LC_TRY(put_table(page, "slices", put_slices, window, 5, 0));
    LC_TRY(put_table(page, "messages", put_messages, window, 5, 2));
    LC_TRY(put_table(page, "waits", put_waits, window, 7, 0));
    lc_strbuf_putc(&page->json, '}');
    return LC_OK;
}

static enum lc_err bad_window(const char *text) {
    return lc_fail(LC_ERR_USAGE, "--window %s: give seconds since the first event as T0:T1", text);
}

/* "0.5:0.75,1:2" */
static enum lc_err parse(const struct lc_trace *trace, const char *text, struct window *list,
                         size_t *n) {
    for (const char *at = text; at != NULL && *at != '\0';) {
        char *end;
        double from = strtod(at, &end), to;
        if (end == at || *end != ':')
            return bad_window(text);
        at = end + 1;
        to = strtod(at, &end);
        if (end == at || (*end != '\0' && *end != ',') || !(from >= 0.0) || !(to > from) ||
            !(to <= 1e9))
            return bad_window(text);
        if (*n == MOST_ASKED)
            return lc_fail(LC_ERR_USAGE, "--window: %d windows at most", MOST_ASKED);
        double rate = (double)trace->ticks_per_second;
        list[*n] = (struct window){.from = trace->t0 + (int64_t)(from * rate),
                                   .to = trace->t0 + (int64_t)(to * rate)};
        if (list[*n].from < trace->t1)
            (*n)++;
        at = *end == ',' ? end + 1 : end;
    }
    return LC_OK;
}

/* From before the cause began to a while after the end. */
static struct window around(const struct lc_trace *trace, const struct lc_severest *place) {
    int64_t margin = (place->end - place->begin) / 2 + 1;
    struct window window = {place->begin - margin, place->end + margin, place};
    window.from = window.from > trace->t0 ? window.from : trace->t0;
    window.to = window.to < trace->t1 ? window.to : trace->t1;
    return window;
}

enum lc_err lc_page_windows(struct lc_page_file *page, const char *more) {
    const struct lc_trace *trace = page->trace;
    struct lc_severest places[LC_SEVEREST];
    struct window windows[MOST_ASKED + LC_SEVEREST];
    size_t n = 0, n_places;
    LC_TRY(parse(trace, more, windows, &n));
    LC_TRY(lc_severest_find(trace, places, &n_places));
    for (size_t i = 0; i < n_places; i++)
        windows[n++] = around(trace, &places[i]);
    lc_strbuf_puts(&page->json, ",\"wait_metrics\":[");
    for (int kind = 0; kind < LC_WAIT_KINDS; kind++) {
        const char *metric = lc_wait_metric((enum lc_wait_kind)kind);
        lc_strbuf_printf(&page->json, "%s\"%s\"", kind > 0 ? "," : "",
                         metric != NULL ? metric : "");
    }
    lc_strbuf_puts(&page->json, "],\"windows\":[");
    for (size_t i = 0; i < n; i++) {
        lc_strbuf_puts(&page->json, i > 0 ? "," : "");
        narrow(trace, &windows[i]);
        LC_TRY(put_window(page, &windows[i]));
    }
    lc_strbuf_putc(&page->json, ']');
    return LC_OK;
}
