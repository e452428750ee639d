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

#include "job/mpi_flavour.h"

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

/* The MPI library that the process has loaded, found by what it exports, under whatever name.
 * Called by the preloaded library alone. */

struct lc_loaded_mpi {
    void *handle;            /* of dlopen; NULL: none is loaded */
    enum lc_flavour flavour; /* unknown: it cannot be measured */
    char path[4096];
    char product[64]; /* "MPICH 4.0.2": what it says it is, now that it runs */
};

/* Looks at the loaded objects, unless they are as they were when it last found nothing. With the
 * stub's lock held. */
bool lc_find_mpi(struct lc_loaded_mpi *mpi);

/* PMPI_Init of the MPI library that is loaded, which is asked nothing; NULL: there is none. */
void *lc_find_mpi_symbol(void);

/* The function of this name in the next library that has it after the object `path`, as loaded. */
void *lc_symbol_behind(const char *path, const char *name);

/* What stands behind the functions of this library that GCC's code calls of its OpenMP runtime: the
 * runtime in the caller's own scope. Most processes have one, which all see; libraries that an
 * interpreter loads may each bring one of their own. */

/* In the order of enum lc_gomp_entry: what all callers have, NULL where that is not known. */
extern void *lc_gomp_reals[];
extern const char *const lc_gomp_names[];

/* The function of this name in the caller's library and what that needs; else in a libgomp that is
 * there: a function may be called in the name of another library. NULL: none. */
void *lc_in_scope_of(const char *name, const void *caller);
/* The function that the caller would have found without this library; NULL: none. */
void *lc_gomp_behind(unsigned entry, const void *caller);
/* Is it one of GCC's runtime, which tells tools nothing? LLVM's has these functions, too. */
bool lc_is_libgomp(void *function);
/* A library may have gone: its addresses may belong to another one. */
void lc_gomp_forget_callers(void);

/* Binding of threads where LLVM's OpenMP runtime is put before libgomp. libgomp stays loaded, and
 * when it is loaded it binds the first thread to its first place, which LLVM's runtime would then
 * take for all the CPUs there are. So just before that starts it gets the CPUs that the process
 * had, and what `latecomer run` found that binds as libgomp would (run/binding.h). */

/* Reads what `latecomer run` left in the environment, once; before that is cleaned. */
void lc_omp_binding_remember(void);
/* In the thread that starts the runtime, before it looks at CPUs and variables. */
void lc_omp_binding_restore(void);

#endif
