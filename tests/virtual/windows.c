/* Windows: who posted an epoch, and who completed it, tells its clock. Files in two halves are in
 * gen_calls.py. */
#include "virtual.h"

#include <pthread.h>
#include <stdlib.h>

/* Groups of the epochs that are open. */
static struct epoch {
    MPI_Win win;
    bool posted; /* MPI_Win_post, else MPI_Win_start */
    int n, *ranks;
    struct epoch *next;
} * epochs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void open_epoch(MPI_Win win, bool posted, MPI_Group group) {
    const struct vt_channel *channel = vt_channel_of_win(win);
    struct epoch *e = calloc(1, sizeof *e);
    MPI_Group all;
    if (e == NULL)
        abort();
    CALL(PMPI_Group_size, group, &e->n);
    int *in_group = calloc((size_t)e->n + 1, sizeof *in_group);
    e->win = win;
    e->posted = posted;
    e->ranks = calloc((size_t)e->n + 1, sizeof *e->ranks);
    if (in_group == NULL || e->ranks == NULL)
        abort();
    for (int i = 0; i < e->n; i++)
        in_group[i] = i;
    CALL(PMPI_Comm_group, channel->shadow, &all);
    CALL(PMPI_Group_translate_ranks, group, e->n, in_group, all, e->ranks);
    CALL(PMPI_Group_free, &all);
    free(in_group);
    pthread_mutex_lock(&lock);
    e->next = epochs;
    epochs = e;
    pthread_mutex_unlock(&lock);
}

static struct epoch *close_epoch(MPI_Win win, bool posted) {
    struct epoch *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct epoch **e = &epochs; *e != NULL; e = &(*e)->next)
        if ((*e)->win == win && (*e)->posted == posted) {
            found = *e;
            *e = found->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

/* All of an epoch are told this thread's clock (tell: a tag, or 0), or heard (hear). */
static void tell_and_hear(struct epoch *e, int tell, int hear) {
    const struct vt_channel *channel = vt_channel_of_win(e->win);
    uint64_t at = vt_now();
    for (int i = 0; i < e->n && tell != 0; i++)
        vt_tell(channel, e->ranks[i], tell, at);
    for (int i = 0; i < e->n && hear != 0; i++)
        vt_later(vt_hear(channel, e->ranks[i], hear) + VT_LATENCY_NS);
}

static void over(struct epoch *e) {
    if (e == NULL)
        return;
    free(e->ranks);
    free(e);
}

BOTH(MPI_Win_post)(MPI_Group group, int assertion, MPI_Win win) {
    int result = CALL(PMPI_Win_post, group, assertion, win);
    if (result == MPI_SUCCESS && vt_inside == 0) {
        open_epoch(win, true, group);
        tell_and_hear(epochs, VT_TAG_POST, 0);
    }
    return result;
}

BOTH(MPI_Win_start)(MPI_Group group, int assertion, MPI_Win win) {
    int result = CALL(PMPI_Win_start, group, assertion, win);
    if (result == MPI_SUCCESS && vt_inside == 0)
        open_epoch(win, false, group);
    return result;
}

BOTH(MPI_Win_complete)(MPI_Win win) {
    struct epoch *e = vt_inside == 0 ? close_epoch(win, false) : NULL;
    if (e != NULL)
        tell_and_hear(e, VT_TAG_COMPLETE, VT_TAG_POST);
    over(e);
    return CALL(PMPI_Win_complete, win);
}

BOTH(MPI_Win_wait)(MPI_Win win) {
    struct epoch *e = vt_inside == 0 ? close_epoch(win, true) : NULL;
    if (e != NULL)
        tell_and_hear(e, 0, VT_TAG_COMPLETE);
    over(e);
    return CALL(PMPI_Win_wait, win);
}

BOTH(MPI_Win_test)(MPI_Win win, int *flag) {
    int result = CALL(PMPI_Win_test, win, flag);
    struct epoch *e = vt_inside == 0 && *flag ? close_epoch(win, true) : NULL;
    if (e != NULL)
        tell_and_hear(e, 0, VT_TAG_COMPLETE);
    over(e);
    return result;
}

BOTH(MPI_Win_fence)(int assertion, MPI_Win win) {
    if (!(assertion & MPI_MODE_NOPRECEDE))
        vt_meet(vt_channel_of_win(win), VT_ALL, 0, NULL);
    return CALL(PMPI_Win_fence, assertion, win);
}

BOTH(MPI_Win_free)(MPI_Win *win) {
    const struct vt_channel *channel = vt_channel_of_win(*win);
    vt_meet(channel, VT_ALL, 0, NULL);
    int result = CALL(PMPI_Win_free, win);
    if (result == MPI_SUCCESS && channel != NULL && vt_inside == 0)
        vt_channel_drop(channel);
    return result;
}

static int made(int result, MPI_Comm comm, const MPI_Win *win) {
    if (result == MPI_SUCCESS && vt_inside == 0)
        vt_channel_add_win(comm, *win);
    return result;
}

BOTH(MPI_Win_create)
(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    vt_meet(vt_channel(comm), VT_ALL, 0, NULL);
    return made(CALL(PMPI_Win_create, base, bytes, unit, info, comm, win), comm, win);
}

BOTH(MPI_Win_allocate)
(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    vt_meet(vt_channel(comm), VT_ALL, 0, NULL);
    return made(CALL(PMPI_Win_allocate, bytes, unit, info, comm, base, win), comm, win);
}

BOTH(MPI_Win_allocate_shared)
(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
    vt_meet(vt_channel(comm), VT_ALL, 0, NULL);
    return made(CALL(PMPI_Win_allocate_shared, bytes, unit, info, comm, base, win), comm, win);
}

BOTH(MPI_Win_create_dynamic)(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    vt_meet(vt_channel(comm), VT_ALL, 0, NULL);
    return made(CALL(PMPI_Win_create_dynamic, info, comm, win), comm, win);
}

/* Locks. Each process keeps when the last exclusive epoch of its window ended, and the last of any
 * kind; who ends one is later than those that it conflicts with. */
_Thread_local bool vt_keeps_lock;
static _Thread_local MPI_Win kept;
static _Thread_local int kept_target;

void vt_pass_lock_on(void) {
    vt_keeps_lock = false;
    CALL(PMPI_Win_unlock, kept_target, kept);
}

static struct held {
    MPI_Win win;
    int target;
    bool shared;
    struct held *next;
} * locks;

BOTH(MPI_Win_lock)(int type, int target, int assertion, MPI_Win win) {
    int result = CALL(PMPI_Win_lock, type, target, assertion, win);
    if (result != MPI_SUCCESS || target == MPI_PROC_NULL || vt_inside > 0)
        return result;
    struct held *h = malloc(sizeof *h);
    if (h == NULL)
        abort();
    pthread_mutex_lock(&lock);
    *h = (struct held){win, target, type == MPI_LOCK_SHARED, locks};
    locks = h;
    pthread_mutex_unlock(&lock);
    return result;
}

static void end_of_lock(MPI_Win ends, int target, bool shared) {
    uint64_t last[2]; /* exclusive, any */
    CALL(PMPI_Win_lock, MPI_LOCK_EXCLUSIVE, target, 0, ends);
    CALL(PMPI_Get, last, 16, MPI_BYTE, target, 0, 16, MPI_BYTE, ends);
    CALL(PMPI_Win_flush, target, ends);
    if (last[!shared] > 0)
        vt_later(last[!shared] + VT_LATENCY_NS);
    uint64_t now = vt_now();
    for (int i = shared; i < 2; i++)
        last[i] = now > last[i] ? now : last[i];
    CALL(PMPI_Put, last, 16, MPI_BYTE, target, 0, 16, MPI_BYTE, ends);
    CALL(PMPI_Win_flush, target, ends);
    kept = ends;
    kept_target = target;
    vt_keeps_lock = true;
}

BOTH(MPI_Win_unlock)(int target, MPI_Win win) {
    int result = CALL(PMPI_Win_unlock, target, win);
    const struct vt_channel *channel = vt_inside == 0 ? vt_channel_of_win(win) : NULL;
    struct held *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct held **h = &locks; *h != NULL && channel != NULL; h = &(*h)->next)
        if ((*h)->win == win && (*h)->target == target) {
            found = *h;
            *h = found->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (found != NULL && result == MPI_SUCCESS)
        end_of_lock(channel->ends, target, found->shared);
    free(found);
    return result;
}
