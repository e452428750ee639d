/* Preloaded into LAMMPS: a computation of pair forces takes 1 us for each atom of the rank, in
 * virtual time, in which code takes none. For slab_balance.py. The symbol is
 * LAMMPS_NS::PairLJCut::compute(int, int), called through its vtable; behind the pointer to that,
 * each object of LAMMPS has one to the instance that LAMMPS' interface for C takes. */
#include <dlfcn.h>
#include <time.h>

typedef void compute_fn(void *self, int eflag, int vflag);
__attribute__((visibility("default"))) compute_fn _ZN9LAMMPS_NS9PairLJCut7computeEii;

enum { NS_PER_ATOM = 1000 };

static int atoms_of(void *instance) {
    void *(*extract)(void *, const char *);
    *(void **)&extract = dlsym(RTLD_DEFAULT, "lammps_extract_global");
    const int *n = extract != NULL ? extract(instance, "nlocal") : NULL;
    return n != NULL ? *n : 0;
}

void _ZN9LAMMPS_NS9PairLJCut7computeEii(void *self, int eflag, int vflag) {
    long long ns = (long long)NS_PER_ATOM * atoms_of(((void **)self)[1]);
    struct timespec nap = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    compute_fn *real;
    if (ns > 0)
        nanosleep(&nap, NULL);
    *(void **)&real = dlsym(RTLD_NEXT, "_ZN9LAMMPS_NS9PairLJCut7computeEii");
    real(self, eflag, vflag);
}
