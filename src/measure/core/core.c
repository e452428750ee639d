#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <pthread.h>
#include <stddef.h>

#include "measure/core/core.h"
#include "base/hot_data.h"
#include "measure/core/thread.h"

LC_HOT_DATA struct lc_core lc_core = {
    .rank = -1, .size = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .comm = MPI_COMM_NULL};

/* The stub takes the options out of the program's environment, so that what it starts sees none. */
static char **options;

void lc_options_keep(void) {
    size_t n = 0, kept = 0;
    while (environ[n] != NULL)
        n++;
    options = calloc(n + 1, sizeof *options);
    for (size_t i = 0; i < n && options != NULL; i++)
        if (strncmp(environ[i], "LATECOMER_", 10) == 0 &&
            (options[kept] = strdup(environ[i])) != NULL)
            kept++;
}

const char *lc_option(const char *name) {
    size_t length = strlen(name);
    for (char **at = options; at != NULL && *at != NULL; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return NULL;
}

void lc_say_once(const char *format, ...) {
    static _Atomic int said;
    char line[512] = "latecomer: ";
    int saved = errno;
    if (lc_option("LATECOMER_QUIET") != NULL || atomic_exchange(&said, 1))
        return;
    size_t n = strlen(line);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + n, sizeof line - n - 1, format, // NOLINT(clang-analyzer-valist.*)
                         args);
    va_end(args);
    n += more < 0 ? 0 : (size_t)more < sizeof line - n - 1 ? (size_t)more : sizeof line - n - 2;
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        errno = 0; /* a closed standard error is the program's business */
    errno = saved;
}

bool lc_limits_file(uint64_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

/* Bytes of address space in use; 0: unknown. */
static uint64_t used_bytes(void) {
    char text[64];
    unsigned long long pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%llu", &pages) != 1)
        return 0;
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t lc_limits_room(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t used = used_bytes();
    return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

bool lc_limits_memory(size_t bytes) {
    uint64_t room = lc_limits_room();
    return room == UINT64_MAX || bytes <= room / 64;
}

bool lc_write_all(int fd, const void *bytes, size_t n_bytes) {
    const char *at = bytes;
    struct stat file;
    if (fstat(fd, &file) == 0 && !lc_limits_file((uint64_t)file.st_size + n_bytes)) {
        errno = EFBIG;
        return false;
    }
    while (n_bytes > 0) {
        ssize_t n = write(fd, at, n_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            return false;
        }
        at += n;
        n_bytes -= (size_t)n;
    }
    return true;
}

void lc_mode_change(uint32_t clear, uint32_t set) {
    pthread_mutex_lock(&lc_core.lock);
    lc_core.mode = (lc_core.mode & ~clear) | (set & ~(uint32_t)LC_MODE_FLUSH);
    for (struct lc_thread *t = lc_core.threads; t != NULL; t = t->next) {
        atomic_fetch_and_explicit(&t->mode, ~clear, memory_order_relaxed);
        atomic_fetch_or_explicit(&t->mode, set, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lc_core.lock);
}

static const struct lc_part *const none[] = {NULL};
static const struct lc_part *const *parts = none;
static size_t n_parts;

void lc_parts_register(const struct lc_part *const *all) {
    parts = all;
    while (parts[n_parts] != NULL)
        n_parts++;
}

static bool takes_part(const struct lc_part *part, const struct lc_call *call) {
    return part->mode == 0 || (call->mode & part->mode) != 0;
}

void lc_parts_start(struct lc_stub *stub) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->start != NULL)
            parts[i]->start(stub);
}

void lc_parts_init(struct lc_call *call) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->init != NULL && takes_part(parts[i], call))
            parts[i]->init(call);
}

static void free_first(struct lc_thread *t, size_t n) {
    while (n-- > 0)
        if (parts[n]->thread_free != NULL)
            parts[n]->thread_free(t);
}

enum lc_err lc_parts_thread_make(struct lc_thread *t) {
    for (size_t i = 0; i < n_parts; i++) {
        enum lc_err err = parts[i]->thread_make != NULL ? parts[i]->thread_make(t) : LC_OK;
        if (err != LC_OK) {
            free_first(t, i);
            return err;
        }
    }
    return LC_OK;
}

void lc_parts_thread_free(struct lc_thread *t) {
    free_first(t, n_parts);
}

void lc_parts_thread_new(struct lc_call *call) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->thread_new != NULL && takes_part(parts[i], call))
            parts[i]->thread_new(call);
}

void lc_parts_thread_end(struct lc_call *call) {
    for (size_t i = n_parts; i-- > 0;)
        if (parts[i]->thread_end != NULL && takes_part(parts[i], call))
            parts[i]->thread_end(call);
}

bool lc_parts_keep(void) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->keeps != NULL && parts[i]->keeps())
            return true;
    return false;
}

void lc_parts_thread_leaves(struct lc_thread *t) {
    for (size_t i = n_parts; i-- > 0;)
        if (parts[i]->thread_leaves != NULL)
            parts[i]->thread_leaves(t);
}

void lc_parts_thread_takes_over(struct lc_thread *t) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->thread_takes_over != NULL)
            parts[i]->thread_takes_over(t);
}

void lc_parts_stop(struct lc_call *call) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->stops != NULL && takes_part(parts[i], call))
            parts[i]->stops(call);
}

void lc_parts_finalize(struct lc_call *call) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->finalize != NULL && takes_part(parts[i], call))
            parts[i]->finalize(call);
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->finalized != NULL)
            parts[i]->finalized();
}

void lc_parts_write(void) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->write != NULL)
            parts[i]->write();
}

void lc_parts_fork(struct lc_thread *t) {
    for (size_t i = 0; i < n_parts; i++)
        if (parts[i]->fork != NULL)
            parts[i]->fork(t);
}
