#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "callers.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Objects are remembered; those that are closed again leave nothing that matters. */
static struct object {
    uintptr_t from, to;
    enum caller who;
} objects[256];
static _Atomic int n_objects;
static pthread_rwlock_t adding = PTHREAD_RWLOCK_INITIALIZER; /* of a kind that is not interposed */

struct search {
    uintptr_t address;
    int index;
    struct object found;
};

static int look(struct dl_phdr_info *info, size_t bytes, void *data) {
    struct search *s = data;
    (void)bytes;
    int index = s->index++;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t to = from + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || s->address < from || s->address >= to)
            continue;
        const char *also = getenv("LC_VIRTUAL_PROGRAM");
        s->found = (struct object){from, to, SOMEBODY};
        if (index == 0 || (also != NULL && strstr(info->dlpi_name, also) != NULL))
            s->found.who = PROGRAM;
        else if (strstr(info->dlpi_name, "liblatecomer") != NULL)
            s->found.who = TOOL;
        return 1;
    }
    return 0;
}

enum caller caller(void *return_address) {
    struct search s = {.address = (uintptr_t)return_address};
    int n = atomic_load_explicit(&n_objects, memory_order_acquire); /* with the store below */
    for (int i = 0; i < n; i++)
        if (s.address >= objects[i].from && s.address < objects[i].to)
            return objects[i].who;
    dl_iterate_phdr(look, &s);
    pthread_rwlock_wrlock(&adding);
    n = atomic_load(&n_objects);
    if (s.found.to != 0 && n < (int)(sizeof objects / sizeof *objects)) {
        objects[n] = s.found;
        atomic_store_explicit(&n_objects, n + 1, memory_order_release);
    }
    pthread_rwlock_unlock(&adding);
    return s.found.who;
}
