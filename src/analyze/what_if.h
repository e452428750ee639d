/* --what-if: how long the run would take if some regions were faster or slower, by replaying the
 * trace forwards.
 *
 * SPEC is one scenario of base/what_if_spec.h. A factor applies to the time of the function or
 * region and of what it calls, MPI calls excepted; inside of several with a factor all of them
 * count, as in the clocks of `latecomer run`. mpi=0 leaves of MPI calls only their waiting.
 * Everything else keeps its duration; who waits for whom is found anew (replay.h). */
#ifndef LC_ANALYZE_WHAT_IF_H
#define LC_ANALYZE_WHAT_IF_H

#include <jansson.h>

#include "analyze/profile.h"
#include "base/strbuf.h"

/* Adds "what_if" to the object and a line for people, on rank 0. Collective. Errors: LC_ERR_USAGE.
 */
enum lc_err lc_what_if_run(const struct lc_timelines *lines, const char *spec, json_t *object,
                           struct lc_strbuf *text);

#endif
