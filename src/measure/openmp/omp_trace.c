#include "measure/openmp/omp_trace.h"

#include <pthread.h>

#include "base/mem.h"
#include "measure/hot/hot.h"

enum { CREATOR_SHIFT = 40 };

static void put3(struct lc_trace_stream *s, enum lc_rec_kind kind, uint64_t now, uint64_t a,
                 uint64_t b) {
    lc_trace_put3(s, lc_rec_word(kind, now - s->base_ticks), a, b);
    lc_trace_renew_if_full(s);
}

static void put1(struct lc_omp_thread *o, enum lc_rec_kind kind, uint64_t now) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    if (s == NULL)
        return;
    lc_trace_put1(s, lc_rec_word(kind, now - s->base_ticks));
    lc_trace_renew_if_full(s);
}

void lc_omp_trace_worker(struct lc_omp_thread *o, uint64_t now) {
    struct lc_trace_stream *s = o->t->trace; /* also while measurement is off: what it is */
    if (s == NULL)
        return;
    s->worker = 1;
    lc_trace_put1(s, lc_rec_word(LC_REC_OMP_WORKER, now - s->base_ticks));
}

/* Numbers in the order in which pairs of thread and depth are first seen; those for which there is
 * no room share the last one. */
static LC_COLD uint32_t new_team_number(uint32_t thread, uint32_t depth) {
    static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
    static struct pair { uint32_t thread, depth; } * seen;
    static size_t n, room;
    size_t found = 0;
    pthread_mutex_lock(&adding);
    while (found < n && (seen[found].thread != thread || seen[found].depth != depth))
        found++;
    if (found == n && n < LC_REC_OMP_TEAMS && lc_grow(&seen, &room, n + 1, sizeof *seen) == LC_OK)
        seen[n++] = (struct pair){thread, depth};
    pthread_mutex_unlock(&adding);
    return found < LC_REC_OMP_TEAMS ? (uint32_t)found : LC_REC_OMP_TEAMS - 1;
}

static uint32_t team_number(struct lc_omp_thread *o) {
    uint32_t depth = o->forks;
    if (depth >= LC_OMP_TEAM_LEVELS) /* too deep to be remembered */
        return new_team_number(o->t->index, depth);
    if (o->team_numbers[depth] == 0)
        o->team_numbers[depth] = 1 + new_team_number(o->t->index, depth);
    return o->team_numbers[depth] - 1;
}

void lc_omp_trace_fork(struct lc_omp_thread *o, struct lc_omp_region *region, unsigned wanted,
                       uint64_t now) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    if (lc_likely(s == NULL) || region->node == 0)
        return;
    region->team_number = 1 + team_number(o);
    o->forks++;
    lc_omp_put2(s, LC_REC_OMP_FORK, now, wanted);
}

void lc_omp_trace_join(struct lc_omp_thread *o, const struct lc_omp_region *region, uint64_t now) {
    if (region->team_number == 0)
        return;
    o->forks -= o->forks > 0;
    put1(o, LC_REC_OMP_JOIN, now);
}

void lc_omp_trace_team(struct lc_omp_thread *o, struct lc_omp_task *share, uint64_t now) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    const struct lc_omp_region *region = share->region;
    if (lc_likely(s == NULL) || region->team_number == 0)
        return;
    put3(s, LC_REC_OMP_TEAM, now, region->node | (uint64_t)(region->team_number - 1) << 32,
         o->teams++);
    share->id = 1;
}

void lc_omp_trace_team_end(struct lc_omp_thread *o, struct lc_omp_task *share, uint64_t now) {
    if (share->id == 0)
        return;
    share->id = 0;
    o->teams -= o->teams > 0;
    put1(o, LC_REC_OMP_TEAM_END, now);
}

bool lc_omp_trace_acquired(struct lc_omp_thread *o, uint32_t lock, uint32_t order,
                           enum lc_omp_construct block, const void *code, uint64_t now,
                           uint32_t *node) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    if (lc_likely(s == NULL) || o->at == NULL)
        return false;
    struct lc_omp_node *inner =
        block != LC_OMP_AT_IDLE ? lc_omp_node_get(o, o->at->node, block, code) : NULL;
    *node = inner != NULL ? inner->node : 0;
    put3(s, LC_REC_OMP_ACQUIRE, now, (uint64_t)lock << 32 | order, *node);
    return true;
}

bool lc_omp_trace_tried(struct lc_omp_thread *o, uint32_t lock, uint32_t order, const void *code,
                        uint64_t now) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    if (lc_likely(s == NULL) || o->at == NULL)
        return false;
    const struct lc_omp_node *call = lc_omp_node_get(o, o->at->node, LC_OMP_AT_TEST_LOCK, code);
    if (call == NULL)
        return false;
    lc_omp_put2(s, LC_REC_OMP_IN, now, call->node);
    put3(s, LC_REC_OMP_ACQUIRE, now, (uint64_t)lock << 32 | order, 0);
    lc_omp_put2(s, LC_REC_OMP_OUT, now, call->node);
    return true;
}

void lc_omp_trace_released(struct lc_omp_thread *o, uint32_t lock, uint32_t order, uint32_t block,
                           uint32_t construct, const void *code, uint64_t now) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    if (lc_likely(s == NULL))
        return;
    const struct lc_omp_node *call =
        construct == 0 && o->at != NULL
            ? lc_omp_node_get(o, o->at->node, LC_OMP_AT_UNSET_LOCK, code)
            : NULL;
    if (call != NULL)
        lc_omp_put2(s, LC_REC_OMP_IN, now, call->node);
    put3(s, LC_REC_OMP_RELEASE, now, (uint64_t)lock << 32 | order,
         block | (uint64_t)construct << 32);
    if (call != NULL)
        lc_omp_put2(s, LC_REC_OMP_OUT, now, call->node);
}

void lc_omp_trace_created(struct lc_omp_thread *o, struct lc_omp_task *task, const void *code,
                          uint64_t now) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    task->id = (uint64_t)o->t->index << CREATOR_SHIFT | ++o->created;
    if (lc_likely(s == NULL) || o->at == NULL)
        return;
    const struct lc_omp_node *call = lc_omp_node_get(o, o->at->node, LC_OMP_AT_CREATE_TASK, code);
    if (call != NULL)
        put3(s, LC_REC_OMP_CREATE, now, task->id, call->node);
}

void lc_omp_trace_switch(struct lc_omp_thread *o, uint64_t now) {
    struct lc_trace_stream *s = lc_omp_stream(o);
    const struct lc_omp_task *task = o->task;
    if (lc_likely(s == NULL) || task == NULL)
        return;
    uint64_t id = task->explicit_one ? task->id : (uint64_t)o->t->index << CREATOR_SHIFT;
    put3(s, LC_REC_OMP_SWITCH, now, id, task->explicit_one ? task->node : 0);
}

void lc_omp_trace_done(struct lc_omp_thread *o, const struct lc_omp_task *task, uint64_t now) {
    lc_omp_trace2(o, LC_REC_OMP_DONE, now, task->id);
}
