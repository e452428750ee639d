/* Calls of MPI that go past the wrappers. */
#ifndef LC_MEASURE_GATHER_AUDIT_H
#define LC_MEASURE_GATHER_AUDIT_H

struct lc_strbuf;

/* LC_FACT_OBJECT for each object with MPI symbols that are bound past the wrappers. */
void lc_audit_put_facts(struct lc_strbuf *facts);

#endif
