#include "measure/stub/chain.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CPUS = 8192 };

static char *bind, *places; /* NULL: nothing is bound */
static bool any_cpus;
static unsigned long cpus[MOST_CPUS / (8 * sizeof(long))];

/* The parent has the CPUs that this process had at its start; only a child of it, not one of the
 * program's own, may ask for them. */
void lc_omp_binding_remember(void) {
    const char *state = getenv("LATECOMER_STATE"), *words = getenv("LATECOMER_OPENMP_BIND"),
               *list = getenv("LATECOMER_OPENMP_PLACES");
    int parent;
    if (bind != NULL || state == NULL || words == NULL || list == NULL ||
        sscanf(state, "%d:", &parent) != 1 || parent != getppid())
        return;
    bind = strdup(words);
    places = strdup(list);
    any_cpus = sched_getaffinity(parent, sizeof cpus, (cpu_set_t *)cpus) == 0;
}

void lc_omp_binding_restore(void) {
    lc_omp_binding_remember();
    if (bind == NULL || places == NULL)
        return;
    if (any_cpus)
        sched_setaffinity(0, sizeof cpus, (const cpu_set_t *)cpus);
    setenv("OMP_PROC_BIND", bind, 1);
    if (places[0] != '\0')
        setenv("OMP_PLACES", places, 1);
    else
        unsetenv("OMP_PLACES");
    unsetenv("GOMP_CPU_AFFINITY");
}
