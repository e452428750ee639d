"""What `latecomer bench` itself costs, and how its ways of synchronising differ: MPI_Allreduce of 8 bytes and others, less `empty`, beside the
same in a plain loop (tests/system/bench/plain_loop.c), which knows nothing of the benchmark. Prints the table of docs/benchmarking.md: medians over launches,
in brackets the least and the largest of them; nanoseconds. `agreement`: how many times as long as in the loop an operation takes, less `empty`; the
geometric mean over all operations.

synchronisation.py BUILD_DIR [--flavour openmpi|mpich|both] [--launches N]      of one flavour also the figures of measure.py"""
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
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
HEAD = ("", "`empty`", "start to start", "done again", "MPI_Allreduce: 5, 50, 95 %", "less `empty`: MPI_Allreduce", "pingpong", "four operations: times the loop")


def measure(args, flavour, sync, directory):
    """Per operation: quantiles of the run time, ns from start to start on rank 0, share of repetitions that were done again."""
    subprocess.run([f"{args.build}/bin/latecomer", "-q", "bench", ",".join(OPERATIONS), "--reps", "1000", "--sync", sync, "-n", "2", "--mpi", flavour, "-o",
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


def agreement(launches, loops):
    """Of the four operations together, less `empty`, with the loop."""
    return math.exp(statistics.mean(math.log(max(less_empty(launches, name), 1) / statistics.median(one[name] for one in loops)) for name in OPERATIONS[1:]))


def less_empty(launches, name):
    return statistics.median(launch[name][1] for launch in launches) - statistics.median(launch["empty"][1] for launch in launches)


def tell(every, loops):
    """The figures."""
    for sync, launches in every.items():
        figure(f"{sync}.empty", statistics.median(launch["empty"][1] for launch in launches), "ns")
        figure(f"{sync}.start_to_start", statistics.median(launch["empty"][3] for launch in launches), "ns")
        for name, short in TOLD.items():
            figure(f"{sync}.{short}", max(less_empty(launches, name), 1), "ns")
        figure(f"{sync}.spread", statistics.median(launch["MPI_Allreduce"][2] / launch["MPI_Allreduce"][0] for launch in launches), "times")
        figure(f"{sync}.agreement", agreement(launches, loops), "times")
    for name, short in TOLD.items():
        figure(f"loop.{short}", statistics.median(one[name] for one in loops), "ns")


def rows(flavour, every, loops):
    """Lines of the table: a way of synchronising each, then the loop."""
    for sync, launches in every.items():
        reduced = [launch["MPI_Allreduce"] for launch in launches]
        yield (f"{MPIS[flavour]}, {sync}" if sync == SYNCS[0] else sync, spread([x["empty"][1] for x in launches]), spread([x["empty"][3] for x in launches]),
               f"{100 * statistics.median(x['empty'][4] for x in launches):.1f} %", ", ".join(f"{statistics.median(x[q] for x in reduced):.0f}" for q in range(3)),
               *(spread([x[name][1] - x["empty"][1] for x in launches]) for name in TOLD), f"{agreement(launches, loops):.2f}")
    yield ("plain loop", "", "", "", "", *(spread([one[name] for one in loops]) for name in TOLD), "1")


def measure_all(args, flavour):
    """Launches of each way, and of the loop, in turns."""
    every, loops = {sync: [] for sync in SYNCS}, []
    for _ in range(args.launches):
        looped = subprocess.run([*mpirun(flavour, 2), f"{args.build}/bin/bench-plain-loop-{flavour}", "8", "10000"], capture_output=True, text=True,
                                check=True).stdout
        loops.append({name: float(ns) for name, ns in (line.split() for line in looped.splitlines())})
        for sync in SYNCS:
            with tempfile.TemporaryDirectory() as directory:
                every[sync].append(measure(args, flavour, sync, f"{directory}/result"))
    return every, loops


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--flavour", choices=(*MPIS, "both"), default="both")
    parser.add_argument("--launches", type=int, default=5)
    args = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|", flush=True)
    for flavour in MPIS if args.flavour == "both" else [args.flavour]:
        every, loops = measure_all(args, flavour)
        for row in rows(flavour, every, loops):
            print(f"| {' | '.join(row)} |", flush=True)
    if args.flavour != "both":
        tell(every, loops)


if __name__ == "__main__":
    main()
