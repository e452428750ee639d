/* Writing side of the state that the parent reads (format/state.h). Everything with lc_core.lock
 * held unless said; LC_NONE or NULL when the state is full (counted). */
#ifndef LC_MEASURE_CORE_STATE_WRITE_H
#define LC_MEASURE_CORE_STATE_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "format/state.h"
#include "measure/core/core.h"

struct lc_thread;

/* Tables of the state, for readers in the process: call-tree nodes, and the texts that a node's
 * `ref` stands for (name of an MPI call or region; path of a frame's module). */
static inline const struct lc_state_node *lc_state_nodes(void) {
    return (const struct lc_state_node *)(lc_core.base + lc_core.state->nodes.offset);
}

static inline const char *lc_state_name_of(uint32_t ref) {
    const struct lc_state_name *names =
        (const struct lc_state_name *)(lc_core.base + lc_core.state->names.offset);
    return lc_core.base + lc_core.state->text.offset + names[ref].text;
}

static inline const char *lc_state_path_of(uint32_t ref) {
    const struct lc_state_module *modules =
        (const struct lc_state_module *)(lc_core.base + lc_core.state->modules.offset);
    return lc_core.base + lc_core.state->text.offset + modules[ref].path;
}

/* What follows needs lc_core.lock where nothing else is said. A full state is counted. */

/* Maps the shared state, with `extra` bytes beyond those of the profile; once. LC_ERR_SYSTEM: the
 * program runs unmeasured. */
enum lc_err lc_state_create(size_t extra);
/* The number of a name, which is copied; LC_NONE: full. */
uint32_t lc_state_add_name(const char *name);
/* The id of the executable (base/program_names.h): the call tree of this process is that of it. */
void lc_state_set_program(const char *id);
/* The id of the executable; "" before it is set. */
const char *lc_state_program(void);
/* The number of a loaded file; the texts are copied, `bias` is its load address less that in the
 * file. LC_NONE: full. */
uint32_t lc_state_add_module(const char *path, const char *build_id, uint64_t bias);
/* The child of a node of the call tree, made if it is not there; kind and flags: format/state.h,
 * ref: name or module, offset and site: in the module. LC_NONE: full. */
uint32_t lc_state_child(uint32_t parent, uint32_t kind, uint32_t ref, uint32_t flags,
                        uint64_t offset, uint64_t site);
/* A new row of a thread; no lock. Never NULL: a spill row if the state is full. */
struct lc_state_row *lc_state_row_take(struct lc_thread *thread, uint32_t node, uint32_t key);
/* Bytes of the pool, zeroed, at a multiple of 64; *offset: where in the state. No lock; NULL:
 * full. */
void *lc_state_take(size_t bytes, uint64_t *offset);
/* Bytes of the pool, zeroed, at a multiple of a page, that cannot be touched yet: where in the
 * state; 0: full. Only while there is one thread. */
uint64_t lc_state_reserve(size_t bytes);
/* A part of them (offset in the state, a multiple of a page) can be touched from now on. Any
 * thread, also in a signal handler. false: the kernel has no memory left for it. */
bool lc_state_make_usable(uint64_t offset, uint64_t bytes);

/* Names of the program's regions, interned: ids are dense. Regions by address are functions
 * compiled with -finstrument-functions. */

struct lc_region_name {
    uint64_t address; /* 0: by name */
    uint32_t name;    /* index of the state's names */
    char *text;
};
/* The id of a region, new if it is seen for the first time. LC_NONE: no memory, or too many. */
uint32_t lc_region_by_name(const char *name);
/* The id of the region of a function of the program, new if it is seen for the first time. LC_NONE:
 * no memory, or too many. */
uint32_t lc_region_by_address(uint64_t address);

/* of an id that was given out */
struct lc_region_name lc_region_get(uint32_t id);

/* Codes in an entry's key besides enum lc_fn: two per region. */
static inline uint32_t lc_region_fn(uint32_t region, bool end) {
    return LC_FN_COUNT + 2 + region * 2 + (end ? 1 : 0);
}
enum { LC_FN_CONTROL = LC_FN_COUNT };  /* latecomer_start, latecomer_stop */
enum { LC_FN_TEAM = LC_FN_COUNT + 1 }; /* of the budget: a parallel region of one thread */

#endif
