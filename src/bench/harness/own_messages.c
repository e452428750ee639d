#include "bench/harness/own_messages.h"

enum { TAG = 0x6c62 };

void lc_own_broadcast(const struct lc_own *own, int64_t *values, int n) {
    int low = own->rank & -own->rank;
    if (own->rank != 0)
        MPI_Recv(values, n, MPI_INT64_T, own->rank - low, TAG, own->comm, MPI_STATUS_IGNORE);
    else
        for (low = 1; low < own->size;)
            low *= 2;
    for (int step = low / 2; step > 0; step /= 2)
        if (own->rank + step < own->size)
            MPI_Send(values, n, MPI_INT64_T, own->rank + step, TAG, own->comm);
}

void lc_own_maximum(const struct lc_own *own, int64_t *values, int n) {
    int64_t theirs[LC_OWN_MOST];
    for (int step = 1; step < own->size; step *= 2) {
        if (own->rank & step) {
            MPI_Send(values, n, MPI_INT64_T, own->rank - step, TAG, own->comm);
            break;
        }
        if (own->rank + step >= own->size)
            continue;
        MPI_Recv(theirs, n, MPI_INT64_T, own->rank + step, TAG, own->comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            values[i] = theirs[i] > values[i] ? theirs[i] : values[i];
    }
    lc_own_broadcast(own, values, n);
}

void lc_own_barrier(const struct lc_own *own) {
    char nothing = 0, theirs;
    for (int step = 1; step < own->size; step *= 2)
        MPI_Sendrecv(&nothing, 1, MPI_CHAR, (own->rank + step) % own->size, TAG, &theirs, 1,
                     MPI_CHAR, (own->rank - step + own->size) % own->size, TAG, own->comm,
                     MPI_STATUS_IGNORE);
}
