/* A library that is preloaded: an MPI with performance variables of every class. Most count calls
 * of MPI_Bcast in their own way; rank 1 cannot read one of the counters. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static unsigned long long calls, since_reset;

enum variable { GROWS, NOT_EVERYWHERE, LEVEL, MARK, SHARE, STATE, GENERIC, OF_OBJECT, SIZE, TIME };

static const struct {
    const char *name;
    int class, fixed;
    int is_double;
} variables[] = {[GROWS] = {"runtime_spc_grows", MPI_T_PVAR_CLASS_COUNTER, 1, 0},
                 [NOT_EVERYWHERE] = {"runtime_spc_not_everywhere", MPI_T_PVAR_CLASS_COUNTER, 1, 0},
                 [LEVEL] = {"runtime_spc_level", MPI_T_PVAR_CLASS_LEVEL, 1, 0},
                 [MARK] = {"runtime_spc_mark", MPI_T_PVAR_CLASS_HIGHWATERMARK, 0, 0},
                 [SHARE] = {"runtime_spc_share", MPI_T_PVAR_CLASS_PERCENTAGE, 1, 1},
                 [STATE] = {"runtime_spc_state", MPI_T_PVAR_CLASS_STATE, 1, 0},
                 [GENERIC] = {"runtime_spc_generic", MPI_T_PVAR_CLASS_GENERIC, 1, 0},
                 [OF_OBJECT] = {"runtime_spc_of_object", MPI_T_PVAR_CLASS_COUNTER, 1, 0},
                 [SIZE] = {"runtime_spc_size", MPI_T_PVAR_CLASS_SIZE, 1, 0},
                 [TIME] = {"runtime_spc_time", MPI_T_PVAR_CLASS_TIMER, 1, 1}};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    calls++;
    since_reset++;
    return PMPI_Bcast(data, n, type, root, comm);
}

int MPI_T_pvar_get_num(int *n) {
    *n = VARIABLES;
    return MPI_SUCCESS;
}

int MPI_T_pvar_get_info(int index, char *name, int *name_size, int *verbosity, int *class,
                        MPI_Datatype *type, MPI_T_enum *values, char *description, int *size,
                        int *binding, int *fixed, int *continuous, int *atomic) {
    *name_size = snprintf(name, (size_t)*name_size, "%s", variables[index].name) + 1;
    *class = variables[index].class;
    *type = variables[index].is_double ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG;
    *binding = index == OF_OBJECT ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT;
    *verbosity = *atomic = 0;
    *fixed = variables[index].fixed;
    *continuous = 1;
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
    *handle = (MPI_T_pvar_handle)(intptr_t)(index + 1);
    *count = 1;
    return index == NOT_EVERYWHERE && rank == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle) {
    (void)session;
    (void)handle;
    return MPI_SUCCESS;
}

int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    (void)session;
    if ((intptr_t)handle != MARK + 1)
        return MPI_T_ERR_PVAR_NO_WRITE;
    since_reset = 0;
    return MPI_SUCCESS;
}

int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *value) {
    int index = (int)((intptr_t)handle - 1);
    (void)session;
    if (index == SHARE)
        *(double *)value = 0.25;
    else if (index == TIME)
        *(double *)value = 2e-6 * (double)calls;
    else
        *(unsigned long long *)value = index == MARK    ? since_reset
                                       : index == STATE ? calls % 2
                                                        : calls;
    return MPI_SUCCESS;
}
