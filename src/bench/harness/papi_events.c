#include "bench/harness/papi_events.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NO_SET = -1 }; /* PAPI_OK, PAPI_NULL */
#define LC_PAPI_VERSION(major, minor) ((major) << 24 | (minor) << 16)

struct papi {
    void *library;
    int (*library_init)(int version);
    int (*create_eventset)(int *set);
    int (*add_named_event)(int set, const char *name);
    int (*cleanup_eventset)(int set);
    int (*start)(int set);
    int (*stop)(int set, long long *values);
    int (*read)(int set, long long *values);
    char *(*strerror)(int error);
};

static const struct {
    const char *name;
    size_t place;
} functions[] = {{"PAPI_library_init", offsetof(struct papi, library_init)},
                 {"PAPI_create_eventset", offsetof(struct papi, create_eventset)},
                 {"PAPI_add_named_event", offsetof(struct papi, add_named_event)},
                 {"PAPI_cleanup_eventset", offsetof(struct papi, cleanup_eventset)},
                 {"PAPI_start", offsetof(struct papi, start)},
                 {"PAPI_stop", offsetof(struct papi, stop)},
                 {"PAPI_read", offsetof(struct papi, read)},
                 {"PAPI_strerror", offsetof(struct papi, strerror)}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* It begins only for who names its version. NULL, or why it is not there. */
static const char *papi_load(struct papi *p) {
    static const char *const names[] = {"libpapi.so",     "libpapi.so.7.2", "libpapi.so.7.1",
                                        "libpapi.so.7.0", "libpapi.so.6.0", "libpapi.so.5.7"};
    static const int versions[] = {LC_PAPI_VERSION(7, 2), LC_PAPI_VERSION(7, 1),
                                   LC_PAPI_VERSION(7, 0), LC_PAPI_VERSION(6, 0),
                                   LC_PAPI_VERSION(5, 7)};
    p->library = NULL;
    for (size_t i = 0; p->library == NULL && i < sizeof names / sizeof names[0]; i++)
        p->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (p->library == NULL)
        return "libpapi.so is not installed on all ranks' nodes";
    for (int i = 0; i < FUNCTIONS; i++) {
        void *function = dlsym(p->library, functions[i].name);
        if (function == NULL)
            return "libpapi.so lacks a function";
        memcpy((char *)p + functions[i].place, &function, sizeof function);
    }
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (p->library_init(versions[i]) == versions[i])
            return NULL;
    return "PAPI_library_init refuses: its version is unknown, or the kernel allows no counters";
}

/* A set of those that `can` names; false where one cannot be added or nothing starts. */
static bool start(const struct papi *p, const struct lc_papi_events *e, const int *can, int *set,
                  int *errors) {
    *set = NO_SET;
    int error = p->create_eventset(set), n = 0;
    for (unsigned i = 0; i < e->n && error == OK; i++) {
        errors[i] = can[i] ? p->add_named_event(*set, e->name[i]) : OK;
        n += can[i] && errors[i] == OK;
    }
    if (error == OK && n > 0)
        error = p->start(*set);
    for (unsigned i = 0; i < e->n && error != OK; i++)
        errors[i] = error;
    return error == OK;
}

/* Those that this rank can count together. */
static void try_events(const struct papi *p, const struct lc_papi_events *e, int *can,
                       int *errors) {
    int set;
    long long ignored[LC_PAPI_MOST];
    (void)start(p, e, can, &set, errors);
    for (unsigned i = 0; i < e->n; i++)
        can[i] = errors[i] == OK;
    if (set == NO_SET)
        return;
    (void)p->stop(set, ignored);
    (void)p->cleanup_eventset(set);
}

static void split(struct lc_papi_events *e, const char *wanted, struct lc_strbuf *missing) {
    char *copy = strdup(wanted), *rest = copy;
    for (char *word; rest != NULL && (word = strsep(&rest, ",")) != NULL;)
        if (*word != '\0' && e->n < LC_PAPI_MOST)
            snprintf(e->name[e->n++], LC_PART_NAME, "%s", word);
        else if (*word != '\0')
            lc_strbuf_printf(missing, "no event %s of PAPI: %d at most\n", word, LC_PAPI_MOST);
    free(copy);
}

void lc_papi_open(struct lc_papi_events *e, MPI_Comm comm, const char *wanted,
                  struct lc_strbuf *missing) {
    struct papi p;
    int can[LC_PAPI_MOST], errors[LC_PAPI_MOST] = {0};
    unsigned kept = 0;
    *e = (struct lc_papi_events){.set = NO_SET};
    if (*wanted == '\0')
        return;
    split(e, wanted, missing);
    const char *why = papi_load(&p);
    int loaded = why == NULL;
    for (int i = 0; i < LC_PAPI_MOST; i++)
        can[i] = loaded;
    if (loaded)
        try_events(&p, e, can, errors);
    MPI_Allreduce(MPI_IN_PLACE, &loaded, 1, MPI_INT, MPI_MIN, comm);
    MPI_Allreduce(MPI_IN_PLACE, can, LC_PAPI_MOST, MPI_INT, MPI_MIN, comm);
    if (!loaded) {
        lc_strbuf_printf(missing, "no events of PAPI: %s\n",
                         why != NULL ? why : "another rank cannot load it");
        e->n = 0;
        return;
    }
    for (unsigned i = 0; i < e->n; i++)
        if (!can[i])
            lc_strbuf_printf(missing, "no event %s of PAPI: %s\n", e->name[i],
                             errors[i] != OK ? p.strerror(errors[i]) : "another rank lacks it");
    (void)start(&p, e, can, &e->set, errors);
    for (unsigned i = 0; i < e->n; i++)
        if (can[i])
            memmove(e->name[kept++], e->name[i], LC_PART_NAME);
    e->n = kept;
    e->read = kept > 0 ? p.read : NULL;
}

void lc_papi_read(const struct lc_papi_events *e, int64_t *values) {
    long long now[LC_PAPI_MOST] = {0};
    if (e->read != NULL)
        (void)e->read(e->set, now);
    for (unsigned i = 0; i < e->n; i++)
        values[i] = now[i];
}
