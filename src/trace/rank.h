/* One rank's trace, brought together from memory and files; and what it becomes. Internal to
 * src/trace. */
#ifndef LC_TRACE_RANK_H
#define LC_TRACE_RANK_H

#include "base/program_names.h"
#include "format/trace_defs.h"
#include "trace/archive.h"
#include "format/union.h"
#include "trace/conversion.h"
#include "trace/raw_files.h"

struct lc_trace_location {
    uint32_t thread;
    uint64_t begin_ticks;
    struct lc_trace_segment *segments;
    size_t n_segments, cap_segments;
    struct lc_trace_mapped file;
};

struct lc_trace_rank {
    struct lc_trace_defs defs;
    struct lc_trace_location *locations;
    size_t n_locations, cap_locations;
    uint64_t lost_records, lost_threads, n_flushes;
};

/* From the area and, after it, the files of flushed chunks. `state` stays mapped as long as the
 * rank is used. Errors: LC_ERR_NOMEM, LC_ERR_FORMAT, LC_ERR_IO, LC_ERR_NOT_FOUND. */
enum lc_err lc_trace_rank_from_state(struct lc_trace_rank *rank, const void *state, size_t bytes,
                                     const char *dir);
/* From the files of a salvaged rank. Errors: LC_ERR_NOT_FOUND: it left no definitions;
 * LC_ERR_FORMAT: these are damaged; LC_ERR_IO; LC_ERR_NOMEM. */
enum lc_err lc_trace_rank_from_files(struct lc_trace_rank *rank, const char *dir, int number);
/* Frees what it holds; `state` stays the caller's. */
void lc_trace_rank_free(struct lc_trace_rank *rank);

/* What the definitions of the archive need of each rank; the contents of its rank file. */
struct lc_trace_location_info {
    uint64_t location, n_events, first_time, last_time;
    uint32_t thread, tid;
    uint32_t openmp; /* 1: the runtime of OpenMP made the thread */
    uint32_t unused;
};
struct lc_trace_team_info {  /* of OpenMP: a thread was in that team */
    uint32_t team, location; /* index */
};
struct lc_trace_rank_info {
    uint64_t magic;
    int32_t rank, size, pid;
    uint32_t n_locations, n_teams;
    uint32_t counted; /* 1: what was begun while nothing was recorded (lc_def_left_out) */
    double ticks_per_s;
    uint64_t lost_records, lost_threads, n_flushes, begin_realtime_ns, base_ticks;
    uint64_t evt_bytes;
    char host[64];
    char program[LC_PROGRAM_ID_BYTES]; /* id of the executable */
    struct lc_trace_location_info *locations;
    struct lc_trace_team_info *teams;
};
#define LC_TRACE_RANK_MAGIC 0x4c4354524e4b3034ull

/* Communicators of the archive: those of MPI, one per process for its threads, those of teams. */
static inline uint32_t lc_trace_team_comm(uint32_t n_global_comms, uint32_t n_ranks, uint32_t rank,
                                          uint32_t team) {
    return n_global_comms + n_ranks + team * n_ranks + rank;
}

/* Appends what is in memory to the raw files, `more` to the definitions. Errors: LC_ERR_IO. */
enum lc_err lc_trace_salvage_streams(const void *state, size_t bytes, const char *dir,
                                     const struct lc_strbuf *more);

/* Progress, if more than 2 s have passed since the first call (finish_archive.c). */
void lc_trace_tell(const struct lc_trace_options *options, const char *what, double fraction);

/* Writes DIR/traces/<location>.evt and .def of all locations of the rank; defs.maps must be filled;
 * n_global_comms: communicators of all ranks together (those of threads are numbered after them).
 * Errors: LC_ERR_NOMEM, LC_ERR_FORMAT, LC_ERR_IO. */
enum lc_err lc_trace_write_events(struct lc_trace_rank *rank, const char *dir,
                                  const struct lc_trace_options *options, uint32_t n_global_comms,
                                  struct lc_trace_rank_info *info);
/* Into a file of DIR/traces, for the process that joins all ranks. LC_ERR_IO. */
enum lc_err lc_trace_info_save(const struct lc_trace_rank_info *info, const char *dir);
/* Reads it back; lc_trace_info_free. LC_ERR_IO, LC_ERR_FORMAT, LC_ERR_NOMEM. */
enum lc_err lc_trace_info_load(struct lc_trace_rank_info *info, const char *dir, int rank);
/* Frees what it holds, not the struct. */
void lc_trace_info_free(struct lc_trace_rank_info *info);

/* Writes DIR/traces.def and, last, DIR/traces.otf2. infos[i] is of rank i; NULL entries of
 * locations: a rank without trace. Errors: LC_ERR_NOMEM, LC_ERR_IO. */
enum lc_err lc_trace_write_global(const char *dir, const struct lc_union *u,
                                  const struct lc_trace_rank_info *infos, int n_ranks,
                                  const struct lc_trace_defs *process,
                                  const struct lc_trace_options *options);

/* What the filter means for one rank. */
struct lc_filtered {
    struct lc_filter *filter;
    unsigned char *regions, *comms; /* 1: left out */
};
/* Applies the options' filter to the definitions; lc_trace_filtered_free. LC_ERR_NOMEM, or that
 * of reading the filter. */
enum lc_err lc_trace_filtered(struct lc_filtered *out, const struct lc_trace_defs *defs,
                              const struct lc_trace_options *options);
/* Frees what it holds, not the struct. */
void lc_trace_filtered_free(struct lc_filtered *filtered);

/* What OTF2 calls a function of MPI by its name: barrier, point-to-point, .. */
OTF2_RegionRole lc_trace_role(const char *mpi_function);
/* What OTF2 calls a construct of OpenMP ("critical @solve.c:12", or a function of its locks). */
OTF2_RegionRole lc_trace_omp_role(const char *construct);

#endif
