/* Every call of the families that make_every_call.py knows, once each; each relative (nonblocking,
 * persistent, large counts) must leave the same numbers. */
#include "every_call.h"

int a[EACH * RANKS_MAX], b[EACH * RANKS_MAX];
int counts[RANKS_MAX], places[RANKS_MAX], byte_places[RANKS_MAX];
MPI_Count large_counts[RANKS_MAX];
MPI_Aint wide_places[RANKS_MAX], wide_byte_places[RANKS_MAX];
MPI_Datatype types[RANKS_MAX];
MPI_Comm ring;
MPI_Win win;
int *memory;
MPI_File file;
MPI_Offset own_place;
MPI_Request r = MPI_REQUEST_NULL;
MPI_Status s;
int to;
static char path[4096];
static long total;

static struct {
    char name[64];
    long hash;
} seen[128];
static int n_seen;

void fresh(void) {
    for (int i = 0; i < EACH * RANKS_MAX; i++) {
        a[i] = 100 * rank + i + 1;
        b[i] = rank == 0 ? 7 * i : 0;
    }
}

static long hash(const int *values, int n) {
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum = (sum * 31 + values[i]) % 1000003;
    return sum;
}

static void same_as_relatives(const char *name, long value) {
    total = (total * 31 + value) % 1000003;
    for (int i = 0; i < n_seen; i++)
        if (strcmp(seen[i].name, name) == 0) {
            if (seen[i].hash != value)
                check_failed(__FILE__, __LINE__, name);
            return;
        }
    snprintf(seen[n_seen].name, sizeof seen[n_seen].name, "%s", name);
    seen[n_seen++].hash = value;
}

void result(const char *name, int first) {
    if (rank >= first)
        same_as_relatives(name, hash(b, EACH * size));
}

void open_epoch(void) {
    fresh();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    for (int i = 0; i < 2 * EACH; i++)
        memory[i] = 10 + i % EACH + rank;
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
}

void close_epoch(const char *name) {
    OK(MPI_Win_unlock(to, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    same_as_relatives(name, hash(b, EACH) * 1000 + hash(memory, EACH));
    OK(MPI_Win_unlock(rank, win));
}

/* The file holds `a` of each rank in order, or nothing if it is to be written. */
void before_file(int reads, int shared) {
    fresh();
    OK(MPI_File_set_size(file, 0));
    if (reads)
        OK(MPI_File_write_at_all(file, own_place, a, EACH, MPI_INT, MPI_STATUS_IGNORE));
    if (shared)
        OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_seek(file, own_place, MPI_SEEK_SET));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

void after_file(const char *name, int reads, int in_order) {
    int n = 0, sum = 0, all = 0, numbers[EACH];
    MPI_Offset bytes = 0;
    OK(MPI_Get_count(&s, MPI_INT, &n));
    if (n != EACH)
        check_failed(__FILE__, __LINE__, name);
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == size * (MPI_Offset)sizeof numbers);
    memcpy(numbers, b, sizeof numbers);
    if (!reads)
        OK(MPI_File_read_at(file, own_place, numbers, EACH, MPI_INT, MPI_STATUS_IGNORE));
    if (in_order && (numbers[0] != a[0] || numbers[1] != a[1]))
        check_failed(__FILE__, __LINE__, name);
    for (int i = 0; i < EACH; i++)
        sum += numbers[i] - a[i];
    OK(MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (all != 0) /* with a shared pointer each rank has somebody's numbers */
        check_failed(__FILE__, __LINE__, name);
}

static void prepare(void) {
    int from = (rank + size - 1) % size;
    const char *dir = getenv("TMPDIR");
    to = (rank + 1) % size;
    for (int i = 0; i < size; i++) {
        counts[i] = EACH;
        large_counts[i] = EACH;
        places[i] = EACH * i;
        wide_places[i] = EACH * i;
        byte_places[i] = EACH * i * (int)sizeof(int);
        wide_byte_places[i] = EACH * i * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    own_place = rank * EACH * (MPI_Offset)sizeof(int);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring));
    OK(MPI_Win_allocate(2 * EACH * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                        &win));
    if (rank == 0)
        snprintf(path, sizeof path, "%s/every-call.%d", dir ? dir : "/tmp", (int)getpid());
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    CHECK(size <= RANKS_MAX);
    prepare();
    every_call();
    OK(MPI_File_close(&file));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&ring));
    say("every call %ld", total);
    return end_program();
}
