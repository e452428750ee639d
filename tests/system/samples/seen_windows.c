/* Ends when it has seen each several times: events of the kernel that sample it, and none. Some
 * thousand calls between two looks, and a nap now and then as soon as there have been none. Prints
 * "napped NS LESS BETWEEN": all naps, by how much the thread was on a processor or waited for one
 * in them or in the calls before, and the time between the calls around them. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CALLS = 2000, CHANGES = 6, NAPS = 8, NAP_MS = 200 };

static uint64_t naps_ns, less_ns, between_ns;

static uint64_t now_ns(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* By the calling thread: on a processor, or waiting for one. */
static uint64_t busy_ns(void) {
    unsigned long long on = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file != NULL && fscanf(file, "%llu %llu", &on, &waited) != 2)
        waited = 0;
    if (file != NULL)
        fclose(file);
    return now_ns(CLOCK_THREAD_CPUTIME_ID) + waited;
}

static bool is_sampled(void) {
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found = found || strstr(line, "[perf_event]") != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* Both in the same code: what samples do not see of one would count as the other. */
__attribute__((noinline)) static void work_and_nap(bool naps) {
    volatile double x = 1;
    int flag;
    uint64_t busy = busy_ns();
    for (int i = 0; i < CALLS; i++) {
        for (int k = 0; k < 200; k++)
            x = x * 0.5 + 1;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    if (!naps)
        return;
    uint64_t around = now_ns(CLOCK_MONOTONIC);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000}, NULL);
    naps_ns += now_ns(CLOCK_MONOTONIC) - begin;
    less_ns += busy_ns() - busy;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    between_ns += now_ns(CLOCK_MONOTONIC) - around;
}

int main(int argc, char **argv) {
    int changes = 0, passes = 0;
    MPI_Init(&argc, &argv);
    bool was = is_sampled();
    if (!was)
        puts("never");
    while (was && (changes < CHANGES || passes < 2 * NAPS)) {
        passes += changes > 0;
        work_and_nap(passes % 2 != 0 && passes < 2 * NAPS);
        bool now = is_sampled();
        changes += now != (changes % 2 == 0);
    }
    MPI_Finalize();
    if (changes >= CHANGES)
        printf("napped %llu %llu %llu\n", (unsigned long long)naps_ns, (unsigned long long)less_ns,
               (unsigned long long)between_ns);
    return 0;
}
