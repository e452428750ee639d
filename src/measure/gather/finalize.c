#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/binomial.h"
#include "base/outfile.h"
#include "base/pieces.h"
#include "base/strbuf.h"
#include "format/raw_pack.h"
#include "format/state.h"
#include "measure/clocks/intervals.h"
#include "measure/core/core.h"
#include "measure/gather/finalize.h"

/* Writing the profile in MPI_Finalize. Call trees are merged up a binomial tree; the maps from each
 * rank's nodes to those of the whole travel down the same tree: O(log P) messages per rank. Then
 * all rows flow to the file along the tree, in the order of ranks (pieces.h): O(log P) messages per
 * rank beside one per 64 KiB, and nobody holds more than a slice of its own rows. A rank that runs
 * out of memory takes part with nothing, never hangs the others. */

enum { TAG_UP = 1, TAG_DOWN, TAG_ROWS, SLICE_ROWS = 32768, PIECE = 65536 };

struct gather {
    struct lc_raw *own;   /* this rank's profile */
    struct lc_raw *whole; /* definitions of this rank and those below it in the tree */
    uint32_t **maps;      /* of each child of the tree: its nodes -> whole */
    size_t *n_maps;
    int children[32];
    int n_children;
    uint32_t *to_whole; /* own nodes -> whole */
    uint32_t *to_root;  /* whole -> nodes of rank 0 */
    size_t n_whole;
    uint32_t first_location;
    bool failed; /* this rank has nothing to give */
};

/* There also where memory is used up, for one after the other. */
static union {
    char waste[PIECE];
    struct {
        struct lc_pieces out;
        struct lc_piece in;
    } rows;
} room;

/* In pieces, so that who has no memory for all of it can receive it: a message longer than the
 * buffer is an error that returns, but Open MPI 4.1 writes all of it there first where it reads the
 * memory of the sender (ob1 and vader, 128 KiB). */
static uint64_t piece_of(uint64_t length, uint64_t done) {
    return length - done < PIECE ? length - done : PIECE;
}

static void send_bytes(const void *bytes, size_t n_bytes, int to, int tag) {
    uint64_t length = n_bytes;
    lc_real.Send(&length, 8, MPI_BYTE, to, tag, lc_core.comm);
    for (uint64_t done = 0; done < length; done += PIECE)
        lc_real.Send((const char *)bytes + done, (int)piece_of(length, done), MPI_BYTE, to, tag,
                     lc_core.comm);
}

/* NULL and 0: the sender had nothing, or there is no memory (the message is received all the same).
 */
static void *recv_bytes(size_t *n_bytes, int from, int tag) {
    uint64_t length = 0;
    lc_real.Recv(&length, 8, MPI_BYTE, from, tag, lc_core.comm, MPI_STATUS_IGNORE);
    char *bytes = length > 0 ? malloc(length) : NULL;
    for (uint64_t done = 0; done < length; done += PIECE)
        lc_real.Recv(bytes != NULL ? bytes + done : room.waste, (int)piece_of(length, done),
                     MPI_BYTE, from, tag, lc_core.comm, MPI_STATUS_IGNORE);
    *n_bytes = bytes != NULL ? length : 0;
    return bytes;
}

static void take_child(struct gather *g, int child) {
    size_t n_bytes;
    void *bytes = recv_bytes(&n_bytes, child, TAG_UP);
    struct lc_raw *other = NULL;
    int k = g->n_children++;
    g->children[k] = child;
    if (bytes != NULL && g->whole != NULL && lc_raw_unpack(&other, bytes, n_bytes) == LC_OK) {
        g->n_maps[k] = other->n_nodes;
        if (lc_raw_merge_nodes(g->whole, other, &g->maps[k]) != LC_OK) {
            g->n_maps[k] = 0;
            g->maps[k] = NULL;
        }
        for (size_t i = 0; i < other->n_names; i++)
            lc_raw_add_name(g->whole, other->names[i], &(uint32_t){0});
        lc_raw_free(other);
    }
    free(bytes);
}

static void give_to_parent(struct gather *g, int parent) {
    void *bytes = NULL;
    size_t n_bytes = 0, n_map;
    g->n_whole = g->whole != NULL ? g->whole->n_nodes : 0;
    if (g->whole == NULL || lc_raw_pack(g->whole, 0, &bytes, &n_bytes) != LC_OK)
        n_bytes = 0;
    send_bytes(bytes, n_bytes, parent, TAG_UP);
    free(bytes);
    g->to_root = recv_bytes(&n_map, parent, TAG_DOWN);
    if (g->to_root == NULL || n_map / sizeof(uint32_t) < g->n_whole)
        g->failed = true;
}

static void climb(struct gather *g) {
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    enum lc_binomial_step step;
    int peer;
    while ((step = lc_binomial_next(&tree, &peer)) == LC_BINOMIAL_CHILD)
        take_child(g, peer);
    if (step == LC_BINOMIAL_PARENT)
        give_to_parent(g, peer);
}

static void descend(struct gather *g) {
    for (int k = g->n_children - 1; k >= 0; k--) {
        uint32_t *map = g->maps[k];
        size_t n = map != NULL && !g->failed ? g->n_maps[k] : 0;
        for (size_t i = 0; i < n; i++)
            map[i] = g->to_root != NULL ? g->to_root[map[i]] : map[i];
        send_bytes(map, n * sizeof(uint32_t), g->children[k], TAG_DOWN);
    }
}

/* What rank 0 has, on every rank, in pieces: a rank without memory for it takes part all the same.
 * NULL: nothing. */
static void *share_bytes(void *bytes, size_t *n_bytes) {
    uint64_t length = *n_bytes;
    lc_real.Bcast(&length, 8, MPI_BYTE, 0, lc_core.comm);
    if (lc_core.rank != 0)
        bytes = length > 0 ? malloc(length) : NULL;
    for (uint64_t done = 0; done < length; done += PIECE)
        lc_real.Bcast(bytes != NULL ? (char *)bytes + done : room.waste,
                      (int)piece_of(length, done), MPI_BYTE, 0, lc_core.comm);
    *n_bytes = bytes != NULL ? length : 0;
    return bytes;
}

/* The names of the whole, on every rank: ids of hosts and metrics. */
static struct lc_raw *share_names(const struct gather *g) {
    struct lc_raw *names = NULL;
    void *bytes = NULL;
    size_t n_bytes = 0;
    if (lc_core.rank == 0 && g->whole != NULL && lc_raw_new(&names) == LC_OK) {
        for (size_t i = 0; i < g->whole->n_names; i++)
            lc_raw_add_name(names, g->whole->names[i], &(uint32_t){0});
        if (lc_raw_pack(names, 0, &bytes, &n_bytes) != LC_OK)
            n_bytes = 0;
        lc_raw_free(names);
        names = NULL;
    }
    bytes = share_bytes(bytes, &n_bytes);
    if (bytes != NULL && lc_raw_unpack(&names, bytes, n_bytes) != LC_OK)
        names = NULL;
    free(bytes);
    return names;
}

static uint32_t root_name(struct gather *g, struct lc_raw *names, uint32_t own) {
    uint32_t id = 0;
    size_t before = names->n_names;
    if (own >= g->own->n_names || lc_raw_add_name(names, g->own->names[own], &id) != LC_OK ||
        names->n_names != before)
        g->failed = true; /* rank 0 did not get this name */
    return id;
}

/* All locations come to rank 0 in the order of ranks; names are those of rank 0. */
static void share_locations(struct gather *g, struct lc_raw *names) {
    int n = 0, first = 0, total = 0;
    struct lc_raw_location *mine = NULL, *all = NULL;
    int *counts = NULL, *places = NULL;
    if (names == NULL || g->own == NULL)
        g->failed = true;
    if (!g->failed) {
        n = (int)g->own->n_locations;
        mine = g->own->locations;
        for (int i = 0; i < n; i++)
            mine[i].host = root_name(g, names, mine[i].host);
    }
    if (g->failed)
        n = 0;
    lc_real.Exscan(&n, &first, 1, MPI_INT, MPI_SUM, lc_core.comm);
    g->first_location = lc_core.rank == 0 ? 0 : (uint32_t)first;
    if (lc_core.rank == 0) {
        counts = calloc((size_t)lc_core.size, sizeof *counts);
        places = calloc((size_t)lc_core.size, sizeof *places);
        if (counts == NULL || places == NULL)
            g->failed = true;
    }
    int bytes = n * (int)sizeof *mine;
    if (!lc_on_first(!g->failed)) {
        g->failed = true;
        goto out;
    }
    lc_real.Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, lc_core.comm);
    for (int r = 0; places != NULL && counts != NULL && r < lc_core.size; r++) {
        places[r] = total;
        total += counts[r];
    }
    if (lc_core.rank == 0)
        all = malloc((size_t)total + 1);
    if (!lc_on_first(all != NULL)) {
        g->failed = true;
        goto out;
    }
    lc_real.Gatherv(mine, bytes, MPI_BYTE, all, counts, places, MPI_BYTE, 0, lc_core.comm);
    for (size_t i = 0; lc_core.rank == 0 && i < (size_t)total / sizeof *all; i++)
        lc_raw_add_location(g->whole, &all[i], &(uint32_t){0});
out:
    free(all);
    free(counts);
    free(places);
}

/* Own rows and values, in the ids of rank 0. */
static void renumber(struct gather *g, struct lc_raw *names) {
    if (g->failed)
        return;
    for (size_t i = 0; i < g->own->n_rows; i++) {
        struct lc_raw_row *row = &g->own->rows[i];
        uint32_t node = g->to_whole[row->node];
        row->node = g->to_root != NULL ? g->to_root[node] : node;
        row->location += g->first_location;
    }
    for (size_t i = 0; i < g->own->n_values; i++) {
        struct lc_raw_value *value = &g->own->values[i];
        uint32_t node = g->to_whole[value->node];
        value->node = g->to_root != NULL ? g->to_root[node] : node;
        value->location += g->first_location;
        value->metric = root_name(g, names, value->metric);
    }
}

/* Slice k of the own rows (and, in the first, the values), packed; 0 bytes: no more. */
static size_t pack_slice(const struct gather *g, size_t k, void **bytes) {
    size_t n_bytes = 0, from = k * SLICE_ROWS;
    *bytes = NULL;
    if (g->failed || g->own == NULL || (from >= g->own->n_rows && k > 0))
        return 0;
    struct lc_raw slice = {0};
    slice.rows = g->own->rows + (g->own->n_rows > 0 ? from : 0);
    slice.n_rows = g->own->n_rows - from < SLICE_ROWS ? g->own->n_rows - from : SLICE_ROWS;
    if (k == 0) {
        slice.values = g->own->values;
        slice.n_values = g->own->n_values;
    }
    if (lc_raw_pack(&slice, 1, bytes, &n_bytes) != LC_OK)
        return 0;
    return n_bytes;
}

/* Where the stream of rows goes: to the parent in the tree, on rank 0 to the file. */
struct outlet {
    int parent, fd;
    bool ok;
};

static void send_piece(void *user, const struct lc_piece *piece) {
    struct outlet *outlet = user;
    if (lc_core.rank != 0)
        lc_real.Send(piece, LC_PIECE_HEAD + (int)piece->length, MPI_BYTE, outlet->parent, TAG_ROWS,
                     lc_core.comm);
    else
        outlet->ok = outlet->ok && lc_write_all(outlet->fd, piece->bytes, piece->length);
}

/* The rows of this rank and of those below it in the tree. */
static bool pass_rows(const struct gather *g, int fd) {
    struct lc_pieces *out = &room.rows.out;
    struct lc_piece *in = &room.rows.in;
    struct outlet outlet = {.parent = lc_binomial_parent(lc_core.rank), .fd = fd, .ok = true};
    struct lc_binomial tree = lc_binomial_of(lc_core.rank, lc_core.size);
    void *bytes;
    size_t n_bytes;
    int child;
    lc_pieces_begin(out, send_piece, &outlet);
    for (size_t k = 0; (n_bytes = pack_slice(g, k, &bytes)) > 0; k++) {
        lc_pieces_put(out, bytes, n_bytes);
        free(bytes);
    }
    while (lc_binomial_next(&tree, &child) == LC_BINOMIAL_CHILD)
        do {
            lc_real.Recv(in, (int)sizeof *in, MPI_BYTE, child, TAG_ROWS, lc_core.comm,
                         MPI_STATUS_IGNORE);
            lc_pieces_put(out, in->bytes, in->length);
        } while (!in->last);
    lc_pieces_end(out);
    return outlet.ok;
}

static void write_file(struct gather *g, struct lc_strbuf *facts) {
    char path[4096];
    struct lc_outfile file;
    snprintf(path, sizeof path, "%s/.profile.raw", lc_core.dir);
    bool opened = lc_outfile_open(&file, path) == LC_OK;
    int error = opened ? 0 : errno;
    void *bytes = NULL;
    size_t n_bytes = 0;
    bool ok = opened && !g->failed;
    if (g->whole != NULL) {
        size_t n_facts = facts->length;
        g->whole->facts = lc_strbuf_take(facts);
        g->whole->n_facts = g->whole->facts != NULL ? n_facts : 0;
    } else
        ok = false;
    if (ok && lc_raw_pack(g->whole, 1, &bytes, &n_bytes) != LC_OK)
        ok = false;
    if (ok && !lc_write_all(file.fd, bytes, n_bytes)) {
        error = errno;
        ok = false;
    }
    free(bytes);
    errno = 0;
    ok = pass_rows(g, ok ? file.fd : -1) && ok; /* in any case: the others send theirs */
    if (!ok && error == 0)
        error = errno;
    if (ok && lc_outfile_commit(&file) == LC_OK)
        return;
    if (ok)
        error = errno;
    else if (opened)
        lc_outfile_abandon(&file);
    lc_say_once("profile: %s: %s", path, error != 0 ? strerror(error) : "no memory");
}

/* On rank 0: those of all ranks, and of the clocks. */
static void gather_facts(struct lc_strbuf *facts) {
    struct lc_rank_own own, *all = NULL;
    lc_rank_facts_fill(&own);
    if (lc_core.rank == 0)
        all = calloc((size_t)lc_core.size, sizeof *all);
    if (lc_on_first(all != NULL)) {
        lc_real.Gather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, 0,
                       lc_core.comm);
        if (lc_core.rank == 0)
            lc_rank_facts_put(all, lc_core.size, facts);
    }
    const struct lc_strbuf *clocks = lc_clocks_facts();
    if (lc_strbuf_ok(clocks))
        lc_strbuf_add(facts, lc_strbuf_get(clocks), clocks->length);
    free(all);
}

static enum lc_err prepare(struct gather *g) {
    LC_TRY(lc_raw_new(&g->own));
    LC_TRY(lc_raw_new(&g->whole));
    LC_TRY(lc_state_snapshot(lc_core.base, lc_core.bytes, lc_core.state->end_ns, g->own));
    LC_TRY(lc_raw_merge_nodes(g->whole, g->own, &g->to_whole));
    for (size_t i = 0; i < g->own->n_names; i++)
        LC_TRY(lc_raw_add_name(g->whole, g->own->names[i], &(uint32_t){0}));
    return LC_OK;
}

/* --- the last of our own messages, before MPI's own MPI_Finalize
 *
 * MPICH (4.0) over UCX and TCP ends with a flush of each connection that this process has sent
 * through, which the other end must acknowledge, and then with a barrier of the launcher (PMI), in
 * which nobody acknowledges anything. A rank that enters the barrier before another one has asked
 * for its acknowledgement leaves that one waiting for good. Programs do so on their own (about half
 * of the runs of "MPI_Barrier, MPI_Finalize" of 4 ranks on 3 hosts hang), but one that sent nothing
 * must not because of us. So the last exchange is made such that it hardly happens:
 *   1. every pair has sent in both directions, so that nobody is through before it has received
 *      from everybody;
 *   2. nobody answers between the last message and the begin of MPI_Finalize (all are asleep, for
 *      longer than it takes to leave the last operation), so that whoever is answered
 *      knows that the other one has entered, too;
 *   3. a rank that enters asks on all connections before it answers. Its question precedes its
 *      answer on the same connection, so it is read, and answered, before the other one is through.
 */
enum { PART_TAG = 0x4c34, PART_RANKS_MAX = 1024, PART_QUIET_MS = 20 };

static bool needs_it(void) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (!lc_core.agreed || !lc_core.several_nodes || lc_core.size > PART_RANKS_MAX)
        return false;
    lc_real.Get_library_version(library, &length);
    return strstr(library, "MPICH") != NULL && strstr(library, "ucx") != NULL;
}

static void each_with_each(void) {
    int n = lc_core.size, me = lc_core.rank;
    for (int k = 1; k < n; k++) {
        char out = 0, in = 0;
        lc_real.Sendrecv(&out, 1, MPI_BYTE, (me + k) % n, PART_TAG, &in, 1, MPI_BYTE,
                         (me - k + n) % n, PART_TAG, lc_core.comm, MPI_STATUS_IGNORE);
    }
}

static void last_barrier(void) {
    if (!needs_it())
        return;
    each_with_each();
    lc_real.Barrier(lc_core.comm);
    nanosleep(&(struct timespec){.tv_nsec = PART_QUIET_MS * 1000000L}, NULL);
}

static void write_profile(void) {
    if (!lc_core.agreed) { /* its parent saves what there is */
        atomic_store_explicit(&lc_core.state->ending, LC_ENDING_ALONE, memory_order_release);
        return;
    }
    struct gather g = {0};
    uint32_t *maps[32] = {0};
    size_t n_maps[32] = {0};
    g.maps = maps;
    g.n_maps = n_maps;
    g.failed = prepare(&g) != LC_OK;
    climb(&g);
    descend(&g);
    struct lc_raw *names = share_names(&g);
    share_locations(&g, names);
    if (names != NULL)
        renumber(&g, names);
    struct lc_strbuf facts = {0};
    gather_facts(&facts);
    if (lc_core.rank == 0)
        write_file(&g, &facts);
    else
        pass_rows(&g, -1);
    if (g.failed && lc_core.rank != 0)
        lc_say_once("profile: no memory: rank %d is not in it", lc_core.rank);
    atomic_store_explicit(&lc_core.state->ending, LC_ENDING_FINALIZE, memory_order_release);
    lc_strbuf_free(&facts);
    lc_raw_free(names);
    lc_raw_free(g.own);
    lc_raw_free(g.whole);
    free(g.to_whole);
    free(g.to_root);
    for (int k = 0; k < g.n_children; k++)
        free(maps[k]);
    last_barrier();
    lc_real.Comm_free(&lc_core.comm);
}

const struct lc_part lc_profile_part = {.write = write_profile};
