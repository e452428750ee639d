#include "run/functions.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *name; /* without MPI_ */
    struct lc_function_class what;
    const char *role;
};

/* Sorted by name. Calls that can move several messages count their messages in rows of their own
 * (LC_RAW_CLASS_MESSAGES). */
static const struct entry entries[] = {
    {"Accumulate", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Allgather", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Allgatherv", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Allreduce", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Alltoall", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Alltoallv", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Alltoallw", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Barrier", {LC_EST_BARRIER, LC_TRAFFIC_COLLECTIVE}, "barrier"},
    {"Bcast", {LC_EST_LATE_BROADCAST, LC_TRAFFIC_COLLECTIVE}, "one2all"},
    {"Bsend", {LC_EST_NONE, LC_TRAFFIC_SEND}, "point2point"},
    {"Exscan", {LC_EST_NONE, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Gather", {LC_EST_EARLY_REDUCE, LC_TRAFFIC_COLLECTIVE}, "all2one"},
    {"Gatherv", {LC_EST_EARLY_REDUCE, LC_TRAFFIC_COLLECTIVE}, "all2one"},
    {"Get", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Get_accumulate", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Ibsend", {LC_EST_NONE, LC_TRAFFIC_SEND}, "point2point"},
    {"Irecv", {LC_EST_NONE, LC_TRAFFIC_NONE}, "point2point"},
    {"Irsend", {LC_EST_NONE, LC_TRAFFIC_SEND}, "point2point"},
    {"Isend", {LC_EST_NONE, LC_TRAFFIC_SEND}, "point2point"},
    {"Issend", {LC_EST_NONE, LC_TRAFFIC_SEND}, "point2point"},
    {"Mrecv", {LC_EST_LATE_SENDER, LC_TRAFFIC_COMPLETE}, "point2point"},
    {"Put", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Raccumulate", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Recv", {LC_EST_LATE_SENDER, LC_TRAFFIC_RECV}, "point2point"},
    {"Reduce", {LC_EST_EARLY_REDUCE, LC_TRAFFIC_COLLECTIVE}, "all2one"},
    {"Reduce_scatter", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Reduce_scatter_block", {LC_EST_NXN, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Rget", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Rget_accumulate", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Rput", {LC_EST_NONE, LC_TRAFFIC_RMA}, "rma"},
    {"Rsend", {LC_EST_NONE, LC_TRAFFIC_SEND}, "point2point"},
    {"Scan", {LC_EST_NONE, LC_TRAFFIC_COLLECTIVE}, "all2all"},
    {"Scatter", {LC_EST_LATE_BROADCAST, LC_TRAFFIC_COLLECTIVE}, "one2all"},
    {"Scatterv", {LC_EST_LATE_BROADCAST, LC_TRAFFIC_COLLECTIVE}, "one2all"},
    {"Send", {LC_EST_NONE, LC_TRAFFIC_SEND}, "point2point"},
    {"Sendrecv", {LC_EST_LATE_SENDER, LC_TRAFFIC_NONE}, "point2point"},
    {"Sendrecv_replace", {LC_EST_LATE_SENDER, LC_TRAFFIC_NONE}, "point2point"},
    {"Ssend", {LC_EST_LATE_RECEIVER, LC_TRAFFIC_SEND}, "point2point"},
    {"Test", {LC_EST_NONE, LC_TRAFFIC_COMPLETE}, "point2point"},
    {"Testany", {LC_EST_NONE, LC_TRAFFIC_COMPLETE}, "point2point"},
    {"Wait", {LC_EST_WAIT, LC_TRAFFIC_COMPLETE}, "point2point"},
    {"Waitall", {LC_EST_WAIT_SEVERAL, LC_TRAFFIC_NONE}, "point2point"},
    {"Waitany", {LC_EST_WAIT_SEVERAL, LC_TRAFFIC_COMPLETE}, "point2point"},
    {"Waitsome", {LC_EST_WAIT_SEVERAL, LC_TRAFFIC_NONE}, "point2point"},
};

static int compare_name(const void *key, const void *entry) {
    return strcmp(key, ((const struct entry *)entry)->name);
}

static const struct entry *find_plain(const char *plain) {
    return bsearch(plain, entries, sizeof entries / sizeof entries[0], sizeof entries[0],
                   compare_name);
}

/* The function's name without MPI_ and without the _c of large counts; "" if it is none. */
static void plain_name(const char *name, char *plain, size_t size) {
    size_t length = strlen(name);
    plain[0] = '\0';
    if (strncmp(name, "MPI_", 4) != 0 || length >= size)
        return;
    length -= 4;
    memcpy(plain, name + 4, length + 1);
    if (length > 2 && strcmp(plain + length - 2, "_c") == 0)
        plain[length - 2] = '\0';
}

/* MPI_Iallreduce and the like: the same data as MPI_Allreduce, moved elsewhere in time. */
static bool is_nonblocking_collective(const char *plain) {
    char blocking[64];
    if (plain[0] != 'I' || plain[1] == '\0')
        return false;
    snprintf(blocking, sizeof blocking, "%s", plain + 1);
    blocking[0] = (char)toupper((unsigned char)blocking[0]);
    const struct entry *entry = find_plain(blocking);
    return entry != NULL && entry->what.traffic == LC_TRAFFIC_COLLECTIVE;
}

struct lc_function_class lc_function_classify(const char *name) {
    char plain[64];
    plain_name(name, plain, sizeof plain);
    const struct entry *entry = find_plain(plain);
    if (entry != NULL)
        return entry->what;
    struct lc_function_class what = {LC_EST_NONE, LC_TRAFFIC_NONE};
    if (is_nonblocking_collective(plain) || strstr(plain, "eighbor_") != NULL)
        what.traffic = LC_TRAFFIC_OTHER_COLLECTIVE;
    return what;
}

const char *lc_function_role(const char *name) {
    char plain[64];
    plain_name(name, plain, sizeof plain);
    const struct entry *entry = find_plain(plain);
    if (entry != NULL)
        return entry->role;
    return strncmp(name, "MPI_File_", 9) == 0 ? "file_io" : "function";
}
