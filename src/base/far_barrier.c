#include "base/far_barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define LC_WATCHED 1
#else
#define LC_WATCHED 0
#endif

bool lc_far_barrier_possible(void) {
    return !LC_WATCHED &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void lc_far_barrier(void) {
    /* Forbidden meanwhile (seccomp): after a millisecond the stores are seen anyway. */
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
