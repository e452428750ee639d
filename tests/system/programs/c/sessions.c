/* Sessions beside the world: error handlers, process sets, info; communicators made of groups. */
#include "intercomm_from_groups.h"
#include "program.h"

static int errors;

static void count_error(MPI_Session *session, int *code, ...) {
    (void)session, (void)code;
    errors++;
}

static void handlers(void) {
    MPI_Session session;
    MPI_Errhandler handler, old;
    MPI_Info info;
    int length = 64, flag = 0;
    char value[64] = "";
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(MPI_Session_f2c(MPI_Session_c2f(session)) == session);
    OK(MPI_Session_create_errhandler(count_error, &handler));
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

/* What Debian's MPICH declares, but does not have, and a function of Open MPI's own. */
static void of_open_mpi(void) {
#if defined(OPEN_MPI)
    MPI_Session session;
    MPI_Info info;
    MPI_Status status = {.MPI_SOURCE = 3, .MPI_TAG = 4}, back = {.MPI_SOURCE = 0};
    MPI_F08_status fortran = {0}, again = {0};
    MPI_Fint words[sizeof(MPI_Status) / sizeof(MPI_Fint)] = {0};
    OK(MPI_Status_c2f08(&status, &fortran));
    OK(MPI_Status_f082f(&fortran, words));
    OK(MPI_Status_f2f08(words, &again));
    OK(MPI_Status_f082c(&again, &back));
    say("status %d %d", back.MPI_SOURCE, back.MPI_TAG);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Info_create(&info));
    OK(MPI_Session_set_info(session, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Session_finalize(&session));
#endif
}

int main(int argc, char **argv) {
    MPI_Info info;
    start_program(&argc, &argv);
    handlers();
    intercomm_from_groups("latecomer.sessions");
    of_open_mpi();
    OK(MPI_Info_create_env(1, argv, &info));
    OK(MPI_Info_free(&info));
    return end_program();
}
