/* Calls of MPI that go past the wrappers. */
#ifndef LC_MEASURE_GATHER_AUDIT_H
#define LC_MEASURE_GATHER_AUDIT_H

struct lc_strbuf;

/* JSON array of {"object": .., "symbols": n, "example": ..} of MPI symbols that are bound
 * past the wrappers. */
void lc_audit_text(struct lc_strbuf *out);

#endif
