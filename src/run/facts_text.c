#include "run/facts_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/json_text.h"
#include "base/plural.h"
#include "run/facts_index.h"

/* --- the index */

static bool ends(const char *text, size_t bytes) {
    return memchr(text, '\0', bytes) != NULL;
}
#define ENDS(text) ends(text, sizeof(text))

static bool see_ranks(const struct lc_fact_record *fact, struct lc_facts *f) {
    f->ranks = fact->data;
    f->n_ranks = fact->bytes / sizeof *f->ranks;
    bool good = f->n_ranks > 0 && fact->bytes % sizeof *f->ranks == 0;
    for (size_t i = 0; good && i < f->n_ranks; i++) {
        const struct lc_fact_rank *rank = &f->ranks[i];
        good = ENDS(rank->host) && ENDS(rank->cpus) && rank->grid.n_dims <= LC_GRID_DIMS &&
               rank->groups.n <= LC_GROUPS_MOST;
    }
    return good;
}

static bool see_intervals(const struct lc_fact_record *fact, struct lc_facts *f) {
    const size_t bytes = (LC_INTERVAL_MAXIMA + LC_INTERVAL_SUMS) * sizeof(double);
    f->intervals = lc_fact_of(fact, sizeof *f->intervals, 0, 0);
    return f->intervals != NULL && f->intervals->n_whatif <= LC_WHAT_IF_SCENARIOS &&
           f->intervals->given <= LC_WHAT_IF_SCENARIOS &&
           lc_fact_of(fact, sizeof *f->intervals, f->intervals->n, bytes) != NULL;
}

static bool see_pairs(const struct lc_fact_record *fact, struct lc_facts *f) {
    f->pairs = lc_fact_of(fact, sizeof *f->pairs, 0, 0);
    f->n_pairs =
        f->pairs != NULL ? (fact->bytes - sizeof *f->pairs) / sizeof(struct lc_fact_pair) : 0;
    return f->pairs != NULL;
}

static bool see_field(const struct lc_fact_record *fact) {
    const struct lc_fact_field *field = lc_fact_of(fact, sizeof *field, 0, 0);
    const size_t bytes = LC_FIELD_VALUES * sizeof(double);
    return field != NULL && field->blocks > 0 && field->unit > 0 &&
           field->rows <= fact->bytes / field->blocks &&
           lc_fact_of(fact, sizeof *field, field->rows * field->blocks, bytes) != NULL;
}

static bool see_phase(const struct lc_fact_record *fact) {
    const struct lc_fact_phase *phase = lc_fact_of(fact, sizeof *phase, 0, 0);
    const size_t bytes = (LC_PHASE_MAXIMA + LC_PHASE_SUMS) * sizeof(double);
    return phase != NULL && ENDS(phase->name) && phase->n > 0 &&
           lc_fact_of(fact, sizeof *phase, phase->n, bytes) != NULL;
}

static bool see_loop(const struct lc_fact_record *fact) {
    const struct lc_fact_loop *loop = lc_fact_of(fact, sizeof *loop, 0, 0);
    return loop != NULL && loop->n > 0 && loop->stride > 0 &&
           loop->n_runs <= LC_ITERATION_OUTLIERS &&
           lc_fact_of(fact, sizeof *loop, loop->n, LC_LOOP_COLUMNS * sizeof(double)) != NULL;
}

/* Is the record what its kind says? Those that occur once are noted. */
static bool see(const struct lc_fact_record *fact, struct lc_facts *f) {
    switch (fact->kind) {
    case LC_FACT_PROCESS:
        f->process = lc_fact_of(fact, sizeof *f->process, 0, 0);
        return f->process != NULL && ENDS(f->process->mpi) && ENDS(f->process->library) &&
               ENDS(f->process->python_unread);
    case LC_FACT_RANKS:
        return see_ranks(fact, f);
    case LC_FACT_OBJECT: {
        const struct lc_fact_object *object = lc_fact_of(fact, sizeof *object, 0, 0);
        return object != NULL && ENDS(object->name) && ENDS(object->example);
    }
    case LC_FACT_STEP: {
        const struct lc_fact_step *step = lc_fact_of(fact, sizeof *step, 0, 0);
        return step != NULL && ENDS(step->function);
    }
    case LC_FACT_OPENMP:
        f->openmp = lc_fact_of(fact, sizeof *f->openmp, 0, 0);
        return f->openmp != NULL && ENDS(f->openmp->runtime);
    case LC_FACT_MISSING: {
        const struct lc_fact_missing *missing = lc_fact_of(fact, sizeof *missing, 0, 0);
        return missing != NULL && ENDS(missing->event);
    }
    case LC_FACT_COUNTS:
        f->counts = lc_fact_of(fact, sizeof *f->counts, 0, 0);
        return f->counts != NULL;
    case LC_FACT_CLOCKS:
        f->clocks = lc_fact_of(fact, sizeof *f->clocks, 0, 0);
        return f->clocks != NULL && lc_fact_of(fact, sizeof *f->clocks, f->clocks->nodes,
                                               sizeof(struct lc_fact_node)) != NULL;
    case LC_FACT_WAITING:
        f->waiting = lc_fact_of(fact, sizeof *f->waiting, 0, 0);
        return f->waiting != NULL;
    case LC_FACT_INTERVALS:
        return see_intervals(fact, f);
    case LC_FACT_SCENARIO: {
        const struct lc_fact_scenario *scenario = lc_fact_of(fact, sizeof *scenario, 0, 0);
        return scenario != NULL && ENDS(scenario->text);
    }
    case LC_FACT_UNKNOWN: {
        const struct lc_fact_unknown *unknown = lc_fact_of(fact, sizeof *unknown, 0, 0);
        return unknown != NULL && ENDS(unknown->name);
    }
    case LC_FACT_PATHS:
        f->paths = lc_fact_of(fact, LC_PATHS * sizeof *f->paths, 0, 0);
        return f->paths != NULL;
    case LC_FACT_FIELD:
        return see_field(fact);
    case LC_FACT_PHASE:
        return see_phase(fact);
    case LC_FACT_LOOP:
        return see_loop(fact);
    case LC_FACT_PAIRS:
        return see_pairs(fact, f);
    case LC_FACT_LEFT_OUT:
        f->left_out = lc_fact_of(fact, sizeof *f->left_out, 0, 0);
        return f->left_out != NULL;
    case LC_FACT_COUNTERS:
        f->counters = lc_fact_of(fact, sizeof *f->counters, 0, 0);
        return f->counters != NULL;
    default:
        return false;
    }
}

static bool make_index(const struct lc_raw *raw, struct lc_facts *f) {
    struct lc_fact_record fact;
    *f = (struct lc_facts){.all = {.at = raw->facts, .left = raw->n_facts}};
    struct lc_byte_reader reader = f->all;
    while (lc_facts_next(&reader, &fact))
        if (!see(&fact, f))
            return false;
    return !reader.bad;
}

/* --- meta */

static void put_versions(struct lc_strbuf *out, const struct lc_fact_process *p) {
    static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                         "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    if (p->without_mpi) {
        lc_strbuf_puts(out, "\"mpi_calls\": 0");
        return;
    }
    lc_strbuf_puts(out, "\"mpi\": ");
    lc_json_put(out, p->mpi);
    lc_strbuf_puts(out, ", \"mpi_library_version\": ");
    lc_json_put(out, p->library);
    lc_strbuf_printf(out, ", \"mpi_standard\": \"%d.%d\"", p->version, p->subversion);
    lc_strbuf_printf(out, ", \"thread_level\": \"%s\", \"thread_level_required\": \"%s\"",
                     levels[p->provided_level & 3], levels[p->required_level & 3]);
}

static void put_ranks(struct lc_strbuf *out, const struct lc_fact_rank *all, size_t n) {
    lc_strbuf_puts(out, ", \"hosts\": [");
    for (size_t i = 0; i < n; i++) {
        lc_strbuf_puts(out, i > 0 ? ", " : "");
        lc_json_put(out, all[i].host);
    }
    lc_strbuf_puts(out, "], \"binding\": [");
    for (size_t i = 0; i < n; i++) {
        lc_strbuf_puts(out, i > 0 ? ", " : "");
        lc_json_put(out, all[i].cpus);
    }
    lc_strbuf_puts(out, "], \"busy_threads\": [");
    for (size_t i = 0; i < n; i++)
        lc_strbuf_printf(out, "%s%u", i > 0 ? ", " : "", all[i].busy_threads);
    lc_strbuf_puts(out, "]");
}

static void put_objects(struct lc_strbuf *out, const struct lc_facts *f) {
    struct lc_byte_reader reader = f->all;
    struct lc_fact_record fact;
    bool any = false;
    lc_strbuf_putc(out, '[');
    while (lc_facts_next(&reader, &fact)) {
        const struct lc_fact_object *object = fact.data;
        if (fact.kind != LC_FACT_OBJECT)
            continue;
        lc_strbuf_puts(out, any ? ", {\"object\": " : "{\"object\": ");
        lc_json_put(out, object->name[0] != '\0' ? object->name : "program");
        lc_strbuf_printf(out,
                         ", \"symbols\": %llu, \"example\": ", (unsigned long long)object->symbols);
        lc_json_put(out, object->example);
        lc_strbuf_putc(out, '}');
        any = true;
    }
    lc_strbuf_putc(out, ']');
}

static void put_coverage(struct lc_strbuf *out, const struct lc_facts *f,
                         const struct lc_fact_rank *sum) {
    lc_strbuf_printf(
        out, ", \"coverage\": {\"calls\": %llu, \"calls_lost\": %llu, \"bound_elsewhere\": ",
        (unsigned long long)sum->calls, (unsigned long long)sum->lost);
    put_objects(out, f);
    lc_strbuf_printf(
        out,
        ", \"calls_in_callbacks\": %llu, \"pcontrol_ignored\": %llu, "
        "\"region_errors\": %llu, \"switches\": %llu, \"processes_spawned\": %llu, "
        "\"threads_refused_samples\": %llu, \"short_threads_not_sampled\": %llu}",
        (unsigned long long)sum->in_callbacks, (unsigned long long)sum->pcontrol_ignored,
        (unsigned long long)sum->region_errors, (unsigned long long)sum->switches,
        (unsigned long long)sum->spawned, (unsigned long long)sum->paths.refused_threads,
        (unsigned long long)sum->paths.short_threads);
}

static void put_paths(struct lc_strbuf *out, const struct lc_fact_process *p,
                      const struct lc_fact_rank *sum) {
    static const char *const modes[] = {"unwind", "caller", "none", "none"};
    const struct lc_path_counts *n = &sum->paths;
    lc_strbuf_printf(out,
                     ", \"callpath\": {\"mode\": \"%s\", \"unwinds\": %llu, "
                     "\"by_libunwind\": %llu, \"uncacheable\": %llu, \"recycled\": %llu",
                     modes[p->callpath & 3], (unsigned long long)n->unwinds,
                     (unsigned long long)n->by_libunwind, (unsigned long long)n->uncacheable,
                     (unsigned long long)n->recycled);
    if (n->recycled > 0)
        lc_strbuf_printf(out, ", \"made_again\": %llu, \"made_again_s\": %.9f",
                         (unsigned long long)n->remade, sum->remade_s);
    if (p->paths_checked)
        lc_strbuf_printf(out, ", \"checked\": %llu, \"frames_checked\": %llu, \"wrong\": %llu",
                         (unsigned long long)n->checked, (unsigned long long)n->walked,
                         (unsigned long long)n->wrong);
    if (p->python_unread[0] != '\0') {
        lc_strbuf_puts(out, ", \"python_unread\": ");
        lc_json_put(out, p->python_unread);
    }
    lc_strbuf_putc(out, '}');
}

/* --- the budget */

static const struct {
    const char *how, *text;
} details[] = {
    [LC_DETAIL_CALLER] = {"caller", "new call paths were not unwound, ... and the calling function "
                                    "stand for them"},
    [LC_DETAIL_COUNTED] = {"counted",
                           "calls were counted, not timed; their time is the calling function's"},
    [LC_DETAIL_SOME] = {"some", NULL},
};

/* counts NULL: not known. The error of a share p that was drawn n times: sqrt(p (1 - p) / n). */
static void put_rarer(struct lc_strbuf *out, const struct lc_fact_step *step,
                      const struct lc_fact_counts *counts) {
    lc_strbuf_printf(
        out,
        "{\"how\": \"rarer vectors\", \"ranks\": %u, \"text\": \"which code the critical "
        "path was in was noted in one of %d windows of some %d us",
        step->ranks, LC_RARER_ONE_OF, LC_RARER_US);
    if (counts != NULL && counts->windows > 0)
        lc_strbuf_printf(out, " (standard error of a share: at most %.2g points)",
                         50 / sqrt((double)counts->windows / step->ranks));
    lc_strbuf_printf(
        out,
        "; sends of less than 4 KiB were taken to wait for nobody; where waiting began was "
        "not asked of waits and work below %d us\"}",
        LC_RARER_TRACE_US);
}

static void put_step(struct lc_strbuf *out, const struct lc_fact_step *step) {
    bool untimed = step->detail == LC_DETAIL_UNTIMED;
    if (untimed || step->detail == LC_DETAIL_PLAIN) {
        lc_strbuf_printf(out,
                         "{\"how\": \"%s regions\", \"call_sites\": %llu, \"ranks\": %u, "
                         "\"text\": \"%llu parallel region%s with one thread%s\"}",
                         untimed ? "counted" : "plain", (unsigned long long)step->sites,
                         step->ranks, (unsigned long long)step->sites,
                         lc_plural((double)step->sites),
                         untimed ? " were counted, not timed; their time is the calling function's"
                                 : ": constructs in them were not told apart");
        return;
    }
    bool known = step->detail < sizeof details / sizeof *details && details[step->detail].how;
    uint32_t detail = known ? step->detail : LC_DETAIL_CALLER;
    lc_strbuf_puts(out, "{\"function\": ");
    lc_json_put(out, step->function);
    lc_strbuf_printf(out,
                     ", \"how\": \"%s\", \"call_sites\": %llu, \"ranks\": %u, \"text\": "
                     "\"%llu call site%s of ",
                     details[detail].how, (unsigned long long)step->sites, step->ranks,
                     (unsigned long long)step->sites, lc_plural((double)step->sites));
    struct lc_strbuf name = {0}; /* inside of the text: without its quotation marks */
    lc_json_put(&name, step->function);
    if (name.length > 2)
        lc_strbuf_add(out, name.text + 1, name.length - 2);
    lc_strbuf_free(&name);
    if (detail == LC_DETAIL_SOME)
        lc_strbuf_printf(out,
                         ": one of %d to %d calls was timed; the others are taken to have "
                         "lasted as long\"}",
                         LC_POLL_EVERY, LC_POLL_EVERY_MOST);
    else
        lc_strbuf_printf(out, ": %s\"}", details[detail].text);
}

static void put_samples_rarer(struct lc_strbuf *out, const struct lc_facts *f, const char *before) {
    uint32_t most = 0, ranks = 0;
    for (size_t i = 0; i < f->n_ranks; i++) {
        most = f->ranks[i].samples_rarer > most ? f->ranks[i].samples_rarer : most;
        ranks += f->ranks[i].samples_rarer > 0;
    }
    if (most > 0)
        lc_strbuf_printf(out,
                         "%s{\"how\": \"rarer samples\", \"times\": %u, \"ranks\": %u, \"text\": "
                         "\"samples between calls were taken up to %u times less often\"}",
                         before, most, ranks, most);
}

/* Of the rank with fewest. */
static void put_sample_rate(struct lc_strbuf *out, const struct lc_facts *f) {
    double least = 0;
    for (size_t i = 0; i < f->n_ranks; i++) {
        double rate = f->ranks[i].sample_rate;
        if (rate > 0 && (least == 0 || rate < least))
            least = rate;
    }
    if (least > 0)
        lc_strbuf_printf(out, ", \"sample_rate\": %.4g", least);
}

/* The end of "overhead": the budget, and what was left out to stay within it. */
static void put_budget(struct lc_strbuf *out, const struct lc_facts *f,
                       const struct lc_fact_rank *sum) {
    struct lc_byte_reader reader = f->all;
    struct lc_fact_record fact;
    struct lc_strbuf steps = {0};
    if (f->process->budget > 0)
        lc_strbuf_printf(out, ", \"budget\": %.6g", f->process->budget);
    while (lc_facts_next(&reader, &fact))
        if (fact.kind == LC_FACT_STEP) {
            const struct lc_fact_step *step = fact.data;
            lc_strbuf_puts(&steps, steps.length > 0 ? ", " : "");
            if (step->detail == LC_DETAIL_RARER)
                put_rarer(&steps, step, f->counts);
            else
                put_step(&steps, step);
        }
    put_samples_rarer(&steps, f, steps.length > 0 ? ", " : "");
    if (steps.length > 0)
        lc_strbuf_printf(out, ", \"calls_counted_only\": %llu, \"reduced\": [%s]",
                         (unsigned long long)sum->paths.counted, lc_strbuf_get(&steps));
    lc_strbuf_putc(out, '}');
    lc_strbuf_free(&steps);
}

/* --- OpenMP */

static void put_openmp(struct lc_strbuf *out, const struct lc_facts *f) {
    struct lc_byte_reader reader = f->all;
    struct lc_fact_record fact;
    bool any = false;
    if (f->openmp == NULL)
        return;
    lc_strbuf_puts(out, ", \"openmp_runtime\": ");
    lc_json_put(out, f->openmp->runtime);
    lc_strbuf_puts(out, ", \"openmp_not_reported\": [");
    while (lc_facts_next(&reader, &fact))
        if (fact.kind == LC_FACT_MISSING) {
            lc_strbuf_puts(out, any ? ", " : "");
            lc_json_put(out, ((const struct lc_fact_missing *)fact.data)->event);
            any = true;
        }
    lc_strbuf_printf(out, "], \"openmp_tasks\": %llu, \"openmp_edges_lost\": %llu",
                     (unsigned long long)f->openmp->tasks,
                     (unsigned long long)f->openmp->edges_lost);
}

/* --- grids and groups of ranks */

static bool same_shape(const struct lc_grid *a, const struct lc_grid *b) {
    return a->n_dims == b->n_dims && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           memcmp(a->periodic, b->periodic, sizeof a->periodic) == 0;
}

/* Grids of the same shape, as MPI_Cart_sub makes them, do not give one grid. */
static bool find_members(const struct lc_facts *f, const struct lc_grid *of, int *members) {
    uint32_t found = 0;
    for (size_t i = 0; i < f->n_ranks; i++) {
        const struct lc_grid *grid = &f->ranks[i].grid;
        if (!same_shape(grid, of))
            continue;
        if (grid->position >= of->size || members[grid->position] >= 0)
            return false;
        members[grid->position] = (int)i;
        found++;
    }
    return found == of->size;
}

static void put_list(struct lc_strbuf *out, const char *name, const int *values, size_t n) {
    lc_strbuf_printf(out, "\"%s\": [", name);
    for (size_t i = 0; i < n; i++)
        lc_strbuf_printf(out, i > 0 ? ", %d" : "%d", values[i]);
    lc_strbuf_putc(out, ']');
}

/* The largest grid of which every position is known. */
static void put_grid(struct lc_strbuf *out, const struct lc_facts *f) {
    const struct lc_grid *of = &f->ranks[0].grid;
    for (size_t i = 1; i < f->n_ranks; i++)
        if (f->ranks[i].grid.size > of->size)
            of = &f->ranks[i].grid;
    int *members =
        of->n_dims > 0 && of->size <= f->n_ranks ? malloc(of->size * sizeof *members + 1) : NULL;
    if (members == NULL)
        return;
    for (uint32_t i = 0; i < of->size; i++)
        members[i] = -1;
    if (find_members(f, of, members)) {
        lc_strbuf_puts(out, ", \"topologies\": [{");
        put_list(out, "dims", of->dims, of->n_dims);
        lc_strbuf_puts(out, ", ");
        put_list(out, "periodic", of->periodic, of->n_dims);
        lc_strbuf_puts(out, ", ");
        put_list(out, "members", members, of->size);
        lc_strbuf_puts(out, "}]");
    }
    free(members);
}

enum { MEMBERS_MOST = 1 << 16 }; /* in the text, of all groups together */

struct member {
    const struct lc_known_group *group;
    int rank;
};

static int by_group(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->group->size != y->group->size)
        return x->group->size > y->group->size ? -1 : 1;
    if (x->group->hash != y->group->hash)
        return x->group->hash < y->group->hash ? -1 : 1;
    return (x->group->position > y->group->position) - (x->group->position < y->group->position);
}

static bool same_group(const struct member *a, const struct member *b) {
    return a->group->size == b->group->size && a->group->hash == b->group->hash;
}

/* Each position once? */
static bool is_whole(const struct member *members, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (members[i].group->position != i)
            return false;
    return n == members[0].group->size;
}

/* Ranks in the order of the communicator; numbers: what each of them calls it, a list where these
 * differ. */
static void put_group(struct lc_strbuf *out, const struct member *members, size_t n) {
    bool alike = true;
    lc_strbuf_puts(out, "{\"ranks\": \"");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && members[end].rank == members[end - 1].rank + 1; end++)
            ;
        lc_strbuf_printf(out, "%s%d", i > 0 ? "," : "", members[i].rank);
        if (end > i + 1)
            lc_strbuf_printf(out, "-%d", members[end - 1].rank);
    }
    for (size_t i = 1; i < n; i++)
        alike = alike && members[i].group->number == members[0].group->number;
    lc_strbuf_printf(out, "\", \"numbers\": %s%u", alike ? "" : "[", members[0].group->number);
    for (size_t i = 1; i < n && !alike; i++)
        lc_strbuf_printf(out, ", %u", members[i].group->number);
    lc_strbuf_puts(out, alike ? "}" : "]}");
}

/* Left out: groups of which not all members say theirs, and those for which there is no room. */
static void put_groups(struct lc_strbuf *out, const struct lc_facts *f) {
    size_t n_members = 0, put = 0, left_out = 0, room = f->n_ranks * LC_GROUPS_MOST;
    struct member *members = room > 0 ? malloc(room * sizeof *members) : NULL;
    if (members == NULL)
        return;
    for (size_t i = 0; i < f->n_ranks; i++)
        for (uint32_t g = 0; g < f->ranks[i].groups.n; g++)
            members[n_members++] = (struct member){&f->ranks[i].groups.group[g], (int)i};
    qsort(members, n_members, sizeof *members, by_group);
    lc_strbuf_puts(out, ", \"communicators\": [");
    bool first = true;
    for (size_t i = 0, end; i < n_members; i = end) {
        for (end = i + 1; end < n_members && same_group(&members[i], &members[end]); end++)
            ;
        if (put + end - i > MEMBERS_MOST || !is_whole(&members[i], end - i)) {
            left_out++;
            continue;
        }
        lc_strbuf_puts(out, first ? "" : ", ");
        put_group(out, &members[i], end - i);
        put += end - i;
        first = false;
    }
    lc_strbuf_putc(out, ']');
    if (left_out > 0)
        lc_strbuf_printf(out, ", \"communicators_left_out\": %zu", left_out);
    free(members);
}

/* --- what the clocks counted */

static void put_counts(struct lc_strbuf *out, const struct lc_fact_counts *c) {
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"absent", c->absent},
                  {"unsure", c->unsure},
                  {"mispaired", c->mispaired},
                  {"late", c->late},
                  {"void", c->void_entries},
                  {"lost", c->lost},
                  {"order_violations", c->violations},
                  {"collectives", c->collectives},
                  {"collectives_skipped", c->skipped},
                  {"vectors_overwritten", c->overwritten},
                  {"vectors_published", c->vectors},
                  {"records", c->records},
                  {"replies", c->replies},
                  {"packets", c->packets},
                  {"replies_packed", c->packed},
                  {"record_bytes", c->record_bytes},
                  {"mirrors", c->shadows},
                  {"combined", c->combined},
                  {"posts_unknown", c->unresolved},
                  {"edges_late", c->edges_late},
                  {"events_forced", c->forced},
                  {"events_most", c->events_most},
                  {"communicator_unknown", c->unseen}};
    lc_strbuf_printf(out,
                     ", \"messages_total\": %llu, \"messages_matched\": %llu, \"piggyback\": {",
                     (unsigned long long)c->messages, (unsigned long long)c->taken);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        lc_strbuf_printf(out, "%s\"%s\": %llu", i > 0 ? ", " : "", counts[i].name,
                         (unsigned long long)counts[i].value);
    lc_strbuf_printf(out, "}, \"waiting_measured_s\": %.9f", (double)c->waited * 1e-9);
}

static void put_clocks(struct lc_strbuf *out, const struct lc_fact_clocks *c) {
    const struct lc_fact_node *nodes = (const struct lc_fact_node *)(c + 1);
    lc_strbuf_printf(out,
                     ", \"clock_sync\": {\"nodes\": %u, \"error_s\": %.9g, \"wait_error_s\": %.9g, "
                     "\"largest_violation_s\": %.9g, \"during_run\": %u, \"per_node\": [",
                     c->nodes, c->error_s, c->wait_error_s, c->largest_violation_s, c->during_run);
    for (uint32_t node = 0; node < c->nodes; node++)
        /* of the node's clock against that of rank 0: what it shows more, and how much faster it
         * runs */
        lc_strbuf_printf(
            out, "%s{\"offset_begin_s\": %.9f, \"offset_end_s\": %.9f, \"drift_ppm\": %.6f}",
            node > 0 ? ", " : "", nodes[node].offset_begin_s, nodes[node].offset_end_s,
            nodes[node].drift_ppm);
    lc_strbuf_printf(out, "]}, \"clock_error_s\": %.9g", c->error_s);
}

static void put_waiting(struct lc_strbuf *out, const struct lc_fact_waiting *w) {
    lc_strbuf_printf(out,
                     ", \"waiting_costs\": {\"waits_s\": %.9f, \"costs_s\": %.9f, \"direct_s\": "
                     "%.9f, \"indirect_s\": %.9f, \"unknown_direct_s\": %.9f, "
                     "\"unknown_indirect_s\": %.9f}",
                     w->waits_s, w->costs_s, w->direct_s, w->indirect_s, w->unknown_direct_s,
                     w->unknown_indirect_s);
}

/* --- all of it */

static void put_meta(struct lc_strbuf *out, const struct lc_facts *f, double unattributed) {
    struct lc_fact_rank sum = {0};
    double cost_s = 0, rare_s = 0, openmp_s = 0;
    for (size_t i = 0; i < f->n_ranks; i++) {
        const struct lc_fact_rank *rank = &f->ranks[i];
        sum.calls += rank->calls;
        sum.lost += rank->lost;
        lc_path_counts_add(&sum.paths, &rank->paths);
        sum.remade_s += rank->remade_s;
        sum.sampling_s += rank->sampling_s;
        sum.region_errors += rank->region_errors;
        sum.pcontrol_ignored += rank->pcontrol_ignored;
        sum.in_callbacks += rank->in_callbacks;
        sum.spawned += rank->spawned;
        sum.switches += rank->switches;
        cost_s += (double)(rank->calls - rank->paths.counted) * rank->cost_ns * 1e-9 +
                  (double)rank->paths.counted * rank->counted_ns * 1e-9;
        rare_s += rank->own_s;
        openmp_s += (double)rank->paths.openmp_ticks * rank->ns_per_tick * 1e-9;
    }
    lc_strbuf_puts(out, "{");
    put_versions(out, f->process);
    put_ranks(out, f->ranks, f->n_ranks);
    put_coverage(out, f, &sum);
    put_paths(out, f->process, &sum);
    lc_strbuf_printf(out,
                     ", \"overhead\": {\"call_ns\": %.1f, \"rare_s\": %.9f, \"sampling_s\": %.9f, "
                     "\"openmp_s\": %.9f, \"total_s\": %.9f",
                     f->ranks[0].cost_ns, rare_s - sum.sampling_s, sum.sampling_s, openmp_s,
                     cost_s + rare_s + openmp_s);
    put_budget(out, f, &sum);
    put_sample_rate(out, f);
    lc_strbuf_printf(out, ", \"clock\": {\"source\": \"%s\", \"ns_per_tick\": %.9f}",
                     f->ranks[0].by_counter ? LC_COUNTER_NAME : "CLOCK_MONOTONIC_RAW",
                     f->ranks[0].ns_per_tick);
    put_openmp(out, f);
    put_grid(out, f);
    put_groups(out, f);
    if (f->counts != NULL)
        put_counts(out, f->counts);
    if (f->clocks != NULL)
        put_clocks(out, f->clocks);
    if (unattributed >= 0)
        lc_strbuf_printf(out, ", \"unattributed_share\": %.9g", unattributed);
    if (f->waiting != NULL)
        put_waiting(out, f->waiting);
    lc_strbuf_putc(out, '}');
}

static enum lc_err replace(char **text, struct lc_strbuf *by) {
    bool any = by->length > 0 || by->failed;
    if (!any)
        return LC_OK;
    char *taken = lc_strbuf_take(by);
    if (taken == NULL)
        return lc_fail(LC_ERR_NOMEM, "raw profile: no memory for what it says of the run");
    free(*text);
    *text = taken;
    return LC_OK;
}

enum lc_err lc_facts_make_texts(struct lc_raw *raw) {
    struct lc_facts facts;
    struct lc_strbuf meta = {0}, pop = {0};
    if (raw->n_facts == 0)
        return LC_OK;
    if (!make_index(raw, &facts))
        return lc_fail(LC_ERR_FORMAT, "raw profile: what it says of the run is damaged or of "
                                      "another version of latecomer");
    double unattributed = lc_facts_put_pop(&facts, &pop);
    if (facts.process != NULL && facts.ranks != NULL)
        put_meta(&meta, &facts, unattributed);
    enum lc_err err = replace(&raw->meta, &meta);
    if (err == LC_OK)
        err = replace(&raw->pop, &pop);
    lc_strbuf_free(&meta);
    lc_strbuf_free(&pop);
    return err;
}
