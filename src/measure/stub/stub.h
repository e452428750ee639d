/* Between the preloaded stub and the core that it opens. */
#ifndef LC_MEASURE_STUB_STUB_H
#define LC_MEASURE_STUB_STUB_H

#include <stdbool.h>
#include <stdint.h>

enum { LC_STUB_ABI = 8 };

/* Slots after those of MPI, in this order. */
#define LC_API_TABLE(X)                                                                            \
    X(latecomer_begin)                                                                             \
    X(latecomer_end)                                                                               \
    X(latecomer_start)                                                                             \
    X(latecomer_stop)                                                                              \
    X(latecomer_begin_fortran)                                                                     \
    X(latecomer_end_fortran)                                                                       \
    X(__cyg_profile_func_enter)                                                                    \
    X(__cyg_profile_func_exit)

struct lc_stub {
    uint32_t abi;   /* LC_STUB_ABI */
    uint32_t n_mpi; /* slots of MPI functions, API after them */
    void **slots;   /* where the exported functions jump to */
    const char *const *names;
    void *(*real_symbol)(void *library, const char *name); /* dlsym, never of this library */
    void *mpi;           /* handle of the MPI library of the program; NULL: it has none */
    uint32_t flavour;    /* enum lc_flavour of it */
    const char *product; /* what it says it is: "MPICH 4.0.2" */
    uint64_t begin_ns;   /* start of the process, CLOCK_MONOTONIC_RAW */
    uint64_t begin_realtime_ns;
    uint64_t begin_ticks;     /* the processor's counter at begin_ns; 0 where there is none */
    uint64_t wake_ticks;      /* when the core was about to be opened */
    uint64_t wake_ns;         /* CLOCK_MONOTONIC_RAW then */
    uint64_t wake_cpu_ns;     /* processor time of the thread that opened it, then */
    void (*on_dlclose)(void); /* set by the core: called after a library may have gone */
    /* Set by the core: ompt_start_tool of the OpenMP tools interface; NULL: no OpenMP. */
    void *(*openmp_tool)(unsigned version, const char *runtime);
    /* Set by the core: around waiting for an iteration of an ordered loop; code: of the call. */
    void (*openmp_sink)(bool begins, const void *code);
    /* What GCC's code calls of its runtime (enum lc_gomp_entry): functions behind those of this
     * library, where all callers have the same one, else NULL; and that of one caller. */
    void *const *openmp_reals;
    void *(*openmp_real)(unsigned entry, const void *caller);
    /* Set by the core: what to call instead, in the same order; NULL: nothing. */
    void *const *openmp_wrappers;
};

/* The entry of the core: takes over the slots; 0, or the reason as one line of text in `why`: slots
 * are as before. */
typedef int lc_core_start_fn(struct lc_stub *stub, char *why, unsigned long why_bytes);

#endif
