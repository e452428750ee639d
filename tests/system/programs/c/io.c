/* MPI I/O: individual, explicit offsets, shared pointer, ordered, split collectives, nonblocking,
 * views, errors that return. */
#include "program.h"

static long mix(long sum, const int *v, int n) {
    for (int i = 0; i < n; i++)
        sum = (sum * 31 + v[i] + 7) % 1000003;
    return sum;
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int a[8], b[8] = {0}, flag, amode, count;
    long sum = 0;
    const char *dir = getenv("TMPDIR");
    char path[4096] = "";
    MPI_File f, missing;
    MPI_Request r[4];
    MPI_Status s;
    MPI_Offset where, bytes, displacement;
    MPI_Datatype spaced, etype, ftype;
    MPI_Info info;
    MPI_Group group;
    MPI_Aint extent;
    if (rank == 0)
        snprintf(path, sizeof path, "%s/program-io.%d", dir ? dir : "/tmp", (int)getpid());
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int i = 0; i < 8; i++)
        a[i] = rank * 100 + i;

    CHECK(MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDONLY, MPI_INFO_NULL,
                        &missing) != MPI_SUCCESS);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_get_amode(f, &amode));
    CHECK(amode & MPI_MODE_RDWR);
    OK(MPI_File_set_size(f, 0));
    OK(MPI_File_preallocate(f, 1000));
    OK(MPI_File_get_size(f, &bytes));
    CHECK(bytes >= 1000);

    where = rank * (MPI_Offset)sizeof a;
    OK(MPI_File_write_at(f, where, a, 8, MPI_INT, &s));
    OK(MPI_Get_count(&s, MPI_INT, &count));
    CHECK(count == 8);
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at(f, (rank + 1) % size * (MPI_Offset)sizeof a, b, 8, MPI_INT,
                        MPI_STATUS_IGNORE));
    sum = mix(sum, b, 8);
    OK(MPI_File_write_at_all(f, where, b, 8, MPI_INT, &s));
    OK(MPI_File_read_at_all(f, where, b, 8, MPI_INT, &s));
    sum = mix(sum, b, 8);
    OK(MPI_File_seek(f, where, MPI_SEEK_SET));
    OK(MPI_File_write(f, a, 4, MPI_INT, &s));
    OK(MPI_File_get_position(f, &displacement));
    OK(MPI_File_get_byte_offset(f, displacement, &displacement));
    CHECK(displacement == where + 16);
    OK(MPI_File_write_all(f, a + 4, 4, MPI_INT, &s));
    OK(MPI_File_seek(f, where, MPI_SEEK_SET));
    OK(MPI_File_read_all(f, b, 4, MPI_INT, &s));
    OK(MPI_File_read(f, b + 4, 4, MPI_INT, &s));
    sum = mix(sum, b, 8);

    /* nonblocking, mixed with a message */
    OK(MPI_File_iwrite_at(f, where, a, 8, MPI_INT, &r[0]));
    OK(MPI_Irecv(b, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Isend(a, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &r[2]));
    OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    OK(MPI_File_iread_at(f, where, b, 8, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], &s));
    sum = mix(sum, b, 8);
    OK(MPI_File_seek(f, where, MPI_SEEK_SET));
    OK(MPI_File_iwrite(f, a, 8, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_File_seek(f, where, MPI_SEEK_SET));
    OK(MPI_File_iread(f, b, 8, MPI_INT, &r[0]));
    for (flag = 0; !flag; nap_ms(flag ? 0 : 1))
        OK(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE));
    OK(MPI_File_iwrite_at_all(f, where, a, 8, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at_all(f, where, b, 8, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    sum = mix(sum, b, 8);

    /* split collectives */
    OK(MPI_File_write_at_all_begin(f, where, a, 8, MPI_INT));
    OK(MPI_File_write_at_all_end(f, a, &s));
    OK(MPI_File_read_at_all_begin(f, where, b, 8, MPI_INT));
    OK(MPI_File_read_at_all_end(f, b, MPI_STATUS_IGNORE));
    sum = mix(sum, b, 8);

    /* a view that interleaves the ranks */
    OK(MPI_Type_vector(2, 4, 4 * size, MPI_INT, &spaced));
    OK(MPI_Type_commit(&spaced));
    OK(MPI_File_set_view(f, rank * (MPI_Offset)16, MPI_INT, spaced, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(f, a, 8, MPI_INT, &s));
    char rep[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_get_view(f, &displacement, &etype, &ftype, rep));
    CHECK(displacement == rank * 16 && strcmp(rep, "native") == 0);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_read_at_all(f, rank * 8, b, 8, MPI_INT, &s));
    sum = mix(sum, b, 8);
    OK(MPI_Type_free(&spaced));

    /* shared pointer */
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_write_ordered(f, a, 2, MPI_INT, &s));
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(f, b, 2, MPI_INT, &s));
    sum = mix(sum, b, 2);
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_write_shared(f, b, 1, MPI_INT, &s));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_position_shared(f, &displacement));
    CHECK(displacement == size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_read_shared(f, b, 1, MPI_INT, &s));

    OK(MPI_File_set_atomicity(f, 0));
    OK(MPI_File_get_atomicity(f, &flag));
    OK(MPI_File_get_info(f, &info));
    OK(MPI_Info_free(&info));
    OK(MPI_File_get_group(f, &group));
    OK(MPI_Group_free(&group));
    OK(MPI_File_get_type_extent(f, MPI_INT, &extent));
    CHECK(extent == (MPI_Aint)sizeof(int));
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    say("io %ld", sum);
    return end_program();
}
