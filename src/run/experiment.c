#include "run/experiment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "base/timer.h"
#include "format/rank_record.h"
#include "run/facts_text.h"
#include "run/profile_convert.h"
#include "run/rundir.h"

#define FINISHED ".finished" /* the result is whole; there while the other files are removed */

static void join(char *path, const char *dir, const char *name) {
    snprintf(path, PATH_MAX, "%s/%s", dir, name);
}

enum lc_err lc_experiment_write_json(const char *dir, const char *name, const json_t *object) {
    char path[PATH_MAX];
    join(path, dir, name);
    char *text = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    if (text == NULL)
        return lc_fail(LC_ERR_NOMEM, "memory: cannot write JSON");
    enum lc_err err = lc_outfile_put(path, text, strlen(text));
    free(text);
    return err;
}

/* NULL if absent or damaged */
static json_t *experiment_read_json(const char *dir, const char *name) {
    char path[PATH_MAX];
    join(path, dir, name);
    return json_load_file(path, 0, NULL);
}

static enum lc_err write_raw(const char *path, const struct lc_raw *raw) {
    void *bytes;
    size_t n_bytes;
    LC_TRY(lc_raw_pack(raw, 1, &bytes, &n_bytes));
    enum lc_err err = lc_outfile_put(path, bytes, n_bytes);
    free(bytes);
    return err;
}

enum lc_err lc_experiment_write_partial(const char *dir, int32_t lowest_rank,
                                        const struct lc_raw *raw) {
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, LC_PARTIAL_FORMAT, lowest_rank);
    join(path, dir, name);
    return write_raw(path, raw);
}

static bool is_partial(const char *name) {
    int rank;
    char end;
    return sscanf(name, ".partial.%d.ra%c", &rank, &end) == 2 && end == 'w' &&
           strcmp(name + strlen(name) - 4, ".raw") == 0;
}

/* Whoever wrote it was killed. */
static bool is_left_behind(const char *name) {
    return lc_outfile_is_unfinished(name, "profile.cubex") ||
           lc_outfile_is_unfinished(name, "meta.json") ||
           lc_outfile_is_unfinished(name, ".run.json");
}

static bool is_ours(const char *name) {
    /* .partial.*: also what a node was writing when it was lost */
    return is_left_behind(name) || strncmp(name, ".partial.", 9) == 0 ||
           strcmp(name, ".run.json") == 0 || strncmp(name, ".profile.raw", 12) == 0 ||
           strcmp(name, LC_RANK_RECORDS) == 0 || strcmp(name, ".control") == 0 ||
           strcmp(name, LC_DUMP_REQUEST) == 0 || strcmp(name, LC_RUNDIR_CLAIM) == 0;
}

/* From here on the result is whole, and what else is there is only to be removed. Whoever is killed
 * while it removes the parts of the nodes leaves some of them, which must not become a result. */
static void mark_finished(const char *dir) {
    char path[PATH_MAX];
    join(path, dir, FINISHED);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        close(file);
}

static bool is_finished(const char *dir) {
    char path[PATH_MAX];
    join(path, dir, FINISHED);
    return access(path, F_OK) == 0 && lc_experiment_has_result(dir);
}

void lc_experiment_clean(const char *dir) {
    DIR *entries = opendir(dir);
    struct dirent *entry;
    if (entries == NULL)
        return;
    while ((entry = readdir(entries)) != NULL)
        if (is_ours(entry->d_name))
            unlinkat(dirfd(entries), entry->d_name, 0);
    unlinkat(dirfd(entries), FINISHED, 0);
    closedir(entries);
    rmdir(dir); /* fails if there is a result, as it should */
}

static int by_name(const void *a, const void *b) {
    return memcmp(a, b, sizeof((struct lc_rank_record *)0)->node);
}

size_t lc_experiment_nodes(const char *dir) {
    char path[PATH_MAX], (*names)[sizeof((struct lc_rank_record *)0)->node] = NULL;
    struct lc_rank_record record;
    size_t n = 0, cap = 0, nodes = 0;
    join(path, dir, LC_RANK_RECORDS);
    FILE *file = fopen(path, "rb");
    while (file != NULL && fread(&record, sizeof record, 1, file) == 1)
        if (record.magic == LC_RANK_RECORD_MAGIC &&
            lc_grow(&names, &cap, n + 1, sizeof *names) == LC_OK)
            memcpy(names[n++], record.node, sizeof *names);
    if (file != NULL)
        fclose(file);
    if (n > 0)
        qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++)
        nodes += i == 0 || by_name(names[i - 1], names[i]) != 0;
    free(names);
    return nodes;
}

void lc_experiment_parts(const char *dir, void (*part)(void *context, const struct stat *file),
                         void *context) {
    struct stat file;
    const struct dirent *entry;
    DIR *entries = opendir(dir);
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (is_partial(entry->d_name) && fstatat(dirfd(entries), entry->d_name, &file, 0) == 0)
            part(context, &file);
    if (entries != NULL)
        closedir(entries);
}

bool lc_experiment_is_open(const char *dir, struct timespec *began) {
    char path[4096 + 16];
    struct stat status;
    snprintf(path, sizeof path, "%s/.run.json", dir);
    if (stat(path, &status) != 0 || is_finished(dir))
        return false;
    if (began != NULL)
        *began = status.st_mtim;
    return true;
}

bool lc_experiment_has_result(const char *dir) {
    char path[PATH_MAX];
    join(path, dir, "profile.cubex");
    return access(path, R_OK) == 0;
}

static bool is_of_snapshot(const json_t *meta) {
    const char *ending = json_string_value(json_object_get(meta, "ending"));
    return ending != NULL && strcmp(ending, LC_ENDING_OF_SNAPSHOT) == 0;
}

/* Says the second part more of the end? A node that had ended says more than one that was only
 * asked meanwhile, and one that ended first more than those that the launcher killed for that. */
static bool tells_the_end(const json_t *first, const json_t *second) {
    const json_t *one = json_object_get(first, LC_META_FIRST_END);
    const json_t *other = json_object_get(second, LC_META_FIRST_END);
    if (json_object_get(first, "ending") == NULL || is_of_snapshot(first))
        return true;
    return json_object_get(second, "ending") != NULL && !is_of_snapshot(second) &&
           json_is_number(one) && json_is_number(other) &&
           json_number_value(other) < json_number_value(one);
}

static void take_the_end(json_t *first, const json_t *second) {
    static const char *const of_the_end[] = {"ending", "exit_status", "end", LC_META_FIRST_END};
    for (size_t k = 0; k < sizeof of_the_end / sizeof of_the_end[0]; k++) {
        json_t *value = json_object_get(second, of_the_end[k]);
        if (value != NULL)
            json_object_set(first, of_the_end[k], value);
        else if (json_object_get(second, "ending") != NULL)
            json_object_del(first, of_the_end[k]);
    }
}

/* What the second knows more is added. */
static void join_meta(json_t *first, json_t *second) {
    json_t *endings = json_object_get(second, "endings"), *ending;
    json_t *known = json_object_get(first, "endings");
    size_t i;
    json_array_foreach(endings, i, ending) {
        const char *text = json_string_value(ending);
        if (text != NULL && *text != '\0' && i < json_array_size(known))
            json_array_set(known, i, ending);
    }
    if (tells_the_end(first, second))
        take_the_end(first, second);
    if (json_is_false(json_object_get(second, "complete")))
        json_object_set_new(first, "complete", json_false());
    double wall = json_number_value(json_object_get(second, "wall_time_s"));
    if (wall > json_number_value(json_object_get(first, "wall_time_s")))
        json_object_set_new(first, "wall_time_s", json_real(wall));
    json_object_update_missing(first, second);
}

/* Ranks of two nodes in one profile. */
static enum lc_err join_partial(struct lc_raw **all, struct lc_raw *more) {
    if (*all == NULL) {
        *all = more;
        return LC_OK;
    }
    enum lc_err err = lc_raw_merge(*all, more);
    if (err == LC_OK && (*all)->pop == NULL && more->pop != NULL) {
        (*all)->pop = more->pop;
        more->pop = NULL;
    }
    json_t *first = (*all)->meta == NULL ? NULL : json_loads((*all)->meta, 0, NULL);
    json_t *second = more->meta == NULL ? NULL : json_loads(more->meta, 0, NULL);
    if (first != NULL && second != NULL) {
        join_meta(first, second);
        free((*all)->meta);
        (*all)->meta = json_dumps(first, JSON_REAL_PRECISION(17));
    }
    json_decref(first);
    json_decref(second);
    lc_raw_free(more);
    return err;
}

bool lc_experiment_has_profile(const char *dir) {
    char path[PATH_MAX];
    join(path, dir, ".profile.raw");
    return access(path, R_OK) == 0;
}

/* Of a run that goes on, or went on then: its node writes another one when it ends. */
static bool is_snapshot(const struct lc_raw *part) {
    json_t *meta = part->meta == NULL ? NULL : json_loads(part->meta, 0, NULL);
    bool found = is_of_snapshot(meta);
    json_decref(meta);
    return found;
}

/* What the conversion is made from. */
struct input {
    char path[PATH_MAX]; /* the library's file, the only partial one, or all of those joined */
    bool whole;          /* it is the library's */
    bool snapshots;      /* of some node there is no more than that */
};

static enum lc_err find_raw(const char *dir, struct input *in) {
    join(in->path, dir, ".profile.raw");
    in->whole = access(in->path, R_OK) == 0;
    in->snapshots = false;
    if (in->whole)
        return LC_OK;
    DIR *entries = opendir(dir);
    if (entries == NULL)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be read", dir);
    struct lc_raw *all = NULL;
    size_t count = 0;
    enum lc_err err = LC_OK;
    struct dirent *entry;
    while (err == LC_OK && (entry = readdir(entries)) != NULL) {
        if (!is_partial(entry->d_name))
            continue;
        struct lc_raw *one;
        join(in->path, dir, entry->d_name);
        err = lc_raw_read_file(&one, in->path);
        if (err == LC_OK) {
            in->snapshots = in->snapshots || is_snapshot(one);
            err = join_partial(&all, one);
        }
        count++;
    }
    closedir(entries);
    if (err == LC_OK && count == 0)
        err = lc_fail(LC_ERR_NOT_FOUND, "%s: no profile was saved, so there is no result", dir);
    if (err == LC_OK && count > 1) {
        join(in->path, dir, ".profile.raw.joined");
        err = write_raw(in->path, all);
    }
    lc_raw_free(all);
    return err;
}

static json_int_t integer(const json_t *object, const char *key, json_int_t otherwise) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static bool covers_all(const struct lc_raw *defs, json_int_t ranks) {
    json_int_t seen = 0;
    for (size_t i = 0; i < defs->n_locations; i++)
        seen += defs->locations[i].thread == 0;
    return seen >= ranks;
}

/* Wall time: first process start to last process end, as far as known (all on one clock: nodes
 * differ in their origins, so the longest life of a node counts). */
static double wall_time_s(const struct lc_raw *defs) {
    double longest = 0.0;
    for (size_t i = 0; i < defs->n_locations; i++) {
        uint64_t begin = defs->locations[i].begin_ns, end = defs->locations[i].end_ns;
        for (size_t k = 0; k < defs->n_locations; k++)
            if (defs->locations[k].host == defs->locations[i].host &&
                defs->locations[k].begin_ns < begin)
                begin = defs->locations[k].begin_ns;
        if (end > begin && (double)(end - begin) * 1e-9 > longest)
            longest = (double)(end - begin) * 1e-9;
        if (defs->n_locations > 4096)
            break; /* a single node's worth is enough */
    }
    return longest;
}

static json_t *collect_meta(const char *dir, const struct lc_raw *defs, json_t *override) {
    json_t *meta = experiment_read_json(dir, ".run.json");
    if (!json_is_object(meta)) {
        json_decref(meta);
        meta = json_object();
    }
    json_t *library = defs->meta == NULL ? NULL : json_loads(defs->meta, 0, NULL);
    if (json_is_object(library))
        json_object_update(meta, library);
    json_decref(library);
    if (override != NULL)
        json_object_update(meta, override);
    if (json_object_get(meta, "wall_time_s") == NULL)
        json_object_set_new(meta, "wall_time_s", json_real(wall_time_s(defs)));
    return meta;
}

/* Names of the nodes of all ranks, as the ranks wrote them down before MPI_Init; NULL: not known.
 * `several`: there is more than one. */
static char (*read_hosts(const char *dir, json_int_t ranks, bool *several))[LC_RANK_HOST_BYTES] {
    char path[PATH_MAX], (*hosts)[LC_RANK_HOST_BYTES] = NULL;
    struct lc_rank_record record;
    const char *first = NULL;
    join(path, dir, LC_RANK_RECORDS);
    *several = false;
    FILE *file = ranks > 0 && ranks < INT32_MAX ? fopen(path, "rb") : NULL;
    if (file != NULL && lc_alloc(&hosts, (size_t)ranks, sizeof *hosts) == LC_OK && hosts != NULL)
        for (json_int_t r = 0; r < ranks && fread(&record, sizeof record, 1, file) == 1; r++) {
            if (record.magic != LC_RANK_RECORD_MAGIC || record.rank != r)
                continue;
            memcpy(hosts[r], record.host, sizeof hosts[r] - 1);
            first = first == NULL ? hosts[r] : first;
            *several = *several || strcmp(first, hosts[r]) != 0;
        }
    if (file != NULL)
        fclose(file);
    return hosts;
}

static enum lc_err convert(const char *dir, const struct input *in, json_t *override, bool keep,
                           uint64_t begin_ns) {
    char cubex[PATH_MAX], host[256] = "unknown";
    bool several;
    struct lc_raw_file *raw;
    LC_TRY(lc_raw_file_open(&raw, in->path));
    enum lc_err err = lc_facts_make_texts(lc_raw_file_defs(raw));
    if (err != LC_OK) {
        lc_raw_file_close(raw);
        return err;
    }
    const struct lc_raw *defs = lc_raw_file_defs(raw);
    json_t *meta = collect_meta(dir, defs, override);
    json_int_t ranks = integer(meta, "ranks", 0);
    bool covered = covers_all(defs, ranks);
    if (json_object_get(meta, "complete") == NULL || (!in->whole && !covered))
        json_object_set_new(meta, "complete", json_boolean(in->whole && covered));
    json_object_del(meta, LC_META_FIRST_END);
    if (json_object_get(meta, "ending") == NULL)
        json_object_set_new(meta, "ending", json_string(in->whole ? "MPI_Finalize" : "unknown"));
    char(*hosts)[LC_RANK_HOST_BYTES] = covered ? NULL : read_hosts(dir, ranks, &several);
    if (defs->n_locations != 0 && (hosts == NULL || !several))
        snprintf(host, sizeof host, "%s", defs->names[defs->locations[0].host]);
    join(cubex, dir, "profile.cubex");
    struct lc_conversion job = {.raw = raw,
                                .path = cubex,
                                .ranks = (int32_t)ranks,
                                .hosts = {hosts, host},
                                .meta = meta,
                                .begin_ns = override != NULL ? begin_ns : 0};
    err = lc_convert_profile(&job);
    free(hosts);
    if (err == LC_OK)
        err = lc_experiment_write_json(dir, "meta.json", meta);
    lc_raw_file_close(raw);
    json_decref(meta);
    if (err == LC_OK && !keep && (in->whole || (covered && !in->snapshots))) {
        /* else other nodes may bring more */
        mark_finished(dir);
        lc_experiment_clean(dir);
    }
    return err;
}

static bool is_newer(const struct stat *a, const struct stat *b) {
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

bool lc_experiment_is_stale(const char *dir) {
    struct stat result, part;
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    bool stale = false;
    if (entries == NULL)
        return false;
    if (is_finished(dir)) {
        closedir(entries);
        return false;
    }
    bool there = fstatat(dirfd(entries), "profile.cubex", &result, 0) == 0;
    while (!stale && (entry = readdir(entries)) != NULL)
        stale = (is_partial(entry->d_name) || strcmp(entry->d_name, ".profile.raw") == 0) &&
                fstatat(dirfd(entries), entry->d_name, &part, 0) == 0 &&
                (!there || is_newer(&part, &result));
    closedir(entries);
    return stale;
}

enum lc_err lc_experiment_finish(const char *dir, json_t *meta, bool keep) {
    struct input in;
    uint64_t begin_ns = lc_monotonic_raw_ns();
    /* Nodes may finish at the same time; file systems without locks just lose this care. */
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0)
        return lc_fail_errno(LC_ERR_IO, "%s: cannot be read", dir);
    flock(lock, LOCK_EX);
    if (is_finished(dir)) {
        lc_experiment_clean(dir);
        close(lock);
        return LC_OK;
    }
    enum lc_err err = find_raw(dir, &in);
    if (err == LC_OK)
        err = convert(dir, &in, meta, keep, begin_ns);
    if (strcmp(in.path + strlen(in.path) - 7, ".joined") == 0)
        unlink(in.path);
    close(lock);
    return err;
}

enum lc_err lc_experiment_finish_partial(const char *dir, bool keep) {
    enum lc_err err = lc_experiment_finish(dir, NULL, keep);
    return err == LC_ERR_NOT_FOUND && lc_experiment_has_result(dir) ? LC_OK : err;
}
