/* What every rank of the harness writes while it measures: DIR/parts/rank-N, records that follow
 * each other. Written by the harness, read by the command, also after the harness died: whole
 * records count, the rest does not. One machine writes and reads: the byte order is its own. */
#ifndef LC_BENCH_PARTS_H
#define LC_BENCH_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    LC_PART_MAGIC = 0x6c623035,
    LC_PART_NAME = 48,
    LC_PART_COUNTERS = 64,
    LC_SAMPLE_FRAMES = 24
};

enum lc_part_kind {
    LC_PART_HELLO = 1, /* first in each file */
    LC_PART_FACT,      /* "section\0key\0value\0": of the job before it, if there is one */
    LC_PART_JOB,       /* what follows belongs to it */
    LC_PART_REPS,      /* int64_t values[n][LC_REP_COUNTERS + n_counters]: enum lc_rep_value */
    LC_PART_END,       /* the job has ended as it should */
    LC_PART_LOAD,      /* other work until here: at the beginning of a job and after each batch */
    LC_PART_SAMPLE     /* of the job before it */
};

/* One repetition; counters follow. */
enum lc_rep_value {
    LC_REP_START,
    LC_REP_END,
    LC_REP_COUNTED, /* 1: counters were read around the operation, the run time does not count */
    LC_REP_COUNTERS
};

/* What a counter's value of a repetition is. */
enum lc_counter_kind {
    LC_COUNTER_GROWTH, /* by how much it grew during the operation */
    LC_COUNTER_LEVEL,  /* what stood in it after the operation */
    LC_COUNTER_HIGH,  /* the highest, or lowest, that stood in it during the operation; since its */
    LC_COUNTER_LOW,   /* start where MPI does not let it be reset */
    LC_COUNTER_STATE, /* one of several states, by number: there is no more and less of it */
    LC_COUNTER_KINDS
};

struct lc_part_head {
    uint32_t kind, bytes; /* of the body that follows */
};

struct lc_part_hello {
    uint32_t magic, rank, size, node_ranks, cores; /* cores this rank may use */
    char node[64], cpus[64];                       /* cpus: as "0-3,8" */
};

struct lc_part_job {
    char operation[LC_PART_NAME], sync[16];
    uint64_t bytes;
    uint32_t n_counters, global; /* global: run times are last end less first start */
    uint32_t every;              /* each so many is a repetition with counters; 0: none is */
    uint32_t n_read;             /* the first so many counters stand in those only */
    char counter[LC_PART_COUNTERS][LC_PART_NAME];
    uint8_t kind[LC_PART_COUNTERS]; /* enum lc_counter_kind */
};

/* Of the probes in a process: starts and stops without each other, records of threads too many, and
 * libraries with probes that were opened after the first job had begun. */
struct lc_probe_faults {
    int64_t unbalanced, lost, late;
};

struct lc_part_end {
    uint64_t invalid, tried,
        late_first;   /* late_first: invalid ones before the first that is valid */
    char stopped[16]; /* repetitions, precision, time, interrupted */
    /* the global clock of this rank, measured before and after the job, was so far behind; between
     * the two times that changes in proportion. error_ns: of either measurement, at most */
    double begun_ns, begun_residual_ns, ended_ns, residual_ns, error_ns;
    double model_error_ns;          /* what the clock's own model says at the end */
    double broadcast_ns, window_ns; /* own broadcast; 0 without windows */
    struct lc_probe_faults probes;
};

struct lc_part_load {
    double at_ns; /* global */
    int64_t on_cpu_ns,
        delay_ns;              /* of the rank's thread so far (bench/system_load.h); -1: unknown */
    int64_t busy, steal, idle; /* ticks of its CPUs so far; -1: unknown, or not read again */
    int64_t ticks_per_s;
};

/* Where the rank was while the operation ran: docs/definitions/micro-benchmark.md, section 1. */
struct lc_part_sample {
    int64_t rep;      /* of the job, of those that were put */
    double weight_ns; /* how much time it stands for */
    int32_t n, lost;  /* frames; samples that found no room, which nothing else is said of */
    /* innermost first: number of a module (a LC_PART_FACT "module") << LC_SAMPLE_SHIFT | address in
     * its file */
    uint64_t frames[LC_SAMPLE_FRAMES];
};
enum { LC_SAMPLE_SHIFT = 48, LC_SAMPLE_MODULES = 256, LC_SAMPLES_MOST = 50000 /* of a job */ };
#define LC_SAMPLE_UNKNOWN UINT64_MAX

struct lc_part_writer {
    int fd;
    unsigned char *data; /* not yet written */
    size_t n, room;
};

/* Creates the file of a rank. LC_ERR_IO. */
enum lc_err lc_part_open(struct lc_part_writer *writer, const char *directory, uint32_t rank);
/* Adds a record; in memory until lc_part_flush(). LC_ERR_NOMEM. */
enum lc_err lc_part_put(struct lc_part_writer *writer, enum lc_part_kind kind, const void *body,
                        size_t bytes);
/* Adds a LC_PART_FACT. LC_ERR_NOMEM. */
enum lc_err lc_part_fact(struct lc_part_writer *writer, const char *section, const char *key,
                         const char *value);
enum lc_err lc_part_flush(struct lc_part_writer *writer); /* LC_ERR_IO */
void lc_part_close(struct lc_part_writer *writer);        /* without flushing */

#endif
