/* Named phases: the outermost regions of the thread that called MPI_Init. */
#ifndef LC_MEASURE_CLOCKS_PHASES_H
#define LC_MEASURE_CLOCKS_PHASES_H

#include <stdbool.h>
#include <stdint.h>

struct lc_call;
struct lc_clk_thread;
struct lc_strbuf;

/* an outermost region of the first thread begins or ends; the interval does (with
 * lc_clk.lock held); a thread sees the change at its next event. */
void lc_clk_phase_begin(struct lc_clk_thread *k, const struct lc_call *call);
void lc_clk_phase_end(struct lc_clk_thread *k, const struct lc_call *call);
void lc_clk_phase_interval(bool on, uint64_t now);
void lc_clk_phase_catch_up(struct lc_clk_thread *k);

struct lc_offset_ends { /* offsets to the global clock at both ends of the run, ns */
    double offset_begin, offset_end, local_begin, local_end, error;
};

/* Collective; adds `, "phases": [..]` on rank 0. */
void lc_clk_phases_put(const struct lc_offset_ends *c, struct lc_strbuf *out);

#endif
