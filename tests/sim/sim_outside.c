/* The kernel, which is outside of the simulation: calls of the tool that have to fail, and waiting
 * for children, pipes, sockets, signals. What makes such a wait end is always done by a task of the
 * simulation, so tasks that wait this way look again when one of their rank writes to a pipe or
 * socket, sends a signal, or ends. A process that has ended in the simulation still needs real time
 * to die: who looks waits for that first, so that it always sees the same. */
#include "sim_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../virtual/callers.h"

/* Those of our children that have ended in the simulation have died now. */
static void wait_for_dead(void) {
    for (int i = 0; i < sim->n_dying; i++)
        if (sim->dying[i].parent == getpid()) {
            siginfo_t info;
            waitid(P_PID, (id_t)sim->dying[i].pid, &info, WEXITED | WNOWAIT);
            sim->dying[i--] = sim->dying[--sim->n_dying];
        }
}

/* Gives the turn up until something happens in this rank, or until that time. */
static void wait_outside(uint64_t until) {
    sim_self()->outside = true;
    sim_yield(until);
    if (sim_self() != NULL)
        sim_self()->outside = false;
}

static bool is_stream(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms) {
    if (!sim_is_on())
        return NEXT(poll)(fds, n, timeout_ms);
    struct sim_task *self = sim_self();
    uint64_t end = timeout_ms < 0 ? SIM_NEVER : self->clock + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        wait_for_dead();
        int ready = NEXT(poll)(fds, n, 0);
        if (ready != 0 || self->clock >= end)
            return ready;
        wait_outside(end);
        if (!sim_is_on())
            return NEXT(poll)(fds, n, timeout_ms);
    }
}

ssize_t read(int fd, void *data, size_t bytes) {
    while (sim_is_on() && is_stream(fd)) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        wait_for_dead();
        if (NEXT(poll)(&one, 1, 0) != 0)
            break;
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || flags & O_NONBLOCK)
            break;
        wait_outside(SIM_NEVER);
    }
    return NEXT(read)(fd, data, bytes);
}

static void tell(int rank) {
    sim_wake_outside(rank, sim_self()->clock);
}

/* Is it this call of the tool's that has to fail? It may have to wait instead. */
static bool fails(const char *name, void *return_address, int error) {
    if (!sim_is_on() || sim->model.n_faults == 0)
        return false;
    for (int i = 0; i < sim->model.n_faults; i++) {
        struct sim_fault *f = &sim->model.faults[i];
        if (f->kind == SIM_SYSTEM && f->rank == sim_self()->rank && strcmp(f->name, name) == 0 &&
            caller(return_address) == TOOL && ++f->seen == f->at) {
            errno = error;
            if (f->value == 0)
                return true;
            sim_preempted((uint64_t)f->value);
        }
    }
    return false;
}

/* Nodes have names of their own, for programs of MPI; by the machine's name the tool's parents know
 * that one launcher has started them all. */
int gethostname(char *name, size_t bytes) {
    if (!sim_is_on() || sim->model.nodes < 2 || dlsym(RTLD_DEFAULT, "MPI_Init") == NULL)
        return NEXT(gethostname)(name, bytes);
    snprintf(name, bytes, "node%d", sim_node_of(sim_self()->rank));
    return 0;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (fails("mmap", __builtin_return_address(0), ENOMEM))
        return MAP_FAILED;
    void *memory = (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
    if (memory != MAP_FAILED)
        sim_samples_mapped(fd, memory, bytes);
    return memory;
}

int munmap(void *memory, size_t bytes) {
    sim_samples_unmapped(memory);
    return (int)syscall(SYS_munmap, memory, bytes);
}

int memfd_create(const char *name, unsigned flags) {
    if (fails("memfd_create", __builtin_return_address(0), ENOMEM))
        return -1;
    return (int)syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int fd, off_t bytes) {
    if (fails("ftruncate", __builtin_return_address(0), ENOSPC))
        return -1;
    return (int)syscall(SYS_ftruncate, fd, bytes);
}

ssize_t write(int fd, const void *data, size_t bytes) {
    if (fails("write", __builtin_return_address(0), ENOSPC))
        return -1;
    ssize_t result = NEXT(write)(fd, data, bytes);
    int error = errno;
    if (sim_is_on() && fd > 2 && is_stream(fd))
        tell(sim_self()->rank);
    errno = error;
    return result;
}

ssize_t send(int fd, const void *data, size_t bytes, int flags) {
    ssize_t result = NEXT(send)(fd, data, bytes, flags);
    int error = errno;
    if (sim_is_on())
        tell(sim_self()->rank);
    errno = error;
    return result;
}

int close(int fd) {
    bool stream = sim_is_on() && is_stream(fd);
    sim_samples_closed(fd);
    int result = NEXT(close)(fd);
    int error = errno;
    if (stream)
        tell(sim_self()->rank);
    errno = error;
    return result;
}

int kill(pid_t pid, int signo) {
    int result = NEXT(kill)(pid, signo);
    if (!sim_is_on() || signo == 0 || result != 0)
        return result;
    for (int i = 0; i < sim->n_tasks; i++)
        if (sim->tasks[i].state != SIM_FREE && sim->tasks[i].pid == pid && pid != getpid()) {
            if (signo == SIGKILL)
                sim_gone(pid);
            else
                tell(sim->tasks[i].rank);
            break;
        }
    return result;
}

/* A process that waits for a signal that ends it. */
int pause(void) {
    while (sim_is_on())
        wait_outside(SIM_NEVER);
    return NEXT(pause)();
}

pid_t waitpid(pid_t pid, int *status, int options) {
    while (sim_is_on() && (options & WNOHANG) == 0) {
        siginfo_t info = {.si_pid = 0};
        wait_for_dead();
        if (waitid(pid > 0 ? P_PID : P_ALL, pid > 0 ? (id_t)pid : 0, &info,
                   WEXITED | WNOWAIT | WNOHANG) != 0 ||
            info.si_pid != 0)
            break;
        wait_outside(SIM_NEVER);
    }
    if (sim_is_on())
        wait_for_dead();
    return NEXT(waitpid)(pid, status, options);
}

pid_t wait(int *status) {
    return waitpid(-1, status, 0);
}

pid_t fork(void) {
    if (!sim_is_on())
        return NEXT(fork)();
    struct sim_task *child = sim_task_new(sim_self()->rank, 0, sim_self()->clock);
    sim_set_ready(child, SIM_NEVER); /* until its number is known */
    child->parent = getpid();
    pid_t pid = NEXT(fork)();
    if (pid == 0) {
        sim_become(child);
    } else if (pid > 0) {
        child->pid = pid;
        sim_set_ready(child, child->clock);
    } else {
        sim_end(child);
    }
    return pid;
}
