/* An intercommunicator of both halves of MPI_COMM_WORLD, made without a parent, and an operation
 * over it. */
#ifndef INTERCOMM_FROM_GROUPS_H
#define INTERCOMM_FROM_GROUPS_H

#include "program.h"

static inline void intercomm_from_groups(const char *tag) {
    MPI_Group world, left, right;
    MPI_Comm inter;
    int n = 0, all = 0, half = size / 2;
    int first[1][3] = {{0, half - 1, 1}}, second[1][3] = {{half, size - 1, 1}};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, first, &left));
    OK(MPI_Group_range_incl(world, 1, second, &right));
    int on_left = rank < half;
    OK(MPI_Intercomm_create_from_groups(on_left ? left : right, 0, on_left ? right : left, 0, tag,
                                        MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    OK(MPI_Comm_remote_size(inter, &n));
    OK(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, inter)); /* of the other side */
    OK(MPI_Comm_free(&inter));
    OK(MPI_Group_free(&left));
    OK(MPI_Group_free(&right));
    OK(MPI_Group_free(&world));
    say("inter from groups %d %d", n, all);
}

#endif
