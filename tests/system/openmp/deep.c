/* Parallel regions within each other, deeper than any table of levels is large: 20 of them, of one
 * thread each but for one in the middle, whose two threads go on alone. Thread 1 makes fewer of
 * the inner ones, so that its teams and those of thread 0 cannot be taken for each other. */
#include <omp.h>

enum { DEPTH = 20, WIDE_AT = 8 };

static void go_down(int depth, int times) {
    if (depth == DEPTH)
        return;
#pragma omp parallel num_threads(depth == WIDE_AT ? 2 : 1)
    for (int i = 0; i < times; i++)
        go_down(depth + 1,
                depth + 3 == DEPTH && omp_get_ancestor_thread_num(WIDE_AT + 1) == 0 ? 3 : 1);
}

int main(void) {
    omp_set_max_active_levels(1);
    go_down(0, 1);
    return 0;
}
