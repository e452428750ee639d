/* Latecomer's interface for programs: regions, and switching measurement on and off. All of it is
 * optional: the functions are weak symbols that `latecomer run` brings with it; without the tool a
 * call is one test of an address. No library has to be linked.
 *
 *   latecomer_begin("solve");  ...  latecomer_end("solve");      regions nest; the end names the
 * innermost open region of that name latecomer_stop();          ...  latecomer_start(); any number
 * of times, per process
 *
 * Fortran: the same names as external subroutines, with the small static library
 * liblatecomer-fortran.a linked: call latecomer_begin('solve')  ...  call latecomer_end('solve')
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

void latecomer_begin(const char *name) __attribute__((weak));
void latecomer_end(const char *name) __attribute__((weak));
void latecomer_start(void) __attribute__((weak));
void latecomer_stop(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#define latecomer_begin(name) (latecomer_begin ? (latecomer_begin)(name) : (void)0)
#define latecomer_end(name)   (latecomer_end ? (latecomer_end)(name) : (void)0)
#define latecomer_start()     (latecomer_start ? (latecomer_start)() : (void)0)
#define latecomer_stop()      (latecomer_stop ? (latecomer_stop)() : (void)0)

#endif
