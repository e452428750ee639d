#include "bench/interference.h"

#include <math.h>

/* More than this part of the time is said in words. */
#define LC_DISTURBED 0.02

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

/* The part of the time of a rank's CPUs that the hypervisor gave to others; -1: unknown. */
static double steal_share(const struct lc_job_part *part) {
    const struct lc_part_load *first = NULL, *last = NULL;
    for (size_t i = 0; i < part->n_loads; i++)
        if (part->loads[i].busy >= 0) {
            first = first == NULL ? &part->loads[i] : first;
            last = &part->loads[i];
        }
    if (first == last)
        return -1;
    double steal = (double)(last->steal - first->steal);
    double total = steal + (double)(last->busy - first->busy) + (double)(last->idle - first->idle);
    return total >= TICKS_LEAST && steal >= 0 ? steal / total : -1;
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

void lc_interference_add(const struct lc_measured_job *job, json_t *about, json_t *warnings) {
    json_t *delays = json_array(), *steals = json_array();
    double delay = -1, steal = -1;
    uint32_t whose = 0;
    for (uint32_t r = 0; r < job->ranks; r++) {
        double own = delay_share(job->part[r]), stolen = steal_share(job->part[r]);
        json_array_append_new(delays, share_or_null(own));
        json_array_append_new(steals, share_or_null(stolen));
        whose = own > delay ? r : whose;
        delay = fmax(delay, own);
        steal = fmax(steal, stolen);
    }
    json_object_set_new(about, "interference",
                        json_pack("{s:o, s:o, s:o, s:o, s:o}", "run_delay_share",
                                  share_or_null(delay), "steal_share", share_or_null(steal),
                                  "run_delay_share_of", delays, "steal_share_of", steals, "windows",
                                  windows_json(job)));
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
