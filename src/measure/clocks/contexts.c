#include <stdlib.h>
#include <string.h>

#include "measure/clocks/contexts.h"
#include "base/timer.h"
#include "measure/mpi/handles.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/collectives.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "piggyback/logical.h"
#include "base/hash.h"
#include "base/mem.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/backlog.h"
#include "piggyback/colllog.h"
#include "piggyback/combine.h"

/* A copy of n ranks, the caller frees it; NULL: none given, or no memory. */
static int32_t *lc_clk_comm_ranks(const int32_t *ranks, int32_t n) {
    int32_t *copy = ranks != NULL ? malloc(((size_t)n + 1) * sizeof *copy) : NULL;
    if (copy != NULL)
        memcpy(copy, ranks, (size_t)n * sizeof *copy);
    return copy;
}

/* Frees what is kept of a communicator. With lc_clk.lock. */
static void lc_clk_comm_release(struct lc_clk_comm *c) {
    free(c->sources);
    free(c->targets);
    free(c->ranks);
    free(c->local);
    free(c);
}

void lc_clk_comm_unuse(struct lc_clk_comm *c) {
    if (--c->uses == 0 && c->freed)
        lc_clk_comm_release(c);
}

/* The synchronisation of all members of a new communicator inside its constructor. */

static MPI_Datatype type = MPI_DATATYPE_NULL;
static MPI_Op largest = MPI_OP_NULL;

static void merge(void *in, void *inout, int *n, MPI_Datatype *unused) {
    (void)unused;
    for (int i = 0; i < *n; i++)
        lc_shadow_merge((const struct lc_shadow_record *)in + i,
                        (struct lc_shadow_record *)inout + i);
}

static bool prepare(void) {
    lc_clk_lock();
    if (type == MPI_DATATYPE_NULL) {
        lc_real.Type_contiguous((int)sizeof(struct lc_shadow_record), MPI_BYTE, &type);
        lc_real.Type_commit(&type);
        lc_real.Op_create(merge, 1, &largest);
    }
    lc_clk_unlock();
    return type != MPI_DATATYPE_NULL && largest != MPI_OP_NULL;
}

void lc_clk_constructor_sync_finish(void) {
    if (largest != MPI_OP_NULL)
        lc_real.Op_free(&largest);
    if (type != MPI_DATATYPE_NULL)
        lc_real.Type_free(&type);
}

/* Between two groups the first round brings the maxima of the other one, the second those of both.
 */
static void lc_clk_constructor_sync(struct lc_clk_thread *k, struct lc_call *call,
                                    struct lc_comm *comm) {
    struct lc_clk_comm *c = comm->clocks;
    struct lc_clk_coll x = {.c = c, .kind = LC_COLL_SYNC};
    struct lc_shadow_record *both = calloc(2, sizeof *both);
    if (c == NULL || both == NULL || !prepare()) {
        free(both);
        return;
    }
    if (k != NULL) {
        struct lc_stamp stamp;
        lc_logical_stamp(&k->l, call->begin, &stamp);
        lc_shadow_fill(k, &stamp, &both[0]);
    }
    uint32_t number = UINT32_MAX - c->n_syncs++;
    LC_CLK_LOG("X %u %u %d -1 1 1\nY %u %u\n", c->context, number, (int)x.kind, c->context, number);
    int result = MPI_SUCCESS;
    for (int round = 0; round < (comm->inter ? 2 : 1) && result == MPI_SUCCESS; round++) {
        if (round > 0)
            lc_shadow_merge(&both[1], &both[0]);
        result = lc_real.Allreduce(&both[0], &both[1], 1, type, largest, comm->handle);
    }
    call->end = lc_ticks();
    if (result == MPI_SUCCESS && k != NULL)
        lc_shadow_apply(k, call, &x, &both[1]);
    free(both);
}

enum { LC_LOG_ENTRIES_WORLD = 1024, LC_LOG_ENTRIES = 256 };

struct lc_seen_group { /* how many communicators of one list of members were made */
    uint64_t hash;
    uint32_t count;
};
static struct lc_seen_group *groups;
static size_t n_groups, cap_groups;

static uint64_t hash_ranks(const int32_t *ranks, int32_t n) {
    uint64_t hash = LC_HASH_BEGIN;
    for (int32_t i = 0; i < n; i++)
        hash = lc_hash_word(hash, (uint32_t)ranks[i]);
    return hash ^ hash >> 29;
}

/* Members make communicators of the same list of members in the same order, as making one is
 * collective over exactly them. So the list and its count name the communicator on all of them.
 * Both groups of an intercommunicator find the same number. */
static uint64_t make_id(const struct lc_comm *comm) {
    const int32_t *local = comm->local_world != NULL ? comm->local_world : comm->world;
    uint64_t a = hash_ranks(local, comm->size);
    uint64_t b = comm->inter ? hash_ranks(comm->world, comm->remote_size) : 0;
    uint64_t hash = comm->inter ? (a < b ? a * 31 + b : b * 31 + a) ^ 0x5bd1e995 : a;
    size_t i = 0;
    while (i < n_groups && groups[i].hash != hash)
        i++;
    if (i == n_groups) {
        if (lc_grow(&groups, &cap_groups, n_groups + 1, sizeof *groups) != LC_OK)
            return 0;
        groups[n_groups++] = (struct lc_seen_group){.hash = hash};
    }
    uint64_t id = lc_hash_mix(hash + lc_hash_key(++groups[i].count));
    return (uint32_t)id < LC_CONTEXT_FIRST ? id + LC_CONTEXT_FIRST : id;
}

struct lc_members { /* what decides how collectives travel; the same answer on all members */
    bool strangers, elsewhere;
};

static void look_at_group(const int32_t *ranks, int32_t n, struct lc_members *m) {
    for (int32_t i = 0; i < n; i++) {
        if (ranks[i] < 0)
            m->strangers = true;
        else
            m->elsewhere |= lc_clk.areas[ranks[i]].head == NULL;
    }
}

/* All on this node, or some not: then everybody sees one that is not on its own. */
static struct lc_members look_at(const struct lc_comm *comm) {
    struct lc_members m = {false, false};
    look_at_group(comm->world, comm->inter ? comm->remote_size : comm->size, &m);
    if (comm->inter && comm->local_world != NULL)
        look_at_group(comm->local_world, comm->size, &m);
    return m;
}

/* The place of a log that is free again, oldest first; 0: none. */
static uint64_t take_freed_log(void) {
    for (uint32_t i = 0; i < lc_clk.n_freed_logs; i++) {
        const struct lc_freed_log freed = lc_clk.freed_logs[i];
        if (!lc_colllog_reusable(&lc_clk.mine, &freed))
            continue;
        lc_clk.n_freed_logs--;
        memmove(&lc_clk.freed_logs[i], &lc_clk.freed_logs[i + 1],
                (lc_clk.n_freed_logs - i) * sizeof freed);
        return freed.offset;
    }
    return 0;
}

void lc_clk_comm_make(struct lc_comm *comm) {
    struct lc_clk_comm *c = calloc(1, sizeof *c);
    if (c == NULL || comm->clocks != NULL) {
        free(c);
        return;
    }
    lc_clk_lock();
    uint64_t id = make_id(comm);
    struct lc_members members = look_at(comm);
    uint32_t n = (uint32_t)(comm->inter ? comm->remote_size : comm->size);
    c->context = (uint32_t)id;
    c->n_sources = -1;
    c->alone = !comm->inter && comm->size < 2;
    bool logs = !c->alone && !members.elsewhere;
    enum lc_err err = lc_colllog_init(&c->log, logs ? &lc_clk.mine : NULL, id, n,
                                      comm->inter ? UINT32_MAX : (uint32_t)comm->rank,
                                      comm->id == 0 ? LC_LOG_ENTRIES_WORLD : LC_LOG_ENTRIES,
                                      logs && comm->id != 0 ? take_freed_log() : 0);
    if (err == LC_OK && logs)
        for (uint32_t i = 0; i < n; i++)
            if (comm->world[i] >= 0 && lc_clk.areas[comm->world[i]].head != NULL)
                c->log.areas[i] = &lc_clk.areas[comm->world[i]];
    if (err == LC_OK && logs && !comm->inter && !members.strangers &&
        comm->size > LC_COMBINE_GROUP && !lc_clk.backlog)
        lc_combine_init(&c->combine, &c->log, &lc_clk.mine);
    lc_clk_unlock();
    if (id == 0 || err != LC_OK) {
        free(c);
        return;
    }
    if (members.elsewhere && !members.strangers && !c->alone && lc_clk.records && lc_core.agreed)
        c->shadow = true;
    else if (members.elsewhere)
        c->alone = true; /* no transport: no edges */
    c->ranks = lc_clk_comm_ranks(comm->world, comm->inter ? comm->remote_size : comm->size);
    c->alone |= c->ranks == NULL;
    c->local = comm->inter ? lc_clk_comm_ranks(comm->local_world, comm->size) : NULL;
    comm->clocks = c;
    if (comm->uid == 0)
        comm->uid = id;
}

void lc_clocks_comm_new(struct lc_call *call, struct lc_comm *comm) {
    (void)call;
    if (lc_clk.ready)
        lc_clk_comm_make(comm);
}

/* Constructors that are collective over other processes than the members of the communicator given
 * to them synchronise on the new one; those from an intercommunicator over both of its groups. */
void lc_clocks_comm_sync(struct lc_call *call, struct lc_comm *comm) {
    if (!lc_clk.ready || !lc_core.agreed || comm->clocks == NULL || look_at(comm).strangers ||
        (!comm->inter && comm->size < 2) || call->thread->clocks == NULL)
        return;
    if (lc_clk.backlog)
        lc_clk_constructor_sync_in_backlog(call, call->thread->clocks, comm);
    else
        lc_clk_constructor_sync(call->thread->clocks, call, comm);
}

static void comm_free(struct lc_call *call, struct lc_clk_thread *k, void *data) {
    struct lc_clk_comm *c;
    (void)call;
    (void)k;
    memcpy(&c, data, sizeof c);
    lc_clk_lock();
    struct lc_freed_log freed;
    size_t cap = lc_clk.cap_freed_logs;
    lc_combine_free(&c->combine, &c->log, &lc_clk.mine);
    lc_colllog_free(&c->log, &lc_clk.mine, &freed);
    if (freed.offset &&
        lc_grow(&lc_clk.freed_logs, &cap, lc_clk.n_freed_logs + 1, sizeof freed) == LC_OK)
        lc_clk.freed_logs[lc_clk.n_freed_logs++] = freed;
    lc_clk.cap_freed_logs = (uint32_t)cap;
    c->freed = true;
    if (c->uses == 0)
        lc_clk_comm_release(c);
    lc_clk_unlock();
}

void lc_clocks_comm_free(struct lc_call *call, struct lc_comm *comm) {
    static const struct lc_event_type event = {.run = comm_free};
    struct lc_clk_comm *c = comm->clocks;
    struct lc_clk_thread *k = call->thread->clocks;
    if (c == NULL || comm->id < 2)
        return;
    if (comm->refs > 0) /* requests still point here: it stays */
        return;
    comm->clocks = NULL;
    lc_clk_event(&event, k, call, &c, sizeof c);
}
