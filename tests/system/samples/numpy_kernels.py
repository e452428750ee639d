"""Kernels of numpy between barriers; prints what each took of the rank's processor, in seconds."""
import time

import numpy
from mpi4py import MPI

MATRIX = numpy.random.default_rng(1).random((300, 300))
LIST = numpy.random.default_rng(2).random(200000)


def timed(kernel, *arguments):
    begin = time.thread_time()
    kernel(*arguments)
    return time.thread_time() - begin


spent = [0.0, 0.0]
for _ in range(30):
    spent[0] += timed(MATRIX.dot, MATRIX)
    spent[1] += timed(numpy.sort, LIST)
    MPI.COMM_WORLD.Barrier()
print(f"{spent[0]} {spent[1]}\n", end="", flush=True)
