#include "analyze/forecast.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/replay.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* Measured peak of the whole analysis (docs/trace-analysis.md), and what a record takes at least in
 * a file: announcements of damaged archives are not believed. */
enum { BYTES_PER_EVENT = 44, LEAST_FILE_BYTES = 2, PATH_BYTES = 4096 };

/* Of root causes, at most at one time, measured by `latecomer.sh measure 'analyze.ranks.*'`. */
enum { BYTES_PER_WAIT = 300, BYTES_PER_INTERVAL = 220, BYTES_OF_MESSAGES = 1 << 20 };

static uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Number after `key` at the begin of a line of a file ("": its first number); UINT64_MAX without
 * one ("max"). */
static uint64_t read_number(const char *path, const char *key) {
    FILE *file = fopen(path, "r");
    char line[256];
    uint64_t value = UINT64_MAX;
    size_t n = strlen(key);
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, n) == 0) {
            if (sscanf(line + n, "%" SCNu64, &value) != 1)
                value = UINT64_MAX;
            break;
        }
    if (file)
        fclose(file);
    return value;
}

/* What is left of the limit of a control group; `limit` and `usage` are its files. Pages of files
 * that nobody uses do not count. */
static uint64_t left_in(const char *group, const char *limit, const char *usage, const char *idle) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", group, limit);
    uint64_t most = read_number(path, "");
    snprintf(path, sizeof path, "%s/%s", group, usage);
    uint64_t used = read_number(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", group);
    uint64_t files = read_number(path, idle);
    if (most == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    used -= files == UINT64_MAX ? 0 : min_u64(files, used);
    return most > used ? most - used : 0;
}

/* The control group of this process and all above it. */
static uint64_t left_in_groups(void) {
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[PATH_BYTES], group[PATH_BYTES + 32];
    uint64_t left = UINT64_MAX;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        const char *path = strncmp(line, "0::", 3) == 0 ? line + 3 : strstr(line, ":memory:");
        bool old = path && path != line + 3;
        if (!path)
            continue;
        int n = snprintf(group, sizeof group, "/sys/fs/cgroup%s%s", old ? "/memory" : "",
                         old ? path + strlen(":memory:") : path);
        size_t root = strlen("/sys/fs/cgroup") + (old ? strlen("/memory") : 0);
        for (char *end = group + n; end && end >= group + root; end = strrchr(group, '/')) {
            *end = 0;
            left = min_u64(left,
                           old ? left_in(group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                         "total_inactive_file ")
                               : left_in(group, "memory.max", "memory.current", "inactive_file "));
        }
    }
    if (file)
        fclose(file);
    return left;
}

static uint64_t left_on_node(void) {
    uint64_t free_kib = read_number("/proc/meminfo", "MemAvailable:");
    uint64_t left = free_kib == UINT64_MAX ? free_kib : free_kib << 10;
    return min_u64(left, left_in_groups());
}

static uint64_t left_of_address_space(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t pages = read_number("/proc/self/statm", "");
    uint64_t used = pages == UINT64_MAX ? 0 : pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

/* Events of this rank: as announced, but not more than its files can hold. Where they do not stay
 * in memory those of the largest location, which does while it is read. */
static uint64_t own_events(const struct lc_trace *trace, const char *archive) {
    uint64_t sum = 0, most = 0;
    for (size_t i = 0; i < trace->n_locs; i++) {
        const struct lc_an_location *location = &trace->locations[trace->locs[i].id];
        int64_t bytes = lc_archive_file_bytes(archive, location->otf2_id, "evt");
        uint64_t n =
            min_u64(location->n_events, bytes > 0 ? (uint64_t)bytes / LEAST_FILE_BYTES : 0);
        sum += n;
        most = n > most ? n : most;
    }
    return trace->store != NULL ? most : sum;
}

struct need {
    uint64_t bytes, left, node; /* left: of the rank's address space; node: hash of its name */
};

static uint64_t hash_node(void) {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return lc_hash_text(LC_HASH_BEGIN, name);
}

static enum lc_err compare(uint64_t need, uint64_t left, const char *what, const char *of) {
    if (need <= left)
        return LC_OK;
    return lc_fail(LC_ERR_NOMEM,
                   "memory: the analysis needs about %" PRIu64 " MiB%s%s, %" PRIu64
                   " MiB are left: use more nodes, or record less (latecomer run --filter)",
                   (need >> 20) + 1, what, of, left >> 20);
}

/* needs[]: of all ranks. */
static enum lc_err compare_needs(const struct lc_transport *comm, const struct need *needs,
                                 const char *what) {
    const struct need *own = &needs[comm->rank];
    uint64_t sum = 0;
    for (uint32_t r = 0; r < comm->size; r++)
        sum += needs[r].node == own->node ? needs[r].bytes : 0;
    LC_TRY(compare(sum, left_on_node(), what, " on this node"));
    return compare(own->bytes, own->left, what,
                   comm->size == 1 ? " (ulimit -v)" : " per rank (ulimit -v)");
}

static enum lc_err check_need(const struct lc_transport *comm, uint64_t need_bytes,
                              const char *what) {
    struct need own = {need_bytes, left_of_address_space(), hash_node()};
    struct need *needs = NULL;
    size_t bytes = 0;
    LC_TRY(lc_transport_gather(comm, &own, sizeof own, (void **)&needs, &bytes, NULL));
    enum lc_err err = LC_OK;
    if (!needs)
        err = lc_alloc(&needs, comm->size, sizeof *needs);
    err = lc_transport_agree(comm, err);
    if (err == LC_OK) {
        lc_transport_bcast(comm, needs, comm->size * sizeof *needs, 0);
        err = lc_transport_agree(comm, compare_needs(comm, needs, what));
    }
    free(needs);
    return err;
}

enum lc_err lc_forecast_check(const struct lc_trace *trace, const char *archive) {
    return check_need(trace->comm, own_events(trace, archive) * BYTES_PER_EVENT, "");
}

/* A wait state is with its location, its interval with the cause. */
enum lc_err lc_forecast_root_causes(const struct lc_trace *trace, uint64_t *bytes) {
    int64_t *intervals = NULL;
    uint64_t n_states = 0;
    LC_TRY(lc_transport_agree(trace->comm,
                              lc_alloc(&intervals, trace->comm->size, sizeof *intervals)));
    for (size_t l = 0; l < trace->n_locs; l++)
        for (size_t i = 0; i < trace->locs[l].n_waits; i++) {
            const struct lc_wait *w = &trace->locs[l].waits[i];
            n_states++;
            if ((w->flags & LC_WAIT_STATE) && w->cause != LC_NONE)
                intervals[lc_trace_owner(trace, w->cause)]++;
        }
    lc_transport_allreduce_i64(trace->comm, intervals, trace->comm->size, LC_OP_SUM);
    uint64_t costs = BYTES_OF_MESSAGES + n_states * BYTES_PER_WAIT +
                     (uint64_t)intervals[trace->comm->rank] * BYTES_PER_INTERVAL;
    uint64_t gains = lc_replay_need(trace);
    *bytes = costs > gains ? costs : gains; /* one after the other */
    free(intervals);
    return LC_OK;
}

enum lc_err lc_forecast_check_root_causes(const struct lc_trace *trace) {
    uint64_t bytes;
    LC_TRY(lc_forecast_root_causes(trace, &bytes));
    return check_need(trace->comm, bytes, " for root causes");
}

int64_t lc_archive_file_bytes(const char *archive, uint64_t location, const char *suffix) {
    struct lc_strbuf path = {0};
    struct stat info;
    size_t stem = strlen(archive);
    stem -= stem > 5 && strcmp(archive + stem - 5, ".otf2") == 0 ? 5 : 0;
    lc_strbuf_printf(&path, "%.*s/%" PRIu64 ".%s", (int)stem, archive, location, suffix);
    int64_t bytes = stat(lc_strbuf_get(&path), &info) == 0 ? (int64_t)info.st_size : -1;
    lc_strbuf_free(&path);
    return bytes;
}
