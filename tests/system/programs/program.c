#define TALLY_NAMES
#include "program.h"

#include <stdarg.h>
#include <time.h>

long tally_count[TALLY_CALLS + 1];
int rank, size;
static int failures;

void adopt_program(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* So much processor time between two calls of MPI ($PROGRAM_COMPUTE_MS) that samples by it have
 * something to hit, however busy the machine is. */
static void compute(void) {
    const char *text = getenv("PROGRAM_COMPUTE_MS");
    struct timespec t;
    static volatile double sink;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    for (long end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + (text ? atol(text) : 0);
         t.tv_sec * 1000 + t.tv_nsec / 1000000 < end; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
        for (int i = 0; i < 100000; i++)
            sink += i;
}

void start_program(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    compute();
    adopt_program();
}

int start_program_threads(int *argc, char ***argv, int level) {
    int provided = -1;
    MPI_Init_thread(argc, argv, level, &provided);
    compute();
    adopt_program();
    return provided;
}

void say(const char *format, ...) {
    char line[1024];
    int n = snprintf(line, sizeof line, "[%d] ", rank);
    va_list args;
    va_start(args, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
    va_end(args);
    if ((size_t)n > sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n] = '\n';
    fflush(stdout);
    if (write(STDOUT_FILENO, line, (size_t)n + 1) < 0) /* one write: lines of ranks stay whole */
        failures++;
}

void check_failed(const char *file, int line, const char *what) {
    const char *slash = strrchr(file, '/');
    __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    say("FAILED %s:%d: %s", slash ? slash + 1 : file, line, what);
}

int print_tally(void) {
    const char *dir = getenv("TALLY_DIR");
    char path[4096];
    FILE *file = NULL;
    if (dir) {
        snprintf(path, sizeof path, "%s/calls.%d", dir, rank);
        file = fopen(path, "w");
    }
    for (int i = 0; i < TALLY_CALLS; i++)
        if (tally_count[i] > 0 && file)
            fprintf(file, "[%d] calls %s %ld\n", rank, tally_names[i], tally_count[i]);
        else if (tally_count[i] > 0)
            say("calls %s %ld", tally_names[i], tally_count[i]);
    if (file)
        fclose(file);
    return failures ? 1 : 0;
}

int end_program(void) {
    MPI_Finalize();
    return print_tally();
}

void tally_name_(const char *name, size_t length) {
    for (int i = 0; i < TALLY_CALLS; i++)
        if (strlen(tally_names[i]) == length && strncasecmp(tally_names[i], name, length) == 0) {
            TALLY_ADD(i);
            return;
        }
    fprintf(stderr, "tally: no MPI function %.*s\n", (int)length, name);
    abort();
}

void tally_name(const char *name) {
    tally_name_(name, strlen(name));
}

void nap_ms(int ms) {
    struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
    while (nanosleep(&t, &t) != 0)
        ;
}
