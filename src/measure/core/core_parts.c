#include "measure/core/core_parts.h"

#include <stddef.h>

#include "measure/core/thread.h"

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
