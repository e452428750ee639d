/* OpenMP programs of known times on the simulation: sim_openmp_known NAME; with MPI: WITH_MPI. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <latecomer.h>

enum { MS = 1000000 };
void sim_work(unsigned long long ns);

__attribute__((noinline)) static void skewed(void) {
    sim_work((unsigned)(omp_get_thread_num() + 1) * 10ull * MS);
}

static void imbalance(void) {
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(4)
        skewed();
        sim_work(20 * MS);
    }
}

/* Alone for 20 ms after a region of two threads, and for 10 ms between regions of all. */
static __attribute__((noinline)) void first_part(void) {
#pragma omp parallel num_threads(2)
    sim_work(30 * MS);
    sim_work(20 * MS);
#pragma omp parallel num_threads(4)
    sim_work(10 * MS);
}

static __attribute__((noinline)) void second_part(void) {
#pragma omp parallel num_threads(4)
    sim_work(10 * MS);
    sim_work(10 * MS);
#pragma omp parallel num_threads(4)
    sim_work(10 * MS);
}

static void serial_parts(void) {
    second_part();
    for (int i = 0; i < 5; i++) {
        first_part();
        second_part();
    }
}

static void *short_thread(void *unused) {
#pragma omp parallel num_threads(1)
    sim_work(1000);
    return unused;
}

static void short_threads(void) {
    for (int i = 0; i < 600; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, short_thread, NULL) == 0)
            pthread_join(id, NULL);
    }
}

static void *work_alone(void *unused) {
#pragma omp parallel num_threads(1)
    sim_work(10 * MS);
    return unused;
}

/* Ten threads, one after the other, beside the one that makes them. */
static void come_and_go(void) {
    for (int i = 0; i < 10; i++) {
        pthread_t id;
#pragma omp parallel num_threads(1)
        sim_work(0);
        if (pthread_create(&id, NULL, work_alone, NULL) == 0)
            pthread_join(id, NULL);
    }
}

static void constructs(void) {
#pragma omp teams num_teams(2)
#pragma omp distribute
    for (int i = 0; i < 4; i++)
        sim_work(100 * MS);
#pragma omp parallel for num_threads(2) ordered(1) schedule(static, 1)
    for (int i = 0; i < 10; i++) {
#pragma omp ordered depend(sink : i - 1)
        sim_work(10 * MS);
#pragma omp ordered depend(source)
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp masked
        sim_work(30 * MS);
#pragma omp barrier
#pragma omp scope
        sim_work(20 * MS);
    }
#pragma omp target
    sim_work(40 * MS);
}

/* Two tasks may not run at once, though in any order; a third one is for both. */
static void exclusive(void) {
    int x = 0;
    (void)x;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(mutexinoutset : x)
        sim_work(30 * MS);
#pragma omp task depend(mutexinoutset : x)
        sim_work(50 * MS);
#pragma omp task depend(in : x)
        sim_work(20 * MS);
    }
}

/* As GCC 13 compiles `depend(out : omp_all_memory)`, and a taskwait with it that does not wait:
 * one task after two, and before all that follow; the last one is after all others. */
void GOMP_taskwait_depend_nowait(void **depend);

static void all_memory(void) {
    int x = 0, y = 0;
    char *all = NULL;
    void *on_all[] = {(void *)1, (void *)1, NULL};
    (void)x;
    (void)y;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : x)
        sim_work(30 * MS);
#pragma omp task depend(out : y)
        sim_work(50 * MS);
#pragma omp task depend(out : *all)
        sim_work(20 * MS);
#pragma omp task depend(in : x)
        sim_work(5 * MS);
#pragma omp task depend(in : y)
        sim_work(10 * MS);
        GOMP_taskwait_depend_nowait(on_all);
#pragma omp task depend(in : x)
        sim_work(10 * MS);
    }
}

static void independent(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 4; i++)
        sim_work(10 * MS);
}

/* A worker has come to the barrier that ends the region, and executes a task there whose own tasks
 * may run at once. */
static void in_last_barrier(void) {
    int x = 0;
    (void)x;
#pragma omp parallel num_threads(2)
#pragma omp masked
    {
#pragma omp task depend(out : x)
#pragma omp taskloop num_tasks(4)
        for (int i = 0; i < 4; i++)
            sim_work(10 * MS);
        sim_work(5 * MS);
    }
}

/* Two tasks that need the same lock, on the only thread, and one that does not. */
static void locked_alone(void) {
    int x = 0, y = 0, z = 0;
    (void)x;
    (void)y;
    (void)z;
#pragma omp parallel num_threads(1)
    {
#pragma omp task depend(out : x)
#pragma omp critical
        sim_work(30 * MS);
#pragma omp task depend(out : y)
#pragma omp critical
        sim_work(50 * MS);
#pragma omp task depend(out : z)
        sim_work(60 * MS);
    }
}

/* Two iterations of a phase, and tasks outside of it. */
static void phases(void) {
    independent();
    for (int i = 0; i < 2; i++) {
        latecomer_begin("solve");
        sim_work(3 * MS);
        independent();
        latecomer_end("solve");
    }
}

/* Measurement stops right after a region, whose threads wait for the last of them, and goes on
 * later with another one, or not at all. */
static void stopped(void) {
    for (int i = 0; i < 2; i++) {
        latecomer_start();
#pragma omp parallel num_threads(4)
        skewed();
        latecomer_stop();
        sim_work(500 * MS);
    }
}

static void *guarded(void *ms) {
#pragma omp critical(handed)
    sim_work(*(const unsigned *)ms * MS);
    return NULL;
}

static void *guarded_later(void *ms) {
    usleep(200000);
    return guarded(ms);
}

/* One after the other, threads that OpenMP does not know before; the last one is there from the
 * beginning. */
static void strangers(void) {
    static unsigned ms[] = {20, 30, 40};
    pthread_t id, last;
    if (pthread_create(&last, NULL, guarded_later, &ms[2]) != 0)
        return;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&id, NULL, guarded, &ms[i]) == 0)
            pthread_join(id, NULL);
    pthread_join(last, NULL);
}

static __attribute__((noinline)) void alone(void) {
    sim_work(50 * MS);
}

/* Threads are made after serial parts, and their work is the longest. */
static void late_team(void) {
    for (int threads = 2; threads <= 4; threads += 2) {
        alone();
#pragma omp parallel num_threads(threads)
        skewed();
    }
}

#ifdef WITH_MPI
/* Rank 1 goes on when rank 0 has; threads of both wait for each other twice a turn. */
static void hybrid(int rank) {
    int x = 0;
    for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(2)
        {
            int first = (omp_get_thread_num() + rank + i) % 2;
            sim_work((first ? 3 : 1) * MS);
#pragma omp barrier
            sim_work((first ? 1 : 3) * MS);
        }
        if (rank == 0)
            MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Each rank has four tasks, after those of the one before. */
static void relay(int rank, int size) {
    int x = 0;
    if (rank > 0)
        MPI_Recv(&x, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    independent();
    if (rank + 1 < size)
        MPI_Send(&x, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    sim_work(5 * MS);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
#endif

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
#ifdef WITH_MPI
    int rank = 0, size = 1, level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(name, "hybrid") == 0)
        hybrid(rank);
    else if (strcmp(name, "relay") == 0)
        relay(rank, size);
    else if (strcmp(name, "late_team") == 0)
        late_team();
    else if (strcmp(name, "come_and_go") == 0)
        come_and_go();
    MPI_Finalize();
#endif
    if (strcmp(name, "imbalance") == 0)
        imbalance();
    else if (strcmp(name, "serial_parts") == 0)
        serial_parts();
    else if (strcmp(name, "short_threads") == 0)
        short_threads();
    else if (strcmp(name, "constructs") == 0)
        constructs();
    else if (strcmp(name, "exclusive") == 0)
        exclusive();
    else if (strcmp(name, "all_memory") == 0)
        all_memory();
    else if (strcmp(name, "stopped") == 0)
        stopped();
    else if (strcmp(name, "independent") == 0)
        independent();
    else if (strcmp(name, "in_last_barrier") == 0)
        in_last_barrier();
    else if (strcmp(name, "locked_alone") == 0)
        locked_alone();
    else if (strcmp(name, "strangers") == 0)
        strangers();
    else if (strcmp(name, "phases") == 0)
        phases();
#ifndef WITH_MPI
    else if (strcmp(name, "late_team") == 0)
        late_team();
    else if (strcmp(name, "come_and_go") == 0)
        come_and_go();
#endif
    return 0;
}
