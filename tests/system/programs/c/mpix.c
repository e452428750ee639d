/* MPICH's extensions: generalized requests with functions to poll and wait, kinds of memory, errors
 * that are taken back. Its fault tolerance (MPIX_Comm_*) ends in an assertion of its own. */
#include "program.h"

static int polled, queried;

static int query(void *extra, MPI_Status *status) {
    (void)extra;
    queried++;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing(void *extra) {
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static int poll_function(void *extra, MPI_Status *status) {
    (void)status;
    if (++polled > 3) {
        MPI_Request *request = extra;
        MPI_Grequest_complete(*request);
    }
    return MPI_SUCCESS;
}

static int wait_function(int n, void **extra, double timeout, MPI_Status *status) {
    (void)timeout;
    for (int i = 0; i < n; i++)
        while (polled <= 3)
            poll_function(extra[i], status);
    return MPI_SUCCESS;
}

static void requests(void) {
    MPI_Request r;
    MPIX_Grequest_class class;
    OK(MPIX_Grequest_start(query, nothing, cancel, poll_function, wait_function, &r, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    polled = 0;
    OK(MPIX_Grequest_class_create(query, nothing, cancel, poll_function, wait_function, &class));
    OK(MPIX_Grequest_class_allocate(class, &r, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    say("requests polled %d queried %d", polled > 3, queried);
}

static void errors(void) {
    int class, code;
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "an error"));
#if MPICH_NUMVERSION < 40200000 /* MPI-4.1 has them under names of its own, see mpi41.c */
    OK(MPIX_Delete_error_string(code));
    OK(MPIX_Delete_error_code(code));
    OK(MPIX_Delete_error_class(class));
#endif
}

int main(int argc, char **argv) {
    int flag = -1;
    start_program(&argc, &argv);
    OK(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &flag));
    say("gpu %d %d %d %d", flag, MPIX_Query_cuda_support(), MPIX_Query_hip_support(),
        MPIX_Query_ze_support());
    requests();
    errors();
    return end_program();
}
