#include "measure/callpath/region_names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "measure/core/core.h"
#include "measure/core/state_write.h"

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
