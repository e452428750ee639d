/* MPI inside the program's callbacks: operators, attribute functions, error handlers (that return),
 * functions of generalized requests. Each call counts, on the path of its callback. */
#include "program.h"

static int handled, reduced, copied;

static void operate(void *in, void *inout, int *n, MPI_Datatype *type) {
    int bytes = 0;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *n && bytes == (int)sizeof(int); i++)
        ((int *)inout)[i] += ((int *)in)[i];
    reduced++;
}

static void on_error(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, class = 0, n = 0;
    MPI_Error_class(*code, &class);
    MPI_Error_string(*code, text, &length);
    MPI_Comm_size(*comm, &n);
    handled += class != MPI_SUCCESS && length > 0 && n == size;
}

static int copy_fn(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    int n = 0;
    (void)key, (void)extra;
    MPI_Comm_size(comm, &n);
    *(void **)out = in;
    *flag = n == size;
    copied++;
    return MPI_SUCCESS;
}

/* Messages between ranks inside a callback: MPI allows them where the communicator still lives. */
static int delete_fn(MPI_Comm comm, int key, void *value, void *extra) {
    int from = -1;
    (void)key, (void)value, (void)extra;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &from, 1, MPI_INT,
                 (rank + size - 1) % size, 5, comm, MPI_STATUS_IGNORE);
    CHECK(from == (rank + size - 1) % size);
    return MPI_SUCCESS;
}

static void operators(MPI_Op op) {
    int sum = 0;
    for (int i = 0; i < 20; i++)
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD));
    OK(MPI_Reduce(&rank, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD));
    OK(MPI_Scan(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD));
    say("scan %d", sum);
}

static void errors(void) {
    MPI_Errhandler handler;
    int value = 1;
    OK(MPI_Comm_create_errhandler(on_error, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    for (int i = 0; i < 3; i++)
        CHECK(MPI_Send(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&handler));
    say("errors handled %d", handled);
}

static void attributes(void) {
    int key;
    MPI_Comm dup;
    OK(MPI_Comm_create_keyval(copy_fn, delete_fn, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        OK(MPI_Comm_free(&dup));
    }
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    OK(MPI_Comm_free_keyval(&key));
    say("copied %d", copied);
}

/* After all that: what messages carry must still match. */
static void messages(void) {
    int in = -1;
    for (int i = 0; i < 10; i++)
        OK(MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 5, &in, 1, MPI_INT,
                        (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    say("messages %d", in);
}

int main(int argc, char **argv) {
    MPI_Op op;
    start_program(&argc, &argv);
    OK(MPI_Op_create(operate, 1, &op));
    operators(op);
    OK(MPI_Op_free(&op));
    errors();
    attributes();
    messages();
    return end_program();
}
