// As known_shares.c: kernels are members of a class, called through a virtual function.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mpi.h>

static volatile double sink;

namespace mesh {
struct Solver {
    double spent[4] = {};
    virtual ~Solver() = default;
    virtual void step(long n, bool late) = 0;
};

double cpu_s() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

template <int UNUSED> [[gnu::noinline]] void churn(long n) {
    double x = 1;
    for (long i = 0; i < n; i++)
        x = x * 1.0000001 + 1e-9;
    sink = sink + x;
}

class Multigrid : public Solver {
    template <class F> void timed(int which, F kernel) {
        double begin = cpu_s();
        kernel();
        spent[which] += cpu_s() - begin;
    }
    [[gnu::noinline]] void assemble(long n) { churn<0>(n); sink = sink + 1; }
    [[gnu::noinline]] void precondition(long n) { churn<0>(n); sink = sink + 1; }
    [[gnu::noinline]] void solve(long n) { churn<0>(n); sink = sink + 1; }
    [[gnu::noinline]] void straggle(long n) { churn<0>(n); sink = sink + 1; }

  public:
    void step(long n, bool late) override {
        timed(0, [&] { assemble(n); });
        timed(1, [&] { precondition(3 * n); });
        timed(2, [&] { solve(6 * n); });
        if (late)
            timed(3, [&] { straggle(10 * n); });
    }
};
} // namespace mesh

int main(int argc, char **argv) {
    int rank, size, iterations = argc > 1 ? std::atoi(argv[1]) : 100;
    double ms = argc > 2 ? std::atof(argv[2]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double begin = mesh::cpu_s();
    mesh::churn<1>(5000000);
    long n = static_cast<long>(ms * 1e-3 / 10 / ((mesh::cpu_s() - begin) / 5e6));
    mesh::Solver *solver = new mesh::Multigrid;
    for (int i = 0; i < iterations; i++) {
        solver->step(n, rank == size - 1 && i % 10 == 9);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    std::printf("%d %.6f %.6f %.6f %.6f\n", rank, solver->spent[0], solver->spent[1], solver->spent[2],
                solver->spent[3]);
    delete solver;
    MPI_Finalize();
}
