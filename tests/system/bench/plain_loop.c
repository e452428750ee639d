/* Every operation of `latecomer bench` in a plain loop, nothing between its calls: "NAME NS" a
 * line, the slowest rank's time divided by the number of calls. plain_loop BYTES TIMES [SECONDS]:
 * as many calls fewer as are needed to stay below about SECONDS for each operation, but LEAST. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/harness/bench_operations.h"

enum { LEAST = 10 };

/* The slowest rank's time of so many calls. */
static double time_of(const struct lc_operation *op, struct lc_op_data *data, int times) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < times; i++)
        (void)op->run(data);
    double took = MPI_Wtime() - begin, slowest;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* How many calls there is time for. Alike on all ranks. */
static int calls(const struct lc_operation *op, struct lc_op_data *data, int times,
                 double seconds) {
    if (times <= LEAST || seconds <= 0)
        return times;
    double room = seconds / (time_of(op, data, LEAST) / LEAST);
    return room > times ? times : room > LEAST ? (int)room : LEAST;
}

int main(int argc, char **argv) {
    struct lc_op_data data;
    int rank, times = argc > 2 ? atoi(argv[2]) : 0;
    double seconds = argc > 3 ? atof(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const struct lc_operation *op = lc_operations; op->name != NULL; op++) {
        if (times < 1 ||
            lc_op_data_new(&data, MPI_COMM_WORLD, strtoul(argv[1], NULL, 10), 1, 0) != LC_OK ||
            (op->window != LC_OP_NO_WINDOW && lc_op_window_new(&data, op->window) != MPI_SUCCESS))
            MPI_Abort(MPI_COMM_WORLD, 2);
        (void)op->run(&data);
        int n = calls(op, &data, times, seconds);
        double slowest = time_of(op, &data, n);
        if (rank == 0)
            printf("%s %.1f\n", op->name, slowest / n * 1e9);
        lc_op_data_free(&data);
    }
    MPI_Finalize();
    return 0;
}
