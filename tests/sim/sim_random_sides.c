/* Further motifs of random programs: neighbourhoods, windows with all kinds of epochs, files, and
 * communicators of sessions. */
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

/* Each rank locks memory of others as it likes, for itself alone or with others, or of nobody, for
 * which nobody waits. */
void locks(struct comm *c) {
    FRAME;
    int rounds = 1 + (int)draw(&common, 4), got;
    side.id = ++comm_ids * 1000 + c->world[0];
    open_side(c);
    for (int i = 0; i < rounds; i++) {
        int target = (int)draw(&own, (uint32_t)c->n), kind = (int)draw(&own, 6);
        work();
        if (kind == 0) {
            starts();
            MPI_Win_lock_all(0, side.win);
            note("A %d -1 1\n", side.id);
            ends("MPI_Win_lock_all");
            PLAIN(MPI_Get, &got, 1, MPI_INT, target, 0, 1, MPI_INT, side.win);
            work();
            starts();
            MPI_Win_unlock_all(side.win);
            note("L %d -1 1\n", side.id);
            ends("MPI_Win_unlock_all");
            continue;
        }
        if (kind == 5) {
            starts();
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, side.win);
            ends("MPI_Win_lock");
            work();
            starts();
            MPI_Win_unlock(MPI_PROC_NULL, side.win);
            ends("MPI_Win_unlock");
            continue;
        }
        bool shared = kind < 3;
        starts();
        MPI_Win_lock(shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, side.win);
        note("A %d %d %d\n", side.id, target, shared);
        ends("MPI_Win_lock");
        if (shared)
            PLAIN(MPI_Get, &got, 1, MPI_INT, target, 0, 1, MPI_INT, side.win);
        else
            put(target);
        work();
        starts();
        MPI_Win_unlock(target, side.win);
        note("L %d %d %d\n", side.id, target, shared);
        ends("MPI_Win_unlock");
    }
    close_side(c);
}

/* Started by one call, and ended by another: a split operation, or a nonblocking one. */
static void started(const char *kind, int request, int id, int order, int me) {
    char function[40];
    note("Q %d %d %s 0 %d %d\n", request, id, kind, order, me);
    snprintf(function, sizeof function, "MPI_%s", kind);
    ends(function);
}

/* All write into a file of theirs, and read. */
void files(struct comm *c) {
    FRAME;
    static int data[4];
    int rounds = 1 + (int)draw(&common, 4), id = ++comm_ids * 1000 + c->world[0], order = 0;
    char name[4200];
    MPI_File file;
    MPI_Request request;
    MPI_Offset at = c->me * (MPI_Offset)sizeof data;
    snprintf(name, sizeof name, "%s.file.%d", log_name, id);
    work();
    starts();
    MPI_File_open(c->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    meets("File_open", c->id, c->order++, c->me);
    for (int i = 0; i < rounds; i++) {
        int kind = (int)draw(&common, 6);
        work();
        if (kind == 0) {
            PLAIN(MPI_File_write_at, file, at, data, 4, MPI_INT, MPI_STATUS_IGNORE);
        } else if (kind == 1) {
            starts();
            MPI_File_write_at_all(file, at, data, 4, MPI_INT, MPI_STATUS_IGNORE);
            meets("File_write_at_all", id, order++, c->me);
        } else if (kind == 2) {
            starts();
            MPI_File_read_at_all(file, at, data, 4, MPI_INT, MPI_STATUS_IGNORE);
            meets("File_read_at_all", id, order++, c->me);
        } else if (kind == 3) {
            starts();
            MPI_File_set_size(file, 4096);
            meets("File_set_size", id, order++, c->me);
        } else if (kind == 4) {
            int number = request_ids++;
            starts();
            MPI_File_write_at_all_begin(file, at, data, 4, MPI_INT);
            started("File_write_at_all_begin", number, id, order++, c->me);
            work();
            starts();
            MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
            note("E %d\n", number);
            ends("MPI_File_write_at_all_end");
        } else {
            int number = request_ids++;
            starts();
            MPI_File_iwrite_at_all(file, at, data, 4, MPI_INT, &request);
            started("File_iwrite_at_all", number, id, order++, c->me);
            work();
            starts();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            note("E %d\n", number);
            ends("MPI_Wait");
        }
    }
    work();
    starts();
    MPI_File_close(&file);
    meets("File_close", id, order, c->me);
}

/* All ranks make a communicator by a session of their own, whatever c is. */
void session(struct comm *c) {
    FRAME;
    int in[2] = {0}, result[2], id = ++comm_ids * 1000;
    MPI_Session made;
    MPI_Group all;
    MPI_Comm comm;
    (void)c;
    work();
    PLAIN(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    PLAIN(MPI_Group_from_session_pset, made, "mpi://WORLD", &all);
    work();
    starts();
    MPI_Comm_create_from_group(all, "latecomer", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    meets("Comm_create_from_group", id, 0, rank);
    work();
    starts();
    MPI_Allreduce(in, result, 2, MPI_INT, MPI_SUM, comm);
    meets("Allreduce", id, 1, rank);
    PLAIN(MPI_Comm_free, &comm);
    PLAIN(MPI_Group_free, &all);
    PLAIN(MPI_Session_finalize, &made);
}
