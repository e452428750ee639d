#include "analyze/event_store.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

/* Address space, not memory: the file grows as room is taken. MOST_TOUCHED: pages that may be
 * mapped between two rests. */
static const size_t most_room = (size_t)1 << 40, most_touched = (size_t)96 << 20;

struct lc_event_store {
    int fd;
    char *base;
    size_t room, used, touched;
};

static int open_unnamed(const char *beside) {
    char *name;
    if (asprintf(&name, "%s.events-XXXXXX", beside) < 0)
        return -1;
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    free(name);
    return fd;
}

/* Files may be limited in size; address space, too: then with less of it. */
static void map(struct lc_event_store *store) {
    struct rlimit limit;
    store->room = most_room;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < store->room)
        store->room = limit.rlim_cur;
    void *base = MAP_FAILED;
    while (base == MAP_FAILED && store->room >= most_touched) {
        base = mmap(NULL, store->room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                    store->fd, 0);
        if (base == MAP_FAILED)
            store->room /= 4;
    }
    store->base = base == MAP_FAILED ? NULL : base;
}

enum lc_err lc_event_store_open(struct lc_event_store **store, const char *beside) {
    LC_TRY(lc_alloc(store, 1, sizeof **store));
    (*store)->fd = open_unnamed(beside);
    if ((*store)->fd >= 0)
        map(*store);
    if ((*store)->base != NULL)
        return LC_OK;
    enum lc_err err = lc_fail_errno(LC_ERR_IO, "%s: no file for events beside it", beside);
    lc_event_store_close(*store);
    *store = NULL;
    return err;
}

void lc_event_store_close(struct lc_event_store *store) {
    if (store == NULL)
        return;
    if (store->base != NULL)
        munmap(store->base, store->room);
    if (store->fd >= 0)
        close(store->fd);
    free(store);
}

void *lc_event_store_take(struct lc_event_store *store, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    /* The blocks are there before they are written to: a full disk must not become a signal. */
    if (store == NULL || bytes == 0 || whole < bytes || whole > store->room - store->used ||
        posix_fallocate(store->fd, (off_t)store->used, (off_t)whole) != 0)
        return NULL;
    void *memory = store->base + store->used;
    store->used += whole;
    return memory;
}

bool lc_event_store_has(const struct lc_event_store *store, const void *memory) {
    return store != NULL && (const char *)memory >= store->base &&
           (const char *)memory < store->base + store->used;
}

void lc_event_store_move(struct lc_event_store *store, void *array, size_t bytes) {
    void **at = array, *moved = lc_event_store_take(store, bytes);
    if (moved == NULL)
        return;
    memcpy(moved, *at, bytes);
    free(*at);
    *at = moved;
    lc_event_store_touched(store, bytes);
}

void lc_event_store_rest(struct lc_event_store *store) {
    if (store == NULL || store->used == 0)
        return;
    madvise(store->base, store->used, MADV_DONTNEED);
    store->touched = 0;
}

void lc_event_store_touched(struct lc_event_store *store, size_t bytes) {
    if (store == NULL)
        return;
    store->touched += bytes;
    if (store->touched > most_touched)
        lc_event_store_rest(store);
}
