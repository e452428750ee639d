#!/usr/bin/env python3
"""Who is late before MPI_Finalize costs the others time, in the profile and in the trace of the same run.

late_to_finalize.py LATECOMER PROGRAM openmpi|mpich
Over shared memory, over messages, and with two believed nodes, in virtual time.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from launch import virtual_time  # noqa: E402

latecomer, program, flavour = sys.argv[1:4]
WAITS = {"direct": (0.3, 0.0, 0.3), "chain": (0.9, 0.0, 0.3)}  # seconds in MPI_Finalize, per rank
EXACT = 1e-5


def show(*options):
    return json.loads(subprocess.run([latecomer, "show", "--json", *options], check=True, capture_output=True, text=True,
                                     timeout=patience(60)).stdout)


def run(mode, result, environment, *options):
    command = [*mpirun(flavour, 3), latecomer, "-q", "run", "-o", result, *options, program, mode]
    subprocess.run(command, check=True, timeout=patience(60), env={**os.environ, **virtual_time(), **environment})
    return show(result)


def waiting(result, wanted):
    """Seconds per rank of waiting in MPI_Finalize, wherever that was called."""
    sums = [0.0] * len(result["locations"])
    for path, row in result["metrics"]["mpi_finalize_wait"]["callpaths"].items():
        if not path.endswith("MPI_Finalize"):
            yield f"waiting in {path}"
        sums = [a + b for a, b in zip(sums, row)]
    if any(abs(seconds - right) > EXACT for seconds, right in zip(sums, wanted, strict=True)):
        yield f"waiting in MPI_Finalize: {sums}, not {wanted}"


def is_code(path):
    return not path.rsplit("/", 1)[-1].startswith("MPI_")


def in_words(path, words):
    """Is it the path as findings tell it, with a word for what the C library did?"""
    return words is not None and (path == words or (":" in words and path.startswith(words.rsplit("/(", 1)[0] + "/")))


def costliest(result, rank):
    """The late code that costs most is this rank's, and a finding."""
    late = max(result["late"], key=lambda row: row["seconds"], default=None)
    if late is None or late["rank"] != rank or not is_code(late["callpath"]):
        yield f"{late} costs most, not code of rank {rank}"
    elif not any(in_words(late["callpath"], f["callpath"]) and f["ranks"] == [rank] for f in result["findings"]):
        yield f"no finding of rank {rank} in {late['callpath']}: {json.dumps(result['findings'])}"


def of_code(metric, rank):
    """The larger part of the costs is that of this rank's code."""
    row = sum(row[rank] for path, row in metric["callpaths"].items() if is_code(path))
    if not row > metric["total"] / 2:
        yield f"costs of the trace: {metric}, not of rank {rank}"


def direct(profile, analysis):
    yield from costliest(profile, 1)
    if not any(row["waiting_callpath"].endswith("MPI_Finalize") and row["rank"] == 1 for row in profile["late"]):
        yield f"nobody waits in MPI_Finalize for rank 1: {profile['late']}"
    yield from of_code(analysis["metrics"]["delay_finalize"], 1)


def chain(profile, analysis):
    yield from costliest(profile, 2)
    if not any(row["rank"] == 1 and is_code(row["callpath"]) for row in profile["late"]):
        yield f"code of rank 1 costs nothing: {profile['late']}"
    yield from of_code(analysis["metrics"]["delay_finalize_longterm"], 2)


TRANSPORTS = {"shm": {"LATECOMER_TRANSPORT": "shm"}, "mpi": {"LATECOMER_TRANSPORT": "mpi"}, "mixed": {"LATECOMER_TEST_NODES": "2"}}
faults = 0
with tempfile.TemporaryDirectory() as directory:
    for transport, environment in TRANSPORTS.items():
        for mode, judge in (("direct", direct), ("chain", chain), ("switch", None)):
            result = f"{directory}/{mode}-{transport}"
            profile = run(mode, result, environment, *(["--trace"] if judge else []))
            found = []
            if judge:
                subprocess.run([latecomer, "-q", "analyze", "-n", "1", result], check=True, timeout=patience(60))
                found = [*waiting(profile, WAITS[mode]), *judge(profile, show(f"{result}/analysis.cubex"))]
            elif profile["metrics"].get("mpi_finalize_wait", {"total": 0.0})["total"] != 0.0:
                found = ["waiting while nothing was measured"]
            for line in found:
                print(f"{mode}, {transport}: {line}")
            faults += len(found)
print(f"{faults} faults")
sys.exit(1 if faults else 0)
