/* The rules of virtual time that have numbers: for the library before the real MPIs (virtual.h) and
 * for the simulated MPI (tests/sim). virtual_rules.c holds both to the rules. */
#ifndef TIME_RULES_H
#define TIME_RULES_H

enum { VT_LATENCY_NS = 1000, VT_EAGER = 16384 };
/* What clocks show before MPI_Init, and after it at least. */
#define VT_BEFORE_INIT_NS 1000000000000000u
#define VT_AFTER_INIT_NS  (VT_BEFORE_INIT_NS + 1000000u)

#endif
