/* A layer with probes, built as several libraries: number LAYER has as many probes, of which it
 * counts the last. All but the first have a name. */
#if LAYER == 1
#define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(work)
#elif LAYER == 2
#define LATECOMER_PROBE_LAYER            second
#define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(idle) COUNTER(work)
#else
#define LATECOMER_PROBE_LAYER            third
#define LATECOMER_PROBES(COUNTER, TIMER) COUNTER(idle) COUNTER(rest) COUNTER(work)
#endif
#include "latecomer_probe.h"

LATECOMER_PROBE_TABLE;

void layer_work(int times);

void layer_work(int times) {
    for (int i = 0; i < times; i++)
        latecomer_probe_count(latecomer_probe_work);
}
