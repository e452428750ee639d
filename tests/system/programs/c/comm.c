/* Communicators and groups: dup, idup, split, split_type, create, create_group, compare, names,
 * attributes with callbacks. */
#include "program.h"

static int copies, deletes;

static int copy_fn(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key;
    *(void **)out = (char *)in + *(int *)extra;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete_fn(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void attributes(void) {
    static int step = 5;
    int key, flag, *tag_ub;
    char *value = NULL;
    MPI_Comm dup, second;
    OK(MPI_Comm_create_keyval(copy_fn, delete_fn, &key, &step));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)100));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_get_attr(dup, key, &value, &flag));
    CHECK(flag && value == (char *)105);
    OK(MPI_Comm_dup(dup, &second));
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free(&second));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag));
    CHECK(flag && *tag_ub >= 32767);
    say("attributes copies %d deletes %d", copies, deletes);
}

static int sum_of(MPI_Comm comm) {
    int sum = 0;
    if (comm == MPI_COMM_NULL)
        return -1;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

static void groups(void) {
    MPI_Group world, part, other, result;
    int ranks[2] = {0, size - 1}, translated[2], n, range[1][3] = {{0, size - 1, 2}}, result_rank;
    MPI_Comm comm;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 2, ranks, &part));
    OK(MPI_Group_excl(world, 1, ranks, &other));
    OK(MPI_Group_union(part, other, &result));
    OK(MPI_Group_size(result, &n));
    CHECK(n == size);
    OK(MPI_Group_free(&result));
    OK(MPI_Group_intersection(part, other, &result));
    OK(MPI_Group_compare(result, part, &n));
    OK(MPI_Group_free(&result));
    OK(MPI_Group_difference(world, part, &result));
    OK(MPI_Group_rank(result, &result_rank));
    OK(MPI_Group_free(&result));
    OK(MPI_Group_translate_ranks(part, 2, (int[]){0, 1}, world, translated));
    CHECK(translated[0] == 0 && translated[1] == size - 1);
    OK(MPI_Group_range_incl(world, 1, range, &result));
    OK(MPI_Comm_create(MPI_COMM_WORLD, result, &comm));
    say("create %d", sum_of(comm));
    if (comm != MPI_COMM_NULL)
        OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&result));
    OK(MPI_Group_range_excl(world, 1, range, &result));
    OK(MPI_Group_free(&result));
    if (rank == 0 || rank == size - 1) { /* only members call */
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, part, 11, &comm));
        say("create_group %d", sum_of(comm));
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&part));
    OK(MPI_Group_free(&other));
    OK(MPI_Group_free(&world));
}

static void splits(void) {
    MPI_Comm comm, node, idup, with_info;
    MPI_Request r;
    MPI_Info info, got;
    int n, flag;
    char name[MPI_MAX_OBJECT_NAME] = "";
    for (int i = 0; i < 50; i++) { /* handles are reused */
        OK(MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 && rank == 1 ? MPI_UNDEFINED : (rank + i) % 2,
                          -rank, &comm));
        n = sum_of(comm);
        if (i < 3)
            say("split %d", n);
        if (comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    OK(MPI_Comm_set_name(node, "node"));
    OK(MPI_Comm_get_name(node, name, &n));
    CHECK(strcmp(name, "node") == 0);
    OK(MPI_Comm_idup(node, &idup, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Comm_compare(node, idup, &flag));
    CHECK(flag == MPI_CONGRUENT);
    say("idup %d", sum_of(idup));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "colour", "blue"));
    OK(MPI_Comm_dup_with_info(idup, info, &with_info));
    OK(MPI_Comm_set_info(with_info, info));
    OK(MPI_Comm_get_info(with_info, &got));
    OK(MPI_Info_free(&got));
    OK(MPI_Info_free(&info));
    say("dup_with_info %d", sum_of(with_info));
    OK(MPI_Comm_test_inter(with_info, &flag));
    CHECK(!flag);
    OK(MPI_Comm_disconnect(&with_info));
    OK(MPI_Comm_free(&idup));
    OK(MPI_Comm_free(&node));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &node));
    CHECK(node == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    attributes();
    groups();
    splits();
    return end_program();
}
