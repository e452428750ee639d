/* A libpapi.so for tests: COUNTED grows by 7 between two readings, OTHER by 1000; the kernel does
 * not give REFUSED, rank 1 has no ODD. */
#include <stdlib.h>
#include <string.h>

/* As in the header of PAPI, which need not be there. */
int PAPI_library_init(int version);
int PAPI_create_eventset(int *set);
int PAPI_add_named_event(int set, const char *name);
int PAPI_start(int set);
int PAPI_read(int set, long long *values);
int PAPI_stop(int set, long long *values);
int PAPI_cleanup_eventset(int set);
char *PAPI_strerror(int error);

enum { VERSION = 7 << 24 | 1 << 16, REFUSED = -7, MOST = 8 };

static long long step[MOST], readings;
static int n;

int PAPI_library_init(int version) {
    return version == VERSION ? version : -1;
}

int PAPI_create_eventset(int *set) {
    *set = 1;
    return 0;
}

int PAPI_add_named_event(int set, const char *name) {
    const char *rank =
        getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    if (set != 1 || n == MOST || strcmp(name, "REFUSED") == 0 ||
        (strcmp(name, "ODD") == 0 && rank != NULL && *rank == '1'))
        return REFUSED;
    step[n++] = strcmp(name, "COUNTED") == 0 ? 7 : 1000;
    return 0;
}

int PAPI_start(int set) {
    return set == 1 && n > 0 ? 0 : -1;
}

int PAPI_read(int set, long long *values) {
    readings++;
    for (int i = 0; i < n; i++)
        values[i] = readings * step[i];
    return set == 1 ? 0 : -1;
}

int PAPI_stop(int set, long long *values) {
    return PAPI_read(set, values);
}

int PAPI_cleanup_eventset(int set) {
    n = 0;
    return set == 1 ? 0 : -1;
}

char *PAPI_strerror(int error) {
    static char refused[] = "Event does not exist", other[] = "Another error";
    return error == REFUSED ? refused : other;
}
