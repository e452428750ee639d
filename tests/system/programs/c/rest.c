/* What else MPI-3.1 has: split and nonblocking collectives of files, their error handlers,
 * attributes of types and windows with callbacks, decoding of types, handles of Fortran, the tools
 * interface. */
#include "program.h"

static int n_copies, n_deletes, n_errors;

static int delete_type(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)value, (void)extra;
    n_deletes++;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
    (void)type, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    n_copies++;
    return MPI_SUCCESS;
}

static int delete_win(MPI_Win win, int key, void *value, void *extra) {
    (void)win, (void)key, (void)value, (void)extra;
    n_deletes++;
    return MPI_SUCCESS;
}

static void file_error(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    n_errors++;
}

static long files(void) {
    int a[4], b[4] = {0};
    long sum = 0;
    char path[4096] = "";
    const char *dir = getenv("TMPDIR");
    MPI_File f;
    MPI_Request r;
    MPI_Status s;
    MPI_Errhandler handler, old;
    MPI_Info info;
    if (rank == 0)
        snprintf(path, sizeof path, "%s/program-rest.%d", dir ? dir : "/tmp", (int)getpid());
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int i = 0; i < 4; i++)
        a[i] = rank * 10 + i;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_create_errhandler(file_error, &handler));
    OK(MPI_File_get_errhandler(f, &old));
    OK(MPI_File_set_errhandler(f, handler));
    OK(MPI_File_call_errhandler(f, MPI_ERR_ARG));
    OK(MPI_File_set_errhandler(f, old));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Info_create(&info));
    OK(MPI_File_set_info(f, info));
    OK(MPI_Info_free(&info));
    OK(MPI_File_set_view(f, rank * (MPI_Offset)sizeof a, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_all_begin(f, a, 4, MPI_INT));
    OK(MPI_File_write_all_end(f, a, &s));
    OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(f, b, 4, MPI_INT));
    OK(MPI_File_read_all_end(f, b, &s));
    for (int i = 0; i < 4; i++)
        sum = sum * 7 + b[i];
    OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
    OK(MPI_File_iwrite_all(f, a, 4, MPI_INT, &r));
    OK(MPI_Wait(&r, &s));
    OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
    OK(MPI_File_iread_all(f, b, 4, MPI_INT, &r));
    OK(MPI_Wait(&r, &s));
    for (int i = 0; i < 4; i++)
        sum = sum * 7 + b[i];
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered_begin(f, a, 4, MPI_INT));
    OK(MPI_File_write_ordered_end(f, a, &s));
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered_begin(f, b, 4, MPI_INT));
    OK(MPI_File_read_ordered_end(f, b, &s));
    for (int i = 0; i < 4; i++)
        sum = sum * 7 + b[i];
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    return sum;
}

static void types(void) {
    int key, flag, four = 4, one[1] = {1}, distribution[1] = {MPI_DISTRIBUTE_BLOCK},
                   argument[1] = {MPI_DISTRIBUTE_DFLT_DARG}, integers[8];
    MPI_Aint addresses[8];
    MPI_Datatype t, other, inner[8], matching;
    MPI_Count lb, extent;
    void *value = NULL;
    OK(MPI_Type_create_darray(1, 0, 1, &four, distribution, argument, one, MPI_ORDER_C, MPI_INT,
                              &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_create_keyval(copy_type, delete_type, &key, NULL));
    OK(MPI_Type_set_attr(t, key, &four));
    OK(MPI_Type_dup(t, &other));
    OK(MPI_Type_get_attr(other, key, &value, &flag));
    CHECK(flag && value == &four);
    OK(MPI_Type_delete_attr(other, key));
    OK(MPI_Type_get_extent_x(t, &lb, &extent));
    CHECK(extent == 4 * sizeof(int));
    OK(MPI_Type_get_true_extent_x(t, &lb, &extent));
    OK(MPI_Type_free(&other));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
    OK(MPI_Type_get_contents(t, 3, 0, 1, integers, addresses, inner));
    CHECK(integers[0] == 2 && inner[0] == MPI_INT);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &matching));
    OK(MPI_Type_create_f90_integer(6, &matching));
    OK(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &matching));
    OK(MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &matching));
    say("types copies %d deletes %d", n_copies, n_deletes);
}

static void windows(void) {
    int key, *memory, flag;
    void *value;
    MPI_Win win;
    MPI_Errhandler handler;
    OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL));
    OK(MPI_Win_set_attr(win, key, &key));
    OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK(flag && value == &key);
    OK(MPI_Win_delete_attr(win, key));
    OK(MPI_Win_free_keyval(&key));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_get_errhandler(win, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    OK(MPI_Win_free(&win));
}

static void handles(void) {
    MPI_Status s, back;
    MPI_Fint fortran[64];
    int in = -1;
    MPI_Count elements = 0;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &s));
    OK(MPI_Status_c2f(&s, fortran));
    OK(MPI_Status_f2c(fortran, &back));
    CHECK(back.MPI_SOURCE == rank && back.MPI_TAG == 1);
    OK(MPI_Get_elements_x(&s, MPI_INT, &elements));
    OK(MPI_Status_set_elements_x(&s, MPI_INT, 3));
    CHECK(elements == 1);
}

static void tools(void) {
    int provided, n, names = 64, descriptions = 64, verbosity, binding, scope;
    char name[64], description[64];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_num(&n));
    CHECK(n > 0);
    OK(MPI_T_cvar_get_info(0, name, &names, &verbosity, &type, &enumeration, description,
                           &descriptions, &binding, &scope));
    OK(MPI_T_pvar_get_num(&n));
    OK(MPI_T_category_get_num(&n));
    OK(MPI_T_category_changed(&n));
    OK(MPI_T_finalize());
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    long sum = files();
    types();
    windows();
    handles();
    tools();
    say("rest %ld errors %d deletes %d", sum, n_errors, n_deletes);
    return end_program();
}
