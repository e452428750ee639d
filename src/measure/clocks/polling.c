#include "measure/clocks/polling.h"

#include <string.h>

#include "base/bits.h"
#include "format/mpi_function.h"
#include "measure/clocks/backlog.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/wait_states.h"
#include "measure/core/core.h"

/* Has the call nothing to do with messages or others, like MPI_Alloc_mem? */
static bool is_apart(uint32_t fn) {
    if (fn >= LC_FN_COUNT)
        return false;
    const struct lc_mpi_function *facts = &lc_fn_facts[fn];
    return (facts->flags & LC_MPI_LOCAL) != 0 ||
           (facts->kind == LC_MPI_KIND_NONE && facts->time == LC_MPI_TIME_NONE);
}

LC_COLD void lc_clk_polling_call(struct lc_clk_thread *k, const struct lc_call *call) {
    struct lc_polling *p = &k->polling;
    if (is_apart(call->fn))
        return;
    if (!p->goes_on)
        p->ticks = 0;
    p->goes_on = false;
    p->next = call->begin;
}

void lc_clk_polling_asked(struct lc_clk_thread *k, const struct lc_call *call) {
    struct lc_polling *p = &k->polling;
    if (p->ticks == 0 || (!p->goes_on && p->next != call->begin)) {
        p->ticks = 0;
        p->begin = call->begin;
        memset(p->at, 0, sizeof p->at);
    }
    uint64_t ticks = call->end > call->begin ? call->end - call->begin : 0;
    uint32_t at = 0;
    while (at + 1 < LC_POLLED_PATHS && p->at[at].path != NULL &&
           p->at[at].path != call->entry->path)
        at++;
    p->at[at].path = call->entry->path;
    p->at[at].ticks += ticks;
    p->ticks += ticks;
    p->end = call->end;
    p->next = 0;
    p->goes_on = true;
}

/* Of the time in them, what lies before `enter`; 0: they were made beside other work. */
static uint64_t before(const struct lc_polling *p, uint64_t enter) {
    uint64_t all = p->end - p->begin;
    if (enter <= p->begin || all / LC_POLLS_CLOSELY > p->ticks)
        return 0;
    double share = enter < p->end ? (double)(enter - p->begin) / (double)all : 1;
    return (uint64_t)((double)lc_min(p->ticks, all) * share);
}

LC_COLD void lc_clk_polling_found(struct lc_clk_thread *k, const struct lc_call *call,
                                  uint64_t enter, uint32_t rank, uint32_t node) {
    struct lc_polling *p = &k->polling;
    if (p->next != call->begin)
        return;
    uint64_t ticks = before(p, enter);
    if (ticks == 0)
        return;
    /* a call that only asks, and has found something, waited for that, too */
    if (enter > call->begin && lc_clk.fn_class[call->fn] == LC_FN_OTHER)
        ticks += lc_min(enter, call->end) - call->begin;
    if (ticks <= p->found.ticks)
        return;
    /* It ends when the other one enters: what was between the calls is time before them. */
    uint64_t release = lc_min(enter, call->end);
    p->found = (struct lc_candidate){ticks, LC_MEASURED_POLL, rank, node, release - ticks};
    if (!k->any_candidate) /* the wait of the call before is booked */
        k->worst = (struct lc_candidate){.begin = call->begin};
    k->unbooked = true;
}

void lc_clk_polling_book(struct lc_clk_thread *k) {
    struct lc_polling *p = &k->polling;
    struct lc_candidate part = p->found;
    uint64_t all = part.ticks, left = all;
    p->found.ticks = 0;
    for (uint32_t i = 0; i < LC_POLLED_PATHS && p->at[i].path != NULL; i++) {
        bool last = i + 1 == LC_POLLED_PATHS || p->at[i + 1].path == NULL;
        double share = (double)p->at[i].ticks / (double)p->ticks;
        part.ticks = last ? left : lc_min((uint64_t)((double)all * share), left);
        left -= part.ticks;
        if (part.ticks > 0)
            lc_clk_book(k, p->at[i].path, &part);
        part.begin += part.ticks;
    }
}

static void asked(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    (void)data;
    lc_clk_polling_asked(k, call);
}

const struct lc_event_type lc_clk_asked_event = {.run = asked, .local = true};

/* Where clocks lag the call's end is not known yet: the tool makes progress there, as the program
 * would have asked once more. */
void lc_clocks_asked(struct lc_call *call) {
    struct lc_clk_thread *k = call->thread->clocks;
    if (k == NULL)
        return;
    if (lc_clk.backlog)
        k->asks = true;
    else
        lc_clk_polling_asked(k, call);
}
