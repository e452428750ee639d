/* What the test programs share: deterministic output, checks, and the count of calls made per MPI
 * function.
 *
 * A program prints, per rank, lines "[rank] text" that must not change under the tool, and at its
 * end one line
 * "[rank] calls MPI_Send 12" per function it called (into $TALLY_DIR/calls.<rank> instead, if that
 * is set, so that the launcher cannot mix the lines of two ranks). Every textual MPI call in a file
 * that includes this header counts itself. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "all_of_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

extern long tally_count[];
extern int rank, size; /* in MPI_COMM_WORLD */

void start_program(int *argc, char ***argv);                   /* MPI_Init */
int start_program_threads(int *argc, char ***argv, int level); /* MPI_Init_thread: level provided */
void adopt_program(void); /* MPI was initialised elsewhere: sets rank and size */
int end_program(void);    /* MPI_Finalize, prints the counts: exit status */
int print_tally(void);    /* the counts alone: exit status */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void check_failed(const char *file, int line, const char *what);
void tally_name(const char *name); /* counts one call of the function with this name (Fortran) */
void tally_name_(const char *name, size_t length);
void nap_ms(int ms);

#ifdef __cplusplus
}
#endif

#include "tally_calls.h"

#define CHECK(c) ((c) ? (void)0 : check_failed(__FILE__, __LINE__, #c))
#define OK(call) CHECK((call) == MPI_SUCCESS)

#endif
