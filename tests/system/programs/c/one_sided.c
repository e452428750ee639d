/* One-sided communication: all kinds of windows, all synchronisation modes, request-based
 * operations, attributes. */
#include "program.h"

enum { N = 16 };

static void fence_and_pscw(int to, int from) {
    int *base, sum = 0, one = rank + 1, assert = 0, *size_attr, flag;
    MPI_Win win;
    MPI_Group world, target, origin;
    OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    for (int i = 0; i < N; i++)
        base[i] = 0;
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Put(&one, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Put(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get(&sum, 1, MPI_INT, 0, 1, 1, MPI_INT, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    say("fence %d %d", base[0], sum);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &to, &target));
    OK(MPI_Group_incl(world, 1, &from, &origin));
    OK(MPI_Win_post(origin, assert, win));
    OK(MPI_Win_start(target, assert, win));
    one += 10;
    OK(MPI_Put(&one, 1, MPI_INT, to, 2, 1, MPI_INT, win));
    OK(MPI_Win_complete(win));
    if (rank % 2)
        OK(MPI_Win_wait(win));
    else
        for (flag = 0; !flag; nap_ms(flag ? 0 : 1))
            OK(MPI_Win_test(win, &flag));
    say("pscw %d", base[2]);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size_attr, &flag));
    CHECK(flag && *(MPI_Aint *)(void *)size_attr == N * (MPI_Aint)sizeof(int));
    OK(MPI_Group_free(&target));
    OK(MPI_Group_free(&origin));
    OK(MPI_Group_free(&world));
    OK(MPI_Win_free(&win));
}

static void locks(int to) {
    int local[N] = {0}, value = rank + 1, got = -1, zero = 0, sum = -1, result = -1;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Win win;
    MPI_Group group;
    MPI_Request r[3];
    OK(MPI_Win_create(local, sizeof local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_name(win, "locks"));
    OK(MPI_Win_get_name(win, name, &result));
    OK(MPI_Win_get_group(win, &group));
    OK(MPI_Group_free(&group));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));
    OK(MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock(to, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Fetch_and_op(&value, &got, MPI_INT, 0, 1, MPI_SUM, win));
    OK(MPI_Win_flush(0, win));
    OK(MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_flush_local(0, win));
    OK(MPI_Compare_and_swap(&value, &zero, &result, MPI_INT, to, 3, win));
    OK(MPI_Win_flush_all(win));
    CHECK(result == 0);
    OK(MPI_Rput(&value, 1, MPI_INT, to, 4, 1, MPI_INT, win, &r[0]));
    OK(MPI_Raccumulate(&value, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win, &r[1]));
    OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, 0, 6, 1, MPI_INT, MPI_MAX, win,
                           &r[2]));
    OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    OK(MPI_Win_flush_local_all(win));
    OK(MPI_Win_sync(win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win));
    OK(MPI_Rget(&sum, 1, MPI_INT, 0, 1, 1, MPI_INT, win, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Get(&got, 1, MPI_INT, 0, 5, 1, MPI_INT, win));
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    say("locks %d %d %d %d %d", local[0], sum, got, local[3], local[4]);
    OK(MPI_Win_free(&win));
}

static void dynamic_and_shared(int to, int from) {
    int memory[4] = {0}, value = rank + 7, unit;
    int *mine, *theirs;
    MPI_Aint address, remote, bytes;
    MPI_Win win;
    MPI_Comm node;
    MPI_Info info;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, sizeof memory));
    OK(MPI_Get_address(memory, &address));
    OK(MPI_Sendrecv(&address, 1, MPI_AINT, from, 1, &remote, 1, MPI_AINT, to, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT, to, remote, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    say("dynamic %d", memory[0]);
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));

    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win));
    OK(MPI_Win_get_info(win, &info));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    *mine = rank * 11;
    OK(MPI_Win_sync(win));
    OK(MPI_Barrier(node));
    OK(MPI_Win_sync(win));
    OK(MPI_Win_shared_query(win, to, &bytes, &unit, &theirs));
    say("shared %d", *theirs);
    OK(MPI_Barrier(node));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&node));
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    fence_and_pscw(to, from);
    locks(to);
    dynamic_and_shared(to, from);
    void *memory;
    OK(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory));
    OK(MPI_Free_mem(memory));
    return end_program();
}
