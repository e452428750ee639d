/* Regions by the thousand, and some with odd names. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "latecomer.h"

static void region(const char *name) {
    int size;
    latecomer_begin(name);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    latecomer_end(name);
}

int main(int argc, char **argv) {
    char name[4001];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof(name), "region %d", i);
        region(name);
    }
    region("say \"hello\"");
    region("tab\there");
    region("two\nlines");
    region("%s%n");
    region("größe/λ");
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    region(name);
    MPI_Finalize();
    return 0;
}
