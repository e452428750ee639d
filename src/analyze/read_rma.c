/* Records of windows and of collective file operations. */
#include <string.h>

#include "analyze/reader.h"
#include "analyze/region_class.h"
#include "base/mem.h"
#include "format/mpi_function.h"

static OTF2_CallbackCode on_begin(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *attributes) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    reader->coll_begin = lc_reader_time(reader, time);
    return OTF2_CALLBACK_SUCCESS;
}

static uint8_t kind_of(OTF2_CollectiveOp op) {
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return LC_KIND_FENCE;
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE:
    case OTF2_COLLECTIVE_OP_ALLOCATE:
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE:
        return LC_KIND_WIN_CREATE;
    case OTF2_COLLECTIVE_OP_DESTROY_HANDLE:
    case OTF2_COLLECTIVE_OP_DEALLOCATE:
    case OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE:
        return LC_KIND_WIN_FREE;
    default:
        return LC_KIND_NONE;
    }
}

static OTF2_CallbackCode on_end(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                void *user, OTF2_AttributeList *attributes, OTF2_CollectiveOp op,
                                OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, uint32_t root,
                                uint64_t sent, uint64_t received) {
    (void)location, (void)position, (void)attributes, (void)level, (void)root;
    (void)sent, (void)received;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time), begin = reader->coll_begin;
    reader->coll_begin = INT64_MIN;
    uint32_t call = lc_reader_call(reader);
    uint32_t comm = lc_idmap_get(&reader->defs->window_of, window);
    if (comm == LC_NONE)
        lc_health_note(reader->health, LC_HEALTH_UNKNOWN_COMM, reader->loc->id);
    if (call == LC_NONE || comm == LC_NONE)
        return lc_reader_end(reader);
    struct lc_loc *loc = reader->loc;
    if (begin == INT64_MIN)
        begin = loc->time[loc->calls[call].enter];
    struct lc_coll_part coll = {begin,
                                t,
                                call,
                                comm,
                                LC_NONE,
                                .op = op,
                                .klass = LC_COLL_RMA,
                                .kind = kind_of(op),
                                .flags = LC_COLL_KNOWN | LC_COLL_SENDS | LC_COLL_RECEIVES};
    lc_reader_add_coll(reader, &coll);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_group_sync(OTF2_LocationRef location, OTF2_TimeStamp time,
                                       uint64_t position, void *user,
                                       OTF2_AttributeList *attributes, OTF2_RmaSyncLevel level,
                                       OTF2_RmaWinRef window, OTF2_GroupRef group) {
    static const uint8_t kinds[] = {
        [LC_RMA_POST] = LC_MPI_KIND_WIN_POST,
        [LC_RMA_START] = LC_MPI_KIND_WIN_START,
        [LC_RMA_COMPLETE] = LC_MPI_KIND_WIN_COMPLETE,
        [LC_RMA_WAIT] = LC_MPI_KIND_WIN_WAIT,
    };
    (void)location, (void)position, (void)attributes, (void)level;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    uint32_t call = lc_reader_call(reader);
    uint32_t comm = lc_idmap_get(&reader->defs->window_of, window);
    uint32_t g = lc_idmap_get(&reader->defs->group_of, group);
    if (!extra || call == LC_NONE || comm == LC_NONE || g == LC_NONE ||
        !reader->defs->groups[g].processes)
        return lc_reader_end(reader);
    const struct lc_open_region *frame = &reader->frames[reader->depth - 1];
    uint8_t kind = lc_mpi_find_region(reader->trace->regions[frame->region].name)->kind;
    for (uint32_t type = 0; type < sizeof kinds / sizeof *kinds; type++) {
        if (kind != kinds[type])
            continue;
        reader->err = lc_grow(&extra->rma, &extra->cap_rma, extra->n_rma + 1, sizeof *extra->rma);
        if (reader->err == LC_OK)
            extra->rma[extra->n_rma++] =
                (struct lc_rma){reader->defs->groups[g].processes,
                                reader->defs->groups[g].n_members, comm, call, type};
    }
    return lc_reader_end(reader);
}

/* Key of a lock in the map of epochs; a new target gets a number if `add`. */
static uint64_t lock_key(struct lc_reader *reader, uint32_t window, uint32_t target, uint32_t lock,
                         bool add) {
    uint64_t id = (uint64_t)window << 32 | target;
    uint32_t number = lc_idmap_get(&reader->rma_targets, id);
    if (number == LC_NONE && add) {
        number = (uint32_t)reader->rma_targets.count;
        reader->err = lc_idmap_put(&reader->rma_targets, id, number);
    }
    return (uint64_t)number << 32 | lock;
}

static OTF2_CallbackCode on_lock(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                 uint32_t remote, uint64_t lock, OTF2_LockType type) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    struct lc_loc_extra *extra = lc_reader_extra(reader);
    uint32_t call = lc_reader_call(reader);
    uint32_t comm = lc_idmap_get(&reader->defs->window_of, window);
    if (!extra || call == LC_NONE || comm == LC_NONE)
        return lc_reader_end(reader);
    reader->err = lc_grow(&extra->rma_locks, &extra->cap_rma_locks, extra->n_rma_locks + 1,
                          sizeof *extra->rma_locks);
    uint64_t key = lock_key(reader, comm, remote, (uint32_t)lock, true);
    if (reader->err == LC_OK)
        reader->err = lc_idmap_put(&reader->rma_windows, key, (uint32_t)extra->n_rma_locks);
    if (reader->err == LC_OK)
        extra->rma_locks[extra->n_rma_locks++] = (struct lc_rma_lock){
            t, INT64_MAX, call, LC_NONE, comm, remote, (uint32_t)lock, type == OTF2_LOCK_SHARED};
    return lc_reader_end(reader);
}

/* Closes the last epoch under that lock. */
static OTF2_CallbackCode on_unlock(OTF2_LocationRef location, OTF2_TimeStamp time,
                                   uint64_t position, void *user, OTF2_AttributeList *attributes,
                                   OTF2_RmaWinRef window, uint32_t remote, uint64_t lock) {
    (void)location, (void)position, (void)attributes;
    struct lc_reader *reader = user;
    int64_t t = lc_reader_time(reader, time);
    uint32_t call = lc_reader_call(reader);
    uint32_t comm = lc_idmap_get(&reader->defs->window_of, window);
    uint64_t key = lock_key(reader, comm, remote, (uint32_t)lock, false);
    uint32_t index = call == LC_NONE ? LC_NONE : lc_idmap_get(&reader->rma_windows, key);
    struct lc_rma_lock *epoch = index == LC_NONE ? NULL : &reader->loc->extra->rma_locks[index];
    if (epoch && epoch->close == LC_NONE) {
        epoch->released = t;
        epoch->close = call;
    }
    return lc_reader_end(reader);
}

/* An operation under a lock completes in MPI_Win_flush at the latest, or when the lock is let go.
 */
static OTF2_CallbackCode on_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                     uint64_t position, void *user, OTF2_AttributeList *attributes,
                                     OTF2_RmaWinRef window, uint64_t matching) {
    (void)location, (void)position, (void)attributes, (void)matching;
    struct lc_reader *reader = user;
    lc_reader_time(reader, time);
    struct lc_loc_extra *extra = reader->loc->extra;
    uint32_t comm = lc_idmap_get(&reader->defs->window_of, window);
    uint32_t call =
        extra && extra->n_rma_locks && comm != LC_NONE ? lc_reader_call(reader) : LC_NONE;
    if (call == LC_NONE || reader->loc->calls[call].fn != LC_FN_MPI_WIN)
        return lc_reader_end(reader);
    const struct lc_rma_flush *last =
        extra->n_rma_flushes ? &extra->rma_flushes[extra->n_rma_flushes - 1] : NULL;
    if (last && last->call == call && last->window == comm)
        return lc_reader_end(reader);
    reader->err = lc_grow(&extra->rma_flushes, &extra->cap_rma_flushes, extra->n_rma_flushes + 1,
                          sizeof *extra->rma_flushes);
    if (reader->err == LC_OK)
        extra->rma_flushes[extra->n_rma_flushes++] = (struct lc_rma_flush){comm, call};
    return lc_reader_end(reader);
}

static OTF2_CallbackCode count_bytes(struct lc_reader *reader, OTF2_TimeStamp time,
                                     enum lc_count count, uint64_t bytes) {
    lc_reader_time(reader, time);
    if (reader->depth)
        lc_reader_count(reader, count, (int64_t)bytes);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_put(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                void *user, OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                uint32_t remote, uint64_t bytes, uint64_t matching) {
    (void)location, (void)position, (void)attributes, (void)window, (void)remote, (void)matching;
    return count_bytes(user, time, LC_COUNT_BYTES_PUT, bytes);
}

static OTF2_CallbackCode on_get(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                void *user, OTF2_AttributeList *attributes, OTF2_RmaWinRef window,
                                uint32_t remote, uint64_t bytes, uint64_t matching) {
    (void)location, (void)position, (void)attributes, (void)window, (void)remote, (void)matching;
    return count_bytes(user, time, LC_COUNT_BYTES_GET, bytes);
}

/* Operations on files that all members of the communicator of the file take part in, and in which
 * they may wait for each other: not those that are only started. */
enum file_op { FILE_TRANSFER, FILE_OPEN, FILE_CLOSE };

static OTF2_CallbackCode add_file_op(struct lc_reader *reader, OTF2_IoHandleRef handle,
                                     enum file_op op) {
    uint32_t comm = lc_idmap_get(&reader->defs->file_of, handle);
    uint32_t call = lc_reader_call(reader);
    if (comm == LC_NONE || call == LC_NONE || reader->loc->calls[call].fn != LC_FN_MPI_IO)
        return lc_reader_end(reader);
    int64_t begin = reader->loc->time[reader->loc->calls[call].enter];
    struct lc_coll_part coll = {begin,
                                begin, /* known when the call ends */
                                call,
                                comm,
                                LC_NONE,
                                .op = op,
                                .klass = LC_COLL_IO,
                                .kind = LC_KIND_IO,
                                .flags = LC_COLL_KNOWN | LC_COLL_SENDS | LC_COLL_RECEIVES};
    lc_reader_add_coll(reader, &coll);
    return lc_reader_end(reader);
}

static OTF2_CallbackCode on_io(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                               void *user, OTF2_AttributeList *attributes, OTF2_IoHandleRef handle,
                               OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags,
                               uint64_t bytes, uint64_t matching) {
    (void)location, (void)position, (void)attributes, (void)mode, (void)bytes, (void)matching;
    lc_reader_time(user, time);
    bool blocking = !(flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING);
    return flags & OTF2_IO_OPERATION_FLAG_COLLECTIVE && blocking
               ? add_file_op(user, handle, FILE_TRANSFER)
               : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_open(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                 void *user, OTF2_AttributeList *attributes,
                                 OTF2_IoHandleRef handle, OTF2_IoAccessMode mode,
                                 OTF2_IoCreationFlag creation, OTF2_IoStatusFlag status) {
    (void)location, (void)position, (void)attributes, (void)mode, (void)creation, (void)status;
    lc_reader_time(user, time);
    return add_file_op(user, handle, FILE_OPEN);
}

static OTF2_CallbackCode on_close(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *attributes,
                                  OTF2_IoHandleRef handle) {
    (void)location, (void)position, (void)attributes;
    lc_reader_time(user, time);
    return add_file_op(user, handle, FILE_CLOSE);
}

void lc_read_rma_callbacks(OTF2_EvtReaderCallbacks *callbacks) {
    OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(callbacks, on_begin);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks, on_end);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks, on_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(callbacks, on_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks, on_unlock);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks, on_complete);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks, on_get);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(callbacks, on_io);
    OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback(callbacks, on_open);
    OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback(callbacks, on_close);
}
