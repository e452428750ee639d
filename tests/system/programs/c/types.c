/* Datatypes: every constructor, used in messages; decoding, attributes, packing, names, sizes of
 * handles that are reused. */
#include "program.h"

#include <stddef.h>

static void send_self(const void *out, void *in, int n, MPI_Datatype type) {
    MPI_Status s;
    int count = -1;
    OK(MPI_Sendrecv(out, n, type, rank, 1, in, n, type, rank, 1, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(
        &s, type,
        &count)); /* not MPI_Get_elements: MPICH 4.0.2 divides by zero in it for some types */
    CHECK(count == n);
}

static long check(MPI_Datatype type, const char *what) {
    int out[64], in[64], bytes = 0, ints, addresses, types, combiner, commutes;
    long sum = 0;
    MPI_Aint lb, extent;
    MPI_Count large;
    (void)commutes;
    for (int i = 0; i < 64; i++) {
        out[i] = i + 1;
        in[i] = 0;
    }
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size(type, &bytes));
    OK(MPI_Type_size_x(type, &large));
    OK(MPI_Type_get_extent(type, &lb, &extent));
    OK(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
    CHECK(large == bytes && combiner != MPI_COMBINER_NAMED);
    send_self(out, in, 1, type);
    for (int i = 0; i < 64; i++)
        sum += (long)in[i] * (i + 1);
    say("%s size %d extent %ld sum %ld", what, bytes, (long)extent, sum);
    OK(MPI_Type_free(&type));
    return sum;
}

static void constructors(void) {
    MPI_Datatype t, inner;
    int lengths[2] = {2, 1}, displs[2] = {0, 5}, sizes[2] = {4, 4}, sub[2] = {2, 2},
        start[2] = {1, 1};
    MPI_Aint bytes[2] = {0, 24};
    MPI_Datatype kinds[2] = {MPI_INT, MPI_FLOAT};
    OK(MPI_Type_contiguous(3, MPI_INT, &t));
    check(t, "contiguous");
    OK(MPI_Type_vector(2, 2, 4, MPI_INT, &t));
    check(t, "vector");
    OK(MPI_Type_create_hvector(2, 2, 20, MPI_INT, &t));
    check(t, "hvector");
    OK(MPI_Type_indexed(2, lengths, displs, MPI_INT, &t));
    check(t, "indexed");
    OK(MPI_Type_create_indexed_block(2, 2, displs, MPI_INT, &t));
    check(t, "indexed_block");
    OK(MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t));
    check(t, "hindexed");
    OK(MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &t));
    check(t, "hindexed_block");
    OK(MPI_Type_create_struct(2, lengths, bytes, kinds, &t));
    check(t, "struct");
    OK(MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &t));
    check(t, "subarray");
    OK(MPI_Type_contiguous(2, MPI_INT, &inner));
    OK(MPI_Type_create_resized(inner, 0, 32, &t));
    check(t, "resized");
    OK(MPI_Type_dup(inner, &t));
    check(t, "dup");
    OK(MPI_Type_free(&inner));
    for (int i = 1; i < 200; i++) { /* reused handles with different sizes */
        int size_bytes;
        OK(MPI_Type_contiguous(i, MPI_BYTE, &t));
        OK(MPI_Type_commit(&t));
        char a[200] = {0}, b[200];
        a[i - 1] = (char)i;
        OK(MPI_Sendrecv(a, 1, t, rank, 2, b, 1, t, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Type_size(t, &size_bytes));
        CHECK(b[i - 1] == (char)i && size_bytes == i);
        OK(MPI_Type_free(&t));
    }
}

static int deleted;

static int delete_fn(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    MPI_Datatype t;
    int key, flag, n = 0, position = 0, in[3] = {0}, values[3] = {rank, 5, 6};
    char buffer[200], name[MPI_MAX_OBJECT_NAME];
    void *value;
    MPI_Aint external, lb, extent;
    constructors();
    OK(MPI_Type_contiguous(2, MPI_DOUBLE, &t));
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_fn, &key, NULL));
    OK(MPI_Type_set_attr(t, key, name));
    OK(MPI_Type_get_attr(t, key, &value, &flag));
    CHECK(flag && value == name);
    OK(MPI_Type_set_name(t, "pair"));
    OK(MPI_Type_get_name(t, name, &n));
    CHECK(strcmp(name, "pair") == 0);
    OK(MPI_Type_get_true_extent(t, &lb, &extent));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free_keyval(&key));
    say("deleted %d", deleted);
    OK(MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &n));
    OK(MPI_Pack(values, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Sendrecv_replace(buffer, position, MPI_PACKED, (rank + 1) % size, 1,
                            (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    position = 0;
    OK(MPI_Unpack(buffer, sizeof buffer, &position, in, 3, MPI_INT, MPI_COMM_WORLD));
    say("pack %d %d %d", in[0], in[1], in[2]);
    OK(MPI_Pack_external_size("external32", 3, MPI_INT, &external));
    lb = 0;
    OK(MPI_Pack_external("external32", values, 3, MPI_INT, buffer, sizeof buffer, &lb));
    lb = 0;
    OK(MPI_Unpack_external("external32", buffer, sizeof buffer, &lb, in, 3, MPI_INT));
    say("external %d %d %d", in[0], in[1], in[2]);
    return end_program();
}
