/* A program that starts helpers with fork, system, popen and posix_spawn: they see the environment
 * of the bare run and are not measured. helpers N: N short-lived ones. */
#include "program.h"

#include <spawn.h>
#include <sys/wait.h>

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 3, status = 0, failed = 0, sum;
    start_program(&argc, &argv);
    char line[256] = "", *show[] = {"sh", "-c", "test -z \"$LATECOMER_STATE\"", NULL},
         *truth[] = {"true", NULL};
    pid_t child;
    FILE *pipe =
        popen("env | grep -c -e ^LATECOMER_ -e liblatecomer; echo preload=$LD_PRELOAD", "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        line[strcspn(line, "\n")] = 0;
        say("helper: %s", line);
    }
    CHECK(pipe && pclose(pipe) == 0);
    CHECK(system("exit 3") == 3 << 8);
    CHECK(posix_spawnp(&child, "sh", NULL, NULL, show, environ) == 0 &&
          waitpid(child, &status, 0) == child && status == 0);
    for (int i = 0; i < n; i++) {
        if (posix_spawnp(&child, "true", NULL, NULL, truth, environ) != 0 ||
            waitpid(child, &status, 0) != child || status != 0)
            failed++;
        if (i % 100 == 0)
            OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Allreduce(&failed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    say("helpers %d failed %d", n, sum);
    return end_program();
}
