/* Shadow collectives under way. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "measure/clocks/contexts.h"
#include "measure/clocks/shadow_private.h"

/* In the order in which they began: most arrivals belong to the oldest. */
static struct lc_shadow *under_way, *under_way_last;

static struct lc_shadow *spare; /* by `next` */

struct lc_shadow *lc_shadow_take(void) {
    struct lc_shadow *m = spare;
    if (m != NULL)
        spare = m->next;
    else
        m = malloc(sizeof *m);
    if (m == NULL)
        return NULL;
    memset(m, 0, offsetof(struct lc_shadow, mine));
    lc_shadow_empty(&m->mine);
    lc_shadow_empty(&m->up);
    lc_shadow_empty(&m->received);
    return m;
}

void lc_shadow_free_spare(void) {
    for (struct lc_shadow *m = spare, *next; m != NULL; m = next) {
        next = m->next;
        free(m);
    }
    spare = NULL;
}

struct lc_shadow *lc_shadow_first(void) {
    return under_way;
}

void lc_shadow_enlist(struct lc_shadow *m) {
    m->previous = under_way_last;
    *(m->previous != NULL ? &m->previous->next : &under_way) = m;
    under_way_last = m;
}

static void leave(struct lc_shadow *m) {
    *(m->previous != NULL ? &m->previous->next : &under_way) = m->next;
    *(m->next != NULL ? &m->next->previous : &under_way_last) = m->previous;
}

void lc_shadow_free(struct lc_shadow *m) {
    lc_clk_comm_unuse(m->c);
    free(m->to);
    free(m->from);
    m->next = spare;
    spare = m;
}

void lc_shadow_go(struct lc_shadow *m) {
    if (!m->over || m->wanted)
        return;
    leave(m);
    lc_shadow_free(m);
}

struct lc_shadow *lc_shadow_find(uint32_t context, uint32_t number) {
    struct lc_shadow *m = under_way;
    while (m != NULL && (m->number != number || lc_shadow_context(m) != context))
        m = m->next;
    return m;
}
