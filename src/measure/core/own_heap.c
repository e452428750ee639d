/* The heap of the measurement library: memory from mappings of its own, none of the program's.
 *
 * A program can tell where its own allocations lie: Open MPI's MPI_Win_attach has room for 32
 * regions and joins those that lie side by side, so a few blocks of ours between the program's make
 * it fail; and a program that walks over the end of a block must do to itself what it does without
 * the tool. The linker turns every malloc, calloc, realloc, aligned_alloc, strdup and free of this
 * library into those below (--wrap); what libc allocates for itself (fopen) stays libc's.
 *
 * Nouns
 *   block   a header and what the caller gets; of one size class, and on its free list when free
 *   region  a mapping from which blocks are cut, never given back; each is twice as large as the
 *           last one, up to REGION_MAX
 *   large   a block that is a mapping of its own
 * Cost: one uncontended lock, a list head. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

enum {
    STEP = 16, /* of the small classes, and alignment of everything */
    SMALL = 512,
    N_SMALL = SMALL / STEP,
    PER_DOUBLING = 4,
    LARGEST_SHIFT = 20, /* classes up to 1 MiB */
    N_CLASSES = N_SMALL + (LARGEST_SHIFT - 9) * PER_DOUBLING,
    LARGE = 0xffff,  /* in place of a class */
    INSIDE = 0xfffe, /* aligned: begins inside another block */
    REGION_FIRST = 256 << 10,
    REGION_MAX = 4 << 20
};

struct header {     /* before what the caller gets */
    uint64_t bytes; /* LARGE: of the mapping; INSIDE: distance to the block's; else room */
    uint32_t class;
    uint32_t unused;
};
_Static_assert(sizeof(struct header) == STEP, "keeps the alignment");

struct free_block {
    struct free_block *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct free_block *free_blocks[N_CLASSES];
static char *region, *region_end;
static size_t next_region = REGION_FIRST;

/* Classes: every 16 bytes up to 512, then four per doubling. */
static uint32_t class_of(size_t bytes, size_t *room) {
    if (bytes <= SMALL) {
        size_t steps = bytes == 0 ? 1 : (bytes + STEP - 1) / STEP;
        *room = steps * STEP;
        return (uint32_t)steps - 1;
    }
    unsigned shift = 63u - (unsigned)__builtin_clzll((uint64_t)bytes - 1); /* 2^shift < bytes */
    size_t step = (size_t)1 << (shift - 2);
    size_t quarter = (bytes - 1 - ((size_t)1 << shift)) / step;
    *room = ((size_t)1 << shift) + (quarter + 1) * step;
    return N_SMALL + (shift - 9) * PER_DOUBLING + (uint32_t)quarter;
}

static void *map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static void *large(size_t bytes) {
    size_t total = (bytes + sizeof(struct header) + 4095) & ~(size_t)4095;
    struct header *h = total > bytes ? map(total) : NULL;
    if (h == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    h->bytes = total;
    h->class = LARGE;
    return h + 1;
}

/* With the lock held. */
static struct header *cut(size_t total) {
    if ((size_t)(region_end - region) < total) {
        size_t bytes = next_region > total ? next_region : total;
        char *fresh = map(bytes);
        if (fresh == NULL)
            return NULL;
        region = fresh;
        region_end = fresh + bytes;
        if (next_region < REGION_MAX)
            next_region *= 2;
    }
    struct header *h = (struct header *)region;
    region += total;
    return h;
}

/* *fresh: never used before, so zero. */
static void *take(size_t bytes, int *fresh) {
    *fresh = 1;
    if (bytes > (size_t)1 << LARGEST_SHIFT)
        return large(bytes);
    size_t room;
    uint32_t class = class_of(bytes, &room);
    pthread_mutex_lock(&lock);
    struct free_block *block = free_blocks[class];
    if (block != NULL) {
        free_blocks[class] = block->next;
        *fresh = 0;
        pthread_mutex_unlock(&lock);
        return block;
    }
    struct header *h = cut(sizeof *h + room);
    pthread_mutex_unlock(&lock);
    if (h == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    h->bytes = room;
    h->class = class;
    return h + 1;
}

void *__wrap_malloc(size_t bytes) {
    int fresh;
    return take(bytes, &fresh);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    size_t total;
    int fresh;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = take(total, &fresh);
    if (memory != NULL && !fresh)
        memset(memory, 0, total);
    return memory;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    int fresh;
    if (alignment <= STEP)
        return take(bytes, &fresh);
    char *memory = take(bytes + alignment, &fresh);
    if (memory == NULL)
        return NULL;
    char *aligned = (char *)(((uintptr_t)memory + alignment) & ~(uintptr_t)(alignment - 1));
    struct header *h = (struct header *)aligned - 1; /* at least STEP bytes lie between */
    h->bytes = (uint64_t)(aligned - memory);
    h->class = INSIDE;
    return aligned;
}

void __wrap_free(void *memory) {
    if (memory == NULL)
        return;
    struct header *h = (struct header *)memory - 1;
    if (h->class == INSIDE) {
        memory = (char *)memory - h->bytes;
        h = (struct header *)memory - 1;
    }
    if (h->class == LARGE) {
        munmap(h, h->bytes);
        return;
    }
    struct free_block *block = memory;
    pthread_mutex_lock(&lock);
    block->next = free_blocks[h->class];
    free_blocks[h->class] = block;
    pthread_mutex_unlock(&lock);
}

static size_t room_of(const void *memory) {
    const struct header *h = (const struct header *)memory - 1;
    size_t before = h->class == INSIDE ? h->bytes : 0;
    if (before > 0)
        h = (const struct header *)((const char *)memory - before) - 1;
    return (h->class == LARGE ? h->bytes - sizeof *h : h->bytes) - before;
}

void *__wrap_realloc(void *old, size_t bytes) {
    if (old == NULL)
        return __wrap_malloc(bytes);
    size_t room = room_of(old);
    if (bytes <= room && bytes > room / 4)
        return old;
    void *fresh = __wrap_malloc(bytes);
    if (fresh == NULL)
        return NULL;
    memcpy(fresh, old, bytes < room ? bytes : room);
    __wrap_free(old);
    return fresh;
}

char *__wrap_strdup(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = __wrap_malloc(bytes);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}
