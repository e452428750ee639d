/* Ends when it has seen each several times: events of the kernel that sample it, and none. Some
 * thousand calls between two looks. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 2000, CHANGES = 6 };

static bool is_sampled(void) {
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found = found || strstr(line, "[perf_event]") != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

int main(int argc, char **argv) {
    volatile double x = 1;
    int flag, changes = 0;
    MPI_Init(&argc, &argv);
    bool was = is_sampled();
    if (!was)
        puts("never");
    while (was && changes < CHANGES) {
        for (int i = 0; i < CALLS; i++) {
            for (int k = 0; k < 200; k++)
                x = x * 0.5 + 1;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        }
        bool now = is_sampled();
        changes += now != (changes % 2 == 0);
    }
    MPI_Finalize();
    if (changes == CHANGES)
        puts("fine");
    return 0;
}
