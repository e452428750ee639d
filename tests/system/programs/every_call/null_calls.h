/* What the generated cases of null_calls use: an argument of each kind that is valid. */
#ifndef NULL_CALLS_H
#define NULL_CALLS_H

#include "program.h"

extern int buffer[64];
extern char text[4096], path[4096];
extern MPI_Comm comm, ring; /* with the process as its own neighbour */
extern MPI_Group group;
extern MPI_Win win;
extern MPI_File file;
extern MPI_Datatype type, types[8];
extern MPI_Request requests[2], made; /* `requests`: a receive and a send that are complete */
extern MPI_Message message;
extern MPI_Status statuses[8];
extern void *base;

/* what NULL: makes the call, and returns its result; else: only its name. */
int null_call(int number, const char **what);
extern const int n_null_calls;

#define CASE(number, name, call)                                                                   \
    case number:                                                                                   \
        if (what) {                                                                                \
            *what = name;                                                                          \
            return MPI_SUCCESS;                                                                    \
        }                                                                                          \
        return call;

#endif
