/* Private copies of communicators whose members are on several nodes: collectives are mirrored
 * there (shadow_collectives.c). Made in the constructor; MPI_Comm_idup must not wait, so the copy
 * is an idup of the parent's copy, and mirrors that begin before it is there are started when it
 * is, in their order, as on all members. So are those of the parent: inside MPI_Comm_idup, Open MPI
 * starts operations on the communicator when it gets to it, and the order of operations on a
 * communicator must be the same on all members. For that reason, too, a copy from which one is
 * made, or that is being made, gives no other one until a blocking collective has waited for it:
 * this is the same on all members, which of them sees it done first is not. */
#include <stdlib.h>

#include "measure/calls/communicators.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/comm_copies.h"
#include "measure/clocks/contexts.h"
#include "measure/clocks/shadow_collectives.h"
#include "measure/core.h"

struct lc_clk_copy { /* MPI writes here */
    MPI_Comm comm;
    MPI_Request request;
};

static struct lc_clk_comm *unready;

bool lc_clk_copy_make(struct lc_clk_comm *c, const struct lc_comm *comm) {
    /* without attributes, so that no callback of the program runs */
    c->copies_ready = lc_real.Comm_split(comm->handle, 0, comm->rank, &c->copy) == MPI_SUCCESS;
    if (c->copies_ready)
        lc_real.Comm_set_errhandler(c->copy, MPI_ERRORS_RETURN);
    return c->copies_ready;
}

/* Before the program's own, so that it is there when that is, mostly. */
void lc_clk_copy_begin(struct lc_clk_comm *parent) {
    struct lc_clk_copy *copy = parent->shadow && parent->copies_ready ? malloc(sizeof *copy) : NULL;
    if (copy == NULL)
        return;
    if (lc_real.Comm_idup(parent->copy, &copy->comm, &copy->request) != MPI_SUCCESS) {
        free(copy);
        return;
    }
    parent->next = copy;
    parent->copies_ready = false;
}

bool lc_clk_copy_take(struct lc_clk_comm *c, struct lc_clk_comm *parent) {
    if (parent->next == NULL)
        return false;
    lc_clk_lock();
    c->making = parent->next;
    c->maker = parent;
    parent->child = c;
    parent->next = NULL;
    c->unready = unready;
    unready = c;
    lc_clk_unlock();
    return true;
}

static bool nothing_on_its_way(const struct lc_clk_comm *c) {
    return c->making == NULL && c->child == NULL;
}

struct lc_clk_copy_use *lc_clk_copy_use(struct lc_clk_comm *c) {
    if (c->use == NULL) {
        c->use = calloc(1, sizeof *c->use);
        if (c->use != NULL)
            c->use->comm = MPI_COMM_NULL;
    }
    if (c->use != NULL)
        c->use->n++;
    return c->use;
}

void lc_clk_copy_unuse(struct lc_clk_copy_use *use, bool overdue) {
    use->n_overdue -= overdue;
    if (--use->n > 0 || use->comm == MPI_COMM_NULL)
        return;
    lc_real.Comm_free(&use->comm);
    free(use);
}

/* Nobody asks for it any more. */
static void release(struct lc_clk_comm *c) {
    bool used = c->use != NULL && c->use->n > 0;
    if (used)
        c->use->comm = c->copy; /* freed with the last of them */
    else
        free(c->use);
    if (!used && c->copy != MPI_COMM_NULL)
        lc_real.Comm_free(&c->copy);
    free(c->sources);
    free(c->targets);
    free(c);
}

void lc_clk_copy_free(struct lc_clk_comm *c) {
    lc_clk_lock();
    c->freed = true;
    if (nothing_on_its_way(c))
        release(c);
    lc_clk_unlock();
}

/* Its copy, if it has come; with lc_clk.lock. */
static void look(struct lc_clk_comm *c) {
    int done = 0;
    if (lc_real.Test(&c->making->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)
        return;
    struct lc_clk_comm **at = &unready, *maker = c->maker;
    while (*at != NULL && *at != c)
        at = &(*at)->unready;
    if (*at == c)
        *at = c->unready;
    c->copy = c->making->comm;
    lc_real.Comm_set_errhandler(c->copy, MPI_ERRORS_RETURN);
    free(c->making);
    c->making = NULL;
    c->maker = maker->child = NULL;
    if (nothing_on_its_way(maker)) {
        lc_clk_shadow_start_waiting(maker);
        if (maker->freed)
            release(maker);
    }
    if (nothing_on_its_way(c)) {
        lc_clk_shadow_start_waiting(c);
        if (c->freed)
            release(c);
    }
}

bool lc_clk_copy_ready(struct lc_clk_comm *c, bool ask) {
    if (lc_likely(nothing_on_its_way(c)))
        return true;
    if (!ask)
        return false;
    lc_clk_lock();
    if (c->making != NULL)
        look(c);
    else
        look(c->child);
    bool ready = nothing_on_its_way(c);
    lc_clk_unlock();
    return ready;
}

/* Not by MPI_Wait: other threads may need the lock. Every member is in the operation that waits. */
void lc_clk_copy_wait(struct lc_clk_comm *c) {
    while (!lc_clk_copy_ready(c, true)) {
    }
    c->copies_ready = true;
}

void lc_clk_copies_finish(void) {
    struct lc_clk_patience patience = {0};
    uint64_t n = 0;
    do {
        struct lc_clk_comm *next;
        n = 0;
        for (struct lc_clk_comm *c = unready; c != NULL; c = next, n++) {
            next = c->unready;
            lc_clk_lock();
            look(c);
            lc_clk_unlock();
        }
    } while (lc_clk_still_waits(&patience, n));
}
