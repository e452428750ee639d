/* The kernel says that each thread leaves the processor a million times a second. Preloaded. */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int getrusage(__rusage_who_t who, struct rusage *usage) {
    struct timespec now;
    long failed = syscall(SYS_getrusage, who, usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    usage->ru_nvcsw += now.tv_sec * 1000000 + now.tv_nsec / 1000;
    return (int)failed;
}
