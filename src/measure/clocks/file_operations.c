/* Edges of collective operations of files: every member -> every member. Nonblocking ones begin
 * where they are started and end where their request is complete, split ones where their second
 * half ends. They count as operations of the file's communicator. */
#include <stdlib.h>

#include "measure/mpi/handles.h"
#include "measure/mpi/operations.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/collectives_backlog.h"
#include "measure/clocks/synchronising.h"
#include "measure/core/thread.h"

static struct file {
    MPI_File handle;
    struct lc_comm comm;
    struct lc_coll split; /* in progress: clocks is not NULL */
    struct file *next;
} * files;

void lc_clocks_file_new(MPI_File handle, struct lc_comm *comm) {
    struct file *f = comm->clocks != NULL && !comm->inter ? calloc(1, sizeof *f) : NULL;
    if (f == NULL || !lc_clk_keep_comm(&f->comm, comm)) {
        free(f);
        return;
    }
    f->handle = handle;
    lc_clk_lock();
    f->next = files;
    files = f;
    lc_clk_unlock();
}

static struct file **place_of(MPI_File handle) {
    struct file **at = &files;
    while (*at != NULL && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static struct file *find(MPI_File handle) {
    lc_clk_lock();
    struct file *f = *place_of(handle);
    lc_clk_unlock();
    return f;
}

void lc_clocks_file_begin(struct lc_call *call, MPI_File handle) {
    struct file *f = find(handle);
    if (f != NULL)
        lc_clocks_sync_begin(call, &f->comm);
}

void lc_clocks_file_ibegin(struct lc_call *call, MPI_File handle, struct lc_coll *coll) {
    struct file *f = find(handle);
    lc_clocks_isync_begin(call, coll, f != NULL ? &f->comm : NULL);
}

void lc_clocks_file_split_begin(struct lc_call *call, MPI_File handle) {
    struct file *f = find(handle);
    if (f != NULL && f->split.clocks == NULL)
        lc_clocks_isync_begin(call, &f->split, &f->comm);
    if (lc_clk.backlog && f != NULL && f->split.clocks != NULL)
        lc_clk_coll_publish_in_backlog(call, call->thread->clocks, f->split.clocks);
}

void lc_clocks_file_split_end(struct lc_call *call, MPI_File handle) {
    struct file *f = find(handle);
    if (f == NULL || f->split.clocks == NULL)
        return;
    lc_clocks_isync_end(call, &f->split, NULL);
    f->split.clocks = NULL;
}

void lc_clocks_file_closed(MPI_File handle) {
    lc_clk_lock();
    struct file **at = place_of(handle), *f = *at;
    if (f != NULL)
        *at = f->next;
    lc_clk_unlock();
    if (f != NULL)
        free(f->comm.world);
    free(f);
}
