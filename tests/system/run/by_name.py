"""The program of ways_to_start.c with MPI's functions found by name in a library opened for this object alone (ctypes; Julia's and numba-mpi's way)."""
import ctypes
import os
import sys

mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
if hasattr(mpi, "ompi_mpi_comm_world"):  # handles of Open MPI are addresses
    INT, SUM, WORLD = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))
                       for name in ("ompi_mpi_int", "ompi_mpi_op_sum", "ompi_mpi_comm_world"))
else:
    INT, SUM, WORLD = 0x4C000405, 0x58000003, 0x44000000


def time_step(value):
    total = ctypes.c_int()
    for _ in range(25):
        mpi.MPI_Allreduce(ctypes.byref(value), ctypes.byref(total), 1, INT, SUM, WORLD)
    return total.value


mpi.MPI_Init(None, None)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
os.write(1, f"rank {rank.value} sum {time_step(rank)}\n".encode())  # in one piece
mpi.MPI_Finalize()
