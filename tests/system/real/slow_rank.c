/* Preloaded into LAMMPS: rank 1 sleeps 30 ms before each computation of pair forces. For
 * slow_rank.py (Open MPI only: it tells ranks by the environment). The symbol is
 * LAMMPS_NS::PairLJCut::compute(int, int), called through its vtable. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void compute_fn(void *self, int eflag, int vflag);
__attribute__((visibility("default"))) compute_fn _ZN9LAMMPS_NS9PairLJCut7computeEii;

void _ZN9LAMMPS_NS9PairLJCut7computeEii(void *self, int eflag, int vflag) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank != NULL && strcmp(rank, "1") == 0) {
        struct timespec nap = {0, 30000000};
        nanosleep(&nap, NULL);
    }
    compute_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, "_ZN9LAMMPS_NS9PairLJCut7computeEii");
    real(self, eflag, vflag);
}
