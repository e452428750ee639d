/* What is known of functions of MPI: by the names of programs and of traces, the same for large
 * counts, and as other tools of the field have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/mpi_function.h"

static void names_of_programs(void **state) {
    (void)state;
    assert_int_equal(lc_mpi_find("MPI_Send")->kind, LC_MPI_KIND_SEND);
    assert_int_equal(lc_mpi_find("MPI_Ssend")->kind, LC_MPI_KIND_SSEND);
    assert_int_equal(lc_mpi_find("MPI_Waitsome")->wait, LC_MPI_WAIT_COMPLETIONS);
    assert_int_equal(lc_mpi_find("MPI_Win_allocate")->role, LC_MPI_ROLE_ALLOCATE);
    static const char *const others[] = {"MPI_SEND",  "mpi_send", "Send", "MPI_Send_", "MPI_Sen",
                                         "MPI_Sendd", "main",     "",     "_"};
    static const struct lc_mpi_function nothing = {.operation = LC_MPI_OP_NONE};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_memory_equal(lc_mpi_find(others[i]), &nothing, sizeof nothing);
}

static void names_of_traces(void **state) {
    (void)state;
    static const char *const send[] = {"MPI_Send", "MPI_SEND", "mpi_send_", "mpi_send__"};
    for (size_t i = 0; i < sizeof send / sizeof send[0]; i++)
        assert_ptr_equal(lc_mpi_find_region(send[i]), lc_mpi_find("MPI_Send"));
    char longer[256];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(lc_mpi_find_region(longer)->kind, LC_MPI_KIND_NONE);
    assert_int_equal(lc_mpi_find_region("____")->kind, LC_MPI_KIND_NONE);
}

/* The first line of the table, and the last. */
static void ends_of_the_table(void **state) {
    (void)state;
    assert_int_equal(lc_mpi_find("MPIX_Stream_send")->kind, LC_MPI_KIND_SEND);
    assert_int_equal(lc_mpi_find("MPI_Abort")->operation, LC_MPI_OP_NONE);
    assert_int_equal(lc_mpi_find("MPI_Wtime")->flags, LC_MPI_LOCAL | LC_MPI_POLLED);
}

static void large_counts(void **state) {
    (void)state;
    static const char *const names[] = {"MPI_Send",      "MPI_Recv",       "MPI_Isend",
                                        "MPI_Bcast",     "MPI_Iallreduce", "MPI_Put",
                                        "MPI_Allgather", "MPI_Sendrecv",   "MPI_File_write_at_all"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char large[64] = "";
        strcat(strcat(large, names[i]), "_c");
        assert_memory_equal(lc_mpi_find(large), lc_mpi_find(names[i]),
                            sizeof(struct lc_mpi_function));
    }
}

/* Numbers of OTF2_CollectiveOp; also of neighbours, nonblocking, persistent. */
static void operations(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int number;
    } wanted[] = {{"MPI_Barrier", 0},
                  {"MPI_Ibcast_c", 1},
                  {"MPI_Scatterv_init", 5},
                  {"MPI_Neighbor_allgather", 6},
                  {"MPI_Ineighbor_alltoallw", 10},
                  {"MPIX_Allreduce_init", 11},
                  {"MPI_Reduce_scatter", 13},
                  {"MPI_Scan", 14},
                  {"MPI_Exscan", 15},
                  {"MPI_Ireduce_scatter_block_c", 16},
                  {"MPI_Reduce_local", LC_MPI_OP_NONE},
                  {"MPI_Send", LC_MPI_OP_NONE}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_int_equal(lc_mpi_find(wanted[i].name)->operation, wanted[i].number);
}

static void estimated_locally(void **state) {
    (void)state;
    assert_true(lc_mpi_estimated_locally(lc_mpi_find("MPI_Recv_c")));
    assert_true(lc_mpi_estimated_locally(lc_mpi_find("MPI_Wait")));
    assert_false(lc_mpi_estimated_locally(lc_mpi_find("MPI_Waitall")));
    assert_false(lc_mpi_estimated_locally(lc_mpi_find("MPI_Send")));
    assert_false(lc_mpi_estimated_locally(lc_mpi_find("MPI_Barrier")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_programs), cmocka_unit_test(names_of_traces),
        cmocka_unit_test(ends_of_the_table), cmocka_unit_test(large_counts),
        cmocka_unit_test(operations),        cmocka_unit_test(estimated_locally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
