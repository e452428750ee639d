/* A program that ends in the way its argument says, after a known number of calls: each rank makes
 * ROUNDS of MPI_Allreduce and of MPI_Sendrecv, tells that it is ready, and then meets its fate.
 * Rank 1 is the victim where one rank is. */
#include "program.h"

#include <fenv.h>
#include <signal.h>
#include <sys/mman.h>

enum { ROUNDS = 40, VICTIM = 1 };

static volatile sig_atomic_t told;

static void leave(int signal_number) {
    char text[] = "own handler of signal 00\n";
    text[22] = (char)('0' + signal_number / 10);
    text[23] = (char)('0' + signal_number % 10);
    if (write(STDOUT_FILENO, text, sizeof text - 1) > 0)
        _exit(9);
    _exit(10);
}

static void note(int signal_number) {
    told = signal_number;
}

/* Outside MPI; bounded, so that nothing stays behind a failed test. */
static void wait_for_fate(int seconds) {
    for (int i = 0; i < 20 * seconds && !told; i++)
        nap_ms(50);
    if (!told)
        say("nothing happened");
}

static void write_pid(void) {
    const char *dir = getenv("TALLY_DIR");
    char path[4096];
    if (!dir)
        return;
    snprintf(path, sizeof path, "%s/pid.%d", dir, rank);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
}

/* Until the launcher has passed on that all are ready, and the test has seen it: then it makes this
 * file. Outside MPI; bounded, so that nothing stays behind a failed test. */
static void wait_for_go(void) {
    const char *dir = getenv("TALLY_DIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/go", dir ? dir : ".");
    for (int i = 0; dir && access(path, F_OK) != 0 && i < 20000; i++)
        nap_ms(5);
}

static void divide_by_zero(void) {
    volatile int zero = 0;
    volatile int one = 1;
    one = one / zero;
}

static void write_where_not_allowed(void) {
    volatile int *page =
        (volatile int *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
}

static void abort_on_error(MPI_Comm *comm, int *code, ...) {
    (void)code;
    MPI_Abort(*comm, 7);
}

static void abort_on_signal(int signal_number) {
    (void)signal_number;
    MPI_Abort(MPI_COMM_WORLD, 8);
}

static void send_to_nobody(void) {
    MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
}

static int meet_fate(const char *fate) {
    int mine = rank == VICTIM;
    if (strcmp(fate, "exit") == 0)
        exit(3);
    if (strcmp(fate, "return") == 0)
        return 0;
    if (strcmp(fate, "_exit") == 0)
        _exit(4);
    if (strcmp(fate, "exit_one") == 0 && mine)
        exit(3);
    if (strcmp(fate, "abort") == 0 && mine)
        abort();
    if (strcmp(fate, "mpi_abort") == 0 && mine)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(fate, "fatal_error") == 0 && mine)
        send_to_nobody();
    if (strcmp(fate, "abort_in_error_handler") == 0 && mine) {
        MPI_Errhandler handler;
        MPI_Comm_create_errhandler(abort_on_error, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        send_to_nobody();
    }
    if (strcmp(fate, "abort_in_signal_handler") == 0 && mine) {
        signal(SIGSEGV, abort_on_signal);
        write_where_not_allowed();
    }
    if (strcmp(fate, "segv_handler") == 0)
        signal(SIGSEGV, leave);
    if (strcmp(fate, "fpe_handler") == 0)
        signal(SIGFPE, leave);
    if (strncmp(fate, "segv", 4) == 0 && mine)
        write_where_not_allowed();
    if (strncmp(fate, "fpe", 3) == 0 && mine)
        divide_by_zero();
    if (strcmp(fate, "kill") == 0 && mine)
        raise(SIGKILL);
    if (strcmp(fate, "wait") ==
        0) { /* MPICH's ranks ignore SIGHUP: then it ends as if nothing had been */
        wait_for_fate(8);
        return end_program();
    }
    if (strcmp(fate, "finish_on_term") ==
        0) { /* a program that saves its work when the batch system warns it */
        wait_for_fate(100);
        say("told %d", (int)told);
        return end_program();
    }
    if (strcmp(fate, "finalize") == 0)
        return end_program();
    MPI_Barrier(MPI_COMM_WORLD); /* the others wait for the victim */
    nap_ms(10000);
    return 6;
}

int main(int argc, char **argv) {
    int in = -1, sum = 0;
    const char *fate = argc > 1 ? argv[1] : "finalize";
    if (strcmp(fate, "finish_on_term") == 0)
        signal(SIGTERM, note);
    start_program(&argc, &argv);
    write_pid();
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    say("ready");
    wait_for_go();
    return meet_fate(fate);
}
