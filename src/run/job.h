/* Who started us: what the launchers tell each process by its environment. Called once, by
 * `latecomer run`. */
#ifndef LC_RUN_JOB_H
#define LC_RUN_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct lc_launch {
    const char *launcher; /* for people: "Open MPI", "Hydra", ..; NULL: none */
    int32_t rank, size;   /* 0 of 1 without a launcher */
    int32_t local_size;   /* ranks on this node; -1 unknown */
    uint64_t job;         /* the same for all processes of a job, another one for every other job */
    const char *binding;  /* what the launcher said about binding, or NULL */
};

void lc_launch_detect(struct lc_launch *launch);

/* True if /proc/<pid>/environ holds NAME=. */
bool lc_process_has_env(int pid, const char *name);

#endif
