/* Writing side of the state that the parent reads (format/state.h). Everything with lc_core.lock
 * held unless said; LC_NONE or NULL when the state is full (counted). */
#ifndef LC_MEASURE_CORE_STATE_WRITE_H
#define LC_MEASURE_CORE_STATE_WRITE_H

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
/* The same id; "" before it is set. */
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

#endif
