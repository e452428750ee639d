// A C++ program that initialises MPI in a static object's constructor and finalizes it in the destructor; templates, exceptions,
// lambdas and virtual functions on the call path.
#include "program.h"

#include <functional>
#include <stdexcept>
#include <vector>

namespace {

struct Environment {
    Environment()
    {
        int flag = -1;
        OK(MPI_Initialized(&flag));
        CHECK(flag == 0);
        OK(MPI_Init(nullptr, nullptr));
        adopt_program();
    }
    ~Environment()
    {
        int flag = -1;
        OK(MPI_Finalize());
        OK((MPI_Finalized)(&flag)); // not counted: the result is complete by now
        CHECK(flag == 1);
        print_tally();
    }
};

Environment environment;

struct Shape {
    virtual ~Shape() = default;
    virtual int exchange(int value) const = 0;
};

template <typename T, int Tag> struct Ring : Shape {
    int exchange(int value) const override
    {
        T out = static_cast<T>(value), in = -1;
        OK(MPI_Sendrecv(&out, sizeof out, MPI_BYTE, (rank + 1) % size, Tag, &in, sizeof in, MPI_BYTE, (rank + size - 1) % size, Tag,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (in < 0)
            throw std::runtime_error("negative");
        return static_cast<int>(in);
    }
};

} // namespace

int main()
{
    std::vector<Shape *> shapes = {new Ring<int, 1>, new Ring<double, 2>, new Ring<long, 3>};
    int sum = 0, caught = 0;
    for (int i = -1; i < 5; i++)
        for (auto *shape : shapes) {
            try {
                sum += shape->exchange(i < 0 ? -5 : i + rank);
            } catch (const std::runtime_error &) {
                caught++;
            }
        }
    std::function<int(int)> reduce = [](int value) {
        int total = 0;
        OK(MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        return total;
    };
    int total = reduce(sum);
    for (auto *shape : shapes)
        delete shape;
    say("sum %d total %d caught %d", sum, total, caught);
    return 0;
}
