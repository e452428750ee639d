"""Messages and bytes that MPI sends more per operation when the clocks travel as messages, counted by Open MPI itself (its component pml/monitoring),
against the model of docs/clocks.md. Usage: counted_by_mpi.py LATECOMER PROGRAM RANKS.. (the program is counted_by_mpi.c)"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "programs"))
import launch  # noqa: E402

MOST_BYTES = 128 + 16 * 20 + 48 * 32  # of a record; of a mirrored collective:
MIRROR_BYTES = 464
MODEL = {"message": lambda p: p, "barrier": lambda p: 2 * (p - 1), "allreduce": lambda p: 2 * (p - 1), "bcast": lambda p: p - 1,
         "reduce": lambda p: p - 1, "scan": lambda p: p - 1}
BATCHED = ("barrier", "allreduce")  # several in one (composed_collectives.h): 20 at most, and by far not one by one
PACKET_BYTES = 448 * 8
FEW, MANY = 10, 60  # the difference is free of what MPI_Init and MPI_Finalize send


def sent(work, ranks, tool, program, operation, times):
    for path in work.root.glob("mon.*"):
        path.unlink()
    shutil.rmtree(work.root / "exp", ignore_errors=True)
    options = {"pml_monitoring_enable": 2, "pml_monitoring_enable_output": 3, "pml_monitoring_filename": work.root / "mon"}
    words = [w for name, value in options.items() for w in ("--mca", name, str(value))]
    launcher = work.launcher(ranks)
    run = work.run([launcher[0], *words, *launcher[1:], *tool, program, operation, str(times)], env=work.environment(LATECOMER_TRANSPORT="mpi"))
    if run.status != 0:
        raise RuntimeError(f"{operation}: status {run.status}\n{run.err[-800:]}")
    rows = [line.split("\t") for path in work.root.glob("mon.*.prof") for line in path.read_text().splitlines()]
    rows = [row for row in rows if row[0] in ("E", "I") and len(row) > 4]
    return sum(int(r[4].split()[0]) for r in rows), sum(int(r[3].split()[0]) for r in rows)


def per_operation(*args):
    few, many = sent(*args, FEW), sent(*args, MANY)
    return [(b - a) / (MANY - FEW) for a, b in zip(few, many)]


def check(work, program, ranks, operation):
    bare = per_operation(work, ranks, [], program, operation)
    tool = per_operation(work, ranks, work.tool("-q"), program, operation)
    more, each = tool[0] - bare[0], (tool[1] - bare[1]) / max(1e-9, tool[0] - bare[0])
    print(f"{operation:10} {ranks:3} ranks: {bare[0]:6.1f} messages bare, {more:6.1f} more of {each:4.0f} bytes", flush=True)
    wanted, most = MODEL[operation](ranks), MOST_BYTES if operation == "message" else 1.15 * MIRROR_BYTES
    if operation in BATCHED:
        return [] if wanted / 30 <= more <= wanted / 2 and each <= PACKET_BYTES else [f"{operation} {ranks}: {more} messages of {each} bytes, one by one {wanted}"]
    slack = 0.02 * wanted + 2 / (MANY - FEW)  # what comes about once in a run: synchronisation of the nodes' clocks, answers
    return [] if abs(more - wanted) <= slack and each <= most else [f"{operation} {ranks}: {more} messages of {each} bytes instead of {wanted}"]


def main():
    latecomer, program, *ranks = sys.argv[1:]
    if "pml: monitoring" not in subprocess.run(["ompi_info"], capture_output=True, text=True, check=True).stdout:
        sys.exit("Open MPI has no component pml/monitoring")
    found = []
    with launch.Workspace("openmpi", os.path.abspath(latecomer)) as work:
        for n in map(int, ranks):
            for operation in MODEL:
                found += check(work, os.path.abspath(program), n, operation)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
