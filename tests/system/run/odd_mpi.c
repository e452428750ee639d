/* An MPI library that nobody knows, as far as odd_program.c needs it. */
#include <stdio.h>

int PMPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv);
int PMPI_Comm_rank(int comm, int *rank);
int MPI_Comm_rank(int comm, int *rank);
int PMPI_Finalize(void);
int MPI_Finalize(void);
int PMPI_Get_library_version(char *version, int *length);
int MPI_Get_library_version(char *version, int *length);

int PMPI_Init(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    return 0;
}

int PMPI_Comm_rank(int comm, int *rank) {
    *rank = comm;
    return 0;
}

int PMPI_Finalize(void) {
    return 0;
}

int PMPI_Get_library_version(char *version, int *length) {
    *length = sprintf(version, "Odd MPI 1.0");
    return 0;
}

int MPI_Init(int *argc, char ***argv) {
    return PMPI_Init(argc, argv);
}

int MPI_Comm_rank(int comm, int *rank) {
    return PMPI_Comm_rank(comm, rank);
}

int MPI_Finalize(void) {
    return PMPI_Finalize();
}

int MPI_Get_library_version(char *version, int *length) {
    return PMPI_Get_library_version(version, length);
}
