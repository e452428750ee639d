/* Samples of the simulated kernel: sim_samples.c writes them, sim_clock.c says when. */
#ifndef SIM_SAMPLES_H
#define SIM_SAMPLES_H

#include <unistd.h>

#include "sim_interpose.h"

/* Where the calling thread is: registers of the function that called one of this library's. */
struct sim_place {
    uint64_t fp, sp, ip;
    const void *end; /* of its stack */
    bool in_call;    /* of the system */
};

/* In a function that the program calls: where the call stands. */
#define SIM_PLACE()                                                                                \
    ((struct sim_place){                                                                           \
        ((const uint64_t *)__builtin_frame_address(0))[0],                                         \
        (uint64_t)(uintptr_t)__builtin_frame_address(0) + 16,                                      \
        (uint64_t)(uintptr_t)__builtin_return_address(0) - 1,                                      \
        sim_end_of_stack(),                                                                        \
        true,                                                                                      \
    })

const void *sim_end_of_stack(void);   /* of the calling thread */
uint64_t sim_samples_time(void);      /* that a record bears */
void sim_work_of_kernel(uint64_t ns); /* for the calling thread, without samples */
void sim_samples_mapped(int fd, void *memory, size_t bytes);
void sim_samples_unmapped(const void *memory);
void sim_samples_closed(int fd); /* its event is over, unless it is mapped */

/* The thread leaves the processor, comes back. */
void sim_samples_out(const struct sim_place *place, bool preempted);
void sim_samples_in(void);
/* How much of `ns` of work there is before the next sample, or all of it; so much was done. */
uint64_t sim_samples_next(uint64_t ns);
void sim_samples_worked(uint64_t ns, const struct sim_place *place);

#endif
