/* A library that is preloaded: an MPI with three performance variables. One counts calls of
 * MPI_Bcast, but rank 1 cannot read the second, and the third is a level. */
#include <mpi.h>
#include <stdio.h>

static unsigned long long calls;

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    calls++;
    return PMPI_Bcast(data, n, type, root, comm);
}

int MPI_T_pvar_get_num(int *n) {
    *n = 3;
    return MPI_SUCCESS;
}

int MPI_T_pvar_get_info(int index, char *name, int *name_size, int *verbosity, int *class,
                        MPI_Datatype *type, MPI_T_enum *values, char *description, int *size,
                        int *binding, int *fixed, int *continuous, int *atomic) {
    *name_size = snprintf(name, (size_t)*name_size, "runtime_spc_variable_%d", index) + 1;
    *class = index == 2 ? MPI_T_PVAR_CLASS_LEVEL : MPI_T_PVAR_CLASS_COUNTER;
    *type = MPI_UNSIGNED_LONG_LONG;
    *binding = MPI_T_BIND_NO_OBJECT;
    *verbosity = *atomic = 0;
    *fixed = *continuous = 1;
    *values = MPI_T_ENUM_NULL;
    description[0] = '\0';
    *size = 1;
    return MPI_SUCCESS;
}

int MPI_T_pvar_session_create(MPI_T_pvar_session *session) {
    *session = NULL;
    return MPI_SUCCESS;
}

int MPI_T_pvar_session_free(MPI_T_pvar_session *session) {
    (void)session;
    return MPI_SUCCESS;
}

int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                            MPI_T_pvar_handle *handle, int *count) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)session;
    (void)object;
    *handle = NULL;
    *count = 1;
    return index == 1 && rank == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle) {
    (void)session;
    (void)handle;
    return MPI_SUCCESS;
}

int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *value) {
    (void)session;
    (void)handle;
    *(unsigned long long *)value = calls;
    return MPI_SUCCESS;
}
