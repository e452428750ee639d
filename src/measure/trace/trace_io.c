/* MPI-IO in the trace: open files have numbers, as communicators have; operations are numbered like
 * requests. Nothing is done unless a trace is written. */
#include "base/mem.h"
#include "format/trace_record.h"
#include "measure/mpi/handles.h"
#include "measure/mpi/request.h"
#include "measure/core/core.h"
#include "measure/core/thread.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_hooks.h"

struct file {
    MPI_File handle;
    uint32_t id, name;
    bool delete_on_close;
    uint64_t split; /* number of the split collective operation in progress, 0: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *files;
static size_t n_files, cap_files;
static uint32_t next_file;
static uint32_t *opened; /* per communicator: files so far */
static size_t cap_opened;

/* OTF2_IoAccessMode, OTF2_IoCreationFlag, OTF2_IoStatusFlag: parts of the format. */
enum { ACCESS_READ = 0, ACCESS_WRITE = 1, ACCESS_BOTH = 2 };
enum { CREATION_CREATE = 1 << 0, CREATION_EXCLUSIVE = 1 << 3 };
enum { STATUS_APPEND = 1 << 1, STATUS_DELETE_ON_CLOSE = 1 << 8 };

static bool tracing(const struct lc_call *call) {
    return (call->mode & LC_MODE_TRACE) && lc_tracing.area != NULL;
}

static bool find(MPI_File handle, struct file *out) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = n_files; i-- > 0 && !found;)
        if (files[i].handle == handle) {
            *out = files[i];
            found = true;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

static void set_split(MPI_File handle, uint64_t id) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_files; i++)
        if (files[i].handle == handle)
            files[i].split = id;
    pthread_mutex_unlock(&lock);
}

static uint32_t mode_bits(int amode) {
    uint32_t access = amode & MPI_MODE_RDONLY ? ACCESS_READ
                      : amode & MPI_MODE_RDWR ? ACCESS_BOTH
                                              : ACCESS_WRITE;
    uint32_t creation = (amode & MPI_MODE_CREATE ? CREATION_CREATE : 0) |
                        (amode & MPI_MODE_EXCL ? CREATION_EXCLUSIVE : 0);
    uint32_t status = (amode & MPI_MODE_APPEND ? STATUS_APPEND : 0) |
                      (amode & MPI_MODE_DELETE_ON_CLOSE ? STATUS_DELETE_ON_CLOSE : 0);
    return access | creation << LC_REC_OPEN_CREATION | status << LC_REC_OPEN_STATUS;
}

/* Its number among the files of the communicator: the same on all members. */
static bool number(struct file *file, uint32_t comm, uint32_t *ordinal) {
    bool kept = false;
    pthread_mutex_lock(&lock);
    if (lc_grow(&opened, &cap_opened, (size_t)comm + 1, sizeof(*opened)) == LC_OK &&
        lc_grow(&files, &cap_files, n_files + 1, sizeof(*files)) == LC_OK) {
        *ordinal = opened[comm]++;
        file->id = next_file++;
        files[n_files++] = *file;
        kept = true;
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

void lc_file_opened(struct lc_call *call, int result, MPI_Comm comm, const char *name, int amode,
                    const MPI_File *handle) {
    struct lc_comm *c = tracing(call) ? lc_comm_get(call->thread, comm) : NULL;
    uint32_t ordinal = 0;
    if (c == NULL || result != MPI_SUCCESS)
        return;
    uint32_t comm_id = lc_trace_comm_id(call, c);
    struct file file = {.handle = *handle,
                        .name = lc_trace_define_string(name, LC_STRING_FILE),
                        .delete_on_close = (amode & MPI_MODE_DELETE_ON_CLOSE) != 0};
    if (!number(&file, comm_id, &ordinal))
        return;
    const struct lc_def_file definition = {file.id, comm_id, ordinal, file.name};
    lc_trace_define(LC_DEF_FILE, &definition, sizeof(definition), NULL, 0);
    struct lc_trace_stream *s = lc_trace_stream_of(call);
    if (s != NULL)
        lc_trace_put1(s, lc_rec_pair(LC_REC_IO_OPEN, file.id, mode_bits(amode)));
}

void lc_file_close_begin(struct lc_call *call, struct lc_file_op *op, MPI_File handle) {
    struct file file;
    bool known = tracing(call) && find(handle, &file);
    op->file = known ? file.id : LC_NONE;
    op->id = known && file.delete_on_close ? file.name + 1ull : 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; known && i < n_files; i++)
        if (files[i].handle == handle) {
            files[i] = files[--n_files];
            break;
        }
    pthread_mutex_unlock(&lock);
}

void lc_file_close_end(struct lc_call *call, const struct lc_file_op *op, int result) {
    struct lc_trace_stream *s = op->file != LC_NONE ? lc_trace_stream_of(call) : NULL;
    if (s == NULL || result != MPI_SUCCESS)
        return;
    if (op->id != 0)
        lc_trace_put1(s, lc_rec_pair(LC_REC_IO_DELETE, (uint32_t)op->id - 1, 0));
    lc_trace_put1(s, lc_rec_pair(LC_REC_IO_CLOSE, op->file, 0));
}

void lc_file_deleted(struct lc_call *call, int result, const char *name) {
    struct lc_trace_stream *s = tracing(call) ? lc_trace_stream_of(call) : NULL;
    if (s != NULL && result == MPI_SUCCESS)
        lc_trace_put1(
            s, lc_rec_pair(LC_REC_IO_DELETE, lc_trace_define_string(name, LC_STRING_FILE), 0));
}

void lc_file_sought(struct lc_call *call, int result, MPI_File handle, MPI_Offset offset,
                    int whence, bool shared) {
    struct lc_trace_stream *s = tracing(call) ? lc_trace_stream_of(call) : NULL;
    struct file file;
    if (s == NULL || result != MPI_SUCCESS || !find(handle, &file))
        return;
    MPI_Offset reached = whence == MPI_SEEK_SET ? offset : -1;
    if (!shared) /* the shared pointer is in the file system: it is not looked at */
        lc_real.File_get_position(handle, &reached);
    uint32_t from = whence == MPI_SEEK_SET ? 0 : whence == MPI_SEEK_CUR ? 1 : 2;
    lc_trace_put3(s, lc_rec_pair(LC_REC_IO_SEEK, file.id, from), (uint64_t)offset,
                  (uint64_t)reached);
}

void lc_file_begin(struct lc_call *call, struct lc_file_op *op, MPI_File handle, uint32_t how,
                   uint64_t count, MPI_Datatype type) {
    struct lc_trace_stream *s = tracing(call) ? lc_trace_stream_of(call) : NULL;
    struct file file;
    op->file = LC_NONE;
    if (s == NULL || !find(handle, &file))
        return;
    op->file = file.id;
    op->id = lc_request_id(call->thread);
    op->bytes = type == MPI_DATATYPE_NULL ? UINT64_MAX : count * lc_type_bytes(call->thread, type);
    lc_trace_put3(s, lc_rec_pair(LC_REC_IO_BEGIN, file.id, how), op->bytes, op->id);
}

static void done(struct lc_trace_stream *s, uint32_t file, uint64_t bytes, uint64_t id) {
    lc_trace_put3(s, lc_rec_pair(LC_REC_IO_DONE, file, 0), bytes, id);
}

void lc_file_end(struct lc_call *call, const struct lc_file_op *op, int result,
                 const MPI_Status *status) {
    struct lc_trace_stream *s = op->file != LC_NONE ? lc_trace_stream_of(call) : NULL;
    bool good = result == MPI_SUCCESS;
    if (s != NULL)
        done(s, op->file,
             !good            ? 0
             : status != NULL ? lc_status_bytes(status)
                              : UINT64_MAX,
             op->id);
}

void lc_file_started(struct lc_call *call, const struct lc_file_op *op, int result,
                     const MPI_Request *request) {
    struct lc_trace_stream *s = op->file != LC_NONE ? lc_trace_stream_of(call) : NULL;
    if (s == NULL)
        return;
    struct lc_request *r = NULL;
    if (result == MPI_SUCCESS) {
        lc_trace_put2(s, lc_rec_pair(LC_REC_IO_ISSUED, op->file, 0), op->id);
        r = lc_request_insert(call->thread, *request, LC_REQUEST_FILE);
    }
    if (r == NULL) { /* it failed, or its handle is shared by what is complete at once */
        done(s, op->file, result == MPI_SUCCESS ? op->bytes : 0, op->id);
        return;
    }
    r->fn = call->fn;
    r->peer = (int32_t)op->file;
    r->id = op->id;
    r->posted_ticks = call->begin;
    r->path = call->entry->path;
    r->active = true;
    r->trace = 1;
}

void lc_file_split_begun(struct lc_call *call, const struct lc_file_op *op, int result,
                         MPI_File handle) {
    struct lc_trace_stream *s = op->file != LC_NONE ? lc_trace_stream_of(call) : NULL;
    if (s == NULL)
        return;
    if (result != MPI_SUCCESS) {
        done(s, op->file, 0, op->id);
        return;
    }
    lc_trace_put2(s, lc_rec_pair(LC_REC_IO_ISSUED, op->file, 0), op->id);
    set_split(handle, op->id);
}

void lc_file_split_ended(struct lc_call *call, int result, MPI_File handle,
                         const MPI_Status *status) {
    struct lc_trace_stream *s = tracing(call) ? lc_trace_stream_of(call) : NULL;
    struct file file;
    if (s == NULL || !find(handle, &file) || file.split == 0)
        return;
    set_split(handle, 0);
    done(s, file.id, result == MPI_SUCCESS ? lc_status_bytes(status) : 0, file.split);
}
