/* Definitions of all ranks, brought together in MPI_Finalize along a binomial tree: ceil(log2 P)
 * messages at most up, a broadcast down. Each rank then numbers its own by those of all. Rank 0
 * leaves the union in DIR/traces/union for its parent. A rank that fails (memory) sends an empty
 * union, and all know by the length 0 that there is none: nobody waits for anything. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/binomial.h"
#include "base/strbuf.h"
#include "format/trace_defs.h"
#include "measure/core/core.h"
#include "measure/trace/definitions.h"
#include "measure/trace/trace_area.h"
#include "measure/trace/trace_unify.h"
#include "measure/trace/trace_window.h"
#include "format/union.h"

enum { TAG_UNION = 0x4c54 };

struct blob {
    char *bytes;
    uint64_t n_bytes; /* 0: failed */
};

static enum lc_err own_union(struct lc_trace_defs *defs, struct lc_union *u) {
    pthread_mutex_lock(&lc_tracing.defs_lock);
    enum lc_err err =
        lc_trace_defs_parse(defs, lc_strbuf_get(&lc_tracing.defs), lc_tracing.defs.length);
    pthread_mutex_unlock(&lc_tracing.defs_lock);
    LC_TRY(err);
    LC_TRY(lc_trace_defs_tree_from_state(defs, lc_core.state, lc_core.bytes));
    return lc_union_of_rank(u, defs, lc_tracing.area->context);
}

static void receive(struct blob *b, int source) {
    b->bytes = NULL;
    lc_real.Recv(&b->n_bytes, sizeof(b->n_bytes), MPI_BYTE, source, TAG_UNION, lc_core.comm,
                 MPI_STATUS_IGNORE);
    if (b->n_bytes == 0)
        return;
    b->bytes = malloc(b->n_bytes);
    if (b->bytes) {
        lc_real.Recv(b->bytes, (int)b->n_bytes, MPI_BYTE, source, TAG_UNION, lc_core.comm,
                     MPI_STATUS_IGNORE);
        return;
    }
    char rest[4096]; /* no memory: truncated on purpose, so that the sender gets rid of it */
    lc_real.Recv(rest, sizeof(rest), MPI_BYTE, source, TAG_UNION, lc_core.comm, MPI_STATUS_IGNORE);
    b->n_bytes = 0;
}

static void send(const struct blob *b, int target) {
    lc_real.Send(&b->n_bytes, sizeof(b->n_bytes), MPI_BYTE, target, TAG_UNION, lc_core.comm);
    if (b->n_bytes)
        lc_real.Send(b->bytes, (int)b->n_bytes, MPI_BYTE, target, TAG_UNION, lc_core.comm);
}

static void pack(const struct lc_union *u, bool good, struct blob *out) {
    struct lc_strbuf text = {0};
    *out = (struct blob){0};
    if (!good || lc_union_pack(u, &text) != LC_OK || text.length > INT_MAX)
        return;
    out->n_bytes = text.length;
    out->bytes = lc_strbuf_take(&text);
    if (!out->bytes)
        out->n_bytes = 0;
}

/* On rank 0, `u` becomes that of all ranks; false if some rank failed (then everywhere above it).
 */
static bool gather(struct lc_union *u, bool good) {
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    enum lc_binomial_step step;
    struct blob b;
    int peer;
    while ((step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD) {
        receive(&b, peer);
        struct lc_union other = {0};
        good = good && b.n_bytes && lc_union_unpack(&other, b.bytes, b.n_bytes) == LC_OK &&
               lc_union_merge(u, &other) == LC_OK;
        lc_union_free(&other);
        free(b.bytes);
    }
    if (step == LC_BINOMIAL_PARENT) {
        pack(u, good, &b);
        send(&b, peer);
        free(b.bytes);
    }
    return good;
}

static bool broadcast(struct lc_union *u, bool good, struct blob *b) {
    *b = (struct blob){0};
    if (lc_core.rank == 0)
        pack(u, good, b);
    lc_real.Bcast(&b->n_bytes, sizeof(b->n_bytes), MPI_BYTE, 0, lc_core.comm);
    if (b->n_bytes == 0)
        return false;
    int have = 1, all = 1;
    if (lc_core.rank != 0)
        have = (b->bytes = malloc(b->n_bytes)) != NULL;
    lc_real.Allreduce(&have, &all, 1, MPI_INT, MPI_MIN, lc_core.comm);
    if (!all)
        return false;
    lc_real.Bcast(b->bytes, (int)b->n_bytes, MPI_BYTE, 0, lc_core.comm);
    if (lc_core.rank != 0) {
        lc_union_free(u);
        return lc_union_unpack(u, b->bytes, b->n_bytes) == LC_OK;
    }
    return true;
}

static bool save(const struct blob *b) {
    char path[4200];
    if (!lc_core.dir)
        return false;
    snprintf(path, sizeof(path), "%s/traces", lc_core.dir);
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/traces/union", lc_core.dir);
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(b->bytes, 1, b->n_bytes, file) == b->n_bytes;
    if (file && fclose(file) != 0)
        good = false;
    return good;
}

static void unify(void) {
    struct lc_trace_defs defs = {0};
    struct lc_union u = {0};
    struct blob b;
    bool good = own_union(&defs, &u) == LC_OK;
    good = gather(&u, good);
    good = broadcast(&u, good, &b);
    if (good && lc_core.rank == 0)
        good = save(&b);
    if (good && lc_union_map(&u, &defs, lc_tracing.area->context) == LC_OK) {
        for (uint32_t type = 0; type < LC_UNION_TYPES; type++) {
            uint32_t head[2] = {type, (uint32_t)defs.n_maps[type]};
            lc_trace_define(LC_DEF_MAP, head, sizeof(head), defs.maps[type], defs.n_maps[type] * 4);
        }
        lc_tracing.area->n_global_comms = (uint32_t)lc_union_count(&u, LC_UNION_COMM);
        atomic_store_explicit(&lc_tracing.area->finalized, 1, memory_order_release);
    }
    free(b.bytes);
    lc_union_free(&u);
    lc_trace_defs_free(&defs);
}

void lc_trace_close(void) {
    lc_trace_window_finish();
    if (lc_tracing.area != NULL && lc_core.agreed && lc_tracing.defined)
        unify();
}
