/* Every mock-up gives what its collective gives, in the same place, on this number of ranks, with
 * several sizes and roots; prints how many were compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/harness/mock_ups.h"

static int compared, wrong;

static void fill(struct lc_op_data *d) {
    size_t bytes = (size_t)d->size * (size_t)d->n;
    for (size_t i = 0; i < bytes; i++)
        d->send[i] = (char)(1 << (i + (size_t)d->rank * 3) % 8);
    memset(d->receive, 0, bytes);
}

/* What the collective leaves where the standard says it is defined. */
static size_t defined(const struct lc_op_data *d, const char *name) {
    static const char *const everywhere[] = {"MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall",
                                             "MPI_Alltoallv"};
    bool rooted = strcmp(name, "MPI_Gather") == 0 || strcmp(name, "MPI_Gatherv") == 0;
    if (strcmp(name, "MPI_Barrier") == 0 || (strcmp(name, "MPI_Exscan") == 0 && d->rank == 0) ||
        (d->rank != d->root && (rooted || strcmp(name, "MPI_Reduce") == 0)))
        return 0;
    for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++)
        rooted |= strcmp(name, everywhere[i]) == 0;
    return (size_t)d->n * (size_t)(rooted ? d->size : 1);
}

/* Those of which each half, and a larger form, has its blocks elsewhere. */
static bool is_elsewhere(const char *mock_up) {
    static const char *const names[] = {"MPI_Gather", "MPI_Scatter", "MPI_Allgather",
                                        "MPI_Alltoall", "MPI_Reduce_scatter_block"};
    const char *mark = strchr(mock_up, '~');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(mock_up, names[i], strlen(names[i])) == 0 && mock_up + strlen(names[i]) == mark)
            return strcmp(mark, "~larger") == 0 || strcmp(mark, "~parts") == 0;
    return false;
}

/* All bytes of a rank are alike, so that each block of the result is of one byte. */
static void fill_alike(struct lc_op_data *d, size_t room) {
    size_t bytes = (size_t)d->size * (size_t)d->n;
    memset(d->send, 1 << d->rank % 8, bytes * room);
    memset(d->receive, 0, bytes * room);
}

/* Whether the blocks of `a` are those of `b`, whose halves, or larger blocks, lie side by side. */
static bool same_blocks(const struct lc_op_data *a, const struct lc_op_data *b, size_t bytes,
                        size_t room) {
    size_t n = (size_t)a->n, half = n / 2, blocks = n > 0 ? bytes / n : 0;
    for (size_t i = 0; i < blocks; i++)
        for (size_t k = 0; k < n * room; k++) {
            size_t at = room > 1   ? i * room * n + k
                        : k < half ? i * half + k
                                   : blocks * half + i * (n - half) + k - half;
            if (b->receive[at] != a->receive[i * n])
                return false;
        }
    return true;
}

static void compare(const struct lc_operation *mock_up, int bytes, int root) {
    struct lc_op_data a, b;
    char name[64];
    size_t room = lc_operation_room(mock_up->name);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(mock_up->name, "~"), mock_up->name);
    const struct lc_operation *op = lc_operation_find(name);
    if (op == NULL || lc_operation_find(mock_up->name) != mock_up ||
        lc_op_data_new(&a, MPI_COMM_WORLD, (size_t)bytes, 1, root) != LC_OK ||
        lc_op_data_new(&b, MPI_COMM_WORLD, (size_t)bytes, room, root) != LC_OK)
        exit(1);
    bool elsewhere = is_elsewhere(mock_up->name), bcast = strcmp(name, "MPI_Bcast") == 0;
    if (elsewhere) {
        fill_alike(&a, 1);
        fill_alike(&b, room);
    } else {
        fill(&a);
        fill(&b);
    }
    bool same = op->run(&a) == MPI_SUCCESS && mock_up->run(&b) == MPI_SUCCESS;
    if (elsewhere)
        same = same && same_blocks(&a, &b, defined(&a, name), room);
    else
        same = same && memcmp(bcast ? a.send : a.receive, bcast ? b.send : b.receive,
                              defined(&a, name)) == 0;
    if (!same) {
        printf("%s, %d bytes, root %d: differs on rank %d\n", mock_up->name, bytes, root, a.rank);
        wrong++;
    }
    compared++;
    lc_op_data_free(&a);
    lc_op_data_free(&b);
}

int main(int argc, char **argv) {
    static const int sizes[] = {0, 7, 5000};
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const struct lc_operation *m = lc_mock_ups; m->name != NULL; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (int root = 0; root<ranks; root += ranks - 1> 0 ? ranks - 1 : 1)
                compare(m, sizes[s], root);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d compared, %d wrong\n", compared, wrong);
    MPI_Finalize();
    return wrong != 0;
}
