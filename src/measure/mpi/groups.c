#include "measure/mpi/groups.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "format/raw.h"
#include "measure/mpi/handles.h"

enum { MEMBERS_MOST = 1 << 16 }; /* in the text, of all groups together */

static struct lc_groups known; /* under lc_core.lock */

static uint64_t hash_of(const struct lc_comm *comm) {
    uint64_t hash = lc_hash_key((uint64_t)comm->size);
    for (int i = 0; i < comm->size; i++)
        hash = lc_hash_key(hash ^ (uint64_t)(uint32_t)comm->world[i]);
    return hash;
}

static bool has_number(const struct lc_comm *comm) {
    if (comm->inter || comm->size < 2)
        return false;
    for (int i = 0; i < comm->size; i++)
        if (comm->world[i] < 0) /* MPI_UNDEFINED */
            return false;
    return true;
}

uint32_t lc_group_number(const struct lc_comm *comm) {
    uint32_t alike = 0;
    if (!has_number(comm))
        return 0;
    uint64_t hash = hash_of(comm);
    for (uint32_t i = 0; i < known.n; i++) {
        const struct lc_known_group *group = &known.group[i];
        if (group->hash == hash && group->size == (uint32_t)comm->size)
            return group->number;
        alike += group->size == (uint32_t)comm->size;
    }
    if (known.n == LC_GROUPS_MOST || alike + 1 >= LC_RAW_GROUP_OTHER)
        return LC_RAW_GROUP_OTHER;
    known.group[known.n++] = (struct lc_known_group){.hash = hash,
                                                     .size = (uint32_t)comm->size,
                                                     .position = (uint32_t)comm->rank,
                                                     .number = alike + 1};
    return alike + 1;
}

void lc_groups_get(struct lc_groups *groups) {
    *groups = known;
}

struct member {
    const struct lc_known_group *group;
    int rank;
};

static int by_group(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->group->size != y->group->size)
        return x->group->size > y->group->size ? -1 : 1;
    if (x->group->hash != y->group->hash)
        return x->group->hash < y->group->hash ? -1 : 1;
    return (x->group->position > y->group->position) - (x->group->position < y->group->position);
}

static bool same_group(const struct member *a, const struct member *b) {
    return a->group->size == b->group->size && a->group->hash == b->group->hash;
}

/* Each position once? */
static bool is_whole(const struct member *members, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (members[i].group->position != i)
            return false;
    return n == members[0].group->size;
}

static void put_group(struct lc_strbuf *out, const struct member *members, size_t n) {
    bool alike = true;
    lc_strbuf_puts(out, "{\"ranks\": \"");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && members[end].rank == members[end - 1].rank + 1; end++)
            ;
        lc_strbuf_printf(out, "%s%d", i > 0 ? "," : "", members[i].rank);
        if (end > i + 1)
            lc_strbuf_printf(out, "-%d", members[end - 1].rank);
    }
    for (size_t i = 1; i < n; i++)
        alike = alike && members[i].group->number == members[0].group->number;
    lc_strbuf_printf(out, "\", \"numbers\": %s%u", alike ? "" : "[", members[0].group->number);
    for (size_t i = 1; i < n && !alike; i++)
        lc_strbuf_printf(out, ", %u", members[i].group->number);
    lc_strbuf_puts(out, alike ? "}" : "]}");
}

static const struct lc_groups *at(const struct lc_groups *groups, int i, uint32_t stride) {
    return (const struct lc_groups *)(const void *)((const char *)groups + (size_t)i * stride);
}

void lc_groups_put(struct lc_strbuf *out, const struct lc_groups *groups, int n, uint32_t stride) {
    size_t n_members = 0, put = 0, left_out = 0, room = (size_t)n * LC_GROUPS_MOST;
    struct member *members = n > 0 ? malloc(room * sizeof *members) : NULL;
    if (members == NULL)
        return;
    for (int i = 0; i < n; i++)
        for (uint32_t g = 0; g < at(groups, i, stride)->n; g++)
            members[n_members++] = (struct member){&at(groups, i, stride)->group[g], i};
    qsort(members, n_members, sizeof *members, by_group);
    lc_strbuf_puts(out, ", \"communicators\": [");
    bool first = true;
    for (size_t i = 0, end; i < n_members; i = end) {
        for (end = i + 1; end < n_members && same_group(&members[i], &members[end]); end++)
            ;
        if (put + end - i > MEMBERS_MOST || !is_whole(&members[i], end - i)) {
            left_out++;
            continue;
        }
        lc_strbuf_puts(out, first ? "" : ", ");
        put_group(out, &members[i], end - i);
        put += end - i;
        first = false;
    }
    lc_strbuf_putc(out, ']');
    if (left_out > 0)
        lc_strbuf_printf(out, ", \"communicators_left_out\": %zu", left_out);
    free(members);
}
