/* The chain of libraries between the program and MPI: who stands behind a function of this library,
 * and who may be found beside it.
 *
 * Other tools and libraries that sit between programs and MPI define MPI_Send and call PMPI_Send
 * (MPI 4.0, 15.2: the profiling interface). They may be preloaded, linked as a shared library, or
 * be part of the program. This library measures what reaches PMPI_: MPI_Send leads to the next
 * MPI_Send that the dynamic linker would have found, and only where that is MPI's own, straight to
 * what measures. So each link of the chain sees what it sees without this library.
 *
 * Whoever asks the dynamic linker for MPI's functions by name (ctypes, Julia, LuaJIT; tools that
 * ask for the next PMPI_Send) gets those of this library where it would get those of the MPI that
 * is measured. */
#ifndef LC_MEASURE_STUB_CHAIN_H
#define LC_MEASURE_STUB_CHAIN_H

#include <stdbool.h>

/* Added to the number of a slot where MPI_ was called, not PMPI_ (LC_FRONT_BIT of stub_asm.h). */
enum { LC_CHAIN_FRONT = 0x8000 };

/* The dynamic linker's own dlsym; RTLD_NEXT: behind this library. */
void *lc_real_symbol(void *library, const char *name);

/* The dynamic linker's own dlclose: that of this library forgets call paths. */
int lc_real_dlclose(void *library);

/* The function of this name that another library than `mpi`, MPI's own, puts before MPI's; NULL:
 * there is none. */
void *lc_chain_layer(void *mpi, const char *name);

/* A library was closed: the next one may have its place. */
void lc_chain_forget(void);

/* What the chain has to know of the stub: its names, and the MPI that is measured; NULL: not known
 * yet, or none (`awake`). */
struct lc_chain_stub {
    const char *const *names;
    unsigned n_names;
    void *mpi;
    bool awake;
};
/* What it has of that now. */
struct lc_chain_stub lc_stub_for_chain(void);

#endif
