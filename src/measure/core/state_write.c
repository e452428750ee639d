#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/lookup.h"
#include "base/parents_file.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"
#include "measure/core/thread.h"

/* The writing side of state.h: this process's state, in the memory that the parent made
 * (LATECOMER_STATE=<pid>:<fd>), else in our own. */

/* Private index of the node table: children by (parent, kind, ref, offset). */
static struct lc_lookup node_index;

static const size_t sizes_mib[] = {256, 64, 16, 4, 1};

/* A program that locks its memory (mlockall) makes all of it real that can be touched: the rest of
 * the mapping cannot, until it is handed out. */
enum { USABLE_STEP_BYTES = 4 << 20 };
static _Atomic uint64_t usable_bytes; /* from the beginning */

static void *at(uint64_t offset) {
    return lc_core.base + offset;
}

static uint64_t place(uint64_t *cursor, uint64_t bytes) {
    uint64_t offset = (*cursor + 63) & ~63ull;
    *cursor = offset + bytes;
    return offset;
}

static void layout(struct lc_state_header *h, size_t bytes) {
    uint64_t cursor = sizeof *h;
    h->peers.capacity = 4096;
    h->peers.offset = place(&cursor, h->peers.capacity * sizeof(struct lc_state_peer));
    h->modules.capacity = 1024;
    h->modules.offset = place(&cursor, h->modules.capacity * sizeof(struct lc_state_module));
    h->threads.capacity = (uint32_t)(bytes >> 12 < 16384 ? bytes >> 12 : 16384);
    h->threads.offset = place(&cursor, h->threads.capacity * sizeof(struct lc_state_thread));
    h->names.capacity = (uint32_t)(bytes >> 10 < 65536 ? bytes >> 10 : 65536);
    h->names.offset = place(&cursor, h->names.capacity * sizeof(struct lc_state_name));
    h->text.capacity = (uint32_t)(bytes >> 5);
    h->text.offset = place(&cursor, h->text.capacity);
    h->nodes.capacity = (uint32_t)((bytes >> 3) / sizeof(struct lc_state_node));
    h->nodes.offset = place(&cursor, h->nodes.capacity * sizeof(struct lc_state_node));
    atomic_store_explicit(&h->used, (cursor + 4095) & ~4095ull, memory_order_relaxed);
    h->capacity = bytes;
}

static bool map_shared(int fd, size_t bytes) {
    void *map = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED)
        return false;
    if (ftruncate(fd, (off_t)bytes) != 0) {
        munmap(map, bytes);
        return false;
    }
    lc_core.base = map;
    lc_core.bytes = bytes;
    return true;
}

bool lc_state_make_usable(uint64_t offset, uint64_t bytes) {
    return mprotect(at(offset), bytes, PROT_READ | PROT_WRITE) == 0;
}

/* Everything before `end`. */
static bool make_usable_until(uint64_t end) {
    uint64_t have = atomic_load(&usable_bytes);
    if (end <= have)
        return true;
    uint64_t wanted = (end + USABLE_STEP_BYTES - 1) / USABLE_STEP_BYTES * USABLE_STEP_BYTES;
    wanted = wanted < lc_core.bytes ? wanted : lc_core.bytes;
    if (!lc_state_make_usable(0, wanted))
        return false;
    while (have < wanted && !atomic_compare_exchange_weak(&usable_bytes, &have, wanted))
        ;
    return true;
}

static bool lay_out(void) {
    struct lc_state_header *h = (struct lc_state_header *)lc_core.base;
    if (!make_usable_until(sizeof *h))
        return false;
    layout(h, lc_core.bytes);
    return make_usable_until(atomic_load(&h->used));
}

/* The name space of this process' number, 0: not known. */
static uint64_t pid_space(void) {
    struct stat space;
    return stat("/proc/self/ns/pid", &space) == 0 ? (uint64_t)space.st_ino : 0;
}

/* Whether the state is that of a process that has ended and never started MPI, and is empty now: a
 * script, or the program itself, ran a helper that asks which MPI there is (MPI 4.0, 11.4.1: what
 * may be called before MPI_Init), or the program asked that before it replaced itself (exec). */
static bool left_free(int fd, off_t bytes) {
    struct lc_state_header h;
    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.magic != LC_STATE_MAGIC ||
        h.init_ns != 0 || h.mpi[0] == '\0' ||
        (h.ending != LC_ENDING_NONE && h.ending != LC_ENDING_EXIT))
        return false;
    if (h.pid_space == 0 || h.pid_space != pid_space()) /* it may live, with another number here */
        return false;
    if (h.pid != getpid() && (kill(h.pid, 0) == 0 || errno != ESRCH))
        return false;
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, bytes) == 0;
}

static enum lc_err claim(int fd, size_t extra) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return lc_fail_errno(LC_ERR_SYSTEM, "measurement state");
    if (info.st_size != 0 && left_free(fd, info.st_size))
        return map_shared(fd, (size_t)info.st_size)
                   ? LC_OK
                   : lc_fail_errno(LC_ERR_NOMEM, "no address space for its state");
    if (info.st_size != 0)
        return lc_fail(LC_ERR_EXISTS, "another process of this command is measured already");
    size_t n = sizeof sizes_mib / sizeof *sizes_mib;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = (sizes_mib[i] << 20) + extra;
        if (lc_limits_file(bytes) && (lc_limits_memory(bytes) || i + 1 == n) &&
            map_shared(fd, bytes))
            return LC_OK;
    }
    return lc_fail(LC_ERR_NOMEM, "no address space for its state: limit of memory "
                                 "or file size (ulimit -v, -f)");
}

enum lc_err lc_state_create(size_t extra) {
    const char *dir = getenv("LATECOMER_DIR"), *parents = getenv("LATECOMER_STATE");
    int fd = lc_open_parents(parents, LC_PARENTS_MEMORY_LINK, O_RDWR);
    if (fd < 0 && parents != NULL && (dir == NULL || access(dir, W_OK) != 0))
        return lc_fail(LC_ERR_SYSTEM,
                       "`latecomer run` cannot be reached (it is another user's, or outside of the "
                       "container): put it right before the program");
    if (fd < 0) /* what MPI_Finalize writes is all that the parent gets */
        fd = (int)syscall(SYS_memfd_create, "latecomer", 1u /* MFD_CLOEXEC */);
    if (fd < 0)
        return lc_fail_errno(LC_ERR_SYSTEM, "no shared memory");
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
        ;
    enum lc_err err = claim(fd, extra);
    if (err == LC_OK && !lay_out())
        err = lc_fail_errno(LC_ERR_NOMEM, "no memory for its state");
    if (err == LC_OK) {
        struct lc_state_header *h = (struct lc_state_header *)lc_core.base;
        lc_core.state = h;
        h->version = LC_STATE_VERSION;
        h->header_bytes = sizeof *h;
        h->rank = h->size = -1;
        gethostname(h->host, sizeof h->host - 1);
        h->base_ticks = lc_timer.base_ticks;
        h->base_ns = lc_timer.base_ns;
        h->by_counter = lc_timer.by_counter;
        atomic_store_explicit(&h->text.count, 1, memory_order_relaxed); /* offset 0: "" */
        h->pid_space = pid_space();
        atomic_store_explicit(&h->pid, getpid(), memory_order_relaxed);
        lc_state_child(LC_NONE, LC_RAW_ROOT, 0, 0, 0, 0);
        atomic_thread_fence(memory_order_release); /* partner: lc_state_snapshot */
        h->magic = LC_STATE_MAGIC;
    }
    flock(fd, LOCK_UN);
    close(fd);
    return err;
}

static uint32_t add_text(const char *text) {
    struct lc_state_table *t = &lc_core.state->text;
    uint32_t used = atomic_load_explicit(&t->count, memory_order_relaxed);
    size_t bytes = strlen(text) + 1;
    if (bytes == 1)
        return 0;
    if (bytes > t->capacity - used)
        return LC_NONE;
    memcpy((char *)at(t->offset) + used, text, bytes);
    atomic_store_explicit(&t->count, used + (uint32_t)bytes, memory_order_release);
    return used;
}

uint32_t lc_state_add_name(const char *name) {
    struct lc_state_table *t = &lc_core.state->names;
    struct lc_state_name *names = at(t->offset);
    const char *text = at(lc_core.state->text.offset);
    uint32_t n = atomic_load_explicit(&t->count, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(text + names[i].text, name) == 0)
            return i;
    uint32_t offset = n < t->capacity ? add_text(name) : LC_NONE;
    if (offset == LC_NONE)
        return LC_NONE;
    names[n].text = offset;
    atomic_store_explicit(&t->count, n + 1, memory_order_release);
    return n;
}

void lc_state_set_program(const char *id) {
    struct lc_state_node *nodes = at(lc_core.state->nodes.offset);
    uint32_t name = lc_state_add_name(id);
    if (name != LC_NONE)
        nodes[0].ref = name + 1;
}

const char *lc_state_program(void) {
    uint32_t name = lc_state_nodes()[0].ref;
    return name > 0 ? lc_state_name_of(name - 1) : "";
}

uint32_t lc_state_add_module(const char *path, const char *build_id, uint64_t bias) {
    struct lc_state_table *t = &lc_core.state->modules;
    struct lc_state_module *modules = at(t->offset);
    const char *text = at(lc_core.state->text.offset);
    uint32_t n = atomic_load_explicit(&t->count, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (modules[i].bias == bias && strcmp(text + modules[i].path, path) == 0)
            return i;
    if (n == t->capacity)
        return LC_NONE;
    struct lc_state_module m = {add_text(path), add_text(build_id), bias};
    if (m.path == LC_NONE || m.build_id == LC_NONE)
        return LC_NONE;
    modules[n] = m;
    atomic_store_explicit(&t->count, n + 1, memory_order_release);
    return n;
}

static uint64_t hash_child(uint32_t parent, uint32_t kind, uint32_t ref, uint64_t offset) {
    return lc_hash_mix(lc_hash_key(parent + 1ull) ^ (offset + kind)) ^ ref;
}

uint32_t lc_state_child(uint32_t parent, uint32_t kind, uint32_t ref, uint32_t flags,
                        uint64_t offset, uint64_t site) {
    struct lc_state_table *t = &lc_core.state->nodes;
    struct lc_state_node *nodes = at(t->offset);
    uint32_t n = atomic_load_explicit(&t->count, memory_order_relaxed);
    uint64_t hash = hash_child(parent, kind, ref, offset);
    uint32_t known = LC_LOOKUP(&node_index, hash, i,
                               nodes[i].parent == parent && nodes[i].kind == kind &&
                                   nodes[i].ref == ref && nodes[i].offset == offset);
    if (known != LC_NONE) {
        nodes[known].flags |= flags;
        return known;
    }
    if (n == t->capacity) {
        atomic_fetch_add_explicit(&lc_core.state->lost, 1, memory_order_relaxed);
        return LC_NONE;
    }
    if (lc_lookup_add(&node_index, hash, n) != LC_OK)
        return LC_NONE;
    nodes[n] = (struct lc_state_node){.parent = parent,
                                      .kind = kind,
                                      .ref = ref,
                                      .flags = flags,
                                      .offset = offset,
                                      .call_site = site};
    atomic_store_explicit(&t->count, n + 1, memory_order_release);
    return n;
}

void *lc_state_take(size_t bytes, uint64_t *offset) {
    bytes = (bytes + 63) & ~(size_t)63;
    struct lc_state_header *h = lc_core.state;
    uint64_t from = atomic_fetch_add_explicit(&h->used, bytes, memory_order_relaxed);
    if (from > h->capacity || bytes > h->capacity - from || !make_usable_until(from + bytes)) {
        atomic_fetch_sub_explicit(&h->used, bytes, memory_order_relaxed);
        return NULL;
    }
    *offset = from;
    return at(from);
}

uint64_t lc_state_reserve(size_t bytes) {
    struct lc_state_header *h = lc_core.state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bytes = (bytes + page - 1) / page * page;
    uint64_t used = atomic_load(&h->used);
    if (used > h->capacity || bytes > h->capacity - used)
        return 0;
    h->capacity = (h->capacity - bytes) / page * page;
    return h->capacity;
}

struct lc_state_row *lc_state_row_take(struct lc_thread *t, uint32_t node, uint32_t key) {
    uint32_t n = t->chunk != NULL ? atomic_load_explicit(&t->chunk->n_rows, memory_order_relaxed)
                                  : LC_STATE_CHUNK_ROWS;
    if (n == LC_STATE_CHUNK_ROWS) {
        uint64_t offset = 0;
        struct lc_state_chunk *chunk = lc_state_take(LC_STATE_CHUNK_BYTES, &offset);
        if (chunk == NULL) {
            atomic_fetch_add_explicit(&lc_core.state->lost, 1, memory_order_relaxed);
            return t->spill_row;
        }
        chunk->thread = t->index;
        chunk->next = atomic_load_explicit(&t->state->chunks, memory_order_relaxed);
        t->chunk = chunk;
        atomic_store_explicit(&t->state->chunks, offset, memory_order_release);
        n = 0;
    }
    struct lc_state_row *row = (struct lc_state_row *)(t->chunk + 1) + n;
    row->node = node;
    row->size_class = (uint8_t)key;
    row->flags = (uint8_t)(key >> 8);
    row->comm_size = (uint16_t)(key >> 16);
    row->min = lc_raw_holds_numbers(row->size_class) ? 0 : UINT64_MAX;
    atomic_store_explicit(&t->chunk->n_rows, n + 1, memory_order_release);
    return row;
}

enum { NAMES_MAX = 65536, SLOTS = 2 * NAMES_MAX };

/* Both tables only grow, under lc_core.lock; look-ups take no lock: an id is stored (release) after
 * its record is complete. */
static struct lc_region_name *records;
static _Atomic uint32_t *slots; /* id + 1 */
static uint32_t n_records;

static bool tables_ready(void) {
    static _Atomic int ready;
    if (atomic_load_explicit(&ready, memory_order_acquire))
        return true;
    pthread_mutex_lock(&lc_core.lock);
    if (records == NULL) {
        records = calloc(NAMES_MAX, sizeof *records);
        slots = calloc(SLOTS, sizeof *slots);
    }
    bool ok = records != NULL && slots != NULL;
    atomic_store_explicit(&ready, ok, memory_order_release);
    pthread_mutex_unlock(&lc_core.lock);
    return ok;
}

static uint32_t hash_text(const char *text) {
    uint64_t hash = lc_hash_text(LC_HASH_BEGIN, text);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool matches(uint32_t id, uint64_t address, const char *name) {
    return address != 0 ? records[id].address == address
                        : records[id].address == 0 && records[id].text != NULL &&
                              strcmp(records[id].text, name) == 0;
}

static uint32_t region_new(uint64_t address, const char *name) {
    if (n_records == NAMES_MAX)
        return LC_NONE;
    struct lc_region_name *r = &records[n_records];
    r->address = address;
    if (address == 0) {
        r->text = strdup(name);
        r->name = r->text != NULL ? lc_state_add_name(name) : LC_NONE;
        if (r->name == LC_NONE) { /* asked for again, it is tried again */
            free(r->text);
            r->text = NULL;
            return LC_NONE;
        }
    }
    return n_records++;
}

static uint32_t region_get(uint64_t address, const char *name) {
    if (!tables_ready())
        return LC_NONE;
    uint32_t hash = address != 0 ? (uint32_t)(lc_hash_key(address) >> 32) : hash_text(name);
    uint32_t at = hash % SLOTS, found;
    while ((found = atomic_load_explicit(&slots[at], memory_order_acquire)) != 0) {
        if (matches(found - 1, address, name))
            return found - 1;
        at = (at + 1) % SLOTS;
    }
    pthread_mutex_lock(&lc_core.lock);
    uint32_t id = LC_NONE;
    while ((found = atomic_load_explicit(&slots[at], memory_order_relaxed)) != 0) {
        if (matches(found - 1, address, name)) {
            id = found - 1;
            break;
        }
        at = (at + 1) % SLOTS;
    }
    if (id == LC_NONE) {
        id = region_new(address, name);
        if (id != LC_NONE)
            atomic_store_explicit(&slots[at], id + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lc_core.lock);
    return id;
}

uint32_t lc_region_by_name(const char *name) {
    return region_get(0, name);
}

uint32_t lc_region_by_address(uint64_t address) {
    return region_get(address, "");
}

struct lc_region_name lc_region_get(uint32_t id) {
    return records[id];
}
