/* What /proc/PID/status tells of a process: its state, and what it does with signals. The kernel
 * answers; the process itself need not run. */
#ifndef LC_RUN_PROC_STATUS_H
#define LC_RUN_PROC_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lc_proc_status {
    char state; /* as ps shows it: 'R' runs or would, 'S' sleeps, 'T' stopped, 'Z' zombie .. */
    uint64_t pending; /* sets of signals, see lc_signal_bit: for the process as a whole */
    uint64_t blocked, ignored, caught; /* by its main thread */
};

/* The bit of a signal (1 to 64) in a set. */
static inline uint64_t lc_signal_bit(int signo) {
    return UINT64_C(1) << (signo - 1);
}
/* False, and all of it 0, if there is no such process, or if it cannot be read. */
bool lc_proc_status_get(pid_t pid, struct lc_proc_status *status);

#endif
