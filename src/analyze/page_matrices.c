/* Who waits for whom, and who sends to whom, by pairs of ranks: exact sums over the trace. */
#include <stdlib.h>

#include "analyze/event_store.h"
#include "analyze/page_matrices.h"
#include "base/idmap.h"
#include "base/mem.h"

/* Pairs in the page at most; of more, those with the largest sums of what is shown. */
enum { MOST_PAIRS = 1 << 17 };

enum { WAITING, MESSAGES, BYTES, SUMS };

struct pair { /* from waits for to; from sends to to */
    uint32_t from, to;
    double sums[SUMS];
};

struct pairs {
    struct lc_idmap ids;
    struct pair *list;
    size_t n, cap;
};

static enum lc_err pair_of(struct pairs *pairs, uint32_t from, uint32_t to, struct pair **pair) {
    uint64_t key = (uint64_t)from << 32 | to;
    uint32_t id = lc_idmap_get(&pairs->ids, key);
    if (id >= pairs->n) { /* LC_NONE */
        LC_TRY(lc_grow(&pairs->list, &pairs->cap, pairs->n + 1, sizeof *pairs->list));
        id = (uint32_t)pairs->n++;
        pairs->list[id] = (struct pair){.from = from, .to = to};
        LC_TRY(lc_idmap_put(&pairs->ids, key, id));
    }
    *pair = &pairs->list[id];
    return LC_OK;
}

static enum lc_err add_waits(struct pairs *pairs, const struct lc_trace *trace,
                             const struct lc_loc *loc) {
    for (size_t i = 0; i < loc->n_waits; i++) {
        const struct lc_wait *wait = &loc->waits[i];
        struct pair *pair;
        if (!(wait->flags & LC_WAIT_STATE) || wait->cause >= trace->n_locations)
            continue;
        LC_TRY(pair_of(pairs, loc->process, trace->locations[wait->cause].process, &pair));
        pair->sums[WAITING] += (double)lc_wait_ticks(wait) / (double)trace->ticks_per_second;
    }
    return LC_OK;
}

static enum lc_err add_messages(struct pairs *pairs, const struct lc_trace *trace,
                                const struct lc_loc *loc) {
    for (size_t i = 0; i < loc->n_p2p; i++) {
        const struct lc_p2p *p2p = &loc->p2p[i];
        struct pair *pair;
        if ((p2p->flags & LC_P2P_RECV) || !(p2p->flags & LC_P2P_KNOWN) ||
            p2p->peer >= trace->n_processes)
            continue;
        LC_TRY(pair_of(pairs, loc->process, p2p->peer, &pair));
        pair->sums[MESSAGES] += 1.0;
        pair->sums[BYTES] += (double)p2p->bytes;
    }
    return LC_OK;
}

static int heavier(const struct pair *x, const struct pair *y, int sum) {
    return x->sums[sum] != y->sums[sum] ? (x->sums[sum] < y->sums[sum] ? 1 : -1) : 0;
}

static int compare_pairs(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    for (int sum = 0; sum < SUMS; sum++)
        if (heavier(x, y, sum) != 0)
            return heavier(x, y, sum);
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void put_pairs(struct lc_page_file *page, struct pairs *pairs) {
    double left_out[SUMS] = {0};
    size_t shown = pairs->n < MOST_PAIRS ? pairs->n : MOST_PAIRS, at = lc_page_align(page);
    if (pairs->n > 0)
        qsort(pairs->list, pairs->n, sizeof *pairs->list, compare_pairs);
    for (size_t i = 0; i < pairs->n; i++) {
        const struct pair *p = &pairs->list[i];
        const double row[] = {p->from, p->to, p->sums[WAITING], p->sums[MESSAGES], p->sums[BYTES]};
        if (i < shown)
            lc_page_put(&page->data, row, 5);
        for (int sum = 0; sum < SUMS && i >= shown; sum++)
            left_out[sum] += p->sums[sum];
    }
    lc_strbuf_printf(&page->json,
                     ",\"matrices\":{\"at\":%zu,\"rows\":%zu,\"ranks\":%zu,\"left_out\":{"
                     "\"pairs\":%zu,\"waiting_s\":%.17g,\"messages\":%.17g,\"bytes\":%.17g}}",
                     at, shown, page->trace->n_processes, pairs->n - shown, left_out[WAITING],
                     left_out[MESSAGES], left_out[BYTES]);
}

/* Waits and sends of a process are on the rank that owns it: nothing has to be added up. */
static enum lc_err gather(struct pairs *pairs, const struct lc_transport *comm) {
    struct pair *all = NULL;
    size_t bytes = 0;
    enum lc_err err = lc_transport_gather(comm, pairs->list, pairs->n * sizeof *pairs->list,
                                          (void **)&all, &bytes, NULL);
    free(pairs->list);
    pairs->list = all;
    pairs->n = bytes / sizeof *all;
    return lc_transport_agree(comm, err);
}

static void put_topology(struct lc_page_file *page, const struct lc_an_comm *comm) {
    lc_strbuf_puts(&page->json, "{\"dims\":[");
    for (uint32_t d = 0; d < comm->n_dims; d++)
        lc_strbuf_printf(&page->json, d > 0 ? ",%u" : "%u", comm->dims[d].size);
    lc_strbuf_puts(&page->json, "],\"periodic\":[");
    for (uint32_t d = 0; d < comm->n_dims; d++)
        lc_strbuf_printf(&page->json, d > 0 ? ",%d" : "%d", comm->dims[d].periodic);
    lc_strbuf_puts(&page->json, "],\"members\":[");
    for (uint32_t m = 0; m < comm->n_members; m++)
        lc_strbuf_printf(
            &page->json, "%s%.0f", m > 0 ? "," : "",
            comm->members != NULL && comm->members[m] != LC_NONE ? (double)comm->members[m] : -1.0);
    lc_strbuf_puts(&page->json, "]}");
}

/* Cartesian ones, the largest. */
static void put_topologies(struct lc_page_file *page) {
    const struct lc_trace *trace = page->trace;
    const struct lc_an_comm *largest = NULL;
    for (size_t c = 0; c < trace->n_comms; c++) {
        const struct lc_an_comm *comm = &trace->comms[c];
        uint64_t cells = comm->n_dims > 0;
        for (uint32_t d = 0; d < comm->n_dims && cells <= comm->n_members; d++)
            cells *= comm->dims[d].size;
        if (comm->n_dims > 0 && cells == comm->n_members &&
            (largest == NULL || comm->n_members > largest->n_members))
            largest = comm;
    }
    lc_strbuf_puts(&page->json, ",\"topologies\":[");
    if (largest != NULL)
        put_topology(page, largest);
    lc_strbuf_putc(&page->json, ']');
}

enum lc_err lc_page_matrices(struct lc_page_file *page) {
    const struct lc_trace *trace = page->trace;
    struct pairs pairs = {.n = 0};
    enum lc_err err = LC_OK;
    for (size_t l = 0; err == LC_OK && l < trace->n_locs; l++) {
        err = add_waits(&pairs, trace, &trace->locs[l]);
        if (err == LC_OK)
            err = add_messages(&pairs, trace, &trace->locs[l]);
        lc_event_store_rest(trace->store);
    }
    err = lc_transport_agree(trace->comm, err);
    if (err == LC_OK)
        err = gather(&pairs, trace->comm);
    if (err == LC_OK) {
        put_pairs(page, &pairs);
        put_topologies(page);
    }
    lc_idmap_free(&pairs.ids);
    free(pairs.list);
    return err;
}
