/* MPI_Comm_join: ranks 0 and 1 become partners over a TCP socket of their own. */
#include "program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int connected_socket(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = -1, fd;
    if (rank == 0) {
        listener = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
              listen(listener, 1) == 0);
        CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
        OK(MPI_Send(&address.sin_port, 1, MPI_UNSIGNED_SHORT, 1, 3, MPI_COMM_WORLD));
        fd = accept(listener, NULL, NULL);
        close(listener);
        return fd;
    }
    OK(MPI_Recv(&address.sin_port, 1, MPI_UNSIGNED_SHORT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    if (rank < 2) {
        MPI_Comm other;
        int fd = connected_socket(), value = rank + 5, got = -1;
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        if (MPI_Comm_join(fd, &other) == MPI_SUCCESS) {
            OK(MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, other,
                            MPI_STATUS_IGNORE));
            OK(MPI_Comm_disconnect(&other));
        } /* else: Debian's MPICH, not supported by its UCX transport */
        close(fd);
        say("joined %d", got);
    }
    return end_program();
}
