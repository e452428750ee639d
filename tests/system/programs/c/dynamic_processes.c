/* Dynamic processes: MPI_Comm_spawn, spawn_multiple, ports with connect and accept. */
#include "program.h"

static int child(MPI_Comm parent) {
    int value = -1, sum = -1, n;
    MPI_Comm merged;
    MPI_Comm_remote_size(parent, &n);
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    value += rank;
    MPI_Reduce(&value, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

/* The launcher of Open MPI 5.0.7 (PRRTE 3.0.8) crashes when it starts two programs in one job. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
enum { MULTIPLE = 0 };
#else
enum { MULTIPLE = 1 };
#endif

static void spawn(char *program, int multiple) {
    int codes[2] = {-1, -1}, value = 100, sum = 0, n = 0, n_each[2] = {1, 1};
    char *programs[2] = {program, program};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children, merged;
    int code = multiple ? MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, n_each, infos, 0,
                                                  MPI_COMM_WORLD, &children, codes)
                        : MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0,
                                         MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (code != MPI_SUCCESS) { /* Debian's MPICH: not supported by its UCX transport */
        say("this MPI cannot spawn");
        return;
    }
    OK(MPI_Comm_remote_size(children, &n));
    OK(MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
    OK(MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
    OK(MPI_Intercomm_merge(children, 0, &merged));
    say("children %d sum %d", n, sum);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_disconnect(&children));
    say("merged %d", sum);
}

/* Ranks 0 and 1 meet through a port. */
static void ports(void) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    int value = rank + 1, got = -1;
    if (rank == 0) { /* Debian's MPICH has no ports: its UCX transport does not support them */
        if (MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS)
            port[0] = '\0';
        OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 9, MPI_COMM_WORLD));
        if (port[0] != '\0')
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    } else if (rank == 1) {
        OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (port[0] != '\0')
            OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    } else {
        return;
    }
    say("ports %d", port[0] != '\0');
    if (port[0] == '\0')
        return;
    OK(MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE));
    OK(MPI_Comm_disconnect(&other));
    if (rank == 0)
        OK(MPI_Close_port(port));
    say("port %d", got);
}

int main(int argc, char **argv) {
    MPI_Comm parent;
    start_program(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL)
        return child(parent);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    spawn(argv[0], 0);
    spawn(argv[0], MULTIPLE);
    if (argc > 1 && strcmp(argv[1], "ports") == 0)
        ports();
    return end_program();
}
