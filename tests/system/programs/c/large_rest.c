/* What MPI-4.0 has beside messages and collectives: types and packing with large counts, windows,
 * operators, sessions with error handlers. MPICH only. */
#include "intercomm_from_groups.h"
#include "program.h"

static long sum;
static int errors;

static void mix(const int *values, int n) {
    for (int i = 0; i < n; i++)
        sum = (sum * 31 + values[i]) % 1000003;
}

/* Sends one element of a new type around and frees it. */
static void use(MPI_Datatype type) {
    int a[32], b[32] = {0};
    for (int i = 0; i < 32; i++)
        a[i] = rank + i;
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(a, 1, type, (rank + 1) % size, 1, b, 1, type, (rank + size - 1) % size, 1,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    mix(b, 32);
    OK(MPI_Type_free(&type));
}

static void types(void) {
    MPI_Count n[2] = {1, 2}, where[2] = {0, 16}, eight = 8, four = 4, zero = 0, elements;
    int one = 1, block = MPI_DISTRIBUTE_BLOCK, argument = MPI_DISTRIBUTE_DFLT_DARG, combiner;
    MPI_Datatype t, two[2] = {MPI_INT, MPI_INT};
    OK(MPI_Type_create_darray_c(1, 0, 1, &eight, &block, &argument, &one, MPI_ORDER_C, MPI_INT,
                                &t));
    use(t);
    OK(MPI_Type_create_hindexed_block_c(2, 1, where, MPI_INT, &t));
    use(t);
    OK(MPI_Type_create_hindexed_c(2, n, where, MPI_INT, &t));
    use(t);
    OK(MPI_Type_create_hvector_c(2, 1, 12, MPI_INT, &t));
    use(t);
    OK(MPI_Type_create_indexed_block_c(2, 1, (MPI_Count[]){0, 3}, MPI_INT, &t));
    use(t);
    OK(MPI_Type_indexed_c(2, n, (MPI_Count[]){0, 3}, MPI_INT, &t));
    use(t);
    OK(MPI_Type_create_subarray_c(1, &eight, &four, &zero, MPI_ORDER_C, MPI_INT, &t));
    use(t);
    OK(MPI_Type_create_struct_c(2, n, where, two, &t));
    MPI_Count integers, addresses, large, kinds, lower, extent;
    int numbers[8];
    MPI_Aint places[8];
    MPI_Count counts[8];
    MPI_Datatype inner[8];
    OK(MPI_Type_get_envelope_c(t, &integers, &addresses, &large, &kinds, &combiner));
    CHECK(integers <= 8 && addresses <= 8 && large <= 8 && kinds == 2);
    OK(MPI_Type_get_contents_c(t, integers, addresses, large, kinds, numbers, places, counts,
                               inner));
    OK(MPI_Type_get_true_extent_c(t, &lower, &extent));
    CHECK(inner[0] == MPI_INT && lower == 0 && extent == 24);
    use(t);
    MPI_Status s;
    OK(MPI_Sendrecv(&one, 1, MPI_INT, rank, 2, &block, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &s));
    OK(MPI_Get_elements_c(&s, MPI_INT, &elements));
    CHECK(elements == 1);
}

static void external(void) {
    char packed[64];
    int a[4] = {1, 2, 3, rank}, b[4] = {0};
    MPI_Count bytes = 0, place = 0;
    OK(MPI_Pack_external_size_c("external32", 4, MPI_INT, &bytes));
    CHECK(bytes == 16);
    OK(MPI_Pack_external_c("external32", a, 4, MPI_INT, packed, sizeof packed, &place));
    place = 0;
    OK(MPI_Unpack_external_c("external32", packed, sizeof packed, &place, b, 4, MPI_INT));
    mix(b, 4);
}

static void smallest(void *in, void *inout, MPI_Count *n, MPI_Datatype *type) {
    (void)type;
    for (MPI_Count i = 0; i < *n; i++)
        if (((int *)in)[i] < ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void operators(void) {
    MPI_Op op;
    int out = 100 - rank, in = -1;
    OK(MPI_Op_create_c(smallest, 1, &op));
    OK(MPI_Allreduce(&out, &in, 1, MPI_INT, op, MPI_COMM_WORLD));
    OK(MPI_Op_free(&op));
    CHECK(in == 100 - (size - 1));
}

static void windows(void) {
    int local[4] = {0}, *shared = NULL, *theirs = NULL;
    MPI_Aint bytes, unit;
    MPI_Win win;
    OK(MPI_Win_create_c(local, sizeof local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    mix(local, 4);
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate_shared_c(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared,
                                 &win));
    *shared = rank + 40;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_shared_query_c(win, 0, &bytes, &unit, &theirs));
    CHECK(bytes == sizeof(int) && unit == sizeof(int) && *theirs == 40);
    OK(MPI_Win_free(&win));
}

static void session_error(MPI_Session *session, int *code, ...) {
    (void)session, (void)code;
    errors++;
}

static void sessions(void) {
    MPI_Session session;
    MPI_Errhandler handler, old;
    MPI_Info info;
    int length = 64, flag = 0;
    char value[64];
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_create_errhandler(session_error, &handler));
    OK(MPI_Session_get_errhandler(session, &old));
    OK(MPI_Session_set_errhandler(session, handler));
    OK(MPI_Session_call_errhandler(session, MPI_ERR_ARG));
    OK(MPI_Session_set_errhandler(session, old));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Session_get_pset_info(session, "mpi://WORLD", &info));
    OK(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
    OK(MPI_Info_free(&info));
    OK(MPI_Session_finalize(&session));
    say("session errors %d size %s", errors, flag ? value : "?");
}

static void communicators(void) {
    MPI_Comm dup;
    MPI_Request r;
    int all = 0;
    OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &dup, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, dup));
    mix(&all, 1);
    OK(MPI_Comm_free(&dup));
    intercomm_from_groups("latecomer.inter");
}

static int extent_fn(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    (void)type, (void)extra;
    *extent = 4;
    return MPI_SUCCESS;
}

static void files(void) {
    char path[4096] = "";
    const char *dir = getenv("TMPDIR");
    MPI_File f;
    MPI_Count extent = 0;
    if (rank == 0)
        snprintf(path, sizeof path, "%s/large-rest.%d", dir ? dir : "/tmp", (int)getpid());
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_get_type_extent_c(f, MPI_INT, &extent));
    CHECK(extent == sizeof(int));
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    (void)MPI_Register_datarep_c("latecomer_c", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C,
                                 extent_fn, NULL);
}

static void others(char **argv) {
    MPI_Info info;
    int out[2] = {rank, rank + 1}, in[2] = {-1, -1}, from = (rank + size - 1) % size;
    MPI_Request r[2];
    char buffer[1024 + MPI_BSEND_OVERHEAD];
    void *detached;
    OK(MPI_Info_create_env(1, argv, &info));
    OK(MPI_Info_free(&info));
    CHECK(MPI_Aint_add(8, 8) == 16 && MPI_Aint_diff(24, 8) == 16);
    MPI_Count bytes = 0;
    OK(MPI_Buffer_attach_c(buffer, sizeof buffer));
    OK(MPI_Bsend_init_c(&out[0], 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Recv_init(&in[0], 1, MPI_INT, from, 4, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Startall(2, r));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    OK(MPI_Buffer_detach_c(&detached, &bytes));
    OK(MPI_Rsend_init_c(&out[1], 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Irecv(&in[1], 1, MPI_INT, from, 5, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* every receive is posted */
    OK(MPI_Start(&r[0]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&r[0]));
    mix(in, 2);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    types();
    external();
    operators();
    windows();
    sessions();
    if (size > 1)
        communicators();
    files();
    others(argv);
    say("large rest %ld", sum);
    return end_program();
}
