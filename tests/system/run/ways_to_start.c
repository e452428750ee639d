/* A program that people start in their own ways (ways_to_start.py). Words, all optional, in any
 * order:
 *   version     only asks which MPI this is and whether it runs, as configure scripts do, and ends
 *   helper      starts itself with `version` before MPI_Init
 *   shell       starts a shell before MPI_Init that says what is preloaded into it
 *   start=PATH  only starts that program
 *   after=PATH  asks which MPI this is, makes PATH.asked, and goes on when there is PATH
 *   lock        locks all memory after MPI_Init and says how much there is
 *   file=PATH   removes that file after MPI_Init (the program's own)
 *   name=FILE   every second MPI_Allreduce is called by the address that dlsym gives for the MPI
 *               library FILE; which ones differs between ranks
 * Then it makes 25 calls of MPI_Allreduce in time_step(). */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *word(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, strlen(name)) == 0)
            return argv[i] + strlen(name);
    return NULL;
}

static int version(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, initialised = 1, number, part;
    MPI_Get_library_version(text, &length);
    MPI_Get_version(&number, &part);
    MPI_Initialized(&initialised);
    printf("helper: %d %d %d\n", length > 0, number, initialised);
    return 0;
}

/* Makes a file that says that this process has asked, and waits for the other one. */
__attribute__((noinline)) static void ask_and_wait(const char *path) {
    char asked[4096];
    int number, part;
    MPI_Get_version(&number, &part);
    snprintf(asked, sizeof asked, "%s.asked", path);
    FILE *file = fopen(asked, "w");
    if (file == NULL)
        perror(asked);
    else
        fclose(file);
    while (access(path, F_OK) != 0)
        usleep(10000);
}

/* Memory of this process that is real, MiB. */
static long resident_mib(void) {
    long pages = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &shared) != 2)
        return -1;
    fclose(file);
    return shared * sysconf(_SC_PAGESIZE) >> 20;
}

static __typeof__(&MPI_Allreduce) by_name(const char *library) {
    void *mpi = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    return mpi != NULL ? (__typeof__(&MPI_Allreduce))dlsym(mpi, "MPI_Allreduce") : NULL;
}

__attribute__((noinline)) static int time_step(int rank, __typeof__(&MPI_Allreduce) named) {
    int sum = 0;
    for (int i = 0; i < 25; i++)
        if (named != NULL && (i + rank) % 2 == 0)
            named(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv) {
    char line[4096];
    int rank;
    const char *start = word(argc, argv, "start="), *after = word(argc, argv, "after=");
    const char *asan;
    if (word(argc, argv, "version"))
        return version();
    if (start != NULL)
        return system(start) != 0;
    if (after != NULL)
        ask_and_wait(after);
    if (word(argc, argv, "helper")) {
        snprintf(line, sizeof line, "%s version", argv[0]);
        if (system(line) != 0)
            return 3;
    }
    if (word(argc, argv, "shell") && system("echo shell: $LD_PRELOAD") != 0)
        return 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (word(argc, argv, "lock")) {
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
            perror("mlockall");
        printf("resident: %ld\n", resident_mib());
    }
    const char *file = word(argc, argv, "file="), *library = word(argc, argv, "name=");
    MPI_Barrier(MPI_COMM_WORLD);
    if (file != NULL && rank == 0 && unlink(file) != 0)
        perror(file);
    printf("rank %d sum %d\n", rank, time_step(rank, library != NULL ? by_name(library) : NULL));
    asan = getenv("ASAN_OPTIONS");
    printf("options: %s\n", asan != NULL ? asan : "none");
    MPI_Finalize();
    return 0;
}
