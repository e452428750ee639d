/* Events of a replay at one instant, in the order in which they depend on each other.
 *
 * Nouns
 *   node    what is played together: an event, or all of a group that go on
 *   key     what a node changes or reads: where a location is, a message on its way, the parts that
 *           an operation gathers
 *   touch   a node and one of its keys; those of a key are in order by their place: at a location
 *           by the calls, whose order the instant does not tell (a message may be received and
 *           passed on in no time by the trace's clock)
 *   layer   touches of one key and place, which may come in any order
 *
 * A node comes when all earlier layers of its keys are done, else in the order of the events. Where
 * the calls wait for each other in a circle, which only clocks can make, the first of them goes. */
#include <stdlib.h>
#include <string.h>

#include "analyze/replay_private.h"
#include "base/mem.h"

struct touch {
    uint64_t key, place;
    uint32_t node;
};

struct node {
    size_t event, n;    /* events[event .. event + n) */
    size_t first_touch; /* by_node[first_touch .. that of the next) */
    size_t blocked;     /* touches whose layer has not come yet */
    bool done;
};

struct instant {
    struct lc_replay *replay;
    struct node *nodes;
    size_t n_nodes, cap_nodes;
    struct touch *touches;
    size_t n_touches, cap_touches;
    size_t *layer, cap_layer; /* per touch: the first touch of its layer */
    size_t *left, cap_left;   /* per first touch of a layer: nodes that are not done */
    size_t *by_node, cap_by_node;
    size_t *ready, cap_ready, n_ready; /* nodes, in the order in which they are done */
    struct lc_replay_event *ordered;
    size_t cap_ordered;
};

/* --- what touches what --- */

static enum lc_err touch(struct instant *in, uint64_t key, uint64_t place) {
    LC_TRY(lc_reserve(&in->touches, &in->cap_touches, in->n_touches + 1, sizeof *in->touches));
    in->touches[in->n_touches++] = (struct touch){key, place, (uint32_t)in->n_nodes};
    return LC_OK;
}

static uint64_t of_message(const struct lc_replay *replay, uint32_t step) {
    return replay->trace->n_locations + step;
}

static uint64_t of_slot(const struct lc_replay *replay, uint32_t slot) {
    return replay->trace->n_locations + replay->n_all + slot;
}

/* A call sends before it receives; who was blocked until this instant does nothing before. */
static uint64_t sends_at(uint32_t transition) {
    return 2 * (uint64_t)transition + 1;
}
static uint64_t receives_at(uint32_t transition) {
    return 2 * (uint64_t)transition + 2;
}

static enum lc_err touch_all_that_go_on(struct instant *in, const struct node *node) {
    const struct lc_replay *replay = in->replay;
    const struct lc_replay_event *events = &replay->events[node->event];
    const struct lc_replay_step *first = &replay->all[events->step];
    bool has_cause = false;
    for (size_t i = 0; i < node->n; i++) {
        const struct lc_replay_step *s = &replay->all[events[i].step];
        has_cause |= s->location == first->cause;
        LC_TRY(touch(in, s->location, s->start < s->release ? 0 : receives_at(s->at)));
    }
    if (first->slot != LC_NONE)
        return touch(in, of_slot(replay, first->slot), 1);
    return has_cause ? LC_OK : touch(in, first->cause, sends_at(replay->at[events->step]));
}

static enum lc_err add_node(struct instant *in, size_t event) {
    const struct lc_replay *replay = in->replay;
    const struct lc_replay_event *e = &replay->events[event];
    const struct lc_replay_step *s = &replay->all[e->step];
    struct node node = {.event = event, .n = lc_replay_together(replay, event)};
    LC_TRY(lc_reserve(&in->nodes, &in->cap_nodes, in->n_nodes + 1, sizeof *in->nodes));
    switch (e->kind) {
    case LC_REPLAY_GO_ON:
        LC_TRY(touch_all_that_go_on(in, &node));
        break;
    case LC_REPLAY_IS_SENT:
        LC_TRY(touch(in, s->cause, sends_at(replay->at[e->step])));
        LC_TRY(touch(in, of_message(replay, e->step), 0));
        break;
    case LC_REPLAY_GIVES:
        LC_TRY(touch(in, s->location, sends_at(s->at)));
        LC_TRY(touch(in, of_slot(replay, s->slot), 0));
        break;
    default:
        LC_TRY(touch(in, s->location, receives_at(s->at)));
        LC_TRY(s->slot != LC_NONE ? touch(in, of_slot(replay, s->slot), 1)
                                  : touch(in, of_message(replay, e->step), 1));
    }
    in->nodes[in->n_nodes++] = node;
    return LC_OK;
}

/* --- layers --- */

static int by_place(const void *a, const void *b) {
    const struct touch *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static enum lc_err make_layers(struct instant *in) {
    size_t n = in->n_touches;
    const struct touch *t = in->touches;
    LC_TRY(lc_reserve(&in->layer, &in->cap_layer, n, sizeof *in->layer));
    LC_TRY(lc_reserve(&in->left, &in->cap_left, n, sizeof *in->left));
    LC_TRY(lc_reserve(&in->by_node, &in->cap_by_node, n, sizeof *in->by_node));
    LC_TRY(lc_reserve(&in->ready, &in->cap_ready, in->n_nodes, sizeof *in->ready));
    qsort(in->touches, n, sizeof *in->touches, by_place);
    for (size_t i = 0; i < n; i++) {
        bool same = i > 0 && t[i].key == t[i - 1].key;
        in->layer[i] = same && t[i].place == t[i - 1].place ? in->layer[i - 1] : i;
        in->left[i] = 0;
        in->left[in->layer[i]]++;
        in->nodes[t[i].node].blocked += in->layer[i] > 0 && t[in->layer[i] - 1].key == t[i].key;
        in->nodes[t[i].node].first_touch++; /* their number */
    }
    for (size_t i = 0, first = 0; i < in->n_nodes; i++) {
        size_t own = in->nodes[i].first_touch;
        in->nodes[i].first_touch = first;
        first += own;
    }
    for (size_t i = 0; i < n; i++)
        in->by_node[in->nodes[t[i].node].first_touch++] = i;
    for (size_t i = in->n_nodes; i-- > 0;)
        in->nodes[i].first_touch = i > 0 ? in->nodes[i - 1].first_touch : 0;
    return LC_OK;
}

/* --- the order --- */

static void finish(struct instant *in, size_t number) {
    struct node *node = &in->nodes[number];
    size_t end = number + 1 < in->n_nodes ? node[1].first_touch : in->n_touches;
    node->done = true;
    for (size_t k = node->first_touch; k < end; k++) {
        size_t layer = in->layer[in->by_node[k]], next = layer;
        if (--in->left[layer] > 0)
            continue;
        while (next < in->n_touches && in->layer[next] == layer)
            next++;
        for (size_t i = next; i < in->n_touches && in->layer[i] == next &&
                              in->touches[i].key == in->touches[layer].key;
             i++) {
            struct node *waiting = &in->nodes[in->touches[i].node];
            if (--waiting->blocked == 0 && !waiting->done)
                in->ready[in->n_ready++] = in->touches[i].node;
        }
    }
}

static enum lc_err order_instant(struct instant *in, size_t first, size_t end) {
    struct lc_replay_event *events = in->replay->events;
    in->n_nodes = in->n_touches = in->n_ready = 0;
    for (size_t i = first; i < end; i += in->nodes[in->n_nodes - 1].n)
        LC_TRY(add_node(in, i));
    if (in->n_nodes == 1)
        return LC_OK;
    LC_TRY(make_layers(in));
    LC_TRY(lc_reserve(&in->ordered, &in->cap_ordered, end - first, sizeof *in->ordered));
    for (size_t i = 0; i < in->n_nodes; i++)
        if (in->nodes[i].blocked == 0)
            in->ready[in->n_ready++] = i;
    size_t n = 0, circle = 0;
    for (size_t i = 0; i < in->n_nodes; i++) {
        while (i == in->n_ready && in->nodes[circle].done)
            circle++;
        if (i == in->n_ready)
            in->ready[in->n_ready++] = circle;
        const struct node *node = &in->nodes[in->ready[i]];
        memcpy(&in->ordered[n], &events[node->event], node->n * sizeof *events);
        n += node->n;
        finish(in, in->ready[i]);
    }
    memcpy(&events[first], in->ordered, n * sizeof *events);
    return LC_OK;
}

enum lc_err lc_replay_order(struct lc_replay *replay) {
    struct instant in = {.replay = replay};
    enum lc_err err = LC_OK;
    for (size_t i = 0, end; i < replay->n_events && err == LC_OK; i = end) {
        for (end = i + 1;
             end < replay->n_events && replay->events[end].time == replay->events[i].time;)
            end++;
        if (end > i + 1)
            err = order_instant(&in, i, end);
    }
    free(in.nodes);
    free(in.touches);
    free(in.layer);
    free(in.left);
    free(in.by_node);
    free(in.ready);
    free(in.ordered);
    free(replay->at);
    replay->at = NULL;
    return err;
}
