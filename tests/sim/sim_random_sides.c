/* Motifs of random programs in which others are reached without a message or an operation of all:
 * neighbourhoods, and windows with each kind of epoch in which the wait is known. */
#include "sim_random.h"

#include <stdlib.h>

/* All members meet: a constructor, a fence, the end of a window. */
static void meets(const char *kind, int id, int order, int me) {
    char function[40];
    note("K %d %s 0 %d %d\n", id, kind, order, me);
    snprintf(function, sizeof function, "MPI_%s", kind);
    ends(function);
}

/* Ranks in a circle exchange with both neighbours, or each sends to the next or second next one. */
void neighbours(struct comm *c) {
    FRAME;
    bool circle = draw(&common, 2) == 0, all_to_all = draw(&common, 2) == 0;
    int step = 1 + (int)draw(&common, 2), rounds = 1 + (int)draw(&common, 3), order = 0;
    int in[2] = {0}, result[2], id = ++comm_ids * 1000 + c->world[0]; /* on all ranks */
    MPI_Comm made;
    if (c->n < 3)
        return;
    int to = (c->me + step) % c->n, from = (c->me + c->n - step) % c->n;
    work();
    starts();
    if (circle)
        MPI_Cart_create(c->comm, 1, &(int){c->n}, &(int){1}, 0, &made);
    else
        MPI_Dist_graph_create_adjacent(c->comm, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &made);
    meets(circle ? "Cart_create" : "Dist_graph_create_adjacent", c->id, c->order++, c->me);
    for (int i = 0; i < rounds; i++) {
        work();
        starts();
        if (all_to_all)
            MPI_Neighbor_alltoall(in, 1, MPI_INT, result, 1, MPI_INT, made);
        else
            MPI_Neighbor_allgather(in, 1, MPI_INT, result, 1, MPI_INT, made);
        note("N %d %d %d", id, order++, c->me);
        if (circle)
            note(" %d %d\n", c->world[(c->me + 1) % c->n], c->world[(c->me + c->n - 1) % c->n]);
        else
            note(" %d\n", c->world[from]);
        ends(all_to_all ? "MPI_Neighbor_alltoall" : "MPI_Neighbor_allgather");
    }
    PLAIN(MPI_Comm_free, &made);
}

static struct side {
    MPI_Win win;
    int id, order;
    int memory[4];
} side;

static void open_side(struct comm *c) {
    FRAME;
    work();
    starts();
    MPI_Win_create(side.memory, sizeof side.memory, sizeof *side.memory, MPI_INFO_NULL, c->comm,
                   &side.win);
    meets("Win_create", c->id, c->order++, c->me);
    side.order = 0;
}

static void close_side(const struct comm *c) {
    FRAME;
    work();
    starts();
    MPI_Win_free(&side.win);
    meets("Win_free", side.id, side.order, c->me);
}

static void put(int to) {
    FRAME;
    static int one = 1;
    PLAIN(MPI_Put, &one, 1, MPI_INT, to, 0, 1, MPI_INT, side.win);
}

static void fence(const struct comm *c) {
    FRAME;
    starts();
    MPI_Win_fence(0, side.win);
    meets("Win_fence", side.id, side.order++, c->me);
}

void fences(struct comm *c) {
    FRAME;
    int rounds = 1 + (int)draw(&common, 3);
    side.id = ++comm_ids * 1000 + c->world[0];
    if (c->n < 2)
        return;
    open_side(c);
    fence(c);
    for (int i = 0; i < rounds; i++) {
        put((c->me + 1) % c->n);
        work();
        fence(c);
    }
    close_side(c);
}

/* Each rank gives its memory to those before it, and puts into that of those behind it. */
void exposures(struct comm *c) {
    FRAME;
    int rounds = 1 + (int)draw(&common, 3), ways = 1 + (int)draw(&common, 2);
    side.id = ++comm_ids * 1000 + c->world[0];
    if (c->n <= ways)
        return;
    MPI_Group all, before, behind;
    int from[2], to[2];
    for (int i = 0; i < ways; i++) {
        from[i] = (c->me + c->n - 1 - i) % c->n;
        to[i] = (c->me + 1 + i) % c->n;
    }
    open_side(c);
    PLAIN(MPI_Comm_group, c->comm, &all);
    PLAIN(MPI_Group_incl, all, ways, from, &before);
    PLAIN(MPI_Group_incl, all, ways, to, &behind);
    char targets[40], origins[40];
    snprintf(targets, sizeof targets, ways == 1 ? "%d" : "%d %d", c->world[to[0]],
             c->world[to[ways - 1]]);
    snprintf(origins, sizeof origins, ways == 1 ? "%d" : "%d %d", c->world[from[0]],
             c->world[from[ways - 1]]);
    for (int i = 0; i < rounds; i++) {
        work();
        starts();
        MPI_Win_post(before, 0, side.win);
        note("O %d %d\n", side.id, i);
        ends("MPI_Win_post");
        starts();
        MPI_Win_start(behind, 0, side.win);
        note("T %d %d %s\n", side.id, i, targets);
        ends("MPI_Win_start");
        put(to[0]);
        work();
        starts();
        MPI_Win_complete(side.win);
        note("T %d %d %s\n", side.id, i, targets);
        ends("MPI_Win_complete");
        work();
        starts();
        MPI_Win_wait(side.win);
        note("V %d %d %s\n", side.id, i, origins);
        ends("MPI_Win_wait");
    }
    PLAIN(MPI_Group_free, &before);
    PLAIN(MPI_Group_free, &behind);
    PLAIN(MPI_Group_free, &all);
    close_side(c);
}
