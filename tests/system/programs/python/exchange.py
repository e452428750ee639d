"""mpi4py: messages of objects and buffers, collectives, nonblocking calls. Debian's mpi4py is built with Open MPI.

mpi4py makes calls of its own (mpi4py asks for sizes, types, versions), so the counts printed are those of the functions that only
this program causes."""
import os
from collections import Counter

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
calls = Counter()
to, frm = (rank + 1) % size, (rank - 1) % size

data = bytearray(8)
for i in range(10):
    requests = [comm.Irecv([data, MPI.BYTE], source=frm, tag=1), comm.Isend([bytes([rank, i] * 4), MPI.BYTE], dest=to, tag=1)]
    MPI.Request.Waitall(requests)
    calls.update(["MPI_Irecv", "MPI_Isend", "MPI_Waitall"])
    assert data[0] == frm and data[1] == i
total = bytearray(4)
comm.Allreduce([rank.to_bytes(4, "little"), MPI.INT], [total, MPI.INT], op=MPI.SUM)
comm.Barrier()
calls.update(["MPI_Allreduce", "MPI_Barrier"])
if rank == 0:
    comm.Send([bytes(100), MPI.BYTE], dest=1, tag=5)
    calls.update(["MPI_Send"])
elif rank == 1:
    comm.Recv([bytearray(100), MPI.BYTE], source=0, tag=5)
    calls.update(["MPI_Recv"])
everything = comm.allgather({"rank": rank, "square": rank * rank})
os.write(1, f"[{rank}] sum {int.from_bytes(total, 'little')} squares {[item['square'] for item in everything]}\n".encode())
lines = [f"[{rank}] calls {name} {n}" for name, n in sorted(calls.items())]
if "TALLY_DIR" in os.environ:
    with open(f"{os.environ['TALLY_DIR']}/calls.{rank}", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
else:
    os.write(1, ("\n".join(lines) + "\n").encode())
