#include "trace/trace_convert_state.h"

#include "base/mem.h"

uint64_t lc_convert_time(struct lc_trace_conversion *s, uint64_t ticks) {
    uint64_t time = lc_trace_bent(s->d, s->d->process.base_ticks + ticks);
    return time > s->now ? time : s->now;
}

void lc_convert_move_to(struct lc_trace_conversion *s, uint64_t time) {
    const struct lc_convert *c = s->c;
    while (s->next_child < c->n_children &&
           lc_convert_time(s, c->children[s->next_child].begin_ticks) <= time && s->started) {
        const struct lc_trace_thread *child = &c->children[s->next_child++];
        s->now = lc_convert_time(s, child->begin_ticks);
        lc_convert_note(
            s, OTF2_EvtWriter_ThreadCreate(s->w, NULL, s->now, c->thread_comm, child->thread));
    }
    if (time > s->now)
        s->now = time;
}

static bool visible(const struct lc_trace_conversion *s, uint32_t node) {
    uint32_t region = s->d->nodes[node].region;
    if (s->c->callpath == LC_TRACE_CONTEXT && node >= s->d->n_maps[LC_UNION_CONTEXT])
        return false; /* first seen after the definitions of all ranks were brought together */
    return region != LC_NONE && region < s->d->n_maps[LC_UNION_REGION] &&
           !(s->c->hidden && s->c->hidden[region]);
}

/* The node around that is shown: not filtered, and known when all ranks brought their definitions
 * together; LC_NONE: there is none. */
static uint32_t shown_context(const struct lc_trace_conversion *s, uint32_t node) {
    const struct lc_trace_defs *d = s->d;
    for (; node != LC_NONE && d->nodes[node].region != LC_NONE; node = d->nodes[node].parent)
        if (visible(s, node) && node < d->n_maps[LC_UNION_CONTEXT] &&
            d->maps[LC_UNION_CONTEXT][node] != LC_NONE)
            return node;
    return LC_NONE;
}

/* As OTF2 wants it: regions entered since the context before, and one. */
static uint32_t distance_from(const struct lc_trace_defs *d, uint32_t before, uint32_t node) {
    uint32_t entered = 0;
    while (node != before && d->nodes[node].depth > 0) {
        if (before != LC_NONE && d->nodes[before].depth >= d->nodes[node].depth) {
            before = d->nodes[before].parent;
        } else {
            node = d->nodes[node].parent;
            entered++;
        }
    }
    return entered + 1;
}

void lc_convert_samples(struct lc_trace_conversion *s) {
    uint32_t before = s->depth > 0 ? s->stack[s->depth - 1].node : LC_NONE;
    for (size_t i = 0; s->started && i < s->n_samples; i++) {
        const struct lc_open_sample *sample = &s->samples[i];
        uint32_t node = shown_context(s, sample->node);
        if (node == LC_NONE)
            continue;
        lc_convert_move_to(s, lc_convert_time(s, sample->ticks));
        lc_convert_note(s, OTF2_EvtWriter_CallingContextSample(s->w, NULL, s->now, node,
                                                               distance_from(s->d, before, node),
                                                               sample->generator));
        before = node;
    }
    s->n_samples = 0;
}

void lc_convert_enter(struct lc_trace_conversion *s, uint32_t node, uint32_t distance) {
    if (!visible(s, node))
        return;
    if (s->c->callpath == LC_TRACE_CONTEXT)
        lc_convert_note(s, OTF2_EvtWriter_CallingContextEnter(s->w, NULL, s->now, node, distance));
    else
        lc_convert_note(s, OTF2_EvtWriter_Enter(s->w, NULL, s->now, s->d->nodes[node].region));
}

void lc_convert_leave(struct lc_trace_conversion *s, uint32_t node) {
    if (!visible(s, node))
        return;
    if (s->c->callpath == LC_TRACE_CONTEXT)
        lc_convert_note(s, OTF2_EvtWriter_CallingContextLeave(s->w, NULL, s->now, node));
    else
        lc_convert_note(s, OTF2_EvtWriter_Leave(s->w, NULL, s->now, s->d->nodes[node].region));
}

bool lc_convert_is_recorded(const struct lc_trace_conversion *s, size_t level, bool region) {
    return s->c->callpath == LC_TRACE_ENTER || level == 0 || region;
}

enum lc_err lc_convert_push(struct lc_trace_conversion *s, struct lc_convert_frame frame) {
    LC_TRY(lc_grow(&s->stack, &s->cap_stack, s->depth + 1, sizeof(*s->stack)));
    s->stack[s->depth++] = frame;
    return LC_OK;
}

void lc_convert_start(struct lc_trace_conversion *s, uint64_t time) {
    lc_convert_move_to(s, time);
    s->c->first_time = s->now;
    s->started = true;
}

void lc_convert_pop(struct lc_trace_conversion *s) {
    const struct lc_convert_frame *top = &s->stack[--s->depth];
    if (top->kind == LC_FRAME_FORK)
        lc_convert_note(s, OTF2_EvtWriter_ThreadJoin(s->w, NULL, s->now, OTF2_PARADIGM_OPENMP));
    else if (top->kind != LC_FRAME_SILENT &&
             lc_convert_is_recorded(s, s->depth, top->kind != LC_FRAME_CALLER))
        lc_convert_leave(s, top->node);
    if (top->kind == LC_FRAME_TEAM)
        lc_convert_note(s, OTF2_EvtWriter_ThreadTeamEnd(s->w, NULL, s->now, top->team));
}

size_t lc_convert_omp_depth(const struct lc_trace_conversion *s) {
    size_t depth = s->depth;
    while (depth > 0 && s->stack[depth - 1].kind < LC_FRAME_FORK)
        depth--;
    return depth;
}
