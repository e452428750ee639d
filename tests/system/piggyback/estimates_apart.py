#!/usr/bin/env python3
"""Estimates from shortest calls are made among calls on communicators of one size; MPI_Waitall has none that counts.

estimates_apart.py LATECOMER PROGRAM openmpi|mpich
With clocks off, so that there is nothing but estimates: each is worked out again from the table of size classes of the same result.
"""
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

latecomer, program, flavour = sys.argv[1:4]
RANKS = 4


def table(result):
    """(call path, rank): (calls, seconds, shortest) of calls of 4 bytes."""
    with tarfile.open(f"{result}/profile.cubex") as tar:
        head, *rows = [line.split("\t") for line in tar.extractfile("size_classes.tsv").read().decode().rstrip("\0").splitlines()]
    found = {}
    for row in (dict(zip(head, row)) for row in rows):
        found[row["callpath"], int(row["location"])] = int(row["count"]), float(row["sum_s"]), float(row["min_s"])
    return found


def faults(result):
    shown = subprocess.run([latecomer, "show", "--json", result], check=True, capture_output=True, text=True, timeout=patience(60))
    content = json.loads(shown.stdout)
    metrics, calls = content["metrics"], table(result)
    sums = {path for path, _ in calls if path.endswith("/MPI_Allreduce")}
    estimate = metrics["mpi_wait_nxn_estimated"]["callpaths"]
    for function in ("alone", "half", "together"):
        paths = [path for path in sums if function in path.split("/")]
        if len(paths) != 1:
            yield f"call paths of {function}: {sums}"
            continue
        rows = [calls[paths[0], rank] for rank in range(RANKS)]
        shortest = min(least for _, _, least in rows)
        for rank, (count, seconds, _) in enumerate(rows):
            got = estimate.get(paths[0], [0.0] * RANKS)[rank]
            wanted = 0.0 if function == "alone" else seconds - count * shortest
            if not math.isclose(got, wanted, abs_tol=1e-9 * (count + 2)):
                yield f"{paths[0]}, rank {rank}: {got}, not {wanted}"
    several = [name for name, metric in metrics.items() if any(path.endswith("/MPI_Waitall") for path in metric["callpaths"])
               and name.endswith("_estimated")]
    if several != ["mpi_waitall_estimated"]:
        yield f"estimates of MPI_Waitall in {several}"
    if any("MPI_Waitall" in (f["callpath"] or "") for f in content["findings"]):
        yield f"a finding of an estimate of MPI_Waitall: {content['findings']}"


with tempfile.TemporaryDirectory() as directory:
    subprocess.run([*mpirun(flavour, RANKS), latecomer, "-q", "run", "--sample=off", "--max-overhead=off", "-o", f"{directory}/r", program], check=True, timeout=patience(60),
                   env={**os.environ, "LATECOMER_CLOCKS": "off"})
    found = list(faults(f"{directory}/r"))
for line in found:
    print(line)
print(f"{len(found)} faults")
sys.exit(1 if found else 0)
