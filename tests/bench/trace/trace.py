#!/usr/bin/env python3
"""Cost of a trace beside that of EZTrace (Debian package eztrace): the same program, machine and run, alternating.

usage: trace.py BUILD_DIR [--flavour openmpi|mpich] [--ranks 1] [--runs 5] [--iterations N] [--alone]

Prints, per operation of tests/bench/overhead/ops.c, the bare time and what profile, trace and EZTrace add to it (medians over the runs), and
for both traces their events and bytes per event on disk. One rank by default: nothing is hidden in waiting, and no scheduler takes part.
self is three MPI calls (Irecv, Send, Wait), solo one. --alone: without EZTrace.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from figure import figure  # noqa: E402
from mpirun import mpirun  # noqa: E402

CALLS = {"self": 3, "solo": 1, "pair": 1, "allreduce": 1, "barrier": 1, "bcast": 1, "waitall": 3}


def run(args, words, env=None):
    command = mpirun(args.flavour, args.ranks) + words + [f"{args.build}/bin/overhead-ops-{args.flavour}", str(args.iterations), "4"]
    done = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode != 0:
        sys.exit(f"trace.py: {' '.join(command)}: {done.stderr.strip()[-500:]}")
    return {m[1]: float(m[2]) for m in re.finditer(r"^(\w+) ([\d.]+)$", done.stdout, re.M)}


def size(directory):
    """Events and bytes of the archive's event files."""
    anchor = next(directory.rglob("*.otf2"))
    shown = subprocess.run(["otf2-print", str(anchor)], capture_output=True, text=True, check=False).stdout
    events = len(re.findall(r"^[A-Z_]+ +\d+ +\d+ ", shown, re.M))  # the definitions of EZTrace tell wrong numbers
    return events, sum(f.stat().st_size for f in directory.rglob("*.evt"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--flavour", default="openmpi")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=20000)
    parser.add_argument("--alone", action="store_true")
    args = parser.parse_args()
    if not args.alone and not shutil.which("eztrace"):
        sys.exit("trace.py: eztrace is not installed: apt-get install eztrace")
    samples = {"bare": [], "profile": [], "trace": []} | ({} if args.alone else {"eztrace": []})
    sizes = {}
    with tempfile.TemporaryDirectory() as scratch:
        for i in range(args.runs):
            ours, theirs = Path(scratch) / f"ours{i}", Path(scratch) / f"ez{i}"
            tool = [f"{args.build}/bin/latecomer", "run", "-q"]
            samples["bare"].append(run(args, []))
            samples["profile"].append(run(args, [*tool, "-o", f"{scratch}/profile{i}", "--"]))
            samples["trace"].append(run(args, [*tool, "--trace", "-o", str(ours), "--"]))
            sizes["trace"] = size(ours)
            shutil.rmtree(ours)
            if not args.alone:
                samples["eztrace"].append(run(args, ["eztrace", "-t", args.flavour, "-o", str(theirs)]))
                sizes["eztrace"] = size(theirs)
                shutil.rmtree(theirs)
    medians = {mode: {op: statistics.median(s[op] for s in runs) for op in runs[0]} for mode, runs in samples.items()}
    modes, figures = list(samples)[1:], {}
    print(f"{'operation':<11}{'bare ns':>9}" + "".join(f"{mode + ' +':>11}" for mode in modes) + f"{'trace - profile per MPI call':>30}")
    for op, bare in medians["bare"].items():
        if op not in CALLS:
            continue
        added = {mode: medians[mode][op] - bare for mode in modes}
        beyond = (added["trace"] - added["profile"]) / CALLS[op]
        print(f"{op:<11}{bare:>9.1f}" + "".join(f"{ns:>11.1f}" for ns in added.values()) + f"{beyond:>30.1f}")
        figures[op] = beyond
    for op, ns in figures.items():
        figure(op, ns, "ns")
    for mode, (events, written) in sizes.items():
        print(f"{mode}: {events} events, {written} bytes, {written / max(events, 1):.1f} bytes per event")
        if mode == "trace":
            figure("bytes_per_event", written / max(events, 1), "bytes")


if __name__ == "__main__":
    main()
