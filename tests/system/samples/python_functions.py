"""Functions of Python that never call MPI, and a kernel of numpy below one of them, between barriers: python_functions.py mpi4py|LIBRARY
Each takes 0.3 s of the processor."""
import ctypes
import sys
import time

import numpy

LIST = numpy.random.default_rng(2).random(200000)


def relax():
    total = 0
    for i in range(20000):
        total += i * i
    return total


def order():
    return numpy.sort(LIST)


def repeat(kernel, seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        kernel()


class Ctypes:
    """MPICH, which Debian's mpi4py is not made for."""

    def __init__(self, library):
        self.mpi = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self.mpi.MPI_Init(None, None)

    def Barrier(self):
        self.mpi.MPI_Barrier(ctypes.c_int(0x44000000))

    def end(self):
        self.mpi.MPI_Finalize()


def world(how):
    if how != "mpi4py":
        return Ctypes(how)
    from mpi4py import MPI
    return MPI.COMM_WORLD


comm = world(sys.argv[1])
for _ in range(10):
    repeat(relax, 0.03)
    repeat(order, 0.03)
    comm.Barrier()
if isinstance(comm, Ctypes):
    comm.end()
