/* Numbers of fields are those of protos/perfetto/trace (trace_packet.proto, track_event.proto,
 * track_descriptor.proto, interned_data.proto, debug_annotation.proto). All packets are one
 * sequence: its first packet holds the names of regions and wait states, later ones refer to them.
 */
#include "analyze/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/delay.h"
#include "analyze/events.h"
#include "analyze/protobuf.h"
#include "analyze/severest.h"
#include "analyze/waits.h"
#include "base/log.h"
#include "base/lookup.h"
#include "base/mem.h"
#include "base/plural.h"

enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK = 60
};
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };
enum { INTERNED_EVENT_NAMES = 2, NAME_ID = 1, NAME_TEXT = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_FLOWS = 47,
    EVENT_ENDING_FLOWS = 48
};
enum { SLICE_BEGIN = 1, SLICE_END = 2 };
enum { ANNOTATION_INT = 4, ANNOTATION_DOUBLE = 5, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };

struct arrow_end { /* one end of a message's arrow */
    int64_t time;
    uint32_t location;
    uint32_t cnode; /* of the sending call; receives: of the completing call */
    uint64_t id;
};

struct window { /* what is shown: slices in it, cut at its ends */
    int64_t from, to;
};

struct writer {
    const struct lc_trace *trace;
    const struct lc_critical_path *path;
    FILE *file; /* NULL: bytes are only counted */
    const char *name;
    uint64_t bytes, most_bytes;
    struct window windows[LC_SEVEREST]; /* in order of time, apart from each other */
    size_t n_windows;
    struct arrow_end *sends, *receives; /* [n_arrows], in order of location and time */
    bool *shown;                        /* by id - 1: both ends are in windows */
    size_t n_arrows;
    size_t n_missed; /* ends of arrows without a call of their time */
    size_t n_backward;
    struct lc_strbuf packet, inner, part, frame;
};

/* ---- packets */

static enum lc_err flush(struct writer *w) {
    lc_strbuf_clear(&w->frame);
    lc_pb_message(&w->frame, TRACE_PACKET, &w->packet);
    if (!lc_strbuf_ok(&w->frame))
        return lc_fail(LC_ERR_NOMEM, "memory: cannot hold a packet of %s", w->name);
    w->bytes += w->frame.length;
    if (w->most_bytes > 0 && w->bytes > w->most_bytes && w->file == NULL)
        return LC_ERR_RANGE; /* it is tried */
    if (w->most_bytes > 0 && w->bytes > w->most_bytes)
        return lc_fail(LC_ERR_RANGE,
                       "the timeline is larger than %" PRIu64 " bytes: raise --max-size",
                       w->most_bytes);
    if (w->file != NULL &&
        fwrite(lc_strbuf_get(&w->frame), 1, w->frame.length, w->file) != w->frame.length)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", w->name);
    lc_strbuf_clear(&w->packet);
    return LC_OK;
}

static void begin_packet(struct writer *w, uint32_t state) {
    lc_pb_uint(&w->packet, PACKET_SEQUENCE, 1);
    lc_pb_uint(&w->packet, PACKET_SEQUENCE_FLAGS, state);
    lc_strbuf_clear(&w->inner);
}

static void begin_event(struct writer *w, int64_t ticks, int type, uint64_t track) {
    const struct lc_trace *trace = w->trace;
    __int128 ns = (__int128)(ticks - trace->t0) * 1000000000 / (int64_t)trace->ticks_per_second;
    begin_packet(w, STATE_NEEDED);
    lc_pb_uint(&w->packet, PACKET_TIMESTAMP, (uint64_t)ns);
    lc_pb_uint(&w->inner, EVENT_TYPE, (uint64_t)type);
    lc_pb_uint(&w->inner, EVENT_TRACK, track);
}

static enum lc_err end_event(struct writer *w) {
    lc_pb_message(&w->packet, PACKET_TRACK_EVENT, &w->inner);
    return flush(w);
}

/* ---- names and tracks */

static uint64_t process_track(uint32_t process) {
    return 1 + (uint64_t)process;
}

static uint64_t thread_track(const struct lc_trace *trace, uint32_t location) {
    return 1 + trace->n_processes + 3 * (uint64_t)location;
}

static uint64_t wait_track(const struct lc_trace *trace, uint32_t location) {
    return thread_track(trace, location) + 1;
}

static uint64_t path_track(const struct lc_trace *trace, uint32_t location) {
    return thread_track(trace, location) + 2;
}

static uint64_t region_name(uint32_t region) {
    return 1 + (uint64_t)region;
}

static uint64_t wait_name(const struct lc_trace *trace, int kind) {
    return 1 + trace->n_regions + (uint64_t)kind;
}

static uint64_t path_name(const struct lc_trace *trace) {
    return wait_name(trace, LC_WAIT_KINDS);
}

static void put_name(struct writer *w, uint64_t id, const char *text) {
    lc_strbuf_clear(&w->part);
    lc_pb_uint(&w->part, NAME_ID, id);
    lc_pb_text(&w->part, NAME_TEXT, text);
    lc_pb_message(&w->inner, INTERNED_EVENT_NAMES, &w->part);
}

static enum lc_err put_names(struct writer *w) {
    begin_packet(w, STATE_CLEARED);
    for (uint32_t r = 0; r < w->trace->n_regions; r++)
        put_name(w, region_name(r), w->trace->regions[r].name);
    for (int kind = 0; kind < LC_WAIT_KINDS; kind++)
        if (lc_wait_metric((enum lc_wait_kind)kind) != NULL)
            put_name(w, wait_name(w->trace, kind), lc_wait_metric((enum lc_wait_kind)kind));
    put_name(w, path_name(w->trace), "critical path");
    lc_pb_message(&w->packet, PACKET_INTERNED, &w->inner);
    return flush(w);
}

static enum lc_err put_track(struct writer *w) {
    lc_pb_message(&w->packet, PACKET_TRACK, &w->inner);
    return flush(w);
}

/* Process numbers are ranks + 1: viewers hide process 0. */
static enum lc_err put_process(struct writer *w, uint32_t p) {
    const struct lc_an_process *process = &w->trace->processes[p];
    char name[32];
    snprintf(name, sizeof name, "rank %d", process->rank);
    begin_packet(w, STATE_NEEDED);
    lc_pb_uint(&w->inner, TRACK_UUID, process_track(p));
    lc_strbuf_clear(&w->part);
    lc_pb_uint(&w->part, PROCESS_PID, p + 1);
    lc_pb_text(&w->part, PROCESS_NAME, name);
    lc_pb_message(&w->inner, TRACK_PROCESS, &w->part);
    return put_track(w);
}

static enum lc_err put_location(struct writer *w, uint32_t l) {
    const struct lc_an_location *location = &w->trace->locations[l];
    char name[32];
    snprintf(name, sizeof name, "thread %d", location->thread);
    begin_packet(w, STATE_NEEDED);
    lc_pb_uint(&w->inner, TRACK_UUID, thread_track(w->trace, l));
    lc_pb_uint(&w->inner, TRACK_PARENT, process_track(location->process));
    lc_strbuf_clear(&w->part);
    lc_pb_uint(&w->part, THREAD_PID, location->process + 1);
    lc_pb_uint(&w->part, THREAD_TID, w->trace->n_processes + 1 + l);
    lc_pb_text(&w->part, THREAD_NAME, name);
    lc_pb_message(&w->inner, TRACK_THREAD, &w->part);
    LC_TRY(put_track(w));
    begin_packet(w, STATE_NEEDED);
    lc_pb_uint(&w->inner, TRACK_UUID, wait_track(w->trace, l));
    lc_pb_uint(&w->inner, TRACK_PARENT, thread_track(w->trace, l));
    lc_pb_text(&w->inner, TRACK_NAME, "waiting");
    LC_TRY(put_track(w));
    begin_packet(w, STATE_NEEDED);
    lc_pb_uint(&w->inner, TRACK_UUID, path_track(w->trace, l));
    lc_pb_uint(&w->inner, TRACK_PARENT, thread_track(w->trace, l));
    lc_pb_text(&w->inner, TRACK_NAME, "critical path");
    return put_track(w);
}

/* ---- messages */

static int compare_ends(const void *a, const void *b) {
    const struct arrow_end *x = a, *y = b;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_complete(const struct lc_p2p *p2p) {
    return (p2p->flags & LC_P2P_RECV) && (p2p->flags & LC_P2P_MATCHED) && p2p->done != LC_NONE;
}

/* Where clocks say that a message came before it was sent there is no arrow. */
static void add_arrow(struct writer *w, const struct lc_loc *loc, const struct lc_p2p *p2p) {
    const struct lc_match *send = &loc->matches[p2p->link];
    const struct lc_mpi_call *done = &loc->calls[p2p->done];
    int64_t end = loc->time[done->leave];
    if (end < send->enter) {
        w->n_backward++;
        return;
    }
    size_t id = w->n_arrows++;
    w->sends[id] = (struct arrow_end){send->enter, send->location, send->cnode, id + 1};
    w->receives[id] = (struct arrow_end){end, loc->id, loc->cnode[done->enter], id + 1};
}

static enum lc_err collect_arrows(struct writer *w) {
    size_t n = 0;
    for (size_t l = 0; l < w->trace->n_locs; l++)
        for (size_t i = 0; i < w->trace->locs[l].n_p2p; i++)
            n += is_complete(&w->trace->locs[l].p2p[i]);
    LC_TRY(lc_alloc(&w->sends, n, sizeof *w->sends));
    LC_TRY(lc_alloc(&w->receives, n, sizeof *w->receives));
    LC_TRY(lc_alloc(&w->shown, n, sizeof *w->shown));
    for (size_t l = 0; l < w->trace->n_locs; l++)
        for (size_t i = 0; i < w->trace->locs[l].n_p2p; i++)
            if (is_complete(&w->trace->locs[l].p2p[i]))
                add_arrow(w, &w->trace->locs[l], &w->trace->locs[l].p2p[i]);
    if (w->n_arrows > 0) {
        qsort(w->sends, w->n_arrows, sizeof *w->sends, compare_ends);
        qsort(w->receives, w->n_arrows, sizeof *w->receives, compare_ends);
    }
    return LC_OK;
}

/* The ends of arrows at one side, as the transitions of the locations are walked. */
struct cursor {
    const struct arrow_end *ends;
    size_t n, next;
};

/* Adds the flows that begin or end in call path `cnode` of this location at this time. */
static void put_flows(struct writer *w, struct cursor *c, uint32_t field, uint32_t location,
                      int64_t time, uint32_t cnode) {
    for (; c->next < c->n; c->next++) {
        const struct arrow_end *end = &c->ends[c->next];
        if (!w->shown[end->id - 1])
            continue;
        if (end->location > location || (end->location == location && end->time > time))
            break;
        if (end->location < location || end->time < time) {
            w->n_missed++;
            continue;
        }
        if (end->cnode != cnode)
            break;
        lc_pb_fixed64(&w->inner, field, end->id);
    }
}

/* ---- slices */

struct slices {
    const struct lc_loc *loc;
    struct cursor *sends, *receives;
};

static enum lc_err enter(struct writer *w, const struct slices *s, int64_t time, uint32_t cnode) {
    uint32_t location = s->loc->id;
    begin_event(w, time, SLICE_BEGIN, thread_track(w->trace, location));
    lc_pb_uint(&w->inner, EVENT_NAME_ID, region_name(w->trace->cnodes[cnode].region));
    put_flows(w, s->sends, EVENT_FLOWS, location, time, cnode);
    return end_event(w);
}

static enum lc_err leave(struct writer *w, const struct slices *s, int64_t time, uint32_t cnode) {
    uint32_t location = s->loc->id;
    begin_event(w, time, SLICE_END, thread_track(w->trace, location));
    put_flows(w, s->receives, EVENT_ENDING_FLOWS, location, time, cnode);
    return end_event(w);
}

static bool is_inside(const struct lc_trace *trace, uint32_t cnode, uint32_t outer) {
    return outer == LC_NONE ||
           (cnode != LC_NONE && cnode >= outer && cnode <= trace->cnodes[outer].last);
}

static enum lc_err enter_down(struct writer *w, const struct slices *s, int64_t time,
                              uint32_t outer, uint32_t cnode) {
    uint32_t path[256];
    while (cnode != outer) { /* deep paths piece by piece, from the outermost */
        size_t n = 0;
        uint32_t top = cnode;
        for (uint32_t at = cnode; at != outer; at = w->trace->cnodes[at].parent) {
            path[n++ % 256] = at;
            top = at;
        }
        if (n <= 256) {
            for (size_t i = n; i-- > 0;)
                LC_TRY(enter(w, s, time, path[i]));
            return LC_OK;
        }
        LC_TRY(enter(w, s, time, top));
        outer = top;
    }
    return LC_OK;
}

/* In one window; what goes on there begins and ends with it. */
static enum lc_err put_slices(struct writer *w, const struct slices *s,
                              const struct window *window) {
    const struct lc_loc *loc = s->loc;
    uint32_t now = LC_NONE;
    uint32_t i = (uint32_t)LC_FIRST_WHERE(k, 0, loc->n_transitions, loc->time[k] > window->from);
    while (i > 0 && loc->time[i - 1] == window->from) /* all of this instant */
        i--;
    for (i -= i > 0; i < loc->n_transitions && loc->time[i] <= window->to; i++) {
        int64_t time = loc->time[i] > window->from ? loc->time[i] : window->from;
        uint32_t next = loc->cnode[i];
        for (; !is_inside(w->trace, next, now); now = w->trace->cnodes[now].parent)
            LC_TRY(leave(w, s, time, now));
        LC_TRY(enter_down(w, s, time, now, next));
        now = next;
    }
    for (; now != LC_NONE; now = w->trace->cnodes[now].parent)
        LC_TRY(leave(w, s, window->to, now));
    return LC_OK;
}

static void put_annotation(struct writer *w, const char *name) {
    lc_pb_text(&w->part, ANNOTATION_NAME, name);
    lc_pb_message(&w->inner, EVENT_ANNOTATIONS, &w->part);
    lc_strbuf_clear(&w->part);
}

static void put_seconds(struct writer *w, const char *name, double ticks) {
    lc_pb_double(&w->part, ANNOTATION_DOUBLE, ticks / (double)w->trace->ticks_per_second);
    put_annotation(w, name);
}

/* ---- the critical path: a slice per segment, an arrow from each to the next */

static bool overlaps(const struct writer *w, int64_t from, int64_t to) {
    for (size_t i = 0; i < w->n_windows; i++)
        if (from < w->windows[i].to && to > w->windows[i].from)
            return true;
    return false;
}

static enum lc_err put_segment(struct writer *w, const struct lc_segment *segment, uint64_t before,
                               uint64_t after) {
    uint64_t track = path_track(w->trace, segment->location);
    begin_event(w, segment->from, SLICE_BEGIN, track);
    lc_pb_uint(&w->inner, EVENT_NAME_ID, path_name(w->trace));
    lc_strbuf_clear(&w->part);
    put_seconds(w, "slack", (double)segment->slack);
    if (before != 0)
        lc_pb_fixed64(&w->inner, EVENT_ENDING_FLOWS, before);
    if (after != 0)
        lc_pb_fixed64(&w->inner, EVENT_FLOWS, after);
    LC_TRY(end_event(w));
    begin_event(w, segment->to, SLICE_END, track);
    return end_event(w);
}

/* Segments follow each other without a gap, the latest is the first; those without length are left
 * out, and segments that reach out of a window are shown whole. */
static enum lc_err put_path(struct writer *w) {
    const struct lc_segment *segments = w->path->segments;
    uint64_t arrow = w->n_arrows, before = 0;
    for (size_t i = w->path->n_own_segments; i-- > 0;) {
        size_t next = i;
        if (segments[i].from == segments[i].to || !overlaps(w, segments[i].from, segments[i].to)) {
            before = segments[i].from == segments[i].to ? before : 0;
            continue;
        }
        while (next > 0 && segments[next - 1].from == segments[next - 1].to)
            next--;
        bool goes_on = next > 0 && overlaps(w, segments[next - 1].from, segments[next - 1].to);
        uint64_t after = goes_on ? ++arrow : 0;
        LC_TRY(put_segment(w, &segments[i], before, after));
        before = after;
    }
    return LC_OK;
}

/* ---- wait states */

/* The waiting that the code of the cause is to blame for, and that it inherited. */
static void put_parts(struct writer *w, const struct lc_wait *wait,
                      const struct lc_wait_parts *parts) {
    static const char *const names[LC_MODELS][2] = {
        {"direct_seconds", "indirect_seconds"},
        {"direct_seconds_waitfirst", "indirect_seconds_waitfirst"}};
    int64_t ticks = lc_wait_ticks(wait);
    for (int model = 0; model < LC_MODELS; model++) {
        double to_code, to_wait;
        lc_delay_shares((enum lc_delay_model)model, ticks, parts->code, parts->waits, &to_code,
                        &to_wait);
        put_seconds(w, names[model][0], (double)ticks * to_code);
        put_seconds(w, names[model][1], (double)ticks * to_wait);
    }
}

static void put_cause(struct writer *w, const struct lc_wait *wait,
                      const struct lc_wait_parts *parts) {
    const struct lc_trace *trace = w->trace;
    lc_strbuf_clear(&w->part);
    put_seconds(w, "seconds", (double)lc_wait_ticks(wait));
    if (wait->cause != LC_NONE) {
        const struct lc_an_location *cause = &trace->locations[wait->cause];
        lc_pb_uint(&w->part, ANNOTATION_INT, (uint64_t)trace->processes[cause->process].rank);
        put_annotation(w, "cause_rank");
        lc_pb_uint(&w->part, ANNOTATION_INT, (uint64_t)cause->thread);
        put_annotation(w, "cause_thread");
        put_parts(w, wait, parts);
    }
    if (wait->cause_cnode < trace->n_cnodes) {
        lc_pb_text(&w->part, ANNOTATION_TEXT,
                   trace->regions[trace->cnodes[wait->cause_cnode].region].name);
        put_annotation(w, "cause_region");
    }
}

/* Slices of one track must not overlap; where two waits do, the later one is shown shorter. */
static enum lc_err put_waits(struct writer *w, const struct lc_loc *loc) {
    uint64_t track = wait_track(w->trace, loc->id);
    int64_t free_from = INT64_MIN;
    for (size_t i = 0; i < loc->n_waits; i++) {
        const struct lc_wait *wait = &loc->waits[i];
        int64_t begin = wait->start > free_from ? wait->start : free_from;
        int64_t end = wait->release < wait->end ? wait->release : wait->end;
        if (!(wait->flags & LC_WAIT_STATE) || lc_wait_metric(wait->kind) == NULL || end <= begin ||
            !overlaps(w, begin, end))
            continue;
        begin_event(w, begin, SLICE_BEGIN, track);
        lc_pb_uint(&w->inner, EVENT_NAME_ID, wait_name(w->trace, wait->kind));
        put_cause(w, wait, &loc->parts[i]);
        LC_TRY(end_event(w));
        begin_event(w, end, SLICE_END, track);
        LC_TRY(end_event(w));
        free_from = end;
    }
    return LC_OK;
}

static bool is_shown(const struct writer *w, int64_t time) {
    for (size_t i = 0; i < w->n_windows; i++)
        if (time >= w->windows[i].from && time <= w->windows[i].to)
            return true;
    return false;
}

static void choose_arrows(struct writer *w) {
    for (size_t i = 0; i < w->n_arrows; i++)
        w->shown[i] = true;
    for (size_t i = 0; i < w->n_arrows; i++) {
        w->shown[w->sends[i].id - 1] &= is_shown(w, w->sends[i].time);
        w->shown[w->receives[i].id - 1] &= is_shown(w, w->receives[i].time);
    }
}

static size_t left_over(const struct writer *w, const struct cursor *c) {
    size_t n = 0;
    for (size_t i = c->next; i < c->n; i++)
        n += w->shown[c->ends[i].id - 1];
    return n;
}

/* What the windows show. */
static enum lc_err put_all(struct writer *w) {
    const struct lc_trace *trace = w->trace;
    w->bytes = 0;
    w->n_missed = 0;
    lc_strbuf_clear(&w->packet);
    choose_arrows(w);
    struct cursor sends = {w->sends, w->n_arrows, 0}, receives = {w->receives, w->n_arrows, 0};
    LC_TRY(put_names(w));
    for (uint32_t p = 0; p < trace->n_processes; p++)
        LC_TRY(put_process(w, p));
    for (uint32_t l = 0; l < trace->n_locations; l++)
        LC_TRY(put_location(w, l));
    for (size_t l = 0; l < trace->n_locs; l++) {
        const struct slices slices = {&trace->locs[l], &sends, &receives};
        for (size_t i = 0; i < w->n_windows; i++)
            LC_TRY(put_slices(w, &slices, &w->windows[i]));
        LC_TRY(put_waits(w, &trace->locs[l]));
    }
    LC_TRY(put_path(w));
    w->n_missed += left_over(w, &sends) + left_over(w, &receives);
    return LC_OK;
}

/* ---- what fits into the file */

static int compare_windows(const void *a, const void *b) {
    const struct window *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* The first n of the severest waits, each with so much before and after it as `widths` of its
 * length say; those that meet become one. */
static void set_windows(struct writer *w, const struct lc_severest *severest, size_t n,
                        double widths) {
    const struct lc_trace *trace = w->trace;
    struct window all[LC_SEVEREST] = {0};
    double whole = (double)(trace->t1 - trace->t0);
    for (size_t i = 0; i < n; i++) {
        double margin = (double)(severest[i].end - severest[i].begin) * widths + 1;
        int64_t more = (int64_t)(margin < whole ? margin : whole);
        all[i].from = severest[i].begin - more > trace->t0 ? severest[i].begin - more : trace->t0;
        all[i].to = severest[i].end + more < trace->t1 ? severest[i].end + more : trace->t1;
    }
    qsort(all, n, sizeof all[0], compare_windows);
    w->n_windows = 0;
    for (size_t i = 0; i < n; i++) {
        struct window *last = w->n_windows > 0 ? &w->windows[w->n_windows - 1] : NULL;
        if (last == NULL || all[i].from > last->to)
            w->windows[w->n_windows++] = all[i];
        else if (all[i].to > last->to)
            last->to = all[i].to;
    }
}

/* LC_ERR_RANGE: larger than allowed. */
static enum lc_err try_windows(struct writer *w, const struct lc_severest *severest, size_t n,
                               double widths) {
    set_windows(w, severest, n, widths);
    return put_all(w);
}

/* Those of the severest waits that fit, the severest first, then as much around them as fits. */
static enum lc_err choose_windows(struct writer *w) {
    struct lc_severest all[LC_SEVEREST], kept[LC_SEVEREST];
    size_t n, n_kept = 0;
    double widths = 0.5;
    LC_TRY(lc_severest_find(w->trace, all, &n));
    enum lc_err err = LC_OK;
    for (size_t i = 0; i < n && (err == LC_OK || err == LC_ERR_RANGE); i++) {
        kept[n_kept] = all[i];
        err = try_windows(w, kept, n_kept + 1, widths);
        n_kept += err == LC_OK;
    }
    if (n_kept == 0 || (err != LC_OK && err != LC_ERR_RANGE))
        return n_kept == 0 && err == LC_OK ? LC_ERR_RANGE : err;
    while ((err = try_windows(w, kept, n_kept, 2 * widths)) == LC_OK && widths < 1e12)
        widths *= 2;
    set_windows(w, kept, n_kept, widths);
    return err == LC_ERR_RANGE ? LC_OK : err;
}

static void say_windows(const struct writer *w) {
    double seconds = 0, rate = (double)w->trace->ticks_per_second;
    for (size_t i = 0; i < w->n_windows; i++)
        seconds += (double)(w->windows[i].to - w->windows[i].from) / rate;
    lc_say("the whole timeline is larger than %" PRIu64
           " bytes: it holds %.3g of %.3g s, in %zu window%s around the severest waiting; "
           "--max-size allows more",
           w->most_bytes, seconds, (double)(w->trace->t1 - w->trace->t0) / rate, w->n_windows,
           lc_plural((double)w->n_windows));
}

/* All of it if it fits. */
static enum lc_err choose_content(struct writer *w, bool *whole) {
    *whole = true;
    w->windows[0] = (struct window){w->trace->t0, w->trace->t1};
    w->n_windows = 1;
    enum lc_err err = w->most_bytes > 0 ? put_all(w) : LC_OK;
    if (err != LC_ERR_RANGE)
        return err;
    *whole = false;
    err = choose_windows(w);
    return err != LC_ERR_RANGE
               ? err
               : lc_fail(LC_ERR_RANGE,
                         "no part of the timeline fits into %" PRIu64 " bytes: raise --max-size",
                         w->most_bytes);
}

static enum lc_err write_file(struct writer *w) {
    bool whole;
    LC_TRY(collect_arrows(w));
    LC_TRY(choose_content(w, &whole));
    w->file = fopen(w->name, "wb");
    if (w->file == NULL)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be written", w->name);
    enum lc_err err = put_all(w);
    if (fclose(w->file) != 0 && err == LC_OK)
        err = lc_fail_errno(LC_ERR_IO, "%s: cannot be written", w->name);
    if (err == LC_OK && !whole)
        say_windows(w);
    return err;
}

enum lc_err lc_perfetto_write(const struct lc_critical_path *path, const char *file,
                              uint64_t most_bytes) {
    struct writer w = {
        .trace = path->lines->trace, .path = path, .name = file, .most_bytes = most_bytes};
    enum lc_err err = write_file(&w);
    if (err == LC_OK && w.n_backward > 0)
        lc_say("%zu messages were received before they were sent, according to the clocks of the "
               "trace: they have no arrow",
               w.n_backward);
    if (err == LC_OK && w.n_missed > 0)
        lc_say("%zu ends of messages lie in no call: they have no arrow", w.n_missed);
    free(w.sends);
    free(w.receives);
    free(w.shown);
    lc_strbuf_free(&w.packet);
    lc_strbuf_free(&w.inner);
    lc_strbuf_free(&w.part);
    lc_strbuf_free(&w.frame);
    return err;
}
