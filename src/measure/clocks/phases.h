/* Named phases: the outermost regions of the thread that called MPI_Init. */
#ifndef LC_MEASURE_CLOCKS_PHASES_H
#define LC_MEASURE_CLOCKS_PHASES_H

#include <stdbool.h>
#include <stdint.h>

struct lc_call;
struct lc_clk_thread;
struct lc_offset_ends;
struct lc_strbuf;

/* An outermost region of the first thread begins. */
void lc_clk_phase_begin(struct lc_clk_thread *k, const struct lc_call *call);
/* The outermost region of the first thread ends. */
void lc_clk_phase_end(struct lc_clk_thread *k, const struct lc_call *call);
/* An interval begins or ends. With lc_clk.lock held. */
void lc_clk_phase_interval(bool on, uint64_t now, uint32_t region);
/* The log of a test: as the program's phase begins or ends, where the clocks lag behind it. region:
 * that begins; UINT32_MAX: it ends. */
void lc_clk_phase_log(uint32_t region, uint64_t now);
/* The region of a begin that is one of a phase of this thread, UINT32_MAX: of none. */
uint32_t lc_clk_phase_of(const struct lc_clk_thread *k, const struct lc_call *call);
/* The outermost named region that the first thread is in, UINT32_MAX: none. Any thread may ask;
 * takes lc_clk.lock. */
uint32_t lc_clk_open_region(void);
/* A thread sees the change of phase at its next event. */
void lc_clk_phase_catch_up(struct lc_clk_thread *k);

/* Collective; adds facts on rank 0: LC_FACT_FIELD, LC_FACT_PHASE. */
void lc_clk_phases_put(const struct lc_offset_ends *c, struct lc_strbuf *facts);

#endif
