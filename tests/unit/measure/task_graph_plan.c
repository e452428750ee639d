/* The program activity graph, and random programs. */
#include "task_graph.h"

static uint32_t work_of[NODES], edge_from[EDGES], edge_to[EDGES];
static uint8_t edge_kind[EDGES];
uint8_t construct_of[NODES]; /* of the task: 1 .. CONSTRUCTS; 0: implicit */
uint32_t n_nodes, n_edges;

void edge(uint32_t from, uint32_t to, int kind) {
    if (from == LC_NONE)
        return;
    assert_true(n_edges < EDGES && from < to);
    edge_from[n_edges] = from;
    edge_to[n_edges] = to;
    edge_kind[n_edges++] = (uint8_t)kind;
}

uint32_t node_of(uint32_t work) {
    assert_true(n_nodes < NODES);
    construct_of[n_nodes] = 0;
    work_of[n_nodes] = work;
    return n_nodes++;
}

static int by_target(const void *a, const void *b) {
    const uint32_t x = edge_to[*(const uint32_t *)a], y = edge_to[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

uint64_t longest_path(int kind, const uint32_t weights[1 + CONSTRUCTS]) {
    static uint64_t end[NODES];
    static uint32_t order[EDGES];
    uint64_t longest = 0;
    for (uint32_t e = 0; e < n_edges; e++)
        order[e] = e;
    qsort(order, n_edges, sizeof *order, by_target);
    for (uint32_t n = 0, e = 0; n < n_nodes; n++) {
        uint64_t begin = 0;
        for (; e < n_edges && edge_to[order[e]] == n; e++)
            if ((edge_kind[order[e]] & kind) && end[edge_from[order[e]]] > begin)
                begin = end[edge_from[order[e]]];
        end[n] = begin + (uint64_t)work_of[n] * weights[construct_of[n]];
        longest = end[n] > longest ? end[n] : longest;
    }
    return longest;
}

struct action actions[ACTIONS];
uint32_t n_actions, n_planned;

uint32_t below(uint32_t n) {
    return (uint32_t)rand() % n;
}

static struct action *add_action(struct action *list, uint32_t *n, enum action_kind kind) {
    assert_true(*n < 100);
    list[*n] = (struct action){.kind = kind};
    return &list[(*n)++];
}

static void plan_dependences(struct action *a) {
    static const uint8_t types[] = {OMPT_DEPEND_IN, OMPT_DEPEND_OUT, OMPT_DEPEND_INOUT,
                                    OMPT_DEPEND_MUTEXINOUTSET, OMPT_DEPEND_INOUTSET};
    if (below(12) == 0) { /* omp_all_memory */
        a->type[a->n_depend++] = OMPT_DEPEND_OUT_ALL_MEMORY;
        return;
    }
    for (uint8_t i = 0; i < ADDRESSES; i++)
        if (below(4) == 0) {
            a->address[a->n_depend] = i;
            a->type[a->n_depend++] = types[below(sizeof types)];
        }
}

static void plan_task(struct action *list, uint32_t *n, const struct plan *in) {
    struct action *a = add_action(list, n, CREATE);
    bool final = in->final || below(12) == 0;
    a->undeferred = final || below(6) == 0;
    a->untied = !a->undeferred && below(4) == 0;
    if (!a->undeferred)
        plan_dependences(a);
    n_planned++;
    a->value = plan((struct plan){.depth = in->depth + 1, .untied = a->untied, .final = final});
    if (a->undeferred || below(6) > 0)
        return;
    a->detached = true;
    if (below(2) == 0)
        add_action(list, n, WORK)->value = 1 + below(200);
    add_action(list, n, FULFIL);
}

/* Tasks of one body, and all are waited for. */
static void plan_taskloop(struct action *list, uint32_t *n, const struct plan *in) {
    uint32_t parts = 1 + below(4), body = plan((struct plan){.depth = 3, .final = in->final});
    add_action(list, n, GROUP_BEGIN);
    for (; parts > 0 && n_planned < 60; parts--, n_planned++) {
        struct action *a = add_action(list, n, CREATE);
        a->undeferred = in->final;
        a->value = body;
    }
    add_action(list, n, GROUP_END);
}

static void plan_some(struct action *list, uint32_t *n, const struct plan *in) {
    struct plan inner = *in;
    inner.depth++;
    for (uint32_t i = 1 + below(5); i > 0; i--)
        switch (below(10)) {
        case 0:
            if (below(3) == 0)
                plan_dependences(add_action(list, n, TASKWAIT_DEPEND));
            else
                add_action(list, n, TASKWAIT);
            break;
        case 1: {
            struct action *a = add_action(list, n, CRITICAL);
            a->lock = below(LOCKS);
            a->value = 1 + below(30);
            break;
        }
        case 2:
            if (in->depth < 3 && *n < 60) {
                add_action(list, n, GROUP_BEGIN);
                plan_some(list, n, &inner);
                add_action(list, n, GROUP_END);
            }
            break;
        case 3:
        case 4:
        case 5:
            if (in->depth < 3 && n_planned < 60) {
                plan_task(list, n, in);
                break;
            } /* fall through */
        case 6:
            if (in->depth < 2 && n_planned < 60 && *n < 60 && below(3) == 0) {
                plan_taskloop(list, n, in);
                break;
            } /* fall through */
        case 7:
            if (in->untied) {
                add_action(list, n, YIELD);
                break;
            } /* fall through */
        default:
            add_action(list, n, WORK)->value = 1 + below(100);
        }
}

uint32_t plan(struct plan body) {
    struct action list[100];
    uint32_t n = 0;
    for (uint32_t part = body.implicit ? 2 : 0;; part--) {
        plan_some(list, &n, &body);
        if (part == 0)
            break;
        add_action(list, &n, BARRIER);
    }
    add_action(list, &n, body.implicit ? BARRIER : END);
    if (body.implicit)
        add_action(list, &n, END);
    assert_true(n_actions + n <= ACTIONS);
    memcpy(actions + n_actions, list, n * sizeof *list);
    n_actions += n;
    return n_actions - n;
}
