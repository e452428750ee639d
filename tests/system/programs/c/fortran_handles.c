/* Handles to Fortran and back, the functions of MPI-1 that MPI-3 removed or MPI-4 deprecates, names
 * of services, representations of data. */
#include "program.h"

static int copies, deletes, errors;

static int copy_fn(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete_fn(MPI_Comm comm, int key, void *value, void *extra) {
    int sum = 0;
    (void)key, (void)value, (void)extra;
    if (comm != MPI_COMM_WORLD) /* MPI inside a callback, while the communicator still lives */
        OK(MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, comm));
    deletes += sum > 0;
    return MPI_SUCCESS;
}

static void keyvals(void) {
    int key, flag = 0;
    void *value = NULL;
    MPI_Comm dup;
    OK(MPI_Keyval_create(copy_fn, delete_fn, &key, NULL));
    OK(MPI_Attr_put(MPI_COMM_WORLD, key, &key));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Attr_get(dup, key, &value, &flag));
    CHECK(flag && value == &key);
    OK(MPI_Comm_free(&dup));
    OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
    OK(MPI_Keyval_free(&key));
    say("keyvals copies %d deletes %d", copies, deletes);
}

static void on_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    errors++;
}

static void removed(void) {
    int numbers[8], n[2] = {1, 1};
    MPI_Aint at[2], extent = 0, lower = -1, upper = -1;
    MPI_Datatype t, pair[2] = {MPI_INT, MPI_INT};
    MPI_Errhandler handler, old;
    OK(MPI_Address(&numbers[0], &at[0]));
    OK(MPI_Address(&numbers[2], &at[1]));
    at[1] -= at[0];
    at[0] = 0;
    OK(MPI_Type_struct(2, n, at, pair, &t));
    OK(MPI_Type_extent(t, &extent));
    OK(MPI_Type_lb(t, &lower));
    OK(MPI_Type_ub(t, &upper));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_hindexed(2, n, at, MPI_INT, &t));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_hvector(2, 1, 8, MPI_INT, &t));
    OK(MPI_Type_free(&t));
    OK(MPI_Errhandler_create(on_error, &handler));
    OK(MPI_Errhandler_get(MPI_COMM_WORLD, &old));
    OK(MPI_Errhandler_set(MPI_COMM_WORLD, handler));
    CHECK(MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    OK(MPI_Errhandler_set(MPI_COMM_WORLD, old));
    OK(MPI_Errhandler_free(&handler));
    say("removed: extent %d %d %d errors %d", (int)extent, (int)lower, (int)upper, errors);
}
static void to_fortran(void) {
    int out = rank, in = -1;
    MPI_Request r;
    MPI_Message message;
    MPI_Group group;
    MPI_Info info;
    MPI_Win win;
    MPI_Status s;
    MPI_Errhandler handler;
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    OK(MPI_Group_free(&group));
    OK(MPI_Info_create(&info));
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    OK(MPI_Info_free(&info));
    OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    OK(MPI_Win_free(&win));
    OK(MPI_Isend(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &r));
    r = MPI_Request_f2c(MPI_Request_c2f(r));
    OK(MPI_Mprobe(rank, 3, MPI_COMM_WORLD, &message, &s));
    message = MPI_Message_f2c(MPI_Message_c2f(message));
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &s));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(in == rank);
}

static int extent_fn(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    (void)type, (void)extra;
    *extent = 4;
    return MPI_SUCCESS;
}

static int conversion_fn(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                         void *extra) {
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra;
    return MPI_SUCCESS;
}

static void files(void) {
    char path[4096] = "";
    const char *dir = getenv("TMPDIR");
    MPI_File f;
    if (rank == 0)
        snprintf(path, sizeof path, "%s/handles.%d", dir ? dir : "/tmp", (int)getpid());
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    CHECK(MPI_File_f2c(MPI_File_c2f(f)) == f);
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    say("representation registered: %d",
        MPI_Register_datarep("latecomer", conversion_fn, conversion_fn, extent_fn, NULL) ==
            MPI_SUCCESS);
}

/* Needs a name service of the launcher: the answer is what counts, as in the bare run. */
static void names(void) {
    char found[MPI_MAX_PORT_NAME] = "";
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (rank == 0) {
        int published = MPI_Publish_name("latecomer-test", MPI_INFO_NULL, "a port") == MPI_SUCCESS;
        int looked = MPI_Lookup_name("latecomer-test", MPI_INFO_NULL, found) == MPI_SUCCESS;
        int gone = MPI_Unpublish_name("latecomer-test", MPI_INFO_NULL, "a port") == MPI_SUCCESS;
        say("names %d %d %d %s", published, looked, gone, looked ? found : "");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    keyvals();
    removed();
    to_fortran();
    files();
    names();
    return end_program();
}
