/* Launchers (mpirun, mpiexec, srun, ..): which one started this process, as which rank of which
 * job; and the words that start one.
 *
 * Nouns
 *   launcher   what numbers the processes of an MPI job and tells each by its environment. The
 *              nearest one counts: a batch script is not launched, though Slurm numbers it as
 *              task 0; ranks of mpirun inside an allocation are mpirun's, though daemons that a
 *              step of Slurm started pass that step's variables on
 *   job        all processes of one MPI_COMM_WORLD. Its identity is made of what the nearest
 *              launcher itself calls it, on every node alike, and of nothing that a scheduler
 *              around it adds
 *
 * Called by `latecomer run` and `latecomer analyze`, by the library inside the program (rank and
 * size before MPI_Init), and by the analysis program. */
#ifndef LC_JOB_LAUNCHER_H
#define LC_JOB_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/mpi_flavour.h"

enum lc_launcher_kind {
    LC_LAUNCHER_NONE,
    LC_LAUNCHER_OPENMPI,
    LC_LAUNCHER_HYDRA,
    LC_LAUNCHER_MVAPICH,
    LC_LAUNCHER_FLUX,
    LC_LAUNCHER_SLURM, /* srun, whatever its --mpi */
    LC_LAUNCHER_PMI,   /* one that only PMI tells of */
    LC_LAUNCHER_PMIX
};

/* How a process can reach the others of its job when MPI starts. Without one MPI sees one rank. */
enum lc_launch_wire { LC_WIRE_NONE, LC_WIRE_PMI, LC_WIRE_PMIX };

struct lc_launch {
    enum lc_launcher_kind kind;
    const char *launcher; /* for people: "Open MPI", "Hydra", ..; NULL: none */
    int32_t rank, size;   /* 0 of 1 without a launcher */
    int32_t local_size;   /* ranks on this node; -1 unknown */
    uint64_t job;         /* the same in all processes of a job, another one for every other job */
    const char *binding;  /* what the launcher said about binding, or NULL */
    enum lc_launch_wire wire;
    int process; /* of the launcher, on this node, that started this process; 0: not known */
};

/* Where the facts come from: the own process, or what was once captured (tests). */
struct lc_launch_source {
    const char *(*variable)(const void *context, const char *name);
    /* Command line of the n-th ancestor, 0 the parent, its words ended by NUL; 0: there is none. */
    size_t (*ancestor)(const void *context, int n, char *words, size_t size);
    const void *context;
};

/* Which launcher started this process, as which rank of which job; no launcher: rank 0 of 1. */
void lc_launch_detect(struct lc_launch *launch);
/* Which launcher, rank and job captured facts tell of, whatever this process's environment is. */
void lc_launch_detect_from(struct lc_launch *launch, const struct lc_launch_source *source);
/* Which launcher started this process, as which rank, from the environment alone: `job` is not
 * set. */
void lc_launch_detect_place(struct lc_launch *launch);

/* True in an allocation of a batch system, also outside its steps: nodes and slots are given. */
bool lc_launch_in_allocation(void);

/* What to do if MPI sees one rank though the launcher has started several: a few words. `flavour`:
 * of the MPI that says so. */
const char *lc_launch_advice(const struct lc_launch *launch, enum lc_flavour flavour);

/* Starting one. */

enum lc_start_kind {
    LC_START_UNKNOWN,
    LC_START_ORTE, /* Open MPI up to 4 */
    LC_START_PRTE, /* Open MPI from 5 on */
    LC_START_HYDRA /* MPICH, Intel MPI, MVAPICH, ParaStation */
};

struct lc_starter {
    char *path;
    enum lc_start_kind kind;
};

/* The launcher of an MPI: `wanted` (a name or path; may be NULL) if given; else that beside the MPI
 * library `library` (may be NULL) if it lies outside the system's folders; else the first in PATH
 * that says it belongs to the flavour (unknown: any). LC_ERR_NOT_FOUND says what is missing. */
enum lc_err lc_starter_find(struct lc_starter *starter, enum lc_flavour flavour,
                            const char *library, const char *wanted);
/* Frees what lc_starter_find filled in, not the struct. */
void lc_starter_free(struct lc_starter *starter);

/* What `launcher --version` says it is. */
enum lc_start_kind lc_start_kind_of_version(const char *text);

enum { LC_START_WORDS = 12 };
/* The words after its name, up to the program; at most LC_START_WORDS, their number is returned.
 * They are literals but for the last, which is `number` (of 24 bytes). `quiet`: no pages of its own
 * where it has an option for that. */
int lc_starter_words(const struct lc_starter *starter, long ranks, bool quiet, const char **words,
                     char *number);

/* Names of launchers, the usual ones first, NULL after the last; constant. */
const char *const *lc_launcher_names(void);

/* True if the program is a launcher by name: then `latecomer run` stands on its wrong side. */
bool lc_is_launcher_name(const char *program);

#endif
