#!/usr/bin/env python3
"""Very many threads, one after the other: ended_threads.py LATECOMER FLAVOUR PROGRAM mpi|omp. All calls are counted; those that have ended take no
memory, and hardly a page fault more than bare; the time in which none of them lived is nobody's."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from mpirun import mpirun  # noqa: E402
from patience import patience  # noqa: E402

LATECOMER, FLAVOUR, PROGRAM, HOW = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3]), sys.argv[4]
N = 3000 if HOW == "mpi" else 1500
GROWS_KB = 2048  # in all; what stays of a thread with clocks and a chunk of rows would be 10 KB each


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def run(*tool):
    done = subprocess.run([*mpirun(FLAVOUR, 1), *tool, PROGRAM, str(N), HOW], capture_output=True, text=True, timeout=patience(300), check=True,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    early, late, faults = (int(word) for word in done.stdout.split())
    print(f"{'measured' if tool else 'bare'}: {early} KB, then {late}; {faults} page faults")
    return late - early, faults


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    grows, faults = run(LATECOMER, "run", "-q", "-o", "result")
    bare_grows, bare_faults = run()
    check(grows - bare_grows < GROWS_KB, f"memory grows by {grows} KB, bare by {bare_grows}")
    check(faults - bare_faults < N // 2, f"{faults} page faults, bare {bare_faults}")
    show = subprocess.run([LATECOMER, "show", "--json", "result"], capture_output=True, text=True, timeout=patience(60), check=True)
    result = json.loads(show.stdout)
    paths = result["metrics"]["visits"]["callpaths"]
    calls = sum(sum(values) for name, values in paths.items() if name.split("/")[-1].startswith("MPI_Comm_rank"))
    check(calls == N, f"{calls} calls of {N} are in the result")
    check(len(result["locations"]) < 600, f"{len(result['locations'])} locations")
    check(result["pop"]["identity_error"] < 1e-9, f"identities off by {result['pop']['identity_error']}")
    metric = result["metrics"]["time"]
    rows = [values for name, values in metric["callpaths"].items() if metric["kind"] == "exclusive" or "/" not in name]
    per_location = [sum(values) for values in zip(*rows)]
    others, wall = sum(per_location[1:]), result["meta"]["wall_time_s"]
    print(f"{len(per_location)} locations; {others:.3f} s of other threads in {wall:.3f} s")
    check(others <= (3 if HOW == "omp" else 1) * wall, f"other threads lived {others} s in {wall} s")
