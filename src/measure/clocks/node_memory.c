/* Nodes, and the shared memory between the ranks of one: every rank makes an area, the others open
 * it through /proc. Nothing has a name in a file system, so nothing can be left behind. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "measure/clocks/clocks.h"
#include "measure/clocks/clocks_hooks.h"
#include "measure/clocks/global_time.h"
#include "measure/core/core.h"
#include "piggyback/area.h"
#include "measure/core/state_write.h"

struct lc_hello {     /* what ranks tell each other */
    uint64_t machine; /* equal where /proc shows each other's files */
    int32_t pid, fd;
};

static uint64_t machine_key(void) {
    char id[64] = "";
    struct stat space = {.st_ino = 0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, id, sizeof id - 1) < 0)
            id[0] = 0;
        close(fd);
    }
    stat("/proc/self/ns/pid", &space);
    return lc_hash_text(LC_HASH_BEGIN, id) ^ lc_hash_key((uint64_t)space.st_ino);
}

static void number_nodes(const struct lc_hello *all) {
    const char *test = lc_option("LATECOMER_TEST_NODES");
    long nodes = test != NULL ? strtol(test, NULL, 10) : 0;
    if (nodes > 1) {
        if ((uint32_t)nodes > lc_clk.size)
            nodes = (long)lc_clk.size;
        for (uint32_t i = 0; i < lc_clk.size; i++)
            lc_clk.node_of[i] = (uint32_t)((uint64_t)i * (uint64_t)nodes / lc_clk.size);
        lc_clk.n_nodes = (uint32_t)nodes;
    } else {
        for (uint32_t i = 0; i < lc_clk.size; i++) {
            uint32_t j = 0;
            while (all[j].machine != all[i].machine)
                j++;
            lc_clk.node_of[i] = j < i ? lc_clk.node_of[j] : lc_clk.n_nodes++;
        }
    }
    lc_clk.node = lc_clk.node_of[lc_clk.rank];
}

static bool make_area(size_t bytes) {
    int fd = lc_limits_file(bytes) && lc_limits_memory(bytes)
                 ? memfd_create("latecomer-clocks", MFD_CLOEXEC)
                 : -1;
    if (fd < 0)
        return false;
    void *memory = ftruncate(fd, (off_t)bytes) == 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                                           MAP_SHARED | MAP_NORESERVE, fd, 0)
                                                    : MAP_FAILED;
    if (memory == MAP_FAILED) {
        close(fd);
        return false;
    }
    lc_clk.memory_fd = fd;
    lc_area_init(&lc_clk.mine, memory, bytes, lc_clk.rank, lc_clk.size);
    return true;
}

static bool map_peer(uint32_t rank, const struct lc_hello *hello, size_t bytes) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", hello->pid, hello->fd);
    int fd = hello->fd >= 0 && lc_limits_memory(bytes) ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return false;
    if (lc_area_attach(&lc_clk.areas[rank], memory, bytes, lc_clk.size))
        return true;
    munmap(memory, bytes);
    return false;
}

static void unmap_peers(void) {
    for (uint32_t i = 0; i < lc_clk.size; i++)
        if (i != lc_clk.rank && lc_clk.areas[i].head != NULL) {
            munmap(lc_clk.areas[i].head, lc_clk.areas[i].bytes);
            lc_clk.areas[i].head = NULL;
        }
}

/* Deep nodes go to the node 16 levels below the root, then 8, 4, 2 and 1: whatever is small meets
 * others of its kind after few steps. */
static uint32_t outer_depth(uint32_t depth) {
    uint32_t level = 16;
    while (level > 0 && level >= depth)
        level /= 2;
    return level;
}

void lc_clocks_path(uint32_t node) {
    const struct lc_state_node *nodes = lc_state_nodes();
    enum { DEEPEST = 512 }; /* more than a path has items */
    uint32_t chain[DEEPEST], n = 0;
    if (lc_clk.mine.head == NULL)
        return;
    for (; node != LC_NONE && node != 0 && n < DEEPEST; node = nodes[node].parent)
        chain[n++] = node;
    for (uint32_t i = 0; node == 0 && i < n; i++) { /* chain[n - depth]: the node at this depth */
        uint32_t level = outer_depth(n - i);
        uint32_t outer = level > 0 ? chain[n - level] : 0;
        if (lc_area_outer(&lc_clk.mine, chain[i]) == outer && outer != 0)
            return; /* and so are those around it */
        lc_area_set_outer(&lc_clk.mine, chain[i], outer);
    }
}

static void tell_paths(void) {
    pthread_mutex_lock(&lc_core.lock);
    uint32_t n = atomic_load_explicit(&lc_core.state->nodes.count, memory_order_relaxed);
    for (uint32_t node = 1; node < n; node++)
        lc_clocks_path(node);
    pthread_mutex_unlock(&lc_core.lock);
}

/* Rings and logs between all ranks of a node, or between none: a pair must agree on the transport.
 */
bool lc_clk_memory(void) {
    const char *transport = lc_option("LATECOMER_TRANSPORT");
    bool share = transport == NULL || strcmp(transport, "mpi") != 0;
    lc_clk.records = transport == NULL || strcmp(transport, "shm") != 0;
    size_t bytes = lc_area_size(lc_clk.size);
    struct lc_hello mine = {.machine = machine_key(), .pid = getpid(), .fd = -1}, *all = NULL;
    bool ok = lc_alloc(&all, lc_clk.size, sizeof *all) == LC_OK &&
              lc_alloc(&lc_clk.node_of, lc_clk.size, sizeof *lc_clk.node_of) == LC_OK &&
              lc_alloc(&lc_clk.areas, lc_clk.size, sizeof *lc_clk.areas) == LC_OK &&
              lc_alloc(&lc_clk.outs, lc_clk.size, sizeof *lc_clk.outs) == LC_OK && make_area(bytes);
    if (!lc_on_all(ok, lc_core.comm)) {
        free(all);
        return false;
    }
    mine.fd = lc_clk.memory_fd;
    lc_real.Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, lc_core.comm);
    number_nodes(all);
    lc_clk.areas[lc_clk.rank] = lc_clk.mine;
    tell_paths();
    for (uint32_t i = 0; share && i < lc_clk.size; i++)
        if (i != lc_clk.rank && lc_clk.node_of[i] == lc_clk.node && all[i].machine == mine.machine)
            ok = map_peer(i, &all[i], bytes) && ok;
    free(all);
    if (!lc_on_all(ok, lc_core.comm))
        unmap_peers();
    close(lc_clk.memory_fd);
    lc_clk.memory_fd = -1;
    return true;
}
