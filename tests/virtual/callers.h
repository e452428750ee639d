/* Who calls a function of the C library: by the object that holds the return address. Both kinds of
 * virtual time ask it: that before the real MPIs (virtual.h) and the simulated MPI (tests/sim). The
 * program is the executable, and a library whose path holds what LC_VIRTUAL_PROGRAM says. */
#ifndef CALLERS_H
#define CALLERS_H

enum caller { SOMEBODY, PROGRAM, TOOL };

enum caller caller(void *return_address);

#endif
