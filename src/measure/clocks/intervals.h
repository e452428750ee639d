/* Measured intervals of the process: between two of them measurement was off. */
#ifndef LC_MEASURE_CLOCKS_INTERVALS_H
#define LC_MEASURE_CLOCKS_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "piggyback/cpvec.h"
#include "format/facts.h"
#include "base/err.h"

struct lc_call;
struct lc_clk_thread;
struct lc_loop;
struct lc_offset_ends;

/* region: named, open now. With lc_clk_all_lock. */
void lc_clk_interval_begin(uint64_t now, uint32_t region);
/* The interval that is open ends now (ticks). With lc_clk_all_lock. */
void lc_clk_interval_end(uint64_t now);
/* Of the program, where the clocks lag behind it: its measurement was switched, now (ticks). */
void lc_clk_interval_seen(bool on, uint64_t now);
/* The number of the interval that the program is in, 0: none. */
uint32_t lc_clk_interval_now(void);
/* The number of the interval that the calling thread is in (0: none), and when it began for the
 * thread (ticks). */
uint32_t lc_clk_interval_of(const struct lc_clk_thread *k, uint64_t *begin);
/* The thread sees what intervals began and ended since its last event. */
void lc_clk_catch_up(struct lc_clk_thread *k, uint64_t now);

/* Named phases: the outermost regions of the thread that called MPI_Init. */

/* An outermost region of the first thread begins. */
void lc_clk_phase_begin(struct lc_clk_thread *k, const struct lc_call *call);
/* The outermost region of the first thread ends. */
void lc_clk_phase_end(struct lc_clk_thread *k, const struct lc_call *call);
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

/* Iterations of loops that were found in the run (callpath/loops.h), joined over all ranks in
 * MPI_Finalize. Loops of two ranks are one if their homes are the same call path, and as many loops
 * of that home came before. Of ranks that counted differently the least number counts. */

/* Collective; adds LC_FACT_LOOP on rank 0, each after its LC_FACT_FIELD, and the homes to the
 * state: value `loop.<k>` at the node of loop k (run/profile_convert.c names it). */
void lc_clk_iterations_put(const struct lc_offset_ends *c, struct lc_strbuf *facts);

/* Iterations of every rank by themselves: how long each took, and how long the rank waited in it.
 * Collective; adds LC_FACT_FIELD on rank 0: means over blocks of iterations, a row for every few
 * ranks that follow each other (sums over those that have the iterations, and their number). n
 * values of this rank, NULL: it has none; a value stands for `unit` iterations. */
void lc_iterations_put_ranks(const double *elapsed_s, const double *waiting_s, size_t n,
                             size_t unit, struct lc_strbuf *facts);

/* What the threads of a process do in iterations of loops that were found in the run. Seen by the
 * thread that is in the loop, which asks no other: one that works meanwhile is seen as it was at
 * its last event, and between events as working until now.
 *
 * Brings loop->threads up to the visit at `now` (ticks); but for `outside_omp` nothing where a
 * thread is alone, or where clocks lag behind the program. */
void lc_clk_iteration_visit(struct lc_loop *loop, uint64_t now);

/* What the clocks give, merged over all ranks in MPI_Finalize; as facts (format/facts.h) on
 * rank 0. */

/* Empty: not on rank 0, or nothing is known; kept for ever. */
const struct lc_strbuf *lc_clocks_facts(void);

/* Before the first value of a node: sums of the call sites are complete. */
void lc_clk_sites_close(void);
/* An index-ed value of a node in the state; what: enum lc_state_wait_what; late_thread: as in
 * struct lc_blame_row. */
void lc_clk_book_node(uint32_t node, uint64_t ticks, uint32_t what, uint64_t index,
                      uint32_t late_thread);

/* A hash of the node's call path, equal on all ranks. */
uint64_t lc_clk_path_hash(uint32_t node);

/* Blame and costs. Collective; the rows that are kept go to the state of the ranks they name, the
 * sums of waits and costs to the facts (rank 0). */
void lc_clk_merge_blame(struct lc_strbuf *facts);
/* Who waits for whom and sends to whom. Collective; adds LC_FACT_PAIRS on rank 0: the heaviest
 * pairs of each rank, and what is left out. */
void lc_clk_pairs_put(struct lc_strbuf *facts);

#endif
