#include "bench/harness/probe_layers.h"

#include <stdio.h>
#include <string.h>

#include "base/timer.h"

struct lc_probe_layers lc_probe_layers;

/* All that have reported, in that order; more than there is room for are counted. */
static struct latecomer_probe_table *reported[LC_PROBE_LAYERS];
static int n_reported, too_many;
static bool opened; /* those that are measured are chosen */
static int late;    /* tables that reported after that */

void latecomer_probe_register(struct latecomer_probe_table *t) {
    late += opened;
    if (n_reported < LC_PROBE_LAYERS)
        reported[n_reported++] = t;
    else
        too_many++;
}

void latecomer_probe_unregister(struct latecomer_probe_table *t) {
    for (int i = 0; i < n_reported; i++)
        if (reported[i] == t) {
            memmove(reported + i, reported + i + 1, (size_t)(n_reported - i - 1) * sizeof(void *));
            n_reported--;
        }
    for (int i = 0; i < lc_probe_layers.n; i++)
        if (lc_probe_layers.table[i] == t)
            lc_probe_layers.table[i] = NULL;
}

/* Of layer and probes: FNV-1a (Fowler, Noll, Vo). `nth`: of several tables that are alike. */
static uint64_t identity(const struct latecomer_probe_table *t, int nth) {
    uint64_t hash = 0xcbf29ce484222325u + (uint64_t)nth;
    for (int i = -1; i < t->n; i++)
        for (const char *c = i < 0 ? t->layer : t->name[i];; c++) {
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
            if (*c == '\0')
                break;
        }
    return hash;
}

/* Its own number among those that are alike. */
static int nth_of(int i) {
    int nth = 0;
    for (int k = 0; k < i; k++)
        nth += identity(reported[k], 0) == identity(reported[i], 0);
    return nth;
}

static int find(uint64_t id) {
    for (int i = 0; i < n_reported; i++)
        if (identity(reported[i], nth_of(i)) == id)
            return i;
    return -1;
}

/* "probe_LAYER_NAME_ns"; a number tells apart what would be alike. What is too long is cut, the
 * name where the layer leaves it room. */
static void name_probe(const struct latecomer_probe_table *t, int probe,
                       char (*names)[LC_PART_NAME], unsigned n) {
    enum { LAYER_MOST = 16, REST = sizeof "probe__" + sizeof "_99" - 1 + sizeof "_ns" - 1 };
    const char *unit = t->timer[probe] ? "_ns" : "";
    int layer = (int)strnlen(t->layer, LAYER_MOST);
    for (int number = 1; number < 100; number++) {
        char several[8] = "";
        bool taken = false;
        if (number > 1)
            snprintf(several, sizeof several, "_%d", number);
        snprintf(names[n], LC_PART_NAME, "probe_%.*s%s%.*s%s%s", layer, t->layer,
                 layer > 0 ? "_" : "", LC_PART_NAME - REST - layer, t->name[probe], several, unit);
        for (unsigned i = 0; i < n && !taken; i++)
            taken = strcmp(names[i], names[n]) == 0;
        if (!taken)
            return;
    }
}

static const char *label(const struct latecomer_probe_table *t) {
    return t->layer[0] != '\0' ? t->layer : t->name[0];
}

unsigned lc_probe_layers_open(MPI_Comm comm, char (*names)[LC_PART_NAME], unsigned room,
                              struct lc_strbuf *missing) {
    struct lc_probe_layers *l = &lc_probe_layers;
    uint64_t ids[LC_PROBE_LAYERS] = {0};
    int can[LC_PROBE_LAYERS] = {0}, n = n_reported;
    unsigned used = 0;
    for (int i = 0; i < n_reported; i++)
        ids[i] = identity(reported[i], nth_of(i));
    MPI_Bcast(&n, 1, MPI_INT, 0, comm);
    MPI_Bcast(ids, LC_PROBE_LAYERS, MPI_UINT64_T, 0, comm);
    for (int i = 0; i < n; i++) {
        int at = find(ids[i]);
        can[i] = at >= 0 && reported[at]->version == LATECOMER_PROBE_VERSION &&
                 used + (unsigned)reported[at]->n <= room &&
                 latecomer_probe_open(reported[at], 1) == 0;
        used += can[i] ? (unsigned)reported[at]->n : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, can, LC_PROBE_LAYERS, MPI_INT, MPI_MIN, comm);
    used = 0;
    for (int i = 0; i < n; i++) {
        int at = find(ids[i]);
        if (!can[i]) { /* said by rank 0, which has them all */
            if (at >= 0)
                lc_strbuf_printf(missing, "no probes of %s: %s\n", label(reported[at]),
                                 reported[at]->version == LATECOMER_PROBE_VERSION
                                     ? "another rank has none, or too many"
                                     : "built with another version of latecomer_probe.h");
            continue;
        }
        reported[at]->nanoseconds = !lc_timer.by_counter;
        l->table[l->n] = reported[at];
        l->first[l->n++] = used;
        for (int p = 0; p < reported[at]->n; p++)
            name_probe(reported[at], p, names, used++);
    }
    if (too_many > 0)
        lc_strbuf_printf(missing, "no probes of %d more layers: they are too many\n", too_many);
    l->n_probes = used;
    opened = true;
    return used;
}

void lc_probe_layers_clear(void) {
    for (int i = 0; i < lc_probe_layers.n; i++)
        if (lc_probe_layers.table[i] != NULL)
            latecomer_probe_clear(lc_probe_layers.table[i], 0);
}

struct lc_probe_faults lc_probe_layers_faults(void) {
    struct lc_probe_faults faults = {.late = late};
    for (int i = 0; i < lc_probe_layers.n; i++) {
        struct latecomer_probe_table *t = lc_probe_layers.table[i];
        if (t == NULL)
            continue;
        faults.unbalanced += __atomic_exchange_n(&t->unbalanced, 0, __ATOMIC_RELAXED);
        faults.lost += __atomic_exchange_n(&t->lost, 0, __ATOMIC_RELAXED);
    }
    return faults;
}

void lc_probe_layers_end(int64_t *values) {
    for (int i = 0; i < lc_probe_layers.n; i++)
        if (lc_probe_layers.table[i] != NULL)
            latecomer_probe_repetition(lc_probe_layers.table[i], -1);
    memset(values, 0, lc_probe_layers.n_probes * sizeof values[0]);
    for (int i = 0; i < lc_probe_layers.n; i++) {
        const struct latecomer_probe_table *t = lc_probe_layers.table[i];
        for (int p = 0; t != NULL && p < t->n; p++) {
            double value = (double)latecomer_probe_value(t, 0, p);
            if (t->timer[p] && lc_timer.by_counter)
                value *= lc_timer.ns_per_tick;
            values[lc_probe_layers.first[i] + (unsigned)p] = (int64_t)value;
        }
    }
}
