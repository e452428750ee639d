/* MPI calls before MPI_Init and after MPI_Finalize, where the standard allows them; MPI_T; fork
 * without exec. */
#include "program.h"

#include <sys/wait.h>

int main(int argc, char **argv) {
    int flag = -1, version, sub, length, provided, n, status = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    OK(MPI_Initialized(&flag));
    CHECK(flag == 0);
    OK(MPI_Finalized(&flag));
    CHECK(flag == 0);
    OK(MPI_Get_version(&version, &sub));
    OK(MPI_Get_library_version(text, &length));
    CHECK(version >= 3 && length > 0);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_num(&n));
    CHECK(n > 0);
    start_program(&argc, &argv);
    OK(MPI_T_pvar_get_num(&n));
    OK(MPI_T_finalize());
    OK(MPI_Initialized(&flag));
    CHECK(flag == 1);
    OK(MPI_Get_processor_name(name, &n));
    CHECK(MPI_Wtime() >= 0 && MPI_Wtick() > 0 && n > 0);
    fflush(stdout);
    pid_t child = fork(); /* without exec: the copy makes no MPI call and must not disturb what its
                             parent measures */
    if (child == 0) {
        volatile double x = 0;
        for (int i = 0; i < 1000; i++)
            x += i;
        _exit(7);
    }
    OK(MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    say("version %d.%d sum %d child %d", version, sub, n, WEXITSTATUS(status));
    child = fork();
    if (child == 0)
        exit(8); /* runs the exit handlers that were inherited */
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 8);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Finalize();
    /* In parentheses: not counted. The result is complete when MPI_Finalize returns. */
    OK((MPI_Finalized)(&flag));
    CHECK(flag == 1);
    OK((MPI_Initialized)(&flag));
    CHECK(flag == 1);
    OK((MPI_Get_version)(&version, &sub));
    return print_tally();
}
