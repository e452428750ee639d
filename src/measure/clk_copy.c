/* Private copies of communicators whose members are on several nodes: collectives are mirrored
 * there (clk_mirror.c). Made in the constructor; MPI_Comm_idup must not wait, so the copy is an
 * idup of the parent's copy, and mirrors that begin before it is there are started when it is, in
 * their order, as on all members. */
#include <stdlib.h>

#include "measure/clk.h"

struct lc_clk_copy { /* MPI writes here */
    MPI_Comm comm;
    MPI_Request request;
};

static struct lc_clk_comm *unready;

bool lc_clk_copy_make(struct lc_clk_comm *c, const struct lc_comm *comm) {
    /* without attributes, so that no callback of the program runs */
    return lc_real.Comm_split(comm->handle, 0, comm->rank, &c->copy) == MPI_SUCCESS;
}

/* Before the program's own, so that it is there when that is, mostly. */
void lc_clk_copy_begin(struct lc_clk_comm *parent) {
    struct lc_clk_copy *copy = parent->mirror ? malloc(sizeof *copy) : NULL;
    if (copy == NULL)
        return;
    lc_clk_copy_wait(parent); /* only if that was made by MPI_Comm_idup a moment ago, too */
    if (lc_real.Comm_idup(parent->copy, &copy->comm, &copy->request) == MPI_SUCCESS)
        parent->next = copy;
    else
        free(copy);
}

bool lc_clk_copy_take(struct lc_clk_comm *c, struct lc_clk_comm *parent) {
    if (parent->next == NULL)
        return false;
    lc_clk_lock();
    c->making = parent->next;
    parent->next = NULL;
    c->unready = unready;
    unready = c;
    lc_clk_unlock();
    return true;
}

static void is_there(struct lc_clk_comm *c) {
    struct lc_clk_comm **at = &unready;
    while (*at != NULL && *at != c)
        at = &(*at)->unready;
    if (*at == c)
        *at = c->unready;
    c->copy = c->making->comm;
    free(c->making);
    c->making = NULL;
    lc_clk_mirror_start_waiting(c);
}

bool lc_clk_copy_ready(struct lc_clk_comm *c) {
    if (lc_likely(c->making == NULL))
        return true;
    int done = 0;
    lc_clk_lock();
    if (c->making != NULL &&
        lc_real.Test(&c->making->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
        is_there(c);
    bool ready = c->making == NULL;
    lc_clk_unlock();
    return ready;
}

/* Not by MPI_Wait: other threads may need the lock. */
void lc_clk_copy_wait(struct lc_clk_comm *c) {
    while (!lc_clk_copy_ready(c)) {
    }
}

void lc_clk_copy_free(struct lc_clk_comm *c) {
    lc_clk_copy_wait(c);
    if (c->copy != MPI_COMM_NULL)
        lc_real.Comm_free(&c->copy);
}

void lc_clk_copies_finish(void) {
    while (unready != NULL)
        lc_clk_copy_ready(unready);
}
