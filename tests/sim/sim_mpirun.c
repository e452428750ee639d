/* sim-mpirun: starts the ranks of a simulation, watches over their turns, ends with their status.
 *
 * sim-mpirun -n N [--seed S] [--nodes M] [--latency NS] [--node-latency NS] [--jitter NS]
 *            [--call NS] [--ns-per-kib NS] [--node-ns-per-kib NS] [--eager BYTES] [--random]
 *            [--watchdog S] [--tell FILE] [--buffer BYTES] [--lazy] [--strict] [--cancel-sends]
 *            [--shape at-once|all-to-all|tree] [--worst] [--offset NS] [--drift PPB]
 *            [--wobble PPB] [--tool-cost READ:LOCK[:SWITCH[:ASK]]] [--kill RANK:N] [--abort RANK:N]
 *            [--error RANK:N:CLASS] [--step RANK:N:NS] [--stall RANK:N:NS]
 *            [--system RANK:N:NAME[=NS]] PROGRAM [ARGUMENT..]
 *
 * --random: what is not given is drawn from the seed. --tell: a file for the number of messages
 * that were sent, the tool's own included, and their bytes. --buffer: sends wait when more of a
 * rank's messages than that have not been received. --lazy: a rank answers others, and passes their
 * data on, only while it is in an MPI call. --strict: all members of a collective operation wait
 * for each other, whatever it is. --cancel-sends: MPI_Cancel has success with every other send that
 * has no receive (with none). --shape: how data comes to the others in one. --worst: all of
 * that as bad as the standard allows. --offset, --drift: how far the clocks of nodes are apart at
 * most; --wobble: by how much their drift changes. --tool-cost: ns that each stamp and each lock
 * costs the tool, that the kernel takes to stop and start each event of its samples where a thread
 * naps, and that each question to OpenMP's runtime costs the tool (0:0:0:0). --kill, --abort,
 * --error, --step: at its N-th MPI call the rank is killed, calls MPI_Abort, gets an error, or its
 * clock jumps; --kill RANK:@NS: it is killed so long after the start, whatever it does. --stall:
 * the parent of its program does not get its N-th turn before so much time has passed. --system:
 * there the tool's N-th call of a function of the system (mmap, memfd_create, ftruncate, write)
 * fails; with NS: it is done, but so long before it the thread has no processor. --watchdog: after
 * how many real seconds in which nothing happens it ends the run (30). */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../virtual/time_rules.h"

enum { LOOK_MS = 5 };
static int watchdog_s = 30;
static const char *tell_file; /* NULL: none */

static struct rank {
    pid_t pid;
    int status;
    bool ended;
} ranks[SIM_MOST_RANKS];

static _Noreturn void usage(void) {
    fprintf(stderr,
            "usage: sim-mpirun -n N [--seed S] [--nodes M] [--latency NS] "
            "[--node-latency NS] [--jitter NS] [--call NS] [--ns-per-kib NS] "
            "[--node-ns-per-kib NS] [--eager BYTES] [--random] [--watchdog S] "
            "[--tell FILE] [--buffer BYTES] [--lazy] [--strict] [--cancel-sends] "
            "[--shape at-once|all-to-all|tree] [--worst] [--offset NS] [--drift PPB] "
            "[--wobble PPB] [--tool-cost READ:LOCK[:SWITCH[:ASK]]] [--kill RANK:N|RANK:@NS] "
            "[--abort RANK:N] "
            "[--error RANK:N:CLASS] "
            "[--step RANK:N:NS] [--stall RANK:N:NS] [--system RANK:N:NAME[=NS]] "
            "PROGRAM [ARGUMENT..]\n");
    exit(2);
}

static uint64_t number(const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        usage();
    return value;
}

/* A world of its own for each seed. */
static void draw_model(struct sim_model *model) {
    uint64_t state = model->seed * 2862933555777941757u + 3037000493u;
#define DRAW(below)                                                                                \
    (state = state * 6364136223846793005u + 1442695040888963407u, (state >> 33) % (below))
    model->latency_ns = 100 + DRAW(5000);
    model->node_latency_ns = model->latency_ns + DRAW(20000);
    model->jitter_ns = DRAW(2) == 0 ? 0 : DRAW(10000);
    model->call_ns = DRAW(2) == 0 ? 0 : DRAW(300);
    model->ns_per_kib = DRAW(1000);
    model->eager_bytes = (uint64_t[]){0, 64, 1024, 16384, UINT32_MAX}[DRAW(5)];
    model->lazy = DRAW(3) == 0;
    model->shape = (enum sim_shape)DRAW(SIM_SHAPES);
    model->strict = DRAW(4) == 0;
    model->buffer_bytes = (uint64_t[]){UINT64_MAX, 65536, 4096, 100}[DRAW(4)];
    model->node_ns_per_kib = model->ns_per_kib + DRAW(4000);
}

static enum sim_shape shape_named(const char *name) {
    static const char *const names[SIM_SHAPES] = {"at-once", "all-to-all", "tree"};
    for (int i = 0; i < SIM_SHAPES; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum sim_shape)i;
    usage();
}

static void take_worst(struct sim_model *model) {
    model->eager_bytes = model->buffer_bytes = 0;
    model->lazy = model->strict = true;
    model->shape = SIM_TREE;
    model->jitter_ns = 50000;
}

/* RANK:N, RANK:N:NUMBER, RANK:N:NAME or RANK:N:NAME=NUMBER */
static void add_fault(struct sim_model *model, int kind, const char *text) {
    struct sim_fault *f = &model->faults[model->n_faults];
    unsigned long long at;
    char rest[40] = "";
    f->moment = kind == SIM_KILL && strchr(text, '@') != NULL;
    int words = f->moment ? sscanf(text, "%d:@%llu", &f->rank, &at)
                          : sscanf(text, "%d:%llu:%39s", &f->rank, &at, rest);
    if (model->n_faults == SIM_MOST_FAULTS || words != (kind < SIM_ERROR ? 2 : 3))
        usage();
    f->kind = kind;
    f->at = at;
    if (kind >= SIM_ERROR && kind < SIM_SYSTEM)
        f->value = rest[0] == '-' ? -(int64_t)number(rest + 1) : (int64_t)number(rest);
    char *takes = kind == SIM_SYSTEM ? strchr(rest, '=') : NULL;
    if (takes != NULL) {
        *takes = '\0';
        f->value = (int64_t)number(takes + 1);
    }
    snprintf(f->name, sizeof f->name, "%s", rest);
    model->n_faults++;
}

static char **options(int argc, char **argv, struct sim_model *model) {
    enum {
        SEED = 256,
        NODES,
        LATENCY,
        NODE_LATENCY,
        JITTER,
        CALL,
        PER_KIB,
        NODE_PER_KIB,
        EAGER,
        RANDOM,
        WATCHDOG,
        TELL,
        BUFFER,
        LAZY,
        STRICT,
        CANCEL_SENDS,
        SHAPE,
        WORST,
        OFFSET,
        DRIFT,
        WOBBLE,
        TOOL_COST,
        KILL, /* from here on as in sim_fault */
        ABORT,
        ERROR,
        STEP,
        STALL,
        SYSTEM
    };
    static const struct option known[] = {{"seed", 1, NULL, SEED},
                                          {"nodes", 1, NULL, NODES},
                                          {"latency", 1, NULL, LATENCY},
                                          {"node-latency", 1, NULL, NODE_LATENCY},
                                          {"jitter", 1, NULL, JITTER},
                                          {"call", 1, NULL, CALL},
                                          {"ns-per-kib", 1, NULL, PER_KIB},
                                          {"node-ns-per-kib", 1, NULL, NODE_PER_KIB},
                                          {"eager", 1, NULL, EAGER},
                                          {"random", 0, NULL, RANDOM},
                                          {"watchdog", 1, NULL, WATCHDOG},
                                          {"tell", 1, NULL, TELL},
                                          {"buffer", 1, NULL, BUFFER},
                                          {"lazy", 0, NULL, LAZY},
                                          {"strict", 0, NULL, STRICT},
                                          {"shape", 1, NULL, SHAPE},
                                          {"worst", 0, NULL, WORST},
                                          {"offset", 1, NULL, OFFSET},
                                          {"drift", 1, NULL, DRIFT},
                                          {"wobble", 1, NULL, WOBBLE},
                                          {"tool-cost", 1, NULL, TOOL_COST},
                                          {"kill", 1, NULL, KILL},
                                          {"abort", 1, NULL, ABORT},
                                          {"error", 1, NULL, ERROR},
                                          {"step", 1, NULL, STEP},
                                          {"stall", 1, NULL, STALL},
                                          {"system", 1, NULL, SYSTEM},
                                          {"cancel-sends", 0, NULL, CANCEL_SENDS},
                                          {NULL, 0, NULL, 0}};
    *model = (struct sim_model){.ranks = 1,
                                .nodes = 1,
                                .latency_ns = VT_LATENCY_NS,
                                .node_latency_ns = VT_LATENCY_NS,
                                .eager_bytes = VT_EAGER,
                                .buffer_bytes = UINT64_MAX};
    for (int pass = 0; pass < 2; pass++) { /* the seed first, then what replaces its choices */
        optind = 0;
        for (int c; (c = getopt_long(argc, argv, "+n:", known, NULL)) != -1;)
            switch (c) {
            case 'n':
                model->ranks = (int)number(optarg);
                break;
            case SEED:
                model->seed = number(optarg);
                break;
            case RANDOM:
                break;
            case NODES:
                model->nodes = (int)number(optarg);
                break;
            case LATENCY:
                model->latency_ns = number(optarg);
                break;
            case NODE_LATENCY:
                model->node_latency_ns = number(optarg);
                break;
            case JITTER:
                model->jitter_ns = number(optarg);
                break;
            case CALL:
                model->call_ns = number(optarg);
                break;
            case PER_KIB:
                model->ns_per_kib = number(optarg);
                break;
            case NODE_PER_KIB:
                model->node_ns_per_kib = number(optarg);
                break;
            case EAGER:
                model->eager_bytes = number(optarg);
                break;
            case TELL:
                tell_file = optarg;
                break;
            case BUFFER:
                model->buffer_bytes = number(optarg);
                break;
            case LAZY:
                model->lazy = true;
                break;
            case STRICT:
                model->strict = true;
                break;
            case CANCEL_SENDS:
                model->cancels_sends = true;
                break;
            case SHAPE:
                model->shape = shape_named(optarg);
                break;
            case WORST:
                take_worst(model);
                break;
            case OFFSET:
                model->offset_ns = number(optarg);
                break;
            case DRIFT:
                model->drift_ppb = number(optarg);
                break;
            case TOOL_COST:
                if (sscanf(optarg, "%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64,
                           &model->tool_read_ns, &model->tool_lock_ns, &model->switch_ns,
                           &model->tool_ask_ns) < 2)
                    usage();
                break;
            case WOBBLE:
                model->wobble_ppb = number(optarg);
                break;
            case KILL:
            case ABORT:
            case ERROR:
            case STEP:
            case STALL:
            case SYSTEM:
                if (pass == 1)
                    add_fault(model, SIM_KILL + (c - KILL), optarg);
                break;
            case WATCHDOG:
                watchdog_s = (int)number(optarg);
                break;
            default:
                usage();
            }
        for (int i = 1; pass == 0 && i < optind; i++)
            if (strcmp(argv[i], "--random") == 0)
                draw_model(model);
    }
    if (model->ranks < 1 || model->ranks > SIM_MOST_RANKS || model->nodes < 1 ||
        model->nodes > model->ranks || argv[optind] == NULL)
        usage();
    return argv + optind;
}

static void put(const char *name, long value) {
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    setenv(name, text, 1);
}

static void prepend(const char *name, const char *value) {
    const char *before = getenv(name);
    char *joined;
    if (asprintf(&joined, "%s%s%s", value, before != NULL && *before != '\0' ? ":" : "",
                 before != NULL ? before : "") < 0)
        sim_fail("no memory");
    setenv(name, joined, 1);
    free(joined);
}

/* The libraries lie beside this program, in ../tests/sim; an installation has none. */
static void set_environment(int fd) {
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        sim_fail("/proc/self/exe cannot be read");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(path, sizeof path, "%s/../tests/sim/lib", self);
    prepend("LD_LIBRARY_PATH", path);
    snprintf(path, sizeof path, "%s/../tests/sim/lib/libsim.so", self);
    prepend("LD_PRELOAD", path);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv("SIM_SEGMENT", path, 1);
    if (sim->model.nodes > 1) {
        snprintf(path, sizeof path, "%d", sim->model.nodes);
        setenv("LATECOMER_TEST_NODES", path, 0);
    }
    put("PMI_SIZE", sim->model.ranks);
    put("MPI_LOCALNRANKS", sim->model.ranks);
    setenv("LATECOMER_CLOCK", "monotonic", 0);
    setenv("LATECOMER_SAMPLE", "off", 0);
}

/* Only one task runs at a time, and a turn is given away on one processor much faster. The program
 * is not told (sched_getaffinity in sim_clock.c). */
static void bind_to_one(void) {
    cpu_set_t one;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof sim->cpus, &sim->cpus) != 0)
        return;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* all_there: a pipe that the launcher closes when it has noted the numbers of all processes. */
static void start(int rank, char **command, const int all_there[2]) {
    struct sim_task *task = sim_task_new(rank, 0, VT_BEFORE_INIT_NS);
    pid_t launcher = getpid(), pid = fork();
    if (pid < 0)
        sim_fail("a process cannot be started");
    if (pid > 0) {
        task->pid = ranks[rank].pid = pid;
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(1);
    put("PMI_RANK", rank);
    put("MPI_LOCALRANKID", rank);
    char nothing;
    close(all_there[1]);
    while (read(all_there[0], &nothing, 1) < 0 && errno == EINTR) {
    }
    execvp(command[0], command);
    fprintf(stderr, "sim-mpirun: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* As Hydra does, which knows the processes that it started only. */
static void kill_all(int status) {
    for (int r = 0; r < sim->model.ranks; r++)
        if (!ranks[r].ended)
            kill(ranks[r].pid, SIGKILL);
    for (int i = 0; i < sim->n_tasks; i++)
        if (sim->tasks[i].state != SIM_FREE && sim->tasks[i].calls_mpi)
            kill(sim->tasks[i].pid, SIGKILL);
    sim_release(status);
}

static void look_at_ends(int *n_running, int *result) {
    pid_t pid;
    int status;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int r = 0; r < sim->model.ranks; r++)
            if (ranks[r].pid == pid) {
                ranks[r].ended = true;
                ranks[r].status =
                    WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
                --*n_running;
                if (*result == 0)
                    *result = ranks[r].status;
                if (ranks[r].status != 0)
                    kill_all(*result);
            }
        sim_reap(pid);
    }
}

/* A grandchild that had the turn: its parent is the one that waits for it. */
static void look_at_holder(void) {
    int holder = sim->holder;
    char path[64], text[512];
    if (holder < 0)
        return;
    pid_t pid = sim->tasks[holder].pid;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    if (n > 0 && state != NULL && state[2] != 'Z' && state[2] != 'X')
        return;
    if (sim->holder == holder && sim->tasks[holder].pid == pid)
        sim_reap(pid);
}

/* Nobody can go on: because a rank has ended, whose status tells more, or is it a deadlock? */
static bool is_deadlock(void) {
    for (int r = 0; r < sim->model.ranks; r++) {
        bool has_task = false;
        for (int i = 0; i < sim->n_tasks; i++)
            has_task = has_task || (sim->tasks[i].rank == r && sim->tasks[i].state != SIM_FREE);
        if (!has_task && !ranks[r].ended)
            return false; /* it is about to */
    }
    return true;
}

static void tell_deadlock(void) {
    fprintf(stderr, "sim-mpirun: deadlock, nobody can go on:");
    for (int i = 0; i < sim->n_tasks; i++)
        if (sim->tasks[i].state != SIM_FREE)
            fprintf(stderr, " rank %d in %s;", sim->tasks[i].rank, sim->tasks[i].where);
    fprintf(stderr, "\n");
}

static int watch(void) {
    int n_running = sim->model.ranks, result = 0;
    uint64_t switches = 0;
    double quiet_ms = 0;
    while (n_running > 0) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
        look_at_ends(&n_running, &result);
        if (sim->stuck && n_running > 0 && result == 0 && is_deadlock()) {
            tell_deadlock();
            result = SIM_FAILED;
            kill_all(result);
        }
        if (sim->aborted != 0 && result == 0) {
            result = sim->aborted - 1;
            kill_all(result);
        }
        quiet_ms = sim->switches == switches ? quiet_ms + LOOK_MS : 0;
        switches = sim->switches;
        if (quiet_ms > 2 * LOOK_MS)
            look_at_holder();
        if (quiet_ms > watchdog_s * 1000.0) {
            int holder = sim->holder;
            fprintf(stderr, "sim-mpirun: nothing has happened for %d s; ", watchdog_s);
            if (holder >= 0)
                fprintf(stderr, "rank %d has the turn, in %s\n", sim->tasks[holder].rank,
                        sim->tasks[holder].where);
            else
                fprintf(stderr, "nobody has the turn\n");
            result = SIM_FAILED;
            kill_all(result);
            quiet_ms = 0;
        }
    }
    return result;
}

static void tell(void) {
    FILE *file = fopen(tell_file, "w");
    if (file == NULL)
        sim_fail("%s cannot be written", tell_file);
    fprintf(file, "messages %llu bytes %llu\n", (unsigned long long)sim->n_messages,
            (unsigned long long)sim->n_bytes);
    fclose(file);
}

int main(int argc, char **argv) {
    struct sim_model model;
    char **command = options(argc, argv, &model);
    int fd = memfd_create("sim", MFD_CLOEXEC);
    if (fd < 0)
        sim_fail("the shared segment cannot be made");
    sim_segment_make(fd, &model);
    set_environment(fd);
    bind_to_one();
    int all_there[2];
    if (pipe2(all_there, O_CLOEXEC) != 0)
        sim_fail("no pipe: %s", strerror(errno));
    for (int r = 0; r < model.ranks; r++)
        start(r, command, all_there);
    for (int i = 0; i < model.n_faults; i++)
        if (model.faults[i].moment)
            sim_event_add(VT_BEFORE_INIT_NS + model.faults[i].at, 0, SIM_DEATH,
                          &sim->model.faults[i]);
    sim_start();
    close(all_there[0]);
    close(all_there[1]);
    int status = watch();
    if (tell_file != NULL)
        tell();
    return status;
}
