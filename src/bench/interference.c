#include "bench/interference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_sets.h"
#include "base/mem.h"

/* More than this part of the time is said in words. */
#define LC_DISTURBED 0.02
/* A scheduler takes a core away for milliseconds. Where that meets so many repetitions that the
 * quantiles up to 95 % show it, ranks wait more than they run. */
#define LC_PREVAILS 0.5

/* Fewer ticks of the kernel do not tell where the time of a CPU went. */
enum { TICKS_LEAST = 50 };

static json_t *share_or_null(double share) {
    return share >= 0 ? json_real(share) : json_null();
}

/* The part of the job's time in which a rank waited for a CPU; -1: unknown. */
static double delay_share(const struct lc_job_part *part) {
    if (part->n_loads < 2)
        return -1;
    const struct lc_part_load *first = &part->loads[0], *last = &part->loads[part->n_loads - 1];
    if (first->delay_ns < 0 || last->delay_ns < 0 || !(last->at_ns > first->at_ns))
        return -1;
    return (double)(last->delay_ns - first->delay_ns) / (last->at_ns - first->at_ns);
}

/* Ranks that may use the same CPUs. */
struct sharing {
    uint32_t *group; /* [ranks] the first rank with the same CPUs of the same node */
    bool *alone;     /* [ranks], of a first rank: no other group has any of these CPUs */
};

static bool same_node(const struct lc_rank_part *a, const struct lc_rank_part *b) {
    return strcmp(a->hello.node, b->hello.node) == 0;
}

static void find_groups(const struct lc_rank_part *parts, uint32_t ranks, struct sharing *s) {
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t first = 0;
        while (first < r && (!same_node(&parts[first], &parts[r]) ||
                             strcmp(parts[first].hello.cpus, parts[r].hello.cpus) != 0))
            first++;
        s->group[r] = first;
    }
}

static void find_overlaps(const struct lc_rank_part *parts, uint32_t ranks, struct sharing *s) {
    cpu_set_t own, other, both;
    for (uint32_t r = 0; r < ranks; r++) {
        s->alone[r] = s->group[r] == r && lc_cpu_list_read(parts[r].hello.cpus, &own);
        for (uint32_t o = 0; o < ranks && s->alone[r]; o++) {
            if (o == r || s->group[o] != o || !same_node(&parts[o], &parts[r]))
                continue;
            s->alone[r] = lc_cpu_list_read(parts[o].hello.cpus, &other);
            CPU_AND(&both, &own, &other);
            s->alone[r] = s->alone[r] && CPU_COUNT(&both) == 0;
        }
    }
}

static enum lc_err sharing_find(const struct lc_rank_part *parts, uint32_t ranks,
                                struct sharing *s) {
    *s = (struct sharing){0};
    LC_TRY(lc_alloc(&s->group, ranks, sizeof s->group[0]));
    LC_TRY(lc_alloc(&s->alone, ranks, sizeof s->alone[0]));
    find_groups(parts, ranks, s);
    find_overlaps(parts, ranks, s);
    return LC_OK;
}

/* Between two readings: parts of the time of a rank's CPUs, that the hypervisor gave to others, and
 * that other processes of this system took; -1: unknown. */
struct cpu_shares {
    double steal, other;
};

/* What the ranks of a group ran between readings number a and b, in ns; -1: unknown. */
static double own_time(const struct lc_measured_job *job, const struct sharing *s, uint32_t group,
                       size_t a, size_t b) {
    double sum = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        const struct lc_part_load *loads = job->part[r]->loads;
        if (s->group[r] != group)
            continue;
        if (b >= job->part[r]->n_loads || loads[a].on_cpu_ns < 0 || loads[b].on_cpu_ns < 0)
            return -1;
        sum += (double)(loads[b].on_cpu_ns - loads[a].on_cpu_ns);
    }
    return s->alone[group] ? sum : -1;
}

static struct cpu_shares shares_between(const struct lc_measured_job *job, const struct sharing *s,
                                        uint32_t rank, size_t a, size_t b, double least_ticks) {
    const struct lc_part_load *first = &job->part[rank]->loads[a],
                              *last = &job->part[rank]->loads[b];
    struct cpu_shares shares = {-1, -1};
    double steal = (double)(last->steal - first->steal), busy = (double)(last->busy - first->busy),
           total = steal + busy + (double)(last->idle - first->idle),
           own = own_time(job, s, s->group[rank], a, b);
    if (total < least_ticks || steal < 0)
        return shares;
    shares.steal = steal / total;
    if (own >= 0 && last->ticks_per_s > 0)
        shares.other = fmax(busy - own * 1e-9 * (double)last->ticks_per_s, 0) / total;
    return shares;
}

/* Number of the next reading of /proc/stat by a rank, from number i on; SIZE_MAX: none. */
static size_t next_stat(const struct lc_job_part *part, size_t i) {
    while (i < part->n_loads && part->loads[i].busy < 0)
        i++;
    return i < part->n_loads ? i : SIZE_MAX;
}

/* The same of the whole job. */
static struct cpu_shares shares_of(const struct lc_measured_job *job, const struct sharing *s,
                                   uint32_t rank) {
    size_t first = next_stat(job->part[rank], 0), last = first;
    for (size_t i = first; i != SIZE_MAX; i = next_stat(job->part[rank], i + 1))
        last = i;
    return first == last ? (struct cpu_shares){-1, -1}
                         : shares_between(job, s, rank, first, last, TICKS_LEAST);
}

/* The first repetition that counts of those behind reading number i of rank 0. */
static json_t *run_at(const struct lc_measured_job *job, size_t i) {
    size_t run = 0;
    while (run < job->n_runs && job->runs[run] < job->part[0]->load_reps[i])
        run++;
    return json_integer((json_int_t)run);
}

/* Between two readings of /proc/stat: of the rank whose CPUs others used most. All ranks read it
 * behind the same batches. */
static json_t *cpu_windows_json(const struct lc_measured_job *job, const struct sharing *s) {
    json_t *at = json_array(), *steals = json_array(), *others = json_array();
    for (size_t a = next_stat(job->part[0], 0), b; a != SIZE_MAX; a = b) {
        struct cpu_shares most = {-1, -1};
        b = next_stat(job->part[0], a + 1);
        if (b == SIZE_MAX)
            break;
        for (uint32_t r = 0; r < job->ranks; r++) {
            if (b >= job->part[r]->n_loads || job->part[r]->loads[a].busy < 0 ||
                job->part[r]->loads[b].busy < 0)
                continue;
            struct cpu_shares own = shares_between(job, s, r, a, b, 1);
            most.steal = fmax(most.steal, own.steal);
            most.other = fmax(most.other, own.other);
        }
        json_array_append_new(at, run_at(job, a));
        json_array_append_new(steals, share_or_null(most.steal));
        json_array_append_new(others, share_or_null(most.other));
    }
    return json_pack("{s:o, s:o, s:o}", "at", at, "steal_share", steals, "other_share", others);
}

/* Per window, between two readings: the repetition that counts which it begins with, and how long
 * the rank that waited most for a CPU did so. */
static json_t *windows_json(const struct lc_measured_job *job) {
    size_t n = SIZE_MAX, run = 0;
    json_t *at = json_array(), *delays = json_array();
    for (uint32_t r = 0; r < job->ranks; r++)
        n = job->part[r]->n_loads < n ? job->part[r]->n_loads : n;
    for (size_t w = 0; w + 1 < n; w++) {
        double longest = -1;
        for (uint32_t r = 0; r < job->ranks; r++) {
            const struct lc_part_load *load = &job->part[r]->loads[w];
            if (load[0].delay_ns >= 0 && load[1].delay_ns >= 0)
                longest = fmax(longest, (double)(load[1].delay_ns - load[0].delay_ns));
        }
        while (run < job->n_runs && job->runs[run] < job->part[0]->load_reps[w])
            run++;
        json_array_append_new(at, json_integer((json_int_t)run));
        json_array_append_new(delays, share_or_null(longest));
    }
    return json_pack("{s:o, s:o}", "at", at, "run_delay_ns", delays);
}

static void add_shares(const struct lc_measured_job *job, const struct sharing *s, json_t *about,
                       json_t *warnings) {
    json_t *delays = json_array(), *steals = json_array(), *others = json_array();
    double delay = -1, steal = -1, other = -1;
    uint32_t whose = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        double own = delay_share(job->part[r]);
        struct cpu_shares shares = shares_of(job, s, r);
        json_array_append_new(delays, share_or_null(own));
        json_array_append_new(steals, share_or_null(shares.steal));
        json_array_append_new(others, share_or_null(shares.other));
        whose = own > delay ? r : whose;
        delay = fmax(delay, own);
        steal = fmax(steal, shares.steal);
        other = fmax(other, shares.other);
    }
    json_object_set_new(about, "interference",
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "run_delay_share",
                                  share_or_null(delay), "steal_share", share_or_null(steal),
                                  "other_share", share_or_null(other), "run_delay_share_of", delays,
                                  "steal_share_of", steals, "other_share_of", others, "windows",
                                  windows_json(job), "cpu_windows", cpu_windows_json(job, s)));
    if (delay > LC_DISTURBED)
        json_array_append_new(
            warnings,
            json_sprintf("ranks had to share their cores: rank %u waited for one in %.1f %% of "
                         "the time",
                         whose, 100 * delay));
    if (steal > LC_DISTURBED)
        json_array_append_new(warnings, json_sprintf("the hypervisor ran something else in %.1f %% "
                                                     "of the time of the ranks' CPUs",
                                                     100 * steal));
}

enum lc_err lc_interference_add(const struct lc_measured_job *job, const struct lc_rank_part *parts,
                                json_t *about, json_t *warnings) {
    struct sharing s;
    enum lc_err err = sharing_find(parts, job->ranks, &s);
    if (err == LC_OK)
        add_shares(job, &s, about, warnings);
    free(s.group);
    free(s.alone);
    return err;
}

bool lc_interference_prevails(const json_t *about) {
    return json_number_value(json_object_get(json_object_get(about, "interference"),
                                             "run_delay_share")) > LC_PREVAILS;
}
