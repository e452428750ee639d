/* MPI-4.1: status fields, buffers of communicators and sessions, status of several requests, errors
 * that are taken back, conversions that are functions now. MPICH from 4.2 on, and its extensions of
 * that version that need no device. */
#include "program.h"

#include <stdlib.h>

static void statuses(void) {
    MPI_Status s;
    int source = 0, tag = 0, error = 0, count = 0;
    memset(&s, 0, sizeof s);
    OK(MPI_Status_set_source(&s, 3));
    OK(MPI_Status_set_tag(&s, 4));
    OK(MPI_Status_set_error(&s, MPI_ERR_TAG));
    OK(MPI_Status_set_elements_c(&s, MPI_INT, 5));
    OK(MPI_Status_get_source(&s, &source));
    OK(MPI_Status_get_tag(&s, &tag));
    OK(MPI_Status_get_error(&s, &error));
    OK(MPI_Get_elements(&s, MPI_INT, &count));
    say("status %d %d %d %d", source, tag, error == MPI_ERR_TAG, count);
}

static void several_requests(int to, int from) {
    int in[3] = {0}, flag = 0, index = -1, done = 0, indices[3];
    MPI_Request r[3], sends[3];
    MPI_Status s[3];
    for (int i = 0; i < 3; i++)
        OK(MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &r[i]));
    for (int i = 0; i < 3; i++)
        OK(MPI_Isend(&rank, 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]));
    while (!flag)
        OK(MPI_Request_get_status_all(3, r, &flag, s));
    OK(MPI_Request_get_status_any(3, r, &index, &flag, s));
    CHECK(flag && index == 0);
    OK(MPI_Request_get_status_some(3, r, &done, indices, s));
    CHECK(done == 3);
    OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    say("requests %d %d %d", in[0], in[1], in[2]);
}

static void buffers(int to, int from) {
    enum { BYTES = 4096 };
    static char memory[BYTES];
    void *given = NULL;
    int size_given = 0, in = -1;
    MPI_Count large = 0;
    MPI_Request r;
    MPI_Session session;
    OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, memory, BYTES));
    OK(MPI_Bsend(&rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(&in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Comm_flush_buffer(MPI_COMM_WORLD));
    OK(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &given, &size_given));
    CHECK(given == memory && size_given == BYTES);
    OK(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, memory, BYTES));
    OK(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &given, &large));
    CHECK(given == memory && large == BYTES);
    OK(MPI_Buffer_attach(memory, BYTES));
    OK(MPI_Buffer_flush());
    OK(MPI_Buffer_iflush(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&given, &size_given));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_attach_buffer(session, memory, BYTES));
    OK(MPI_Session_flush_buffer(session));
    OK(MPI_Session_iflush_buffer(session, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Session_detach_buffer(session, &given, &size_given));
    OK(MPI_Session_attach_buffer_c(session, memory, BYTES));
    OK(MPI_Session_detach_buffer_c(session, &given, &large));
    CHECK(MPI_Session_f2c(MPI_Session_c2f(session)) == session);
    OK(MPI_Session_finalize(&session));
    say("buffers %d", in);
}

static void conversions(void) {
    MPI_Group group;
    MPI_Win win;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&group));
}

static void others(void) {
    int class, code, flag = -1;
    MPI_Info info;
    MPI_Datatype pair;
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "an error"));
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_free(&info));
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    OK(MPIX_Comm_test_threadcomm(MPI_COMM_WORLD, &flag));
    say("pair %d thread communicator %d", pair == MPI_DOUBLE_INT, flag);
}

static void extensions(void) {
    MPI_Count n = 0, bytes = 0;
    MPI_Datatype type;
    MPI_Info info;
    MPIX_Iov iov[4];
    MPIX_Stream stream;
    OK(MPI_Info_create(&info));
    OK(MPIX_Info_set_hex(info, "number", &rank, sizeof rank));
    OK(MPI_Info_free(&info));
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPIX_Type_iov_len(type, 1 << 20, &n, &bytes));
    OK(MPIX_Type_iov(type, 0, iov, 4, &n));
    OK(MPI_Type_free(&type));
    OK(MPIX_Stream_create(MPI_INFO_NULL, &stream));
    OK(MPIX_Stream_progress(stream));
    OK(MPIX_Stream_free(&stream));
    say("parts %ld bytes %ld", (long)n, (long)bytes);
}

int main(int argc, char **argv) {
    setenv("MPIR_CVAR_CH4_RESERVE_VCIS", "2", 1); /* else MPICH gives no streams */
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    statuses();
    several_requests(to, from);
    buffers(to, from);
    conversions();
    others();
    extensions();
    return end_program();
}
