#include "analyze/health.h"

#include <ctype.h>

#include "model/model.h"

static const struct {
    const char *name, *one, *several, *done;
} table[] = {
#define LC_HEALTH_ROW(name, one, several, done) {#name, one, several, done},
    LC_HEALTH_TABLE(LC_HEALTH_ROW)
#undef LC_HEALTH_ROW
};

void lc_health_init(struct lc_health *health) {
    *health = (struct lc_health){0};
    for (int i = 0; i < LC_HEALTH_KINDS; i++)
        health->location[i] = INT64_MAX;
}

void lc_health_add(struct lc_health *health, enum lc_health_kind kind, uint32_t location,
                   int64_t count) {
    if (count <= 0)
        return;
    health->count[kind] += count;
    if (location != LC_NONE && location < health->location[kind])
        health->location[kind] = location;
}

void lc_health_note(struct lc_health *health, enum lc_health_kind kind, uint32_t location) {
    lc_health_add(health, kind, location, 1);
}

void lc_health_reduce(struct lc_health *health, const struct lc_transport *comm) {
    lc_transport_allreduce_i64(comm, health->count, LC_HEALTH_KINDS, LC_OP_SUM);
    lc_transport_allreduce_i64(comm, health->location, LC_HEALTH_KINDS, LC_OP_MIN);
    lc_transport_allreduce_i64(comm, &health->largest_violation_ticks, 1, LC_OP_MAX);
}

const char *lc_health_text(enum lc_health_kind kind, int64_t count) {
    return count == 1 ? table[kind].one : table[kind].several;
}

const char *lc_health_done(enum lc_health_kind kind) {
    return table[kind].done;
}

const char *lc_health_name(enum lc_health_kind kind) {
    static _Thread_local char name[40];
    size_t i = 0;
    for (; i < sizeof name - 1 && table[kind].name[i]; i++)
        name[i] = (char)tolower((unsigned char)table[kind].name[i]);
    name[i] = 0;
    return name;
}
