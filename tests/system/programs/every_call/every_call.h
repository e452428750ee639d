/* What the generated calls of every_call use: buffers, arguments, and the comparison of relatives.
 */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H

#include "program.h"

enum { EACH = 2, RANKS_MAX = 8 };

extern int a[EACH * RANKS_MAX], b[EACH * RANKS_MAX]; /* origin and destination of every call */
extern int counts[RANKS_MAX], places[RANKS_MAX], byte_places[RANKS_MAX];
extern MPI_Count large_counts[RANKS_MAX];
extern MPI_Aint wide_places[RANKS_MAX], wide_byte_places[RANKS_MAX];
extern MPI_Datatype types[RANKS_MAX];
extern MPI_Comm ring; /* a neighbour on each side: from the left, to the right */
extern MPI_Win win;
extern int *memory; /* of the window: EACH numbers for others, then EACH of the own */
extern MPI_File file;
extern MPI_Offset own_place;
extern MPI_Request r;
extern MPI_Status s;
extern int to;

void every_call(void); /* generated */

void fresh(void); /* buffers as they were */
/* What is in b must be what a relative of this name left there; not on ranks below `first`. */
void result(const char *name, int first);
void open_epoch(void);
void close_epoch(const char *name);
void before_file(int reads, int shared);
/* in_order: each rank has its own numbers; else any */
void after_file(const char *name, int reads, int in_order);

#endif
