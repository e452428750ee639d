#include "report/view_fold.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_library.h"
#include "base/mem.h"

/* By the begin of the name, without leading underscores and prefixes of the library's own. The
 * first that fits. */
static const struct {
    const char *begin, *purpose;
} table[] = {
    {"nanosleep", "sleeping"},
    {"clock_nanosleep", "sleeping"},
    {"usleep", "sleeping"},
    {"sleep", "sleeping"},
    {"poll", "waiting for events"},
    {"ppoll", "waiting for events"},
    {"select", "waiting for events"},
    {"pselect", "waiting for events"},
    {"epoll", "waiting for events"},
    {"pause", "waiting for a signal"},
    {"sigwait", "waiting for a signal"},
    {"sigsuspend", "waiting for a signal"},
    {"wait4", "waiting for a process"},
    {"waitpid", "waiting for a process"},
    {"waitid", "waiting for a process"},
    {"wait", "waiting for a process"},
    {"system", "waiting for a process"},
    {"pthread_join", "waiting for a thread"},
    {"pthread_timedjoin", "waiting for a thread"},
    {"pthread_clockjoin", "waiting for a thread"},
    {"pthread_barrier", "waiting for a thread"},
    {"pthread_cond", "waiting for a condition"},
    {"sem_", "waiting for a semaphore"},
    {"pthread_mutex", "waiting for a lock"},
    {"pthread_rwlock", "waiting for a lock"},
    {"pthread_spin", "waiting for a lock"},
    {"lll_lock", "waiting for a lock"},
    {"futex", "waiting for a lock"},
    {"flock", "waiting for a lock"},
    {"sched_yield", "yielding"},
    {"pthread_yield", "yielding"},
    {"recv", "receiving"},
    {"accept", "waiting for a connection"},
    {"connect", "connecting"},
    {"send", "sending"},
    {"read", "reading a file"},
    {"pread", "reading a file"},
    {"fread", "reading a file"},
    {"fget", "reading a file"},
    {"getc", "reading a file"},
    {"getline", "reading a file"},
    {"getdelim", "reading a file"},
    {"fscanf", "reading a file"},
    {"IO_getline", "reading a file"},
    {"IO_fread", "reading a file"},
    {"IO_fgets", "reading a file"},
    {"write", "writing a file"},
    {"pwrite", "writing a file"},
    {"fwrite", "writing a file"},
    {"fput", "writing a file"},
    {"putc", "writing a file"},
    {"puts", "writing a file"},
    {"printf", "writing a file"},
    {"fprintf", "writing a file"},
    {"vfprintf", "writing a file"},
    {"fflush", "writing a file"},
    {"IO_fwrite", "writing a file"},
    {"IO_fflush", "writing a file"},
    {"IO_puts", "writing a file"},
    {"fsync", "writing a file"},
    {"fdatasync", "writing a file"},
    {"sync", "writing a file"},
    {"open", "opening a file"},
    {"fopen", "opening a file"},
    {"IO_file_fopen", "opening a file"},
    {"creat", "opening a file"},
    {"close", "closing a file"},
    {"fclose", "closing a file"},
    {"stat", "looking for a file"},
    {"fstat", "looking for a file"},
    {"lstat", "looking for a file"},
    {"access", "looking for a file"},
    {"readdir", "looking for a file"},
    {"malloc", "allocating memory"},
    {"calloc", "allocating memory"},
    {"realloc", "allocating memory"},
    {"free", "freeing memory"},
    {"cfree", "freeing memory"},
    {"int_malloc", "allocating memory"},
    {"int_free", "freeing memory"},
    {"libc_malloc", "allocating memory"},
    {"libc_calloc", "allocating memory"},
    {"libc_realloc", "allocating memory"},
    {"libc_free", "freeing memory"},
    {"memalign", "allocating memory"},
    {"posix_memalign", "allocating memory"},
    {"aligned_alloc", "allocating memory"},
    {"sysmalloc", "allocating memory"},
    {"mmap", "allocating memory"},
    {"munmap", "freeing memory"},
    {"brk", "allocating memory"},
    {"sbrk", "allocating memory"},
    {"memcpy", "copying memory"},
    {"memmove", "copying memory"},
    {"mempcpy", "copying memory"},
    {"memset", "filling memory"},
    {"memcmp", "comparing memory"},
    {"memchr", "searching memory"},
    {"str", "handling text"},
    {"snprintf", "handling text"},
    {"sprintf", "handling text"},
    {"vsnprintf", "handling text"},
    {"sscanf", "handling text"},
    {"qsort", "sorting"},
    {"msort", "sorting"},
    {"rand", "drawing random numbers"},
    {"drand48", "drawing random numbers"},
    {"erand48", "drawing random numbers"},
    {"random", "drawing random numbers"},
    {"clock_gettime", "reading the clock"},
    {"gettimeofday", "reading the clock"},
    {"time", "reading the clock"},
    {"dlopen", "loading a library"},
    {"dl_", "loading a library"},
};

const char *lc_purpose_of(const char *function) {
    static const char *const own[] = {"GI_", "libc_", "new_", "internal_"};
    function += strspn(function, "_");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strncmp(function, own[i], strlen(own[i])) == 0) {
            function += strlen(own[i]);
            function += strspn(function, "_");
        }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strncmp(function, table[i].begin, strlen(table[i].begin)) == 0)
            return table[i].purpose;
    return NULL;
}

/* What samples found that is no function: "(off CPU)", "(kernel)", "(preempted)". */
static bool is_state(const struct lc_region *region) {
    return region->name[0] == '(' && strcmp(region->paradigm, LC_MODEL_SAMPLED) == 0;
}

static bool is_c_library(const struct lc_region *region) {
    const char *slash = strrchr(region->module, '/');
    return (strcmp(region->paradigm, LC_MODEL_SAMPLED) == 0 ||
            strcmp(region->paradigm, "compiler") == 0) &&
           lc_c_library(slash != NULL ? slash + 1 : region->module);
}

static void put_text(char text[64], const struct lc_region *region, const char *purpose) {
    const char *state = is_state(region) ? region->name + 1 : "C library)";
    int length = (int)strcspn(state, ")");
    if (purpose == NULL || strcmp(state, "preempted)") == 0)
        snprintf(text, 64, "(%.*s)", length, state);
    else
        snprintf(text, 64, "(%.*s: %s)", length, state, purpose);
}

enum lc_err lc_fold_names(const struct lc_model *model, const char ***names, char (**texts)[64]) {
    const size_t n = model->n_cnodes;
    bool *folds = NULL;
    const char **purpose = NULL;
    *names = NULL;
    *texts = NULL;
    enum lc_err err = lc_alloc(&folds, n, sizeof folds[0]);
    if (err == LC_OK)
        err = lc_alloc(&purpose, n, sizeof purpose[0]);
    if (err == LC_OK)
        err = lc_alloc(names, n, sizeof(*names)[0]);
    if (err == LC_OK)
        err = lc_alloc(texts, n, sizeof(*texts)[0]);
    for (size_t c = 0; err == LC_OK && c < n; c++) {
        const uint32_t parent = model->cnodes[c].parent;
        const struct lc_region *region = &model->regions[model->cnodes[c].region];
        bool below = parent != LC_NONE && folds[parent];
        folds[c] = parent != LC_NONE && (is_c_library(region) || (below && is_state(region)));
        purpose[c] = below ? purpose[parent] : NULL;
        if (folds[c] && purpose[c] == NULL && !is_state(region))
            purpose[c] = lc_purpose_of(region->name);
    }
    /* A function that calls the program back is shown, and so are those that it was called by. */
    for (size_t c = n; err == LC_OK && c-- > 0;)
        if (!folds[c] && model->cnodes[c].parent != LC_NONE)
            folds[model->cnodes[c].parent] = false;
    for (size_t c = 0; err == LC_OK && c < n; c++) {
        const struct lc_region *region = &model->regions[model->cnodes[c].region];
        if (!folds[c] || (is_state(region) && !folds[model->cnodes[c].parent]))
            continue;
        put_text((*texts)[c], region, purpose[c]);
        (*names)[c] = (*texts)[c];
    }
    free(folds);
    free(purpose);
    return err;
}
