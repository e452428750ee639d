#include "analyze/partition.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Processes by the region at the root of their call tree: the program, where it is known. */
static void by_executable(const struct lc_trace *trace, int64_t *labels) {
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_loc *loc = &trace->locs[i];
        if (loc->id == trace->processes[loc->process].first_location && loc->root != LC_NONE)
            labels[loc->process] = trace->cnodes[loc->root].region;
    }
    lc_transport_allreduce_i64(trace->comm, labels, trace->n_processes, LC_OP_MAX);
}

static enum lc_err no_labels(const struct lc_trace *trace, int64_t **labels) {
    enum lc_err err =
        lc_transport_agree(trace->comm, lc_alloc(labels, trace->n_processes + 1, sizeof **labels));
    for (size_t i = 0; i < trace->n_processes && err == LC_OK; i++)
        (*labels)[i] = -1;
    return err;
}

enum lc_err lc_partition_executables(const struct lc_trace *trace, int64_t **labels) {
    *labels = NULL;
    LC_TRY(no_labels(trace, labels));
    by_executable(trace, *labels);
    return LC_OK;
}

bool lc_partition_has_programs(const struct lc_trace *trace) {
    int64_t *labels = NULL;
    uint32_t first = LC_NONE;
    bool several = false;
    if (lc_partition_executables(trace, &labels) != LC_OK)
        return false;
    for (size_t p = 0; p < trace->n_processes; p++) {
        if (labels[p] < 0 || !trace->regions[labels[p]].artificial)
            continue;
        several = several || (first != LC_NONE && labels[p] != (int64_t)first);
        first = (uint32_t)labels[p];
    }
    free(labels);
    return several;
}

static void by_communicator(const struct lc_trace *trace, int64_t *labels) {
    for (size_t c = trace->n_comms; c-- > 0;) {
        const struct lc_an_comm *comm = &trace->comms[c];
        if (comm->self || comm->members == NULL || comm->n_members < 2 ||
            comm->n_members >= trace->n_processes)
            continue;
        for (uint32_t i = 0; i < comm->n_members; i++)
            if (comm->members[i] != LC_NONE)
                labels[comm->members[i]] = (int64_t)c;
    }
}

static enum lc_err by_list(const struct lc_trace *trace, const char *text, int64_t *labels) {
    const char *at = text;
    for (int64_t label = 0; *at != '\0';) {
        char *end = NULL;
        long first = strtol(at, &end, 10), last = first;
        if (end != at && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
        }
        if (end == at || first < 0 || last < first || (*end != ',' && *end != '/' && *end != '\0'))
            return lc_fail(LC_ERR_USAGE,
                           "--partition=%s: neither executable, communicator nor a list: write "
                           "ranks as in 0,1/2-5",
                           text);
        for (size_t p = 0; p < trace->n_processes; p++)
            if (trace->processes[p].rank >= first && trace->processes[p].rank <= last)
                labels[p] = label;
        label += *end == '/';
        at = *end == '\0' ? end : end + 1;
    }
    return LC_OK;
}

static int compare_labels(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Labels of processes to dense numbers of locations. */
static enum lc_err number(const struct lc_trace *trace, const int64_t *labels,
                          uint32_t *partition) {
    int64_t *sorted = NULL;
    size_t n = 0;
    LC_TRY(lc_alloc(&sorted, trace->n_processes + 1, sizeof *sorted));
    memcpy(sorted, labels, trace->n_processes * sizeof *sorted);
    qsort(sorted, trace->n_processes, sizeof *sorted, compare_labels);
    for (size_t i = 0; i < trace->n_processes; i++)
        if (n == 0 || sorted[i] != sorted[n - 1])
            sorted[n++] = sorted[i];
    for (size_t l = 0; l < trace->n_locations; l++) {
        const int64_t *found = bsearch(&labels[trace->locations[l].process], sorted, n,
                                       sizeof *sorted, compare_labels);
        partition[l] = (uint32_t)(found - sorted);
    }
    free(sorted);
    return LC_OK;
}

enum lc_err lc_partition_find(const struct lc_trace *trace, const char *text, uint32_t *partition) {
    int64_t *labels = NULL;
    enum lc_err err = no_labels(trace, &labels);
    if (err == LC_OK && strcmp(text, "executable") == 0)
        by_executable(trace, labels);
    else if (err == LC_OK && strcmp(text, "communicator") == 0)
        by_communicator(trace, labels);
    else if (err == LC_OK)
        err = by_list(trace, text, labels);
    if (err == LC_OK)
        err = number(trace, labels, partition);
    free(labels);
    return lc_transport_agree(trace->comm, err);
}
