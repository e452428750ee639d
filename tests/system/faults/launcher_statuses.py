"""The exit statuses that a launcher can make of an ending. Bare runs of one ending do not all have the same one: ranks that die together
race, and so do they under the tool.

Open MPI's mpirun gives the status of the rank that failed first, 128 + the signal if it died of one; 1 where it was told to end itself, and
where a rank has returned 0 without MPI_Finalize.

MPICH's mpiexec (Hydra) joins the wait statuses of all ranks by "or" and gives the low seven bits, the signal, if there are any, else the
exit code. A rank that closes its connection without MPI_Finalize makes the proxy send SIGKILL to all others, and count each of them as 0
that it has not found dead yet; so does the next one that closes, also for the first (proxy/pmip.c and pmip_cb.c of Hydra 4.0). So of a
rank's own status and 9 either, both or none may be in. Hydra 4.0 also notes 1 as the wait status of the first rank whose connection it
sees closed. The rank's own replaces it when the proxy finds the rank dead; but a proxy that has found it dead before it looks at the
connection (both are there at once, if the proxy was busy) keeps the 1, which reads as a death of signal 1. That is so for ranks that
exit: one that dies of a signal has made the proxy clean up when it is found dead, and then no 1 is noted. A signal to mpiexec goes to all ranks before any of them can close anything: all
die of it, none of SIGKILL. MPI_Abort tells mpiexec the code, and it ends with that."""
import signal

SIGKILL = int(signal.SIGKILL)
CLOSED = 1  # Hydra's own, for a connection that closes


def ends_with(code):
    """A rank, or all, end with this exit code, without MPI_Finalize."""
    return {"openmpi": {code or 1}, "mpich": {0, code, SIGKILL, CLOSED}}


def dies_of(number):
    """A rank dies of this signal."""
    return {"openmpi": {128 + number}, "mpich": {0, int(number), SIGKILL, number | SIGKILL}}


def aborts_with(code):
    """A rank calls MPI_Abort."""
    return {"openmpi": {code}, "mpich": {code}}


def launcher_gets(number):
    """mpirun or mpiexec gets a signal that it passes on to all ranks."""
    return {"openmpi": {1}, "mpich": {0, int(number)}}


def launcher_dies_of(number):
    """It dies of it itself."""
    return {"openmpi": {-int(number)}, "mpich": {-int(number)}}


def finishes():
    return {"openmpi": {0}, "mpich": {0}}
