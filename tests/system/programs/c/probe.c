/* Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv, with wildcards and MPI_MESSAGE_NO_PROC. */
#include "program.h"

static long take(int want_tag) {
    int flag = 0, count = 0, buffer[64] = {0};
    MPI_Status s;
    MPI_Message m;
    MPI_Request r;
    switch (want_tag % 5) {
    case 0:
        OK(MPI_Probe(MPI_ANY_SOURCE, want_tag, MPI_COMM_WORLD, &s));
        OK(MPI_Get_count(&s, MPI_INT, &count));
        OK(MPI_Recv(buffer, count, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        break;
    case 1:
        for (; !flag; nap_ms(flag ? 0 : 1))
            OK(MPI_Iprobe(MPI_ANY_SOURCE, want_tag, MPI_COMM_WORLD, &flag, &s));
        OK(MPI_Get_count(&s, MPI_INT, &count));
        OK(MPI_Recv(buffer, count, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s));
        break;
    case 2:
        OK(MPI_Mprobe(MPI_ANY_SOURCE, want_tag, MPI_COMM_WORLD, &m, &s));
        OK(MPI_Get_count(&s, MPI_INT, &count));
        OK(MPI_Mrecv(buffer, count, MPI_INT, &m, &s));
        CHECK(m == MPI_MESSAGE_NULL);
        break;
    case 3:
        for (; !flag; nap_ms(flag ? 0 : 1))
            OK(MPI_Improbe(MPI_ANY_SOURCE, want_tag, MPI_COMM_WORLD, &flag, &m, &s));
        OK(MPI_Get_count(&s, MPI_INT, &count));
        OK(MPI_Imrecv(buffer, count, MPI_INT, &m, &r));
        OK(MPI_Wait(&r, &s));
        break;
    default:
        OK(MPI_Mprobe(MPI_ANY_SOURCE, want_tag, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
        OK(MPI_Imrecv(buffer, 64, MPI_INT, &m, &r));
        OK(MPI_Wait(&r, &s));
        OK(MPI_Get_count(&s, MPI_INT, &count));
        break;
    }
    long sum = s.MPI_SOURCE * 1000L + count;
    for (int i = 0; i < count; i++)
        sum = sum * 31 + buffer[i];
    return sum % 1000003;
}

int main(int argc, char **argv) {
    start_program(&argc, &argv);
    int flag, data[64];
    MPI_Message m, first, second;
    MPI_Status s;
    if (rank == 0) {
        unsigned long sum = 0;
        for (int i = 0; i < 15 * (size - 1); i++)
            sum += (unsigned long)take(i %
                                       15); /* addition: the order of the senders does not matter */
        say("probe %lu", sum);
    } else {
        for (int i = 0; i < 64; i++)
            data[i] = i * rank;
        for (int i = 0; i < 15; i++)
            OK(MPI_Send(data, i, MPI_INT, 0, i, MPI_COMM_WORLD));
    }
    /* Two matched messages of one stream, received in reverse order. */
    if (rank == 0) {
        int a = 0, b = 0;
        OK(MPI_Mprobe(1, 99, MPI_COMM_WORLD, &first, &s));
        OK(MPI_Mprobe(1, 99, MPI_COMM_WORLD, &second, &s));
        OK(MPI_Mrecv(&b, 1, MPI_INT, &second, &s));
        OK(MPI_Mrecv(&a, 1, MPI_INT, &first, &s));
        say("mprobe order %d %d", a, b);
    } else if (rank == 1) {
        for (int i = 1; i <= 2; i++)
            OK(MPI_Send(&i, 1, MPI_INT, 0, 99, MPI_COMM_WORLD));
    }
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &m, &s));
    CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mrecv(data, 1, MPI_INT, &m, &s));
    OK(MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &m, &s));
    CHECK(flag && m == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(data, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s));
    CHECK(flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &s));
    CHECK(!flag);
    return end_program();
}
