#include "measure/stub/stub.h"
#include "measure/alone/alone.h"

#include <mpi.h>
#include <string.h>
#include "measure/hot/locations.h"

#include "base/timer.h"
#include "measure/wrappers/special.h"
#include "measure/clocks/call_state.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"

static void fill(struct lc_call *call, struct lc_thread *t, uint64_t now) {
    *call = (struct lc_call){.thread = t, .entry = t->last, .begin = now, .end = now};
    call->mode = atomic_load_explicit(&t->mode, memory_order_relaxed);
}

void lc_alone_begin(uint64_t begin) {
    struct lc_thread *t = lc_thread_here();
    struct lc_call call;
    if (t == NULL)
        return;
    t->last_ticks = begin;
    fill(&call, t, begin);
    t->depth = 1;
    lc_job_begin(&call);
    struct lc_clk_thread *k = t->clocks;
    uint64_t woken = lc_core.stub->wake_ticks, now = lc_ticks();
    /* since then it was our work */
    if (k != NULL && lc_timer.by_counter && woken > begin && woken < now) {
        lc_clk_worked(k, woken, 0);
        k->l.skipped += now - woken;
        k->l.last = now;
    }
    t->depth = 0;
}

void lc_alone_end(void) {
    struct lc_thread *t = lc_thread_here();
    struct lc_call call;
    if (t == NULL || !lc_core.initialised || lc_core.finalized)
        return;
    fill(&call, t, lc_ticks());
    lc_clocks_recalibrate();
    lc_job_end(&call);
    lc_core.finalized = true;
}

/* Types that the core makes carry their size in the handle. */
enum { OWN_TYPE = 0x0d000000, OWN_TYPE_MASK = 0x7f000000, OWN_TYPE_BYTES = 0x00ffffff };

static size_t type_bytes(MPI_Datatype type) {
    static const struct {
        MPI_Datatype type;
        size_t bytes;
    } known[] = {
        {MPI_BYTE, 1},
        {MPI_CHAR, 1},
        {MPI_INT, sizeof(int)},
        {MPI_INT32_T, 4},
        {MPI_UINT32_T, 4},
        {MPI_UINT64_T, 8},
        {MPI_DOUBLE, sizeof(double)},
        {MPI_DOUBLE_INT, sizeof(struct {
             double d;
             int i;
         })},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type)
            return known[i].bytes;
    uintptr_t handle = (uintptr_t)type;
    return (handle & OWN_TYPE_MASK) == OWN_TYPE ? handle & OWN_TYPE_BYTES : 0;
}

static MPI_Datatype type_of(size_t bytes) {
    return (MPI_Datatype)(uintptr_t)(OWN_TYPE | (bytes & OWN_TYPE_BYTES));
}

static void copy(void *to, const void *from, int count, MPI_Datatype type) {
    if (from != MPI_IN_PLACE && to != NULL && from != NULL && count > 0)
        memmove(to, from, (size_t)count * type_bytes(type));
}

static int comm_rank(MPI_Comm comm, int *rank) {
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

static int comm_size(MPI_Comm comm, int *size) {
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}

static int comm_test_inter(MPI_Comm comm, int *flag) {
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}

static int comm_group(MPI_Comm comm, MPI_Group *group) {
    (void)comm;
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static int group_free(MPI_Group *group) {
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static int group_size(MPI_Group group, int *size) {
    (void)group;
    *size = 1;
    return MPI_SUCCESS;
}

static int group_translate(MPI_Group from, int n, const int ranks[], MPI_Group to, int out[]) {
    (void)from;
    (void)to;
    for (int i = 0; i < n; i++)
        out[i] = ranks[i];
    return MPI_SUCCESS;
}

static int comm_dup(MPI_Comm comm, MPI_Comm *copy_of) {
    (void)comm;
    *copy_of = MPI_COMM_SELF;
    return MPI_SUCCESS;
}

static int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
    (void)group;
    (void)tag;
    return comm_dup(comm, made);
}

static int comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made) {
    (void)color;
    (void)key;
    return comm_dup(comm, made);
}

static int comm_free(MPI_Comm *comm) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    (void)comm;
    (void)handler;
    return MPI_SUCCESS;
}

static int query_thread(int *provided) {
    *provided = MPI_THREAD_MULTIPLE; /* any thread may be the one that asks */
    return MPI_SUCCESS;
}

static int get_library_version(char *version, int *length) {
    version[0] = '\0';
    *length = 0;
    return MPI_SUCCESS;
}

static int get_version(int *version, int *subversion) {
    *version = *subversion = 0;
    return MPI_SUCCESS;
}

static int barrier(MPI_Comm comm) {
    (void)comm;
    return MPI_SUCCESS;
}

static int ibarrier(MPI_Comm comm, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return barrier(comm);
}

static int test(MPI_Request *request, int *flag, MPI_Status *status) {
    (void)request;
    (void)status;
    *flag = 1;
    return MPI_SUCCESS;
}

static int iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    (void)source;
    (void)tag;
    (void)comm;
    (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

static int bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    (void)buffer;
    (void)count;
    (void)type;
    (void)root;
    (void)comm;
    return MPI_SUCCESS;
}

static int allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
    (void)op;
    (void)comm;
    copy(to, from, count, type);
    return MPI_SUCCESS;
}

static int reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm) {
    (void)root;
    return allreduce(from, to, count, type, op, comm);
}

/* What lower ranks have is not there: `to` stays as it is. */
static int exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    (void)from;
    (void)to;
    (void)count;
    (void)type;
    (void)op;
    (void)comm;
    return MPI_SUCCESS;
}

static int allgather(const void *from, int n_from, MPI_Datatype type, void *to, int n_to,
                     MPI_Datatype type_to, MPI_Comm comm) {
    (void)n_to;
    (void)type_to;
    (void)comm;
    copy(to, from, n_from, type);
    return MPI_SUCCESS;
}

static int gather(const void *from, int n_from, MPI_Datatype type, void *to, int n_to,
                  MPI_Datatype type_to, int root, MPI_Comm comm) {
    (void)root;
    return allgather(from, n_from, type, to, n_to, type_to, comm);
}

static int allgatherv(const void *from, int n_from, MPI_Datatype type, void *to, const int n_to[],
                      const int places[], MPI_Datatype type_to, MPI_Comm comm) {
    return allgather(from, n_from, type, (char *)to + (size_t)places[0] * type_bytes(type_to),
                     n_to[0], type_to, comm);
}

static int gatherv(const void *from, int n_from, MPI_Datatype type, void *to, const int n_to[],
                   const int places[], MPI_Datatype type_to, int root, MPI_Comm comm) {
    (void)root;
    return allgatherv(from, n_from, type, to, n_to, places, type_to, comm);
}

static int type_contiguous(int count, MPI_Datatype type, MPI_Datatype *made) {
    *made = type_of((size_t)count * type_bytes(type));
    return MPI_SUCCESS;
}

static int type_create_resized(MPI_Datatype type, MPI_Aint low, MPI_Aint extent,
                               MPI_Datatype *made) {
    (void)type;
    (void)low;
    *made = type_of((size_t)extent);
    return MPI_SUCCESS;
}

static int type_commit(MPI_Datatype *type) {
    (void)type;
    return MPI_SUCCESS;
}

static int type_free(MPI_Datatype *type) {
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

static int op_create(MPI_User_function *function, int commutes, MPI_Op *op) {
    (void)function;
    (void)commutes;
    *op = MPI_MAX;
    return MPI_SUCCESS;
}

static int op_free(MPI_Op *op) {
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

void lc_one_process(void) {
    lc_real = (struct lc_real){.Comm_rank = comm_rank,
                               .Comm_size = comm_size,
                               .Comm_test_inter = comm_test_inter,
                               .Comm_group = comm_group,
                               .Comm_dup = comm_dup,
                               .Comm_create_group = comm_create_group,
                               .Comm_split = comm_split,
                               .Comm_free = comm_free,
                               .Comm_set_errhandler = comm_set_errhandler,
                               .Group_free = group_free,
                               .Group_size = group_size,
                               .Group_translate_ranks = group_translate,
                               .Query_thread = query_thread,
                               .Get_library_version = get_library_version,
                               .Get_version = get_version,
                               .Barrier = barrier,
                               .Ibarrier = ibarrier,
                               .Test = test,
                               .Iprobe = iprobe,
                               .Bcast = bcast,
                               .Allreduce = allreduce,
                               .Reduce = reduce,
                               .Exscan = exscan,
                               .Allgather = allgather,
                               .Allgatherv = allgatherv,
                               .Gather = gather,
                               .Gatherv = gatherv,
                               .Type_contiguous = type_contiguous,
                               .Type_create_resized = type_create_resized,
                               .Type_commit = type_commit,
                               .Type_free = type_free,
                               .Op_create = op_create,
                               .Op_free = op_free};
}
