/* Open MPI's handles are addresses of objects of its library, which a program without MPI has not
 * loaded: only the addresses are needed, and that they differ. mpi.h is not included here: it
 * declares them with types that it does not define. */
/* NOLINTBEGIN(bugprone-macro-parentheses): the macro declares `name` */
#define OBJECT(name)                                                                               \
    extern char name[1];                                                                           \
    char name[1]
/* NOLINTEND(bugprone-macro-parentheses) */
OBJECT(ompi_message_no_proc);
OBJECT(ompi_message_null);
OBJECT(ompi_mpi_byte);
OBJECT(ompi_mpi_char);
OBJECT(ompi_mpi_comm_null);
OBJECT(ompi_mpi_comm_self);
OBJECT(ompi_mpi_comm_world);
OBJECT(ompi_mpi_datatype_null);
OBJECT(ompi_mpi_double);
OBJECT(ompi_mpi_double_int);
OBJECT(ompi_mpi_errhandler_null);
OBJECT(ompi_mpi_errors_are_fatal);
OBJECT(ompi_mpi_errors_return);
OBJECT(ompi_mpi_file_null);
OBJECT(ompi_mpi_group_null);
OBJECT(ompi_mpi_int);
OBJECT(ompi_mpi_int32_t);
OBJECT(ompi_mpi_op_bor);
OBJECT(ompi_mpi_op_max);
OBJECT(ompi_mpi_op_maxloc);
OBJECT(ompi_mpi_op_min);
OBJECT(ompi_mpi_op_null);
OBJECT(ompi_mpi_op_sum);
OBJECT(ompi_mpi_uint32_t);
OBJECT(ompi_mpi_uint64_t);
OBJECT(ompi_mpi_win_null);
OBJECT(ompi_request_null);
