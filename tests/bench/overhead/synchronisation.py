"""What `latecomer bench` itself costs, and how its ways of synchronising differ: MPI_Allreduce of 8 bytes and others, less `empty`, beside the
same in a plain loop (tests/system/bench/plain_loop.c), which knows nothing of the benchmark. Medians over launches, in brackets the least and the
largest of them; nanoseconds. `agreement`: how many times as long as in the loop an operation takes, less `empty`; the geometric mean over all operations.

synchronisation.py BUILD_DIR [--flavour openmpi|mpich] [--launches N]"""
import argparse
import csv
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402

SYNCS = ("roundtime", "window", "barrier", "none")
OPERATIONS = ("empty", "MPI_Allreduce", "MPI_Barrier", "MPI_Alltoall", "pingpong")
TOLD = {"MPI_Allreduce": "allreduce", "pingpong": "pingpong"}  # operations with figures of their own


def measure(args, sync, directory):
    """Per operation: quantiles of the run time, ns from start to start on rank 0, share of repetitions that were done again."""
    subprocess.run([f"{args.build}/bin/latecomer", "-q", "bench", ",".join(OPERATIONS), "--reps", "1000", "--sync", sync, "-n", "2", "--mpi", args.flavour, "-o",
                    directory], stdout=subprocess.DEVNULL, check=True)
    found = {}
    rows = csv.DictReader(io.StringIO(subprocess.run(["zstd", "-dc", f"{directory}/runs.csv.zst"], capture_output=True, text=True, check=True).stdout))
    starts = {}
    for row in rows:
        if row["rank"] == "0" and row["metric"] == "start_ns":
            starts.setdefault(row["operation"], []).append(int(row["value"]))
    for operation in OPERATIONS:
        with open(f"{directory}/{operation}-8.fingerprint.json", encoding="utf-8") as file:
            one = json.load(file)
        apart = [b - a for a, b in zip(starts[operation], starts[operation][1:])]
        found[operation] = (one["quantiles_ns"]["5"], one["median_ns"], one["quantiles_ns"]["95"], statistics.median(apart),
                            one["benchmark"]["invalid"] / (one["benchmark"]["invalid"] + one["benchmark"]["repetitions"]))
    return found


def spread(values):
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def tell(every, loops):
    """The figures."""
    loop = {name: statistics.median(one[name] for one in loops) for name in OPERATIONS[1:]}
    for sync, launches in every.items():
        empty = statistics.median(launch["empty"][1] for launch in launches)
        less = {name: max(statistics.median(launch[name][1] for launch in launches) - empty, 1) for name in OPERATIONS[1:]}
        figure(f"{sync}.empty", empty, "ns")
        figure(f"{sync}.start_to_start", statistics.median(launch["empty"][3] for launch in launches), "ns")
        for name, short in TOLD.items():
            figure(f"{sync}.{short}", less[name], "ns")
        figure(f"{sync}.spread", statistics.median(launch["MPI_Allreduce"][2] / launch["MPI_Allreduce"][0] for launch in launches), "times")
        figure(f"{sync}.agreement", math.exp(statistics.mean(math.log(less[name] / loop[name]) for name in OPERATIONS[1:])), "times")
    for name, short in TOLD.items():
        figure(f"loop.{short}", loop[name], "ns")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--flavour", default="openmpi")
    parser.add_argument("--launches", type=int, default=5)
    args = parser.parse_args()
    every, loops = {sync: [] for sync in SYNCS}, []
    for _ in range(args.launches):
        looped = subprocess.run([*mpirun(args.flavour, 2), f"{args.build}/bin/bench-plain-loop-{args.flavour}", "8", "10000"], capture_output=True, text=True,
                                check=True).stdout
        loops.append({name: float(ns) for name, ns in (line.split() for line in looped.splitlines())})
        for sync in SYNCS:
            with tempfile.TemporaryDirectory() as directory:
                every[sync].append(measure(args, sync, f"{directory}/result"))
    print(f"{'':10} {'empty':>18} {'start to start':>24} {'again':>8}  " + "  ".join(f"{name + ' less empty':>26}" for name in OPERATIONS[1:]))
    for sync, launches in every.items():
        least = [launch["empty"][1] for launch in launches]
        print(f"{sync:10} {spread(least):>18} {spread([x['empty'][3] for x in launches]):>24} {100 * statistics.median(x['empty'][4] for x in launches):6.1f} %  "
              + "  ".join(f"{spread([x[name][1] - e for x, e in zip(launches, least)]):>26}" for name in OPERATIONS[1:]))
    print(f"{'loop':10} {'':>18} {'':>24} {'':>8}  " + "  ".join(f"{spread([x[name] for x in loops]):>26}" for name in OPERATIONS[1:]))
    for sync, launches in every.items():
        print(f"MPI_Allreduce, {sync}: 5, 50 and 95 % " + ", ".join(spread([x["MPI_Allreduce"][q] for x in launches]) for q in range(3)))
    tell(every, loops)


if __name__ == "__main__":
    main()
