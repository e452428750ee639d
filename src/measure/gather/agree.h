/* After MPI_Init: do all ranks run under the tool with the same options? */
#ifndef LC_MEASURE_GATHER_AGREE_H
#define LC_MEASURE_GATHER_AGREE_H

/* after MPI_Init: do all ranks run under the tool with the same options? Sets
 * lc_core.agreed and lc_core.comm. */
/* before MPI_Init; without it (sessions) rank and size are those of the launcher */
void lc_agree_announce(void);
void lc_agree_peers(void); /* sessions: the ranks of the node that are known by now; no waiting */
/* After MPI_Init: do all ranks run under the tool with the same options? Sets lc_core.agreed and
 * lc_core.comm. Collective. */
void lc_agree(void);

#endif
