/* Error handlers that return or are the program's own; error classes, codes and strings; MPI_Info;
 * the codes are those of the bare run. */
#include "program.h"

static int handled;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void win_handler(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    handled += 10;
}

static void report(const char *what, int code) {
    int class = -1;
    if (code != MPI_SUCCESS)
        OK(MPI_Error_class(code, &class));
    say("%s class %d", what, class);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    MPI_Errhandler own, old, win_own;
    MPI_Request r = MPI_REQUEST_NULL, many[2];
    MPI_Status s[2];
    int value = 0, class, code, n, data[4] = {1, 2, 3, 4};
    char text[MPI_MAX_ERROR_STRING];
    MPI_Win win;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    report("send to nobody", MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD));
    report("negative count", MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    report("bad tag", MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    report("null communicator", MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    report("null type", MPI_Isend(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &r));
    report("bad root", MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD));
    report("null operation", MPI_Allreduce(&value, data, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF));
    report("recv from nobody", MPI_Irecv(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &r));
    report("group rank", MPI_Comm_split(MPI_COMM_NULL, 0, 0, &(MPI_Comm){MPI_COMM_NULL}));

    /* Truncation: the error is in the receive's code and in the status. */
    OK(MPI_Isend(data, 4, MPI_INT, 0, 3, MPI_COMM_SELF, &many[0]));
    report("truncated", MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&many[0], MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &many[0]));
    OK(MPI_Isend(data, 4, MPI_INT, 0, 4, MPI_COMM_SELF, &many[1]));
    report("waitall", MPI_Waitall(2, many, s));

    OK(MPI_Comm_create_errhandler(handler, &own));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own));
    report("own handler", MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD));
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "late again"));
    OK(MPI_Error_string(code, text, &n));
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, old));
    OK(MPI_Errhandler_free(&own));
    OK(MPI_Errhandler_free(&old));
    OK(MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_create_errhandler(win_handler, &win_own));
    OK(MPI_Win_set_errhandler(win, win_own));
    OK(MPI_Win_call_errhandler(win, code));
    OK(MPI_Errhandler_free(&win_own));
    OK(MPI_Win_free(&win));
    say("handled %d, string '%s'", handled, text);

    MPI_Info info, dup;
    char key[MPI_MAX_INFO_KEY], got[100] = "";
    int flag = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "a", "1"));
    OK(MPI_Info_set(info, "b", "2"));
    OK(MPI_Info_dup(info, &dup));
    OK(MPI_Info_delete(info, "a"));
    OK(MPI_Info_get_nkeys(dup, &n));
    OK(MPI_Info_get_nthkey(info, 0, key));
    OK(MPI_Info_get(dup, "a", 99, got, &flag));
    OK(MPI_Info_get_valuelen(dup, "b", &value, &flag));
    say("info %d %s %s %d", n, key, got, value);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&dup));
    /* A communicator without error handler of its own inherits: still usable after all these
     * errors. */
    OK(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    say("sum %d", value);
    return end_program();
}
