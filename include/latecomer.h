/* Latecomer's interface for programs: regions, and switching measurement on and off. All of it is
 * optional: `latecomer run` brings the functions with it; without the tool a call is one call of an
 * empty function. No library has to be linked, and any kind of program will do:
 * position-independent or not (-no-pie), shared library, static (then nothing happens).
 *
 *   latecomer_begin("solve");  ...  latecomer_end("solve");
 *                                  regions nest; the end names the innermost open region of that
 *                                  name
 *   latecomer_stop();  ...  latecomer_start();
 *                                  any number of times, per process
 *
 * Fortran: the same names as external subroutines, with the small static library
 * liblatecomer-fortran.a linked:
 *
 *   call latecomer_begin('solve')  ...  call latecomer_end('solve')
 *
 * Outermost regions of the thread that called MPI_Init are phases: the result has efficiency
 * factors per phase, and where one repeats, per iteration.
 *
 * Regions that a thread begins inside a callback of MPI are ignored. */
#ifndef LATECOMER_H
#define LATECOMER_H

#ifdef __cplusplus
extern "C" {
#endif

/* What follows is how the functions are found: by the linker as weak symbols, which programs that
 * are not position-independent get as 0, else by name at the first use. */
typedef void (*latecomer_private_function)(void);
typedef void (*latecomer_private_named)(const char *name);

void latecomer_begin(const char *name) __attribute__((weak));
void latecomer_end(const char *name) __attribute__((weak));
void latecomer_start(void) __attribute__((weak));
void latecomer_stop(void) __attribute__((weak));

latecomer_private_function latecomer_private_dlsym(void *handle, const char *name) __asm__("dlsym")
    __attribute__((weak));

static inline void latecomer_private_nothing(void) {
}

static inline void latecomer_private_nothing_named(const char *name) {
    (void)name;
}

/* latecomer_private_find_NAME(): the function of this name, or `nothing`. */
#define LATECOMER_PRIVATE_FIND(function, type, nothing)                                            \
    static inline type latecomer_private_find_##function(void) {                                   \
        static type known;                                                                         \
        type found = __atomic_load_n(&known, __ATOMIC_RELAXED);                                    \
        if (found)                                                                                 \
            return found;                                                                          \
        found = function;                                                                          \
        if (!found && latecomer_private_dlsym)                                                     \
            found = (type)latecomer_private_dlsym(0 /* RTLD_DEFAULT */, #function);                \
        if (!found)                                                                                \
            found = nothing;                                                                       \
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);                                         \
        return found;                                                                              \
    }

LATECOMER_PRIVATE_FIND(latecomer_begin, latecomer_private_named, latecomer_private_nothing_named)
LATECOMER_PRIVATE_FIND(latecomer_end, latecomer_private_named, latecomer_private_nothing_named)
LATECOMER_PRIVATE_FIND(latecomer_start, latecomer_private_function, latecomer_private_nothing)
LATECOMER_PRIVATE_FIND(latecomer_stop, latecomer_private_function, latecomer_private_nothing)

#ifdef __cplusplus
}
#endif

#define latecomer_begin(name) (latecomer_private_find_latecomer_begin()(name))
#define latecomer_end(name)   (latecomer_private_find_latecomer_end()(name))
#define latecomer_start()     (latecomer_private_find_latecomer_start()())
#define latecomer_stop()      (latecomer_private_find_latecomer_stop()())

#endif
