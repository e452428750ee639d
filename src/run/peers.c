/* The states of all ranks of this node, mapped here, so that this process can save them when
 * programs die. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "format/state.h"
#include "run/run.h"
#include "symbols/symbols.h"

static bool map_state(struct lc_mapped_state *state, int fd) {
    struct stat status;
    state->header = NULL;
    if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(struct lc_state_header))
        return false;
    state->bytes = (size_t)status.st_size;
    void *map = mmap(NULL, state->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED)
        return false;
    state->header = map;
    if (state->header->magic == LC_STATE_MAGIC)
        return true;
    munmap(map, state->bytes);
    state->header = NULL;
    return false;
}

static bool map_peer(struct lc_mapped_state *state, int pid, int fd_number) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd_number);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool mapped = map_state(state, fd);
    close(fd);
    return mapped;
}

static int compare_states(const void *a, const void *b) {
    const struct lc_mapped_state *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Maps those that the own state names; its table is written by the program, so it is taken with
 * care. */
static void map_named(struct lc_peers *peers, const struct lc_mapped_state *own, int own_fd) {
    const struct lc_state_header *header = own->header;
    uint32_t count = atomic_load_explicit(&header->peers.count, memory_order_acquire);
    uint64_t offset = header->peers.offset;
    if (offset > own->bytes || count > (own->bytes - offset) / sizeof(struct lc_state_peer) ||
        lc_alloc(&peers->states, (size_t)count + 1, sizeof peers->states[0]) != LC_OK)
        return;
    const struct lc_state_peer *table =
        (const struct lc_state_peer *)((const char *)header + offset);
    for (uint32_t i = 0; i < count; i++) {
        struct lc_mapped_state *state = &peers->states[peers->n_states];
        state->rank = table[i].rank;
        state->pid = table[i].pid;
        if (table[i].pid == getpid() && table[i].fd == own_fd)
            *state = (struct lc_mapped_state){own->header, own->bytes, table[i].rank, table[i].pid};
        else if (table[i].pid <= 0 || !map_peer(state, table[i].pid, table[i].fd))
            continue;
        peers->n_states++;
    }
}

/* Scripts remove the copy of a program that they ran, and builds replace it. */
static void keep_program_file(const struct lc_state_header *header) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)atomic_load(&header->pid));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !lc_symbols_keep_file(fd))
        close(fd);
}

void lc_peers_map(struct lc_run *run) {
    struct lc_mapped_state own = {.rank = run->launch.rank, .pid = getpid()};
    lc_peers_free(&run->peers);
    if (!map_state(&own, run->state_fd))
        return;
    own.rank = own.header->rank >= 0 ? own.header->rank : run->launch.rank;
    map_named(&run->peers, &own, run->state_fd);
    struct lc_peers *peers = &run->peers;
    bool found = false;
    for (size_t i = 0; i < peers->n_states; i++)
        found = found || peers->states[i].header == own.header;
    if (!found) {
        if (peers->states == NULL && lc_alloc(&peers->states, 1, sizeof own) != LC_OK) {
            munmap(own.header, own.bytes);
            return;
        }
        peers->states[peers->n_states++] = own;
    }
    qsort(peers->states, peers->n_states, sizeof peers->states[0], compare_states);
    for (peers->own = 0; peers->states[peers->own].header != own.header;)
        peers->own++;
    for (size_t i = 0; i < peers->n_states; i++)
        keep_program_file(peers->states[i].header);
    atomic_store(&own.header->has_file, 1);
    lc_run_follow(run);
}

void lc_peers_free(struct lc_peers *peers) {
    for (size_t i = 0; i < peers->n_states; i++)
        munmap(peers->states[i].header, peers->states[i].bytes);
    free(peers->states);
    *peers = (struct lc_peers){0};
}
