/* Files. What they hold is in files of this machine; collective operations are meetings of all that
 * have opened the file. Reading and writing take no time of their own. */
#include "sim_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Offsets count elementary types of the view, places are bytes of the file. */
struct ADIOI_FileD {
    struct sim_comm *comm; /* of those that have opened it, with a handle of its own */
    int fd, amode;
    char *delete_at_end;                   /* NULL: it stays */
    MPI_Offset position, *shared_position; /* the latter in the segment */
    MPI_Offset begin;                      /* of the view; a place */
    MPI_Datatype elementary, type;
    int atomic;
    struct sim_request *split; /* between both halves of a collective operation; NULL: none */
};

static MPI_Errhandler for_new_files = MPI_ERRORS_RETURN;

static int class_of(int error) {
    switch (error) {
    case 0:
        return MPI_SUCCESS;
    case ENOENT:
        return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
        return MPI_ERR_FILE_EXISTS;
    case EACCES:
        return MPI_ERR_ACCESS;
    case EROFS:
        return MPI_ERR_READ_ONLY;
    case ENOSPC:
        return MPI_ERR_NO_SPACE;
    default:
        return MPI_ERR_IO;
    }
}

#define CHECK(file)                                                                                \
    do {                                                                                           \
        if ((file) == MPI_FILE_NULL)                                                               \
            return MPI_ERR_FILE;                                                                   \
    } while (0)

static void meet(MPI_File file, const char *what) {
    sim_comm_leave(file->comm, sim_all_meet(file->comm, what, NULL, 0, NULL));
}

/* ---- opening, closing ---- */

struct opening {
    int error;
    MPI_Offset *shared_position;
};

static int open_as(const char *name, int amode, bool first, int *fd) {
    int access = amode & MPI_MODE_RDWR ? O_RDWR : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY;
    int made =
        !first ? 0 : (amode & MPI_MODE_CREATE ? O_CREAT : 0) | (amode & MPI_MODE_EXCL ? O_EXCL : 0);
    *fd = open(name, access | made | O_CLOEXEC, 0644);
    return *fd < 0 ? errno : 0;
}

/* The first member makes the file; the others come when it is there. */
BOTH(MPI_File_open)
(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *file) {
    (void)info;
    struct sim_comm *c;
    ENTER("MPI_File_open");
    TRY(sim_check_comm(comm, &c));
    struct opening mine = {0}, first;
    int fd = -1;
    if (c->group->rank == 0) {
        mine.error = open_as(name, amode, true, &fd);
        mine.shared_position = mine.error == 0 ? sim_alloc(sizeof *mine.shared_position) : NULL;
    }
    struct sim_meeting *m = sim_all_meet(c, "MPI_File_open", &mine, sizeof mine, NULL);
    uint64_t context = m->fresh;
    memcpy(&first, m->parts[sim_member(c, 0, false)].data, sizeof first);
    sim_comm_leave(c, m);
    if (first.error == 0 && fd < 0)
        first.error = open_as(name, amode, false, &fd);
    if (first.error != 0)
        return class_of(first.error);
    MPI_File f = *file = sim_new(sizeof *f);
    f->comm = sim_comm_twin(c, context);
    sim_comm_handle(f->comm, NULL);
    f->comm->errhandler = for_new_files;
    f->fd = fd;
    f->amode = amode;
    f->delete_at_end = amode & MPI_MODE_DELETE_ON_CLOSE ? strdup(name) : NULL;
    f->shared_position = first.shared_position;
    f->elementary = f->type = MPI_BYTE;
    return MPI_SUCCESS;
}

BOTH(MPI_File_close)(MPI_File *file) {
    ENTER("MPI_File_close");
    MPI_File f = *file;
    CHECK(f);
    meet(f, "MPI_File_close");
    close(f->fd);
    if (f->comm->group->rank == 0) {
        sim_free(f->shared_position);
        if (f->delete_at_end != NULL)
            unlink(f->delete_at_end);
    }
    free(f->delete_at_end);
    PMPI_Comm_free(&(MPI_Comm){f->comm->handle});
    free(f);
    *file = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

BOTH(MPI_File_delete)(const char *name, MPI_Info info) {
    (void)info;
    ENTER("MPI_File_delete");
    return class_of(unlink(name) != 0 ? errno : 0);
}

/* ---- what there is of a file ---- */

static int resize(MPI_File file, MPI_Offset bytes, bool shrinks, const char *what) {
    CHECK(file);
    struct stat now;
    int error = 0;
    meet(file, what);
    if (fstat(file->fd, &now) != 0 ||
        ((shrinks || now.st_size < bytes) && ftruncate(file->fd, bytes) != 0))
        error = errno;
    sim_comm_leave(file->comm, sim_all_meet_at_once(file->comm, what));
    return error != 0 ? sim_error(file->comm, class_of(error)) : MPI_SUCCESS;
}

BOTH(MPI_File_set_size)(MPI_File file, MPI_Offset bytes) {
    ENTER("MPI_File_set_size");
    return resize(file, bytes, true, "MPI_File_set_size");
}

BOTH(MPI_File_preallocate)(MPI_File file, MPI_Offset bytes) {
    ENTER("MPI_File_preallocate");
    return resize(file, bytes, false, "MPI_File_preallocate");
}

BOTH(MPI_File_sync)(MPI_File file) {
    ENTER("MPI_File_sync");
    CHECK(file);
    meet(file, "MPI_File_sync");
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_size)(MPI_File file, MPI_Offset *bytes) {
    CHECK(file);
    struct stat now;
    if (fstat(file->fd, &now) != 0)
        return sim_error(file->comm, class_of(errno));
    *bytes = now.st_size;
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_amode)(MPI_File file, int *amode) {
    CHECK(file);
    *amode = file->amode;
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_group)(MPI_File file, MPI_Group *group) {
    CHECK(file);
    return sim_group_of(file->comm, group);
}

BOTH(MPI_File_get_info)(MPI_File file, MPI_Info *info) {
    CHECK(file);
    return PMPI_Info_create(info);
}

BOTH(MPI_File_set_info)(MPI_File file, MPI_Info info) {
    (void)info;
    ENTER("MPI_File_set_info");
    CHECK(file);
    meet(file, "MPI_File_set_info");
    return MPI_SUCCESS;
}

BOTH(MPI_File_set_atomicity)(MPI_File file, int atomic) {
    ENTER("MPI_File_set_atomicity");
    CHECK(file);
    meet(file, "MPI_File_set_atomicity");
    file->atomic = atomic;
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_atomicity)(MPI_File file, int *atomic) {
    CHECK(file);
    *atomic = file->atomic;
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_type_extent)(MPI_File file, MPI_Datatype type, MPI_Aint *extent) {
    CHECK(file);
    MPI_Aint lower;
    return PMPI_Type_get_extent(type, &lower, extent);
}

BOTH(MPI_File_create_errhandler)(MPI_File_errhandler_function *function, MPI_Errhandler *handler) {
    return PMPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void *)function, handler);
}

BOTH(MPI_File_set_errhandler)(MPI_File file, MPI_Errhandler handler) {
    *(file != MPI_FILE_NULL ? &file->comm->errhandler : &for_new_files) = handler;
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_errhandler)(MPI_File file, MPI_Errhandler *handler) {
    *handler = file != MPI_FILE_NULL ? file->comm->errhandler : for_new_files;
    return MPI_SUCCESS;
}

BOTH(MPI_File_call_errhandler)(MPI_File file, int code) {
    CHECK(file);
    sim_error(file->comm, code);
    return MPI_SUCCESS;
}

/* ---- views, positions ---- */

BOTH(MPI_File_set_view)
(MPI_File file, MPI_Offset begin, MPI_Datatype elementary, MPI_Datatype type, const char *name,
 MPI_Info info) {
    (void)info;
    ENTER("MPI_File_set_view");
    CHECK(file);
    if (strcmp(name, "native") != 0)
        return sim_error(file->comm, MPI_ERR_UNSUPPORTED_DATAREP);
    if (sim_type(elementary) == NULL || sim_type(type) == NULL || sim_type(type)->size == 0)
        return sim_error(file->comm, MPI_ERR_TYPE);
    meet(file, "MPI_File_set_view");
    sim_type_use(sim_type(elementary), 1);
    sim_type_use(sim_type(type), 1);
    sim_type_use(sim_type(file->elementary), -1);
    sim_type_use(sim_type(file->type), -1);
    file->begin = begin;
    file->elementary = elementary;
    file->type = type;
    file->position = *file->shared_position = 0;
    sim_comm_leave(file->comm, sim_all_meet_at_once(file->comm, "MPI_File_set_view"));
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_view)
(MPI_File file, MPI_Offset *begin, MPI_Datatype *elementary, MPI_Datatype *type, char *name) {
    CHECK(file);
    *begin = file->begin;
    *elementary = file->elementary;
    *type = file->type;
    strcpy(name, "native");
    return MPI_SUCCESS;
}

/* Where the byte that is the `at`-th of what the view shows lies; how many lie there together. */
static off_t place_of(const struct ADIOI_FileD *file, long at, size_t *together) {
    const struct sim_type *t = sim_type(file->type);
    long rest = at % t->size;
    const struct sim_block *b = t->blocks;
    for (; rest >= b->bytes; b++)
        rest -= b->bytes;
    *together = (size_t)(b->bytes - rest);
    return file->begin + at / t->size * (t->ub - t->lb) + b->at + rest;
}

static MPI_Offset end_of(const struct ADIOI_FileD *file) {
    struct stat now = {.st_size = 0};
    size_t together;
    MPI_Offset n = 0;
    int size = (int)sim_type(file->elementary)->size;
    fstat(file->fd, &now);
    while (place_of(file, (long)n * size, &together) < now.st_size)
        n++;
    return n;
}

static int seek(MPI_File file, MPI_Offset *position, MPI_Offset offset, int from) {
    offset += from == MPI_SEEK_CUR ? *position : from == MPI_SEEK_END ? end_of(file) : 0;
    if (offset < 0)
        return sim_error(file->comm, MPI_ERR_ARG);
    *position = offset;
    return MPI_SUCCESS;
}

BOTH(MPI_File_seek)(MPI_File file, MPI_Offset offset, int from) {
    ENTER("MPI_File_seek");
    CHECK(file);
    return seek(file, &file->position, offset, from);
}

BOTH(MPI_File_get_position)(MPI_File file, MPI_Offset *offset) {
    CHECK(file);
    *offset = file->position;
    return MPI_SUCCESS;
}

BOTH(MPI_File_seek_shared)(MPI_File file, MPI_Offset offset, int from) {
    ENTER("MPI_File_seek_shared");
    CHECK(file);
    meet(file, "MPI_File_seek_shared");
    int result = MPI_SUCCESS;
    if (file->comm->group->rank == 0)
        result = seek(file, file->shared_position, offset, from);
    sim_comm_leave(file->comm, sim_all_meet_at_once(file->comm, "MPI_File_seek_shared"));
    return result;
}

BOTH(MPI_File_get_position_shared)(MPI_File file, MPI_Offset *offset) {
    CHECK(file);
    *offset = *file->shared_position;
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_byte_offset)(MPI_File file, MPI_Offset offset, MPI_Offset *place) {
    CHECK(file);
    size_t together;
    *place = place_of(file, (long)offset * sim_type(file->elementary)->size, &together);
    return MPI_SUCCESS;
}

/* ---- reading, writing ---- */

struct transfer {
    void *data;
    int count;
    MPI_Datatype type;
    bool writes;
};

static size_t bytes_of(const struct transfer *x) {
    return (size_t)(x->count * sim_type(x->type)->size);
}

/* How many elementary types of the view that is. */
static MPI_Offset elements(const struct ADIOI_FileD *file, size_t bytes) {
    return (MPI_Offset)bytes / sim_type(file->elementary)->size;
}

static int check(MPI_File file, const struct transfer *x) {
    CHECK(file);
    if (sim_type(x->type) == NULL)
        return sim_error(file->comm, MPI_ERR_TYPE);
    if (x->count < 0)
        return sim_error(file->comm, MPI_ERR_COUNT);
    return MPI_SUCCESS;
}

/* At *offset, which is behind what was moved then. */
static int move(MPI_File file, MPI_Offset *offset, const struct transfer *x, MPI_Status *status) {
    size_t bytes = bytes_of(x), done = 0;
    char *packed =
        x->writes ? sim_pack(x->data, x->count, sim_type(x->type), &bytes) : sim_new(bytes + 1);
    long at = (long)*offset * sim_type(file->elementary)->size;
    int error = 0;
    while (done < bytes && error == 0) {
        size_t n;
        off_t there = place_of(file, at + (long)done, &n);
        n = n < bytes - done ? n : bytes - done;
        ssize_t moved = x->writes ? pwrite(file->fd, packed + done, n, there)
                                  : pread(file->fd, packed + done, n, there);
        error = moved < 0 ? errno : 0;
        if (moved <= 0) /* the end of the file */
            break;
        done += (size_t)moved;
    }
    if (!x->writes)
        sim_unpack(packed, done, x->data, x->count, sim_type(x->type));
    free(packed);
    *offset += elements(file, done);
    if (status != MPI_STATUS_IGNORE) {
        sim_empty_status(status);
        sim_set_count(status, (long)done);
    }
    return error != 0 ? sim_error(file->comm, class_of(error)) : MPI_SUCCESS;
}

/* name: of a collective operation, else NULL. */
static int move_at_once(const char *name, MPI_File file, MPI_Offset *offset, struct transfer x,
                        MPI_Status *status) {
    TRY(check(file, &x));
    if (name != NULL)
        meet(file, name);
    return move(file, offset, &x, status);
}

/* The data is moved at once; a collective one is complete when all have started it. */
static int start(bool all, MPI_File file, MPI_Offset *offset, struct transfer x,
                 MPI_Request *request) {
    TRY(check(file, &x));
    TRY(move(file, offset, &x, MPI_STATUS_IGNORE));
    if (all)
        return PMPI_Ibarrier(file->comm->handle, request);
    struct sim_handle *h = sim_handle_new(SIM_USE_NONE);
    h->active = true;
    *request = sim_request_handle(h);
    return MPI_SUCCESS;
}

static int split_begin(MPI_File file, MPI_Offset *offset, struct transfer x) {
    TRY(check(file, &x));
    if (file->split != NULL)
        return sim_error(file->comm, MPI_ERR_OTHER);
    file->split = sim_comm_meet(file->comm, "split file operation", NULL, 0, NULL);
    return move(file, offset, &x, MPI_STATUS_IGNORE);
}

static int split_end(MPI_File file, MPI_Status *status) {
    CHECK(file);
    if (file->split == NULL)
        return sim_error(file->comm, MPI_ERR_OTHER);
    sim_wait_request(file->split);
    struct sim_meeting *m = file->split->meeting;
    sim_request_free(file->split);
    file->split = NULL;
    sim_comm_leave(file->comm, m);
    if (status != MPI_STATUS_IGNORE)
        sim_empty_status(status);
    return MPI_SUCCESS;
}

/* In the order of ranks, behind what the shared position is when the first one comes. */
struct turn {
    MPI_Offset base, n;
};

static int move_in_order(const char *name, MPI_File file, struct transfer x, MPI_Status *status) {
    TRY(check(file, &x));
    struct sim_comm *c = file->comm;
    struct turn one = {*file->shared_position, elements(file, bytes_of(&x))};
    struct sim_meeting *m = sim_all_meet(c, name, &one, sizeof one, NULL);
    MPI_Offset offset = 0, behind = 0;
    for (int i = 0; i < c->group->size; i++) {
        memcpy(&one, m->parts[i].data, sizeof one);
        if (i == 0)
            behind = one.base;
        if (i == c->group->rank)
            offset = behind;
        behind += one.n;
    }
    sim_comm_leave(c, m);
    *file->shared_position = behind;
    int result = move(file, &offset, &x, status);
    sim_comm_leave(c, sim_all_meet_at_once(c, name));
    return result;
}

/* Others may come to the shared position while this one moves its data. */
static int move_shared(MPI_File file, struct transfer x, MPI_Status *status) {
    TRY(check(file, &x));
    MPI_Offset offset = *file->shared_position;
    *file->shared_position += elements(file, bytes_of(&x));
    return move(file, &offset, &x, status);
}

#define DATA(writes)                                                                               \
    (struct transfer) {                                                                            \
        (void *)data, count, type, writes                                                          \
    }
#define NAME(name) "MPI_File_" #name
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* All forms of reading or writing; each ends with ENTER's error, or that of the operation. */
#define TRANSFERS(verb, memory, writes)                                                            \
    BOTH(MPI_File_##verb##_at)                                                                     \
    (MPI_File file, MPI_Offset offset, memory, int count, MPI_Datatype type, MPI_Status *status) { \
        ENTER(NAME(verb##_at));                                                                    \
        return move_at_once(NULL, file, &offset, DATA(writes), status);                            \
    }                                                                                              \
    BOTH(MPI_File_##verb##_at_all)                                                                 \
    (MPI_File file, MPI_Offset offset, memory, int count, MPI_Datatype type, MPI_Status *status) { \
        ENTER(NAME(verb##_at_all));                                                                \
        return move_at_once(NAME(verb##_at_all), file, &offset, DATA(writes), status);             \
    }                                                                                              \
    BOTH(MPI_File_##verb)                                                                          \
    (MPI_File file, memory, int count, MPI_Datatype type, MPI_Status *status) {                    \
        ENTER(NAME(verb));                                                                         \
        CHECK(file);                                                                               \
        return move_at_once(NULL, file, &file->position, DATA(writes), status);                    \
    }                                                                                              \
    BOTH(MPI_File_##verb##_all)                                                                    \
    (MPI_File file, memory, int count, MPI_Datatype type, MPI_Status *status) {                    \
        ENTER(NAME(verb##_all));                                                                   \
        CHECK(file);                                                                               \
        return move_at_once(NAME(verb##_all), file, &file->position, DATA(writes), status);        \
    }                                                                                              \
    BOTH(MPI_File_##verb##_shared)                                                                 \
    (MPI_File file, memory, int count, MPI_Datatype type, MPI_Status *status) {                    \
        ENTER(NAME(verb##_shared));                                                                \
        return move_shared(file, DATA(writes), status);                                            \
    }                                                                                              \
    BOTH(MPI_File_##verb##_ordered)                                                                \
    (MPI_File file, memory, int count, MPI_Datatype type, MPI_Status *status) {                    \
        ENTER(NAME(verb##_ordered));                                                               \
        return move_in_order(NAME(verb##_ordered), file, DATA(writes), status);                    \
    }                                                                                              \
    BOTH(MPI_File_i##verb##_at)                                                                    \
    (MPI_File file, MPI_Offset offset, memory, int count, MPI_Datatype type,                       \
     MPI_Request *request) {                                                                       \
        ENTER(NAME(i##verb##_at));                                                                 \
        return start(false, file, &offset, DATA(writes), request);                                 \
    }                                                                                              \
    BOTH(MPI_File_i##verb##_at_all)                                                                \
    (MPI_File file, MPI_Offset offset, memory, int count, MPI_Datatype type,                       \
     MPI_Request *request) {                                                                       \
        ENTER(NAME(i##verb##_at_all));                                                             \
        return start(true, file, &offset, DATA(writes), request);                                  \
    }                                                                                              \
    BOTH(MPI_File_i##verb)                                                                         \
    (MPI_File file, memory, int count, MPI_Datatype type, MPI_Request *request) {                  \
        ENTER(NAME(i##verb));                                                                      \
        CHECK(file);                                                                               \
        return start(false, file, &file->position, DATA(writes), request);                         \
    }                                                                                              \
    BOTH(MPI_File_i##verb##_all)                                                                   \
    (MPI_File file, memory, int count, MPI_Datatype type, MPI_Request *request) {                  \
        ENTER(NAME(i##verb##_all));                                                                \
        CHECK(file);                                                                               \
        return start(true, file, &file->position, DATA(writes), request);                          \
    }                                                                                              \
    BOTH(MPI_File_##verb##_at_all_begin)                                                           \
    (MPI_File file, MPI_Offset offset, memory, int count, MPI_Datatype type) {                     \
        ENTER(NAME(verb##_at_all_begin));                                                          \
        return split_begin(file, &offset, DATA(writes));                                           \
    }                                                                                              \
    BOTH(MPI_File_##verb##_all_begin)                                                              \
    (MPI_File file, memory, int count, MPI_Datatype type) {                                        \
        ENTER(NAME(verb##_all_begin));                                                             \
        CHECK(file);                                                                               \
        return split_begin(file, &file->position, DATA(writes));                                   \
    }                                                                                              \
    BOTH(MPI_File_##verb##_at_all_end)(MPI_File file, memory, MPI_Status * status) {               \
        (void)data;                                                                                \
        ENTER(NAME(verb##_at_all_end));                                                            \
        return split_end(file, status);                                                            \
    }                                                                                              \
    BOTH(MPI_File_##verb##_all_end)(MPI_File file, memory, MPI_Status * status) {                  \
        (void)data;                                                                                \
        ENTER(NAME(verb##_all_end));                                                               \
        return split_end(file, status);                                                            \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

TRANSFERS(read, void *data, false)
TRANSFERS(write, const void *data, true)
