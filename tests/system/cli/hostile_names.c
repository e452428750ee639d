/* Regions with names that tables, terminals and JSON cannot take as they are. Rank 1 comes late in
 * each of them; rank 0 waits in a receive inside the same region. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "latecomer.h"

int main(int argc, char **argv) {
    static char long_name[5001];
    memset(long_name, 'x', sizeof long_name - 1);
    memcpy(long_name, "begin", 5);
    memcpy(long_name + 5000 - 3, "end", 3);
    const char *const names[] = {"newline\ntab\t",
                                 "\x1b]0;title\x07\x1b[31mred\x1b[0m",
                                 "broken \xff\xc0\xaf\xed\xa0\x80 bytes \xe2\x82",
                                 "quote\" back\\slash\\n",
                                 "per%cent / slash",
                                 "euro \xe2\x82\xac",
                                 long_name};
    int rank, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        latecomer_begin(names[i]);
        if (rank == 1)
            usleep(100000);
        if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        else
            MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        latecomer_end(names[i]);
    }
    MPI_Finalize();
    return 0;
}
