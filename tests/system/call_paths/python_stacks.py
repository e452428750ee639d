"""Python stacks of many shapes, each with calls of MPI: python_stacks.py mpi4py|LIBRARY [late|line]. Prints the stack of each call as the
interpreter knows it. With a library instead of mpi4py, MPI is called through ctypes.
late: the last of the ranks sleeps in a method; line: a loop has all its calls in one line; nothing is printed."""
import ctypes
import functools
import os
import sys
import threading
import time
from collections import Counter

from python_module.inner import through_module

seen = Counter()


class Ctypes:
    def __init__(self, library):
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self.mpi = ctypes.CDLL(None)
        needed, got = 3, ctypes.c_int()  # MPI_THREAD_MULTIPLE
        self.mpi.MPI_Init_thread(None, None, needed, ctypes.byref(got))
        try:
            self.world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.mpi, "ompi_mpi_comm_world")))
        except ValueError:
            self.world = ctypes.c_int(0x44000000)

    def barrier(self):
        self.mpi.MPI_Barrier(self.world)

    def rank(self):
        value = ctypes.c_int()
        self.mpi.MPI_Comm_rank(self.world, ctypes.byref(value))
        return value.value

    def finalize(self):
        self.mpi.MPI_Finalize()


def note(frame):
    functions = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith("<frozen importlib"):
            directory, base = os.path.split(code.co_filename)
            name = f"{os.path.basename(directory)}.{base}" if base.startswith("__") else base
            functions.append(f"{name}:{code.co_qualname}" + ("" if code.co_name == "<module>" else f":{code.co_firstlineno}"))
        frame = frame.f_back
    seen["/".join(reversed(functions))] += 1


def call():
    note(sys._getframe())
    barrier()


def again(depth):
    if depth > 0:
        return again(depth - 1)
    return call()


class Solver:
    def step(self):
        def local():
            call()
        local()
        (lambda: call())()

    @property
    def residual(self):
        return call()

    @staticmethod
    def größe():
        call()

    def __lt__(self, other):
        call()
        return False


def numbers():
    for i in range(3):
        call()
        yield i


def shapes():
    solver = Solver()
    for _ in range(5):
        solver.step()
        solver.residual
        Solver.größe()
        again(3)
    again(40)
    sum(numbers())
    list(map(lambda i: call(), range(4)))
    sorted([solver, Solver()])  # Python called by C
    functools.reduce(lambda a, b: call(), range(3))
    [call() for _ in range(2)]
    through_module(call)
    for i in range(3):  # the same name at another place, at the same address or another
        space = {"call": call}
        exec(compile("\n" * i + "def made():\n    call()\nmade()\n", "made.py", "exec"), space)
    thread = threading.Thread(target=again, args=(2,))
    thread.start()
    thread.join()


class Late:
    def step(self, late):
        self.work(late)
        barrier()

    def work(self, late):
        barrier()
        time.sleep(0.02 if late else 0.001)
        barrier()


def in_one_line():
    for _ in range(20):
        my_rank(), barrier(), my_rank(), barrier()


if sys.argv[1] == "mpi4py":
    from mpi4py import MPI
    barrier, my_rank, finalize = MPI.COMM_WORLD.Barrier, MPI.COMM_WORLD.Get_rank, MPI.Finalize
else:
    library = Ctypes(sys.argv[1])
    barrier, my_rank, finalize = library.barrier, library.rank, library.finalize
if sys.argv[2:] == ["late"]:
    late = Late()
    for _ in range(20):
        late.step(my_rank() == 1)
elif sys.argv[2:] == ["line"]:
    in_one_line()
else:
    shapes()
    for path, count in sorted(seen.items()):
        os.write(1, f"{count} {path}\n".encode())
finalize()
