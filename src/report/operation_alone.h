/* The operations of a program beside the same measured alone: what `latecomer bench --of` has left
 * in the directory of the result (beside.json, docs/benchmarking.md). */
#ifndef LC_REPORT_OPERATION_ALONE_H
#define LC_REPORT_OPERATION_ALONE_H

#include <jansson.h>

#include "base/strbuf.h"
#include "report/view.h"

/* "DIR/beside.json" of a result in DIR; the caller frees it; NULL without memory. */
char *lc_beside_file(const char *result);

/* The object (a new reference), or NULL: there is none. A damaged one is told, and is none. */
json_t *lc_beside_read(const struct lc_view *view);

/* "MPI_Allreduce of 8 bytes takes 14 us in the program, 3.1 us when all ranks arrive together: the
 * rest is arrival." of a member of "callpaths"; `ranks`: of the program. bold, plain: escape
 * sequences or "". */
void lc_beside_put(const json_t *callpath, long long ranks, const char *bold, const char *plain,
                   struct lc_strbuf *out);

/* ", 400 calls, of which 10 us each are measured waiting": what stands behind the call path. */
void lc_beside_put_calls(const json_t *callpath, struct lc_strbuf *out);

#endif
