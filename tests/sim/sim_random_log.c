#include "sim_random.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_FRAMES = 32, MOST_ACTIVATIONS = 4096 };

int rank, size, comm_ids, request_ids, n_sends;
const char *log_name;
bool threaded, ordered;
FILE *out;
_Thread_local int thread;
_Thread_local uint64_t common, own;

static int n_threads;
static _Thread_local char pending[16384];
static _Thread_local long long begin;

/* ---- call paths ---- */

static _Thread_local struct frame {
    const char *function;
    int activation;
} frames[MOST_FRAMES];
static _Thread_local int depth;

static struct activation { const void *called_from, *at; } activations[MOST_ACTIVATIONS];
static int n_activations;

int enter(const char *function, const void *called_from, const void *at) {
    int i = 0;
    while (i < n_activations &&
           (activations[i].called_from != called_from || activations[i].at != at))
        i++;
    if (i == MOST_ACTIVATIONS || depth == MOST_FRAMES)
        abort();
    if (i == n_activations)
        activations[n_activations++] = (struct activation){called_from, at};
    frames[depth++] = (struct frame){function, i};
    return 0;
}

void leave(const int *unused) {
    (void)unused;
    depth--;
}

uint32_t draw(uint64_t *state, uint32_t below) {
    uint64_t x = *state = *state * 6364136223846793005u + 1442695040888963407u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((x >> 32) % below);
}

uint64_t sim_true_clock(void) __attribute__((weak)); /* of the simulation */

long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return sim_true_clock ? (long long)sim_true_clock() : t.tv_sec * 1000000000ll + t.tv_nsec;
}

void note(const char *format, ...) {
    size_t n = strlen(pending);
    va_list args;
    va_start(args, format);
    vsnprintf(pending + n, sizeof pending - n, format, args);
    va_end(args);
}

void starts(void) {
    if (thread < 0)
        thread = ++n_threads;
    begin = now();
}

void ends(const char *function) {
    long long end = now();
    fprintf(out, "%sC %d %s %lld %lld ", pending, thread, function, begin, end);
    for (int i = 0; i < depth; i++)
        fprintf(out, "%s:%d%c", frames[i].function, frames[i].activation,
                i < depth - 1 ? '/' : '\n');
    pending[0] = '\0';
}

static bool is_inside(const char *function, size_t length) {
    bool found = false;
    for (int i = 0; i < depth && !found; i++)
        found = strncmp(frames[i].function, function, length) == 0 &&
                frames[i].function[length] == '\0';
    return found;
}

/* Of this place in the program. */
static double factor(void) {
    double f = 1;
    for (const char *at = getenv("SIM_RANDOM_FACTORS"); at != NULL && *at != '\0';) {
        char *end;
        size_t length = strcspn(at, "=");
        double of = strtod(at + length + 1, &end);
        f *= is_inside(at, length) ? of : 1;
        at = end + (*end == ',');
    }
    return f;
}

static void nap(long ns) {
    if (ns > 0)
        nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* Between two calls of this function: its time certainly belongs to the functions that are open. */
static void nap_between_calls(long ns) {
    FRAME;
    int me;
    PLAIN(MPI_Comm_rank, MPI_COMM_WORLD, &me);
    nap(ns);
    PLAIN(MPI_Comm_rank, MPI_COMM_WORLD, &me);
}

void work(void) {
    uint32_t kind = draw(&own, 8);
    long ns = kind == 0 ? 0 : (long)draw(&own, kind == 1 ? 2000000 : 200000);
    ns = (long)((double)ns * factor());
    if (ordered)
        nap_between_calls(ns);
    else
        nap(ns);
}
