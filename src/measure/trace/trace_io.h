/* MPI-IO in the trace: nothing is done unless a trace is written. */
#ifndef LC_MEASURE_TRACE_TRACE_IO_H
#define LC_MEASURE_TRACE_TRACE_IO_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_call;

/* files, for the trace only */
enum {
    LC_FILE_READ,
    LC_FILE_WRITE,
    LC_FILE_FLUSH,
    LC_FILE_NONBLOCKING = 1 << 8,
    LC_FILE_ALL = 2 << 8
};

struct lc_file_op {
    uint32_t file; /* LC_NONE: not known, or no trace is written */
    uint64_t id, bytes;
};
/* After MPI_File_open; result: what MPI returned. */
void lc_file_opened(struct lc_call *call, int result, MPI_Comm comm, const char *name, int amode,
                    const MPI_File *file);
/* Before MPI_File_close: takes the file's number. */
void lc_file_close_begin(struct lc_call *call, struct lc_file_op *op, MPI_File file);
/* After MPI_File_close; result: what MPI returned. */
void lc_file_close_end(struct lc_call *call, const struct lc_file_op *op, int result);
/* After MPI_File_delete; result: what MPI returned. */
void lc_file_deleted(struct lc_call *call, int result, const char *name);
/* After MPI_File_seek; shared: of the shared pointer. */
void lc_file_sought(struct lc_call *call, int result, MPI_File file, MPI_Offset offset, int whence,
                    bool shared);
/* Before a transfer of `count` elements; how: OTF2's flags. */
void lc_file_begin(struct lc_call *call, struct lc_file_op *op, MPI_File file, uint32_t how,
                   uint64_t count, MPI_Datatype type);
void lc_file_end(struct lc_call *call, const struct lc_file_op *op, int result,
                 const MPI_Status *status); /* NULL: nothing is transferred */
/* After a nonblocking transfer was started. */
void lc_file_started(struct lc_call *call, const struct lc_file_op *op, int result,
                     const MPI_Request *request);
/* After the first half of a split collective transfer. */
void lc_file_split_begun(struct lc_call *call, const struct lc_file_op *op, int result,
                         MPI_File file);
/* After the second half of a split operation; status: of what it has moved. */
void lc_file_split_ended(struct lc_call *call, int result, MPI_File file, const MPI_Status *status);

#endif
