/* Prints the peak of the address space of a rank after the work of faults.c's beginning, for the
 * test of memory limits. */
#include "program.h"

int main(int argc, char **argv) {
    char line[256];
    long peak = 0;
    int sum = 0;
    start_program(&argc, &argv);
    for (int i = 0; i < 40; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmPeak: %ld", &peak) == 1)
            break;
    if (file)
        fclose(file);
    say("peak %ld", peak);
    return 0;
}
