/* Tables of probes (include/latecomer_probe.h) of the libraries in this process: each reports when
 * it is loaded, and again when it goes. */
#ifndef LC_BENCH_HARNESS_PROBE_LAYERS_H
#define LC_BENCH_HARNESS_PROBE_LAYERS_H

#include <mpi.h>
#include <stdint.h>

#include <latecomer_probe.h>

#include "base/strbuf.h"
#include "bench/parts.h"

enum { LC_PROBE_LAYERS = 16 };

struct lc_probe_layers {
    struct latecomer_probe_table *table[LC_PROBE_LAYERS]; /* NULL: unloaded meanwhile */
    int n;
    unsigned n_probes;               /* of all of them, one layer after the other */
    unsigned first[LC_PROBE_LAYERS]; /* the first probe of a layer */
};
/* Those that are measured: a library that is unloaded leaves them. */
extern struct lc_probe_layers lc_probe_layers;

/* Collective over comm: tables that all of its ranks have get memory for one repetition.
 * names[room] become those of their probes, all layers one after the other; returns how many. What
 * is left out gets a line in `missing`. */
unsigned lc_probe_layers_open(MPI_Comm comm, char (*names)[LC_PART_NAME], unsigned room,
                              struct lc_strbuf *missing);

/* All probes begin at 0; nothing is recorded yet. */
void lc_probe_layers_clear(void);

/* Probes record from here on: a store for each layer. */
static inline void lc_probe_layers_begin(void) {
    for (int i = 0; i < lc_probe_layers.n; i++)
        if (lc_probe_layers.table[i] != NULL)
            latecomer_probe_repetition(lc_probe_layers.table[i], 0);
}

/* Of those that are measured since the last call; libraries that came too late, since the begin. */
struct lc_probe_faults lc_probe_layers_faults(void);

/* Nothing is recorded any more; values[n_probes]: timers in ns; 0 of a layer that is unloaded. */
void lc_probe_layers_end(int64_t *values);

#endif
