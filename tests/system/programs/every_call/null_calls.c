/* Calls with NULL where MPI wants a pointer, under MPI_ERRORS_RETURN: the class of the error must
 * be that of the bare run. Each call is made by a child of its own, as MPI itself does not check
 * everything: what gives no answer in the bare run (a crash, a call that waits) is noted in a file
 * and left out in the measured one. The child is made without the handlers of fork(), so that it is
 * measured as its parent is. */
#include "null_calls.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Until a call gives no answer. What took too long bare, for whatever reason, is not tried again;
 * so the limit of the measured run, which would be a difference, is for what hangs. */
enum { SECONDS = 2, SECONDS_MEASURED = 100 };
static bool bare;

int buffer[64];
char text[4096], path[4096];
MPI_Comm comm, ring;
MPI_Group group;
MPI_Win win;
MPI_File file;
MPI_Datatype type, types[8];
MPI_Request requests[2], made = MPI_REQUEST_NULL;
MPI_Message message;
MPI_Status statuses[8];
void *base;

struct answer {
    int given, class;
    long tally[TALLY_CALLS];
};

static void valid_arguments(void) {
    int *memory;
    char dir_path[3000];
    const char *dir = getenv("TMPDIR");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Cart_create(comm, 1, (int[]){1}, (int[]){1}, 0, &ring));
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 8; i++)
        types[i] = MPI_INT;
    OK(MPI_Win_allocate(256, 1, MPI_INFO_NULL, comm, &memory, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    snprintf(dir_path, sizeof dir_path, "%s", dir ? dir : "/tmp");
    snprintf(path, sizeof path, "%s/null-calls.%d", dir_path, (int)getpid());
    OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
}

static void child(int number, struct answer *answer) {
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
    if (freopen("/dev/null", "w", stderr) == NULL)
        _exit(1);
    if (truncate(path, 0) != 0)
        _exit(1);
    alarm(bare ? SECONDS : SECONDS_MEASURED);
    OK(MPI_Irecv(buffer, 1, MPI_INT, 0, 7, comm, &requests[0]));
    OK(MPI_Isend(buffer + 8, 1, MPI_INT, 0, 7, comm, &requests[1]));
    OK(MPI_Isend(buffer + 16, 1, MPI_INT, 0, 8, comm, &made));
    OK(MPI_Mprobe(0, 8, comm, &message, MPI_STATUS_IGNORE));
    int code = null_call(number, NULL);
    answer->class = code;
    if (code != MPI_SUCCESS)
        OK(MPI_Error_class(code, &answer->class));
    memcpy(answer->tally, tally_count, sizeof answer->tally);
    answer->given = 1;
    _exit(0);
}

static int try_one(int number, struct answer *answer) {
    answer->given = 0;
    fflush(stdout);
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        child(number, answer);
    int status = 0;
    while (waitpid((pid_t)pid, &status, 0) < 0)
        ;
    if (answer->given)
        memcpy(tally_count, answer->tally, sizeof answer->tally);
    return answer->given;
}

int main(int argc, char **argv) {
    char silent_path[4096];
    const char *what, *dir = getenv("TMPDIR");
    struct answer *answer =
        mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    start_program(&argc, &argv);
    CHECK(size == 1 && answer != MAP_FAILED);
    valid_arguments();
    snprintf(silent_path, sizeof silent_path, "%s/no-answer", dir ? dir : "/tmp");
    FILE *noted = fopen(silent_path, "r");
    int next = -1, n_silent = 0;
    bare = noted == NULL;
    if (bare)
        noted = fopen(silent_path, "w");
    else if (fscanf(noted, "%d", &next) != 1)
        next = -1;
    for (int i = 0; i < n_null_calls; i++) {
        OK(null_call(i, &what));
        if (i == next) {
            n_silent++;
            if (fscanf(noted, "%d", &next) != 1)
                next = -1;
        } else if (try_one(i, answer)) {
            say("%s: class %d", what, answer->class);
        } else {
            n_silent++;
            if (bare)
                fprintf(noted, "%d\n", i);
            else
                say("%s: no answer", what);
        }
    }
    fclose(noted);
    CHECK(n_silent < n_null_calls / 2); /* else nothing is shown */
    say("%d calls, %d without answer", n_null_calls, n_silent);
    OK(MPI_File_close(&file));
    OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Win_free(
        &win); /* Open MPI refuses: an epoch that a child has begun lies in shared memory */
    OK(MPI_Group_free(&group));
    OK(MPI_Type_free(&type));
    OK(MPI_Comm_free(&ring));
    OK(MPI_Comm_free(&comm));
    return end_program();
}
