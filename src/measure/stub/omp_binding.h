/* Binding of threads where LLVM's OpenMP runtime is put before libgomp. libgomp stays loaded, and
 * when it is loaded it binds the first thread to its first place, which LLVM's runtime would then
 * take for all the CPUs there are. So just before that starts it gets the CPUs that the process
 * had, and what `latecomer run` found that binds as libgomp would (run/binding.h). */
#ifndef LC_MEASURE_STUB_OMP_BINDING_H
#define LC_MEASURE_STUB_OMP_BINDING_H

/* Reads what `latecomer run` left in the environment, once; before that is cleaned. */
void lc_omp_binding_remember(void);
/* In the thread that starts the runtime, before it looks at CPUs and variables. */
void lc_omp_binding_restore(void);

#endif
